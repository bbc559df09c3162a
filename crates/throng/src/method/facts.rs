//! What a method has to say of what it found: facts with figures, which the report puts into words.
//!
//! A method of this library that has something new to say adds a variant here and its words in `report/methods/`; one of
//! another crate says [`Fact::Remark`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::refine::{End, Goal, Step, Why};

/// One thing that a method says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fact {
    /// Another method was chosen.
    Chosen {
        /// Its name.
        method: Cow<'static, str>,
        /// Why.
        because: Because,
    },
    /// How records were put together for diversity, which decides what grouping tells of them.
    Grouped {
        /// By what.
        by: Grouping,
    },
    /// Records were grouped by the k that they ask for, because that loses less.
    GroupedByNeed {
        /// The least and the largest k of each band.
        needs: Vec<(u32, u32)>,
        /// The loss that it leads to.
        gcp: f64,
        /// The loss if all records had been grouped together.
        gcp_together: f64,
    },
    /// Records were left out because no release could have them.
    LeftOut {
        /// How many.
        records: usize,
    },
    /// Records were left out because the release loses less without them, each of them counted as fully lost.
    LeftOutForOthers {
        /// How many.
        records: usize,
    },
    /// Peeling ended before it had looked at everything, and another method cut what was left.
    PeeledInPart {
        /// Records that were left.
        rest: usize,
        /// Of so many.
        of: usize,
        /// The other method.
        by: Cow<'static, str>,
    },
    /// The privacy that was reached within a limit on the loss.
    ReachedWithinLimit {
        /// `k` or `l`.
        measure: Cow<'static, str>,
        /// Its value.
        value: f64,
    },
    /// How much quasi-identifiers tell of each other.
    Associations(Associations),
    /// A full-domain recoding.
    FullDomain(FullDomain),
    /// The research value that clusters leave, and what it was before.
    ClusterValue {
        /// What is left.
        left: f64,
        /// What there was.
        before: f64,
    },
    /// What a top-down refinement did.
    Refinement(Refinement),
    /// The largest k that keeps a utility target.
    Frontier(Frontier),
    /// Values that a recoding learned elsewhere does not cover.
    NotCovered {
        /// The attribute.
        attribute: String,
        /// Cells with such values.
        values: usize,
    },
    /// A sentence of a method from elsewhere.
    Remark {
        /// The sentence.
        words: String,
    },
}

impl Fact {
    /// Says it beside what was said of other parts of a table: a thing once, and how many records were left out in all.
    pub(super) fn join(self, said: &mut Vec<Fact>) {
        if let Fact::LeftOutForOthers { records } = self {
            for own in &mut *said {
                if let Fact::LeftOutForOthers { records: before } = own {
                    *before += records;
                    return;
                }
            }
        }
        if !said.contains(&self) {
            said.push(self);
        }
    }
}

/// By what records were put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By quasi-identifiers, and by lot.
    Lots,
    /// By queues of sensitive values, the literal rule of a paper.
    Queues,
    /// By what it costs, as far as sensitive values have room.
    Costs,
}

/// Why a method was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Because {
    /// The policy limits the loss and asks for the most privacy.
    LossIsLimited,
    /// Looking for the most privacy within a limit did not reach what is required; of those that keep to it, it lost least.
    KeepsToLimit {
        /// The names of those that reached it.
        of: Vec<Cow<'static, str>>,
    },
    /// As a rule it loses least.
    LosesLeast,
    /// l is so near to the largest that is feasible that sensitive values must not decide.
    DiversityIsNarrow,
    /// Several were run and it lost least.
    LostLeast {
        /// The names of those that were run.
        of: Vec<Cow<'static, str>>,
    },
    /// The table is so small that all partitions can be looked at.
    TableIsTiny,
    /// Several numbers have so many values that hardly two records share one.
    NumbersAreFine,
}

/// A full-domain recoding: one level per attribute, a *string* of levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullDomain {
    /// What was optimised.
    pub goal: Cow<'static, str>,
    /// The score of the string; losses are told without their sign. `None` if no valid string was met.
    pub score: Option<f64>,
    /// No valid string has a better score.
    pub bound: f64,
    /// How far that is proved.
    pub proof: Proof,
    /// The string, attribute by attribute.
    pub levels: Vec<Level>,
    /// Strings that were left after levels failed by themselves.
    pub strings: f64,
    /// Levels that failed by themselves.
    pub pruned: usize,
    /// Groups that were tested.
    pub tests: u64,
    /// Strings that are as good, this one among them.
    pub equal: Vec<EqualString>,
    /// Others nearby that meet the requirement, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<NearString>,
}

