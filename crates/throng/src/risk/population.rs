//! The population that a table was drawn from, matched with it by quasi-identifiers.

use std::path::Path;

use super::Grouped;
use crate::classes::Classes;
use crate::data::{Attribute, Data};
use crate::error::{Error, ErrorCode, Result};
use crate::schema::Kind;
use crate::table::{Map, Reading, Storage, Table};
use crate::watch::Watch;
use crate::words::did_you_mean;

/// A value that does not occur in the table.
const ELSEWHERE: u32 = u32::MAX;

/// Reads the quasi-identifiers of a population; its other columns do not matter.
pub fn read(path: &Path, data: &Data, missing: &[String], watch: &dyn Watch) -> Result<Table> {
    let names: Vec<&str> = data.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    read_columns(path, &names, missing, watch)
}

/// The same of a population that is opened in any way.
pub fn open(
    data: &Data,
    missing: &[String],
    watch: &dyn Watch,
    open: impl FnOnce(&Reading<'_>) -> Result<Table>,
) -> Result<Table> {
    let names: Vec<&str> = data.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    open_columns(&names, missing, watch, open)
}

/// Reads some columns of a population.
pub(crate) fn read_columns(
    path: &Path,
    wanted: &[&str],
    missing: &[String],
    watch: &dyn Watch,
) -> Result<Table> {
    open_columns(wanted, missing, watch, |reading| Table::read(path, reading))
}

fn open_columns(
    wanted: &[&str],
    missing: &[String],
    watch: &dyn Watch,
    open: impl FnOnce(&Reading<'_>) -> Result<Table>,
) -> Result<Table> {
    let plan = |names: &[String]| {
        wanted.iter().try_for_each(|name| check_column(names, name))?;
        let storage =
            |name: &String| if wanted.contains(&name.as_str()) { Storage::Coded } else { Storage::Skip };
        Ok(names.iter().map(storage).collect())
    };
    let missing = missing.first().map_or("", String::as_str);
    open(&Reading::new(&plan, watch).missing(missing))
}

fn check_column(names: &[String], wanted: &str) -> Result<()> {
    if names.iter().any(|name| name == wanted) {
        return Ok(());
    }
    let hint = match did_you_mean(wanted, names.iter().map(String::as_str)) {
        Some(name) => format!("its column \"{name}\" may be the one: give it the same name as in the table"),
        None => "the population needs every quasi-identifier of the policy".to_owned(),
    };
    Err(Error::new(ErrorCode::UnknownColumn, format!("the population has no column \"{wanted}\""))
        .for_attribute(wanted)
        .with_hint(hint))
}

/// The population's quasi-identifiers in the codes of the table.
pub(crate) fn codes(attributes: &[Attribute], population: &Table, missing: &[String]) -> Vec<Vec<u32>> {
    let column = |attribute: &Attribute| {
        let code = Lookup::new(attribute, missing);
        of_rows(attribute, population, ELSEWHERE, |text| code.find(text))
    };
    attributes.iter().map(column).collect()
}

/// Where the rows of a population stand in an attribute: at the number, at the place of the leaf, at infinity for a
/// missing number; not a number for what is neither.
pub(crate) fn places(attribute: &Attribute, population: &Table, missing: &[String]) -> Vec<f64> {
    let code = Lookup::new(attribute, missing);
    let place = |text: &str| match attribute.domain.kind() {
        Kind::Numeric if missing.iter().any(|marker| marker == text) => f64::INFINITY,
        Kind::Numeric => {
            attribute.domain.read(text).map_or(f64::NAN, |number| attribute.domain.within_tails(number))
        }
        Kind::Categorical => match code.find(text) {
            ELSEWHERE => f64::NAN,
            leaf => f64::from(leaf),
        },
    };
    of_rows(attribute, population, f64::NAN, place)
}

/// What the cells of an attribute say, row by row; `absent` where there is no such column.
fn of_rows<T: Copy>(
    attribute: &Attribute,
    population: &Table,
    absent: T,
    read: impl Fn(&str) -> T,
) -> Vec<T> {
    let Some(column) = population.names().iter().position(|name| *name == attribute.name) else {
        return vec![absent; population.len()];
    };
    let of_value: Vec<T> = population.values(column).iter().map(|text| read(text)).collect();
    population.numbers(column).iter().map(|number| of_value[*number as usize]).collect()
}

/// Finds the codes of texts in an attribute's domain.
struct Lookup<'a> {
    attribute: &'a Attribute,
    missing: &'a [String],
    /// Categories by their label; numbers have several spellings and are searched by value.
    labels: Map<&'a str, u32>,
}

impl<'a> Lookup<'a> {
    fn new(attribute: &'a Attribute, missing: &'a [String]) -> Self {
        let domain = &attribute.domain;
        let labels = match domain.kind() {
            Kind::Categorical => (0..domain.len() as u32).map(|code| (domain.label(code), code)).collect(),
            Kind::Numeric => Map::default(),
        };
        Lookup { attribute, missing, labels }
    }

    fn find(&self, text: &str) -> u32 {
        let domain = &self.attribute.domain;
        if self.missing.iter().any(|marker| marker == text) {
            return domain.missing().unwrap_or(ELSEWHERE);
        }
        let code = match domain.kind() {
            Kind::Categorical => self.labels.get(domain.at_finest(text).as_ref()).copied(),
            Kind::Numeric => domain.read(text).and_then(|_| domain.code(text)),
        };
        code.unwrap_or(ELSEWHERE)
    }
}

/// The table's classes with their people in the population, found by grouping both together.
pub(super) fn classes(
    data: &Data,
    sample: &[Vec<u32>],
    population: &[Vec<u32>],
    table: &Table,
    notes: &mut Vec<String>,
) -> Grouped {
    let rows = data.len();
    let both: Vec<Vec<u32>> =
        sample.iter().zip(population).map(|(own, other)| [&own[..], other].concat()).collect();
    let grouped = Classes::group_numbers(&both, rows + table.len());
    let mut classes = Grouped { classes: Vec::new(), of_record: vec![0; rows] };
    let (mut short_classes, mut short_records) = (0, 0);
    for at in 0..grouped.len() {
        // Rows ascend, so those of the table come first.
        let own = grouped.rows(at).partition_point(|row| (*row as usize) < rows);
        let (others, own) = (grouped.size(at) - own, &grouped.rows(at)[..own]);
        let people = data.people_among(own);
        if others < people {
            short_classes += 1;
            short_records += own.len() as u64;
        }
        if !own.is_empty() {
            classes.push(own, people as u64, others.max(people) as f64);
        }
    }
    if short_classes > 0 {
        notes.push(format!(
            "{short_classes} classes with {short_records} records have fewer people in the population than in the \
             table, so the population does not contain the table; for these the table was counted instead"
        ));
    }
    classes
}
