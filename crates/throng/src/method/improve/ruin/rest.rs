//! What is left when groups were made anew, and moves and swaps between the new groups.

use super::super::cut::SAVES;
use super::super::group::Group;
use super::block::{Attempt, Block};
use crate::problem::Code;

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

    /// Where a record costs least, if that is within a limit.
    fn cheapest(
        &mut self,
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
        let mut next_ruined = ruined.iter().peekable();
        self.look_around(record);
        for (at, (brief, after)) in self.found() {
            // Whoever joins pays at least what the group pays now.
            if next_ruined.next_if(|ruined| **ruined == at).is_some() || f64::from(brief.ncp) >= least {
                continue;
            }
            let (now, size) = (brief.ncp * brief.size, brief.size + 1.0);
            let cost = f64::from(after * size - now);
            if cost < least
                && attempt.outside.iter().all(|(_, taken)| *taken != at)
                && self.holds_with(&self.groups[at].records, record)
            {
                (least, place) = (cost, Some(Place::Outside(at)));
            }
        }
        self.looks += (attempt.made.len() + self.groups.len() / 2) as u64;
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
            let rest = self.group_without(&groups[one], at);
            if rest.as_ref().is_none_or(|rest| rest.ncp >= groups[one].ncp) {
                continue;
            }
            if let Some(rest) = rest
                && !self.try_move(groups, (one, other), at, &rest)
            {
                self.try_swaps(groups, (one, other), at, &rest);
            }
        }
    }

    /// Whether a record of a group is at an end of its box.
    fn is_at_an_end(&self, group: &Group<C>, record: u32) -> bool {
        let row = self.matrix.row(record as usize).as_flattened();
        let ends = group.extent.lows().as_flattened().iter().zip(group.extent.highs().as_flattened());
        row.iter().zip(ends).any(|(code, (low, high))| low != high && (code == low || code == high))
    }

    fn group_without(&self, group: &Group<C>, at: usize) -> Option<Group<C>> {
        let mut records = group.records.clone();
        records.swap_remove(at);
        (!records.is_empty()).then(|| self.group(records))
    }

    /// Whether records may be a class.
    fn allowed(&mut self, records: &[u32]) -> bool {
        let judge = &self.work().judge;
        records.len() >= judge.smallest() && (judge.count_decides() || self.holds(records))
    }

    fn try_move(
        &mut self,
        groups: &mut [Group<C>],
        (one, other): (usize, usize),
        at: usize,
        rest: &Group<C>,
    ) -> bool {
        if rest.records.len() < self.work().judge.smallest() {
            return false;
        }
        let (now, record) = (groups[one].loss() + groups[other].loss(), groups[one].records[at]);
        let cost = self.cost_of_joining(&groups[other], record);
        if rest.loss() + groups[other].loss() + cost >= now - SAVES
            || !self.allowed(&rest.records)
            || !self.holds_with(&groups[other].records, record)
        {
            return false;
        }
        groups[one] = rest.clone();
        self.join(&mut groups[other], record);
        true
    }

    fn try_swaps(
        &mut self,
        groups: &mut [Group<C>],
        (one, other): (usize, usize),
        at: usize,
        rest: &Group<C>,
    ) {
        let (now, record) = (groups[one].loss() + groups[other].loss(), groups[one].records[at]);
        for _ in 0..TRIES {
            let place = self.draws.below(groups[other].records.len());
            let back = groups[other].records[place];
            let with_back = rest.loss() + self.cost_of_joining(rest, back);
            if with_back >= now {
                continue;
            }
            self.looks += groups[other].records.len() as u64 / 2;
            let mut records = groups[other].records.clone();
            records[place] = record;
            let swapped = self.group(records);
            if with_back + swapped.loss() >= now - SAVES {
                continue;
            }
            let mut first = rest.clone();
            self.join(&mut first, back);
            if self.allowed(&first.records) && self.allowed(&swapped.records) {
                (groups[one], groups[other]) = (first, swapped);
                return;
            }
        }
    }
}

/// Where a record goes.
enum Place {
    Made(usize),
    Outside(usize),
}
