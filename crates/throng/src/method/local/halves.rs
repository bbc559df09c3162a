//! Halving a set of records by two seeds that are far apart.
//!
//! Xu et al. 2006, section 4.2. From the first record, the one that is furthest from it is looked for, then the one
//! furthest from that, and so on; the last two are the seeds of two groups, and the other records join them one by
//! one, in the order they stand in. That order is random, so the first record is a random one.
//!
//! The paper lets a record join the group "that leads to a lower penalty" and leaves open what is compared. It
//! matters more than anything else here ([`Join`]). We compare the loss as it is counted in the end, the penalty of a
//! group times its size: a large group that must grow costs all its members. Comparing the boxes alone, whatever
//! the sizes, makes one group swallow the set and peels off single records.

use crate::loss::Kernel;
use crate::problem::{Code, LANES, Lanes};

/// What a record that joins one of two groups compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Join {
    /// By how much the loss of each group would grow: its penalty times its size.
    #[default]
    Loss,
    /// By how much the penalty of each group's box would grow, whatever its size.
    Width,
    /// The penalty of the record together with each seed.
    Seed,
}

impl Join {
    /// Their names as options.
    pub const CHOICES: &'static [(&'static str, Join)] =
        &[("loss", Join::Loss), ("width", Join::Width), ("seed", Join::Seed)];
}

/// Looking up a pair in the kernel costs as much as this many entries of a table that only one record needs.
const PAIRS_PER_VALUE: usize = 4;

/// How sets are halved.
#[derive(Clone, Copy, Debug)]
pub struct Halving<'a> {
    /// What boxes cost.
    pub kernel: &'a Kernel,
    /// Scans for the seeds, at most.
    pub rounds: usize,
    /// What records compare.
    pub join: Join,
}

impl Halving<'_> {
    /// Two records of a set of at least two that are far apart, by their places.
    pub fn seeds<C: Code>(&self, rows: &[Lanes<C>], stride: usize) -> (usize, usize) {
        let (mut one, mut other, mut apart) = (0, 0, -1.0);
        for _ in 0..self.rounds {
            let (place, penalty) = self.furthest(rows, stride, one);
            if penalty <= apart {
                break;
            }
            (one, other, apart) = (place, one, penalty);
        }
        (one, other)
    }

    /// The first of the records that are furthest from the one at a place, and its penalty with it.
    fn furthest<C: Code>(&self, rows: &[Lanes<C>], stride: usize, from: usize) -> (usize, f64) {
        let own = &rows[from * stride..(from + 1) * stride];
        let count = rows.len() / stride;
        let mut best = (from, -1.0);
        let mut offer = |place: usize, penalty: f64| {
            if penalty > best.1 && place != from {
                best = (place, penalty);
            }
        };
        if count * PAIRS_PER_VALUE < self.kernel.values() {
            for (place, row) in rows.chunks_exact(stride).enumerate() {
                offer(place, self.kernel.union_up_to((own, own), (row, row), f64::INFINITY));
            }
        } else {
            // The same sums, from tables that only this record needs.
            let tables = self.kernel.pair_tables(own);
            for (place, row) in rows.chunks_exact(stride).enumerate() {
                offer(place, tables.with(row));
            }
        }
        best
    }

    /// Tells for each record of a set of at least two whether it goes to the first group; returns how many do. Both
    /// groups get at least one.
    pub fn halve<C: Code>(&self, rows: &[Lanes<C>], stride: usize, goes_first: &mut Vec<bool>) -> usize {
        let (one, other) = self.seeds(rows, stride);
        let row = |place: usize| &rows[place * stride..(place + 1) * stride];
        let mut groups = [Half::new(row(one)), Half::new(row(other))];
        goes_first.clear();
        for place in 0..rows.len() / stride {
            let first = place == one || (place != other && self.joins_first(&mut groups, row(place)));
            goes_first.push(first);
        }
        groups[0].size
    }

    #[inline]
    fn joins_first<C: Code>(&self, groups: &mut [Half<C>; 2], row: &[Lanes<C>]) -> bool {
        let [one, other] = groups;
        let grown = [one.penalty_with(self.kernel, row), other.penalty_with(self.kernel, row)];
        let cost = |half: &Half<C>, grown: f64| match self.join {
            Join::Loss => (half.size + 1) as f64 * grown - half.size as f64 * half.penalty,
            Join::Width => grown - half.penalty,
            Join::Seed => self.kernel.union_up_to((&half.seed, &half.seed), (row, row), f64::INFINITY),
        };
        let costs = [cost(one, grown[0]), cost(other, grown[1])];
        let first = costs[0] < costs[1] || (costs[0] == costs[1] && one.size <= other.size);
        groups[usize::from(!first)].take(row, grown[usize::from(!first)]);
        first
    }
}

/// One of two groups while it grows.
struct Half<C> {
    seed: Vec<Lanes<C>>,
    low: Vec<Lanes<C>>,
    high: Vec<Lanes<C>>,
    size: usize,
    penalty: f64,
}

impl<C: Code> Half<C> {
    fn new(seed: &[Lanes<C>]) -> Self {
        Half { seed: seed.to_vec(), low: seed.to_vec(), high: seed.to_vec(), size: 1, penalty: 0.0 }
    }

    /// The penalty of its box if a record joined.
    #[inline]
    fn penalty_with(&self, kernel: &Kernel, row: &[Lanes<C>]) -> f64 {
        if inside(&self.low, &self.high, row) {
            return self.penalty;
        }
        kernel.union_up_to((&self.low, &self.high), (row, row), f64::INFINITY)
    }

    fn take(&mut self, row: &[Lanes<C>], penalty: f64) {
        self.size += 1;
        self.penalty = penalty;
        for ((low, high), row) in self.low.iter_mut().zip(&mut self.high).zip(row) {
            // Copies, so that the compiler sees that none of them overlap.
            let (mut l, mut h) = (*low, *high);
            for lane in 0..LANES {
                l[lane] = l[lane].min(row[lane]);
                h[lane] = h[lane].max(row[lane]);
            }
            (*low, *high) = (l, h);
        }
    }
}

/// Whether a record lies in a box.
#[inline(always)]
pub(super) fn inside<C: Code>(low: &[Lanes<C>], high: &[Lanes<C>], row: &[Lanes<C>]) -> bool {
    low.iter().zip(high).zip(row).all(|((low, high), row)| {
        let mut all = true;
        for lane in 0..LANES {
            all &= (low[lane] <= row[lane]) & (row[lane] <= high[lane]);
        }
        all
    })
}
