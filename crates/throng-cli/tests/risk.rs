//! `throng risk` as a user runs it.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, people};

fn with_people() -> Folder {
    Folder::new().with("people.csv", &people(60)).with("policy.toml", POLICY)
}

#[test]
fn the_risk_is_told_in_text_and_as_json() {
    let folder = with_people();
    let ran = folder.run(&["risk", "people.csv", "--policy", "policy.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("taken to be the whole population"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    let json = folder.run(&["risk", "people.csv", "--policy", "policy.toml", "--json"]);
    let risk: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((risk["rows"].as_u64(), risk["basis"].as_str()), (Some(60), Some("table")));
    assert_eq!(risk["prosecutor"], risk["journalist"]);
    assert_eq!(folder.files(), ["people.csv", "policy.toml"]);
}

#[test]
fn a_population_lowers_the_journalists_chance() {
    let folder = with_people().with("everyone.csv", &people(600));
    let arguments = ["risk", "people.csv", "-p", "policy.toml", "--population", "everyone.csv", "--json"];
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let risk: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(risk["population_rows"].as_u64(), Some(600));
    assert!(risk["journalist"]["highest"].as_f64() < risk["prosecutor"]["highest"].as_f64(), "{risk}");
}

#[test]
fn mistakes_are_input_errors_that_name_their_place() {
    let folder = with_people().with("few.csv", "age\n20\n");
    for (arguments, told) in [
        (&["people.csv", "--fraction", "0"][..], "the fraction must be above 0"),
        (&["people.csv", "--population", "few.csv"], "few.csv"),
        (&["people.csv", "--population", "nobody.csv"], "nobody.csv"),
        (&["nobody.csv"], "nobody.csv"),
        (&["few.csv"], "the table has no column \"sex\""),
        (&["people.csv", "--population", "few.csv", "--fraction", "0.5"], "cannot be used with"),
    ] {
        let ran = folder.run(&[&["risk", "-p", "policy.toml"], arguments].concat());
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}
