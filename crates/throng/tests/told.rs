//! What users were told wrongly once: options that were dropped, sums over nobody, figures that overflow, and releases that
//! were said to be impossible. From files to words, as a command does it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};

use serde_json::Value;
use throng::error::Fault;
use throng::plan::Registry;
use throng::policy::Policy;
use throng::release::Order;
use throng::report::{self, Report};
use throng::run::{Anonymize, Compare, Evaluate};
use throng::watch::Unwatched;

/// A table of `rows` people with an age and a sex.
fn people(rows: usize) -> String {
    let line = |row: usize| format!("{},{}\n", 20 + (row * 7) % 50, ["f", "m"][row % 2]);
    format!("age,sex\n{}", (0..rows).map(line).collect::<String>())
}

const PEOPLE: &str =
    "[privacy]\nk = 3\n[attribute.age]\nrole = \"quasi\"\n[attribute.sex]\nrole = \"quasi\"\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(table: &str) -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::write(folder.path("t.csv"), table).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn anonymize(&self, policy: Policy) -> throng::Result<Report> {
        let anonymize = Anonymize {
            order: Order::Keep,
            ..Anonymize::new(self.path("t.csv"), self.path("out.csv"), policy)
        };
        anonymize.run(&Unwatched)
    }
}

fn parse(text: &str) -> Policy {
    Policy::parse(text, Some(Path::new("policy.toml"))).unwrap()
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::from_str(&report::json(value).unwrap()).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

/// A policy for `peel`, with two options that only it has and one that most methods have.
fn with_options() -> Policy {
    parse(&format!("[method]\nname = \"peel\"\nseed = 1\nrounds = 1\neffort = 5\nimprove = true\n{PEOPLE}"))
}

#[test]
fn options_that_another_method_does_not_have_are_told() {
    let folder = Folder::new(&people(60));
    let found = folder.anonymize(with_options().with_method("hilbert").unwrap()).unwrap();
    let told = report::terminal(&found).split_whitespace().collect::<Vec<_>>().join(" ");
    let note = |names: &str| {
        format!(
            "[method] was written for another method: {names} do not apply to this one and were left out."
        )
    };
    assert!(told.contains(&note("rounds and effort")) || told.contains(&note("effort and rounds")), "{told}");
    assert_eq!(names(&json(&found)["left_out_options"]), ["effort", "rounds"]);
    // `improve` applies to it too and is not among them.
    let own = folder.anonymize(with_options()).unwrap();
    assert!(own.left_out_options.is_empty() && !report::terminal(&own).contains("written for another"));
}

#[test]
fn a_comparison_tells_which_options_each_method_did_not_take() {
    let folder = Folder::new(&people(60));
    let compare = Compare {
        data: folder.path("t.csv"),
        policy: with_options(),
        methods: ["peel", "mondrian", "hilbert"].map(str::to_owned).to_vec(),
        ks: Vec::new(),
        queries: false,
        secret: None,
        registry: Registry::default(),
    };
    let comparison = compare.run(&Unwatched).unwrap();
    let words = report::compare_terminal(&comparison);
    let (_, told) = words.split_once("Options of [method] that do not apply").unwrap();
    assert!(told.contains("mondrian: ") && told.contains("hilbert: ") && told.contains("effort"), "{told}");
    assert!(!told.contains("peel") && !told.contains("improve"), "{told}");
    assert!(words.lines().all(|line| line.chars().count() <= 80), "{words}");
    let page = report::compare_html(&comparison).unwrap();
    assert!(page.contains("Options left out"));
    let runs = json(&comparison)["runs"].clone();
    let count = |run: &Value| run["report"]["left_out_options"].as_array().map_or(0, Vec::len);
    assert_eq!(runs.as_array().unwrap().iter().map(count).collect::<Vec<_>>(), [0, 2, 2]);
}

/// Of `1,y 2,y 2,x` no release is 2-diverse, but without the first record one is.
#[test]
fn what_may_be_left_out_counts_for_what_is_possible() {
    let folder = Folder::new("a,s\n1,y\n2,y\n2,x\n");
    let policy = |suppress: &str, method: &str| {
        parse(&format!(
            "[privacy]\nl = 2\nsuppress = {suppress}\n[method]\nname = \"{method}\"\n[attribute.a]\nrole = \"quasi\"\n\
             [attribute.s]\nrole = \"sensitive\"\n"
        ))
    };
    for method in
        ["auto", "mondrian", "hilbert", "idistance", "top-down", "bottom-up", "peel", "rv-cluster", "refine"]
    {
        let refused = folder.anonymize(policy("0", method)).unwrap_err();
        assert_eq!(refused.fault(), Fault::Requirement, "{method}");
        assert!(refused.message().contains("cannot be met by any release of this table"), "{refused}");
        let found = folder.anonymize(policy("0.34", method)).unwrap();
        let released = std::fs::read_to_string(folder.path("out.csv")).unwrap();
        // Without a class to predict, refine leaves all masked.
        let cell = if method == "refine" { "[1-2]" } else { "2" };
        assert_eq!(released, format!("a,s\n{cell},y\n{cell},x\n"), "{method}");
        assert!(report::terminal(&found).contains("1 record was left out first"), "{method}");
        let too_few = folder.anonymize(policy("0.33", method)).unwrap_err();
        assert_eq!(too_few.fault(), Fault::Requirement, "{method}");
    }
}

#[test]
fn a_sum_over_nobody_is_zero() {
    let folder = Folder::new("age,city\n30,Genf\n40,Bern\n");
    std::fs::write(folder.path("queries.toml"), "[[query]]\nsum = \"age\"\nwhere = { age = [90, 99] }\n")
        .unwrap();
    let text = "[privacy]\nk = 1\n[attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n\
        [evaluate.queries]\nfile = \"queries.toml\"\n";
    let evaluate = Evaluate {
        data: folder.path("t.csv"),
        policy: Policy::parse(text, Some(&folder.path("p.toml"))).unwrap(),
        release: None,
        task: "queries".to_owned(),
        secret: None,
        registry: Registry::default(),
    };
    let found = evaluate.run(&Unwatched).unwrap();
    let figures = report::json(&found.figures).unwrap();
    let words = report::page_terminal(&found.page);
    assert!(figures.contains("\"exact\": 0.0") && figures.contains("\"estimate\": 0.0"), "{figures}");
    for said in [words, figures] {
        assert!(!said.contains("-0") && !said.contains("−0"), "{said}");
    }
}

#[test]
fn weights_that_would_overflow_are_refused_and_the_largest_are_told_in_numbers() {
    let text = |weight: &str, importance: &str| {
        format!(
            "[privacy]\nk = 2\n[method]\nname = \"rv-cluster\"\n[attribute.age]\nrole = \"quasi\"\nweight = {weight}\n\
             rules = [{{ cut = [40, 41], importance = {importance} }}]\n[attribute.sex]\nrole = \"quasi\"\n"
        )
    };
    for (weight, importance) in [("1e308", "1"), ("1e-300", "1"), ("1", "1e308"), ("1", "1e-300")] {
        let refused = Policy::parse(&text(weight, importance), None).unwrap_err();
        assert!(refused.message().contains("must be from 0.000001 to 1000000"), "{refused}");
    }
    for (weight, importance) in [("1e6", "1e6"), ("1e-6", "1e-6"), ("1", "1")] {
        let found = Folder::new(&people(30)).anonymize(parse(&text(weight, importance))).unwrap();
        let found = json(&found);
        for key in ["gcp", "ncp", "discernibility", "c_avg"] {
            assert!(found[key].is_number(), "{key}: {}", found[key]);
        }
    }
}
