//! What is known of a column from some of its rows: a partial result that merges.
//!
//! A domain is made of the distinct values of a column. Whoever cannot hold a table at once collects a sketch of each part
//! and merges them; the outcome is that of the whole table, however it was cut and in whichever order the parts come.

use std::collections::BTreeMap;

use super::domain::{Encoding, Misfit};
use super::{Table, encode_texts};
use crate::schema::AttributePolicy;

/// The distinct values of a column and how often each occurs.
///
/// ```
/// use throng::table::Sketch;
/// let (mut one, mut other) = (Sketch::default(), Sketch::default());
/// one.add("Rome", 2);
/// other.add("Oslo", 1);
/// other.add("Rome", 1);
/// one.merge(&other);
/// assert_eq!(one.values().collect::<Vec<_>>(), [("Oslo", 1), ("Rome", 3)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Sketch {
    counts: BTreeMap<String, u64>,
}

impl Sketch {
    /// Counts a value so many times more.
    pub fn add(&mut self, text: &str, count: u64) {
        match self.counts.get_mut(text) {
            Some(known) => *known += count,
            None => {
                self.counts.insert(text.to_owned(), count);
            }
        }
    }

    /// Counts what another sketch has counted.
    pub fn merge(&mut self, other: &Sketch) {
        other.values().for_each(|(text, count)| self.add(text, count));
    }

    /// The values by their text, with their counts.
    pub fn values(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.counts.iter().map(|(text, count)| (text.as_str(), *count))
    }

    /// Number of distinct values.
    pub fn distinct(&self) -> usize {
        self.counts.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The domain of the values, and the code of each in the order of [`Sketch::values`].
    pub fn encode(&self, missing: &[String], policy: Option<&AttributePolicy>) -> Result<Encoding, Misfit> {
        let texts: Vec<&str> = self.counts.keys().map(String::as_str).collect();
        encode_texts(&texts, missing, policy)
    }
}

impl Table {
    /// The sketch of a coded column; empty for others.
    pub fn sketch(&self, column: usize) -> Sketch {
        let values = self.values(column);
        let mut counts = vec![0u64; values.len()];
        self.numbers(column).iter().for_each(|number| counts[*number as usize] += 1);
        Sketch { counts: values.into_iter().map(str::to_owned).zip(counts).collect() }
    }
}
