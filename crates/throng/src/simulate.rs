//! Is k reachable at all? (Morton 2012, table 12)
//!
//! Tables are drawn at random, attribute by attribute and without regard to each other: uniform over so many values, or
//! from the shares that a real column has. The share of tables in which every combination that occurs has at least k
//! records tells whether raw values could be published, and a search over sizes tells how many records that would take.
//!
//! Repetitions run in parallel, each with a seed of its own drawn from one stream, so the outcome does not depend on the
//! number of threads.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use crate::data::Data;
use crate::error::{Error, ErrorCode, Result};
use crate::table::Map;
use crate::watch::Watch;

/// The stream that the seeds of repetitions are drawn from.
const STREAM: u64 = 40;

/// Up to this many combinations are counted in a table over all of them.
const DENSE_UP_TO: u128 = 1 << 22;

/// More records than this are not tried when it is asked how many are needed.
const MOST_RECORDS: u64 = 1 << 27;

/// More values of an attribute than this are refused: their combinations could not be counted anyway.
const MOST_VALUES: u32 = 1_000_000;

/// Records between two looks at whether to stop.
const BATCH: u64 = 1 << 20;

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
    /// So many records reach the wanted share, where that was asked for and is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records_needed: Option<u64>,
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
            records_needed: share.map(|share| self.records_needed(share, watch)).transpose()?.flatten(),
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

    /// How many records reach a share of successes, to within a hundredth; none if 100 million do not.
    pub fn records_needed(&self, share: f64, watch: &dyn Watch) -> Result<Option<u64>> {
        let dice = Dice::new(&self.attributes)?;
        watch.stage("searching", None);
        let wanted = (share * f64::from(self.repetitions)).ceil() as u32;
        let enough = |records: u64| Ok::<bool, Error>(self.successes(&dice, records, watch)? >= wanted);
        let mut most = u64::from(self.k).max(1);
        while !enough(most)? {
            most *= 2;
            if most > MOST_RECORDS {
                return Ok(None);
            }
        }
        let mut least = most / 2;
        while most - least > (most / 100).max(1) {
            let middle = least + (most - least) / 2;
            if enough(middle)? { most = middle } else { least = middle }
        }
        Ok(Some(most))
    }

    fn successes(&self, dice: &Dice, records: u64, watch: &dyn Watch) -> Result<u32> {
        let mut seeds = ChaCha8Rng::seed_from_u64(self.seed);
        seeds.set_stream(STREAM);
        let seeds: Vec<u64> = (0..self.repetitions).map(|_| seeds.next_u64()).collect();
        let outcomes = seeds.into_par_iter().map_init(
            || Counts::new(dice.combinations),
            |counts, seed| {
                let outcome = dice.every_combination_has(self.k, records, seed, counts, watch)?;
                watch.advance(1);
                Ok(outcome)
            },
        );
        let outcomes = outcomes.collect::<Result<Vec<bool>>>()?;
        Ok(outcomes.into_iter().filter(|success| *success).count() as u32)
    }
}

/// Draws combinations.
struct Dice {
    attributes: Vec<Die>,
    combinations: u128,
    /// Bits per record, if every attribute has equally frequent values, a power of two of them.
    bits: Option<u32>,
}

struct Die {
    values: u128,
    /// Where each value but the last ends on a scale of 0 … 2³².
    ends: Vec<u64>,
}

impl Dice {
    fn new(attributes: &[Vec<f64>]) -> Result<Self> {
        if attributes.is_empty() {
            return Err(Error::new(ErrorCode::BadValue, "there is nothing to simulate without attributes"));
        }
        let too_many = || {
            Error::new(ErrorCode::BadValue, "there are more combinations than can be counted")
                .with_hint("no table of any size has k records of each: take fewer attributes")
        };
        let mut combinations = 1u128;
        for shares in attributes {
            combinations = combinations.checked_mul(shares.len() as u128).ok_or_else(too_many)?;
        }
        let even = attributes.iter().all(|shares| {
            shares.len().is_power_of_two() && shares.iter().all(|share| *share * shares.len() as f64 == 1.0)
        });
        let bits = combinations.ilog2();
        Ok(Dice {
            attributes: attributes.iter().map(|shares| Die::new(shares)).collect(),
            combinations,
            bits: (even && bits <= 32).then_some(bits),
        })
    }

    fn every_combination_has(
        &self,
        k: u32,
        records: u64,
        seed: u64,
        counts: &mut Counts,
        watch: &dyn Watch,
    ) -> Result<bool> {
        counts.clear();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut pool, mut left) = (0u64, 0);
        for done in (0..records).step_by(BATCH as usize) {
            watch.check()?;
            let batch = BATCH.min(records - done);
            match self.bits {
                Some(0) => counts.add_many(0, batch),
                Some(bits) => {
                    for _ in 0..batch {
                        if left < bits {
                            (pool, left) = (random.next_u64(), 64);
                        }
                        counts.add(u128::from(pool & ((1 << bits) - 1)));
                        pool >>= bits;
                        left -= bits;
                    }
                }
                None => {
                    for _ in 0..batch {
                        let drawn = self.attributes.iter();
                        counts.add(drawn.fold(0, |key, die| key * die.values + die.draw(&mut random)));
                    }
                }
            }
        }
        Ok(counts.all_have(k))
    }
}

impl Die {
    fn new(shares: &[f64]) -> Self {
        let mut sum = 0.0;
        let mut ends: Vec<u64> = shares
            .iter()
            .map(|share| {
                sum += share;
                (sum * 4_294_967_296.0).round() as u64
            })
            .collect();
        ends.pop();
        Die { values: shares.len() as u128, ends }
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> u128 {
        let drawn = u64::from(random.next_u32());
        self.ends.partition_point(|end| *end <= drawn) as u128
    }
}

/// How often each combination occurs.
enum Counts {
    Dense(Vec<u32>),
    Sparse(Map<u128, u32>),
}

impl Counts {
    fn new(combinations: u128) -> Self {
        match combinations <= DENSE_UP_TO {
            true => Counts::Dense(vec![0; combinations as usize]),
            false => Counts::Sparse(Map::default()),
        }
    }

    fn clear(&mut self) {
        match self {
            Counts::Dense(counts) => counts.fill(0),
            Counts::Sparse(counts) => counts.clear(),
        }
    }

    #[inline]
    fn add(&mut self, combination: u128) {
        self.add_many(combination, 1);
    }

    fn add_many(&mut self, combination: u128, many: u64) {
        let many = many.min(u64::from(u32::MAX)) as u32;
        match self {
            Counts::Dense(counts) => {
                counts[combination as usize] = counts[combination as usize].saturating_add(many);
            }
            Counts::Sparse(counts) => *counts.entry(combination).or_default() += many,
        }
    }

    fn all_have(&self, k: u32) -> bool {
        match self {
            Counts::Dense(counts) => counts.iter().all(|count| *count == 0 || *count >= k),
            Counts::Sparse(counts) => counts.values().all(|count| *count >= k),
        }
    }
}

/// What came out, for people.
pub fn terminal(simulated: &Simulated, share: Option<f64>) -> String {
    let Simulated { attributes, combinations, simulation, drawn, records_needed } = simulated;
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
    if let Some(share) = share {
        text.push_str(&match records_needed {
            Some(needed) => {
                format!("About {needed} records reach k = {k} in {:.0} % of tables\n", 100.0 * share)
            }
            None => {
                format!("Not even 100 million records reach k = {k} in {:.0} % of tables\n", 100.0 * share)
            }
        });
    }
    text
}
