//! Workloads: COUNT and SUM queries on a table, and how far a release lets somebody estimate their answers.
//!
//! Xu et al. 2006, section 5, after LeFevre et al. 2006; see [`crate::evaluate::queries`] for how records are taken to lie
//! in cells. The policy's `max_query_error` is measured here too, always over the same queries of a table.
//!
//! Cost: O(queries × (records + classes × attributes)), queries in parallel.

pub mod answer;
pub mod draw;

use serde::Serialize;

pub use self::answer::{Answerer, Spread};
use crate::condition::Condition;
use crate::data::Data;

/// Queries that are drawn for `max_query_error`, and their seed.
pub const COUNT_QUERIES: usize = 1000;
/// The seed of those queries.
pub const COUNT_SEED: u64 = 1;

/// A query: which records, and what of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Its name, or what it asks in words.
    pub name: String,
    /// The attribute to sum; `None` counts records.
    pub sum: Option<usize>,
    /// What each attribute must be; `None` if it may be anything.
    pub conditions: Vec<Option<Condition>>,
}

/// A query with its answers.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    /// Its name.
    pub name: String,
    /// From the table.
    pub exact: f64,
    /// From the release.
    pub estimate: f64,
    /// How far off; `None` if the exact answer is 0.
    pub error: Option<f64>,
}

/// How far a workload is off.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Errors {
    /// Queries with an error.
    pub answered: usize,
    /// Queries whose exact answer is 0.
    pub dropped: usize,
    /// The mean error; `None` without any.
    pub mean: Option<f64>,
    /// The median error.
    pub median: Option<f64>,
    /// Nine of ten queries are off by no more.
    pub ninth_decile: Option<f64>,
}

impl Errors {
    /// Of some queries.
    pub fn of(answered: &[Answered]) -> Self {
        let errors = sorted_errors(answered);
        let mean = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
        Errors {
            answered: errors.len(),
            dropped: answered.len() - errors.len(),
            mean,
            median: quantile(&errors, 0.5),
            ninth_decile: quantile(&errors, 0.9),
        }
    }
}

pub(crate) fn sorted_errors(answered: &[Answered]) -> Vec<f64> {
    let mut errors: Vec<f64> = answered.iter().filter_map(|query| query.error).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

/// The value below which a share of sorted values lies; the mean of the two in the middle for a half of an even number.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

/// The mean error of COUNT queries over all quasi-identifiers; `None` if none of them matches a record.
pub fn mean_error(data: &Data, spread: &Spread, count: usize, seed: u64) -> Option<f64> {
    let all: Vec<usize> = (0..data.attributes.len()).collect();
    let queries = draw::draw(data, &all, None, count, seed);
    Errors::of(&Answerer::new(data).answer(&queries, spread)).mean
}

/// The error that `max_query_error` limits.
pub fn mean_count_error(data: &Data, spread: &Spread) -> Option<f64> {
    mean_error(data, spread, COUNT_QUERIES, COUNT_SEED)
}
