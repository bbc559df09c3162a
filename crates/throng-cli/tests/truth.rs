//! True sentences: what a release does not promise is not said, and what was changed by hand is found.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, people};
use serde_json::Value;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn released(more: &[&str]) -> Folder {
    let folder = Folder::new().with("people.csv", &people(60)).with("policy.toml", POLICY);
    let base = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--method", "mondrian"];
    let ran = folder.run(&[&base[..], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

fn audited(folder: &Folder) -> (i32, String) {
    let ran = folder.run(&["audit", "people.csv", "r.csv", "-p", "policy.toml"]);
    assert!(ran.code < 2, "{}", ran.stderr);
    (ran.code, words(&ran.stdout))
}

#[test]
fn a_release_that_was_not_touched_is_true_in_any_order() {
    for (order, told) in [
        (&["--keep-order"][..], "Truth every row says what the record in its place says"),
        (&[][..], "Truth every row is explained by a record of its own of the table"),
        (&["--publish", "bounds"][..], "Truth every row is explained by a record of its own of the table"),
        (
            &["--publish", "permutation"][..],
            "Truth every row is explained by a record of its own of the table",
        ),
    ] {
        let (code, text) = audited(&released(order));
        assert_eq!(code, 0, "{order:?}: {text}");
        assert!(text.contains(told), "{order:?}: {text}");
    }
}

/// A release with one line changed by hand, or more.
fn changed(change: impl Fn(Vec<String>) -> Vec<String>) -> (i32, String) {
    let folder = released(&["--keep-order"]);
    let lines = folder.read("r.csv").lines().map(str::to_owned).collect();
    let text: String = change(lines).into_iter().map(|line| line + "\n").collect();
    audited(&folder.with("r.csv", &text))
}

/// The value of another illness than that of a line.
fn other_illness(line: &str) -> String {
    let (before, illness) = line.rsplit_once(',').unwrap();
    format!("{before},{}", if illness == "flu" { "gout" } else { "flu" })
}

#[test]
fn a_changed_sensitive_value_is_found() {
    let (code, text) = changed(|mut lines| {
        lines[7] = other_illness(&lines[7]);
        lines
    });
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("values of \"illness\" were changed or added: 1 of them"), "{text}");
    assert!(text.contains("1 of 60 rows are explained by no record"), "{text}");
    // A requirement is called broken only if one is; an untrue release is called what it is.
    assert_eq!(text.contains("✗ not met"), text.starts_with("The requirement is not met"), "{text}");
    assert_eq!(!text.contains("✗ not met"), text.starts_with("The release does not pass"), "{text}");
}

#[test]
fn values_that_changed_places_are_found_although_each_occurs_as_often() {
    // Between classes whose cells do not overlap, so that no other record could explain the rows.
    let (code, text) = changed(|mut lines| {
        let young = (1..lines.len()).find(|at| lines[*at].starts_with("[2")).unwrap();
        let illness = |line: &str| line.rsplit_once(',').unwrap().1.to_owned();
        let old = (1..lines.len())
            .find(|at| lines[*at].starts_with("[6") && illness(&lines[*at]) != illness(&lines[young]))
            .unwrap();
        let (one, other) = (illness(&lines[young]), illness(&lines[old]));
        let with = |line: &str, illness: &str| format!("{},{illness}", line.rsplit_once(',').unwrap().0);
        (lines[young], lines[old]) = (with(&lines[young], &other), with(&lines[old], &one));
        lines
    });
    assert_eq!(code, 1, "{text}");
    assert!(!text.contains("were changed or added:"), "{text}");
    assert!(text.contains("rows are explained by no record of their own"), "{text}");
}

#[test]
fn a_row_that_stands_twice_in_place_of_another_is_found() {
    let (code, text) = changed(|mut lines| {
        let far =
            (2..lines.len()).find(|at| lines[*at].split(',').next() != lines[1].split(',').next()).unwrap();
        lines[far] = lines[1].clone();
        lines
    });
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("rows are explained by no record of their own"), "{text}");
}

#[test]
fn a_cell_that_is_not_true_is_found() {
    let (code, text) = changed(|lines| {
        let other = |line: String| match line.split_once(',') {
            Some((age, rest)) if age.starts_with("[2") => format!("[60-69],{rest}"),
            _ => line,
        };
        lines.into_iter().map(other).collect()
    });
    assert_eq!(code, 1, "{text}");
}

#[test]
fn columns_that_nobody_knows_are_found() {
    let (code, text) = changed(|lines| {
        lines
            .iter()
            .enumerate()
            .map(|(at, line)| format!("{line},{}", if at == 0 { "nickname" } else { "Bob" }))
            .collect()
    });
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("a column \"nickname\" that neither the table nor the policy knows"), "{text}");
}

