//! `throng demo` as a user runs it.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::Folder;

#[test]
fn the_demo_leaves_release_and_reports_and_says_where() {
    let folder = Folder::new();
    let ran = folder.run(&["demo"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(folder.read("throng-demo/release.csv").lines().count(), 5_001);
    assert!(folder.read("throng-demo/report.html").contains("<svg"));
    let report: serde_json::Value = serde_json::from_str(&folder.read("throng-demo/report.json")).unwrap();
    assert!(report["k"].as_u64().unwrap() >= 10);
    let short = |line: &&str| line.chars().count() <= 80 || line.starts_with("Report ");
    assert!(ran.stdout.lines().all(|line| short(&line)), "{}", ran.stdout);
    for told in ["release.csv", "report.html", "throng init", "k-anonymity"] {
        assert!(ran.stdout.contains(told), "{told} is missing in\n{}", ran.stdout);
    }
}

#[test]
fn the_demo_can_run_twice_with_the_same_rows_in_another_order() {
    let folder = Folder::new();
    let run = || (folder.run(&["demo", "--out", "there"]).code, folder.read("there/release.csv"));
    let rows = |release: &str| {
        let mut rows: Vec<String> = release.lines().map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    };
    let (first, again) = (run(), run());
    assert_eq!((first.0, again.0), (0, 0));
    assert_ne!(first.1, again.1, "the order can be repeated");
    assert!(rows(&first.1) == rows(&again.1), "the rows differ");
    assert!(folder.files() == ["there"]);
}

#[test]
fn what_the_demo_wrote_works_with_the_other_commands() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["demo", "--out", "d"]).code, 0);
    let ran = folder.run(&["audit", "d/adult-sample.csv", "d/release.csv", "--policy", "d/adult.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::new().with("taken", "");
    let ran = folder.run(&["demo", "--out", "taken"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("taken") && ran.stderr.contains("help:"), "{}", ran.stderr);
    assert_eq!(folder.files(), ["taken"]);
}
