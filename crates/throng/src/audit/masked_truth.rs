//! Whether published cells are true: each covers the value of the record behind it.
//!
//! Nobody but the one who wrote a release knows the records behind its rows, so this is no part of an audit by others. It is
//! asked of releases whose cells come from a file that anybody may have edited.

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::published::{Cell, Cells};
use crate::table::{Domain, Scale};

/// An error if a cell does not cover the value of the record behind its row.
pub(crate) fn check(problem: &Problem, cells: &Cells<'_>, records: &[u32]) -> Result<()> {
    for (at, attribute) in problem.attributes.iter().enumerate() {
        let untrue = |(row, record): (usize, &u32)| {
            let code = problem.records.code(*record as usize, at);
            !covers(&attribute.domain, cells.cell(at, row), code)
        };
        if records.iter().enumerate().any(untrue) {
            let message = "a published cell does not cover the value of the record behind it";
            return Err(Error::bug(message).for_attribute(&attribute.name));
        }
    }
    Ok(())
}

/// Whether a cell covers a value, as its readers understand it.
pub(crate) fn covers(domain: &Domain, cell: &Cell, code: u32) -> bool {
    match domain.scale() {
        Scale::Categorical(_) => (cell.leaves.0..cell.leaves.1).contains(&code),
        Scale::Numeric { values, .. } => match values.get(code as usize) {
            None => cell.missing,
            Some(value) => cell.numbers().is_some_and(|(low, high)| (low..=high).contains(value)),
        },
    }
}