#[test]
fn exact_cells_are_not_called_indistinguishable() {
    let folder =
        Folder::new().with("people.csv", &people(60)).with("policy.toml", &POLICY.replace("k = 3", "l = 2"));
    let base = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--report", "r.json"];
    for more in [["--method", "anatomy"], ["--publish", "permutation"]] {
        let ran = folder.run(&[&base[..], &more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told = words(&ran.stderr);
        assert!(!told.contains("indistinguishable"), "{told}");
        let release = folder.read("r.csv");
        let exact = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(",");
        let rows: Vec<String> = release.lines().skip(1).map(exact).collect();
        let alone = rows.iter().filter(|row| rows.iter().filter(|other| other == row).count() == 1).count();
        let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        assert_eq!(report["exact_cells"]["unique_rows"].as_u64(), Some(alone as u64));
        let apart = match alone {
            0 => "Quasi-identifiers are published exactly: each record shares them".to_owned(),
            _ => format!("Quasi-identifiers are published exactly: {alone} of 60 records can be told apart"),
        };
        assert!(told.contains(&apart), "{apart}: {told}");
        assert!(told.contains("Whose a sensitive value is stays hidden in groups of at least"), "{told}");
    }
}

#[test]
fn what_classes_tell_of_a_sensitive_value_stands_in_the_headline() {
    // Everyone under 40 has the flu: whoever finds the class knows it.
    let mut table = "age,sex,illness\n".to_owned();
    (0..60).for_each(|row| {
        let illness = if row < 30 { "flu" } else { ["flu", "gout"][row % 2] };
        table += &format!("{},f,{illness}\n", 20 + row);
    });
    let folder = Folder::new().with("people.csv", &table).with("policy.toml", POLICY);
    let base = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--method", "mondrian"];
    let ran = folder.run(&[&base[..], &["--keep-order"]].concat());
    let (rows, mut told) = (folder.read("r.csv"), 0);
    for line in rows.lines().skip(1) {
        let class = line.rsplit_once(',').unwrap().0;
        let same = rows.lines().filter(|other| other.rsplit_once(',').unwrap().0 == class);
        let mut illnesses: Vec<&str> = same.map(|other| other.rsplit_once(',').unwrap().1).collect();
        illnesses.dedup();
        told += usize::from(illnesses.len() == 1);
    }
    let words = words(&ran.stderr);
    let expected = format!("For {:.0} % of the rows the class tells the illness", told as f64 / 0.6);
    assert!(told > 0 && words.contains(&expected), "{expected}: {words}");
}

#[test]
fn two_alike_are_called_weak_and_single_outliers_are_named() {
    let table = people(60) + "98765432,f,flu\n";
    let folder =
        Folder::new().with("people.csv", &table).with("policy.toml", &POLICY.replace("k = 3", "k = 2"));
    let base = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--method", "mondrian"];
    let ran = folder.run(&base);
    let told = words(&ran.stderr);
    assert!(told.contains("which is weak protection"), "{told}");
    assert!(folder.read("r.csv").contains("98765432"));
    assert!(told.contains("Outlier ranges of \"age\" end at 98765432"), "{told}");
    let three = folder.run(&[&base[..], &["--k", "3"]].concat());
    assert!(!words(&three.stderr).contains("weak"), "{}", three.stderr);
}

/// All groups together still have every value as often as the table, but two of them have each other's.
#[test]
fn sensitive_values_that_changed_their_group_are_found() {
    let mut table = "age,sex,illness\n".to_owned();
    (0..60)
        .for_each(|row| table += &format!("{},f,{}\n", 20 + row, ["flu", "gout", "cold", "mumps"][row % 4]));
    let folder =
        Folder::new().with("people.csv", &table).with("policy.toml", &POLICY.replace("k = 3", "l = 2"));
    let ran =
        folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--method", "anatomy"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let audit = || folder.run(&["audit", "people.csv", "r.csv", "-p", "policy.toml"]);
    assert_eq!(audit().code, 0, "{}", audit().stdout);
    let beside = folder.read("r.sensitive.csv");
    let lines: Vec<Vec<&str>> = beside.lines().map(|line| line.split(',').collect()).collect();
    let (mut swapped, mut found): (Vec<Vec<&str>>, bool) = (lines.clone(), false);
    for one in 1..lines.len() {
        let other = (one + 1..lines.len()).find(|other| {
            let has =
                |group: &str, value: &str| lines.iter().any(|line| line[0] == group && line[1] == value);
            lines[one][0] != lines[*other][0]
                && lines[one][2] == lines[*other][2]
                && !has(lines[one][0], lines[*other][1])
                && !has(lines[*other][0], lines[one][1])
        });
        if let Some(other) = other {
            (swapped[one][1], swapped[other][1]) = (lines[other][1], lines[one][1]);
            found = true;
            break;
        }
    }
    assert!(found, "{beside}");
    let text: String = swapped.iter().map(|line| line.join(",") + "\n").collect();
    std::fs::write(folder.path("r.sensitive.csv"), text).unwrap();
    let audit = audit();
    assert_eq!(audit.code, 1, "{}", audit.stdout);
    assert!(words(&audit.stdout).contains("values of \"illness\" were changed or added"), "{}", audit.stdout);
}
