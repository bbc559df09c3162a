//! A release as its readers see it: rows in classes of equal cells, and what the cells say.
//!
//! The audit reads it from a file; requirements are measured on it and on nothing else, so that no method is trusted.

use std::borrow::Cow;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::classes::Classes;
use crate::privacy::Histogram;
use crate::problem::Problem;
use crate::table::Table;

/// What one cell says of its attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Its penalty, 0 … 1, unweighted.
    pub ncp: f64,
    /// Whether it stands for one value.
    pub single: bool,
    /// The numbers it covers, for numeric attributes; a half-open range up to the last number of the table that it covers,
    /// as its loss is measured.
    pub range: Option<(f64, f64)>,
    /// The number that a half-open range ends before.
    pub ends_before: Option<f64>,
    /// The leaves it covers, for categories.
    pub leaves: (u32, u32),
    /// Whether it may stand for a missing value.
    pub missing: bool,
}

impl Cell {
    /// The lowest and highest number that it covers as a reader understands it: `[60-70)` covers all numbers from 60 up to 70,
    /// whether the table has them or not.
    pub fn numbers(&self) -> Option<(f64, f64)> {
        let (low, high) = self.range?;
        Some((low, self.ends_before.map_or(high, f64::next_down)))
    }
}

/// What the cells of a release say of each quasi-identifier.
pub struct Cells<'a> {
    pub(crate) attributes: Vec<AttributeCells<'a>>,
}

pub(crate) struct AttributeCells<'a> {
    /// Meaning of each distinct cell, or pair of cells where bounds were published.
    pub cells: Vec<Cell>,
    pub of_row: Cow<'a, [u32]>,
}

impl Cells<'_> {
    /// What the cell of an attribute in a row of the release says.
    pub fn cell(&self, attribute: usize, row: usize) -> &Cell {
        let cells = &self.attributes[attribute];
        &cells.cells[cells.of_row[row] as usize]
    }

    /// The distinct cells of an attribute, and which of them each row has.
    pub fn of_attribute(&self, attribute: usize) -> (&[Cell], &[u32]) {
        let cells = &self.attributes[attribute];
        (&cells.cells, &cells.of_row)
    }
}

/// A release, ready to be measured.
pub struct Published<'a> {
    /// The table under its policy.
    pub problem: &'a Problem,
    /// The release.
    pub(crate) table: &'a Table,
    /// The release's columns of each quasi-identifier: one, or two where bounds were published.
    pub(crate) columns: &'a [Vec<usize>],
    /// What its cells say.
    pub cells: &'a Cells<'a>,
    /// Cells read as missing.
    pub missing: &'a [String],
    /// Its rows in classes; by group where it was published by permutation.
    pub(crate) classes: &'a Classes,
    /// The sensitive values of each row, for each sensitive attribute.
    pub sensitive: &'a [Vec<u32>],
    /// Records of the problem that are not in it.
    pub suppressed: u64,
    /// Its global certainty penalty.
    pub gcp: f64,
    /// The greatest penalty of a class, as a share of the sum of the weights.
    pub greatest_loss: f64,
}

impl Published<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.table.len()
    }

    /// The number of records of each class.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.classes.len()).map(|class| self.classes.size(class))
    }

    /// The cell of an attribute in each class.
    pub fn cells_of(&self, attribute: usize) -> impl Iterator<Item = &Cell> + '_ {
        (0..self.classes.len()).map(move |class| self.cells.cell(attribute, self.classes.first_row(class)))
    }

    /// The fewest rows that share the cells of some quasi-identifiers.
    pub fn smallest_on(&self, names: &[String]) -> usize {
        let attributes = self.problem.attributes.iter().zip(self.columns);
        let own = attributes.filter(|(attribute, _)| names.contains(&attribute.name));
        let columns: Vec<usize> = own.flat_map(|(_, columns)| columns.iter().copied()).collect();
        Classes::group(self.table, &columns).smallest()
    }

    /// A row of each combination of cells in all quasi-identifiers.
    pub fn distinct_rows(&self) -> Vec<usize> {
        let classes = Classes::group(self.table, &self.columns.concat());
        (0..classes.len()).map(|class| classes.first_row(class)).collect()
    }

    /// Looks at the sensitive values of every class; `and` joins what was found, in any order.
    pub fn over_classes<T: Copy + Send + Sync>(
        &self,
        sensitive: usize,
        none: T,
        of: impl Fn(&Histogram) -> T + Sync,
        and: impl Fn(T, T) -> T + Sync,
    ) -> T {
        let codes = &self.sensitive[sensitive];
        let values = self.problem.sensitive[sensitive].domain.len();
        (0..self.classes.len())
            .into_par_iter()
            .with_min_len(64)
            .map_init(
                || Histogram::new(values),
                |histogram, class| {
                    histogram.clear();
                    self.classes.rows(class).iter().for_each(|row| histogram.add(codes[*row as usize]));
                    of(histogram)
                },
            )
            .reduce(|| none, &and)
    }

    /// The greatest distance of a class in each sensitive attribute, with the attribute's name. `distance` gets the
    /// place of the attribute.
    pub fn farthest(&self, distance: impl Fn(usize, &Histogram) -> f64 + Sync) -> Vec<(&str, f64)> {
        let attributes = self.problem.sensitive.iter().enumerate();
        let farthest = |at: usize| self.over_classes(at, 0.0, |counts| distance(at, counts), f64::max);
        attributes.map(|(at, counted)| (counted.name.as_str(), farthest(at))).collect()
    }
}
