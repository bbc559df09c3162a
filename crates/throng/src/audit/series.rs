//! What an audit finds of releases that follow on each other.

use serde::{Deserialize, Serialize};

/// What was found of one release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// Its rows.
    pub rows: u64,
    /// Its classes.
    pub classes: u64,
    /// Those that were in no release before.
    pub new_classes: u64,
    /// Those of the release before that are gone.
    pub ended_classes: u64,
    /// Rows of the smallest class.
    pub smallest_class: u64,
    /// Rows of people who are in the table no more, where `present` tells.
    pub stale_rows: Option<u64>,
}

/// What was found of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeriesFindings {
    /// Of each release.
    pub releases: Vec<Looked>,
    /// Whether the ledger was looked at too.
    pub with_ledger: bool,
    /// Whether the tables were looked at too.
    pub with_tables: bool,
    /// What is wrong, one sentence each.
    pub violations: Vec<String>,
}

impl SeriesFindings {
    /// Whether it is a series, and each class meets the policy.
    pub fn holds(&self) -> bool {
        self.violations.is_empty()
    }
}
