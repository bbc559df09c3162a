//! Recipes: a learned recoding as a file, so that other records can be masked in the same way.
//!
//! A recipe is JSON and stands by itself: it holds what the policy said of requirement and attributes, hierarchies and rules
//! included, and for each quasi-identifier the cells that values are published as. It holds no records, but it does
//! name values: those of hierarchies, those that were disclosed, and the ends of intervals.
//!
//! Other records have other numbers. So intervals leave no gaps (`ranges`): an inner one reaches to the next split, the outer
//! ones are open to the outside, and the only one there is covers everything. What is published is true all the same: an
//! interval that holds a number beyond its ends is told with ends that hold it (`masker`).
//!
//! A recipe that was edited is not believed: it is checked as a policy is (`policy`), and every cell must cover what it says
//! it does (`truth`).

mod learned;
mod levels;
mod lines;
mod masker;
mod policy;
mod ranges;
mod spelling;
mod tails;
mod truth;
mod unknown;

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use levels::Levels;
pub(crate) use masker::Masker;
pub(crate) use ranges::Finder;
pub(crate) use unknown::take_unknown_values_in;

use crate::bind::storage;
use crate::error::{Error, ErrorCode, Result};
use crate::policy::Policy;
use crate::table::Storage;
use crate::table::tails::end_of;
use crate::words::did_you_mean;

/// The version of the format.
const FORMAT: u32 = 1;

/// A learned recoding.
///
/// ```
/// use throng::{Anonymize, Data, Policy, Recipe};
/// let policy = Policy::builder().k(2).quasi("age").class("buys").method("refine").build()?;
/// let table = Data::csv("age,buys\n31,no\n34,no\n56,yes\n58,yes\n");
/// let recipe = Anonymize::new(&policy).read(table).to_csv()?.recipe.unwrap();
/// let kept = recipe.to_json()?;
/// assert_eq!(serde_json::from_str::<Recipe>(&kept).unwrap(), recipe);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The version of the format.
    pub throng_recipe: u32,
    /// The method that learned it.
    pub method: String,
    /// Cells read as missing.
    pub missing: Vec<String>,
    /// Whether rows with a missing cell are left out.
    pub drop_incomplete: bool,
    /// What happens to columns that the policy does not mention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<String>,
    /// Whether what looks unsafe is told, rather than refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lenient: bool,
    /// Whether somebody says that the first line of tables is a header, however it looks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub header: bool,
    /// What must hold, as the keys of a policy's `[privacy]` say it.
    pub privacy: serde_json::Map<String, Json>,
    /// What the policy said of attributes, and how quasi-identifiers are masked.
    pub attributes: IndexMap<String, Ingredient>,
    /// How quasi-identifiers are masked where hard rules keep some records apart: each part in its own way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<RecipePart>,
}

/// How the records of a part are masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipePart {
    /// What the attributes of its records are.
    #[serde(rename = "where")]
    limits: IndexMap<String, PartLimit>,
    /// The cells of each quasi-identifier; a value that none of them covers is published as `*`.
    cells: IndexMap<String, Vec<Mask>>,
}

/// What an attribute of the records of a part is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum PartLimit {
    /// One of these.
    Values(Vec<String>),
    /// A number or date above the first, if there is one, and up to the second.
    Numbers(Option<f64>, Option<f64>),
    /// Missing.
    Missing,
}

/// An attribute as a recipe tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ingredient {
    role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decimal: Option<String>,
    weight: f64,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    leaf_weights: IndexMap<String, f64>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    node_weights: IndexMap<String, f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    confirmed: bool,
    /// Where its tails begin, as the table spells numbers and dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    top: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bottom: Option<String>,
    /// What is published of whose record it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    publish: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    together: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hierarchy: Option<Levels>,
    /// Its rules, as the keys of a policy say them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rules: Vec<Json>,
    /// The cells of a quasi-identifier; a value that none of them covers is published as `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Mask>,
}

/// What a published cell stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// The cell.
    pub cell: String,
    /// The values it covers.
    pub covers: Covers,
}

impl Mask {
    /// Whether it stands for one number or date, or a missing one.
    pub(crate) fn is_single(&self) -> bool {
        match &self.covers {
            // A tail such as `≥ 60` stands for all that lies beyond.
            Covers::UpTo(low, high) => low == high && end_of(&self.cell) == self.cell,
            Covers::Missing => true,
            Covers::Values(_) | Covers::Before(..) => false,
        }
    }
}

/// Values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covers {
    /// These.
    Values(Vec<String>),
    /// Numbers or dates from the first up to the second, without it.
    Before(String, String),
    /// Numbers or dates from the first up to the second, with it.
    UpTo(String, String),
    /// A missing value.
    Missing,
}

impl Recipe {
    /// Reads a recipe.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::io(ErrorCode::CannotRead, "read the recipe", path, &cause))?;
        Recipe::parse(&text).map_err(|error| error.in_file(path))
    }

    /// Reads the text of a recipe; errors tell line and column.
    fn parse(text: &str) -> Result<Self> {
        let recipe: Recipe = serde_json::from_str(text).map_err(|cause| {
            // What the parser says may hold values of the file; where it stopped does not.
            Error::new(ErrorCode::BadRecipe, "this is not a recipe")
                .on_line(cause.line() as u64)
                .in_column(cause.column() as u64)
                .with_hint("`throng anonymize … --recipe FILE` writes recipes, with the method refine")
        })?;
        let told = |error: Error, value: &str| match lines::place(text, value) {
            Some((line, column)) => error.on_line(line).in_column(column),
            None => error,
        };
        if recipe.throng_recipe != FORMAT {
            let message = format!("the recipe has format {}, not {FORMAT}", recipe.throng_recipe);
            let error = Error::new(ErrorCode::RecipeVersion, message)
                .with_hint("it was made by another version of throng");
            return Err(told(error, "throng_recipe"));
        }
        recipe.check().map_err(|error| match error.value().map(str::to_owned) {
            Some(value) => told(error, &value),
            None => error,
        })?;
        Ok(recipe)
    }

    /// An error if it says something that a policy may not say, or if a cell does not cover what it says it does.
    pub fn check(&self) -> Result<()> {
        self.policy()?;
        self.check_cells()
    }

    /// As a file.
    pub fn to_json(&self) -> Result<String> {
        crate::report::json(self)
    }

    /// How to keep the columns of a table that is to be masked; an error if it lacks one that the recipe masks or holds to
    /// its requirement. Records to be classified have no class yet, and nobody needs identifiers.
    pub(crate) fn storage(&self, policy: &Policy, names: &[String]) -> Result<Vec<Storage>> {
        let beyond_k = policy.privacy.specs().iter().any(|spec| spec.protects_sensitive());
        let needed = |role: &str| role == "quasi" || (role == "sensitive" && beyond_k);
        match self.attributes.iter().find(|(name, own)| needed(&own.role) && !names.contains(name)) {
            None => Ok(storage(policy, names)),
            Some((name, _)) => {
                let hint = match did_you_mean(name, names.iter().map(String::as_str)) {
                    Some(column) => format!("did you mean \"{column}\"?"),
                    None => "records to be masked must have the columns of the recipe's table".to_owned(),
                };
                let error = Error::new(
                    ErrorCode::UnknownColumn,
                    format!("the table has no column \"{name}\", which the recipe needs"),
                );
                Err(error.for_attribute(name).with_hint(hint))
            }
        }
    }
}
