//! Running counts of a set of records.

use std::sync::Arc;

use super::members::Members;
use crate::data::{Data, People, Protected};
use crate::histogram::Histogram;

/// How many records a set has, and how often each sensitive value occurs in it. Where people are counted, each counts
/// once, and once for every different value they have in the set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    size: u64,
    histograms: Vec<Histogram>,
    /// Whose the records are, where people are counted.
    members: Option<Members>,
    /// The k that each record of the problem asks for itself, where the policy lets them.
    demands: Option<Arc<[u32]>>,
    /// The largest of those that were taken in. Taking a record out again does not lower it: that errs on the safe side.
    demand: u32,
}

impl Tally {
    /// An empty tally over sensitive domains of the given sizes.
    pub fn new(domains: &[usize]) -> Self {
        let histograms = domains.iter().map(|values| Histogram::new(*values)).collect();
        Tally { size: 0, histograms, members: None, demands: None, demand: 0 }
    }

    /// An empty tally for a problem.
    pub fn for_problem(data: &Data) -> Self {
        Self::for_counted(&data.sensitive, data.demands.as_ref(), data.people.as_ref())
    }

    /// An empty tally over sensitive columns, of records that may ask for a k of their own and belong to people.
    pub(super) fn for_counted(
        sensitive: &[Protected],
        demands: Option<&Arc<[u32]>>,
        people: Option<&People>,
    ) -> Self {
        let domains: Vec<usize> = sensitive.iter().map(|attribute| attribute.domain.len()).collect();
        let members = people.map(|people| Members::new(people, domains.len()));
        let mut tally = Tally { demands: demands.cloned(), members, ..Self::new(&domains) };
        if people.is_some() {
            tally.histograms.iter_mut().for_each(|histogram| histogram.set_people(0));
        }
        tally
    }

    /// The tally of all records of a problem.
    pub fn of_all(data: &Data) -> Self {
        let mut tally = Self::for_problem(data);
        for record in 0..data.len() as u32 {
            tally.add_record(&data.sensitive, record);
        }
        tally
    }

    /// The tally of the table that some data is a part of; each record is for itself then.
    pub fn of_whole(data: &Data) -> Self {
        let Some(whole) = &data.whole else { return Self::of_all(data) };
        let counts = data.sensitive.iter().map(|own| own.whole.as_deref().unwrap_or_default());
        Self::of_counts(data, whole.records as u64, counts)
    }

    /// The tally of so many records, given how often each value of each sensitive attribute occurs among them.
    pub fn of_counts<'c>(data: &Data, records: u64, counts: impl Iterator<Item = &'c [u64]>) -> Self {
        let mut tally = Self::for_problem(data);
        tally.size = records;
        for (histogram, counts) in tally.histograms.iter_mut().zip(counts) {
            let occurring = (0..).zip(counts).filter(|(_, count)| **count > 0);
            occurring.for_each(|(value, count)| histogram.add_many(value, *count as u32));
        }
        tally
    }

    /// Number of records.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Number of people, or of records where each is for itself.
    pub fn people(&self) -> u64 {
        self.members.as_ref().map_or(self.size, Members::count)
    }

    /// Whether people are counted, who may have several records each.
    pub fn counts_people(&self) -> bool {
        self.members.is_some()
    }

    /// The largest k that one of the records asks for itself; 0 if none does.
    pub fn demand(&self) -> u32 {
        self.demand
    }

    /// The counts of a sensitive attribute.
    pub fn histogram(&self, attribute: usize) -> &Histogram {
        &self.histograms[attribute]
    }

    /// Takes a record with these sensitive values in, where each is for itself.
    pub fn add(&mut self, values: &[u32]) {
        self.size += 1;
        for (histogram, &value) in self.histograms.iter_mut().zip(values) {
            histogram.add(value);
        }
    }

    /// Takes a record of a problem in.
    #[inline]
    pub fn add_record(&mut self, sensitive: &[Protected], record: u32) {
        self.size += 1;
        if let Some(demands) = &self.demands {
            self.demand = self.demand.max(demands[record as usize]);
        }
        if let Some(members) = &mut self.members {
            return members.add(record, sensitive, &mut self.histograms);
        }
        for at in 0..self.histograms.len().min(sensitive.len()) {
            self.histograms[at].add(sensitive[at].codes[record as usize]);
        }
    }

    /// Takes a record that is in out again, where each is for itself.
    pub fn remove(&mut self, values: &[u32]) {
        self.size -= 1;
        for (histogram, &value) in self.histograms.iter_mut().zip(values) {
            histogram.remove(value);
        }
    }

    /// Takes a record of a problem that is in out again.
    #[inline]
    pub fn remove_record(&mut self, sensitive: &[Protected], record: u32) {
        self.size -= 1;
        if let Some(members) = &mut self.members {
            return members.remove(record, sensitive, &mut self.histograms);
        }
        for at in 0..self.histograms.len().min(sensitive.len()) {
            self.histograms[at].remove(sensitive[at].codes[record as usize]);
        }
    }

    /// Takes all records of another tally in.
    pub fn merge(&mut self, other: &Tally) {
        self.size += other.size;
        self.demand = self.demand.max(other.demand);
        if let (Some(members), Some(others)) = (&mut self.members, &other.members) {
            return members.merge(others, &mut self.histograms);
        }
        for (histogram, other) in self.histograms.iter_mut().zip(&other.histograms) {
            for (value, count) in other.present() {
                histogram.add_many(value, count);
            }
        }
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.size = 0;
        self.demand = 0;
        if let Some(members) = &mut self.members {
            members.clear();
        }
        self.histograms.iter_mut().for_each(Histogram::clear);
    }
}
