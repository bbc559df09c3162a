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

use super::growing::Growing;
use crate::loss::Kernel;
use crate::problem::{Code, Lanes};

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
        match self.kernel.pair_tables(own, count) {
            // The same sums, from tables that only this record needs.
            Some(tables) => tables.with_each(rows, stride, offer),
            None => {
                for (place, row) in rows.chunks_exact(stride).enumerate() {
                    offer(place, self.kernel.union_up_to((own, own), (row, row), f64::INFINITY));
                }
            }
        }
        best
    }

    /// Tells for each record of a set of at least two whether it goes to the first group; returns how many do. Both
    /// groups get at least one.
    pub fn halve<C: Code>(&self, rows: &[Lanes<C>], stride: usize, room: &mut Room<C>) -> usize {
        let (one, other) = self.seeds(rows, stride);
        let row = |place: usize| &rows[place * stride..(place + 1) * stride];
        let Room { goes_first, halves } = room;
        halves[0].begin(self.kernel, row(one));
        halves[1].begin(self.kernel, row(other));
        goes_first.clear();
        for place in 0..rows.len() / stride {
            let first = place == one || (place != other && self.joins_first(halves, row(place)));
            goes_first.push(first);
        }
        halves[0].size
    }

    #[inline]
    fn joins_first<C: Code>(&self, halves: &mut [Half<C>; 2], row: &[Lanes<C>]) -> bool {
        let [one, other] = halves;
        let first = match self.held_for_less(one, other, row) {
            Some(first) => first,
            None => {
                let costs = [self.cost(one, row), self.cost(other, row)];
                costs[0] < costs[1] || (costs[0] == costs[1] && one.size <= other.size)
            }
        };
        let joined = if first { one } else { other };
        joined.size += 1;
        joined.around.accept(row);
        first
    }

    /// Whether the first group is the cheaper one and holds a record already, or the second: the loss of the cheaper
    /// group then grows by its penalty, and that of the other by more than that.
    #[inline(always)]
    fn held_for_less<C: Code>(
        &self,
        one: &mut Half<C>,
        other: &mut Half<C>,
        row: &[Lanes<C>],
    ) -> Option<bool> {
        let penalties = [one.around.penalty(), other.around.penalty()];
        if self.join != Join::Loss || penalties[0] == penalties[1] {
            return None;
        }
        let first = penalties[0] < penalties[1];
        let cheaper = if first { one } else { other };
        cheaper.around.holds(row).then_some(first)
    }

    /// What a record compares.
    #[inline(always)]
    fn cost<C: Code>(&self, half: &mut Half<C>, row: &[Lanes<C>]) -> f64 {
        let grown = half.around.ask(self.kernel, row);
        match self.join {
            // Not left to rounding: a group that costs no more than before has one more member that costs as much.
            Join::Loss if grown == half.around.penalty() => grown,
            Join::Loss => (half.size + 1) as f64 * grown - half.size as f64 * half.around.penalty(),
            Join::Width => grown - half.around.penalty(),
            Join::Seed => self.kernel.union_up_to((&half.seed, &half.seed), (row, row), f64::INFINITY),
        }
    }
}

/// Room to halve sets in, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub struct Room<C> {
    /// For each record of the set that was halved last whether it goes to the first group.
    pub goes_first: Vec<bool>,
    halves: [Half<C>; 2],
}

/// One of two groups while it grows.
#[derive(Clone, Debug, Default)]
struct Half<C> {
    seed: Vec<Lanes<C>>,
    around: Growing<C>,
    size: usize,
}

impl<C: Code> Half<C> {
    fn begin(&mut self, kernel: &Kernel, seed: &[Lanes<C>]) {
        self.seed.clear();
        self.seed.extend_from_slice(seed);
        self.around.begin(kernel, (seed, seed));
        self.size = 1;
    }
}
