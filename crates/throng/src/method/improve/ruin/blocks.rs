//! Blocks of groups that lie near each other: cuts in the middle along attributes drawn by lot, other ones in every round.

use super::super::group::Group;
use super::draws::Draws;
use crate::collections::sort_by_key_and_id;
use crate::parallel;
use crate::problem::Code;

/// How often another attribute is drawn before groups are halved that differ in none of them.
const TRIES: usize = 12;
/// Fewer groups are not cut.
const LEAST_GROUPS: usize = 4;
/// Above so many groups, the two halves are cut side by side.
const SIDE_BY_SIDE: usize = 2048;

/// How groups are cut.
pub(super) struct Cuts<'a, C: Code> {
    pub groups: &'a [Group<C>],
    pub attributes: usize,
    /// Records of a block, about.
    pub size: usize,
    pub seed: u64,
    /// The stream of the whole table; every cut below has one of its own.
    pub stream: u64,
}

impl<C: Code> Cuts<'_, C> {
    /// The groups of each block.
    pub fn blocks(&self) -> Vec<Vec<u32>> {
        let mut order: Vec<u32> = (0..self.groups.len() as u32).collect();
        self.cut(&mut order, 1)
    }

    fn cut(&self, order: &mut [u32], place: u64) -> Vec<Vec<u32>> {
        let records: usize = order.iter().map(|at| self.size_of(*at)).sum();
        if records < 2 * self.size || order.len() < LEAST_GROUPS {
            return vec![order.to_vec()];
        }
        let middle = self.sort_and_halve(order, records, place);
        let (left, right) = order.split_at_mut(middle);
        let (places, large) = ((2 * place, 2 * place + 1), left.len() + right.len() > SIDE_BY_SIDE);
        let (mut blocks, rest) = match large {
            true => parallel::join(|| self.cut(left, places.0), || self.cut(right, places.1)),
            false => (self.cut(left, places.0), self.cut(right, places.1)),
        };
        blocks.extend(rest);
        blocks
    }

    fn size_of(&self, group: u32) -> usize {
        self.groups[group as usize].records.len()
    }

    fn key(&self, group: u32, attribute: usize) -> usize {
        let extent = &self.groups[group as usize].extent;
        extent.low(attribute).index() + extent.high(attribute).index()
    }

    /// Sorts groups along an attribute drawn by lot; tells where to cut. Groups of one place stay together, unless no
    /// attribute allows that.
    fn sort_and_halve(&self, order: &mut [u32], records: usize, place: u64) -> usize {
        let mut draws = Draws::new(self.seed, self.stream | place);
        for _ in 0..TRIES {
            let attribute = draws.below(self.attributes);
            sort_by_key_and_id(order, |at| self.key(at, attribute));
            let value = self.key(order[self.middle(order, records)], attribute);
            let middle = self.middle(order, records);
            let low = order.partition_point(|at| self.key(*at, attribute) < value);
            let high = order.partition_point(|at| self.key(*at, attribute) <= value);
            let cut = if middle - low < high - middle { low } else { high };
            if cut * 5 >= order.len() && cut * 5 <= order.len() * 4 {
                return cut;
            }
        }
        self.middle(order, records).clamp(1, order.len() - 1)
    }

    /// The group that half of the records lie before.
    fn middle(&self, order: &[u32], records: usize) -> usize {
        let mut seen = 0;
        let half = |at: &u32| {
            seen += self.size_of(*at);
            2 * seen >= records
        };
        order.iter().position(half).unwrap_or(order.len() - 1)
    }
}
