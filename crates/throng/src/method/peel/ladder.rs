//! Ladders: the steps by which an attribute is generalized, and strings of one step per attribute.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::loss::Kernel;
use crate::problem::{Attribute, Code, Matrix};
use crate::table::Scale;

/// The steps of one attribute, from exact to everything alike.
pub(super) struct Ladder {
    pub steps: Vec<Step>,
}

/// One step: which codes it does not tell apart.
pub(super) struct Step {
    /// For each code a random number that it shares with the codes it is not told apart from.
    pub marks: Vec<u64>,
    /// The mean weighted penalty of the table's records.
    pub cost: f64,
}

/// Numbers have no hierarchy: bands of these shares of their range take its place, each 1.4 times the one before.
const BANDS: [f64; 9] =
    [1.0 / 32.0, 1.0 / 22.6, 1.0 / 16.0, 1.0 / 11.3, 1.0 / 8.0, 1.0 / 5.7, 1.0 / 4.0, 1.0 / 2.8, 1.0 / 2.0];

impl Ladder {
    /// The ladder of an attribute; `counts` tells how many records have each code.
    pub fn new(at: usize, attribute: &Attribute, kernel: &Kernel, counts: &[u64]) -> Self {
        let mut maps = vec![(0..attribute.domain.len() as u32).collect::<Vec<u32>>()];
        match attribute.domain.scale() {
            Scale::Categorical(tree) => {
                for level in 1..=tree.height() {
                    let node = |leaf: usize| tree.leaves_under(tree.at_level(leaf, level)).start as u32;
                    maps.push((0..tree.leaf_count()).map(node).collect());
                }
            }
            Scale::Numeric { values, .. } => {
                let missing = attribute.domain.missing().map(|_| values.len() as u32);
                maps.extend(
                    BANDS.iter().map(|share| bands(values, *share).into_iter().chain(missing).collect()),
                );
                maps.push(vec![0; attribute.domain.len()]);
            }
        }
        maps.dedup();
        let steps = (0..).zip(&maps).map(|(step, map)| Step::new(at, step, map, kernel, counts)).collect();
        Ladder { steps }
    }
}

/// The band of each value: the first value in it.
fn bands(values: &[f64], share: f64) -> Vec<u32> {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
    // Halved against overflow.
    let width = (last / 2.0 - first / 2.0) * share;
    // The last value closes the last band instead of opening one more.
    let most = (1.0 / share).ceil() - 1.0;
    let mut starts = Vec::with_capacity(values.len());
    let (mut band, mut start) = (0.0, 0);
    for (at, value) in (0..).zip(values) {
        let own = if width > 0.0 { ((value / 2.0 - first / 2.0) / width).floor().min(most) } else { 0.0 };
        if own != band {
            (band, start) = (own, at);
        }
        starts.push(start);
    }
    starts
}

impl Step {
    fn new(at: usize, step: u64, map: &[u32], kernel: &Kernel, counts: &[u64]) -> Self {
        let mut last = vec![0; map.len()];
        map.iter().enumerate().for_each(|(code, start)| last[*start as usize] = code);
        let penalty = |start: u32| kernel.penalty(at, start as usize, last[start as usize]);
        let total: u64 = counts.iter().sum();
        let cost: f64 = map.iter().zip(counts).map(|(start, count)| penalty(*start) * *count as f64).sum();
        let mark = |start: &u32| scramble((at as u64) << 48 ^ step << 32 ^ u64::from(*start));
        Step { marks: map.iter().map(mark).collect(), cost: cost / total.max(1) as f64 }
    }
}

/// A number that looks random (the finalizer of SplitMix64).
fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// How many records have each code of an attribute.
pub(super) fn code_counts<C: Code>(matrix: &Matrix<C>, attribute: &Attribute, at: usize) -> Vec<u64> {
    let mut counts = vec![0; attribute.domain.len()];
    (0..matrix.len()).for_each(|row| counts[matrix.get(row, at).index()] += 1);
    counts
}

/// A string: a step per attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    /// The mean penalty of the table's records under it.
    pub cost: f64,
    /// The step of each attribute.
    pub steps: Vec<u8>,
}

impl Eq for Turn {}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Turn {
    /// The cheapest is the greatest, as a heap wants it.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then_with(|| other.steps.cmp(&self.steps))
    }
}

/// Strings, cheapest first, each found when its turn comes: the lattice is never built.
pub(super) struct Turns<'a> {
    ladders: &'a [Ladder],
    heap: BinaryHeap<Turn>,
}

/// More are never open: they would only take memory, and no effort reaches them.
const MOST_OPEN: usize = 1 << 21;

impl<'a> Turns<'a> {
    pub fn new(ladders: &'a [Ladder]) -> Self {
        let exact = Turn { cost: 0.0, steps: vec![0; ladders.len()] };
        Turns { ladders, heap: BinaryHeap::from([exact]) }
    }
}

impl Iterator for Turns<'_> {
    type Item = Turn;

    fn next(&mut self) -> Option<Turn> {
        let turn = self.heap.pop()?;
        // Every string is reached once: by one more step of its last attribute that has any.
        let last = turn.steps.iter().rposition(|step| *step > 0).unwrap_or(0);
        for at in last..self.ladders.len() {
            let (now, next) = (usize::from(turn.steps[at]), usize::from(turn.steps[at]) + 1);
            let own = &self.ladders[at].steps;
            if next < own.len().min(usize::from(u8::MAX)) && self.heap.len() < MOST_OPEN {
                let mut steps = turn.steps.clone();
                steps[at] += 1;
                self.heap.push(Turn { cost: turn.cost + (own[next].cost - own[now].cost).max(0.0), steps });
            }
        }
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(costs: &[f64]) -> Ladder {
        Ladder { steps: costs.iter().map(|cost| Step { marks: Vec::new(), cost: *cost }).collect() }
    }

    #[test]
    fn strings_come_cheapest_first_and_each_once() {
        let ladders = [ladder(&[0.0, 0.2, 1.0]), ladder(&[0.0, 0.5]), ladder(&[0.0, 0.1, 0.3, 0.7])];
        let turns: Vec<Turn> = Turns::new(&ladders).collect();
        assert!(turns.windows(2).all(|pair| pair[0].cost <= pair[1].cost));
        let seen: std::collections::BTreeSet<_> = turns.iter().map(|turn| turn.steps.clone()).collect();
        assert_eq!((seen.len(), turns.len()), (3 * 2 * 4, 3 * 2 * 4));
    }

    #[test]
    fn bands_are_equally_wide() {
        assert_eq!(bands(&[0.0, 1.0, 2.0, 5.0, 8.0], 0.5), [0, 0, 0, 3, 3]);
        assert_eq!(bands(&[3.0], 0.5), [0]);
        assert_eq!(bands(&[], 0.5), [0u32; 0]);
    }
}
