//! Publishing by permutation: exact quasi-identifiers with the group of each record in one table, the sensitive values of
//! each group with their counts in another. Who is in the table can be told; which value belongs to whom cannot.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};

use super::{CellKind, Cells, Column, Content, Release};
use crate::error::{Error, ErrorCode, Result};
use crate::format::{Syntax, Target, Value, not_encoded, push_row};
use crate::policy::Policy;
use crate::privacy::QuasiIdentifiers;
use crate::problem::{Problem, Protected};
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
        return Err(Error::new(
            ErrorCode::NotOneSensitive,
            format!("permutation needs one sensitive attribute, found {found}"),
        )
        .with_hint("write role = \"sensitive\" in the section of one attribute"));
    };
    if [GROUP, COUNT].contains(&counted.name.as_str()) {
        return Err(Error::new(
            ErrorCode::DuplicateColumn,
            format!("the table of sensitive values would have two columns \"{}\"", counted.name),
        )
        .with_hint("rename the column of the table that has this name already"));
    }
    if problem.people.is_some() {
        return Err(no_people_by_permutation());
    }
    if policy.privacy.get::<QuasiIdentifiers>().is_some() {
        return Err(Error::new(
            ErrorCode::MethodDoesNotFit,
            "permutation publishes exact quasi-identifiers, so several of them cannot have a k each",
        )
        .with_hint("ask for l, and leave out quasi_identifiers"));
    }
    Ok(())
}

/// Who has several records in a group has several of its values, so that more can be told of them than of others: how many
/// people have a value says nothing of that.
pub(crate) fn no_people_by_permutation() -> Error {
    Error::new(
        ErrorCode::MethodDoesNotFit,
        "a release by permutation cannot be held to requirements on people with several records",
    )
    .with_hint("publish classes: leave out --publish permutation, and choose another method than anatomy")
}

/// An error if two files cannot be written for a name.
pub fn check_name(release: &Path) -> Result<()> {
    match is_standard(release) {
        true => Err(Error::new(
            ErrorCode::NeedsFileName,
            "permutation writes two files, so the release needs a name",
        )
        .with_hint("give one with -o, for example -o release.csv")),
        false => Ok(()),
    }
}

/// The exact values of a quasi-identifier.
pub(super) fn exact(problem: &Problem, at: usize) -> Protected {
    let attribute = &problem.attributes[at];
    Protected {
        name: attribute.name.clone(),
        column: attribute.column,
        domain: attribute.domain.clone(),
        has_hierarchy: false,
        codes: (0..problem.len()).map(|record| problem.records.code(record, at)).collect(),
        people: None,
        whole: None,
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

/// The table of sensitive values: group, value and how often it occurs there, by group and then in the order of the
/// values.
pub(super) struct SensitiveValues<'a> {
    pub release: &'a Release<'a>,
    counted: &'a Protected,
    rows: Vec<(u32, u32, u32)>,
}

impl<'a> SensitiveValues<'a> {
    pub fn of(release: &'a Release<'a>) -> Result<Self> {
        let counted = release.problem.sensitive.first();
        let counted = counted.ok_or_else(|| Error::bug("a permutation without a sensitive attribute"))?;
        let of_record = |record: &u32| (release.class_of[*record as usize], counted.codes[*record as usize]);
        let mut pairs: Vec<(u32, u32)> = release.rows.records.iter().map(of_record).collect();
        pairs.sort_unstable();
        let rows =
            pairs.chunk_by(|a, b| a == b).map(|run| (run[0].0 + 1, run[0].1, run.len() as u32)).collect();
        Ok(SensitiveValues { release, counted, rows })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Names of the columns.
    pub fn names(&self) -> [&str; 3] {
        [GROUP, &self.counted.name, COUNT]
    }

    /// Writes it as lines of text.
    pub fn write_lines(&self, syntax: &impl Syntax, target: &mut Target<'_>) -> Result<()> {
        let mut text = Vec::new();
        syntax.head(&self.names(), &mut text);
        for &(group, value, count) in &self.rows {
            let (group, count) = (group.to_string(), count.to_string());
            let label = self.release.text_value(self.counted.domain.label(value));
            push_row(syntax, [Value::Bare(&group), label, Value::Bare(&count)], &mut text);
        }
        let place = target.place().to_owned();
        target.write_all(&text).map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", &place, &cause))
    }

    /// The whole of it as one record batch.
    pub fn batch(&self) -> Result<RecordBatch> {
        let numbers = |pick: &dyn Fn(&(u32, u32, u32)) -> u32| -> ArrayRef {
            Arc::new(self.rows.iter().map(|row| i64::from(pick(row))).collect::<Int64Array>())
        };
        let not_null = |label: &&str| self.release.null_text.as_deref() != Some(*label);
        let label = |row: &(u32, u32, u32)| Some(self.counted.domain.label(row.1)).filter(not_null);
        let labels: StringArray = self.rows.iter().map(label).collect();
        let kinds = [DataType::Int64, DataType::Utf8, DataType::Int64];
        let fields = self.names().into_iter().zip(kinds).map(|(name, kind)| Field::new(name, kind, true));
        let fields: Vec<Field> = fields.collect();
        let columns = vec![numbers(&|row| row.0), Arc::new(labels) as ArrayRef, numbers(&|row| row.2)];
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|_| not_encoded())
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
