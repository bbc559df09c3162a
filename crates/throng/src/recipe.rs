//! Recipes: a learned recoding as a file, so that other records can be masked in the same way.
//!
//! A recipe is JSON and stands by itself: it holds what the policy said of requirement and attributes, hierarchies
//! included, and for each quasi-identifier the cells that values are published as. It holds no records, but it does
//! name values: those of hierarchies, those that were disclosed, and the ends of intervals.

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::bind::storage;
use crate::error::{Error, ErrorCode, Result};
use crate::method::refine::{Masks, Shape};
use crate::method::{Fact, MaskedPart};
use crate::policy::{
    AttributePolicy, DateUnit, Hierarchy, Incomplete, Kind, MethodChoice, PersonChoice, Policy, Role,
    Unlisted,
};
use crate::problem::{Attribute, Problem};
use crate::schema::spelling::Format;
use crate::table::{ANY, Domain, Scale, Spelling, Storage, Table, Tree, value};
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    confirmed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hierarchy: Option<Levels>,
    /// The cells of a quasi-identifier; a value that none of them covers is published as `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Mask>,
}

impl Ingredient {
    fn spell(&mut self, spelling: Option<&Spelling>) {
        match spelling.and_then(Spelling::key) {
            Some(("format", format)) => self.format = Some(format),
            Some((_, decimal)) => self.decimal = Some(decimal),
            None => {}
        }
    }

    fn spelling(&self) -> Result<Option<Spelling>> {
        match (&self.format, self.decimal.as_deref()) {
            (Some(format), _) => match Format::new(format) {
                Ok(format) => Ok(Some(Spelling::Format(format))),
                Err(message) => Err(Error::new(
                    ErrorCode::BadRecipe,
                    format!("the recipe has a form of dates that is none: {message}"),
                )),
            },
            (None, Some(decimal)) => {
                Ok(Some(if decimal == "," { Spelling::Comma } else { Spelling::Grouped }))
            }
            (None, None) => Ok(None),
        }
    }
}

/// A hierarchy as a recipe tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Levels {
    /// One path per leaf, the leaf first.
    Paths(Vec<Vec<String>>),
    Intervals(Vec<f64>),
    Prefix(Vec<usize>),
    Dates(Vec<String>),
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
            Covers::UpTo(low, high) => low == high,
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

fn named<T: Copy>(all: &[(&str, T)], name: &str) -> Result<T> {
    let found = all.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        Error::new(ErrorCode::BadRecipe, format!("the recipe has the unknown word \"{name}\""))
    })
}

impl Recipe {
    /// The recipe of a recoding.
    pub fn new(problem: &Problem, policy: &Policy, parts: &[MaskedPart]) -> Self {
        let mut attributes: IndexMap<String, Ingredient> = policy
            .attributes
            .iter()
            .map(|(name, own)| {
                let role = policy.role(name);
                let mut ingredient = Ingredient {
                    role: role.name().to_owned(),
                    kind: own.kind.as_ref().map(|kind| kind.name().to_owned()),
                    format: None,
                    decimal: None,
                    weight: own.weight,
                    leaf_weights: own.leaf_weights.clone(),
                    confirmed: own.confirmed,
                    hierarchy: own.hierarchy.as_ref().filter(|_| role != Role::Other).map(Levels::of),
                    cells: Vec::new(),
                };
                ingredient.spell(own.spelling.as_ref());
                (name.clone(), ingredient)
            })
            .collect();
        for (at, attribute) in problem.attributes.iter().enumerate() {
            if let Some(own) = attributes.get_mut(&attribute.name) {
                own.kind = Some(attribute.domain.kind().name().to_owned());
                own.weight = attribute.weight;
                // Other records are read as these were, also where it was guessed.
                if let Scale::Numeric { spelling, .. } = attribute.domain.scale() {
                    own.spell(Some(spelling));
                }
                if let [part] = parts {
                    own.cells = cells(attribute, &part.masks[at]);
                }
            }
        }
        let parts = if parts.len() > 1 { parts } else { &[] };
        Recipe {
            throng_recipe: FORMAT,
            method: policy.method.name.clone(),
            missing: policy.missing.clone(),
            drop_incomplete: policy.incomplete == Incomplete::Drop,
            unlisted: Unlisted::NAMES
                .iter()
                .find(|(_, own)| *own == policy.unlisted)
                .map(|(name, _)| (*name).to_owned()),
            lenient: !policy.strict,
            privacy: policy
                .privacy
                .keys_for_other_records()
                .into_iter()
                .map(|(key, value)| (key, to_json(value)))
                .collect(),
            attributes,
            parts: parts.iter().map(|part| RecipePart::new(problem, part)).collect(),
        }
    }

