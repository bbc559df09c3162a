//! What published cells say.

use std::borrow::Cow;

use super::{Columns, Tables, midpoints};
use crate::error::{Error, ErrorCode, Result};
use crate::policy::Policy;
use crate::problem::{Attribute, Problem};
use crate::published::{AttributeCells, Cell, Cells};
use crate::table::tails::{AT_LEAST, AT_MOST, end_of};
use crate::table::value::{half_open_range, range};
use crate::table::{ANY, Map, NodeId, Scale, Table, Taxonomy};
use crate::words::shorten;

impl<'a> Cells<'a> {
    /// Reads the cells of a release.
    pub fn read(problem: &Problem, policy: &Policy, release: impl Into<Tables<'a>>) -> Result<Self> {
        let tables = release.into();
        Self::of_columns(problem, policy, tables, &super::release_columns(problem, tables.release)?)
    }

    pub(super) fn of_columns(
        problem: &Problem,
        policy: &Policy,
        tables: Tables<'a>,
        columns: &Columns,
    ) -> Result<Self> {
        let release = tables.release;
        let attributes = problem
            .attributes
            .iter()
            .zip(columns.of_attribute.iter().zip(&columns.middles))
            .map(|(attribute, (columns, middle))| match columns[..] {
                // Read below, once the others are known.
                _ if middle.is_some() => {
                    Ok(AttributeCells { cells: Vec::new(), of_row: Cow::Owned(Vec::new()) })
                }
                [low, high] => read_bounds(&CellReader::new(attribute, &policy.missing), release, low, high),
                _ => read_cells(&CellReader::new(attribute, &policy.missing), release, columns[0]),
            })
            .collect::<Result<_>>()?;
        let mut cells = Cells { attributes, stands_by: None };
        midpoints::fill(&mut cells, problem, policy, &tables, columns)?;
        Ok(cells)
    }
}

fn read_cells<'a>(reader: &CellReader<'_>, release: &'a Table, column: usize) -> Result<AttributeCells<'a>> {
    let cells = release
        .values(column)
        .iter()
        .enumerate()
        .map(|(entry, text)| reader.read(text).ok_or_else(|| unreadable(release, column, entry, text)))
        .collect::<Result<_>>()?;
    Ok(AttributeCells { cells, of_row: Cow::Borrowed(release.numbers(column)) })
}

fn read_bounds(
    reader: &CellReader<'_>,
    release: &Table,
    low: usize,
    high: usize,
) -> Result<AttributeCells<'static>> {
    let (lows, highs) = (release.values(low), release.values(high));
    let mut known: Map<(u32, u32), u32> = Map::default();
    let mut cells = Vec::new();
    let mut of_row = Vec::with_capacity(release.len());
    for (&low_number, &high_number) in release.numbers(low).iter().zip(release.numbers(high)) {
        let number = match known.get(&(low_number, high_number)) {
            Some(number) => *number,
            None => {
                let (low_text, high_text) = (lows[low_number as usize], highs[high_number as usize]);
                let cell = reader.read_pair(low_text, high_text);
                cells.push(cell.ok_or_else(|| unreadable(release, low, low_number as usize, low_text))?);
                known.insert((low_number, high_number), cells.len() as u32 - 1);
                cells.len() as u32 - 1
            }
        };
        of_row.push(number);
    }
    Ok(AttributeCells { cells, of_row: Cow::Owned(of_row) })
}

pub(super) fn unreadable(release: &Table, column: usize, entry: usize, text: &str) -> Error {
    release.error_at(
        column,
        entry as u32,
        Error::new(
            ErrorCode::NotThisRelease,
            format!("the published cell \"{}\" cannot be understood", shorten(text)),
        )
        .with_hint("it must be a value of the table, a range [low-high], a node of the hierarchy or *"),
    )
}

const NOTHING: Cell = Cell {
    ncp: 0.0,
    single: false,
    range: None,
    ends_before: None,
    leaves: (0, 0),
    missing: false,
    number: None,
};

/// Reads the cells of one attribute.
pub(super) struct CellReader<'a> {
    attribute: &'a Attribute,
    /// Widest node of each label.
    nodes: Map<&'a str, NodeId>,
    missing_label: Option<&'a str>,
    /// All texts of a missing value: a null reads as the first of them, whichever the table used.
    markers: &'a [String],
    first: f64,
    last: f64,
}

