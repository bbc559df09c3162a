//! What the search did, step by step.

use serde::{Deserialize, Serialize};

/// One refinement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The attribute.
    pub attribute: String,
    /// The masked value that was refined.
    pub refined: String,
    /// What it was refined into.
    pub into: Vec<String>,
    /// Information gain, or loss avoided.
    pub gain: f64,
    /// Average anonymity lost over the quasi-identifiers of the attribute.
    pub loss: f64,
    /// Gain per anonymity lost.
    pub score: f64,
    /// The anonymity of each quasi-identifier afterwards.
    pub anonymity: Vec<u32>,
}

impl Step {
    /// Whether anybody sees it. From a group with one value in it to that value it is a step in the hierarchy, but what is
    /// published stays as it is: such a step is not told, and does not count.
    pub(super) fn shows(&self) -> bool {
        self.into.len() != 1 || self.into[0] != self.refined
    }
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Nothing is left that is valid and beneficial.
    Finished,
    /// As many refinements as allowed were made.
    Iterations,
    /// The time was up.
    Seconds,
    /// Whoever watches had enough.
    Stopped,
}

/// Why an attribute stayed masked as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Why {
    /// A combination of a quasi-identifier would have had too few records.
    TooFew {
        /// Which of them.
        quasi_identifier: usize,
        /// How many it would have had when that was looked at; later no more.
        records: u32,
    },
    /// What is asked of classes beyond their size would not have held.
    Beyond,
    /// Its values tell nothing about the class.
    NothingToGain,
    /// The search was ended before its turn.
    Ended,
}

impl Why {
    /// Whether it was nearer to being allowed than another reason.
    pub(super) fn is_nearer_than(self, other: Why) -> bool {
        match (self, other) {
            (Why::TooFew { records, .. }, Why::TooFew { records: before, .. }) => records > before,
            _ => false,
        }
    }
}
