//! What is told about a run: JSON, one self-contained HTML page, or a terminal table.

mod as_is;
mod attack;
mod certified;
mod charts;
mod compare;
#[cfg(test)]
mod contrast;
mod diversity;
mod figures;
mod html;
mod json;
mod methods;
mod narrow_table;
mod number;
mod page;
mod page_terminal;
mod people;
pub mod pieces;
mod remarks;
mod risk;
#[cfg(test)]
mod samples;
mod series;
mod sizes;
mod summary;
mod svg;
mod template;
mod terminal;
#[cfg(test)]
mod tests;
mod text;

pub use attack::{attack_terminal, audit_json};
pub use certified::{checked_json, checked_terminal};
pub use compare::{Comparison, ComparisonRun, LeftOut, compare_html, compare_terminal};
pub use html::{html, release_fragment};
pub use json::json;
pub use methods::sections as sections_of_fact;
pub use page::{Block, Chart, Claim, Node, Page, Section, Series, Verdict, page_html};
pub use page_terminal::page_terminal;
pub use remarks::Circumstances;
pub use risk::risk_terminal;
pub use series::{EnteredFigures, SeriesFigures, series_terminal};
pub use svg::Unit;
pub use terminal::{audit_terminal, measures_terminal, terminal};
pub use text::quoted;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::audit::{Distribution, ExampleClass, Measures};
use crate::method::Fact;
use crate::policy::Policy;
use crate::release::RowOrder;

/// Everything that is told about one run. Serializes to the JSON report.
///
/// ```
/// use throng::{Anonymize, Data, Policy};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let done = Anonymize::new(&policy).read(Data::csv("age\n31\n34\n")).to_csv()?;
/// let kept = serde_json::to_string(&done.report).unwrap();
/// let report: throng::Report = serde_json::from_str(&kept).unwrap();
/// assert_eq!(report.measures.k, 2);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The figures, measured from the files.
    #[serde(flatten)]
    pub measures: Measures,
    /// The method's name.
    pub method: String,
    /// The seed: it repeats groups and cells, not the order of rows.
    pub seed: u64,
    /// Where the order of rows comes from.
    pub order: RowOrder,
    /// Seconds per stage, in order, with `total` last.
    pub seconds: IndexMap<String, f64>,
    /// Per quasi-identifier, before and after.
    pub distributions: Vec<Distribution>,
    /// Names of the quasi-identifiers, heading the cells of `examples`.
    pub quasi: Vec<String>,
    /// Names of the sensitive attributes, heading the values of `examples`.
    pub sensitive_attributes: Vec<String>,
    /// Ten classes as published, from the smallest to the largest.
    pub examples: Vec<ExampleClass>,
    /// What is needed to repeat the run.
    pub provenance: Provenance,
    /// What else a reader should know, one sentence each.
    pub notes: Vec<String>,
    /// Options of the policy's `[method]` that were written for another method and do not apply to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_options: Vec<String>,
    /// What the method says of what it found, as figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// How the table was run in parts, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<PartsReport>,
    /// Parts that only this method has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// What is to be told where the release is one of a series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesFigures>,
}

impl Report {
    /// A report that measures nothing, for a release whose rows were all measured before.
    pub(crate) fn empty(policy: &Policy) -> Self {
        Report {
            measures: Measures::default(),
            method: policy.method.name.clone(),
            seed: policy.method.seed,
            order: RowOrder::default(),
            seconds: IndexMap::new(),
            distributions: Vec::new(),
            quasi: Vec::new(),
            sensitive_attributes: Vec::new(),
            examples: Vec::new(),
            provenance: Provenance::default(),
            notes: Vec::new(),
            left_out_options: Vec::new(),
            facts: Vec::new(),
            parts: None,
            sections: Vec::new(),
            series: None,
        }
    }
}

/// How a table was run in parts. Field names are keys of the JSON report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartsReport {
    /// Bytes of memory that the run was to keep to; on a cluster, that solving one part was to keep to.
    pub memory: u64,
    /// Files of the table; nothing where it came from a cluster.
    pub files: Option<u64>,
    /// The number of parts that were solved in each round.
    pub parts: Vec<usize>,
    /// Passes over the table.
    pub passes: u64,
    /// Parts that the release was audited in.
    pub audit_parts: u64,
    /// Bytes that were written to scratch files, or handed from step to step of a cluster.
    pub scratch_bytes: u64,
}

/// What is needed to repeat a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// throng's version.
    pub version: String,
    /// The table's name.
    pub data: String,
    /// BLAKE3 hash of the table's bytes.
    pub data_hash: String,
    /// The release's name.
    pub release: String,
    /// BLAKE3 hash of the release's bytes.
    pub release_hash: String,
    /// The policy's text.
    pub policy: String,
    /// Arguments that override the policy.
    pub overrides: Vec<String>,
    /// The arguments of the command that was run, its name first; none where a program made the release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}
