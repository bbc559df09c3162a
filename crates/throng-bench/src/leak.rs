//! Prints what grouping tells of records: every method that takes l, in the settings of the study.

use throng_bench::Result;
use throng_bench::leakage::{HEAD, WAYS, census, line, outcome, synthetic};

use crate::sweep::repository;

/// The secret of all lots, so that the table can be repeated.
const SECRET: &[u8] = b"lots of the leak table";

/// Runs the settings and ways whose names begin with the given texts.
pub fn run(only: &str, way: &str, rows: usize, census_rows: usize) -> Result<()> {
    let mut settings = synthetic(rows);
    let folder = repository().join("../shared/data");
    match folder.exists() {
        true => settings.extend(census(&folder, census_rows)?),
        false => say!("the census is not at hand: {} does not exist", folder.display()),
    }
    for setting in settings.iter().filter(|setting| setting.name.starts_with(only)) {
        say!("\n{}\n\n{HEAD}", setting.name);
        for way in WAYS.iter().filter(|own| own.name.starts_with(way)) {
            match outcome(setting, way, SECRET) {
                Ok(outcome) => say!("{}", line(way, &outcome)),
                Err(error) => say!("| {} | {error} |", way.name),
            }
        }
    }
    Ok(())
}
