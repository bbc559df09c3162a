//! Cells that a spreadsheet would run, column by column.

use super::FormulaColumn;
use crate::formula::runs;
use crate::table::Table;

/// The columns of a release that have some.
pub(super) fn measure(release: &Table) -> Vec<FormulaColumn> {
    if release.dialect().is_some_and(|dialect| dialect.marked) || !release.any_text(runs) {
        return Vec::new();
    }
    let columns = release.names().iter().enumerate();
    let found = columns.map(|(at, name)| FormulaColumn { column: name.clone(), cells: cells(release, at) });
    found.filter(|found| found.cells > 0 || runs(&found.column)).collect()
}

fn cells(release: &Table, column: usize) -> u64 {
    let Some(counted) = release.counted(column, None) else { return 0 };
    counted.texts().zip(&counted.counts).filter(|(text, _)| runs(text)).map(|(_, count)| count).sum()
}
