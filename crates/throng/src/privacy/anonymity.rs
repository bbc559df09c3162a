//! k-anonymity: everyone looks like at least k − 1 others.

use std::sync::Arc;

use super::{Achieved, Figure, Kind, Model, Part, QuasiIdentifier, QuasiIdentifiers, Spec, Tally};
use crate::data::Data;
use crate::error::{Error, ErrorCode, Result};
use crate::published::{Published, Whose};

/// The key `k`.
pub const KIND: Kind = Kind {
    key: "k",
    keys: &["k"],
    read: |keys| Ok(keys.positive("k")?.map(|k| Arc::new(KAnonymity { k }) as Arc<dyn Spec>)),
    unasked: |privacy, published| privacy.get::<QuasiIdentifiers>().is_none().then(|| reached(published)),
};

fn reached(published: &Published<'_>) -> Achieved {
    let smallest = published.sizes().min().unwrap_or(0) as u64;
    let whom = published.counted();
    let meaning = format!("the fewest {whom} that share all published quasi-identifiers");
    Achieved::at_least("k", "k-anonymity", meaning).reached(Figure::Count(smallest))
}

/// Every class has at least k records.
#[derive(Clone, Copy, Debug)]
pub struct KAnonymity {
    /// At least this many.
    pub k: usize,
}

impl Model for KAnonymity {
    fn describe(&self) -> String {
        format!("{}-anonymity", self.k)
    }

    fn part(&self) -> Part {
        Part::K
    }

    fn monotone(&self) -> bool {
        true
    }

    fn smallest_class(&self) -> usize {
        self.k
    }

    fn holds(&self, tally: &Tally) -> bool {
        tally.people() >= self.k as u64
    }

    fn explain(&self, whole: &Tally, _: &Data) -> Error {
        let (count, what) = (whole.people(), if whole.counts_people() { "people" } else { "records" });
        let message = format!("k = {} cannot be met: the table has only {count} {what}", self.k);
        Error::new(ErrorCode::KExceedsTable, message)
            .with_hint(format!("the largest possible k is {count}"))
            .reaching("k", count)
    }
}

impl Spec for KAnonymity {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn part(&self) -> Part {
        Part::K
    }

    fn keys(&self) -> toml::Table {
        toml::Table::from_iter([("k".to_owned(), toml::Value::from(self.k as i64))])
    }

    fn linkable(&self) -> Vec<QuasiIdentifier> {
        vec![QuasiIdentifier::of_all(self.k)]
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let achieved = reached(published);
        let smallest = published.sizes().min().unwrap_or(0);
        let violation = (smallest < self.k).then(|| {
            let (k, counted) = (self.k, published.counted());
            match published.whose {
                Some(Whose::AtLeast(_)) => {
                    format!("k = {k} is required, no more than {smallest} {counted} are shown to be in every class")
                }
                _ => format!("k = {k} is required, the smallest class has {smallest} {counted}"),
            }
        });
        Ok(vec![achieved.asked(Figure::Count(self.k as u64), violation.into_iter().collect())])
    }
}