    /// Reads a recipe.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::io(ErrorCode::CannotRead, "read the recipe", path, &cause))?;
        let hint = "`throng anonymize … --recipe FILE` writes recipes, with the method refine";
        let recipe: Recipe = serde_json::from_str(&text).map_err(|cause| {
            // What the parser says may hold values of the file; where it stopped does not.
            Error::new(ErrorCode::BadRecipe, "this is not a recipe")
                .in_file(path)
                .on_line(cause.line() as u64)
                .with_hint(hint)
        })?;
        if recipe.throng_recipe != FORMAT {
            return Err(Error::new(
                ErrorCode::RecipeVersion,
                format!("the recipe has format {}, not {FORMAT}", recipe.throng_recipe),
            )
            .in_file(path)
            .with_hint("it was made by another version of throng"));
        }
        Ok(recipe)
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

    /// The policy for a table with some columns: what it does not have is left out.
    pub(crate) fn policy_for(&self, names: &[String]) -> Result<Policy> {
        let mut policy = self.policy()?;
        let lost =
            policy.person_columns().map(|(name, _)| name).find(|name| !names.iter().any(|own| own == name));
        if let Some(name) = lost {
            let message = format!("the column \"{name}\" is not there, which says whose record it is");
            return Err(Error::new(ErrorCode::UnknownColumn, message)
                .for_attribute(name)
                .with_hint("the requirement of the recipe counts people; give the table with that column"));
        }
        policy.attributes.retain(|name, _| names.contains(name));
        Ok(policy)
    }

    /// The policy that the outcome of masking other records is held to.
    pub fn policy(&self) -> Result<Policy> {
        let attributes = self
            .attributes
            .iter()
            .map(|(name, own)| {
                let attribute = AttributePolicy {
                    role: named(Role::NAMES, &own.role)?,
                    kind: own.kind.as_ref().map(|kind| named(Kind::NAMES, kind)).transpose()?,
                    spelling: own.spelling()?,
                    weight: own.weight,
                    leaf_weights: own.leaf_weights.clone(),
                    auto_weight: false,
                    confirmed: own.confirmed,
                    tails: Default::default(),
                    hierarchy: own.hierarchy.as_ref().map(Levels::hierarchy).transpose()?,
                    rules: Vec::new(),
                    person: PersonChoice::default(),
                    span: 0..0,
                    hierarchy_span: None,
                };
                Ok((name.clone(), attribute))
            })
            .collect::<Result<_>>()?;
        let privacy = with_named_pairs(table_from_json(&self.privacy));
        let privacy = Policy::read_privacy(&privacy, &attributes, &self.missing).map_err(|error| {
            let message = format!("the requirement of the recipe cannot be used: {}", error.message());
            let hint = error.hint().map(str::to_owned);
            Error::new(ErrorCode::BadRecipe, message).with_hint_if(hint)
        })?;
        Ok(Policy {
            path: None,
            text: String::new(),
            missing: self.missing.clone(),
            incomplete: if self.drop_incomplete { Incomplete::Drop } else { Incomplete::Keep },
            unlisted: self
                .unlisted
                .as_ref()
                .map_or(Ok(Unlisted::Refuse), |word| named(Unlisted::NAMES, word))?,
            strict: !self.lenient,
            expansion: Default::default(),
            privacy,
            method: MethodChoice {
                name: self.method.clone(),
                seed: 0,
                seed_given: false,
                options: toml::Table::new(),
                replaced: false,
                span: None,
            },
            attributes,
            evaluate: Default::default(),
        })
    }
}

/// A value of a policy as JSON.
fn to_json(value: toml::Value) -> Json {
    match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => Json::from(number),
        toml::Value::Float(number) => Json::from(number),
        toml::Value::Boolean(flag) => Json::Bool(flag),
        toml::Value::Datetime(date) => Json::String(date.to_string()),
        toml::Value::Array(values) => values.into_iter().map(to_json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, to_json(value))).collect(),
    }
}

