//! Leaving records out where that lowers the loss.
//!
//! A record that is left out counts as fully lost, and the others of its group need not reach out to it any more. Where that
//! saves more than it costs, and the group may be a class without it, it goes: whoever saves most first, until no more may
//! go. People go whole, or not at all. The search ([`super::ruin`]) goes on from there: it can also make other groups of
//! those that are too few without a record.
//!
//! Cost: O(N·d), and O(d) of a group's size for each one that goes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::group::{Group, Work};
use super::{Partition, SAVES};
use crate::parallel;
use crate::problem::Code;

/// Groups, and the records that are in none of them.
#[derive(Clone)]
pub(in crate::method) struct Held<C: Code> {
    pub groups: Vec<Group<C>>,
    /// Ascending.
    pub lost: Vec<u32>,
}

impl<C: Code> Held<C> {
    /// Groups of all records.
    pub fn all(groups: Vec<Group<C>>) -> Self {
        Held { groups, lost: Vec::new() }
    }

    /// The loss, if a lost record counts so much.
    pub fn loss(&self, of_a_lost_one: f64) -> f64 {
        self.groups.iter().map(Group::loss).sum::<f64>() + self.lost.len() as f64 * of_a_lost_one
    }
}

/// Who could go, and what that saved when it was last looked at.
struct Offer {
    /// For each of the records.
    saves: f64,
    unit: u32,
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        self.saves.total_cmp(&other.saves).then(other.unit.cmp(&self.unit))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

/// Groups from which some may go.
struct Sparing<'a, C: Code> {
    work: &'a Work<'a, C>,
    groups: Vec<Group<C>>,
    group_of: Vec<u32>,
    /// Who goes together: people, or single records.
    units: Vec<Vec<u32>>,
}

/// Leaves out who saves most, at most so many records; they come back ascending.
pub(super) fn spare<C: Code>(work: &Work<'_, C>, groups: Vec<Group<C>>, most: usize) -> Held<C> {
    let mut group_of = vec![Partition::NO_GROUP; work.problem.len()];
    for (at, group) in (0..).zip(&groups) {
        group.records.iter().for_each(|record| group_of[*record as usize] = at);
    }
    let units = units(work, &group_of, most);
    let mut sparing = Sparing { work, groups, group_of, units };
    let offer = |unit: u32| Some(Offer { saves: sparing.saves(unit)?, unit });
    let offers = parallel::map(0..sparing.units.len() as u32, offer);
    let offers: Vec<Offer> = offers.into_iter().flatten().collect();
    let (mut offers, mut lost) = (BinaryHeap::from(offers), Vec::new());
    while let Some(offer) = offers.pop() {
        let count = sparing.units[offer.unit as usize].len();
        // Others went in the meantime.
        let Some(now) = sparing.saves(offer.unit).filter(|_| lost.len() + count <= most) else { continue };
        match now < offer.saves - SAVES {
            true => offers.push(Offer { saves: now, unit: offer.unit }),
            false => {
                sparing.leave(offer.unit);
                lost.extend(&sparing.units[offer.unit as usize]);
            }
        }
    }
    lost.sort_unstable();
    Held { groups: sparing.groups, lost }
}

/// Who may go: people with all of their records here and not too many of them, or each record for itself.
fn units<C: Code>(work: &Work<'_, C>, group_of: &[u32], most: usize) -> Vec<Vec<u32>> {
    let records = 0..work.problem.len() as u32;
    let grouped = |record: &u32| group_of[*record as usize] != Partition::NO_GROUP;
    let Some(people) = &work.problem.people else {
        return records.filter(grouped).map(|record| vec![record]).collect();
    };
    let mut units = vec![Vec::new(); people.most()];
    let mut whole = vec![true; people.most()];
    for record in records {
        units[people.of(record) as usize].push(record);
        whole[people.of(record) as usize] &= grouped(&record);
    }
    let may_go = |(unit, whole): (Vec<u32>, bool)| {
        Some(unit).filter(|unit| whole && !unit.is_empty() && unit.len() <= most)
    };
    units.into_iter().zip(whole).filter_map(may_go).collect()
}

impl<C: Code> Sparing<'_, C> {
    /// What it saves, for each of its records, that a unit goes; `None` if it saves nothing or may not go.
    fn saves(&self, unit: u32) -> Option<f64> {
        let records = &self.units[unit as usize];
        let cost = self.work.problem.total_weight() * records.len() as f64;
        let (mut at_most, mut large_enough) = (0.0, true);
        self.for_each_group(records, |group, own| {
            at_most += group.loss();
            large_enough &= group.records.len() >= own.len() + self.work.judge.smallest();
        });
        if !large_enough || at_most <= cost {
            return None;
        }
        let (mut saved, mut allowed) = (-cost, true);
        self.for_each_group(records, |group, own| {
            let rest = self.rest(group, own);
            saved += group.loss() - rest.loss();
            allowed = allowed && self.work.judge.holds(rest.records.iter().copied());
        });
        (allowed && saved > SAVES).then(|| saved / records.len() as f64)
    }

    fn rest(&self, group: &Group<C>, own: &[u32]) -> Group<C> {
        self.work.group(group.records.iter().copied().filter(|record| !own.contains(record)).collect())
    }

    /// Visits the groups of some records, each with those of them that it has.
    fn for_each_group(&self, records: &[u32], mut visit: impl FnMut(&Group<C>, &[u32])) {
        let mut by_group: Vec<(u32, u32)> =
            records.iter().map(|record| (self.group_of[*record as usize], *record)).collect();
        by_group.sort_unstable();
        for of_one in by_group.chunk_by(|a, b| a.0 == b.0) {
            let own: Vec<u32> = of_one.iter().map(|(_, record)| *record).collect();
            visit(&self.groups[of_one[0].0 as usize], &own);
        }
    }

    fn leave(&mut self, unit: u32) {
        let mut after: Vec<(u32, Group<C>)> = Vec::new();
        let records = &self.units[unit as usize];
        self.for_each_group(records, |group, own| {
            after.push((self.group_of[own[0] as usize], self.rest(group, own)));
        });
        for (at, group) in after {
            self.groups[at as usize] = group;
        }
    }
}
