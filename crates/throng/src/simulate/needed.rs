//! How many records reach k?
//!
//! Success does not grow with the number of records all the way: among few records the rare values do not occur at all,
//! among more they occur once or twice, which is the worst. So the search comes from above: from a number beyond which
//! Chernoff's bound leaves no room for failure, down in small steps while tables of that size reach k often enough, and
//! between the last two sizes by halves. What it finds holds for every larger number: those that were tried, and those
//! beyond. Where that bound is beyond [`MOST_RECORDS`], nothing is said to be enough.
//!
//! Repetitions of a size are drawn in fixed portions and end as soon as their outcome is certain; the work of all of them
//! is limited. Neither depends on the number of threads.

use serde::Serialize;

use super::Simulation;
use super::dice::Dice;
use crate::error::Result;
use crate::parallel;
use crate::watch::Watch;

/// More records than this are not tried. Floats count no further than nine times as many one by one.
const MOST_RECORDS: u64 = 1_000_000_000_000_000;

/// Binomial numbers that a search may draw.
const MOST_WORK: u64 = 400_000_000;

/// Tables that are drawn before it is asked whether the outcome is certain.
const PORTION: usize = 32;

/// How many records are needed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Needed {
    /// From so many records on, tables of every size that was tried reach k often enough; `None` if no such size was found.
    #[serde(rename = "records_needed", skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The size up to which it was looked for.
    #[serde(rename = "records_within")]
    pub within: u64,
    /// Whether the search ended because it would have taken too long.
    #[serde(rename = "out_of_work", skip_serializing_if = "std::ops::Not::not")]
    pub out_of_work: bool,
}

/// A search under way.
struct Search<'a> {
    simulation: &'a Simulation,
    dice: &'a Dice,
    seeds: Vec<u64>,
    /// Tables that must reach k.
    wanted: usize,
    work_left: u64,
    watch: &'a dyn Watch,
}

impl Simulation {
    /// How many records reach a share of successes, to within a hundredth, and so does every larger number that was tried.
    pub fn records_needed(&self, share: f64, watch: &dyn Watch) -> Result<Needed> {
        let dice = Dice::new(&self.attributes)?;
        watch.stage("searching", None);
        let repetitions = f64::from(self.repetitions.max(1));
        let allowed = (1.0 - share).max(1.0 / repetitions);
        let top = certain_from(&dice, self.k, allowed / 1000.0);
        if top > MOST_RECORDS {
            return Ok(Needed { records: None, within: MOST_RECORDS, out_of_work: false });
        }
        let wanted = (share * repetitions - 1e-9).ceil() as usize;
        // Tables that reach k have all combinations at that size, each of which takes a number.
        if dice.combinations() * wanted as f64 > MOST_WORK as f64 {
            return Ok(Needed { records: None, within: top, out_of_work: true });
        }
        let seeds = self.seeds();
        let mut search = Search { simulation: self, dice: &dice, seeds, wanted, work_left: MOST_WORK, watch };
        let found = search.least(top)?;
        let records = found.filter(|least| *least <= top);
        Ok(Needed { records, within: top, out_of_work: found.is_none() })
    }
}

/// A number of records from which on tables fail with a probability of less than `allowed`: by Chernoff, a combination
/// that is expected λ > k − 1 times has fewer than k records with a probability of at most e^−λ (eλ / (k − 1))^(k − 1).
fn certain_from(dice: &Dice, k: u32, allowed: f64) -> u64 {
    if k <= 1 {
        return 1;
    }
    let least = f64::from(k - 1);
    let failing = |expected: f64| {
        dice.combinations().ln() - expected + least * (1.0 + (expected / least).ln()) - allowed.ln()
    };
    let mut expected = least;
    while failing(expected) > 0.0 {
        expected *= 1.05;
    }
    // A number that is too large for a u64 becomes the largest there is.
    (expected / dice.rarest()).ceil() as u64
}

impl Search<'_> {
    /// The least size from which on tables up to `top` reach k often enough, `top + 1` if those of `top` do not; `None`
    /// if it takes too much work.
    fn least(&mut self, top: u64) -> Result<Option<u64>> {
        // Fewer records than k never are enough, unless one is.
        let (mut most, mut least) = (top + 1, u64::from(self.simulation.k).max(1) - 1);
        let mut next = top;
        while next > least {
            match self.enough(next)? {
                None => return Ok(None),
                Some(true) => most = next,
                Some(false) => least = next,
            }
            next = (most * 11 / 12).min(most - 1);
        }
        while most <= top && most - least > (most / 100).max(1) {
            let middle = least.midpoint(most);
            match self.enough(middle)? {
                None => return Ok(None),
                Some(true) => most = middle,
                Some(false) => least = middle,
            }
        }
        Ok(Some(most))
    }

    /// Whether tables of a size reach k often enough; `None` if that takes too much work.
    fn enough(&mut self, records: u64) -> Result<Option<bool>> {
        let (mut reached, mut left) = (0, self.seeds.len());
        for portion in self.seeds.chunks(PORTION) {
            let draw = |seed: &u64| {
                let table = self.simulation.table(*seed, self.work_left, self.watch);
                self.dice.reaches(records, table)
            };
            let drawn = parallel::try_map(portion, draw)?;
            let work: u64 = drawn.iter().map(|(_, work)| work).sum();
            if work >= self.work_left || drawn.iter().any(|(outcome, _)| outcome.is_none()) {
                return Ok(None);
            }
            self.work_left -= work;
            reached += drawn.iter().filter(|(outcome, _)| *outcome == Some(true)).count();
            left -= portion.len();
            if reached >= self.wanted || reached + left < self.wanted {
                break;
            }
        }
        Ok(Some(reached >= self.wanted))
    }
}
