//! `throng audit --attack` as a user runs it.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY};

/// Ages that do not tell the illness: a third has flu, the others one of nine.
fn people(rows: usize) -> String {
    let mut state = 7u64;
    let mut text = "age,sex,illness\n".to_owned();
    for row in 0..rows {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let illness = if row % 10 < 3 { "flu".to_owned() } else { format!("other {}", (state >> 40) % 9) };
        text += &format!("{},m,{illness}\n", (state >> 33) % 100_000);
    }
    text
}

fn with_people(method: &str) -> Folder {
    let policy = POLICY.replace("k = 3", "l = 3") + &format!("[method]\nseed = 1\n{method}\n");
    Folder::new()
        .with("people.csv", &people(1500))
        .with("policy.toml", &policy)
        .with("secret", &"s".repeat(32))
}

fn anonymize(folder: &Folder, further: &[&str]) {
    let fixed = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--secret", "secret"];
    let ran = folder.run(&[&fixed, further].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

const AUDIT: [&str; 6] = ["audit", "people.csv", "r.csv", "-p", "policy.toml", "--attack"];

#[test]
fn the_literal_rule_is_found_out_and_lots_are_not() {
    for (method, order, within, known) in [
        ("name = \"hilbert\"\ndealing = \"literal\"", "--keep-order", false, "order"),
        ("name = \"hilbert\"\ndealing = \"literal\"", "--quiet", false, "drawn"),
        ("name = \"hilbert\"", "--keep-order", true, "order"),
        ("name = \"hilbert\"", "--quiet", true, "drawn"),
    ] {
        let folder = with_people(method);
        anonymize(&folder, &[order]);
        let ran = folder.run(&[&AUDIT[..], &["--json"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(told["l"].as_f64().map(|l| l >= 3.0), Some(true));
        assert_eq!(told["attack"]["membership"], known, "{method} {order}");
        assert!(within || told["attack"]["within_noise"] == false, "{method} {order}: {}", told["attack"]);
        let far = &told["attack"]["attacks"][0]["farthest"];
        let lift = far["hits"].as_f64().unwrap() - far["chance"].as_f64().unwrap();
        assert_eq!(lift > 0.1, !within, "{method} {order}: {far}");
    }
}

#[test]
fn attacks_are_told_in_words_and_only_on_request() {
    let folder = with_people("name = \"hilbert\"\ndealing = \"literal\"");
    anonymize(&folder, &["--keep-order", "--report", "report.json", "--report", "report.html"]);
    let ran = folder.run(&AUDIT);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // Lines are wrapped anywhere.
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("farthest member"), "{}", ran.stdout);
    assert!(told.contains("above chance") && told.contains("shuffle the sensitive"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    assert!(told.contains("largest that this table allows"), "{}", ran.stdout);
    assert!(!folder.run(&AUDIT[..5]).stdout.contains("farthest"));
    let told: serde_json::Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert!(told["l_feasible"].as_f64().unwrap() > 3.0, "{told}");
    assert!(told["notes"].to_string().contains("tells more than l promises"), "{}", told["notes"]);
    let page = folder.read("report.html");
    assert!(page.contains("What l promises") && page.contains("largest that this table allows"));
}

#[test]
fn permuted_releases_can_be_attacked_and_tables_without_sensitive_values_cannot() {
    let folder = with_people("name = \"hilbert\"");
    anonymize(&folder, &["--publish", "permutation"]);
    let ran = folder.run(&[&AUDIT[..], &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["attack"]["membership"], "exact");
    let policy = POLICY.replace("role = \"sensitive\"", "role = \"other\"");
    let folder = Folder::new()
        .with("people.csv", &people(60))
        .with("policy.toml", &policy)
        .with("secret", &"s".repeat(32));
    anonymize(&folder, &[]);
    let ran = folder.run(&AUDIT);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("no sensitive attribute"), "{}", ran.stderr);
}
