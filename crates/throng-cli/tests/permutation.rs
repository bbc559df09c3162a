//! Publishing by permutation, the dual problem and the data cube, as a user sees them.
#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, people};
use serde_json::Value;

fn policy(privacy: &str) -> String {
    POLICY.replace("k = 3", privacy)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn two_files_are_published_and_enough_to_compute_l() {
    for (method, publish) in [("anatomy", "cells"), ("hilbert", "permutation"), ("mondrian", "permutation")] {
        for ending in ["csv", "csv.zst", "parquet", "arrow"] {
            let folder = Folder::new().with("people.csv", &people(60)).with("policy.toml", &policy("l = 2"));
            let release = format!("r.{ending}");
            let ran = folder.run(&[
                "anonymize",
                "people.csv",
                "-p",
                "policy.toml",
                "-o",
                &release,
                "--method",
                method,
                "--publish",
                publish,
                "--report",
                "r.json",
            ]);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let beside = format!("r.sensitive.{ending}");
            let mut expected = ["people.csv", "policy.toml", "r.json", &release, &beside];
            expected.sort_unstable();
            assert_eq!(folder.files(), expected);
            let audit = folder.run(&["audit", "people.csv", &release, "-p", "policy.toml", "--json"]);
            assert_eq!(audit.code, 0, "{}", audit.stderr);
            let (report, audit) = (json(&folder.read("r.json")), json(&audit.stdout));
            assert!(audit["l"].as_f64().unwrap() >= 2.0);
            assert_eq!(
                (&report["l"], &report["k"], &report["gcp"]),
                (&audit["l"], &audit["k"], &audit["gcp"])
            );
            assert_eq!(audit["gcp"].as_f64(), Some(0.0));
            assert_eq!(audit["permuted"].as_bool(), Some(true));
        }
    }
}

#[test]
fn a_permuted_release_that_was_changed_fails_its_audit() {
    let folder = Folder::new().with("people.csv", &people(60)).with("policy.toml", &policy("l = 2"));
    let ran =
        folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--method", "anatomy"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(folder.read("r.csv").starts_with("age,sex,group\n"));
    let values = folder.read("r.sensitive.csv");
    assert!(values.starts_with("group,illness,count\n"));
    let audit = ["audit", "people.csv", "r.csv", "-p", "policy.toml"];
    // All of a group's values become one.
    std::fs::write(folder.path("r.sensitive.csv"), values.replace("cold", "flu").replace("gout", "flu"))
        .unwrap();
    assert_eq!(folder.run(&audit).code, 1);
    // A value too many.
    std::fs::write(folder.path("r.sensitive.csv"), values.replacen(",1\n", ",2\n", 1)).unwrap();
    assert_eq!(folder.run(&audit).code, 1);
    // A count that is none.
    std::fs::write(folder.path("r.sensitive.csv"), values.replacen(",1\n", ",x\n", 1)).unwrap();
    let ran = folder.run(&audit);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("r.sensitive.csv") && ran.stderr.contains("whole number"), "{}", ran.stderr);
    std::fs::remove_file(folder.path("r.sensitive.csv")).unwrap();
    let ran = folder.run(&audit);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("r.sensitive.csv"), "{}", ran.stderr);
}

#[test]
fn a_permutation_needs_a_name_for_its_second_file() {
    let folder = Folder::new().with("people.csv", &people(60)).with("policy.toml", &policy("l = 2"));
    let ran =
        folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "-", "--publish", "permutation"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("two files") && ran.stderr.contains("-o release.csv"), "{}", ran.stderr);
}

#[test]
fn the_dual_problem_keeps_to_its_limits() {
    let folder = Folder::new()
        .with("people.csv", &people(200))
        .with("policy.toml", &policy("max_span = { age = 10 }"))
        .with("both.toml", &policy("max_loss = 0.05\nk = 150"));
    let run = |policy: &str, method: &str| {
        folder.run(&[
            "anonymize",
            "people.csv",
            "-p",
            policy,
            "-o",
            "r.csv",
            "--method",
            method,
            "--report",
            "r.json",
        ])
    };
    for method in ["accuracy", "accuracy-search"] {
        let ran = run("policy.toml", method);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for line in folder.read("r.csv").lines().skip(1) {
            let age = line.split(',').next().unwrap();
            if let Some((low, high)) = age.trim_matches(['[', ']']).split_once('-') {
                assert!(high.parse::<i32>().unwrap() - low.parse::<i32>().unwrap() <= 10, "{age}");
            }
        }
        assert!(json(&folder.read("r.json"))["l"].as_f64().unwrap() >= 1.0);
        assert_eq!(folder.run(&["audit", "people.csv", "r.csv", "-p", "policy.toml"]).code, 0);
        std::fs::remove_file(folder.path("r.csv")).unwrap();
        let ran = run("both.toml", method);
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("within the limit on the loss"), "{}", ran.stderr);
        assert!(!folder.path("r.csv").exists());
    }
    // A release that is wider than allowed fails.
    let wide =
        folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--method", "accuracy"]);
    assert_eq!(wide.code, 0, "{}", wide.stderr);
    let published = folder.read("r.csv");
    let changed = published.lines().map(|line| match line.starts_with("age") {
        true => format!("{line}\n"),
        false => format!("[20-69],{}\n", line.split_once(',').unwrap().1),
    });
    std::fs::write(folder.path("wide.csv"), changed.collect::<String>()).unwrap();
    let ran = folder.run(&["audit", "people.csv", "wide.csv", "-p", "policy.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("max_span"), "{}", ran.stdout);
}

#[test]
fn the_cube_of_a_release_is_compared_level_by_level() {
    let folder = Folder::new().with("people.csv", &people(90)).with("policy.toml", &policy("l = 2"));
    let kld = |arguments: &[&str]| {
        let mut all = vec!["evaluate", "people.csv", "-p", "policy.toml", "--task", "cube", "--json"];
        all.extend(arguments);
        let ran = folder.run(&all);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let levels = json(&ran.stdout)["levels"].as_array().unwrap().clone();
        assert_eq!(levels.len(), 2);
        levels.iter().map(|level| level["kld"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let made = kld(&["--method", "mondrian", "--seed", "1"]);
    assert!(made.iter().all(|divergence| *divergence >= -1e-9) && made[0] <= made[1] + 1e-9);
    let permuted = kld(&["--method", "mondrian", "--seed", "1", "--set", "publish=permutation"]);
    assert!(permuted[1] < made[1]);
    // The same from files.
    for (publish, expected) in [("cells", made), ("permutation", permuted)] {
        let ran = folder.run(&[
            "anonymize",
            "people.csv",
            "-p",
            "policy.toml",
            "-o",
            "r.csv",
            "--method",
            "mondrian",
            "--seed",
            "1",
            "--publish",
            publish,
        ]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let read = kld(&["--release", "r.csv"]);
        assert!(
            read.iter().zip(&expected).all(|(read, made)| (read - made).abs() < 1e-9),
            "{read:?} {expected:?}"
        );
    }
}
