//! Is k reachable at all? (Morton 2012, table 12)
//!
//! Tables are drawn at random, attribute by attribute and without regard to each other: uniform over so many values, or
//! from the shares that a real column has. The share of tables in which every combination that occurs has at least k
//! records tells whether raw values could be published (`dice.rs` draws them), and a search over sizes tells how many
//! records that would take (`needed.rs`).
//!
//! Repetitions run in parallel, each with a seed of its own drawn from one stream, so the outcome does not depend on the
//! number of threads.

mod dice;
mod needed;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

pub use needed::Needed;

use self::dice::{Dice, Table};
use crate::data::Data;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::watch::Watch;

/// The stream that the seeds of repetitions are drawn from.
const STREAM: u64 = 40;

/// More values of an attribute than this are refused: their combinations could not be counted anyway.
const MOST_VALUES: u32 = 1_000_000;

/// What to simulate.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    /// The share of each value, attribute by attribute.
    #[serde(skip)]
    pub attributes: Vec<Vec<f64>>,
    /// How many records every combination must have.
    pub k: u32,
    /// Tables that are drawn.
    pub repetitions: u32,
    /// The seed.
    pub seed: u64,
}

/// How often tables of one size reach k.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Drawn {
    /// Records of each table.
    pub records: u64,
    /// Tables in which every combination has k records.
    pub successes: u32,
    /// Their share.
    pub success_rate: f64,
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Simulated {
    /// Number of attributes.
    pub attributes: usize,
    /// Number of combinations that could occur.
    pub combinations: f64,
    /// What was simulated.
    #[serde(flatten)]
    pub simulation: Simulation,
    /// What tables of the given size reach, where one was given.
    #[serde(flatten)]
    pub drawn: Option<Drawn>,
    /// How many records reach the wanted share, where that was asked for.
    #[serde(flatten)]
    pub needed: Option<Needed>,
}

/// Attributes with so many equally frequent values each.
pub fn uniform(values: &[u32]) -> Result<Vec<Vec<f64>>> {
    match values.iter().all(|count| (1..=MOST_VALUES).contains(count)) {
        true => Ok(values.iter().map(|count| vec![1.0 / f64::from(*count); *count as usize]).collect()),
        false => Err(Error::new(
            ErrorCode::BadValue,
            format!("an attribute must have from 1 to {MOST_VALUES} values"),
        )),
    }
}

/// The shares of the values of each quasi-identifier of a table.
pub fn marginals(data: &Data) -> Vec<Vec<f64>> {
    (0..data.attributes.len())
        .map(|at| {
            let mut counts = vec![0u64; data.attributes[at].domain.len()];
            (0..data.len()).for_each(|record| counts[data.records.code(record, at) as usize] += 1);
            counts.retain(|count| *count > 0);
            counts.into_iter().map(|count| count as f64 / data.len() as f64).collect()
        })
        .collect()
}

impl Simulation {
    /// Draws tables of a size, and searches the size that reaches a share of successes, each where it is given.
    pub fn run(&self, records: Option<u64>, share: Option<f64>, watch: &dyn Watch) -> Result<Simulated> {
        Ok(Simulated {
            attributes: self.attributes.len(),
            combinations: self.attributes.iter().map(|shares| shares.len() as f64).product(),
            drawn: records.map(|records| self.draw(records, watch)).transpose()?,
            needed: share.map(|share| self.records_needed(share, watch)).transpose()?,
            simulation: self.clone(),
        })
    }

    /// Draws tables of a size.
    pub fn draw(&self, records: u64, watch: &dyn Watch) -> Result<Drawn> {
        let dice = Dice::new(&self.attributes)?;
        watch.stage("simulating", Some(u64::from(self.repetitions)));
        let successes = self.successes(&dice, records, watch)?;
        let success_rate = f64::from(successes) / f64::from(self.repetitions.max(1));
        Ok(Drawn { records, successes, success_rate })
    }

    fn successes(&self, dice: &Dice, records: u64, watch: &dyn Watch) -> Result<u32> {
        let draw = |seed: u64| {
            let (reached, _) = dice.reaches(records, self.table(seed, u64::MAX, watch))?;
            watch.advance(1);
            Ok(reached == Some(true))
        };
        let outcomes = parallel::try_map(self.seeds(), draw)?;
        Ok(outcomes.into_iter().filter(|success| *success).count() as u32)
    }

    /// The seed of each repetition.
    fn seeds(&self) -> Vec<u64> {
        let mut seeds = ChaCha8Rng::seed_from_u64(self.seed);
        seeds.set_stream(STREAM);
        (0..self.repetitions).map(|_| seeds.next_u64()).collect()
    }

    /// A table to be drawn.
    fn table<'a>(&self, seed: u64, most: u64, watch: &'a dyn Watch) -> Table<'a> {
        Table { k: u64::from(self.k), random: ChaCha8Rng::seed_from_u64(seed), most, done: 0, watch }
    }
}

/// What came out, for people.
pub fn terminal(simulated: &Simulated, share: Option<f64>) -> String {
    let Simulated { attributes, combinations, simulation, drawn, needed } = simulated;
    let Simulation { k, repetitions, .. } = simulation;
    let mut text = format!("{attributes} attributes, up to {combinations} combinations");
    text.push_str(&match drawn {
        Some(Drawn { records, successes, success_rate }) => format!(
            ", {records} records, {repetitions} repetitions\n\
             Every combination has at least {k} records in {successes} of them: {:.1} %\n",
            100.0 * success_rate
        ),
        None => format!(", {repetitions} repetitions\n"),
    });
    if let (Some(share), Some(needed)) = (share, needed) {
        text.push_str(&needed_words(needed, &format!("k = {k} in {:.0} % of tables", 100.0 * share)));
    }
    text
}

fn needed_words(needed: &Needed, goal: &str) -> String {
    let within = needed.within;
    match needed.records {
        Some(records) => {
            format!("About {records} records reach {goal},\nand so does every larger number that was tried\n")
        }
        None if needed.out_of_work => format!(
            "How many records reach {goal} was not found within the work that is allowed;\n\
             take fewer attributes, values or repetitions\n"
        ),
        None => format!(
            "Not within {within} records: some combinations are so rare that it takes more\n\
             to be sure to reach {goal}\n"
        ),
    }
}