/// JSON as a value of a policy; `null` stands for what is not there.
fn from_json(value: &Json) -> Option<toml::Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => toml::Value::Boolean(*flag),
        Json::String(text) => toml::Value::String(text.clone()),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => toml::Value::Integer(whole),
            None => toml::Value::Float(number.as_f64()?),
        },
        Json::Array(values) => toml::Value::Array(values.iter().filter_map(from_json).collect()),
        Json::Object(table) => toml::Value::Table(table_from_json(table)),
    })
}

fn table_from_json(table: &serde_json::Map<String, Json>) -> toml::Table {
    table.iter().filter_map(|(key, value)| Some((key.clone(), from_json(value)?))).collect()
}

/// Recipes once told a named quasi-identifier as a pair of its attributes and its k.
fn with_named_pairs(mut table: toml::Table) -> toml::Table {
    let named = table.get_mut("quasi_identifiers").and_then(toml::Value::as_array_mut);
    for own in named.into_iter().flatten() {
        if let toml::Value::Array(pair) = own
            && let [attributes, k] = &pair[..]
        {
            let entries = [("attributes", attributes.clone()), ("k", k.clone())];
            *own =
                toml::Value::Table(entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect());
        }
    }
    table
}

impl Levels {
    fn of(hierarchy: &Hierarchy) -> Self {
        match hierarchy {
            Hierarchy::Tree(tree) => Levels::Paths(
                tree.paths()
                    .map(|(leaf, above)| {
                        std::iter::once(leaf.to_owned()).chain(above.iter().cloned()).collect()
                    })
                    .collect(),
            ),
            Hierarchy::Intervals(widths) => Levels::Intervals(widths.clone()),
            Hierarchy::Prefix(lengths) => Levels::Prefix(lengths.clone()),
            Hierarchy::Dates(units) => {
                Levels::Dates(units.iter().map(|unit| unit.name().to_owned()).collect())
            }
        }
    }

    fn hierarchy(&self) -> Result<Hierarchy> {
        Ok(match self {
            // The root was left out already: nothing more is to be dropped.
            Levels::Paths(paths) => {
                let mut tree = Tree::default();
                paths.iter().try_for_each(|path| tree.push(path.clone()))?;
                Hierarchy::Tree(tree)
            }
            Levels::Intervals(widths) => Hierarchy::Intervals(widths.clone()),
            Levels::Prefix(lengths) => Hierarchy::Prefix(lengths.clone()),
            Levels::Dates(units) => Hierarchy::Dates(
                units.iter().map(|unit| named(DateUnit::NAMES, unit)).collect::<Result<_>>()?,
            ),
        })
    }
}

impl RecipePart {
    fn new(problem: &Problem, part: &MaskedPart) -> Self {
        let attributes = || problem.attributes.iter().enumerate();
        let limit = |(at, own): (usize, &Attribute)| {
            let ends = part.limits[at]?;
            Some((own.name.clone(), PartLimit::new(&own.domain, ends, &problem.rules.borders(at))))
        };
        RecipePart {
            limits: attributes().filter_map(limit).collect(),
            cells: attributes().map(|(at, own)| (own.name.clone(), cells(own, &part.masks[at]))).collect(),
        }
    }
}

impl PartLimit {
    /// What the codes of a part are; `borders` are the numbers between parts.
    fn new(domain: &Domain, (low, high): (u32, u32), borders: &[f64]) -> Self {
        match domain.scale() {
            Scale::Categorical(_) => {
                PartLimit::Values((low..=high).map(|code| domain.label(code).to_owned()).collect())
            }
            Scale::Numeric { .. } if domain.missing() == Some(low) => PartLimit::Missing,
            Scale::Numeric { values, .. } => {
                let inside = values[low as usize];
                PartLimit::Numbers(
                    borders.iter().copied().rfind(|border| *border < inside),
                    borders.iter().copied().find(|border| *border >= inside),
                )
            }
        }
    }

    /// Which codes of an attribute are of the part.
    fn codes(&self, attribute: &Attribute) -> Vec<bool> {
        let domain = &attribute.domain;
        let inside = |code: u32| match (self, domain.scale()) {
            (PartLimit::Missing, _) => domain.missing() == Some(code),
            (PartLimit::Values(values), _) => values.iter().any(|value| value == domain.label(code)),
            (PartLimit::Numbers(above, up_to), Scale::Numeric { values, .. }) => {
                values.get(code as usize).is_some_and(|value| {
                    above.is_none_or(|border| *value > border) && up_to.is_none_or(|border| *value <= border)
                })
            }
            (PartLimit::Numbers(..), Scale::Categorical(_)) => false,
        };
        (0..domain.len() as u32).map(inside).collect()
    }
}

