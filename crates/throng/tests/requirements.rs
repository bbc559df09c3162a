//! Everything that a policy can ask for is measured again by the audit and told by the report.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use throng::audit::Measures;
use throng::error::Result;
use throng::policy::Policy;
use throng::privacy::{
    DisclosureSpec, KAnonymity, KINDS, KMap, LikenessForm, LikenessSpec, MaxGcp, OwnK, Population, Privacy,
};
use throng::release::Order;
use throng::report;
use throng::report::Report;
use throng::run::{self, Anonymize};
use throng::watch::Unwatched;

const ATTRIBUTES: &str = "[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n[attribute.city]\nrole = \"quasi\"\n\
    [attribute.ill]\nrole = \"sensitive\"\n";

struct Folder {
    folder: tempfile::TempDir,
    data: PathBuf,
}

impl Folder {
    /// Ninety people of thirty ages in six cities.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut csv = "age,city,ill\n".to_owned();
        for at in 0..90 {
            writeln!(csv, "{},c{},i{}", 20 + at % 30, at * 7 % 6, at * 11 % 3).unwrap();
        }
        let data = folder.path().join("table.csv");
        std::fs::write(&data, csv).unwrap();
        Folder { folder, data }
    }

    fn policy(&self, privacy: &str, method: &str) -> Policy {
        let text = format!("[privacy]\n{privacy}\n[method]\nname = \"{method}\"\nseed = 3\n{ATTRIBUTES}");
        Policy::parse(&text, Some(&self.folder.path().join("throng.toml"))).unwrap()
    }

    fn release(&self, privacy: &str, method: &str) -> (PathBuf, Report) {
        let release = self.folder.path().join("release.csv");
        let report = self.try_release(&release, privacy, method).unwrap();
        (release, report)
    }

    fn try_release(&self, release: &Path, privacy: &str, method: &str) -> Result<Report> {
        let run = Anonymize {
            order: Order::Keep,
            ..Anonymize::new(self.data.clone(), release.to_owned(), self.policy(privacy, method))
        };
        run.run(&Unwatched)
    }

    /// What the audit finds of the release of one requirement under another.
    fn audit(&self, made_for: &str, held_to: &str) -> Measures {
        let (release, _) = self.release(made_for, "mondrian");
        run::audit_files(&self.data, &release, &self.policy(held_to, "mondrian"), &Unwatched)
            .unwrap()
            .measures
    }
}

#[test]
fn a_release_that_misses_anything_asked_for_violates_the_policy() {
    let folder = Folder::new();
    std::fs::write(folder.folder.path().join("people.csv"), std::fs::read(&folder.data).unwrap()).unwrap();
    for (held_to, violation) in [
        ("max_gcp = 0.3", "max_gcp = 0.3 is required, the release loses"),
        ("max_query_error = 0.01", "max_query_error = 0.01 is required, queries are off by"),
        ("max_loss = 0.2", "max_loss = 0.2 is required, a class loses"),
        ("max_span = { age = 3 }", "max_span = 3 is required on age, a class spans"),
        ("k = 60", "k = 60 is required, the smallest class has"),
        (
            "quasi_identifiers = [{ attributes = [\"age\", \"city\"], k = 60 }]",
            "k = 60 is required on age, city",
        ),
        ("own_k = [{ where = { age = [20, 22] }, k = 60 }]", "too few records are in classes of 60"),
        ("l = 3", "l = 3 (frequency) is required on ill, a class falls short"),
        ("t = 0.001", "t = 0.001 is required on ill, a class has"),
        ("beta = 0.001", "beta = 0.001 is required on ill, a class has"),
        ("delta = 0.001", "delta = 0.001 is required on ill, a class has"),
        ("alpha = 0.05\nalpha_values = [\"i1\"]", "alpha = 0.05 is required on ill, a class has"),
        ("k_map = 60\npopulation = \"people.csv\"", "k_map = 60 is required, a class fits"),
        ("k_map = 60\nfraction = 0.9", "k_map = 60 is required, a class fits"),
    ] {
        let measures = folder.audit("k = 20", held_to);
        assert_eq!(measures.violations.len(), 1, "{held_to}: {:?}", measures.violations);
        assert!(measures.violations[0].starts_with(violation), "{:?}", measures.violations);
        let missed: Vec<_> = measures.requirements.iter().filter(|one| one.holds == Some(false)).collect();
        assert_eq!(missed.len(), 1, "{held_to}");
        assert!(report::measures_terminal(&measures).starts_with("The requirement is not met"), "{held_to}");
        let key = held_to.split(' ').next().unwrap();
        assert_eq!(missed[0].key, key);
    }
}

