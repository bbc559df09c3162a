//! What a release achieves: the figures that an audit measures from files and policy.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Outlier, Truth};
use crate::as_is::PublishedAsIs;
use crate::bound::{BoundFigures, LowerBound};
use crate::privacy::{Achieved, Figure};

/// The figures of one release. Field names are the keys of the JSON report.
///
/// ```
/// use throng::{Anonymize, Data, Policy};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let done = Anonymize::new(&policy).read(Data::csv("age\n31\n34\n")).to_csv()?;
/// let measures = done.report.measures;
/// assert_eq!((measures.rows_in, measures.k, measures.classes), (2, 2, 1));
/// assert_eq!(measures.gcp, 1.0);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Measures {
    /// Records read that take part: incomplete ones that the policy drops are not counted.
    pub rows_in: u64,
    /// Records left out because the policy drops incomplete ones.
    pub rows_dropped: u64,
    /// Records in the release.
    pub rows_published: u64,
    /// Records taking part that are not in the release.
    pub suppressed: u64,
    /// Achieved k over all quasi-identifiers: the smallest class.
    pub k: u64,
    /// The k that was asked for.
    pub k_required: Option<u64>,
    /// Achieved k of each named quasi-identifier.
    pub quasi_identifiers: Vec<QuasiIdentifierMeasure>,
    /// Achieved l in the form asked for (frequency when none was): the least over sensitive attributes.
    pub l: Option<f64>,
    /// The l that was asked for.
    pub l_required: Option<f64>,
    /// The largest l that any release of this table could have without leaving records out, where one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l_feasible: Option<f64>,
    /// The form of l-diversity.
    pub diversity: Option<Cow<'static, str>>,
    /// Achieved t: the greatest distance over sensitive attributes.
    pub t: Option<f64>,
    /// The t that was asked for.
    pub t_required: Option<f64>,
    /// All forms of diversity for each sensitive attribute.
    pub sensitive: Vec<SensitiveMeasure>,
    /// How many people there are, where the policy says whose records are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleMeasure>,
    /// Number of classes (distinct combinations of published cells).
    pub classes: u64,
    /// Global certainty penalty, 0 … 1.
    #[serde(deserialize_with = "number")]
    pub gcp: f64,
    /// Σ over records of their class's weighted penalty.
    #[serde(deserialize_with = "number")]
    pub ncp: f64,
    /// Σ of squared class sizes.
    #[serde(deserialize_with = "number")]
    pub discernibility: f64,
    /// Average class size over k (over the smallest class asked for when k is not given).
    #[serde(deserialize_with = "number")]
    pub c_avg: f64,
    /// Mean penalty of each quasi-identifier, unweighted.
    pub gcp_per_attribute: IndexMap<String, f64>,
    /// Quasi-identifiers that the policy lets nobody publish in full detail, by tails or groups of a regulator: what these take
    /// away is not counted as loss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coarsened: Vec<String>,
    /// Greatest NCP of a class, as a share of the sum of the weights.
    #[serde(deserialize_with = "number")]
    pub maximum_ncp: f64,
    /// Mean over classes of NCP.
    #[serde(deserialize_with = "number")]
    pub average_ncp: f64,
    /// Greatest size × NCP of a class.
    #[serde(deserialize_with = "number")]
    pub weighted_maximum_ncp: f64,
    /// Mean over records of the volume of their class's box.
    #[serde(deserialize_with = "number")]
    pub weighted_average_volume: f64,
    /// Mean extent over classes, for a single numeric quasi-identifier.
    pub il1: Option<f64>,
    /// Greatest extent over classes, for a single numeric quasi-identifier.
    pub il_infinity: Option<f64>,
    /// What the release is worth to its readers (Morton 2012); the more the better.
    #[serde(default)]
    pub research_value: Option<f64>,
    /// The same for each attribute.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub research_value_per_attribute: IndexMap<String, f64>,
    /// Share of records whose class label is not the majority of their class.
    pub classification_metric: Option<f64>,
    /// No release of this table under the policy has a lower GCP: the bound, whether it is proved, and how long that took.
    #[serde(default)]
    pub bound: Option<BoundFigures>,
    /// The same with what it was computed from.
    pub lower_bound: Option<LowerBound>,
    /// Share of the GCP that a better method could possibly save.
    pub gap: Option<f64>,
    /// Whether it was published by permutation: k and classes are then those of groups, not of equal cells.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub permuted: bool,
    /// What is published beside the quasi-identifiers, and the share of rows that are unique on all of it.
    pub published_as_is: PublishedAsIs,
    /// What the exact cells of a release by permutation tell apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_cells: Option<ExactCells>,
    /// Where medians or means are published in place of ranges: which, and how it is known what they stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub midpoints: Option<MidpointMeasure>,
    /// Published ends of ranges that are the value of a single record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<Outlier>,
    /// Columns with cells that a spreadsheet would run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formulas: Vec<FormulaColumn>,
    /// Whether the release says what the table says, where it was compared with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth: Option<Truth>,
    /// The rules of the policy, kept and broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleMeasure>,
    /// How many classes there are of each size, ascending.
    pub class_sizes: Vec<(u64, u64)>,
    /// All that was asked for beside what was reached, and what is told without being asked for.
    pub requirements: Vec<Achieved>,
    /// What does not hold, one sentence each; empty when the requirement is met.
    pub violations: Vec<String>,
}

