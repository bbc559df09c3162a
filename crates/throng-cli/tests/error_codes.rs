//! What programs get to see when a command fails: one line of JSON with a stable code.

#![allow(clippy::unwrap_used, missing_docs)]

mod folder;

use folder::{Folder, POLICY, Ran, people};
use serde_json::Value;

/// Arguments, the exit code, and the code of the error.
type Case<'a> = (&'a [&'a str], i32, &'a str);

const CASES: &[Case<'_>] = &[
    (&["risk", "nowhere.csv", "-p", "policy.toml", "--json"], 2, "file-not-found"),
    (&["risk", "people.csv", "-p", "typo.toml", "--json"], 2, "unknown-column"),
    (&["audit", "people.csv", "people.csv", "-p", "broken.toml", "--json"], 2, "bad-policy-syntax"),
    (&["audit", "people.csv", "latin.csv", "-p", "policy.toml", "--json"], 2, "not-utf8"),
    (
        &["evaluate", "people.csv", "-p", "policy.toml", "--task", "classify", "--json"],
        2,
        "no-class-attribute",
    ),
    (
        &["evaluate", "people.csv", "-p", "policy.toml", "--k", "99", "--task", "queries", "--json"],
        1,
        "k-exceeds-table",
    ),
    (&["simulate", "--k", "2", "--records", "9", "--json"], 2, "bad-usage"),
    (&["methods", "mondrain", "--json"], 2, "unknown-method"),
    (
        &["compare", "people.csv", "-p", "policy.toml", "--k", "99", "-o", "c.html", "--json", "c.json"],
        1,
        "nothing-to-compare",
    ),
    // What clap refuses.
    (&["risk", "people.csv", "--json"], 2, "bad-usage"),
    (&["risk", "people.csv", "-p", "policy.toml", "--json", "--nonsense"], 2, "bad-usage"),
    (&["simulate", "--k", "many", "--json"], 2, "bad-usage"),
];

fn folder() -> Folder {
    let folder = Folder::new()
        .with("people.csv", &people(12))
        .with("policy.toml", POLICY)
        .with("typo.toml", &POLICY.replace("attribute.age", "attribute.agee"))
        .with("broken.toml", "[privacy\nk = 3\n");
    std::fs::write(folder.path("latin.csv"), b"age,sex,illness\n30,f,gr\xfcn\n").unwrap();
    folder
}

fn as_json(ran: &Ran) -> Value {
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    serde_json::from_str(&ran.stderr).unwrap()
}

#[test]
fn a_failing_command_with_json_tells_its_code() {
    let folder = folder();
    for (arguments, exit, code) in CASES {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, *exit, "{arguments:?}: {}", ran.stderr);
        let error = as_json(&ran);
        let mut keys: Vec<&String> = error.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["code", "hint", "message", "place"], "{arguments:?}");
        assert_eq!(error["code"], *code, "{arguments:?}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn the_place_is_told_in_parts() {
    let folder = folder();
    let error = as_json(&folder.run(&["risk", "people.csv", "-p", "typo.toml", "--json"]));
    let place = serde_json::json!({ "file": "typo.toml", "line": 3, "column": 12, "attribute": "agee" });
    assert_eq!(error["place"], place, "{error}");
    let error = as_json(&folder.run(&["audit", "people.csv", "latin.csv", "-p", "policy.toml", "--json"]));
    let place = serde_json::json!({ "file": "latin.csv", "line": 2, "column": 3, "attribute": null });
    assert_eq!(error["place"], place, "{error}");
}

#[test]
fn without_json_errors_are_told_in_words() {
    let folder = folder();
    for (arguments, exit, _) in CASES.iter().filter(|(arguments, ..)| arguments[0] != "compare") {
        let arguments: Vec<&str> = arguments.iter().copied().filter(|one| *one != "--json").collect();
        let ran = folder.run(&arguments);
        assert_eq!(ran.code, *exit, "{arguments:?}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

#[test]
fn help_is_help_with_json_too() {
    let ran = Folder::new().run(&["risk", "--json", "--help"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("Usage: throng risk"));
}

#[test]
fn a_comparison_tells_the_code_of_what_did_not_run() {
    let folder = folder();
    let arguments =
        ["compare", "people.csv", "-p", "policy.toml", "--k", "3,99", "--methods", "mondrian", "-o"];
    let ran = folder.run(&[&arguments[..], &["c.html", "--json", "c.json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let figures: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    let codes: Vec<&Value> = figures["runs"].as_array().unwrap().iter().map(|run| &run["code"]).collect();
    assert_eq!(codes, [&Value::Null, &Value::from("k-exceeds-table")]);
}