#[test]
fn the_report_tells_everything_that_was_asked_for() {
    let folder = Folder::new();
    std::fs::write(folder.folder.path().join("people.csv"), std::fs::read(&folder.data).unwrap()).unwrap();
    for (asked, method, line) in [
        ("own_k = [{ where = { age = [20, 22] }, k = 9 }]", "peel", "own k ≥ 90 90 ✓ met"),
        ("max_loss = 0.8", "accuracy", "loss of a class ≤ 0.8000"),
        ("max_span = { age = 9 }", "accuracy", "range on age ≤ 9"),
        ("max_gcp = 0.5", "mondrian", "loss (GCP) ≤ 0.5000"),
        ("max_query_error = 0.9", "mondrian", "query error ≤ 0.9000"),
        ("beta = 0.5", "hilbert", "β-likeness (enhanced) ≤ 0.5000"),
        ("beta = 0.5\nlikeness = \"basic\"", "peel", "β-likeness (basic) ≤ 0.5000"),
        ("delta = 0.5", "peel", "δ-disclosure privacy ≤ 0.5000"),
        ("alpha = 0.5", "mondrian", "(α, k)-anonymity ≤ 0.5000"),
        ("alpha = 0.4\nalpha_values = [\"i1\"]", "peel", "(α, k)-anonymity ≤ 0.4000"),
        ("k_map = 7\npopulation = \"people.csv\"", "peel", "k-map ≥ 7"),
        ("k_map = 20\nfraction = 0.5", "hilbert", "k-map ≥ 20"),
        ("quasi_identifiers = [{ attributes = [\"age\"], k = 9 }]", "refine", "k on age ≥ 9"),
    ] {
        let (_, report) = folder.release(asked, method);
        let text = report::terminal(&report);
        assert!(text.starts_with("The requirement is met"), "{asked}: {text}");
        let told = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(line);
        assert!(text.lines().any(told), "{asked}: {text}");
        let json: serde_json::Value = serde_json::from_str(&report::json(&report).unwrap()).unwrap();
        let listed = json["requirements"].as_array().unwrap();
        let own = listed.iter().find(|one| one["holds"] == true).unwrap();
        assert!(own["key"].is_string() && own["asked"].is_number() && own["reached"].is_number(), "{own}");
    }
}

#[test]
fn every_requirement_is_written_as_it_was_read() {
    let folder = Folder::new();
    std::fs::write(folder.folder.path().join("people.csv"), std::fs::read(&folder.data).unwrap()).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for privacy in [
        "k = 3\nl = 2.5\nt = 0.25\nbeta = 1.5\nlikeness = \"basic\"\ndelta = 0.75",
        "alpha = 0.5\nalpha_values = [\"i1\", \"i2\"]",
        "l = 2\ndiversity = \"recursive\"\nc = 1.5\nbeta = 2",
        "quasi_identifiers = [{ attributes = [\"age\", \"city\"], k = 4 }, { attributes = [\"city\"], k = 6 }]",
        "own_k = [{ where = { age = [20, 22], city = \"c1\" }, k = 9 }]",
        "max_loss = 0.25\nmax_span = { age = 7 }\nmax_gcp = 0.5\nmax_query_error = 0.75",
        "k_map = 7\npopulation = \"people.csv\"",
        "k_map = 7\nfraction = 0.125",
    ] {
        let policy = folder.policy(privacy, "peel");
        let keys: toml::Table = policy.privacy.specs().iter().flat_map(|spec| spec.keys()).collect();
        let again = Policy::read_privacy(&keys, &policy.attributes, &policy.missing).unwrap();
        assert_eq!(again.specs(), policy.privacy.specs(), "{privacy}");
        seen.extend(policy.privacy.specs().iter().map(|spec| spec.key()));
    }
    let kinds: Vec<&str> = KINDS.iter().filter(|kind| !kind.keys.is_empty()).map(|kind| kind.key).collect();
    assert!(kinds.iter().all(|kind| seen.contains(kind)), "{seen:?}");
}

