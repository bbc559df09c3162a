//! The two sides of a matching: records as points of codes, published rows as boxes around them, and on both sides the values
//! that must be the same.

use crate::audit::{Received, codes_of, permutation};
use crate::collections::Map;
use crate::data::{Attribute, Code};
use crate::error::Result;
use crate::formula::{MARK, has_mark};
use crate::policy::{Policy, Role};
use crate::problem::Problem;
use crate::published::{Cell, Cells};
use crate::table::{Distinct, Scale, Table, value};
use crate::with_matrix;

/// A column that is published as it is: a number for each value, the same on both sides.
pub(super) struct Passed {
    pub name: String,
    pub of_record: Vec<u32>,
    pub of_row: Vec<u32>,
    /// How many values there are; numbers from here on are of values that the table does not have.
    pub known: u32,
}

impl Passed {
    /// Rows that hold a value more often than the table does: those at least were changed or added.
    pub fn surplus(&self) -> u64 {
        let size = self.of_row.iter().max().map_or(0, |most| *most as usize + 1).max(self.known as usize);
        let mut counts = vec![0i64; size];
        self.of_record.iter().for_each(|number| counts[*number as usize] += 1);
        self.of_row.iter().for_each(|number| counts[*number as usize] -= 1);
        counts.into_iter().filter(|count| *count < 0).map(i64::unsigned_abs).sum()
    }
}

/// The columns that table and release both have and that are published as they are.
pub(super) fn passed(
    table: &Table,
    problem: &Problem,
    policy: &Policy,
    received: &Received,
) -> Result<Vec<Passed>> {
    let release = &received.table;
    let permuted = permutation::is_permuted(problem, release);
    let counted = problem.sensitive.iter().filter(|_| !permuted).chain(&problem.labels);
    let mut passed = Vec::new();
    for own in counted.filter(|own| release.names().contains(&own.name)) {
        passed.push(Passed {
            name: own.name.clone(),
            of_record: own.codes.clone(),
            of_row: codes_of(own, release)?,
            known: own.domain.len() as u32,
        });
    }
    let coded = |name: &String| {
        problem.attributes.iter().any(|own| own.name == *name)
            || problem.sensitive.iter().chain(&problem.labels).any(|own| own.name == *name)
    };
    // A number of each person stands in place of what the table has, and is not to be found there.
    let own = |name: &String| !coded(name) && policy.role(name) != Role::Person;
    for (at, name) in release.names().iter().enumerate().filter(|(_, name)| own(name)) {
        let own = table.names().iter().position(|column| column == name).and_then(|own| table.distinct(own));
        if let (Some(own), Some(published)) = (own, release.distinct(at)) {
            passed.push(texts(name, &own, &published, problem, &policy.missing));
        }
    }
    Ok(passed)
}

/// Numbers texts alike on both sides. Another spelling of a number, or another marker of a missing cell, is no other value.
fn texts(
    name: &str,
    table: &Distinct<'_>,
    release: &Distinct<'_>,
    problem: &Problem,
    missing: &[String],
) -> Passed {
    let mut numbers: Map<String, u32> = Map::default();
    let mut number = |text: &str| {
        let next = numbers.len() as u32;
        *numbers.entry(plain(text, missing)).or_insert(next)
    };
    let of_table: Vec<u32> = table.texts().map(&mut number).collect();
    let known = of_table.iter().max().map_or(0, |most| most + 1);
    let of_release: Vec<u32> = release.texts().map(&mut number).collect();
    let records = 0..problem.len() as u32;
    Passed {
        name: name.to_owned(),
        of_record: records.map(|record| of_table[table.numbers[problem.row(record)] as usize]).collect(),
        of_row: release.numbers.iter().map(|number| of_release[*number as usize]).collect(),
        known,
    }
}

fn plain(text: &str, missing: &[String]) -> String {
    match value::number(text) {
        _ if missing.iter().any(|marker| marker == text) => "missing".to_owned(),
        Some(number) if !value::looks_like_label(text) => format!("number {}", number + 0.0),
        // Marks before formulas are not told from those that were there already.
        _ if has_mark(text) => format!("text {}", text.trim_start_matches(MARK)),
        _ => format!("text {text}"),
    }
}

/// The codes that a cell covers: those of a stretch, and perhaps that of a missing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub from: u32,
    pub end: u32,
    pub missing: Option<u32>,
}

impl Span {
    /// The only code that it covers.
    pub fn only(self) -> Option<u32> {
        match self.end - self.from {
            0 => self.missing,
            1 if self.missing.is_none_or(|missing| missing == self.from) => Some(self.from),
            _ => None,
        }
    }

    pub fn covers(self, code: u32) -> bool {
        (self.from..self.end).contains(&code) || self.missing == Some(code)
    }
}

/// What each distinct cell of an attribute covers, and which of them each row has.
pub(super) fn spans<'a>(attribute: &Attribute, cells: &'a Cells<'_>, at: usize) -> (Vec<Span>, &'a [u32]) {
    let (cells, of_row) = cells.of_attribute(at);
    (cells.iter().map(|cell| span(attribute, cell)).collect(), of_row)
}

fn span(attribute: &Attribute, cell: &Cell) -> Span {
    let missing = attribute.domain.missing().filter(|_| cell.missing);
    match (attribute.domain.scale(), cell.range) {
        (Scale::Categorical(_), _) => Span { from: cell.leaves.0, end: cell.leaves.1, missing },
        (Scale::Numeric { .. }, None) => Span { from: 0, end: 0, missing },
        (Scale::Numeric { values, .. }, Some((low, high))) => {
            let from = values.partition_point(|value| *value < low) as u32;
            let end = values.partition_point(|value| *value <= high) as u32;
            Span { from, end: end.max(from), missing }
        }
    }
}

/// The codes of each record, attribute by attribute.
pub(super) fn points(problem: &Problem) -> Vec<Vec<u32>> {
    let code =
        |row: usize, at: usize| with_matrix!(&problem.records, matrix => matrix.get(row, at).index() as u32);
    (0..problem.attributes.len()).map(|at| (0..problem.len()).map(|row| code(row, at)).collect()).collect()
}
