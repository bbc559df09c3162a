//! A k of one's own.

use super::{Model, Part, Tally};
use crate::error::Error;
use crate::problem::Problem;

/// Every class has at least as many records as its most demanding member asks for.
#[derive(Clone, Copy, Debug)]
pub struct OwnAnonymity {
    /// The least that any record asks for.
    pub least: usize,
}

impl Model for OwnAnonymity {
    fn describe(&self) -> String {
        "the k that each record asks for".to_owned()
    }

    fn part(&self) -> Part {
        Part::OwnK
    }

    /// Two classes that are large enough for their members are so together: the union is larger than either, and its most
    /// demanding member was in one of them.
    fn monotone(&self) -> bool {
        true
    }

    fn smallest_class(&self) -> usize {
        self.least
    }

    fn holds(&self, tally: &Tally) -> bool {
        tally.size() >= u64::from(tally.demand())
    }

    fn explain(&self, whole: &Tally, _: &Problem) -> Error {
        Error::requirement(format!(
            "a record asks for k = {}, but the table has only {} records",
            whole.demand(),
            whole.size()
        ))
        .with_hint("lower the largest k of the policy's own_k, or of the column that k_column names")
    }
}
