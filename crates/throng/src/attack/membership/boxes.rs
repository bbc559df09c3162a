//! What the cells of a class say of its members, as codes.

use crate::audit::{Cell, Cells};
use crate::problem::{Attribute, Problem};
use crate::table::Scale;

/// The codes that the cells of a class cover.
pub(super) struct ClassBox {
    /// First code and the one after the last, per attribute.
    ranges: Vec<(u32, u32)>,
    /// Where a missing value is covered too.
    missing: Vec<Option<u32>>,
    /// Whether members must reach the ends: numbers do, nodes of a tree need not.
    reaches: Vec<bool>,
}

impl ClassBox {
    pub fn new(problem: &Problem, cells: &Cells<'_>, row: usize) -> Self {
        let each = || problem.attributes.iter().enumerate().map(|(at, own)| (own, cells.cell(at, row)));
        ClassBox {
            ranges: each().map(|(own, cell)| codes(own, cell)).collect(),
            missing: each().map(|(own, cell)| own.domain.missing().filter(|_| cell.missing)).collect(),
            reaches: each().map(|(own, cell)| is_range(own, cell)).collect(),
        }
    }

    /// Whether a record may be in the class.
    pub fn covers(&self, problem: &Problem, record: u32) -> bool {
        (0..self.ranges.len()).all(|at| self.covers_code(at, problem.records.code(record as usize, at)))
    }

    fn covers_code(&self, at: usize, code: u32) -> bool {
        (self.ranges[at].0..self.ranges[at].1).contains(&code) || self.missing[at] == Some(code)
    }

    /// How many ends of ranges no member reaches.
    pub fn ends_not_reached(&self, problem: &Problem, members: &[u32]) -> usize {
        let reached = |at: usize, end: u32| {
            members.iter().any(|record| problem.records.code(*record as usize, at) == end)
        };
        let open = |at: usize| {
            let (low, after) = self.ranges[at];
            usize::from(!reached(at, low)) + usize::from(!reached(at, after - 1))
        };
        (0..self.ranges.len()).filter(|at| self.reaches[*at]).map(open).sum()
    }
}

fn is_range(attribute: &Attribute, cell: &Cell) -> bool {
    let (low, after) = codes(attribute, cell);
    matches!(attribute.domain.scale(), Scale::Numeric { .. }) && !cell.single && low < after
}

/// The codes that a cell covers, but for a missing number.
fn codes(attribute: &Attribute, cell: &Cell) -> (u32, u32) {
    match attribute.domain.scale() {
        Scale::Categorical(_) => cell.leaves,
        Scale::Numeric { values, .. } => match cell.range {
            None => (0, 0),
            Some((low, high)) => (
                values.partition_point(|value| *value < low) as u32,
                values.partition_point(|value| *value <= high) as u32,
            ),
        },
    }
}

/// The codes of a row whose cells are exact.
pub(super) fn exact(problem: &Problem, cells: &Cells<'_>, row: usize) -> Option<Vec<u32>> {
    let of = |(at, attribute): (usize, &Attribute)| {
        let cell = cells.cell(at, row);
        let (low, after) = codes(attribute, cell);
        match (after.checked_sub(low), attribute.domain.missing()) {
            (Some(1), _) => Some(low),
            (Some(0), Some(missing)) if cell.missing => Some(missing),
            _ => None,
        }
    };
    problem.attributes.iter().enumerate().map(of).collect()
}
