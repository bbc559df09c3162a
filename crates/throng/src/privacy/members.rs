//! Whose records a set holds: people are counted once, however many records they have.
//!
//! Of each sensitive attribute a person counts once for every different value that they have in the set. So a value's
//! count is the number of people of the set who have it there, and counts may add up to more than there are people.

use crate::collections::Map;
use crate::data::{People, Protected};
use crate::histogram::Histogram;

/// Running counts of the people of a set of records.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Members {
    people: People,
    /// How many records of the set each person has.
    records: Map<u32, u32>,
    /// For each sensitive attribute, in how many records of the set a person has a value.
    held: Vec<Map<(u32, u32), u32>>,
}

impl Members {
    /// Nobody yet, of people who have values in so many sensitive attributes.
    pub fn new(people: &People, attributes: usize) -> Self {
        Members { people: people.clone(), records: Map::default(), held: vec![Map::default(); attributes] }
    }

    /// How many people have records in the set.
    pub fn count(&self) -> u64 {
        self.records.len() as u64
    }

    /// Takes a record in.
    pub fn add(&mut self, record: u32, sensitive: &[Protected], histograms: &mut [Histogram]) {
        let person = self.people.of(record);
        *self.records.entry(person).or_insert(0) += 1;
        for ((held, histogram), attribute) in self.held.iter_mut().zip(histograms).zip(sensitive) {
            let value = attribute.codes[record as usize];
            take_in(held, histogram, (person, value), 1);
            histogram.set_people(self.records.len() as u64);
        }
    }

    /// Takes a record that is in out again.
    pub fn remove(&mut self, record: u32, sensitive: &[Protected], histograms: &mut [Histogram]) {
        let person = self.people.of(record);
        take_out(&mut self.records, person);
        for ((held, histogram), attribute) in self.held.iter_mut().zip(histograms).zip(sensitive) {
            let value = attribute.codes[record as usize];
            if take_out(held, (person, value)) {
                histogram.remove(value);
            }
            histogram.set_people(self.records.len() as u64);
        }
    }

    /// Takes all records of another set in, none of which is in.
    pub fn merge(&mut self, other: &Members, histograms: &mut [Histogram]) {
        for (person, records) in sorted(&other.records) {
            *self.records.entry(person).or_insert(0) += records;
        }
        for ((held, other), histogram) in self.held.iter_mut().zip(&other.held).zip(histograms) {
            for (pair, records) in sorted(other) {
                take_in(held, histogram, pair, records);
            }
            histogram.set_people(self.records.len() as u64);
        }
    }

    /// Forgets everybody, keeping its memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.held.iter_mut().for_each(Map::clear);
    }
}

/// Counts records of a person that have a value; the first of them adds to the value's count.
fn take_in(held: &mut Map<(u32, u32), u32>, histogram: &mut Histogram, pair: (u32, u32), records: u32) {
    let count = held.entry(pair).or_insert(0);
    if *count == 0 {
        histogram.add(pair.1);
    }
    *count += records;
}

/// Takes one away; tells whether it was the last.
fn take_out<K: Copy + Eq + std::hash::Hash>(counts: &mut Map<K, u32>, key: K) -> bool {
    match counts.get_mut(&key) {
        Some(count) if *count > 1 => {
            *count -= 1;
            false
        }
        Some(_) => counts.remove(&key).is_some(),
        None => false,
    }
}

/// In an order that does not depend on how a map was filled.
fn sorted<K: Copy + Ord>(counts: &Map<K, u32>) -> Vec<(K, u32)> {
    let mut all: Vec<(K, u32)> = counts.iter().map(|(key, count)| (*key, *count)).collect();
    all.sort_unstable();
    all
}
