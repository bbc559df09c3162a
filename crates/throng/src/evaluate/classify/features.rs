//! What a classifier learns from: the attributes of a table or release, and the class of each record.

use crate::audit::{Cell, Cells, is_derived};
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::method::refine::Masks;
use crate::policy::{Policy, Role};
use crate::problem::{Attribute, Problem};
use crate::table::domain::guess_spelling;
use crate::table::{Map, Scale, Table};

/// Records with their class.
#[derive(Clone, Debug)]
pub struct Data {
    /// What is known of each record.
    pub features: Vec<Feature>,
    /// The class of each record.
    pub labels: Vec<u32>,
    /// Number of classes.
    pub classes: usize,
}

/// One attribute.
#[derive(Clone, Debug)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Whether it is a quasi-identifier.
    pub quasi: bool,
    /// Its values.
    pub values: Values,
}

/// The values of an attribute, record by record.
#[derive(Clone, Debug)]
pub enum Values {
    /// Categories, numbered.
    Categories {
        /// The category of each record.
        of: Vec<u32>,
        /// How many there are.
        count: usize,
    },
    /// Numbers, known up to a range.
    Ranges {
        /// Lowest and highest value each record may have.
        ends: Vec<(f64, f64)>,
        /// Whether all of them are whole numbers.
        whole: bool,
    },
}

/// How published ranges of numbers are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// As categories if no two of them overlap, else by their overlap.
    Auto,
    /// Every range is a category.
    Categories,
    /// By how much of a range lies on each side of a split.
    Overlap,
}

impl Data {
    /// The records of a problem as they are; `table` has every column coded.
    pub fn of_table(problem: &Problem, policy: &Policy, table: &Table) -> Result<Self> {
        let rows: Vec<usize> = (0..problem.len() as u32).map(|record| problem.row(record)).collect();
        let class = class_of(problem)?;
        let features = columns(problem, policy, table)
            .map(|(column, name)| {
                let quasi = problem.attributes.iter().position(|attribute| attribute.name == *name);
                let values = match quasi {
                    Some(at) => own_values(problem, at),
                    None => column_values(&[(table, column, &rows)], policy),
                };
                Feature { name: name.clone(), quasi: quasi.is_some(), values }
            })
            .collect();
        let class = &problem.labels[class];
        Ok(Data { features, labels: class.codes.clone(), classes: class.domain.len() })
    }

    /// The rows of a release, every column of it coded.
    pub fn of_release(
        problem: &Problem,
        policy: &Policy,
        release: &Table,
        cells: &Cells<'_>,
        ranges: Ranges,
    ) -> Result<Self> {
        let class = &problem.labels[class_of(problem)?];
        let labels = crate::audit::codes_of(class, release)?;
        let rows: Vec<usize> = (0..release.len()).collect();
        let quasi = problem.attributes.iter().enumerate().map(|(at, attribute)| {
            let (cells, of_row) = cells.of_attribute(at);
            Feature {
                name: attribute.name.clone(),
                quasi: true,
                values: published_values(attribute, cells, of_row, ranges),
            }
        });
        let bounds = |name: &String| problem.attributes.iter().any(|own| is_derived(&own.name, name));
        let others = columns(problem, policy, release)
            .filter(|(_, name)| !is_quasi(problem, name) && !bounds(name))
            .map(|(column, name)| Feature {
                name: name.clone(),
                quasi: false,
                values: column_values(&[(release, column, &rows)], policy),
            });
        Ok(Data { features: quasi.chain(others).collect(), labels, classes: class.domain.len() })
    }

    /// The same records with their quasi-identifiers masked by a recoding.
    pub fn masked(&self, problem: &Problem, masks: &[Masks]) -> Self {
        let mut data = self.clone();
        for (at, (attribute, masks)) in problem.attributes.iter().zip(masks).enumerate() {
            let own = data.features.iter_mut().find(|feature| feature.name == attribute.name);
            if let Some(feature) = own {
                feature.values = masked_values(problem, at, masks);
            }
        }
        data
    }

    /// Without quasi-identifiers.
    pub fn without_quasi(&self) -> Self {
        let mut data = self.clone();
        data.features.retain(|feature| !feature.quasi);
        data
    }
}

fn class_of(problem: &Problem) -> Result<usize> {
    match problem.labels.is_empty() {
        false => Ok(0),
        true => Err(Error::new(ErrorCode::NoClass, "the policy has no class to predict")
            .with_hint("give the attribute that recipients want to predict `role = \"class\"`")),
    }
}

