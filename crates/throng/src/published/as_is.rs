//! What is published beside the quasi-identifiers, as figures; [`crate::as_is`] counts them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What is published beside the quasi-identifiers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PublishedAsIs {
    /// Each of the columns.
    pub columns: Vec<AsIsColumn>,
    /// Share of rows that are unique on all that is published.
    pub unique_share: f64,
    /// Those rows.
    pub unique_rows: u64,
}

/// A column that is published as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AsIsColumn {
    /// Its name.
    pub name: String,
    /// What the policy says it is: a role, or `unlisted`.
    pub role: Cow<'static, str>,
    /// Distinct values.
    pub distinct: u64,
    /// Share of rows that it makes unique by itself.
    pub unique_share: f64,
    /// Share of rows that it makes unique together with the published quasi-identifiers.
    pub unique_share_with_quasi: f64,
    /// What it looks like, where that matters.
    pub looks: Vec<Looks>,
}

/// What a column looks like, where that matters for publishing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Looks {
    /// Nearly every record has a value of its own.
    #[serde(rename = "nearly an identifier")]
    Identifier,
    /// Sentences: anything may stand in them.
    #[serde(rename = "free text")]
    FreeText,
    /// Dates or times, by which events are found.
    #[serde(rename = "times")]
    Times,
    /// Numbers that mostly differ: they put rows in an order, and are found by nearness.
    #[serde(rename = "ordered numbers")]
    OrderedNumbers,
}

impl Looks {
    /// As the report says it.
    pub fn words(self) -> &'static str {
        match self {
            Looks::Identifier => "nearly an identifier",
            Looks::FreeText => "free text",
            Looks::Times => "times",
            Looks::OrderedNumbers => "ordered numbers",
        }
    }
}
