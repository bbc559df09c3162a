//! What is published beside the quasi-identifiers: nothing that nobody decided on, and never unsaid.

#![allow(clippy::unwrap_used)]

mod folder;

use std::collections::HashMap;
use std::fmt::Write as _;

use folder::{Folder, Ran};
use serde_json::Value;

/// Patients as a hospital would export them: quasi-identifiers, and columns that nobody thought of.
fn patients(rows: usize) -> String {
    let mut text = "age,sex,ward,weight,seen,illness\n".to_owned();
    for row in 0..rows {
        let (age, sex) = (20 + (row * 7) % 50, ["f", "m"][row % 2]);
        let (ward, weight) = (["A", "B", "C"][row % 3], 40 + (row * row) % 17);
        let seen = format!("2024-{:02}-{:02}", 1 + row % 2, 1 + (row * 5) % 3);
        writeln!(text, "{age},{sex},{ward},{weight},{seen},{}", ["flu", "cold", "gout"][row * 5 % 7 % 3])
            .unwrap();
    }
    text
}

const LISTED: &str = "[attribute.age]\nrole = \"quasi\"\n[attribute.sex]\nrole = \"quasi\"\n\
    [attribute.illness]\nrole = \"sensitive\"\n";
const OTHERS: &str = "[attribute.ward]\nrole = \"other\"\n[attribute.weight]\nrole = \"other\"\n[attribute.seen]\nrole = \"other\"\n";

fn folder(data: &str, privacy: &str, more: &str) -> Folder {
    let policy = format!("[data]\n{data}\n[privacy]\nk = 5\n{privacy}\n{LISTED}{more}");
    Folder::new().with("patients.csv", &patients(400)).with("policy.toml", &policy)
}

fn anonymize(folder: &Folder) -> Ran {
    let reports = ["--report", "r.json", "--report", "r.html"];
    folder.run(
        &[&["anonymize", "patients.csv", "-p", "policy.toml", "-o", "release.csv"][..], &reports].concat(),
    )
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The plain way: rows that occur once, looking at some columns of a file without quotes.
fn unique_share(csv: &str, columns: &[&str]) -> f64 {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let places: Vec<usize> =
        columns.iter().map(|name| header.iter().position(|column| column == name).unwrap()).collect();
    let mut counts: HashMap<Vec<&str>, u32> = HashMap::new();
    let mut rows = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        *counts.entry(places.iter().map(|place| cells[*place]).collect()).or_default() += 1;
        rows += 1;
    }
    f64::from(counts.values().filter(|count| **count == 1).count() as u32) / f64::from(rows)
}

const ALL: [&str; 6] = ["age", "sex", "ward", "weight", "seen", "illness"];

#[test]
fn a_column_that_nobody_mentioned_is_refused_by_every_command_that_publishes() {
    let folder = folder("", "", "");
    for arguments in [
        vec!["anonymize", "patients.csv", "-p", "policy.toml", "-o", "release.csv"],
        vec!["audit", "patients.csv", "patients.csv", "-p", "policy.toml"],
    ] {
        let ran = folder.run(&arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("does not mention the columns \"ward\", \"weight\" and \"seen\""),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("unlisted = \"drop\""), "{}", ran.stderr);
        assert_eq!(folder.files(), ["patients.csv", "policy.toml"]);
    }
}