impl Measures {
    /// What was reached of one kind of requirement.
    pub(crate) fn reached(&self, key: &str) -> Option<f64> {
        self.requirements.iter().find(|one| one.key == key)?.reached.map(Figure::value)
    }

    /// Whether the loss is what it is at most, because nobody can tell the ranges of classes.
    pub(crate) fn loss_is_bound(&self) -> bool {
        self.midpoints.as_ref().is_some_and(|own| own.known_by == "bound")
    }

    /// Sets the lower bound and the gap to it.
    pub(crate) fn set_lower_bound(&mut self, bound: Option<LowerBound>) {
        let gap = |bound: &LowerBound| ((self.gcp - bound.gcp) / self.gcp).max(0.0);
        self.gap = bound.as_ref().filter(|_| self.gcp > 0.0).map(gap);
        self.bound = bound.as_ref().map(BoundFigures::from);
        self.lower_bound = bound;
    }
}

/// Numbers that are published in place of ranges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MidpointMeasure {
    /// The columns that hold them.
    pub columns: Vec<String>,
    /// How it is known what they stand for: `run`, `order`, or `bound` if nobody can tell and the loss is what it is at most.
    pub known_by: Cow<'static, str>,
}

/// What exact cells tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactCells {
    /// The fewest rows that share all quasi-identifiers.
    pub k: u64,
    /// Rows that share them with no other.
    pub unique_rows: u64,
}

/// People and their records.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PeopleMeasure {
    /// People in the table.
    pub people_in: u64,
    /// People in the release; `None` if the files do not tell.
    pub people_published: Option<u64>,
    /// Records of a person on average.
    pub average_records: f64,
    /// The most records that a person has.
    pub most_records: u64,
    /// People with more than one record.
    pub with_several: u64,
    /// How it is known whose a published row is: `run`, `number`, `order`, or `bound` if nobody can tell and figures are
    /// what holds whosever they are.
    pub known_by: Cow<'static, str>,
    /// How many classes there are of each number of people, ascending.
    pub class_sizes: Vec<(u64, u64)>,
    /// The greatest share of a class's rows that one person has; `None` if the files do not tell.
    pub greatest_share: Option<f64>,
    /// Where a number of each person is published: the fewest people whose rows look alike, all of them taken together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alike: Option<u64>,
    /// The same case: people that nobody else looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<u64>,
}

/// One named quasi-identifier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QuasiIdentifierMeasure {
    /// Its attributes.
    pub attributes: Vec<String>,
    /// The k asked for.
    pub k_required: u64,
    /// The k achieved.
    pub k: u64,
}

/// What became of one data constraint rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuleMeasure {
    /// Its attribute.
    pub attribute: String,
    /// What it keeps apart.
    pub rule: String,
    /// How much it matters.
    pub importance: f64,
    /// Whether it must not be broken.
    pub hard: bool,
    /// Whether no class breaks it.
    pub kept: bool,
    /// Classes with a cell that covers both of its sides.
    pub broken_classes: u64,
    /// The records in them.
    pub broken_records: u64,
}

/// The diversity of one sensitive attribute: the worst class in each form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SensitiveMeasure {
    /// The attribute.
    pub attribute: String,
    /// min |G| / most frequent value.
    pub l_frequency: f64,
    /// Fewest distinct values.
    pub l_distinct: u64,
    /// exp of the lowest entropy.
    pub l_entropy: f64,
    /// Greatest earth mover's distance to the table.
    pub t: f64,
    /// Share of rows in classes that have one value only: who finds the class knows it.
    pub told_share: f64,
}

/// How one quasi-identifier is distributed before and after.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Distribution {
    /// The attribute.
    pub attribute: String,
    /// Its bins, in domain order.
    pub bins: Vec<Bin>,
}

/// One bin of a [`Distribution`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bin {
    /// A value, a range, or "(n others)".
    pub label: String,
    /// Records in the table.
    pub before: f64,
    /// Records in the release, each spread evenly over what its cell covers.
    pub after: f64,
}

/// A class as it was published.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExampleClass {
    /// Its size.
    pub size: u64,
    /// Its cells, one per quasi-identifier.
    pub cells: Vec<String>,
    /// Its sensitive values with their counts, most frequent first, for each sensitive attribute.
    pub sensitive: Vec<Vec<(String, u64)>>,
}

/// JSON has no word for what is not a finite number: it is written as null.
pub(crate) fn number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Option::deserialize(from).map(|number| number.unwrap_or(f64::NAN))
}

/// A published column with cells that a spreadsheet would run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormulaColumn {
    /// Its name.
    pub column: String,
    /// Such cells; none where only the name is one.
    pub cells: u64,
}
