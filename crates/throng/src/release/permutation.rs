//! Publishing by permutation: exact quasi-identifiers with the group of each record in one table, the sensitive values of
//! each group with their counts in another. Who is in the table can be told; which value belongs to whom cannot.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use super::text::push_quoted;
use super::{CellKind, Cells, Column, Content, Output, Release, columnar};
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::privacy::QuasiIdentifiers;
use crate::problem::{Counted, Problem};
use crate::table::Format;
use crate::table::source::is_standard;

/// The column that both tables share.
pub(crate) const GROUP: &str = "group";
/// The column of counts in the table of sensitive values.
pub(crate) const COUNT: &str = "count";

/// Where the table of sensitive values is that belongs to a release: `.sensitive` before the ending.
pub fn sensitive_path(release: &Path) -> PathBuf {
    let name = release.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    // A dot in front makes a name hidden; it begins no ending.
    let at = plain.rfind('.').filter(|at| *at > 0).unwrap_or(plain.len());
    release.with_file_name(format!("{}.sensitive{}", &name[..at], &name[at..]))
}

/// Whether a problem can be published by permutation, and to a file of this name.
pub(super) fn check(problem: &Problem, policy: &Policy) -> Result<()> {
    let [counted] = &problem.sensitive[..] else {
        let found = problem.sensitive.len();
        return Err(Error::input(format!("permutation needs one sensitive attribute, found {found}"))
            .with_hint("write role = \"sensitive\" in the section of one attribute"));
    };
    if [GROUP, COUNT].contains(&counted.name.as_str()) {
        return Err(Error::input(format!(
            "the table of sensitive values would have two columns \"{}\"",
            counted.name
        ))
        .with_hint("rename the column of the table that has this name already"));
    }
    if policy.privacy.get::<QuasiIdentifiers>().is_some() {
        return Err(Error::input(
            "permutation publishes exact quasi-identifiers, so several of them cannot have a k each",
        )
        .with_hint("ask for l, and leave out quasi_identifiers"));
    }
    Ok(())
}

/// An error if two files cannot be written for a name.
pub fn check_name(release: &Path) -> Result<()> {
    match is_standard(release) {
        true => Err(Error::input("permutation writes two files, so the release needs a name")
            .with_hint("give one with -o, for example -o release.csv")),
        false => Ok(()),
    }
}

/// The exact values of a quasi-identifier.
pub(super) fn exact(problem: &Problem, at: usize) -> Counted {
    let attribute = &problem.attributes[at];
    Counted {
        name: attribute.name.clone(),
        column: attribute.column,
        domain: attribute.domain.clone(),
        has_hierarchy: false,
        codes: (0..problem.len()).map(|record| problem.records.code(record, at)).collect(),
    }
}

/// The number of each record's group.
pub(super) fn group_column<'a>(groups: usize) -> Column<'a> {
    let cells = Cells {
        texts: (1..=groups).map(|group| group.to_string()).collect(),
        of_class: (0..groups as u32).collect(),
        kind: CellKind::Whole,
        missing: None,
    };
    Column { name: GROUP.to_owned(), source: 0, content: Content::Cells(cells) }
}

/// Group, value and how often it occurs there, by group and then in the order of the values.
fn counts(release: &Release<'_>, counted: &Counted) -> Vec<(u32, u32, u32)> {
    let mut pairs: Vec<(u32, u32)> = release
        .rows
        .records
        .iter()
        .map(|record| (release.class_of[*record as usize], counted.codes[*record as usize]))
        .collect();
    pairs.sort_unstable();
    pairs.chunk_by(|a, b| a == b).map(|run| (run[0].0 + 1, run[0].1, run.len() as u32)).collect()
}

/// Writes the table of sensitive values.
pub(super) fn write(release: &Release<'_>, output: &mut Output) -> Result<()> {
    let counted = release
        .problem
        .sensitive
        .first()
        .ok_or_else(|| Error::bug("a permutation without a sensitive attribute"))?;
    let rows = counts(release, counted);
    let path = output.path().to_owned();
    match output.format() {
        Format::Text { delimiter } => {
            let delimiter =
                delimiter.unwrap_or_else(|| release.table.dialect().unwrap_or_default().delimiter);
            let mut text = Vec::new();
            let mut line = |cells: [&[u8]; 3]| {
                for (at, cell) in cells.into_iter().enumerate() {
                    if at > 0 {
                        text.push(delimiter);
                    }
                    push_quoted(&mut text, cell, delimiter);
                }
                text.push(b'\n');
            };
            line([GROUP.as_bytes(), counted.name.as_bytes(), COUNT.as_bytes()]);
            for (group, value, count) in rows {
                let label = counted.domain.label(value).as_bytes();
                line([group.to_string().as_bytes(), label, count.to_string().as_bytes()]);
            }
            let mut writer = output.encoder()?;
            let fail = |cause: std::io::Error| Error::io("write", &path, &cause);
            writer.write_all(&text).map_err(fail)?;
            writer.finish().map_err(fail)
        }
        format => {
            let numbers = |pick: &dyn Fn(&(u32, u32, u32)) -> u32| -> ArrayRef {
                Arc::new(rows.iter().map(|row| i64::from(pick(row))).collect::<Int64Array>())
            };
            let null = |label: &&str| release.null_text.as_deref() != Some(*label);
            let labels: StringArray =
                rows.iter().map(|row| Some(counted.domain.label(row.1)).filter(null)).collect();
            let batch = RecordBatch::try_from_iter_with_nullable([
                (GROUP, numbers(&|row| row.0), true),
                (counted.name.as_str(), Arc::new(labels) as ArrayRef, true),
                (COUNT, numbers(&|row| row.2), true),
            ]);
            let batch = batch.map_err(|_| Error::bug("the sensitive values could not be encoded"))?;
            columnar::write_batch(&batch, format, output.encoder()?, &path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_sensitive_values_is_named_after_its_release() {
        for (release, beside) in [
            ("out/r.csv", "out/r.sensitive.csv"),
            ("r.csv.zst", "r.sensitive.csv.zst"),
            ("r", "r.sensitive"),
            (".hidden", ".hidden.sensitive"),
            ("a.b.parquet", "a.b.sensitive.parquet"),
        ] {
            assert_eq!(sensitive_path(Path::new(release)), Path::new(beside));
        }
    }
}
