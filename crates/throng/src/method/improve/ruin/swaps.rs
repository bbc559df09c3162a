//! Records that change places with those of near groups, where there is nothing but a few numbers and only the size of classes counts.
//!
//! No number is looked up there, so that all exchanges of a record with the records of the groups near it take less time than making a
//! single group anew. Each time the best of them is made, if it saves something, or loses no more than the search may lose just then.

use super::super::group::Group;
use super::block::Block;
use super::reach::Reach;
use crate::problem::Code;

/// So many exchanges take as long as one look at a box.
const SWAPS_OF_A_LOOK: u64 = 2;

/// Exchanges of a group's records in a step, at most.
const EXCHANGES: usize = 3;
/// Groups near a group whose records it exchanges.
const PARTNERS: usize = 8;

/// A record of a group that changes places with one of another.
#[derive(Clone, Copy)]
struct Swap {
    at: usize,
    group: usize,
    /// The place of who comes back; nobody where the record is given away.
    back: Option<usize>,
}

impl<C: Code> Block<'_, C> {
    /// Whether exchanges can be told from places, and only sizes count.
    pub(super) fn may_swap(&self) -> bool {
        self.knows_places() && self.work().judge.count_decides()
    }

    /// Makes exchanges of a group's records while they are kept, a few at most: finding near groups takes as long as one.
    pub(super) fn exchange_while_it_helps(&mut self, own: usize) {
        for _ in 0..EXCHANGES {
            if !self.exchange(own) {
                break;
            }
        }
    }

    /// Makes the best exchange of a record of a group with one of a near group, if it does not lose too much. Tells whether it did.
    fn exchange(&mut self, own: usize) -> bool {
        let limit = self.task.temperature * self.draws.exponential();
        let Some(swap) = self.best_swap(own, limit as f32) else { return false };
        let (mut ours, mut theirs) =
            (self.groups[own].records.clone(), self.groups[swap.group].records.clone());
        match swap.back {
            Some(back) => std::mem::swap(&mut ours[swap.at], &mut theirs[back]),
            None => theirs.push(ours.swap_remove(swap.at)),
        }
        let now = self.groups[own].loss() + self.groups[swap.group].loss();
        let (ours, theirs) = (self.group(ours), self.group(theirs));
        // Places are rounded.
        let helps = ours.loss() + theirs.loss() < now + limit;
        if helps {
            self.replace(own, ours);
            self.replace(swap.group, theirs);
        }
        helps
    }

    /// The exchange that loses least, if that is less than a limit.
    fn best_swap(&mut self, own: usize, limit: f32) -> Option<Swap> {
        let ours = &self.groups[own];
        let (mut rests, mut lefts) =
            (std::mem::take(&mut self.room.rests), std::mem::take(&mut self.room.lefts));
        self.set_without_each(&ours.records, &mut rests);
        let (size, weights) = (ours.records.len() as f32, self.weights());
        let spare = ours.records.len() > self.work().judge.smallest();
        let (mut best, mut least, mut looks) = (None, limit, 0);
        for (_, group) in self.room.near.iter().take(PARTNERS) {
            let group = *group as usize;
            let theirs = &self.groups[group];
            let their_size = theirs.records.len() as f32;
            let now = size * ours.ncp as f32 + their_size * theirs.ncp as f32;
            looks += ours.records.len() * theirs.records.len();
            self.set_without_each(&theirs.records, &mut lefts);
            for (at, ((rest, cost), record)) in rests.iter().zip(&ours.records).enumerate() {
                let place = self.place(*record);
                if spare {
                    let after =
                        (size - 1.0) * cost + (their_size + 1.0) * self.reach_of(group).with(place, weights);
                    if after - now < least {
                        (least, best) = (after - now, Some(Swap { at, group, back: None }));
                    }
                }
                for (back, ((left, cost), other)) in lefts.iter().zip(&theirs.records).enumerate() {
                    let with_back = size * rest.with(self.place(*other), weights);
                    // Whoever comes makes no box cheaper.
                    if with_back + their_size * cost - now >= least {
                        continue;
                    }
                    let after = with_back + their_size * left.with(place, weights);
                    if after - now < least {
                        (least, best) = (after - now, Some(Swap { at, group, back: Some(back) }));
                    }
                }
            }
        }
        (self.room.rests, self.room.lefts) = (rests, lefts);
        self.looks += looks as u64 / SWAPS_OF_A_LOOK;
        best
    }

    /// The box of some records, at least two, without each of them, and what it costs.
    fn set_without_each(&self, records: &[u32], boxes: &mut Vec<(Reach, f32)>) {
        boxes.clear();
        boxes.extend((0..records.len()).map(|at| {
            let reach = self.without(records, at);
            (reach, reach.cost(self.weights()))
        }));
    }

    /// The box of some records, at least two, without the one at a place.
    #[inline]
    fn without(&self, records: &[u32], at: usize) -> Reach {
        let first = usize::from(at == 0);
        let mut reach = Reach::of(self.place(records[first]));
        for (other, record) in records.iter().enumerate().skip(first + 1) {
            if other != at {
                reach.grow(self.place(*record));
            }
        }
        reach
    }

    /// Puts a group in place of another.
    fn replace(&mut self, at: usize, group: Group<C>) {
        self.groups[at] = group;
        self.set_box(at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::reach::{FEW, Reach};

    /// What an exchange is told to cost is what the two boxes cost that come of it.
    #[test]
    fn a_box_without_one_place_and_with_another_is_that_of_the_others() {
        let place = |at: usize| {
            let mut place = [0.0; FEW];
            (0..3).for_each(|own| place[own] = ((at * 37 + own * 11) % 17) as f32 / 17.0);
            place
        };
        let weights = [1.0; FEW];
        for out in 0..5 {
            let mut rest = (0..5).filter(|at| *at != out).map(place);
            let mut reach = Reach::of(&rest.next().expect("there are four"));
            rest.for_each(|place| reach.grow(&place));
            let all: Vec<_> = (0..5).filter(|at| *at != out).chain([9]).map(place).collect();
            let width = |own: usize| {
                let ends = all.iter().map(|place| place[own]);
                ends.clone().fold(f32::MIN, f32::max) - ends.fold(f32::MAX, f32::min)
            };
            let expected: f32 = (0..3).map(width).sum();
            assert!((reach.with(&place(9), &weights) - expected).abs() < 1e-6);
            assert!(reach.cost(&weights) <= expected + 1e-6);
        }
    }
}
