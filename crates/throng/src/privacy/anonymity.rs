//! k-anonymity.

use super::{Model, Part, Tally};
use crate::error::Error;
use crate::problem::Problem;

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
        tally.size() >= self.k as u64
    }

    fn explain(&self, whole: &Tally, _: &Problem) -> Error {
        Error::requirement(format!(
            "k = {} cannot be met: the table has only {} records",
            self.k,
            whole.size()
        ))
        .with_hint(format!("the largest possible k is {}", whole.size()))
    }
}
