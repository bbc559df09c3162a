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
