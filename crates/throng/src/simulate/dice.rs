//! Drawing tables as counts of combinations, without drawing their records one by one.
//!
//! The counts of the values of an attribute are split by halves: how many of n records have one of the first values is
//! a binomial number. Every part is split by the next attribute in the same way, which gives counts with the very
//! distribution that single records give. A part of fewer than k records, but not of none, decides at once that the
//! table does not reach k; rarer parts are looked at first, for they are the likeliest to do so.
//!
//! Cost: for a table that reaches k one binomial number per combination, whatever the number of records; for most of the
//! others far fewer.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};

use crate::error::{Error, ErrorCode, Result};
use crate::watch::Watch;

/// Binomial numbers between two looks at whether to stop.
const BATCH: u64 = 1 << 18;

/// Draws tables.
pub(super) struct Dice {
    attributes: Vec<Die>,
    combinations: u128,
    rarest: f64,
}

/// Where each value of an attribute ends, on a scale of 0 … 1; the first number is 0.
struct Die {
    ends: Vec<f64>,
}

impl Die {
    fn new(shares: &[f64]) -> Self {
        let mut sum = 0.0;
        let ends = shares.iter().map(|share| {
            sum += share;
            sum
        });
        Die { ends: std::iter::once(0.0).chain(ends).collect() }
    }

    fn values(&self) -> usize {
        self.ends.len() - 1
    }

    /// The share of some values.
    fn share(&self, low: usize, high: usize) -> f64 {
        self.ends[high] - self.ends[low]
    }
}

impl Dice {
    /// From the shares of the values, attribute by attribute.
    pub fn new(attributes: &[Vec<f64>]) -> Result<Self> {
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
        let least = |shares: &Vec<f64>| shares.iter().copied().fold(1.0, f64::min);
        Ok(Dice {
            attributes: attributes.iter().map(|shares| Die::new(shares)).collect(),
            combinations,
            rarest: attributes.iter().map(least).product(),
        })
    }

    /// Number of combinations that could occur.
    pub fn combinations(&self) -> f64 {
        self.combinations as f64
    }

    /// The share of the rarest combination.
    pub fn rarest(&self) -> f64 {
        self.rarest
    }

    /// Whether every combination of a random table has at least k records or none; `None` if that would take more work.
    pub fn reaches(&self, records: u64, mut table: Table<'_>) -> Result<(Option<bool>, u64)> {
        let reached = table.split(self, 0, (0, self.attributes[0].values()), records)?;
        Ok((reached, table.done))
    }
}

/// A table that is being drawn.
pub(super) struct Table<'a> {
    /// Records that every combination must have.
    pub k: u64,
    /// Where its random numbers come from.
    pub random: ChaCha8Rng,
    /// Binomial numbers that may be drawn.
    pub most: u64,
    /// How many were.
    pub done: u64,
    /// Who watches.
    pub watch: &'a dyn Watch,
}

impl Table<'_> {
    /// Splits the records that have one of the values `low .. high` of an attribute.
    fn split(
        &mut self,
        dice: &Dice,
        at: usize,
        (low, high): (usize, usize),
        records: u64,
    ) -> Result<Option<bool>> {
        if records == 0 || records < self.k {
            return Ok(Some(records == 0));
        }
        if high - low == 1 {
            return match dice.attributes.get(at + 1) {
                Some(next) => self.split(dice, at + 1, (0, next.values()), records),
                None => Ok(Some(true)),
            };
        }
        if self.done == self.most {
            return Ok(None);
        }
        let middle = low.midpoint(high);
        let die = &dice.attributes[at];
        let lower = self.binomial(records, die.share(low, middle) / die.share(low, high))?;
        let mut parts = [((low, middle), lower), ((middle, high), records - lower)];
        if parts[1].1 < parts[0].1 {
            parts.reverse();
        }
        for (values, records) in parts {
            match self.split(dice, at, values, records)? {
                Some(true) => {}
                decided => return Ok(decided),
            }
        }
        Ok(Some(true))
    }

    fn binomial(&mut self, records: u64, share: f64) -> Result<u64> {
        self.done += 1;
        if self.done.is_multiple_of(BATCH) {
            self.watch.check()?;
        }
        let drawn = Binomial::new(records, share.clamp(0.0, 1.0))
            .map_err(|_| Error::bug("a share that is no number was simulated"))?;
        Ok(drawn.sample(&mut self.random))
    }
}
