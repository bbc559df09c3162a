//! The risk of people who have several records.
//!
//! Whoever finds one record of a person has found the person, so a person's chance to be found is that of the record that is
//! easiest to find: the one in the class with the fewest people.

use serde::{Deserialize, Serialize};

use super::{Class, Grouped};
use crate::data::People;

/// People and the risk of each. Field names are keys of the JSON output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeopleRisk {
    /// People with records in the table.
    pub people: u64,
    /// Records of a person on average.
    pub average_records: f64,
    /// The most records that a person has.
    pub most_records: u64,
    /// People with more than one record.
    pub with_several: u64,
    /// People with a record whose quasi-identifiers nobody else has.
    pub unique_people: u64,
    /// Their share of all people.
    pub unique_share: f64,
}

/// Counts people.
pub(super) fn measure(people: &People, grouped: &Grouped) -> PeopleRisk {
    let records: Vec<u32> = people.records_of_each().into_iter().filter(|records| *records > 0).collect();
    let fewest = smallest(people, grouped, |class| class.sample as f64);
    let unique = fewest.iter().filter(|people| **people == 1.0).count() as u64;
    PeopleRisk {
        people: records.len() as u64,
        average_records: people.of_records().len() as f64 / records.len().max(1) as f64,
        most_records: records.iter().copied().max().unwrap_or(0).into(),
        with_several: records.iter().filter(|records| **records > 1).count() as u64,
        unique_people: unique,
        unique_share: unique as f64 / records.len().max(1) as f64,
    }
}

/// The smallest class that each person has a record in.
pub(super) fn smallest(people: &People, grouped: &Grouped, size: impl Fn(&Class) -> f64) -> Vec<f64> {
    let mut smallest = vec![f64::INFINITY; people.most()];
    for (record, class) in (0..).zip(&grouped.of_record) {
        let own = &mut smallest[people.of(record) as usize];
        *own = own.min(size(&grouped.classes[*class as usize]));
    }
    smallest.retain(|size| size.is_finite());
    smallest
}
