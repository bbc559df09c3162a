//! Prints what grouping tells of records: every method that takes l, in the settings of the study.

use throng_bench::Result;
use throng_bench::leakage::{HEAD, Setting, Summary, WAYS, census, outcome, synthetic};

use crate::sweep::repository;

/// The secret of all lots, so that the table can be repeated.
const SECRET: &[u8] = b"lots of the leak table";

/// How many tables of each setting are drawn.
#[derive(Clone, Copy)]
pub struct Draws {
    /// Tables of numbers.
    pub synthetic: u64,
    /// Samples of the census.
    pub census: u64,
}

/// Runs the settings and ways whose names begin with the given texts.
pub fn run(only: &str, way: &str, rows: usize, census_rows: usize, draws: Draws) -> Result<()> {
    let mut drawn: Vec<Vec<Setting>> = (0..draws.synthetic).map(|draw| synthetic(rows, draw)).collect();
    tell(&drawn, only, way)?;
    let folder = repository().join("../shared/data");
    if !folder.exists() {
        say!("the census is not at hand: {} does not exist", folder.display());
        return Ok(());
    }
    drawn = (0..draws.census).map(|draw| census(&folder, census_rows, draw)).collect::<Result<_>>()?;
    tell(&drawn, only, way)
}

/// Tells the same settings of each draw.
fn tell(drawn: &[Vec<Setting>], only: &str, way: &str) -> Result<()> {
    for (at, setting) in drawn.first().into_iter().flatten().enumerate() {
        if !setting.name.starts_with(only) {
            continue;
        }
        say!("\n{}\n\n{HEAD}", setting.name);
        for way in WAYS.iter().filter(|own| own.name.starts_with(way)) {
            let outcomes = drawn.iter().map(|settings| outcome(&settings[at], way, SECRET));
            match outcomes.collect::<Result<_>>() {
                Ok(outcomes) => say!("{}", Summary(outcomes).line(way)),
                Err(error) => say!("| {} | {error} |", way.name),
            }
        }
    }
    Ok(())
}
