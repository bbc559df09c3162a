//! The fewest records to leave out so that the rest is diverse.
//!
//! Of all ways to leave out r records, the one that takes each from a value that is then most frequent leaves the most even
//! counts: its shares are majorized by those of every other way, so the most frequent value is least frequent and the
//! entropy greatest. For recursive diversity, what keeps a greatest count with the fewest losses is best, and that is such
//! a way too. So r = 0, 1, 2, … are tried, each from the one before in O(1), up to what may be left out.

use super::{Diversity, LDiversity, entropy};
use crate::privacy::{Frequency, Histogram, ROUNDING};

/// Counts of values that are levelled from the top, one record at a time.
#[derive(Clone)]
struct Levels {
    /// Values and their counts at first, the most frequent first.
    values: Vec<(u32, u32)>,
    /// Sums of the first counts.
    sums: Vec<u64>,
    /// Σ count · ln count.
    spread: f64,
    /// The greatest count, how many values have or had it, and from how many of these one was taken already.
    greatest: u32,
    tied: usize,
    taken: usize,
    total: u64,
}

fn spread(count: u32) -> f64 {
    if count == 0 { 0.0 } else { f64::from(count) * f64::from(count).ln() }
}

impl Levels {
    fn new(counts: &Histogram) -> Self {
        let values = counts.most_frequent_first();
        let mut sums = vec![0];
        values.iter().for_each(|(_, count)| sums.push(sums[sums.len() - 1] + u64::from(*count)));
        let mut levels = Levels {
            spread: values.iter().map(|(_, count)| spread(*count)).sum(),
            greatest: values.first().map_or(0, |(_, count)| *count),
            total: counts.total(),
            values,
            sums,
            tied: 0,
            taken: 0,
        };
        levels.tied = levels.reaching();
        levels
    }

    /// How many values have at least the greatest count.
    fn reaching(&self) -> usize {
        self.values.partition_point(|(_, count)| *count >= self.greatest)
    }

    /// Takes one record out; there is one.
    fn take(&mut self) {
        self.spread += spread(self.greatest - 1) - spread(self.greatest);
        self.total -= 1;
        self.taken += 1;
        if self.taken == self.tied {
            self.greatest -= 1;
            self.taken = 0;
            self.tied = self.reaching();
        }
    }

    /// The sum of the counts of the most frequent values, so many of them.
    fn first(&self, values: usize) -> u64 {
        let (whole, greatest) = (self.tied - self.taken, u64::from(self.greatest));
        let values = values.min(self.values.len());
        if values <= self.tied {
            values as u64 * greatest - values.saturating_sub(whole) as u64
        } else {
            self.tied as u64 * greatest - self.taken as u64 + self.sums[values] - self.sums[self.tied]
        }
    }

    /// How many records of each value are left.
    fn left(&self) -> impl Iterator<Item = (u32, u32)> {
        let whole = self.tied - self.taken;
        self.values.iter().enumerate().map(move |(at, (value, count))| match at {
            _ if at < whole => (*value, self.greatest),
            _ if at < self.tied => (*value, self.greatest - 1),
            _ => (*value, *count),
        })
    }

    /// How many records of each value were taken out.
    fn lost(&self) -> Vec<(u32, u32)> {
        let lost = self.values.iter().zip(self.left());
        lost.map(|((value, count), (_, left))| (*value, count - left)).filter(|(_, lost)| *lost > 0).collect()
    }

    /// What is left, counted.
    fn counted(&self) -> Histogram {
        let domain = self.values.iter().map(|(value, _)| *value as usize + 1).max().unwrap_or(0);
        let mut counts = Histogram::new(domain);
        self.left().for_each(|(value, left)| counts.add_many(value, left));
        counts
    }

    /// About the entropy: what is kept up from step to step gathers rounding.
    fn entropy(&self) -> f64 {
        (self.total as f64).ln() - self.spread / self.total as f64
    }
}

impl LDiversity {
    fn holds_at(&self, levels: &Levels) -> bool {
        match self.form {
            Diversity::Frequency => {
                Frequency::new(self.attribute, self.l).allows(levels.greatest as usize, levels.total as usize)
            }
            // Fewer records never have more values.
            Diversity::Distinct => levels.values.len() as f64 >= self.l,
            Diversity::Entropy => {
                let least = self.l.ln();
                levels.entropy() + 1e-9 >= least && entropy(&levels.counted()) + ROUNDING >= least
            }
            Diversity::Recursive { c } => {
                let rest = levels.total - levels.first((self.l as usize).saturating_sub(1));
                f64::from(levels.greatest) < c * rest as f64
            }
        }
    }

    /// How many records of each value to leave out, the fewest that leave the rest diverse; `None` if more than so many.
    pub(super) fn fewest(&self, counts: &Histogram, allowance: usize) -> Option<Vec<(u32, u32)>> {
        let mut levels = Levels::new(counts);
        let most = allowance.min((levels.total as usize).saturating_sub(1));
        for lost in 0..=most {
            if lost > 0 {
                levels.take();
            }
            if self.holds_at(&levels) {
                return Some(levels.lost());
            }
        }
        None
    }

    /// The largest l that a release reaches which leaves out so many records at most.
    pub(super) fn largest_within(&self, counts: &Histogram, allowance: usize) -> f64 {
        let mut levels = Levels::new(counts);
        let mut best = (self.near(&levels), levels.clone());
        for _ in 0..allowance.min((levels.total as usize).saturating_sub(1)) {
            levels.take();
            // Between two levels only entropy can be greater than at the one above.
            if levels.taken == 0 || self.form == Diversity::Entropy {
                let reached = self.near(&levels);
                if reached > best.0 {
                    best = (reached, levels.clone());
                }
            }
        }
        self.reachable(&best.1.counted())
    }

    /// The l that is reached, but for rounding.
    fn near(&self, levels: &Levels) -> f64 {
        match self.form {
            Diversity::Frequency => levels.total as f64 / f64::from(levels.greatest.max(1)),
            Diversity::Distinct => levels.values.len() as f64,
            Diversity::Entropy => levels.entropy().exp(),
            Diversity::Recursive { .. } => self.reachable(&levels.counted()),
        }
    }
}
