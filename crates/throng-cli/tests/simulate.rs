//! `throng simulate` as a user runs it.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::Folder;

#[test]
fn the_answer_is_told_and_printed_as_json() {
    let folder = Folder::new();
    let words =
        folder.run(&["simulate", "--attributes", "3", "--k", "5", "--records", "500", "--repetitions", "20"]);
    assert_eq!(words.code, 0, "{}", words.stderr);
    assert!(words.stdout.contains("in 20 of them: 100.0 %"), "{}", words.stdout);
    let json = folder.run(&[
        "simulate",
        "--values",
        "2,3",
        "--k",
        "2",
        "--records",
        "4",
        "--repetitions",
        "50",
        "--needed",
        "0.9",
        "--json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json["attributes"].as_u64(), json["combinations"].as_f64()), (Some(2), Some(6.0)));
    assert!(json["success_rate"].as_f64().unwrap() < 0.9 && json["records_needed"].as_u64().unwrap() > 4);
}

#[test]
fn the_number_of_records_needs_no_number_of_records() {
    let folder = Folder::new();
    let asked = ["simulate", "--attributes", "3", "--k", "5", "--needed"];
    let words = folder.run(&asked);
    assert_eq!(words.code, 0, "{}", words.stderr);
    assert!(words.stdout.contains("records reach k = 5 in 95 % of tables"), "{}", words.stdout);
    let json = folder.run(&[&asked[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["records_needed"].as_u64().is_some() && json.get("success_rate").is_none(), "{json}");
    let neither = folder.run(&["simulate", "--attributes", "3", "--k", "5"]);
    assert_eq!(neither.code, 2);
    assert!(neither.stderr.contains("--records"), "{}", neither.stderr);
}

#[test]
fn marginals_of_a_table_take_the_place_of_uniform_values() {
    let folder = Folder::new()
        .with("t.csv", &format!("a\n{}y\n", "x\n".repeat(99)))
        .with("p.toml", "[privacy]\nk = 2\n[attribute.a]\nrole = \"quasi\"\n");
    let run = |records: &str| {
        let found = folder.run(&[
            "simulate",
            "--data",
            "t.csv",
            "--policy",
            "p.toml",
            "--k",
            "5",
            "--records",
            records,
            "--repetitions",
            "200",
            "--json",
        ]);
        let json: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
        json["success_rate"].as_f64().unwrap()
    };
    // The rare value is rarely drawn at all among 10 records, nearly always but seldom five times among 200.
    assert!(run("10") > 0.8 && run("200") < 0.3 && run("3000") > 0.95);
}

#[test]
fn nonsense_is_refused_with_words() {
    let folder = Folder::new();
    for arguments in [
        &["simulate", "--k", "5", "--records", "10"][..],
        &["simulate", "--attributes", "3", "--values", "2,3", "--k", "5", "--records", "10"],
        &["simulate", "--attributes", "300", "--k", "5", "--records", "10"],
        &["simulate", "--attributes", "3000000000", "--k", "5", "--records", "10"],
        &["simulate", "--values", "4000000000", "--k", "5", "--records", "10"],
        &["simulate", "--values", "0", "--k", "5", "--records", "10"],
        &["simulate", "--attributes", "3", "--k", "5", "--records", "10", "--needed", "2"],
        &["simulate", "--attributes", "3", "--k", "0", "--records", "10"],
    ] {
        let refused = folder.run(arguments);
        assert_eq!(refused.code, 2, "{arguments:?}");
        assert!(refused.stderr.starts_with("error: "), "{}", refused.stderr);
    }
}
