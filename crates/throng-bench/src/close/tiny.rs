//! Tiny tables, whose least loss is known: the bound is never above it.

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::bound::{Effort, lower_bound};
use throng::watch::Unwatched;
use throng_bench::Result;

use super::tables::Task;
use super::{Setting, Sheet};

const TABLES: usize = 40;
/// What floating point may add to a loss.
const ROUNDING: f64 = 1e-9;

pub fn run(_: &Setting, sheet: &mut Sheet) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("table.csv");
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for effort in [Effort::Usual, Effort::Passes(12)] {
        let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0);
        for _ in 0..TABLES {
            let k = random.random_range(2..=4);
            let mut text = "x0,x1,c,d\n".to_owned();
            for _ in 0..random.random_range(9..=12) {
                let mut draw = |values: usize| random.random_range(0..values);
                let _ = writeln!(text, "{},{},c{},d{}", draw(9), draw(5), draw(4), draw(3));
            }
            std::fs::write(&data, text)?;
            let task = Task::new("tiny", data.clone(), &format!("k = {k}"), &["x0", "x1", "c", "d"]);
            let problem = task.problem()?;
            // Every partition is tried in tables of so few records.
            let (least, _) = task.solved(&problem, "name = \"exact\"\npartitions = \"all\"")?;
            let Some(proof) = lower_bound(&problem, effort, &Unwatched)? else { continue };
            if least > ROUNDING {
                worst = worst.max(proof.bound.gcp / least);
                (sum, count) = (sum + proof.bound.gcp / least, count + 1);
            }
        }
        let mean = 100.0 * sum / f64::from(count);
        let line = format!(
            "{count} tables of 9 to 12 records, {effort:?}: {mean:.1} % of the least loss on average"
        );
        sheet.at_most(&line, ("share", worst), 1.0 + ROUNDING)?;
    }
    Ok(())
}
