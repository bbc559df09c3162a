//! A utility target on what a release is good for: the largest k is looked for at which COUNT queries are off by no more
//! on average (Xu et al. 2006).
//!
//! The queries are drawn over all quasi-identifiers from a seed of their own, so that every release of a table faces the
//! same ones. Other records that are masked in the same way are not held to it.

use std::sync::Arc;

use super::{Achieved, Figure, Kind, Part, Spec, spec};
use crate::error::Result;
use crate::published::Published;
use crate::workload::{self, Spread};

/// The key `max_query_error`.
pub const KIND: Kind = Kind {
    key: "max_query_error",
    keys: &["max_query_error"],
    read: |keys| {
        Ok(keys.above_zero("max_query_error")?.map(|most| Arc::new(MaxQueryError { most }) as Arc<dyn Spec>))
    },
    unasked: spec::nothing,
};

/// How far COUNT queries on a release may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxQueryError {
    /// The mean of |estimate − exact| / exact over the queries that match a record.
    pub most: f64,
}

impl Spec for MaxQueryError {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn part(&self) -> Part {
        Part::K
    }

    fn keys(&self) -> toml::Table {
        toml::Table::from_iter([(KIND.key.to_owned(), toml::Value::Float(self.most))])
    }

    fn binds_other_records(&self) -> bool {
        false
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let most = self.most;
        let spread = Spread::of_cells(published.data, published.cells, published.rows());
        let meaning = "how far COUNT queries on the release are off, on average";
        let achieved = Achieved::at_most(KIND.key, "query error", meaning);
        Ok(vec![match workload::mean_count_error(published.data, &spread) {
            Some(error) => achieved.reached(Figure::Number(error)).limited(most, |error| {
                format!("max_query_error = {most} is required, queries are off by {error:.4}")
            }),
            None => achieved.asked(
                Figure::Number(most),
                vec![format!(
                    "max_query_error = {most} is required, but no query that was drawn matches a record"
                )],
            ),
        }])
    }
}
