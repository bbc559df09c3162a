//! Groups made anew of the records of ruined ones: around one record after the other, by the cheapest box that holds a class
//! of what is left, or growing by the record that costs least beyond its worth.

use super::super::group::Group;
use super::around::Ground;
use super::block::{Attempt, Block};
use super::needs::Needs;
use crate::loss::Extent;
use crate::problem::Code;

/// So many looks at a record's distance cost as much as one at its box.
const LOOKS_OF_A_BOX: u64 = 4;
/// So many costs that are known are compared in the time of one look.
const COSTS_OF_A_LOOK: u64 = 8;

/// With whom a group begins.
#[derive(Clone, Copy, PartialEq)]
enum Begin {
    Seed,
    Dearest,
    Random,
}

/// How the groups of one attempt are made.
struct Making {
    begin: Begin,
    exact: bool,
    wobble: f64,
}

/// Places in a pool by what their records are worth; of equals the lowest first.
fn put_worthiest_first(found: &mut [u32], pool: &[u32], worth: &[f32]) {
    let worth = |at: u32| worth[pool[at as usize] as usize];
    found.sort_unstable_by(|a, b| worth(*b).total_cmp(&worth(*a)).then(a.cmp(b)));
}

impl<C: Code> Block<'_, C> {
    /// Makes groups while there are records for one. Tells whether there is one and the limit holds.
    pub(super) fn recreate(&mut self, attempt: &mut Attempt<C>, seed: u32) -> bool {
        let begin = [Begin::Seed, Begin::Dearest, Begin::Random][self.draws.below(3)];
        let exact = self.draws.unit() < self.manner().exact;
        let wobble = self.manner().wobble * self.draws.unit();
        let mut making = Making { begin, exact, wobble };
        let smallest = self.work().judge.smallest();
        while attempt.pool.len() >= smallest && attempt.cost <= attempt.limit {
            let at = self.first(&attempt.pool, seed, &mut making);
            let first = attempt.pool.swap_remove(at);
            let made = match making.exact {
                true => self.box_around(&mut attempt.pool, first, making.wobble),
                false => self.grown(&mut attempt.pool, first, making.wobble),
            };
            let Some(group) = made else {
                attempt.pool.push(first);
                break;
            };
            attempt.cost += group.loss();
            attempt.made.push(group);
        }
        attempt.cost <= attempt.limit && !attempt.made.is_empty()
    }

    fn first(&mut self, pool: &[u32], seed: u32, making: &mut Making) -> usize {
        let worth = |at: &usize| self.worth[pool[*at] as usize];
        match making.begin {
            Begin::Seed => {
                making.begin = Begin::Random;
                pool.iter().position(|record| *record == seed).unwrap_or(0)
            }
            Begin::Dearest => (0..pool.len()).max_by(|a, b| worth(a).total_cmp(&worth(b))).unwrap_or(0),
            Begin::Random => self.draws.below(pool.len()),
        }
    }

    /// The cheapest box around a record that holds a class of the pool, with those that are worth most.
    fn box_around(&mut self, pool: &mut Vec<u32>, first: u32, wobble: f64) -> Option<Group<C>> {
        let others = self.work().judge.smallest() - 1;
        let Block { task, matrix, room, draws, .. } = &mut *self;
        let ground = Ground { rough: &task.rough, matrix, line: task.line };
        let looks = room.around.search(&ground, first, pool, others, wobble, draws);
        self.looks += looks.unwrap_or(pool.len()) as u64 / LOOKS_OF_A_BOX;
        looks?;
        let mut found = std::mem::take(&mut self.room.around.found);
        put_worthiest_first(&mut found, pool, &self.worth);
        let group = self.take_first_that_hold(&mut found, pool, first, others);
        self.room.around.found = found;
        group
    }

    /// Takes the first of those found that may be a class with a record out of the pool.
    fn take_first_that_hold(
        &mut self,
        found: &mut Vec<u32>,
        pool: &mut Vec<u32>,
        first: u32,
        others: usize,
    ) -> Option<Group<C>> {
        if self.work().judge.count_decides() {
            found.truncate(others);
        } else {
            self.keep_those_that_hold(found, pool, first, others)?;
        }
        found.sort_unstable();
        let mut records = Vec::with_capacity(found.len() + 1);
        records.push(first);
        records.extend(found.iter().rev().map(|at| pool.swap_remove(*at as usize)));
        Some(self.group(records))
    }

    /// The first that there is room for by their sensitive values.
    fn keep_those_that_hold(
        &mut self,
        found: &mut Vec<u32>,
        pool: &[u32],
        first: u32,
        others: usize,
    ) -> Option<()> {
        if let Some((frequency, counted)) = self.task.frequency() {
            let most = frequency.most_of_value(others + 1) as u32;
            let value =
                |block: &Self, record: u32| counted.codes[block.ids[record as usize] as usize] as usize;
            let mut counts = std::mem::take(&mut self.room.counts);
            counts.fill(0);
            counts[value(self, first)] = 1;
            found.retain(|at| {
                let count = &mut counts[value(self, pool[*at as usize])];
                *count += 1;
                *count <= most
            });
            self.room.counts = counts;
            found.truncate(others);
            return (found.len() == others && most > 0).then_some(());
        }
        // As few as are enough, in steps that double.
        let mut take = others;
        while take <= found.len() {
            let records: Vec<u32> =
                std::iter::once(first).chain(found[..take].iter().map(|at| pool[*at as usize])).collect();
            if self.holds(&records) {
                found.truncate(take);
                return Some(());
            }
            take = if take == found.len() { take + 1 } else { (take + take.div_ceil(4)).min(found.len()) };
        }
        None
    }

    /// A group that begins with a record and takes the others that cost least beyond their worth, until it is a class.
    fn grown(&mut self, pool: &mut Vec<u32>, first: u32, wobble: f64) -> Option<Group<C>> {
        let mut scores = std::mem::take(&mut self.room.scores);
        let mut wider = std::mem::take(&mut self.room.wider);
        scores.clear();
        scores.extend(
            pool.iter().map(|record| self.worth[*record as usize] * self.draws.about_one(wobble) as f32),
        );
        let extent = Extent::of(self.matrix.row(first as usize));
        let reach = self.reach(&extent);
        wider.clear();
        wider.extend(pool.iter().map(|record| (self.ncp_by_reach(reach.as_ref(), &extent, *record), 0)));
        self.looks += pool.len() as u64;
        let group = self.grow((extent, first), pool, &mut scores, &mut wider);
        (self.room.scores, self.room.wider) = (scores, wider);
        group
    }

    /// The group; without enough records, those that it took go back.
    fn grow(
        &mut self,
        (mut extent, first): (Extent<C>, u32),
        pool: &mut Vec<u32>,
        scores: &mut Vec<f32>,
        wider: &mut Vec<(f32, u32)>,
    ) -> Option<Group<C>> {
        let smallest = self.work().judge.smallest();
        let mut reach = self.reach(&extent);
        let (mut records, mut ncp, mut grown) = (Vec::with_capacity(2 * smallest), 0.0, 0);
        records.push(first);
        let mut needs = self.needs_of(first);
        let mut is_class = self.is_class(1, &needs);
        while !pool.is_empty() {
            let size = records.len();
            // What all that are to come pay, or all that are there.
            let payers = if is_class { (size + 1) as f32 } else { smallest.max(size + 1) as f32 };
            self.looks += pool.len() as u64 / COSTS_OF_A_LOOK;
            let Some((cost, at)) = self.least(pool, scores, wider, payers, &needs, size) else { break };
            if wider[at].1 != grown {
                // With a smaller box it cost no more than now: only who comes first is asked again.
                wider[at] = (self.ncp_by_reach(reach.as_ref(), &extent, pool[at]), grown);
                self.looks += 1;
                continue;
            }
            if is_class && (cost >= ncp * size as f32 || pool.len() >= smallest) {
                break;
            }
            let record = pool.swap_remove(at);
            scores.swap_remove(at);
            ncp = wider.swap_remove(at).0;
            records.push(record);
            self.count(&mut needs, record);
            self.grow_reach(&mut reach, record);
            grown += u32::from(extent.grow(self.matrix.row(record as usize)));
            is_class = self.is_class(records.len(), &needs);
        }
        self.forget(needs);
        if !is_class {
            pool.extend(&records[1..]);
            return None;
        }
        let ncp = self.work().kernel.ncp(&extent);
        Some(Group { records, extent, ncp })
    }

    /// The record of the pool that costs least beyond its worth, of those that there is room for.
    fn least(
        &self,
        pool: &[u32],
        scores: &[f32],
        wider: &[(f32, u32)],
        payers: f32,
        needs: &Needs,
        size: usize,
    ) -> Option<(f32, usize)> {
        let mut best: Option<(f32, usize)> = None;
        for (at, (score, (wider, _))) in scores.iter().zip(wider).enumerate() {
            let cost = payers * wider - score;
            if best.is_none_or(|(least, _)| cost < least) && self.has_room(needs, size, pool[at]) {
                best = Some((cost, at));
            }
        }
        best
    }
}
