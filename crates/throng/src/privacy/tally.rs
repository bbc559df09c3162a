//! Running counts of a set of records.

use std::sync::Arc;

use crate::problem::{Counted, Problem};

/// How many records a set has, and how often each sensitive value occurs in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    size: u64,
    histograms: Vec<Histogram>,
    /// The k that each record of the problem asks for itself, where the policy lets them.
    demands: Option<Arc<[u32]>>,
    /// The largest of those that were taken in. Taking a record out again does not lower it: that errs on the safe side.
    demand: u32,
}

/// How often each value occurs. Costs follow the number of values that occur, not the size of the domain.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    present: Vec<u32>,
    /// Where each value stands in `present`.
    place: Vec<u32>,
}

impl Histogram {
    /// An empty histogram over so many values.
    pub fn new(values: usize) -> Self {
        Histogram { counts: vec![0; values], present: Vec::new(), place: vec![0; values] }
    }

    /// One more of a value.
    #[inline]
    pub fn add(&mut self, value: u32) {
        self.add_many(value, 1);
    }

    pub(super) fn add_many(&mut self, value: u32, many: u32) {
        let count = &mut self.counts[value as usize];
        if *count == 0 && many > 0 {
            self.place[value as usize] = self.present.len() as u32;
            self.present.push(value);
        }
        *count += many;
    }

    /// One less of a value that is there.
    pub fn remove(&mut self, value: u32) {
        let count = &mut self.counts[value as usize];
        *count -= 1;
        if *count == 0 {
            let at = self.place[value as usize];
            self.present.swap_remove(at as usize);
            if let Some(&moved) = self.present.get(at as usize) {
                self.place[moved as usize] = at;
            }
        }
    }

    /// How often a value occurs.
    pub fn count(&self, value: u32) -> u32 {
        self.counts[value as usize]
    }

    /// Number of values of the domain.
    pub fn domain(&self) -> usize {
        self.counts.len()
    }

    /// The values that occur with their counts, in no particular order.
    pub fn present(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + Clone + '_ {
        self.present.iter().map(|&value| (value, self.counts[value as usize]))
    }

    /// Number of records counted.
    pub fn total(&self) -> u64 {
        self.present().map(|(_, count)| u64::from(count)).sum()
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        for value in self.present.drain(..) {
            self.counts[value as usize] = 0;
        }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts
    }
}

impl Tally {
    /// An empty tally over sensitive domains of the given sizes.
    pub fn new(domains: &[usize]) -> Self {
        let histograms = domains.iter().map(|values| Histogram::new(*values)).collect();
        Tally { size: 0, histograms, demands: None, demand: 0 }
    }

    /// An empty tally for a problem.
    pub fn for_problem(problem: &Problem) -> Self {
        Self::for_counted(&problem.sensitive, problem.demands.as_ref())
    }

    /// An empty tally over sensitive columns, of records that may ask for a k of their own.
    pub(super) fn for_counted(sensitive: &[Counted], demands: Option<&Arc<[u32]>>) -> Self {
        let domains: Vec<usize> = sensitive.iter().map(|attribute| attribute.domain.len()).collect();
        Tally { demands: demands.cloned(), ..Self::new(&domains) }
    }

    /// The tally of all records of a problem.
    pub fn of_all(problem: &Problem) -> Self {
        let mut tally = Self::for_problem(problem);
        for record in 0..problem.len() as u32 {
            tally.add_record(&problem.sensitive, record);
        }
        tally
    }

    /// Number of records.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The largest k that one of the records asks for itself; 0 if none does.
    pub fn demand(&self) -> u32 {
        self.demand
    }

    /// The counts of a sensitive attribute.
    pub fn histogram(&self, attribute: usize) -> &Histogram {
        &self.histograms[attribute]
    }

    /// Takes a record with these sensitive values in.
    pub fn add(&mut self, values: &[u32]) {
        self.size += 1;
        for (histogram, &value) in self.histograms.iter_mut().zip(values) {
            histogram.add(value);
        }
    }

    /// Takes a record of a problem in.
    #[inline]
    pub fn add_record(&mut self, sensitive: &[Counted], record: u32) {
        self.size += 1;
        if let Some(demands) = &self.demands {
            self.demand = self.demand.max(demands[record as usize]);
        }
        for (histogram, attribute) in self.histograms.iter_mut().zip(sensitive) {
            histogram.add(attribute.codes[record as usize]);
        }
    }

    /// Takes a record that is in out again.
    pub fn remove(&mut self, values: &[u32]) {
        self.size -= 1;
        for (histogram, &value) in self.histograms.iter_mut().zip(values) {
            histogram.remove(value);
        }
    }

    /// Takes a record of a problem that is in out again.
    #[inline]
    pub fn remove_record(&mut self, sensitive: &[Counted], record: u32) {
        self.size -= 1;
        for (histogram, attribute) in self.histograms.iter_mut().zip(sensitive) {
            histogram.remove(attribute.codes[record as usize]);
        }
    }

    /// Takes all records of another tally in.
    pub fn merge(&mut self, other: &Tally) {
        self.size += other.size;
        self.demand = self.demand.max(other.demand);
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
        self.histograms.iter_mut().for_each(Histogram::clear);
    }
}
