//! Whether a release is true: each of its rows is explained by a record of the table, and no record explains two.
//!
//! A record explains a row if its quasi-identifiers lie within the row's cells and all that is published as it is (sensitive
//! and class values, passed-through columns) is the same. Where rows come in the table's order that is all there is to check.
//! Otherwise rows are matched with records: exactly by a maximum flow, as long as not too many pairs have to be looked at. In
//! larger tables two bounds are checked instead: that no value is published more often than the table has it, and that every
//! row is explained by some record; the report says that it was no more than that.
//!
//! In a release by permutation the sensitive values stand apart, by group: those of each group are held against the records
//! that its rows may be (`groups`).
//!
//! Cost: one look at each pair of a kind of row and a record in its most telling attribute, and the flow.

mod groups;
mod matching;
mod sides;

use serde::{Deserialize, Serialize};

use super::{Received, is_derived, midpoints};
use crate::audit::permutation;
use crate::classes::Classes;
use crate::collections::sort_by_key_and_id;
use crate::error::Result;
use crate::policy::{Policy, Unlisted};
use crate::problem::Problem;
use crate::published::Cells;
use crate::release::permutation::GROUP;
use crate::table::Table;
use crate::watch::Watch;

use matching::Bipartite;
use sides::{Passed, Span};

/// More pairs of rows and records than these are too dear to look at.
const MOST_PAIRS: u64 = 200_000_000;
/// More of them that fit than these are too dear to match.
const MOST_EDGES: u64 = 30_000_000;

/// How a release was compared with its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compared {
    /// Row by row, in the table's order.
    Order,
    /// By matching rows with records, exactly.
    Matching,
    /// By bounds: too large to be matched.
    Bounds,
}

/// Whether a release says what its table says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// How it was compared.
    pub compared: Compared,
    /// Rows that no record explains which does not explain another; at least so many where bounds were checked.
    pub unexplained: u64,
}

/// Compares a release with its table: what was found, and a sentence for everything that is not true.
pub(crate) fn check(
    table: &Table,
    problem: &Problem,
    policy: &Policy,
    received: &Received,
    watch: &dyn Watch,
) -> Result<(Truth, Vec<String>)> {
    watch.stage("comparing with the table", None);
    let release = &received.table;
    let mut told = unknown_columns(table, problem, policy, release);
    let passed = sides::passed(table, problem, policy, received)?;
    let cells = Cells::read(problem, policy, received)?;
    let sides = Sides::new(problem, &cells, &passed);
    let truth = sides.compare(watch)?;
    let changed = passed.iter().map(|own| (own.name.as_str(), own.surplus()));
    let dealt = groups::surplus(problem, received, &sides)?;
    for (name, rows) in changed.chain(dealt).filter(|(_, rows)| *rows > 0) {
        told.push(format!(
            "values of \"{name}\" were changed or added: {rows} of them the table does not have, or not as often"
        ));
    }
    let columns = super::release_columns(problem, release)?;
    for (at, middle) in columns.middles.iter().enumerate() {
        if let Some(middle) = middle
            && cells.stands_by != Some("order")
            && midpoints::impossible(problem, &cells, at, *middle)
        {
            let name = &release.names()[columns.of_attribute[at][0]];
            told.push(format!(
                "the numbers of \"{name}\" cannot be what its name says of any groups of the table"
            ));
        }
    }
    if truth.unexplained > 0 {
        let least = if truth.compared == Compared::Bounds { "at least " } else { "" };
        told.push(format!(
            "{least}{} of {} rows are explained by no record of their own of the table: their cells or values were changed, \
             or they were added",
            truth.unexplained,
            release.len()
        ));
    }
    Ok((truth, told))
}

/// Columns that should not be there.
fn unknown_columns(table: &Table, problem: &Problem, policy: &Policy, release: &Table) -> Vec<String> {
    let permuted = permutation::is_permuted(problem, release);
    let bound = |name: &str| problem.attributes.iter().any(|own| is_derived(&own.name, name));
    let told = |name: &String| {
        let known = policy.attributes.contains_key(name) || bound(name) || (permuted && name == GROUP);
        match (table.names().contains(name), policy.unlisted) {
            _ if known => None,
            (false, _) => Some(format!(
                "the release has a column \"{name}\" that neither the table nor the policy knows"
            )),
            (true, Unlisted::Drop) => Some(format!(
                "the column \"{name}\" is published, though the policy drops what it does not mention"
            )),
            (true, _) => None,
        }
    };
    release.names().iter().filter_map(told).collect()
}

/// Both sides of a comparison.
struct Sides<'a> {
    /// The codes of each record, attribute by attribute.
    points: Vec<Vec<u32>>,
    /// What the distinct cells of each attribute cover, and which of them each row has.
    spans: Vec<(Vec<Span>, &'a [u32])>,
    passed: &'a [Passed],
    records: usize,
    rows: usize,
}

impl<'a> Sides<'a> {
    fn new(problem: &Problem, cells: &'a Cells<'_>, passed: &'a [Passed]) -> Self {
        let attributes = problem.attributes.iter().enumerate();
        let spans: Vec<(Vec<Span>, &[u32])> =
            attributes.map(|(at, attribute)| sides::spans(attribute, cells, at)).collect();
        let rows = spans.first().map_or(0, |(_, of_row)| of_row.len());
        Sides { points: sides::points(problem), spans, passed, records: problem.len(), rows }
    }

