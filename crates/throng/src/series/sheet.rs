//! The rows of a release, cell by cell as they were read, so that they can be published again word for word.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use indexmap::IndexMap;

use super::terms::{CLASS, PRESENT};
use crate::error::{Error, ErrorCode, Result};
use crate::format::{Value, not_encoded};
use crate::policy::Policy;
use crate::release::Sink;
use crate::table::{Plan, Storage, Table, Written};
use crate::watch::Watch;

/// A release of a series, or a part of one, with all its cells.
#[derive(Debug)]
pub struct Sheet {
    pub(super) table: Table,
    class: Option<usize>,
    present: Option<usize>,
}

impl Sheet {
    /// Reads a release of a series.
    pub fn read(path: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Self> {
        let sheet = Self::new(Table::read(path, &policy.reading(&all_texts, watch))?)?;
        match sheet.class {
            Some(_) => Ok(sheet),
            None => {
                Err(Error::new(ErrorCode::UnknownColumn, format!("the release has no column \"{CLASS}\""))
                    .in_file(path)
                    .with_hint("is this a release of a series, made with --ledger?"))
            }
        }
    }

    /// Reads back what a sink has taken.
    pub fn read_back(sink: &dyn Sink, policy: &Policy, watch: &dyn Watch) -> Result<Self> {
        Self::new(sink.read_back(&policy.reading(&all_texts, watch))?)
    }

    fn new(table: Table) -> Result<Self> {
        if let Some(column) = (0..table.names().len()).find(|column| table.is_nested(*column)) {
            return Err(Error::new(
                ErrorCode::NestedValue,
                "a column of lists or structures cannot be published again word for word",
            )
            .in_file(table.origin())
            .for_attribute(&table.names()[column])
            .with_hint("make it an identifier to leave it out"));
        }
        let find = |name: &str| table.names().iter().position(|own| own == name);
        let (class, present) = (find(CLASS), find(PRESENT));
        Ok(Sheet { class, present, table })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The names of the columns that come from the table, with their places.
    pub fn columns(&self) -> Vec<(usize, &str)> {
        let own = |(at, _): &(usize, &str)| Some(*at) != self.class && Some(*at) != self.present;
        self.table.names().iter().map(String::as_str).enumerate().filter(own).collect()
    }

    /// Whether it tells how many people of each class are still there.
    pub fn tells_present(&self) -> bool {
        self.present.is_some()
    }

    /// A cell, and whether it is null.
    pub fn cell(&self, row: u32, column: usize) -> (&str, bool) {
        let value = self.values(row).nth(column).unwrap_or(Value::Text(""));
        (value.text(), matches!(value, Value::Null(_)))
    }

    /// The cells of a row.
    pub(super) fn values(&self, row: u32) -> impl Iterator<Item = Value<'_>> {
        let (cells, _) = self.table.text_row(row as usize);
        cells.places().enumerate().map(move |(at, (from, to))| {
            // Every chunk is checked to be UTF-8 when it is read.
            let text = std::str::from_utf8(&cells.bytes()[from..to]).unwrap_or_default();
            match cells.written(at) {
                Written::Null => Value::Null(text),
                Written::Bare => Value::Bare(text),
                Written::Text => Value::Text(text),
            }
        })
    }

    /// The rows of each class, classes in the order in which they first come.
    pub fn classes(&self) -> IndexMap<&str, Vec<u32>> {
        let mut classes: IndexMap<&str, Vec<u32>> = IndexMap::new();
        if let Some(column) = self.class {
            for row in 0..self.len() as u32 {
                classes.entry(self.cell(row, column).0).or_default().push(row);
            }
        }
        classes
    }

    /// What a row says of how many people of its class are still there.
    pub fn present(&self, row: u32) -> Option<&str> {
        self.present.map(|column| self.cell(row, column).0)
    }

    /// Some rows as a table of the columns that come from the table.
    pub fn select(&self, rows: &[u32], plan: &Plan<'_>, policy: &Policy, watch: &dyn Watch) -> Result<Table> {
        let columns = self.columns();
        let mut texts: Vec<Vec<Option<&str>>> = vec![Vec::with_capacity(rows.len()); columns.len()];
        for row in rows {
            let values: Vec<Value<'_>> = self.values(*row).collect();
            for (own, (column, _)) in texts.iter_mut().zip(&columns) {
                own.push(match values[*column] {
                    Value::Null(_) => None,
                    value => Some(value.text()),
                });
            }
        }
        let fields: Vec<Field> =
            columns.iter().map(|(_, name)| Field::new(*name, DataType::Utf8, true)).collect();
        let arrays: Vec<ArrayRef> =
            texts.into_iter().map(|texts| Arc::new(StringArray::from(texts)) as ArrayRef).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(|_| not_encoded())?;
        let name = self.table.origin().to_string();
        Table::from_batches(schema, [batch], &policy.reading(plan, watch).named(&name))
    }
}

fn all_texts(names: &[String]) -> Result<Vec<Storage>> {
    Ok(vec![Storage::Text; names.len()])
}
