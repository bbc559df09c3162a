//! What is left when groups were made anew, and moves and swaps between the new groups.

use super::super::cut::SAVES;
use super::super::group::Group;
use super::block::{Attempt, Block};
use crate::loss::Extent;
use crate::problem::{Code, Matrix};

/// Moves or swaps that are tried for each new group, and partners of a swap.
const TRIES: usize = 4;

impl<C: Code> Block<'_, C> {
    /// Puts what is left into the new groups or into others of the block, where each costs least. Tells whether all found a
    /// place within the limit.
    pub(super) fn place_rest(&mut self, attempt: &mut Attempt<C>, ruined: &[usize]) -> bool {
        while let Some(record) = attempt.pool.pop() {
            let left = attempt.limit - attempt.cost;
            // Who may be left out goes nowhere that costs more.
            let may_go = attempt.spare > 0 && self.task.fine <= left;
            let limit = if may_go { self.task.fine } else { left };
            self.looks += (attempt.made.len() + self.room.near.len()) as u64;
            let Some((cost, place)) = self.cheapest(attempt, ruined, record, limit) else {
                if !may_go {
                    return false;
                }
                attempt.lose(record, self.task.fine);
                continue;
            };
            attempt.cost += cost;
            match place {
                Place::Made(at) => self.join(&mut attempt.made[at], record),
                Place::Outside(at) => attempt.outside.push((record, at)),
            }
        }
        attempt.cost <= attempt.limit
    }

    /// Where a record costs least of the new groups and those near the one that the step began with, if that is within a limit.
    fn cheapest(
        &self,
        attempt: &Attempt<C>,
        ruined: &[usize],
        record: u32,
        limit: f64,
    ) -> Option<(f64, Place)> {
        let (mut least, mut place) = (limit, None);
        for (at, group) in attempt.made.iter().enumerate() {
            let cost = self.cost_of_joining(group, record);
            if cost < least && self.holds_with(&group.records, record) {
                (least, place) = (cost, Some(Place::Made(at)));
            }
        }
        for at in self.room.near.iter().map(|(_, at)| *at as usize) {
            // Whoever joins pays at least what the group pays now.
            let is_free = !ruined.contains(&at) && attempt.outside.iter().all(|(_, taken)| *taken != at);
            if self.groups[at].ncp >= least || !is_free {
                continue;
            }
            let cost = self.cost_of_joining_at(at, record);
            if cost < least && self.holds_with(&self.groups[at].records, record) {
                (least, place) = (cost, Some(Place::Outside(at)));
            }
        }
        place.map(|place| (least, place))
    }

    fn join(&self, group: &mut Group<C>, record: u32) {
        group.extent.grow(self.matrix.row(record as usize));
        group.records.push(record);
        group.ncp = self.work().kernel.ncp(&group.extent);
    }

    /// Records move between new groups or change places where that helps.
    pub(super) fn polish(&mut self, groups: &mut [Group<C>]) {
        if groups.len() < 2 {
            return;
        }
        for _ in 0..TRIES * groups.len() {
            let one = self.draws.below(groups.len());
            let other = (one + 1 + self.draws.below(groups.len() - 1)) % groups.len();
            let at = self.draws.below(groups[one].records.len());
            self.looks += groups[one].records.len() as u64 / 2;
            // One inside of the box saves nothing by leaving.
            if !self.is_at_an_end(&groups[one], groups[one].records[at]) {
                continue;
            }
            let rest = self.ncp_without(&groups[one], at);
            if rest < groups[one].ncp && !self.try_move(groups, (one, other), at, rest) {
                self.try_swaps(groups, (one, other), at);
            }
        }
    }

    /// Whether a record of a group is at an end of its box.
    fn is_at_an_end(&self, group: &Group<C>, record: u32) -> bool {
        let row = self.matrix.row(record as usize).as_flattened();
        let ends = group.extent.lows().as_flattened().iter().zip(group.extent.highs().as_flattened());
        row.iter().zip(ends).any(|(code, (low, high))| low != high && (code == low || code == high))
    }

    /// Penalty of a group's box without the record at a place of it; the box stays in the room for it.
    fn ncp_without(&mut self, group: &Group<C>, at: usize) -> f64 {
        let others =
            group.records.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, other)| *other);
        set_around(&mut self.room.rest, &self.matrix, others);
        if group.records.len() > 1 { self.task.work.kernel.ncp(&self.room.rest) } else { 0.0 }
    }

    /// Whether what becomes of a group by exchanging one of its records, or giving it away, may be a class.
    fn allowed(&mut self, group: &Group<C>, at: usize, instead: Option<u32>) -> bool {
        let judge = &self.work().judge;
        let size = group.records.len() - usize::from(instead.is_none());
        if size < judge.smallest() || judge.count_decides() {
            return size >= judge.smallest();
        }
        let mut records = group.records.clone();
        match instead {
            Some(record) => records[at] = record,
            None => drop(records.swap_remove(at)),
        }
        self.holds(&records)
    }

    fn try_move(
        &mut self,
        groups: &mut [Group<C>],
        (one, other): (usize, usize),
        at: usize,
        rest: f64,
    ) -> bool {
        let others = groups[one].records.len() - 1;
        if others < self.work().judge.smallest() {
            return false;
        }
        let record = groups[one].records[at];
        let cost = self.cost_of_joining(&groups[other], record);
        if rest * others as f64 + cost >= groups[one].loss() - SAVES
            || !self.allowed(&groups[one], at, None)
            || !self.holds_with(&groups[other].records, record)
        {
            return false;
        }
        groups[one].records.swap_remove(at);
        groups[one].extent.clone_from(&self.room.rest);
        groups[one].ncp = rest;
        self.join(&mut groups[other], record);
        true
    }

    fn try_swaps(&mut self, groups: &mut [Group<C>], (one, other): (usize, usize), at: usize) {
        let (now, record) = (groups[one].loss() + groups[other].loss(), groups[one].records[at]);
        let (size, other_size) = (groups[one].records.len() as f64, groups[other].records.len() as f64);
        if size < 2.0 {
            return;
        }
        for _ in 0..TRIES {
            let place = self.draws.below(groups[other].records.len());
            let back = groups[other].records[place];
            let with_back = size * f64::from(self.ncp_with(&self.room.rest, back));
            if with_back >= now {
                continue;
            }
            self.looks += groups[other].records.len() as u64 / 2;
            let swapped = groups[other].records.iter().map(|own| if *own == back { record } else { *own });
            set_around(&mut self.room.swapped, &self.matrix, swapped);
            let swapped = self.task.work.kernel.ncp(&self.room.swapped);
            if with_back + swapped * other_size < now - SAVES
                && self.allowed(&groups[one], at, Some(back))
                && self.allowed(&groups[other], place, Some(record))
            {
                self.swap((&mut groups[one], at), back);
                groups[other].records[place] = record;
                groups[other].extent.clone_from(&self.room.swapped);
                groups[other].ncp = swapped;
                return;
            }
        }
    }

    /// Puts a record into the place of another, whose group without it is in the room for that.
    fn swap(&mut self, (group, at): (&mut Group<C>, usize), back: u32) {
        self.room.rest.grow(self.matrix.row(back as usize));
        group.records[at] = back;
        group.extent.clone_from(&self.room.rest);
        group.ncp = self.task.work.kernel.ncp(&group.extent);
    }
}

/// Makes a box the smallest around some records; without any it stays as it is.
fn set_around<C: Code>(extent: &mut Extent<C>, matrix: &Matrix<C>, mut records: impl Iterator<Item = u32>) {
    if let Some(first) = records.next() {
        extent.set_to_rows(matrix.row(first as usize));
        for record in records {
            extent.grow(matrix.row(record as usize));
        }
    }
}

/// Where a record goes.
enum Place {
    Made(usize),
    Outside(usize),
}