    fn compare(&self, watch: &dyn Watch) -> Result<Truth> {
        if self.rows == self.records && (0..self.rows).all(|row| self.explains(row, row)) {
            return Ok(Truth { compared: Compared::Order, unexplained: 0 });
        }
        watch.check()?;
        let (rows, records) = (self.kinds_of_rows(), self.kinds_of_records());
        let index = Index::new(self, &records);
        let pairs: u64 =
            (0..rows.len()).map(|kind| index.candidates(self, rows.first_row(kind)).len() as u64).sum();
        let matched = match pairs <= MOST_PAIRS {
            true => self.matched(&rows, &records, &index, watch)?,
            false => None,
        };
        Ok(match matched {
            Some(unexplained) => Truth { compared: Compared::Matching, unexplained },
            None => {
                Truth { compared: Compared::Bounds, unexplained: self.bound(&rows, &records, &index, watch)? }
            }
        })
    }

    fn explains(&self, record: usize, row: usize) -> bool {
        self.covers(record, row) && self.passed.iter().all(|own| own.of_record[record] == own.of_row[row])
    }

    fn covers(&self, record: usize, row: usize) -> bool {
        let mut attributes = self.points.iter().zip(&self.spans);
        attributes.all(|(codes, (spans, of_row))| spans[of_row[row] as usize].covers(codes[record]))
    }

    /// Rows that read alike.
    fn kinds_of_rows(&self) -> Classes {
        let cells = self.spans.iter().map(|(_, of_row)| *of_row);
        let columns: Vec<&[u32]> = cells.chain(self.passed.iter().map(|own| &own.of_row[..])).collect();
        Classes::group_numbers(&columns, self.rows)
    }

    /// Records that are alike.
    fn kinds_of_records(&self) -> Classes {
        let codes = self.points.iter().map(|codes| &codes[..]);
        let columns: Vec<&[u32]> = codes.chain(self.passed.iter().map(|own| &own.of_record[..])).collect();
        Classes::group_numbers(&columns, self.records)
    }

    /// The rows that stay unexplained at best; nothing if that is too dear to find.
    fn matched(
        &self,
        rows: &Classes,
        records: &Classes,
        index: &Index,
        watch: &dyn Watch,
    ) -> Result<Option<u64>> {
        let mut both = Bipartite::new((0..records.len()).map(|kind| records.size(kind) as u64).collect());
        let mut edges = 0;
        for kind in 0..rows.len() {
            watch.check()?;
            let row = rows.first_row(kind);
            let explain = |kind: &&u32| self.explains(records.first_row(**kind as usize), row);
            let own: Vec<u32> = index.candidates(self, row).iter().filter(explain).copied().collect();
            edges += own.len() as u64;
            if edges > MOST_EDGES {
                return Ok(None);
            }
            both.add(rows.size(kind) as u64, own);
        }
        Ok(Some(both.unexplained()))
    }

    /// Rows that no record explains at all, looked for as long as that is not too dear.
    fn bound(&self, rows: &Classes, records: &Classes, index: &Index, watch: &dyn Watch) -> Result<u64> {
        let (mut unexplained, mut looked) = (0, 0);
        for kind in 0..rows.len() {
            watch.check()?;
            let row = rows.first_row(kind);
            let candidates = index.candidates(self, row);
            let found =
                candidates.iter().position(|kind| self.explains(records.first_row(*kind as usize), row));
            looked += found.map_or(candidates.len(), |at| at + 1) as u64;
            unexplained += if found.is_none() { rows.size(kind) as u64 } else { 0 };
            if looked > MOST_PAIRS {
                break;
            }
        }
        Ok(unexplained)
    }
}

/// Kinds of records by their codes in each attribute, so that those within a cell are found at once.
struct Index {
    /// For each attribute the kinds in the order of their codes, and where each code begins.
    attributes: Vec<(Vec<u32>, Vec<usize>)>,
    all: Vec<u32>,
}

impl Index {
    fn new(sides: &Sides<'_>, records: &Classes) -> Self {
        let of_attribute = |codes: &Vec<u32>| {
            let code = |kind: &u32| codes[records.first_row(*kind as usize)];
            let mut kinds: Vec<u32> = (0..records.len() as u32).collect();
            sort_by_key_and_id(&mut kinds, |kind| code(&kind) as usize);
            let last = codes.iter().max().map_or(0, |code| *code as usize + 1);
            let starts =
                (0..=last).map(|value| kinds.partition_point(|kind| (code(kind) as usize) < value)).collect();
            (kinds, starts)
        };
        let attributes = sides.points.iter().map(of_attribute).collect();
        Index { attributes, all: (0..records.len() as u32).collect() }
    }

    /// The kinds of records within the cell of a row that the fewest are within.
    fn candidates(&self, sides: &Sides<'_>, row: usize) -> &[u32] {
        let within = |(at, (kinds, starts)): (usize, &'_ (Vec<u32>, Vec<usize>))| {
            let (spans, of_row) = &sides.spans[at];
            let span = spans[of_row[row] as usize];
            let place = |code: u32| starts.get(code as usize).copied().unwrap_or(kinds.len());
            match span.missing.filter(|missing| !(span.from..span.end).contains(missing)) {
                // A missing value has the last code, so both lie in one stretch only if the cell covers what is between.
                Some(missing) if span.from < span.end => (at, place(span.from)..place(missing + 1)),
                Some(missing) => (at, place(missing)..place(missing + 1)),
                None => (at, place(span.from)..place(span.end)),
            }
        };
        let narrowest =
            self.attributes.iter().enumerate().map(within).min_by_key(|(at, range)| (range.len(), *at));
        narrowest.map_or(&self.all[..], |(at, range)| &self.attributes[at].0[range])
    }
}
