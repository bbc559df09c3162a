//! `throng init` as a user runs it.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod folder;

use std::path::{Path, PathBuf};

use folder::{Folder, people};

/// A file of the data that is shared by the developers but not part of the project.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: there is no {}", path.display());
    }
    path.exists().then_some(path)
}

/// Writes a policy for a table and anonymizes the table with it.
fn init_and_anonymize(data: &str) {
    let folder = Folder::new();
    let ran = folder.run(&["init", data, "-o", "first.toml"]);
    assert_eq!(ran.code, 0, "{data}: {}", ran.stderr);
    assert!(
        ran.stderr.contains("quasi-identifiers") && ran.stderr.contains("throng anonymize"),
        "{}",
        ran.stderr
    );
    let ran = folder.run(&["anonymize", data, "--policy", "first.toml", "-o", "release.csv", "--quiet"]);
    // What looks like an identifier is not published before somebody looked at it.
    if ran.code == 2 && ran.stderr.contains("looks like an identifier") {
        assert!(ran.stderr.contains("help:"), "{data}: {}", ran.stderr);
        return assert_eq!(folder.files(), ["first.toml"]);
    }
    assert_eq!(ran.code, 0, "{data}: {}", ran.stderr);
    assert_eq!(folder.files(), ["first.toml", "release.csv"]);
}

#[test]
fn a_first_policy_runs_as_it_is() {
    let folder = Folder::new().with("people.csv", &people(60));
    init_and_anonymize(folder.path("people.csv").to_str().unwrap());
}

#[test]
fn the_bundled_sample_gets_a_policy_that_runs() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/adult-sample.csv");
    init_and_anonymize(sample.to_str().unwrap());
}

#[test]
fn adult_gets_a_policy_that_runs() {
    let Some(adult) = shared("adult.train.csv.zst") else { return };
    let folder = Folder::new();
    let ran = folder.run(&["init", adult.to_str().unwrap(), "-o", "-"]);
    assert!(ran.stdout.contains("missing = [\"\", \"?\"]"), "{}", ran.stdout);
    init_and_anonymize(adult.to_str().unwrap());
}

#[test]
fn messy_tables_get_a_policy_that_runs() {
    for place in ["messy", "messy/csv-spectrum/csvs"] {
        let Some(place) = shared(place) else { return };
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "csv") {
                init_and_anonymize(path.to_str().unwrap());
            }
        }
    }
}

#[test]
fn an_existing_policy_is_kept_unless_forced() {
    let folder = Folder::new().with("people.csv", &people(60)).with("throng.toml", "mine");
    let ran = folder.run(&["init", "people.csv"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("throng.toml") && ran.stderr.contains("--force"), "{}", ran.stderr);
    assert_eq!(folder.read("throng.toml"), "mine");
    assert_eq!(folder.run(&["init", "people.csv", "--force"]).code, 0);
    assert!(folder.read("throng.toml").contains("[attribute.age]"));
    assert_eq!(folder.files(), ["people.csv", "throng.toml"]);
}

#[test]
fn a_dash_prints_the_policy_and_nothing_else() {
    let folder = Folder::new().with("people.csv", &people(60));
    let ran = folder.run(&["init", "people.csv", "-o", "-"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.starts_with("# A first policy for \"people.csv\": 60 records, 3 columns."),
        "{}",
        ran.stdout
    );
    assert_eq!(folder.files(), ["people.csv"]);
}

#[test]
fn a_table_that_cannot_be_read_leaves_no_policy() {
    let folder = Folder::new().with("broken.csv", "a,b\n1,2\n3\n");
    for data in ["broken.csv", "nobody.csv"] {
        let ran = folder.run(&["init", data]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(data), "{}", ran.stderr);
        assert_eq!(folder.files(), ["broken.csv"]);
    }
}