impl<'a> CellReader<'a> {
    pub fn new(attribute: &'a Attribute, markers: &'a [String]) -> Self {
        let domain = &attribute.domain;
        let missing_label = domain.missing().map(|code| domain.label(code));
        let mut nodes: Map<&str, NodeId> = Map::default();
        let (mut first, mut last) = (0.0, 0.0);
        match domain.scale() {
            Scale::Categorical(tree) => {
                // Backwards, so that of nodes with one label the highest remains; they hold the same leaves.
                for node in tree.nodes().rev() {
                    nodes.insert(tree.label(node), node);
                }
            }
            Scale::Numeric { values, .. } => {
                first = values.first().copied().unwrap_or(0.0);
                last = values.last().copied().unwrap_or(0.0);
            }
        }
        CellReader { attribute, nodes, missing_label, markers, first, last }
    }

    pub fn read(&self, text: &str) -> Option<Cell> {
        match self.attribute.domain.scale() {
            Scale::Categorical(tree) => self.read_node(tree, text),
            Scale::Numeric { .. } if text == ANY => Some(self.anything()),
            Scale::Numeric { .. } if self.is_missing(text) => Some(self.only_missing()),
            Scale::Numeric { values, .. } => {
                let single = |text: &str| self.attribute.domain.read(text).map(|number| (number, number));
                let read = |end: &str| self.attribute.domain.read(end);
                let closed = single(text).or_else(|| self.beyond(text)).or_else(|| range(text, read));
                let closed = closed.map(|ends| self.between(ends));
                closed.or_else(|| self.before(half_open_range(text, read)?, values))
            }
        }
    }

    fn read_pair(&self, low: &str, high: &str) -> Option<Cell> {
        if low == ANY && high == ANY {
            return Some(self.anything());
        }
        if self.is_missing(low) && self.is_missing(high) {
            return Some(self.only_missing());
        }
        let read = |text: &str| self.attribute.domain.read(end_of(text));
        let ends = (read(low)?, read(high)?);
        (ends.0 <= ends.1).then(|| self.between(ends))
    }

    /// What a cell such as `≥ 60` or `≤ 18` covers: as far as the table goes.
    fn beyond(&self, text: &str) -> Option<(f64, f64)> {
        let read = |end: &str| self.attribute.domain.read(end);
        match (text.strip_prefix(AT_LEAST), text.strip_prefix(AT_MOST)) {
            (Some(low), _) => read(low).map(|low| (low, self.last.max(low))),
            (None, Some(high)) => read(high).map(|high| (self.first.min(high), high)),
            (None, None) => None,
        }
    }

    fn is_missing(&self, text: &str) -> bool {
        self.missing_label
            .is_some_and(|label| label == text || self.markers.iter().any(|marker| marker == text))
    }

    /// Whether a cell in place of a number says nothing at all.
    pub fn tells_nothing(&self, text: &str) -> bool {
        text == ANY || self.is_missing(text)
    }

    pub fn anything(&self) -> Cell {
        let range = Some((self.first, self.last));
        Cell { ncp: 1.0, single: false, range, missing: self.missing_label.is_some(), ..NOTHING }
    }

    pub fn only_missing(&self) -> Cell {
        Cell { single: true, missing: true, ..NOTHING }
    }

    pub fn between(&self, (low, high): (f64, f64)) -> Cell {
        // Halved against overflow, as in the kernel.
        let width = self.last / 2.0 - self.first / 2.0;
        let ncp = if width > 0.0 { ((high / 2.0 - low / 2.0) / width).min(1.0) } else { 0.0 };
        Cell { ncp, single: low == high, range: Some((low, high)), ..NOTHING }
    }

    /// A half-open range. It loses as much as the numbers of the table inside of it, and covers all up to its end.
    fn before(&self, (low, end): (f64, f64), values: &[f64]) -> Option<Cell> {
        let high = values[..values.partition_point(|value| *value < end)].last()?;
        Some(Cell { ends_before: Some(end), ..self.between((low, high.max(low))) })
    }

    fn read_node(&self, tree: &Taxonomy, text: &str) -> Option<Cell> {
        let node = *self.nodes.get(text)?;
        let leaves = tree.leaves_under(node);
        let single = leaves.len() == 1 && !(text == ANY && tree.leaf_count() > 1);
        let ncp = if single { 0.0 } else { tree.share(node) };
        let missing = self.attribute.domain.missing().is_some_and(|code| leaves.contains(&(code as usize)));
        Some(Cell { ncp, single, leaves: (leaves.start as u32, leaves.end as u32), missing, ..NOTHING })
    }
}
