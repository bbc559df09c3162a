//! The data of a problem: quasi-identifiers as one matrix of codes, the columns that are protected or predicted, and what
//! randomness comes from. It knows of no requirement; [`crate::problem::Problem`] is data with one.

mod cache;
mod joined;
mod matrix;
mod people;

use std::sync::Arc;

pub(crate) use cache::Cache;
pub(crate) use joined::column_codes;
pub use joined::{Column, Joined};
pub use matrix::{Code, LANES, Lanes, Matrix, Records};
pub use people::People;

use crate::parallel;
use crate::secret::Secret;
use crate::table::Domain;
use crate::with_matrix;

/// Fewer records than this are counted by one thread.
const COUNTED_TOGETHER: usize = 1 << 16;

/// How often each code of each attribute occurs.
struct CodeCounts(Vec<Vec<u64>>);

/// A quasi-identifier.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its column in the table.
    pub column: usize,
    /// Its weight.
    pub weight: f64,
    /// Its values.
    pub domain: Domain,
    /// Whether the policy gives it a hierarchy.
    pub has_hierarchy: bool,
    /// Its place among the attributes of the policy.
    pub place: usize,
}

/// A column that is published as it is, for whose values classes are looked at: a sensitive attribute, or a label to
/// predict.
#[derive(Clone, Debug)]
pub struct Protected {
    /// Its name.
    pub name: String,
    /// Its column in the table.
    pub column: usize,
    /// Its values.
    pub domain: Domain,
    /// Whether the policy gives it a hierarchy.
    pub has_hierarchy: bool,
    /// The code of each record.
    pub codes: Vec<u32>,
    /// Whose record each is, where people are counted.
    pub people: Option<People>,
    /// How often each value occurs in the whole table, where the records are a part of it.
    pub whole: Option<Arc<[u64]>>,
}

impl Protected {
    /// The share of each value among all records; where people are counted, each different value of a person counts once.
    pub fn shares(&self) -> Vec<f64> {
        let mut counts = vec![0u64; self.domain.len()];
        match (&self.people, &self.whole) {
            (None, Some(whole)) => counts.copy_from_slice(whole),
            (None, None) => self.codes.iter().for_each(|code| counts[*code as usize] += 1),
            (Some(people), _) => {
                let mut pairs: Vec<(u32, u32)> =
                    people.of_records().iter().copied().zip(self.codes.iter().copied()).collect();
                pairs.sort_unstable();
                pairs.dedup();
                pairs.iter().for_each(|(_, code)| counts[*code as usize] += 1);
            }
        }
        let total = counts.iter().sum::<u64>().max(1) as f64;
        counts.into_iter().map(|count| count as f64 / total).collect()
    }

    fn without_codes(&self) -> Self {
        Protected {
            name: self.name.clone(),
            column: self.column,
            domain: self.domain.clone(),
            has_hierarchy: self.has_hierarchy,
            codes: Vec::new(),
            people: None,
            whole: self.whole.clone(),
        }
    }
}

/// Records and their attributes, in codes.
#[derive(Clone, Debug)]
pub struct Data {
    /// Quasi-identifiers that are generalized.
    pub attributes: Vec<Attribute>,
    /// Their codes.
    pub records: Records,
    /// Sensitive attributes.
    pub sensitive: Vec<Protected>,
    /// What recipients want to predict: attributes of the role `class`. Not to be taken for the equivalence classes of a release.
    pub labels: Vec<Protected>,
    /// Whose record each is, where requirements count people.
    pub people: Option<People>,
    /// Whether what does not change within a person is generalized alike in all their records.
    pub together: bool,
    /// The column in whose place the number of each person is published, if it is.
    pub number_column: Option<String>,
    /// How many records the class of each record must have, where the policy asks that of single records.
    pub demands: Option<Arc<[u32]>>,
    /// The same by the key that asks for it; [`Self::demands`] are the largest of them.
    pub(crate) demands_by_key: DemandsByKey,
    /// The seed of all randomness that may be repeated by anyone.
    pub seed: u64,
    /// The source of lots that nobody may guess; fresh unless somebody brings one.
    pub secret: Secret,
    /// The table's row of each record; `None` when they are the same.
    pub(crate) rows: Option<Vec<u32>>,
    /// Rows left out because they are incomplete.
    pub dropped: usize,
    /// What others found from it.
    pub(crate) cache: Cache,
    /// The table that the records are a part of, where they are not all of it.
    pub(crate) whole: Option<Arc<Whole>>,
}

