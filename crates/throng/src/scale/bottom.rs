//! A sample of distinct rows that does not depend on how a table was cut: those whose hashes are smallest.
//!
//! Every row has a hash of its cells; of all different hashes the `most` smallest are kept, with how often each occurs (a
//! bottom-k sketch: Cohen and Kaplan 2007). A hash that is among the smallest of the whole table is among the smallest of every
//! part that has it, so no part ever forgets it, and its counts add up exactly: states merge in any order to the same.
//! Where there are no more different rows than `most`, it is all of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Different rows, or cells of a column, with the smallest hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bottom {
    most: usize,
    entries: BTreeMap<u64, Entry>,
    /// Whether some were left out.
    sampled: bool,
}

/// A row and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its cells.
    pub cells: Cells,
    /// How often.
    pub count: u64,
}

/// The cells of a row, side by side: there are many rows, and a text of its own for every cell takes three times as much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cells {
    text: Box<str>,
    /// Where each ends.
    ends: Box<[u32]>,
}

impl Cells {
    /// The text of a cell; that of none is empty.
    pub fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(at)).map(|(start, end)| start as usize..*end as usize);
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }
}

impl<'a> FromIterator<&'a str> for Cells {
    fn from_iter<I: IntoIterator<Item = &'a str>>(cells: I) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for cell in cells {
            text.push_str(cell);
            ends.push(text.len() as u32);
        }
        Cells { text: text.into(), ends: ends.into() }
    }
}

impl Bottom {
    /// Keeps so many.
    pub fn new(most: usize) -> Self {
        Bottom { most: most.max(1), entries: BTreeMap::new(), sampled: false }
    }

    /// Whether a row with this hash would be kept.
    #[inline]
    pub fn wants(&self, hash: u64) -> bool {
        self.entries.len() < self.most || self.entries.last_key_value().is_some_and(|(last, _)| hash <= *last)
    }

    /// The largest hash that would be kept.
    pub fn threshold(&self) -> u64 {
        match self.entries.len() < self.most {
            true => u64::MAX,
            false => self.entries.last_key_value().map_or(u64::MAX, |(last, _)| *last),
        }
    }

    /// Says that rows with larger hashes than the threshold were met.
    pub fn leave_out(&mut self) {
        self.sampled = true;
    }

    /// Takes a row that occurs so many times more.
    pub fn add(&mut self, hash: u64, count: u64, cells: impl FnOnce() -> Cells) {
        if !self.wants(hash) {
            self.sampled = true;
            return;
        }
        let entry = self.entries.entry(hash).or_insert_with(|| Entry { cells: cells(), count: 0 });
        entry.count += count;
        if self.entries.len() > self.most {
            self.entries.pop_last();
            self.sampled = true;
        }
    }

    /// Takes what another has kept.
    pub fn merge(&mut self, other: &Bottom) {
        self.sampled |= other.sampled;
        for (hash, entry) in &other.entries {
            self.add(*hash, entry.count, || entry.cells.clone());
        }
    }

    /// The rows by their hashes.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.values()
    }

    /// Whether all different rows were kept.
    pub fn is_exact(&self) -> bool {
        !self.sampled
    }

    /// Number of different rows; an estimate where not all were kept.
    pub fn distinct(&self) -> f64 {
        match (self.sampled, self.entries.last_key_value()) {
            (true, Some((last, _))) if *last > 0 => {
                (self.entries.len() as f64 - 1.0) / (*last as f64 / u64::MAX as f64)
            }
            _ => self.entries.len() as f64,
        }
    }

    /// Number of rows that no other is equal to; an estimate where not all were kept.
    pub fn unique(&self) -> f64 {
        let alone = self.entries.values().filter(|entry| entry.count == 1).count() as f64;
        alone * self.distinct() / self.entries.len().max(1) as f64
    }
}
