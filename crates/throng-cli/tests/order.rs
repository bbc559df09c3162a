//! The order of rows: nobody can undo it who does not hold the secret that it was drawn from.

#![allow(clippy::unwrap_used)]

mod folder;

use std::fmt::Write as _;

use folder::Folder;

const ROWS: usize = 1_000;

/// A policy as guides show it: with a seed that anyone can read.
const POLICY: &str = "[privacy]\nk = 5\n[method]\nname = \"mondrian\"\nseed = 7\n[attribute.age]\nrole = \"quasi\"\n\
    [attribute.place]\nrole = \"other\"\nconfirmed = true\n";

/// People whose place in the table is told beside their age, so that a test can see where each one went.
fn people(age: impl Fn(usize) -> usize) -> String {
    let mut text = "age,place\n".to_owned();
    (0..ROWS).for_each(|row| writeln!(text, "{},{row}", age(row)).unwrap());
    text
}

/// The places of the table in the order of the release.
fn places(release: &str) -> Vec<usize> {
    release.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

fn folder() -> Folder {
    // What a release looks like to whoever has another table of as many rows: nothing else is needed to undo a shuffle that
    // depends on the seed and the number of rows.
    Folder::new()
        .with("people.csv", &people(|row| 20 + (row * 7) % 60))
        .with("dummy.csv", &people(|row| 18 + (row * 11) % 70))
        .with("policy.toml", POLICY)
        .with("secret", "0123456789abcdef0123456789abcdef")
}

fn anonymize(folder: &Folder, table: &str, release: &str, more: &[&str]) -> String {
    let base = ["anonymize", table, "-p", "policy.toml", "-o", release];
    let ran = folder.run(&[&base[..], more].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stderr
}

#[test]
fn the_seed_and_a_table_of_as_many_rows_do_not_undo_the_order() {
    let folder = folder();
    anonymize(&folder, "people.csv", "release.csv", &[]);
    anonymize(&folder, "dummy.csv", "dummy-release.csv", &[]);
    let guess = places(&folder.read("dummy-release.csv"));
    let truth = places(&folder.read("release.csv"));
    let right = guess.iter().zip(&truth).filter(|(guess, truth)| guess == truth).count();
    // One of a thousand is expected by chance; twenty would be one chance in 10¹⁸.
    assert!(right < 20, "{right} of {ROWS} rows were put back in their place");
}

#[test]
fn a_seed_repeats_rows_but_not_their_order() {
    let folder = folder();
    let told = anonymize(&folder, "people.csv", "one.csv", &["--report", "one.json"]);
    anonymize(&folder, "people.csv", "other.csv", &[]);
    let (one, other) = (folder.read("one.csv"), folder.read("other.csv"));
    assert_ne!(one, other);
    let sorted = |text: &str| {
        let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(sorted(&one), sorted(&other));
    assert!(told.contains("Order    random, drawn afresh"), "{told}");
    let report: serde_json::Value = serde_json::from_str(&folder.read("one.json")).unwrap();
    assert_eq!((report["order"].as_str(), report["seed"].as_u64()), (Some("random"), Some(7)));
}

#[test]
fn a_secret_repeats_bytes_and_stands_in_no_output() {
    let folder = folder();
    let keyed = ["--secret", "secret", "--report", "one.json", "--report", "one.html"];
    let told = anonymize(&folder, "people.csv", "one.csv", &keyed);
    anonymize(&folder, "people.csv", "other.csv", &["--secret", "secret", "--threads", "1"]);
    assert_eq!(folder.read("one.csv"), folder.read("other.csv"));
    assert!(folder.read("one.json").contains("\"order\": \"keyed\""));
    for output in [told, folder.read("one.json"), folder.read("one.html")] {
        assert!(!output.contains("0123456789abcdef"));
    }
    let ran = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "x.csv", "--secret", "one"]);
    assert_eq!(ran.code, 2, "a secret that is not there: {}", ran.stderr);
}

#[test]
fn a_kept_order_is_a_note() {
    let folder = folder();
    let told = anonymize(&folder, "people.csv", "one.csv", &["--keep-order", "--report", "one.json"]);
    assert!(places(&folder.read("one.csv")).into_iter().eq(0..ROWS));
    let report: serde_json::Value = serde_json::from_str(&folder.read("one.json")).unwrap();
    assert_eq!(report["order"], "kept");
    assert!(told.contains("Note     Rows stand in the order of the table"), "{told}");
}
