//! `throng evaluate --task regress`, and folds as files.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::Folder;

const POLICY: &str = "[privacy]\nk = 5\n[method]\nname = \"mondrian\"\nseed = 7\n[attribute.name]\nrole = \"identifier\"\n\
    [attribute.age]\nrole = \"quasi\"\n[attribute.town]\nrole = \"quasi\"\n[attribute.noise]\nrole = \"other\"\n\
    [attribute.pay]\nrole = \"class\"\n";

/// Pay follows age and town; some of it is missing.
fn people(rows: usize) -> String {
    let mut text = "name,age,town,noise,pay\n".to_owned();
    for row in 0..rows {
        let (age, town) = (20 + row * 37 % 50, row * 13 % 3);
        let pay = 10 * age + 200 * town + row * 7919 % 41;
        let pay = if row % 50 == 49 { String::new() } else { pay.to_string() };
        text += &format!("p{row},{age},\"{}, north\",{},{pay}\n", ["a", "b", "c"][town], row * 31 % 17);
    }
    text
}

/// The cells of a line, quotes taken off.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

fn figures(folder: &Folder, more: &[&str]) -> serde_json::Value {
    let base = ["evaluate", "people.csv", "-p", "policy.toml", "--task", "regress", "--json"];
    let ran = folder.run(&[&base[..], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn what_quasi_identifiers_tell_of_a_number_is_lost_only_in_part() {
    let folder = Folder::new().with("people.csv", &people(600)).with("policy.toml", POLICY);
    let found = figures(&folder, &[]);
    for learner in ["tree", "boosted"] {
        let r2 = |from: &str| found[learner][format!("{from}_r2")].as_f64().unwrap();
        assert!(r2("baseline") > 0.9, "{found}");
        assert!(r2("anonymity") > 0.5 && r2("anonymity") <= r2("baseline") + 0.02, "{found}");
        assert!(r2("upper") < 0.2, "{found}");
        let figure = |name: &str| found[learner][name].as_f64().unwrap();
        assert!(figure("baseline_rmse") >= figure("baseline_mean_error"), "{found}");
        let explained = 1.0 - (figure("baseline_rmse") / figure("baseline_rmse_of_mean")).powi(2);
        assert!((explained - r2("baseline")).abs() < 1e-9, "{found}");
    }
    assert_eq!(figures(&folder, &[]), found);
    let ran = folder.run(&["evaluate", "people.csv", "-p", "policy.toml", "--task", "regress"]);
    assert!(ran.stdout.contains("is off by") && ran.stdout.contains("R²"), "{}", ran.stdout);
}

#[test]
fn folds_are_two_tables_in_one_order() {
    let folder = Folder::new().with("people.csv", &people(120)).with("policy.toml", POLICY);
    let found = figures(&folder, &["--folds", "own", "--set", "folds=4"]);
    assert_eq!(found["split"], "4-fold cross-validation");
    let mut tables = Vec::new();
    for name in ["own.table.csv", "own.release.csv"] {
        let text = folder.read(name);
        let mut rows: Vec<Vec<String>> = text.lines().map(cells).collect();
        assert_eq!(rows.remove(0), ["fold", "age", "town", "noise", "pay"], "{name}");
        tables.push(rows);
    }
    assert_eq!((tables[0].len(), tables[1].len()), (120, 120));
    let mut sizes = [0; 4];
    for (own, published) in tables[0].iter().zip(&tables[1]) {
        assert_eq!((&own[0], &own[3], &own[4]), (&published[0], &published[3], &published[4]));
        sizes[own[0].parse::<usize>().unwrap() - 1] += 1;
    }
    assert_eq!(sizes, [30; 4]);
    // What was measured can be measured from the files: the error of whoever tells the mean of the other folds.
    let pays: Vec<(usize, f64)> = tables[0]
        .iter()
        .filter(|row| !row[4].is_empty())
        .map(|row| (row[0].parse().unwrap(), row[4].parse().unwrap()))
        .collect();
    let mut squares = 0.0;
    for fold in 1..=4 {
        let others: Vec<f64> = pays.iter().filter(|(own, _)| *own != fold).map(|(_, pay)| *pay).collect();
        let mean = others.iter().sum::<f64>() / others.len() as f64;
        squares +=
            pays.iter().filter(|(own, _)| *own == fold).map(|(_, pay)| (pay - mean).powi(2)).sum::<f64>();
    }
    let plain = (squares / pays.len() as f64).sqrt();
    let told = found["tree"]["baseline_rmse_of_mean"].as_f64().unwrap();
    assert!((plain - told).abs() < 1e-6 * plain, "{plain} {told}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = Folder::new()
        .with("people.csv", &people(60))
        .with("policy.toml", POLICY)
        .with(
            "towns.toml",
            &POLICY
                .replace("[attribute.pay]\nrole = \"class\"\n", "[attribute.pay]\nrole = \"other\"\n")
                .replace("[attribute.town]\nrole = \"quasi\"", "[attribute.town]\nrole = \"class\""),
        )
        .with("none.toml", &POLICY.replace("role = \"class\"", "role = \"other\""));
    for (policy, more, told) in [
        ("towns.toml", &["--task", "regress"][..], "regress predicts numbers"),
        ("none.toml", &["--task", "regress"], "no number to predict"),
        ("policy.toml", &["--task", "cube", "--folds", "x"], "the task cube has no folds"),
        (
            "policy.toml",
            &["--task", "classify", "--folds", "x", "--set", "masks=train", "--method", "refine"],
            "cannot be written",
        ),
    ] {
        let ran = folder.run(&[&["evaluate", "people.csv", "-p", policy][..], more].concat());
        assert!(ran.code == 2 && ran.stderr.contains(told), "{policy} {more:?}: {}", ran.stderr);
    }
    assert!(!folder.files().iter().any(|name| name.starts_with("x.")), "{:?}", folder.files());
    let ran = folder.run(&[
        "evaluate",
        "people.csv",
        "-p",
        "policy.toml",
        "--task",
        "classify",
        "--folds",
        "y",
        "--set",
        "test_share=0.25",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = folder.read("y.release.csv");
    assert_eq!(text.lines().filter(|line| line.starts_with("test,")).count(), 15, "{text}");
}