/// A string near the one that is published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearString {
    /// Its levels.
    pub levels: Vec<u8>,
    /// Its score, as that of the string is told.
    pub score: f64,
    /// Classes that it would publish.
    pub classes: u64,
    /// Records that it would suppress.
    pub suppressed: u64,
}

/// How much quasi-identifiers tell of each other, and what they weigh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Associations {
    /// The quasi-identifiers.
    pub attributes: Vec<String>,
    /// What each weighs.
    pub weights: Vec<f64>,
    /// Which of the weights come from the table.
    pub automatic: Vec<bool>,
    /// The association of each pair, 0 … 1.
    pub matrix: Vec<Vec<f64>>,
    /// Pairs that tell nearly the same, by place, with their association but for chance.
    pub high: Vec<(usize, usize, f64)>,
}

impl Associations {
    /// From here on two attributes tell nearly the same.
    pub const HIGH: f64 = 0.9;
}

/// How far a string is proved to be the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// No valid string is better.
    Proved,
    /// The search was stopped; the bound tells how much better one could be.
    Bounded,
    /// The best of the few that a local search tests.
    OfTheTested,
    /// A local search met no valid string, so every attribute is at its coarsest level.
    NothingMet,
    /// Somebody picked it; none was searched.
    Picked,
}

/// The level of one attribute in a string.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The attribute.
    pub attribute: String,
    /// Its level.
    pub level: u8,
    /// The coarsest one there is.
    pub top: u8,
    /// Groups of values at that level.
    pub groups: u32,
    /// The lowest level that was tried.
    pub lowest: u8,
    /// The highest level that was tried.
    pub highest: u8,
    /// What the level is worth, for goals that add up.
    pub value: Option<f64>,
}

/// A string that is as good as the best.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EqualString {
    /// Its levels.
    pub levels: Vec<u8>,
    /// Attributes at their top level.
    pub tops: usize,
}

/// What a top-down refinement did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refinement {
    /// What decided.
    pub goal: Goal,
    /// Why it ended.
    pub end: End,
    /// The quasi-identifiers that were kept safe, in words.
    pub quasi_identifiers: Vec<String>,
    /// Quasi-identifiers that follow from another one, each with that one.
    pub follow: Vec<(String, String)>,
    /// What was done, step by step.
    pub steps: Vec<Step>,
    /// The masked values of each attribute.
    pub masks: Vec<MaskTree>,
    /// Attributes that stay masked because missing values could not be parted from numbers.
    pub masked_by_missing: Vec<String>,
    /// The one of several classes that was looked at.
    pub class_of_several: Option<String>,
    /// Attributes that are masked as a whole, and why.
    #[serde(default)]
    pub stayed: Vec<StayedMasked>,
    /// The ways to search that were tried, in words, with the share of records whose class was predicted wrongly; the one
    /// that was taken first.
    #[serde(default)]
    pub tried: Vec<(String, f64)>,
}

/// An attribute that is masked as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StayedMasked {
    /// The attribute.
    pub attribute: String,
    /// Why.
    pub why: Why,
}

/// What an attribute was refined into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskTree {
    /// The attribute.
    pub attribute: String,
    /// Its masked values, parents before children; the first stands for all.
    pub values: Vec<MaskedValue>,
}

/// A masked value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedValue {
    /// As it would be published.
    pub label: String,
    /// Records that have it.
    pub records: u64,
    /// What it was refined from.
    pub parent: Option<u32>,
    /// Whether it is what is left under the name of a group of which some children are told by themselves.
    #[serde(default)]
    pub rest: bool,
}

/// The best privacy for a utility.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frontier {
    /// What was asked for, in words.
    pub asked: String,
    /// The largest k that was found.
    pub k: usize,
    /// All that was tried, by k.
    pub steps: Vec<FrontierStep>,
}

/// One k that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontierStep {
    /// What was required.
    pub k: usize,
    /// Its loss.
    pub gcp: f64,
    /// The mean error of COUNT queries, where that is asked for.
    pub query_error: Option<f64>,
    /// Whether the target was met.
    pub met: bool,
}
