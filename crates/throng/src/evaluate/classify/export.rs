//! Folds as tables, for a model of one's own: the table and the release, each row with the fold that it is tested in.

use super::{Data, Split};
use crate::error::{Error, ErrorCode, Result};
use crate::evaluate::{Exported, Study};
use crate::policy::Role;
use crate::table::Table;

/// The table and the release with a first column that tells the fold of each row, or `train` and `test` where there is one split.
/// Where the records behind rows are known, rows stand in the order of records in both.
pub(in crate::evaluate) fn export(
    study: &Study<'_>,
    table: &Table,
    splits: &[Split],
    release: &[(Data, Vec<Split>)],
) -> Result<Vec<Exported>> {
    let [(_, of_release)] = release else {
        return Err(Error::new(ErrorCode::BadOption, "folds with masks of their own cannot be written")
            .with_hint("leave out `masks = \"train\"` and `test`"));
    };
    let known = |name: &String| !matches!(study.policy.role(name), Role::Identifier | Role::Person);
    let rows: Vec<usize> = (0..study.problem.len() as u32).map(|record| study.problem.row(record)).collect();
    let own = written(table, &rows, &fold_of(splits, rows.len()), known);
    let rows: Vec<usize> = (0..study.release.len()).collect();
    let published = written(study.release, &rows, &fold_of(of_release, rows.len()), |_| true);
    Ok(vec![Exported { name: "table", csv: own }, Exported { name: "release", csv: published }])
}

/// The fold of each row; nothing for one that no split has.
fn fold_of(splits: &[Split], rows: usize) -> Vec<String> {
    let mut folds = vec![String::new(); rows];
    for (number, split) in (1..).zip(splits) {
        let mut put =
            |rows: &[u32], word: String| rows.iter().for_each(|row| folds[*row as usize].clone_from(&word));
        match splits.len() {
            1 => {
                put(&split.train, "train".to_owned());
                put(&split.test, "test".to_owned());
            }
            _ => put(&split.test, number.to_string()),
        }
    }
    folds
}

fn written(table: &Table, rows: &[usize], folds: &[String], keep: impl Fn(&String) -> bool) -> String {
    let columns: Vec<usize> = (0..table.names().len()).filter(|at| keep(&table.names()[*at])).collect();
    let mut first = "fold".to_owned();
    while table.names().contains(&first) {
        first.push('_');
    }
    let of_column: Vec<(Vec<&str>, &[u32])> =
        columns.iter().map(|column| (table.values(*column), table.numbers(*column))).collect();
    let names = columns.iter().map(|column| table.names()[*column].as_str());
    let mut text = line(std::iter::once(first.as_str()).chain(names));
    for (row, fold) in rows.iter().zip(folds) {
        let cells = of_column.iter().map(|(values, numbers)| values[numbers[*row] as usize]);
        text += &line(std::iter::once(fold.as_str()).chain(cells));
    }
    text
}

/// A line of CSV after RFC 4180.
fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = |cell: &'a str| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
