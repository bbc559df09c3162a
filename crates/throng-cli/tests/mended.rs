//! What a user was told wrongly once, as a user sees it.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, people};

/// A policy for `peel`, with two options that only it has and one that most methods have.
fn with_options() -> Folder {
    let method = "[method]\nname = \"peel\"\nrounds = 1\neffort = 5\nimprove = true\n";
    Folder::new().with("people.csv", &people(60)).with("policy.toml", &format!("{method}{POLICY}"))
}

#[test]
fn options_that_another_method_does_not_have_are_told() {
    let folder = with_options();
    let ran = folder.run(&[
        "anonymize",
        "people.csv",
        "-p",
        "policy.toml",
        "-o",
        "out.csv",
        "--method",
        "mondrian",
        "--report",
        "r.json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "[method] was written for another method: rounds and effort do not apply to this one and were left out.";
    let other = note.replace("rounds and effort", "effort and rounds");
    assert!(told.contains(note) || told.contains(&other), "{told}");
    let report: serde_json::Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let mut left_out: Vec<&str> =
        report["left_out_options"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    left_out.sort_unstable();
    // `improve` applies to mondrian too and is kept.
    assert_eq!(left_out, ["effort", "rounds"]);
}

#[test]
fn a_comparison_tells_which_options_each_method_did_not_take() {
    let folder = with_options();
    let ran = folder.run(&[
        "compare",
        "people.csv",
        "-p",
        "policy.toml",
        "--methods",
        "peel,mondrian,hilbert",
        "-o",
        "page.html",
        "--json",
        "page.json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (_, told) = ran.stdout.split_once("Options of [method] that do not apply").unwrap();
    assert!(told.contains("mondrian: ") && told.contains("hilbert: ") && told.contains("effort"), "{told}");
    assert!(!told.contains("peel") && !told.contains("improve"), "{told}");
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    assert!(folder.read("page.html").contains("Options left out"));
    let figures: serde_json::Value = serde_json::from_str(&folder.read("page.json")).unwrap();
    let count = |run: &serde_json::Value| run["report"]["left_out_options"].as_array().map_or(0, Vec::len);
    let counts: Vec<usize> = figures["runs"].as_array().unwrap().iter().map(count).collect();
    assert_eq!(counts, [0, 2, 2]);
    // The option that both have changes what both do.
    let plain = folder.with("plain.toml", POLICY);
    let loss = |policy: &str, extra: &[&str]| {
        let all =
            ["anonymize", "people.csv", "-p", policy, "-o", "out.csv", "--report", "r.json", "--seed", "1"];
        assert_eq!(plain.run(&[&all[..], extra].concat()).code, 0);
        let report: serde_json::Value = serde_json::from_str(&plain.read("r.json")).unwrap();
        report["gcp"].as_f64().unwrap()
    };
    let (improved, not) =
        (loss("policy.toml", &["--method", "hilbert"]), loss("plain.toml", &["--method", "hilbert"]));
    assert!(improved < not, "{improved} {not}");
}

/// Of `1,y 2,y 2,x` no release is 2-diverse, but without the first record one is.
#[test]
fn what_may_be_left_out_counts_for_what_is_possible() {
    let policy = |suppress: &str| {
        format!(
            "[privacy]\nl = 2\nsuppress = {suppress}\n[attribute.a]\nrole = \"quasi\"\n[attribute.s]\nrole = \"sensitive\"\n"
        )
    };
    let folder = Folder::new()
        .with("t.csv", "a,s\n1,y\n2,y\n2,x\n")
        .with("none.toml", &policy("0"))
        .with("some.toml", &policy("0.34"));
    for method in
        ["auto", "mondrian", "hilbert", "idistance", "top-down", "bottom-up", "peel", "rv-cluster", "refine"]
    {
        let run = |policy: &str| {
            folder.run(&[
                "anonymize",
                "t.csv",
                "-p",
                policy,
                "-o",
                "out.csv",
                "--method",
                method,
                "--keep-order",
            ])
        };
        let refused = run("none.toml");
        assert_eq!(refused.code, 1, "{method}");
        assert!(refused.stderr.contains("cannot be met by any release of this table"), "{}", refused.stderr);
        let ran = run("some.toml");
        assert_eq!(ran.code, 0, "{method}: {}", ran.stderr);
        assert_eq!(folder.read("out.csv"), "a,s\n2,y\n2,x\n", "{method}");
        assert!(ran.stdout.contains("1 record was left out first"), "{}", ran.stdout);
    }
}

#[test]
fn a_sum_over_nobody_is_zero() {
    let policy = "[privacy]\nk = 1\n[attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n\
        [evaluate.queries]\nfile = \"queries.toml\"\n";
    let folder = Folder::new()
        .with("t.csv", "age,city\n30,Genf\n40,Bern\n")
        .with("p.toml", policy)
        .with("queries.toml", "[[query]]\nsum = \"age\"\nwhere = { age = \"[90-99]\" }\n");
    let words = folder.run(&["evaluate", "t.csv", "-p", "p.toml", "--task", "queries"]);
    let json = folder.run(&["evaluate", "t.csv", "-p", "p.toml", "--task", "queries", "--json"]);
    assert_eq!((words.code, json.code), (0, 0), "{} {}", words.stderr, json.stderr);
    let found: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json.stdout.contains("\"exact\": 0.0") && json.stdout.contains("\"estimate\": 0.0"), "{found}");
    for said in [&words.stdout, &json.stdout] {
        assert!(!said.contains("-0") && !said.contains("−0"), "{said}");
    }
}

#[test]
fn weights_that_would_overflow_are_refused_and_the_largest_are_told_in_numbers() {
    let policy = |weight: &str, importance: &str| {
        format!(
            "[privacy]\nk = 2\n[method]\nname = \"rv-cluster\"\n[attribute.age]\nrole = \"quasi\"\nweight = {weight}\n\
             rules = [{{ cut = [40, 41], importance = {importance} }}]\n[attribute.sex]\nrole = \"quasi\"\n"
        )
    };
    let run = |weight: &str, importance: &str| {
        let folder = Folder::new().with("t.csv", &people(30)).with("p.toml", &policy(weight, importance));
        let ran = folder.run(&["anonymize", "t.csv", "-p", "p.toml", "-o", "out.csv", "--report", "r.json"]);
        let report = (ran.code == 0).then(|| folder.read("r.json"));
        (ran, report)
    };
    for (weight, importance) in [("1e308", "1"), ("1e-300", "1"), ("1", "1e308"), ("1", "1e-300")] {
        let (ran, _) = run(weight, importance);
        assert_eq!(ran.code, 2, "{weight} {importance}");
        assert!(ran.stderr.contains("must be a number from 0.000000001 to 1000000000"), "{}", ran.stderr);
    }
    for (weight, importance) in [("1e9", "1e9"), ("1e-9", "1e-9"), ("1", "1")] {
        let (ran, report) = run(weight, importance);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report: serde_json::Value = serde_json::from_str(&report.unwrap()).unwrap();
        for key in ["gcp", "ncp", "discernibility", "c_avg"] {
            assert!(report[key].is_number(), "{key}: {}", report[key]);
        }
    }
}

#[test]
fn a_search_for_records_does_not_stop_at_the_few_that_have_no_rare_value() {
    let folder = Folder::new()
        .with("t.csv", &format!("a\n{}y\n", "x\n".repeat(99)))
        .with("p.toml", "[privacy]\nk = 2\n[attribute.a]\nrole = \"quasi\"\n");
    let asked = ["simulate", "--data", "t.csv", "--policy", "p.toml", "--k", "2", "--needed", "0.95"];
    let json = folder.run(&[&asked[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    // One in a hundred, at least twice in 95 % of tables where it is there: between 400 and 600 records.
    let needed = json["records_needed"].as_u64().unwrap();
    assert!((300..700).contains(&needed), "{json}");
    let words = folder.run(&asked).stdout;
    assert!(words.contains("every larger number that was tried"), "{words}");
}
