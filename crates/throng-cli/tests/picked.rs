//! A string that somebody picks, what it is worth by the audit, and attributes that tell the same.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::Folder;
use serde_json::Value;

const POLICY: &str = "[privacy]\nk = 4\n[method]\nname = \"rv-global\"\n\
    [attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\nhierarchy = { intervals = [5, 10, 20] }\n\
    [attribute.months]\nrole = \"quasi\"\nkind = \"numeric\"\nhierarchy = { intervals = [60, 120] }\n\
    [attribute.zip]\nrole = \"quasi\"\nhierarchy = { prefix = [4, 3, 2] }\n\
    [attribute.illness]\nrole = \"class\"\n";

fn people(rows: usize) -> String {
    let mut text = "age,months,zip,illness\n".to_owned();
    for row in 0..rows {
        let age = 20 + row * 37 % 50;
        text += &format!(
            "{age},{},{},{}\n",
            12 * age + row % 3,
            10_000 + row * 7919 % 7 * 100,
            ["flu", "gout"][row % 2]
        );
    }
    text
}

fn anonymize(folder: &Folder, policy: &str) -> (i32, String, Value) {
    let _ = std::fs::remove_file(folder.path("r.json"));
    std::fs::write(folder.path("policy.toml"), policy).unwrap();
    let ran = folder.anonymize("people.csv", &["--report", "r.json", "--report", "r.html"]);
    let report = std::fs::read_to_string(folder.path("r.json")).unwrap_or_else(|_| "null".to_owned());
    (ran.code, ran.stderr, serde_json::from_str(&report).unwrap())
}

/// The fact of a kind, wherever the report has its facts.
fn fact<'a>(report: &'a Value, kind: &str) -> &'a Value {
    report["facts"].as_array().unwrap().iter().find(|fact| fact["fact"] == kind).unwrap_or(&Value::Null)
}

/// The research value of the release by its definition, from the cells of the two files alone: of each attribute the records over
/// the sum of what their cells span.
fn plain_value(folder: &Folder) -> f64 {
    let cells = |name: &str, column: usize| -> Vec<String> {
        let cell = |line: &str| line.split(',').nth(column).unwrap().to_owned();
        folder.read(name).lines().skip(1).map(cell).collect()
    };
    let mut sum = 0.0;
    for column in 0..3 {
        let (table, release) = (cells("people.csv", column), cells("r.csv", column));
        let mut values = table.clone();
        values.sort();
        values.dedup();
        let number = |text: &str| text.parse::<f64>().unwrap();
        let numbers = || values.iter().map(|text| number(text));
        let all = numbers().fold(0.0, f64::max) - numbers().fold(f64::INFINITY, f64::min) + 1.0;
        let span = |cell: &String| match (column, cell.trim_matches(['[', ']']).split_once('-')) {
            (2, _) => values.iter().filter(|zip| zip.starts_with(cell.trim_end_matches('*'))).count() as f64,
            _ if cell == "*" => all,
            (_, Some((low, high))) => number(high) - number(low) + 1.0,
            (_, None) => 1.0,
        };
        sum += release.len() as f64 / release.iter().map(span).sum::<f64>();
    }
    sum
}