/// Masks the records of a problem.
pub(crate) struct Masker {
    parts: Vec<PartMasker>,
    /// The distinct cells of each attribute.
    texts: Vec<Vec<String>>,
}

struct PartMasker {
    /// The attributes that tell whose records are of the part, and which codes are.
    limits: Vec<(usize, Vec<bool>)>,
    /// For each attribute the cell of each code, where one covers it.
    of_code: Vec<Vec<Option<u32>>>,
}

/// No cell covers a value.
const NOT_COVERED: u32 = u32::MAX;

impl Recipe {
    /// What masks the records of a problem over the recipe's attributes.
    pub(crate) fn masker(&self, problem: &Problem) -> Result<Masker> {
        let mut masker = Masker { parts: Vec::new(), texts: vec![Vec::new(); problem.attributes.len()] };
        if self.parts.is_empty() {
            let cells = |name: &str| self.attributes.get(name).map_or(&[][..], |own| &own.cells);
            masker.add(problem, &IndexMap::new(), cells)?;
        }
        for part in &self.parts {
            masker.add(problem, &part.limits, |name| part.cells.get(name).map_or(&[][..], Vec::as_slice))?;
        }
        Ok(masker)
    }
}

impl Masker {
    fn add<'a>(
        &mut self,
        problem: &Problem,
        limits: &IndexMap<String, PartLimit>,
        cells: impl Fn(&str) -> &'a [Mask],
    ) -> Result<()> {
        let mut part = PartMasker { limits: Vec::new(), of_code: Vec::new() };
        for (at, attribute) in problem.attributes.iter().enumerate() {
            if let Some(limit) = limits.get(&attribute.name) {
                part.limits.push((at, limit.codes(attribute)));
            }
            let finder = Finder::new(cells(&attribute.name))?;
            let texts = &mut self.texts[at];
            let mut place = |cell: u32| {
                let text = finder.text(Some(cell));
                texts.iter().position(|own| own == text).unwrap_or_else(|| {
                    texts.push(text.to_owned());
                    texts.len() - 1
                }) as u32
            };
            part.of_code
                .push(finder.cells_of(attribute).into_iter().map(|cell| cell.map(&mut place)).collect());
        }
        self.parts.push(part);
        Ok(())
    }

    /// The number of each record's cell of an attribute; equal numbers are equal cells.
    pub fn cells(&self, problem: &Problem, at: usize) -> Vec<u32> {
        let inside = |part: &&PartMasker, record: usize| {
            part.limits.iter().all(|(at, codes)| codes[problem.records.code(record, *at) as usize])
        };
        let cell = |record: usize| {
            let part = self.parts.iter().find(|part| inside(part, record))?;
            part.of_code[at][problem.records.code(record, at) as usize]
        };
        (0..problem.len()).map(|record| cell(record).unwrap_or(NOT_COVERED)).collect()
    }

    /// The text of a cell.
    pub fn text(&self, at: usize, cell: u32) -> &str {
        self.texts[at].get(cell as usize).map_or(ANY, String::as_str)
    }

    /// What there is to say of values that no cell covers.
    pub fn not_covered(&self, problem: &Problem, at: usize, cells: &[u32]) -> Option<Fact> {
        let attribute = &problem.attributes[at];
        // Without a hierarchy, hidden categories are not listed: they are meant to be published as `*`.
        let lists_all = attribute.domain.kind() == Kind::Numeric || attribute.has_hierarchy;
        let values = cells.iter().filter(|cell| **cell == NOT_COVERED).count();
        (lists_all && values > 0 && !self.texts[at].is_empty())
            .then(|| Fact::NotCovered { attribute: attribute.name.clone(), values })
    }
}