#[test]
fn requirements_can_be_made_without_a_text() {
    let mut privacy = Privacy::default();
    privacy.set(Arc::new(MaxGcp { most: 0.5 }));
    privacy.set(Arc::new(DisclosureSpec { delta: 0.5 }));
    privacy.set(Arc::new(KAnonymity { k: 3 }));
    privacy.set(Arc::new(KMap { k: 7, population: Population::Fraction(0.5) }));
    privacy.set(Arc::new(LikenessSpec { beta: 2.0, form: LikenessForm::Enhanced }));
    privacy.set(Arc::new(KAnonymity { k: 5 }));
    let keys: Vec<&str> = privacy.specs().iter().map(|spec| spec.key()).collect();
    assert_eq!(keys, ["k", "k_map", "beta", "delta", "max_gcp"]);
    assert_eq!((privacy.k(), privacy.max_gcp()), (Some(5), Some(0.5)));
    assert!(privacy.get::<OwnK>().is_none() && privacy.asks());
}

#[test]
fn a_population_that_lacks_the_people_of_the_table_is_refused_with_what_is_possible() {
    let folder = Folder::new();
    std::fs::write(folder.folder.path().join("people.csv"), "age,city\n20,c0\n20,c0\n99,c0\n").unwrap();
    let policy = folder.policy("k_map = 3\npopulation = \"people.csv\"", "peel");
    let table = run::read(&folder.data, &policy, &Unwatched).unwrap();
    let error = throng::problem::Problem::new(&table, &policy).unwrap_err();
    assert_eq!(error.fault(), throng::error::Fault::Requirement);
    assert!(error.message().starts_with("k_map = 3 cannot be met: only 2 people"), "{error}");
}

#[test]
fn a_protected_value_that_nobody_has_is_refused_where_it_is_named() {
    let folder = Folder::new();
    let policy = folder.policy("alpha = 0.5\nalpha_values = [\"i1\", \"ii\"]", "mondrian");
    let table = run::read(&folder.data, &policy, &Unwatched).unwrap();
    let error = throng::problem::Problem::new(&table, &policy).unwrap_err();
    assert_eq!(error.message(), "no sensitive attribute has the value \"ii\"");
    assert_eq!((error.place().line, error.place().column), (Some(3), Some(23)));
}

#[test]
fn only_protected_values_are_rare_in_every_class() {
    let folder = Folder::new();
    let none = folder.folder.path().join("none.csv");
    let error = folder.try_release(&none, "alpha = 0.2", "mondrian").unwrap_err();
    assert!(error.message().starts_with("alpha = 0.2 cannot be met by any release"), "{error}");
    let (release, _) = folder.release("k = 2\nalpha = 0.4\nalpha_values = [\"i1\"]", "mondrian");
    let mut classes: std::collections::BTreeMap<String, (f64, f64, f64)> = std::collections::BTreeMap::new();
    for line in std::fs::read_to_string(release).unwrap().lines().skip(1) {
        let (cells, ill) = line.rsplit_once(',').unwrap();
        let class = classes.entry(cells.to_owned()).or_default();
        class.0 += 1.0;
        class.1 += f64::from(u8::from(ill == "i1"));
        class.2 += f64::from(u8::from(ill == "i0"));
    }
    assert!(classes.values().all(|(size, protected, _)| protected / size <= 0.4), "{classes:?}");
    assert!(classes.values().any(|(size, _, other)| other / size > 0.4), "{classes:?}");
}