#[test]
fn a_near_string_can_be_picked_and_is_worth_what_was_said() {
    let folder = Folder::new().with("people.csv", &people(160));
    let (code, told, report) = anonymize(&folder, POLICY);
    assert_eq!(code, 0, "{told}");
    let found = fact(&report, "full_domain");
    let score = found["score"].as_f64().unwrap();
    let value = |report: &Value| report["research_value"].as_f64().unwrap();
    assert!((value(&report) - plain_value(&folder)).abs() < 1e-9, "{report}");
    let near = found["near"].as_array().unwrap();
    assert!(!near.is_empty(), "{found}");
    for own in near {
        assert!(own["score"].as_f64().unwrap() <= score + 1e-9, "{own}");
        let policy = POLICY.replace(
            "name = \"rv-global\"\n",
            &format!("name = \"rv-global\"\nstring = {}\n", own["levels"]),
        );
        let (code, told, picked) = anonymize(&folder, &policy);
        assert_eq!(code, 0, "{told}");
        let again = fact(&picked, "full_domain");
        assert!(
            (again["score"].as_f64().unwrap() - own["score"].as_f64().unwrap()).abs() < 1e-9,
            "{own} {again}"
        );
        assert_eq!(again["proof"], "picked");
        assert!((value(&picked) - plain_value(&folder)).abs() < 1e-9, "{own}");
        assert_eq!(picked["classes"], own["classes"], "{own}");
        assert_eq!(folder.run(&["audit", "people.csv", "r.csv", "-p", "policy.toml"]).code, 0);
    }
    assert!(folder.read("r.html").contains("string = [...]"));
    for (string, told) in [
        ("[0, 0, 0]", "does not meet the requirement"),
        ("[1, 1]", "string has 2 levels, but there are 3"),
        ("[9, 0, 0]", "its levels end at"),
        ("\"best\"", "must be a table or list"),
        ("[1.5, 0, 0]", "string must be a list of levels"),
    ] {
        let policy =
            POLICY.replace("name = \"rv-global\"\n", &format!("name = \"rv-global\"\nstring = {string}\n"));
        let (code, stderr, report) = anonymize(&folder, &policy);
        assert!(
            code != 0 && (stderr.contains(told) || stderr.contains("cannot be published at level")),
            "{string}: {stderr}"
        );
        assert!(report.is_null(), "{string}");
    }
}

#[test]
fn attributes_that_tell_the_same_are_named_and_automatic_weights_shown() {
    let folder = Folder::new().with("people.csv", &people(160));
    let (code, told, report) = anonymize(&folder, POLICY);
    assert_eq!(code, 0, "{told}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("\\\"age\\\" and \\\"months\\\" tell nearly the same"), "{notes}");
    assert!(!notes.contains("zip"), "{notes}");
    let auto = POLICY
        .replace("role = \"quasi\"\n", "role = \"quasi\"\nweight = \"auto\"\n")
        .replace("\"rv-global\"", "\"mondrian\"");
    let (code, told, report) = anonymize(&folder, &auto);
    assert_eq!(code, 0, "{told}");
    let found = fact(&report, "associations");
    let weights: Vec<f64> =
        found["weights"].as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).collect();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{found}");
    // The plain definition, from the matrix that is shown: 1 − the mean association with the others.
    let matrix: Vec<Vec<f64>> = serde_json::from_value(found["matrix"].clone()).unwrap();
    let free: Vec<f64> = (0..3)
        .map(|at| 1.0 - (0..3).filter(|other| *other != at).map(|other| matrix[at][other]).sum::<f64>() / 2.0)
        .collect();
    let all: f64 = free.iter().sum();
    for (weight, free) in weights.iter().zip(&free) {
        assert!((weight - free / all).abs() < 1e-9, "{found}");
    }
    assert!(weights[2] > weights[0], "{found}");
    let page = folder.read("r.html");
    assert!(page.contains("Associations and weights") && page.contains("from the table"));
}

#[test]
fn a_terminal_tells_the_string_and_what_a_release_is_worth() {
    let folder = Folder::new().with("people.csv", &people(300)).with("policy.toml", POLICY);
    let told = |method: &str| {
        let ran = folder.anonymize("people.csv", &["--method", method, "--report", "r.json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        let words = format!("{}{}", ran.stdout, ran.stderr);
        let value = report["research_value"].as_f64().unwrap();
        assert!(words.contains(&format!("research value {value:.3}")), "{words}");
        (words, report)
    };
    let (words, report) = told("rv-global");
    let levels = fact(&report, "full_domain")["levels"].as_array().unwrap().clone();
    let string: Vec<String> = levels.iter().map(|own| own["level"].to_string()).collect();
    assert!(words.contains(&format!("String   [{}]", string.join(", "))), "{words}");
    assert!(words.contains("No valid string is better"), "{words}");
    assert!(told("rv-cluster").0.contains("The clusters leave a research value of"));
    assert!(!told("mondrian").0.contains("String "));
}