/// The cells of an attribute and what they cover.
fn cells(attribute: &Attribute, masks: &Masks) -> Vec<Mask> {
    let domain = &attribute.domain;
    let mask = |(low, high): (u32, u32)| {
        let cell = domain.half_open_cell(low, high);
        // Ends of ranges are told as numbers where they are not spelt as recipes are.
        let label = |code: u32| match domain.scale() {
            Scale::Numeric {
                values,
                spelling: Spelling::Comma | Spelling::Grouped | Spelling::Format(_),
            } => values[code as usize].to_string(),
            _ => domain.end_label(code).to_owned(),
        };
        let covers = match domain.scale() {
            Scale::Categorical(_) => Covers::Values((low..=high).map(label).collect()),
            Scale::Numeric { .. } if domain.missing() == Some(low) => Covers::Missing,
            Scale::Numeric { values, .. } => {
                let last = values.len() as u32 - 1;
                match high {
                    _ if low < high && high < last => Covers::Before(label(low), label(high + 1)),
                    _ => Covers::UpTo(label(low), label(high.min(last))),
                }
            }
        };
        Mask { cell, covers }
    };
    let published = masks.published();
    debug_assert!(masks.shape == Shape::Suppression || !published.is_empty());
    // What is covered by `*` needs no cell of its own.
    published.into_iter().map(mask).filter(|mask| mask.cell != ANY).collect()
}

/// Finds the cells of values.
pub(crate) struct Finder<'a> {
    cells: &'a [Mask],
    by_value: crate::table::Map<&'a str, u32>,
    /// Of ranges: lowest number, highest number, whether it is covered, and the cell.
    ranges: Vec<(f64, f64, bool, u32)>,
    missing: Option<u32>,
}

impl<'a> Finder<'a> {
    pub fn new(cells: &'a [Mask]) -> Result<Self> {
        let mut finder =
            Finder { cells, by_value: crate::table::Map::default(), ranges: Vec::new(), missing: None };
        let read = |text: &str| {
            value::date(text).or_else(|| value::number(text)).ok_or_else(|| {
                Error::new(
                    ErrorCode::BadRecipe,
                    "an interval of the recipe has an end that is neither number nor date",
                )
            })
        };
        for (number, mask) in (0..).zip(cells) {
            match &mask.covers {
                Covers::Values(values) => {
                    finder.by_value.extend(values.iter().map(|value| (value.as_str(), number)));
                }
                Covers::Before(low, high) => finder.ranges.push((read(low)?, read(high)?, false, number)),
                Covers::UpTo(low, high) => finder.ranges.push((read(low)?, read(high)?, true, number)),
                Covers::Missing => finder.missing = Some(number),
            }
        }
        Ok(finder)
    }

    /// The cell of each code of an attribute of other records, and whether any code has none and is published as `*`.
    pub fn cells_of(&self, attribute: &Attribute) -> Vec<Option<u32>> {
        let domain = &attribute.domain;
        (0..domain.len() as u32)
            .map(|code| match domain.scale() {
                _ if domain.missing() == Some(code) && self.missing.is_some() => self.missing,
                Scale::Categorical(_) => self.by_value.get(domain.label(code)).copied(),
                Scale::Numeric { values, .. } => {
                    let value = values.get(code as usize)?;
                    let covers = |(low, high, closed, _): &&(f64, f64, bool, u32)| {
                        low <= value && (value < high || (*closed && value == high))
                    };
                    self.ranges.iter().find(covers).map(|(.., number)| *number)
                }
            })
            .collect()
    }

    /// The text of a cell.
    pub fn text(&self, cell: Option<u32>) -> &str {
        cell.map_or(ANY, |cell| &self.cells[cell as usize].cell)
    }
}

/// Values that a hierarchy does not have become leaves below its root, where nothing but `*` covers them.
pub(crate) fn take_unknown_values_in(policy: &mut Policy, table: &Table) -> Result<()> {
    let missing = policy.missing.clone();
    for (column, name) in table.names().iter().enumerate() {
        if policy.role(name) != Role::Quasi {
            continue;
        }
        let Some(Hierarchy::Tree(tree)) =
            policy.attributes.get_mut(name).and_then(|attribute| attribute.hierarchy.as_mut())
        else {
            continue;
        };
        for text in table.values(column) {
            if !tree.contains(text) && !missing.iter().any(|marker| marker == text) {
                tree.push(vec![text.to_owned()])?;
            }
        }
        *tree = std::mem::take(tree).finish().map_err(|error| {
            error
                .in_file(table.origin())
                .for_attribute(name)
                .with_hint("the table has a value called like a group")
        })?;
    }
    Ok(())
}
