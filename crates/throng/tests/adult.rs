//! What the methods reach on the real tables that papers use.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::path::{Path, PathBuf};

use throng::audit::Measures;
use throng::error::Fault;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run::{self, Anonymize, audit_files};
use throng::watch::Unwatched;

const CATEGORIES: [&str; 7] =
    ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];

/// Age and seven categories, of which `sensitive` is protected instead of generalized.
fn adult_policy(data: &Path, privacy: &str, method: &str, sensitive: Option<&str>) -> Policy {
    let mut text = format!(
        "[data]\nunlisted = \"drop\"\n[privacy]\n{privacy}\n[method]\nname = \"{method}\"\nseed = 7\n\
         [attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n"
    );
    for name in CATEGORIES {
        if sensitive == Some(name) {
            text += &format!("[attribute.{name}]\nrole = \"sensitive\"\n");
        } else {
            let hierarchy = data.join(format!("hierarchies/adult-arx/{name}.csv"));
            text += &format!("[attribute.{name}]\nrole = \"quasi\"\nhierarchy = '{}'\n", hierarchy.display());
        }
    }
    Policy::parse(&text, None).unwrap()
}

fn adult_table(data: &Path) -> PathBuf {
    data.join("adult.train.complete.csv.zst")
}

/// Publishes the table under a policy into a folder and returns the release.
fn publish(table: &Path, policy: &Policy, folder: &Path) -> PathBuf {
    let release = folder.join("release.csv");
    let run = Anonymize {
        secret: Some(throng::secret::Secret::from_bytes(b"the same in all tests")),
        ..Anonymize::new(table.to_owned(), release.clone(), policy.clone())
    };
    run.run(&Unwatched).unwrap();
    release
}

/// What an audit of the published file finds.
fn published_measures(table: &Path, policy: &Policy) -> Measures {
    let folder = tempfile::tempdir().unwrap();
    let release = publish(table, policy, folder.path());
    audit_files(table, &release, policy, &Unwatched).unwrap().measures
}

/// Checks 10-anonymity of all of Adult at a loss of at most `gcp`.
fn check_ten_anonymous(method: &str, gcp: f64) {
    let Some(data) = common::shared_data() else { return };
    let policy = adult_policy(&data, "k = 10", method, None);
    let measures = published_measures(&adult_table(&data), &policy);
    assert_eq!((measures.rows_in, measures.rows_published, measures.suppressed), (30_162, 30_162, 0));
    assert!(measures.k >= 10, "k = {}", measures.k);
    assert!(measures.violations.is_empty(), "{:?}", measures.violations);
    assert!(measures.gcp <= gcp, "GCP {}", measures.gcp);
}

#[test]
fn mondrian_keeps_the_loss_on_adult_low() {
    check_ten_anonymous("mondrian", 0.145);
}

#[test]
fn hilbert_keeps_the_loss_on_adult_low() {
    check_ten_anonymous("hilbert", 0.155);
}

#[test]
fn hilbert_groups_are_never_twice_as_large_as_asked_for() {
    let Some(data) = common::shared_data() else { return };
    let policy = adult_policy(&data, "k = 10", "hilbert", None);
    let table = run::read(&adult_table(&data), &policy, &Unwatched).unwrap();
    let problem = Problem::new(&table, &policy).unwrap();
    let partition = run::solve(&problem, &policy, &Unwatched).unwrap().partition;
    let sizes: Vec<usize> = partition.groups().map(<[u32]>::len).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 30_162);
    assert!(
        sizes.iter().all(|size| (10..20).contains(size)),
        "{:?} … {:?}",
        sizes.iter().min(),
        sizes.iter().max()
    );
}

#[test]
fn adult_has_the_same_bytes_on_one_and_two_threads() {
    let Some(data) = common::shared_data() else { return };
    for method in ["mondrian", "hilbert"] {
        let policy = adult_policy(&data, "k = 10", method, None);
        let bytes = [1, 2].map(|threads| {
            let folder = tempfile::tempdir().unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            std::fs::read(pool.install(|| publish(&adult_table(&data), &policy, folder.path()))).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{method}");
    }
}

#[test]
fn diverse_occupations_are_met_according_to_the_audit() {
    let Some(data) = common::shared_data() else { return };
    let policy = adult_policy(&data, "l = 3", "mondrian", Some("occupation"));
    let measures = published_measures(&adult_table(&data), &policy);
    assert!(measures.l.unwrap() >= 3.0, "l = {:?}", measures.l);
    assert!(measures.violations.is_empty(), "{:?}", measures.violations);
    assert_eq!(measures.rows_published, 30_162);
    // One class of all records would be diverse too; a method must do better than that.
    assert!(measures.gcp < 0.5, "GCP {}", measures.gcp);
}

#[test]
fn a_table_that_is_half_one_value_is_refused_with_the_largest_possible_l() {
    let Some(data) = common::shared_data() else { return };
    let quasi = ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country"];
    let mut text = "[privacy]\nl = 2\n[attribute.Occupation]\nrole = \"sensitive\"\n".to_owned();
    text.extend(quasi.map(|name| format!("[attribute.{name}]\nrole = \"quasi\"\n")));
    let policy = Policy::parse(&text, None).unwrap();
    let table = run::read(&data.join("census9-like.all.csv.zst"), &policy, &Unwatched).unwrap();
    let problem = Problem::new(&table, &policy).unwrap();
    let error = run::solve(&problem, &policy, &Unwatched).unwrap_err();
    let occupations = &problem.sensitive[0];
    let zero = occupations.domain.code("0").unwrap();
    let zeros = occupations.codes.iter().filter(|code| **code == zero).count() as f64;
    let all = occupations.codes.len() as f64;
    assert_eq!(error.fault(), Fault::Requirement);
    let share = format!("the value \"0\" makes up {:.1} % of all records", 100.0 * zeros / all);
    assert!(error.message().contains(&share), "{error}");
    assert_eq!(error.place().attribute.as_deref(), Some("Occupation"));
    // Rounded down, for the hint must itself be possible.
    let largest = (1000.0 * all / zeros).floor() / 1000.0;
    assert!(error.hint().unwrap().contains(&format!("largest possible l is {largest}")), "{error}");
}