#[test]
fn a_recipe_refuses_what_its_policy_would_refuse() {
    let folder =
        folder("", "", OTHERS).with("more.csv", &patients(400).replace("age,sex,ward", "age,sex,room"));
    let learned = ["--method", "refine", "--recipe", "r.recipe"];
    let base = ["anonymize", "patients.csv", "-p", "policy.toml", "-o", "release.csv"];
    let ran = folder.run(&[&base[..], &learned].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = folder.run(&["apply", "r.recipe", "more.csv", "-o", "masked.csv"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("does not mention the column \"room\""), "{}", ran.stderr);
    let ran = folder.run(&["apply", "r.recipe", "patients.csv", "-o", "masked.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn what_is_dropped_is_not_published() {
    let folder = folder("unlisted = \"drop\"", "", "");
    let ran = anonymize(&folder);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(folder.read("release.csv").starts_with("age,sex,illness\n"));
    let audit = folder.run(&["audit", "patients.csv", "release.csv", "-p", "policy.toml"]);
    assert_eq!(audit.code, 0, "{}{}", audit.stdout, audit.stderr);
    // Somebody puts one of the columns back.
    let folder = folder.with("release.csv", &patients(400));
    let audit = folder.run(&["audit", "patients.csv", "release.csv", "-p", "policy.toml"]);
    assert_eq!(audit.code, 1, "{}{}", audit.stdout, audit.stderr);
    assert!(audit.stdout.contains("\"ward\" is published, though the policy drops"), "{}", audit.stdout);
}

#[test]
fn the_share_of_unique_rows_stands_in_the_headline_and_is_right() {
    for (data, more) in [("unlisted = \"publish\"", ""), ("", OTHERS)] {
        let folder = folder(data, "", more);
        let ran = anonymize(&folder);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let release = folder.read("release.csv");
        let all = unique_share(&release, &ALL);
        assert!(all > 0.5 && all < 1.0, "the table should be a bad one: {all}");
        let report = json(&folder.read("r.json"));
        assert_eq!(report["published_as_is"]["unique_share"].as_f64().unwrap(), all);
        for column in report["published_as_is"]["columns"].as_array().unwrap() {
            let name = column["name"].as_str().unwrap();
            assert_eq!(column["unique_share"].as_f64().unwrap(), unique_share(&release, &[name]), "{name}");
            let with_quasi = unique_share(&release, &["age", "sex", name]);
            assert_eq!(column["unique_share_with_quasi"].as_f64().unwrap(), with_quasi, "{name}");
        }
        let words = format!(
            "4 further columns are published as they are; with them {:.0} % of the rows are unique.",
            100.0 * all
        );
        let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&words), "{words}\n{told}");
        assert!(told.contains("Published as it is") && told.contains("times"), "{told}");
        let heading = format!("The requirement is met, but {:.0} % of the rows are unique", 100.0 * all);
        assert!(told.starts_with(&heading), "{heading}\n{told}");
        let page = folder.read("r.html");
        assert!(page.contains(&words) && page.contains("<h2>Published as it is</h2>"));
        let audit = folder.run(&["audit", "patients.csv", "release.csv", "-p", "policy.toml", "--json"]);
        assert_eq!(audit.code, 0, "{}", audit.stderr);
        assert_eq!(json(&audit.stdout)["published_as_is"], report["published_as_is"]);
    }
}

#[test]
fn risk_tells_what_the_table_itself_would_show() {
    // It publishes nothing, so it refuses nothing.
    let folder = folder("", "", "");
    let ran = folder.run(&["risk", "patients.csv", "-p", "policy.toml", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = &json(&ran.stdout)["published_as_is"];
    assert_eq!(told["unique_share"].as_f64().unwrap(), unique_share(&patients(400), &ALL));
    assert_eq!(told["columns"][1]["name"], "weight");
    assert_eq!(told["columns"][1]["role"], "unlisted");
    let text = folder.run(&["risk", "patients.csv", "-p", "policy.toml"]).stdout;
    assert!(text.contains("4 further columns would be published as they are"), "{text}");
}

#[test]
fn what_looks_like_an_identifier_needs_a_word_of_somebody() {
    let table: String = patients(400)
        .lines()
        .enumerate()
        .map(|(at, line)| if at == 0 { format!("{line},case\n") } else { format!("{line},c{at}x\n") })
        .collect();
    let role = "[attribute.case]\nrole = \"other\"\n";
    let folder = |privacy: &str, more: &str| {
        let own = folder("unlisted = \"drop\"", privacy, more);
        own.with("patients.csv", &table)
    };
    let refused = folder("", role);
    let ran = anonymize(&refused);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    for word in ["\"case\"", "looks like an identifier", "400 in 400", "policy.toml:", "confirmed = true"] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    assert_eq!(refused.files(), ["patients.csv", "policy.toml"]);
    let confirmed = folder("", &format!("{role}confirmed = true\n"));
    assert_eq!(anonymize(&confirmed).code, 0);
    assert!(confirmed.read("release.csv").contains("c7x"));
    let warned = folder("strict = false", role);
    let ran = anonymize(&warned);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("Note     \"case\" would be published as it is"), "{}", ran.stderr);
    // A name is enough, whatever the values are.
    let named = Folder::new()
        .with("patients.csv", &patients(400).replace("ward", "email"))
        .with("policy.toml", &format!("[data]\nunlisted = \"publish\"\n[privacy]\nk = 5\n{LISTED}"));
    let ran = anonymize(&named);
    assert!(ran.code == 2 && ran.stderr.contains("its name says"), "{}", ran.stderr);
}

/// A policy that was written for a table without a header names cells as columns.
#[test]
fn a_table_without_a_header_is_refused_unless_somebody_says_that_it_has_one() {
    let rows: String = (0..40)
        .map(|row| format!("{},{},{}\n", 20 + row % 9, ["f", "m"][row % 2], ["a", "b", "c"][row % 3]))
        .collect();
    let policy = |data: &str, privacy: &str| {
        format!(
            "[data]\n{data}\n[privacy]\nk = 2\n{privacy}\n[attribute.20]\nrole = \"quasi\"\n[attribute.f]\nrole = \"quasi\"\n\
             [attribute.a]\nrole = \"sensitive\"\n"
        )
    };
    let folder = Folder::new().with("d.csv", &rows).with("p.toml", &policy("", ""));
    for line in [
        "anonymize d.csv -p p.toml -o r.csv",
        "risk d.csv -p p.toml",
        "compare d.csv -p p.toml --methods mondrian --k 2 -o c.html",
        "evaluate d.csv -p p.toml --task queries",
        "audit d.csv d.csv -p p.toml",
    ] {
        let ran = folder.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 2, "{line}: {}{}", ran.stdout, ran.stderr);
        let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            told.contains("seems to have no header") && told.contains("header = true under [data]"),
            "{told}"
        );
    }
    let run = |policy: &str| {
        let folder = Folder::new().with("d.csv", &rows).with("p.toml", policy);
        folder.run(&["anonymize", "d.csv", "-p", "p.toml", "-o", "r.csv"])
    };
    assert_eq!(run(&policy("header = true", "")).code, 0);
    let lenient = run(&policy("", "strict = false"));
    assert!(lenient.code == 0 && lenient.stderr.contains("seems to have no header"), "{}", lenient.stderr);
    let none = run(&policy("header = false", ""));
    assert!(
        none.code == 2 && none.stderr.contains("tables without a header are not read"),
        "{}",
        none.stderr
    );
}

#[test]
fn what_init_knows_of_names_and_values_holds_for_what_is_published() {
    let row = |row: usize| {
        format!("{},p{}@example.org,{},{}\n", 20 + row % 9, row % 4, row % 5, ["x", "y"][row % 2])
    };
    let rows: String = (0..40).map(row).collect();
    for (name, refused) in [("contact", true), ("patientennummer", true), ("shop", false)] {
        let table = match name {
            "contact" => format!("age,contact,n,s\n{rows}"),
            // The same values under a name that tells, and under one that does not.
            _ => format!("age,{name},n,s\n{}", rows.replace("@example.org", "")),
        };
        let policy = format!(
            "[data]\nunlisted = \"drop\"\n[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n[attribute.{name}]\nrole = \"other\"\n"
        );
        let folder = Folder::new().with("d.csv", &table).with("p.toml", &policy);
        let ran = folder.run(&["anonymize", "d.csv", "-p", "p.toml", "-o", "r.csv"]);
        assert_eq!(ran.code, if refused { 2 } else { 0 }, "{name}: {}", ran.stderr);
        assert!(!refused || ran.stderr.contains("confirmed = true"), "{}", ran.stderr);
    }
}