fn is_quasi(problem: &Problem, name: &str) -> bool {
    problem.attributes.iter().any(|attribute| attribute.name == name)
}

/// The columns that may be learned from.
pub(super) fn columns<'a>(
    problem: &'a Problem,
    policy: &'a Policy,
    table: &'a Table,
) -> impl Iterator<Item = (usize, &'a String)> {
    let class = &problem.labels[0].name;
    let learned =
        move |name: &String| name != class && !matches!(policy.role(name), Role::Identifier | Role::Person);
    table.names().iter().enumerate().filter(move |(_, name)| learned(name))
}

/// The values of a quasi-identifier in the table; a missing number may be any.
pub(super) fn own_values(problem: &Problem, at: usize) -> Values {
    let domain = &problem.attributes[at].domain;
    let codes = (0..problem.len()).map(|record| problem.records.code(record, at));
    match domain.scale() {
        Scale::Categorical(_) => Values::Categories { of: codes.collect(), count: domain.len() },
        Scale::Numeric { values, .. } => {
            let all = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
            let end = |code: u32| values.get(code as usize).map_or(all, |value| (*value, *value));
            ranges(codes.map(end).collect())
        }
    }
}

pub(super) fn ranges(ends: Vec<(f64, f64)>) -> Values {
    let whole = ends.iter().all(|(low, high)| low.fract() == 0.0 && high.fract() == 0.0);
    Values::Ranges { ends, whole }
}

/// Some rows of a column of a table.
pub(super) type Column<'a> = (&'a Table, usize, &'a [usize]);

/// The values of a column that is published as it is, of one table after the other.
pub(super) fn column_values(columns: &[Column<'_>], policy: &Policy) -> Values {
    let is_missing = |text: &str| policy.missing.iter().any(|marker| marker == text);
    let texts = || columns.iter().flat_map(|(table, column, _)| table.values(*column));
    // Each table has numbers of its own for texts.
    let mut of = Vec::new();
    let mut distinct: Map<&str, u32> = Map::default();
    for (table, column, rows) in columns {
        let own: Vec<u32> = table
            .values(*column)
            .into_iter()
            .map(|text| {
                let next = distinct.len() as u32;
                *distinct.entry(text).or_insert(next)
            })
            .collect();
        let numbers = table.numbers(*column);
        of.extend(rows.iter().map(|row| own[numbers[*row] as usize]));
    }
    let Some(spelling) = guess_spelling(texts().filter(|text| !is_missing(text))) else {
        return Values::Categories { of, count: distinct.len() };
    };
    let read = |text: &str| spelling.read(text);
    let known = || texts().filter(|text| !is_missing(text)).filter_map(read);
    let all = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let mut ends = vec![all; distinct.len()];
    for text in texts() {
        if let (Some(value), Some(number)) = (read(text), distinct.get(text)) {
            ends[*number as usize] = (value, value);
        }
    }
    ranges(of.into_iter().map(|number| ends[number as usize]).collect())
}

fn published_values(attribute: &Attribute, cells: &[Cell], of_row: &[u32], how: Ranges) -> Values {
    let categories = || Values::Categories { of: of_row.to_vec(), count: cells.len() };
    let Scale::Numeric { values, .. } = attribute.domain.scale() else { return categories() };
    let all = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    let single = cells.iter().all(|cell| cell.single || cell.number.is_some());
    let as_categories = match how {
        Ranges::Auto => !single && apart(cells),
        Ranges::Categories => !single,
        Ranges::Overlap => false,
    };
    if as_categories {
        return categories();
    }
    ranges(of_row.iter().map(|cell| cells[*cell as usize].shown().unwrap_or(all)).collect())
}

/// Whether no two cells cover the same number.
fn apart(cells: &[Cell]) -> bool {
    let mut covered: Vec<(f64, f64)> = cells.iter().filter_map(|cell| cell.range).collect();
    covered.arrange_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    covered.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

fn masked_values(problem: &Problem, at: usize, masks: &Masks) -> Values {
    let attribute = &problem.attributes[at];
    // Codes in no published range are hidden together.
    let (published, of_code) = masks.told(attribute.domain.len());
    let numeric = matches!(attribute.domain.scale(), Scale::Numeric { .. });
    if numeric && published.iter().all(|(low, high)| low == high) {
        return own_values(problem, at);
    }
    let of: Vec<u32> =
        (0..problem.len()).map(|record| of_code[problem.records.code(record, at) as usize] as u32).collect();
    let hidden = of.contains(&(published.len() as u32));
    Values::Categories { of, count: published.len() + usize::from(hidden) }
}
