//! `anonymize --certificate` and `certify`: what is claimed can be checked by anyone who has the table.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, Ran, people};
use serde_json::Value;

fn start() -> Folder {
    Folder::new().with("d.csv", &people(120)).with("p.toml", POLICY)
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

#[test]
fn the_bound_of_a_report_can_be_checked() {
    let folder = start();
    let line = "anonymize d.csv -p p.toml -o r.csv --report r.json --certificate c.json";
    let ran = run(&folder, line);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("no release under this policy can lose less than"), "{told}");
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(report["bound"]["proved"], true);
    assert!(report["bound"]["seconds"].as_f64().unwrap() >= 0.0);
    assert!(report["gap"].as_f64().unwrap() >= 0.0);
    let ran = run(&folder, "certify d.csv -p p.toml --certificate c.json --json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let checked: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(checked["holds"], true);
    assert_eq!(checked["gcp"], report["bound"]["gcp"]);
    assert_eq!(report["lower_bound"]["gcp"], report["bound"]["gcp"]);
    let ran = run(&folder, "certify d.csv -p p.toml --certificate c.json");
    assert!(ran.code == 0 && ran.stdout.contains("The certificate holds"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn where_k_is_found_within_a_limit_on_the_loss_the_proof_is_about_that_k() {
    let policy = POLICY.replace("k = 3", "max_gcp = 0.4");
    assert!(policy.contains("max_gcp"), "{policy}");
    let folder = Folder::new().with("d.csv", &people(120)).with("p.toml", &policy);
    let line = "anonymize d.csv -p p.toml -o r.csv --report r.json --certificate c.json --quiet";
    assert_eq!(run(&folder, line).code, 0);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let ran = run(&folder, "certify d.csv -p p.toml --certificate c.json");
    assert!(ran.code == 2 && ran.stderr.contains("add --k with the k that was found"), "{}", ran.stderr);
    let found = report["k_required"].as_u64().unwrap();
    assert_eq!(report["lower_bound"]["found_k"].as_u64(), Some(found));
    let ran = run(&folder, &format!("certify d.csv -p p.toml --certificate c.json --k {found}"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains(&format!("under this policy with k = {found} can lose less")),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_foreign_a_broken_and_a_changed_certificate_are_refused() {
    let folder = start();
    assert_eq!(run(&folder, "anonymize d.csv -p p.toml -o r.csv --certificate c.json --quiet").code, 0);
    for (line, code) in [
        ("certify d.csv -p p.toml --certificate c.json --k 4 --json", "not-this-certificate"),
        ("certify other.csv -p p.toml --certificate c.json --json", "not-this-certificate"),
        ("certify d.csv -p p.toml --certificate changed.json --json", "bad-certificate"),
        ("certify d.csv -p p.toml --certificate d.csv --json", "bad-certificate"),
        ("certify d.csv -p p.toml --certificate nowhere.json --json", "file-not-found"),
    ] {
        std::fs::write(folder.path("other.csv"), people(119)).unwrap();
        let text = folder.read("c.json").replace("\"prices\":[", "\"prices\":[1");
        std::fs::write(folder.path("changed.json"), text).unwrap();
        let ran = run(&folder, line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.stdout);
        let error: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(error["code"], code, "{line}: {}", ran.stderr);
    }
}

#[test]
fn a_certificate_goes_through_the_guard_of_outputs() {
    let folder = start();
    for line in [
        "anonymize d.csv -p p.toml -o r.csv --certificate d.csv",
        "anonymize d.csv -p p.toml -o r.csv --certificate r.csv",
        "anonymize d.csv -p p.toml -o r.csv --certificate p.toml",
    ] {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.stderr.contains("overwrite"), "{line}: {}", ran.stderr);
        assert_eq!(folder.files(), ["d.csv", "p.toml"]);
    }
    // Where nothing is proved nothing is written.
    std::fs::write(folder.path("loss.toml"), POLICY.replace("k = 3", "max_loss = 0.4")).unwrap();
    let ran = run(&folder, "anonymize d.csv -p loss.toml -o r.csv --certificate c.json --method accuracy");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(folder.files(), ["d.csv", "loss.toml", "p.toml"]);
}

#[test]
fn more_effort_is_asked_for_by_a_flag_or_the_policy() {
    let folder = start();
    let gcp = |line: &str| {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        report["bound"]["gcp"].as_f64().unwrap()
    };
    let usual = gcp("anonymize d.csv -p p.toml -o r.csv --report r.json --quiet");
    let more = gcp("anonymize d.csv -p p.toml -o r.csv --report r.json --quiet --effort 15");
    assert!(more >= usual, "{more} {usual}");
    let policy = format!("{POLICY}[report]\nbound = {{ passes = 15 }}\n");
    std::fs::write(folder.path("more.toml"), policy).unwrap();
    assert_eq!(gcp("anonymize d.csv -p more.toml -o r.csv --report r.json --quiet"), more);
    std::fs::write(folder.path("time.toml"), format!("{POLICY}[report]\nbound = {{ seconds = 0.2 }}\n"))
        .unwrap();
    assert!(gcp("anonymize d.csv -p time.toml -o r.csv --report r.json --quiet") > 0.0);
    // None is looked for where nobody wants one.
    std::fs::write(folder.path("none.toml"), format!("{POLICY}[report]\nbound = {{ passes = 0 }}\n"))
        .unwrap();
    for line in ["-p none.toml", "-p p.toml --effort 0", "-p none.toml --seconds 1"] {
        let ran = run(&folder, &format!("anonymize d.csv {line} -o r.csv --report r.json"));
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        assert!(report["bound"].is_null(), "{line}: {}", report["bound"]);
        assert!(!ran.stderr.contains("no release under this policy"), "{line}: {}", ran.stderr);
    }
    for (bound, code) in [
        ("{ seconds = 0 }", "bad-value"),
        ("{ passes = -1 }", "bad-value"),
        ("{ second = 1 }", "unknown-key"),
        ("7", "wrong-type"),
    ] {
        std::fs::write(folder.path("bad.toml"), format!("{POLICY}[report]\nbound = {bound}\n")).unwrap();
        let ran = run(&folder, "audit d.csv r.csv -p bad.toml --json");
        assert_eq!(ran.code, 2, "{bound}");
        assert!(ran.stderr.contains(code), "{bound}: {}", ran.stderr);
    }
}

#[test]
fn a_fast_method_waits_for_a_proof_only_where_one_is_asked_for() {
    let folder = Folder::new().with("d.csv", &people(600)).with("p.toml", POLICY);
    for (more, proved) in [("", false), (" --certificate c.json", true), (" --effort 1", true)] {
        let line = format!("anonymize d.csv -p p.toml -o r.csv --method mondrian --report r.json{more}");
        let ran = run(&folder, &line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        assert_eq!(report["bound"]["proved"], proved, "{line}");
        let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(told.contains("as estimated from"), !proved, "{line}: {told}");
    }
}
