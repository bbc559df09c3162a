//! Dealing the records of a block into classes, by counts and by chance.
//!
//! How many of each sensitive value go to either side depends on counts alone, who they are on chance alone: permuting
//! values among the records of a side would have given the same sides just as likely.

use std::collections::BTreeMap;

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt};

use super::Lots;
use crate::privacy::Frequency;
use crate::problem::Code;

/// How often sides of a requirement other than frequency are drawn before a block stays whole.
const DRAWS: usize = 4;

/// Two sides of a set of records.
pub(super) type Sides = (Vec<u32>, Vec<u32>);

/// How many of a value the first side may and must take, and how many it does.
struct Share {
    records: Vec<u32>,
    least: usize,
    most: usize,
    taken: usize,
}

impl<C: Code> Lots<'_, C> {
    /// The classes of a block. A small one is a class.
    pub(super) fn deal(&self, block: Vec<u32>, random: &mut impl Rng) -> Vec<Vec<u32>> {
        if block.len() < self.many { vec![block] } else { self.lot(block, random) }
    }

    fn lot(&self, set: Vec<u32>, random: &mut impl Rng) -> Vec<Vec<u32>> {
        if set.len() < 2 * self.unit {
            return vec![set];
        }
        if set.len() >= 2 * self.many
            && let Some((one, other)) = self.halves(&set)
        {
            return [self.lot(one, random), self.lot(other, random)].concat();
        }
        let Some((one, other)) = self.draw(&set, random) else { return vec![set] };
        let parts = [self.lot(one, random), self.lot(other, random)].concat();
        let loss: f64 = parts.iter().map(|part| self.loss(part)).sum();
        if loss < self.loss(&set) { parts } else { vec![set] }
    }

    /// Two sides drawn by lot that may both be classes, if there are any.
    fn draw(&self, set: &[u32], random: &mut impl Rng) -> Option<Sides> {
        match self.judge.frequency() {
            Some(frequency) => self.draw_by_counts(set, frequency, random),
            None => (0..DRAWS).find_map(|_| {
                let (one, other) = self.draw_evenly(set, random);
                (self.holds(&one) && self.holds(&other)).then_some((one, other))
            }),
        }
    }

    /// As many of each value as a random half has, moved by random steps to where both sides keep the frequency.
    fn draw_by_counts(&self, set: &[u32], frequency: Frequency, random: &mut impl Rng) -> Option<Sides> {
        let first = self.half(set.len());
        let [most, most_after] = [first, set.len() - first].map(|size| frequency.most_of_value(size));
        let mut shuffled = set.to_vec();
        shuffled.shuffle(random);
        let codes = &self.problem.sensitive[frequency.attribute()].codes;
        let mut shares: BTreeMap<u32, Share> = BTreeMap::new();
        for (at, record) in shuffled.into_iter().enumerate() {
            let none = || Share { records: Vec::new(), least: 0, most: 0, taken: 0 };
            let share = shares.entry(codes[record as usize]).or_insert_with(none);
            share.records.push(record);
            share.taken += usize::from(at < first);
        }
        let mut shares: Vec<Share> = shares.into_values().collect();
        for share in &mut shares {
            let count = share.records.len();
            (share.least, share.most) = (count.saturating_sub(most_after), count.min(most));
            if share.least > share.most {
                return None;
            }
            share.taken = share.taken.clamp(share.least, share.most);
        }
        mend(&mut shares, first, random).then(|| divide(shares))
    }

    /// Both sides have nearly the same share of every combination of sensitive values; chance decides the rest.
    fn draw_evenly(&self, set: &[u32], random: &mut impl Rng) -> Sides {
        let mut shuffled = set.to_vec();
        shuffled.shuffle(random);
        let values = |record: u32| self.problem.sensitive.iter().map(move |own| own.codes[record as usize]);
        let mut alike: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        for record in shuffled {
            alike.entry(values(record).collect()).or_default().push(record);
        }
        let mut alike: Vec<Vec<u32>> = alike.into_values().collect();
        alike.shuffle(random);
        let (first, all) = (self.half(set.len()), set.len());
        let start = random.random_range(0..all);
        // Every so many-th record, from a random start: exactly as many as the first half has.
        let is_first = |at: usize| ((at + 1) * first + start) / all > (at * first + start) / all;
        let mut sides = (Vec::new(), Vec::new());
        for (at, record) in alike.into_iter().flatten().enumerate() {
            if is_first(at) { sides.0.push(record) } else { sides.1.push(record) }
        }
        sides
    }
}

/// Moves counts by random steps until they add up to the size of the first side. Tells whether they can.
fn mend(shares: &mut [Share], first: usize, random: &mut impl Rng) -> bool {
    let sum = |of: fn(&Share) -> usize, shares: &[Share]| shares.iter().map(of).sum::<usize>();
    if sum(|share| share.least, shares) > first || sum(|share| share.most, shares) < first {
        return false;
    }
    let mut taken = sum(|share| share.taken, shares);
    while taken != first {
        let open =
            |share: &Share| if taken < first { share.taken < share.most } else { share.taken > share.least };
        let movable: Vec<usize> = (0..shares.len()).filter(|at| open(&shares[*at])).collect();
        let Some(&at) = movable.choose(random) else { return false };
        if taken < first {
            shares[at].taken += 1;
            taken += 1;
        } else {
            shares[at].taken -= 1;
            taken -= 1;
        }
    }
    true
}

/// The records of each value are in random order: the first of them are as random as any.
fn divide(shares: Vec<Share>) -> Sides {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for share in shares {
        let (taken, left) = share.records.split_at(share.taken);
        one.extend_from_slice(taken);
        other.extend_from_slice(left);
    }
    (one, other)
}