/// What is known of a table of which only a part is at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Number of records.
    pub records: usize,
    /// Number of those that are solved in the same round as the part at hand.
    pub round: usize,
    /// For each quasi-identifier how often each code occurs.
    pub counts: Vec<Vec<u64>>,
}

/// What single records demand, by the key that asks for it.
pub(crate) type DemandsByKey = Vec<(&'static str, Arc<[u32]>)>;

impl Data {
    /// How many records the class of each record must have, as far as one key of the policy asks.
    pub fn demands_of(&self, key: &str) -> Option<&[u32]> {
        self.demands_by_key.iter().find(|(own, _)| *own == key).map(|(_, demands)| &demands[..])
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Number of records of the whole table, where the records are a part of it.
    pub fn whole_len(&self) -> usize {
        self.whole.as_ref().map_or(self.len(), |whole| whole.records)
    }

    /// Number of records that share the effort of a run: all of them, or those of a round of parts.
    pub fn round_len(&self) -> usize {
        self.whole.as_ref().map_or(self.len(), |whole| whole.round)
    }

    /// How often each code of a quasi-identifier occurs in the whole table.
    pub fn code_counts(&self, attribute: usize) -> Vec<u64> {
        if let Some(whole) = &self.whole {
            return whole.counts[attribute].clone();
        }
        match self.cache.get("counts of codes", || Ok(CodeCounts(self.count_codes()))) {
            Ok(all) => all.0[attribute].clone(),
            Err(_) => self.count_codes().swap_remove(attribute),
        }
    }

    /// The counts of all attributes in one look at the records, which are too many for several.
    fn count_codes(&self) -> Vec<Vec<u64>> {
        let none = || -> Vec<Vec<u64>> {
            self.attributes.iter().map(|attribute| vec![0; attribute.domain.len()]).collect()
        };
        // Each part has counts of its own: no more of them than threads.
        let together = self.len().div_ceil(rayon::current_num_threads()).max(COUNTED_TOGETHER);
        let parts = parallel::map((0..self.len()).step_by(together), |first| {
            let mut counts = none();
            with_matrix!(&self.records, matrix => {
                for record in first..self.len().min(first + together) {
                    for attribute in 0..counts.len() {
                        counts[attribute][matrix.get(record, attribute).index()] += 1;
                    }
                }
            });
            counts
        });
        let mut whole = none();
        for part in &parts {
            for (whole, part) in whole.iter_mut().zip(part) {
                whole.iter_mut().zip(part).for_each(|(whole, part)| *whole += part);
            }
        }
        whole
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the records only; domains stay as they are.
    pub fn of_records(&self, records: &[u32]) -> Self {
        let people = self.people.as_ref().map(|people| people.of_some(records));
        let codes = |counted: &Protected| Protected {
            codes: records.iter().map(|record| counted.codes[*record as usize]).collect(),
            people: people.clone(),
            ..counted.without_codes()
        };
        Data {
            attributes: self.attributes.clone(),
            records: with_matrix!(&self.records, matrix => matrix.gather(records).into()),
            sensitive: self.sensitive.iter().map(codes).collect(),
            labels: self.labels.iter().map(codes).collect(),
            people: people.clone(),
            together: self.together,
            number_column: self.number_column.clone(),
            demands: self.demands.as_ref().map(|demands| of_each(demands, records)),
            demands_by_key: self
                .demands_by_key
                .iter()
                .map(|(key, demands)| (*key, of_each(demands, records)))
                .collect(),
            seed: self.seed,
            secret: self.secret.clone(),
            rows: Some(records.iter().map(|record| self.row(*record) as u32).collect()),
            dropped: self.dropped,
            cache: Cache::default(),
            whole: self.whole.clone(),
        }
    }

    /// How many people some records are of, or how many records there are where each is for itself.
    pub fn people_among(&self, records: &[u32]) -> usize {
        let Some(people) = &self.people else { return records.len() };
        let mut own: Vec<u32> = records.iter().map(|record| people.of(*record)).collect();
        own.sort_unstable();
        own.dedup();
        own.len()
    }

    /// The table's row of a record.
    #[inline]
    pub fn row(&self, record: u32) -> usize {
        self.rows.as_ref().map_or(record, |rows| rows[record as usize]) as usize
    }

    /// Σ of the weights.
    pub fn total_weight(&self) -> f64 {
        self.attributes.iter().map(|attribute| attribute.weight).sum()
    }
}

/// What each of some records demands.
fn of_each(demands: &[u32], records: &[u32]) -> Arc<[u32]> {
    records.iter().map(|record| demands[*record as usize]).collect()
}
