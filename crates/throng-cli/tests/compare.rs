//! `throng compare` as a user runs it.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, people};

fn with_people() -> Folder {
    Folder::new().with("people.csv", &people(60)).with("policy.toml", POLICY)
}

#[test]
fn every_method_and_k_is_told_in_page_json_and_terminal() {
    let folder = with_people();
    let arguments = ["compare", "people.csv", "--policy", "policy.toml", "--methods", "mondrian,hilbert"];
    let ran =
        folder.run(&[&arguments[..], &["--k", "2,5", "-o", "page.html", "--json", "page.json"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let figures: serde_json::Value = serde_json::from_str(&folder.read("page.json")).unwrap();
    let runs: Vec<(&str, u64)> = figures["runs"].as_array().unwrap().iter().map(combination).collect();
    assert_eq!(runs, [("mondrian", 2), ("hilbert", 2), ("mondrian", 5), ("hilbert", 5)]);
    for run in figures["runs"].as_array().unwrap() {
        assert!(run["report"]["k"].as_u64() >= run["k"].as_u64(), "{run}");
        assert!(run["report"]["lower_bound"]["gcp"].as_f64() <= run["report"]["gcp"].as_f64(), "{run}");
    }
    assert!(folder.read("page.html").contains("<svg"));
    assert!(ran.stdout.contains("k = 5") && ran.stdout.contains("hilbert"), "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    assert_eq!(folder.files(), ["page.html", "page.json", "people.csv", "policy.toml"]);
}

fn combination(run: &serde_json::Value) -> (&str, u64) {
    (run["method"].as_str().unwrap(), run["k"].as_u64().unwrap())
}

#[test]
fn without_methods_and_k_all_that_suit_run_with_the_policys_k() {
    let folder = with_people();
    let ran = folder.run(&["compare", "people.csv", "-p", "policy.toml", "-o", "page.html", "--quiet"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    assert!(folder.read("page.html").contains("mondrian-relaxed"));
    let told = ["compare", "people.csv", "-p", "policy.toml", "-o", "page.html", "--json", "page.json"];
    let told = folder.run(&told);
    let figures: serde_json::Value = serde_json::from_str(&folder.read("page.json")).unwrap();
    let names = |list: &str| -> Vec<String> {
        let of = |own: &serde_json::Value| own["method"].as_str().unwrap().to_owned();
        figures[list].as_array().unwrap().iter().map(of).collect()
    };
    let (ran, left_out) = (names("runs"), names("left_out"));
    assert!(figures["runs"].as_array().unwrap().iter().all(|run| run["refused"].is_null()), "{figures}");
    for odd in ["anatomy", "exact", "accuracy"] {
        assert!(left_out.contains(&odd.to_owned()) && !ran.contains(&odd.to_owned()), "{odd}");
    }
    assert_eq!(ran.len() + left_out.len(), throng::method::STANDARD.len());
    assert!(told.stdout.contains("accuracy: needs max_loss in [privacy]"), "{}", told.stdout);
}

#[test]
fn methods_that_find_their_own_k_are_compared_by_it_and_no_bound_is_above_a_loss() {
    let text = "age,job\n1,a\n1,a\n5,b\n5,b\n7,c\n7,c\n8,c\n9,d\n";
    let policy =
        "[privacy]\nmax_gcp = 0.3\n[attribute.age]\nrole = \"quasi\"\n[attribute.job]\nrole = \"quasi\"\n";
    let folder = Folder::new().with("people.csv", text).with("policy.toml", policy);
    // Full-domain recodings reach no k but 1 within the limit, and then lose nothing.
    let arguments =
        ["compare", "people.csv", "-p", "policy.toml", "--methods", "mondrian,rv-global", "-o", "page.html"];
    let ran = folder.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let row = |method: &str| -> Vec<&str> {
        let line = ran.stdout.lines().find(|line| line.trim_start().starts_with(method)).unwrap();
        line.split_whitespace().collect()
    };
    assert_eq!(
        (row("method")[1], row("mondrian")[1], row("rv-global")[1]),
        ("k", "2*", "1"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("lower bound"), "{}", ran.stdout);
    assert!(ran.stdout.contains("mondrian hides each record among the most others"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("rv-global hides") && !ran.stdout.contains("most detail"), "{}", ran.stdout);
    assert!(!folder.read("page.html").contains("most detail"));
    // What is said of one of them is not untrue of the other.
    let one = ["anonymize", "people.csv", "-p", "policy.toml", "--method", "mondrian", "-o", "release.csv"];
    let told = folder.run(&one).stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("no release under this policy with k = 2 can lose less"), "{told}");
}

#[test]
fn an_unreachable_k_is_told_with_its_reason_beside_what_ran() {
    let folder = with_people();
    let arguments = ["compare", "people.csv", "-p", "policy.toml", "--methods", "mondrian", "--k", "3,61"];
    let ran = folder.run(&[&arguments[..], &["-o", "page.html"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("mondrian did not run"), "{}", ran.stdout);
    assert!(folder.read("page.html").contains("Combinations that did not run"));
}

#[test]
fn a_comparison_of_nothing_is_an_error_and_leaves_no_file() {
    let folder = with_people();
    let ran = folder.run(&["compare", "people.csv", "-p", "policy.toml", "--k", "61", "-o", "page.html"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("people.csv") && ran.stderr.contains("help:"), "{}", ran.stderr);
    assert_eq!(folder.files(), ["people.csv", "policy.toml"]);
}

#[test]
fn mistakes_are_told_before_any_work_and_leave_no_file() {
    let folder = with_people();
    for (arguments, told) in [
        (&["people.csv", "-p", "policy.toml", "--methods", "hilbrt"][..], "did you mean \"hilbert\"?"),
        (&["people.csv", "-p", "policy.toml", "--k", "0"], "k must be a whole number of at least 1"),
        (&["nobody.csv", "-p", "policy.toml"], "nobody.csv"),
        (&["people.csv", "-p", "nothing.toml"], "nothing.toml"),
    ] {
        let ran = folder.run(&[&["compare"], arguments, &["-o", "page.html"]].concat());
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(folder.files(), ["people.csv", "policy.toml"]);
    }
    let ran = folder.run(&["compare", "people.csv", "-p", "policy.toml", "-o", "page.json"]);
    assert!(ran.code == 2 && ran.stderr.contains("--json FILE"), "{}", ran.stderr);
}
