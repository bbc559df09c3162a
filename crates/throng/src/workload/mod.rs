//! Workloads: COUNT, SUM and AVG queries on a table, and how far a release lets somebody estimate their answers.
//!
//! Xu et al. 2006, section 5, after LeFevre et al. 2006; see [`crate::evaluate::queries`] for how records are taken to lie
//! in cells. The policy's `max_query_error` is measured here too, always over the same queries of a table.
//!
//! Queries may ask about everything that is published: quasi-identifiers, and the columns beside them ([`further`]).
//!
//! Cost: O(queries × (records + classes × attributes)), queries in parallel.

pub mod answer;
pub mod draw;
pub mod further;
pub mod written;

use serde::Serialize;

pub use self::answer::{Answerer, Spread};
pub use self::further::{Column, Told};
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
    /// What is asked of the records.
    pub aggregate: Aggregate,
    /// What each quasi-identifier must be; `None` if it may be anything.
    pub conditions: Vec<Option<Condition>>,
    /// What further columns must be, each at most once.
    pub further: Vec<(usize, Condition)>,
}

/// What is asked of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// How many there are.
    Count,
    /// The sum of a column's numbers; a missing one adds nothing.
    Sum(Place),
    /// Their mean, over the records that have one.
    Average(Place),
}

/// Which column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A quasi-identifier.
    Quasi(usize),
    /// One of the further columns.
    Further(usize),
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
    errors.sort_unstable_by(f64::total_cmp);
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

/// The mean error of queries that somebody wrote down; `None` if none of them has an answer other than 0.
pub fn mean_error_of(data: &Data, further: &[Column<'_>], queries: &[Query], spread: &Spread) -> Option<f64> {
    Errors::of(&Answerer::with(data, further).answer(queries, spread)).mean
}

/// The error that `max_query_error` limits.
pub fn mean_count_error(data: &Data, spread: &Spread) -> Option<f64> {
    mean_error(data, spread, COUNT_QUERIES, COUNT_SEED)
}
