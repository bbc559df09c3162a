//! From a CSV file to a release: the policy stands in a file too.
//!
//! `cargo run --release -p throng --example from_csv`

#![allow(clippy::print_stdout)]

use std::path::Path;

use throng::{Anonymize, Policy};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let policy = Policy::load(&sample.join("adult.toml"))?;
    let folder = tempfile::tempdir()?;
    let release = folder.path().join("release.csv");

    let done =
        Anonymize::new(&policy).read(sample.join("adult-sample.csv")).method("mondrian").write(&release)?;

    let measures = &done.report.measures;
    println!("k = {}, {} classes, loss {:.1} %", measures.k, measures.classes, 100.0 * measures.gcp);
    assert!(measures.k >= 10);
    assert_eq!(std::fs::read_to_string(&release)?.lines().count() as u64, measures.rows_published + 1);
    Ok(())
}
