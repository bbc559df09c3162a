//! A table joined with a policy, for requirements that look at records themselves: what each of them asks for, what the
//! values of attributes allow.

use super::{Attribute, Protected, Records};
use crate::error::{Error, Result};
use crate::keys::Place;
use crate::keys::source::Source;
use crate::parallel;
use crate::table::{Domain, Table};

/// The columns of a problem that is being made.
pub struct Joined<'a> {
    /// Its quasi-identifiers.
    pub attributes: &'a [Attribute],
    /// Their codes.
    pub records: &'a Records,
    /// Its sensitive and class attributes.
    pub protected: &'a [&'a Protected],
    pub(crate) table: &'a Table,
    /// The table's row of each record, where they are not the same.
    pub(crate) rows: Option<&'a [u32]>,
    /// Cells read as missing.
    pub(crate) missing: &'a [String],
    /// The text of the policy.
    pub(crate) source: Source<'a>,
}

/// Where the code of a record is found.
pub enum Column<'a> {
    /// Among the quasi-identifiers.
    Quasi(&'a Records, usize),
    /// In a column of its own.
    Protected(&'a [u32]),
}

impl Column<'_> {
    /// The code of a record.
    pub fn code(&self, record: usize) -> usize {
        match self {
            Column::Quasi(records, at) => records.code(record, *at) as usize,
            Column::Protected(codes) => codes[record] as usize,
        }
    }
}

impl<'a> Joined<'a> {
    /// A coded column and its values.
    pub fn find(&self, name: &str) -> Option<(Column<'a>, &'a Domain)> {
        let quasi = self.attributes.iter().enumerate().find(|(_, attribute)| attribute.name == name);
        let quasi = quasi.map(|(at, attribute)| (Column::Quasi(self.records, at), &attribute.domain));
        let protected = self.protected.iter().find(|protected| protected.name == name);
        quasi.or_else(|| protected.map(|protected| (Column::Protected(&protected.codes), &protected.domain)))
    }

    /// What the cells of a column of the table say, record by record; `None` if there is no such column.
    pub fn column(&self, name: &str, read: impl Fn(&str) -> Result<u32>) -> Result<Option<Vec<u32>>> {
        let Some(column) = self.table.names().iter().position(|own| own == name) else { return Ok(None) };
        let read = |(entry, text): (usize, &&str)| {
            read(text).map_err(|error| self.table.error_at(column, entry as u32, error))
        };
        let of_entry =
            self.table.values(column).iter().enumerate().map(read).collect::<Result<Vec<u32>>>()?;
        Ok(Some(column_codes(self.table, column, &of_entry, self.rows)))
    }

    /// Whether a cell is read as missing.
    pub fn is_missing(&self, text: &str) -> bool {
        text.is_empty() || self.missing.iter().any(|marker| marker == text)
    }

    /// Cells read as missing.
    pub fn missing(&self) -> &'a [String] {
        self.missing
    }

    /// Lets an error point at a place in the policy, if it has one.
    pub fn point(&self, error: Error, place: &Place, label: &str) -> Error {
        match place {
            Some(span) => self.source.point(error, span, label),
            None => error,
        }
    }
}

/// The codes of a column of the table, record by record.
pub(crate) fn column_codes(table: &Table, column: usize, codes: &[u32], rows: Option<&[u32]>) -> Vec<u32> {
    let chunks: Vec<usize> = (0..table.chunk_rows().len()).collect();
    let all: Vec<Vec<u32>> = parallel::map(chunks, |chunk| table.coded_chunk(column, chunk, codes).collect());
    let all = all.concat();
    match rows {
        Some(rows) => rows.iter().map(|&row| all[row as usize]).collect(),
        None => all,
    }
}
