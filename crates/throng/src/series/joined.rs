//! A release of a series on its way to a file: rows of the last one and new ones, in one random order.

use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use rand::seq::SliceRandom;

use super::sheet::Sheet;
use super::terms::{CLASS, PRESENT};
use crate::error::{Error, ErrorCode, Result};
use crate::format::{AnySyntax, Batched, InSyntax, Syntax, Target, Value, Writable, not_encoded, push_row};
use crate::formula::Formulas;
use crate::secret::Secret;
use crate::table::{Dialect, types};
use crate::watch::Watch;

/// The stream of random numbers for the order of rows.
const ORDER: u64 = 4;
/// Rows that are written at a time.
const BLOCK: usize = 4096;
/// Rows of a record batch.
const BATCH: usize = 1 << 16;

/// A class as it is told in a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its name.
    pub name: String,
    /// How many of its people are still there.
    pub present: u32,
}

/// A row of a release: where its cells are, and its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedRow {
    /// Which of the sheets it is from.
    pub sheet: usize,
    /// Its row there.
    pub row: u32,
    /// Its class, as a place among those that are told.
    pub class: u32,
}

/// Rows of several sheets, ready to be written.
#[derive(Debug)]
pub struct Joined<'a> {
    names: Vec<String>,
    /// The sheets, with the place of each column in each.
    sheets: Vec<(&'a Sheet, Vec<usize>)>,
    rows: Vec<JoinedRow>,
    classes: Vec<Told>,
    present: bool,
    kinds: Vec<DataType>,
}

impl<'a> Joined<'a> {
    /// Puts rows of sheets together. All sheets must have the same columns, in the same order.
    pub fn new(
        sheets: Vec<&'a Sheet>,
        rows: Vec<JoinedRow>,
        classes: Vec<Told>,
        present: bool,
    ) -> Result<Self> {
        let columns: Vec<Vec<(usize, &str)>> = sheets.iter().map(|sheet| sheet.columns()).collect();
        let names = |columns: &[(usize, &str)]| columns.iter().map(|(_, name)| (*name).to_owned()).collect();
        let first: Vec<String> = columns.first().map(|columns| names(columns)).unwrap_or_default();
        let kinds = sheets.first().map(|sheet| kinds_of(sheet)).unwrap_or_default();
        for (sheet, columns) in sheets.iter().zip(&columns).skip(1) {
            let own: Vec<String> = names(columns);
            if own != first {
                return Err(other_columns(&first, &own));
            }
            let changed = kinds_of(sheet).iter().zip(&kinds).position(|(own, first)| own != first);
            if let Some(at) = changed {
                return Err(Error::new(
                    ErrorCode::SeriesChanged,
                    "a column of the table has another type than in the release before",
                )
                .for_attribute(&first[at])
                .with_hint("give it the type that it had"));
            }
        }
        let places = columns.into_iter().map(|columns| columns.into_iter().map(|(at, _)| at).collect());
        let sheets = sheets.into_iter().zip(places).collect();
        Ok(Joined { names: first, sheets, rows, classes, present, kinds })
    }

    /// Brings the rows into a random order.
    pub fn shuffle(&mut self, secret: &Secret) {
        self.rows.shuffle(&mut secret.stream(ORDER));
    }

    /// The rows, in the order in which they are written.
    pub fn rows(&self) -> &[JoinedRow] {
        &self.rows
    }

    fn cells(&self, row: &JoinedRow) -> Vec<Value<'_>> {
        let (sheet, places) = &self.sheets[row.sheet];
        let all: Vec<Value<'_>> = sheet.values(row.row).collect();
        places.iter().map(|place| all[*place]).collect()
    }

    fn write_in(&self, syntax: &impl Syntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        let place = target.place().to_owned();
        let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write", &place, &cause);
        let mut block = Vec::new();
        syntax.head(&self.names(), &mut block);
        let present: Vec<String> = self.classes.iter().map(|class| class.present.to_string()).collect();
        for rows in self.rows.chunks(BLOCK) {
            watch.check()?;
            for row in rows {
                let class = row.class as usize;
                let mut cells = self.cells(row);
                cells.push(Value::Text(&self.classes[class].name));
                cells.extend(self.present.then_some(Value::Bare(&present[class])));
                push_row(syntax, cells, &mut block);
            }
            target.write_all(&block).map_err(fail)?;
            block.clear();
        }
        target.write_all(&block).map_err(fail)
    }

    fn batch(&self, rows: &[JoinedRow], schema: &SchemaRef) -> Result<RecordBatch> {
        let mut builders: Vec<LargeStringBuilder> =
            self.kinds.iter().map(|_| LargeStringBuilder::new()).collect();
        for row in rows {
            for (builder, value) in builders.iter_mut().zip(self.cells(row)) {
                builder.append_option((!matches!(value, Value::Null(_))).then(|| value.text()));
            }
        }
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        for (builder, kind) in builders.iter_mut().zip(&self.kinds) {
            let texts: LargeStringArray = builder.finish();
            arrays.push(types::typed(&texts, kind).map_err(|_| not_encoded())?);
        }
        let class = |row: &JoinedRow| &self.classes[row.class as usize];
        arrays.push(Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &class(row).name))));
        if self.present {
            let present = rows.iter().map(|row| i64::from(class(row).present));
            arrays.push(Arc::new(Int64Array::from_iter_values(present)));
        }
        RecordBatch::try_new(schema.clone(), arrays).map_err(|_| not_encoded())
    }
}

/// The types of the columns in formats that have types.
fn kinds_of(sheet: &Sheet) -> Vec<DataType> {
    let kind = |at: usize| match sheet.table.schema() {
        Some(schema) => types::published(schema.field(at).data_type()),
        None => DataType::Utf8,
    };
    sheet.columns().into_iter().map(|(at, _)| kind(at)).collect()
}

fn other_columns(before: &[String], now: &[String]) -> Error {
    let gone = before.iter().find(|name| !now.contains(name));
    let new = now.iter().find(|name| !before.contains(name));
    let message = match (gone, new) {
        (Some(name), _) => format!("the column \"{name}\" of the release before would be missing"),
        (None, Some(name)) => format!("the column \"{name}\" is not in the release before"),
        (None, None) => "the columns come in another order than in the release before".to_owned(),
    };
    Error::new(ErrorCode::SeriesChanged, message).with_hint(
        "give the table the columns that it had: those who left cannot be given new ones, which would tell them apart",
    )
}

impl Writable for Joined<'_> {
    fn names(&self) -> Vec<&str> {
        let present = self.present.then_some(PRESENT);
        self.names.iter().map(String::as_str).chain([CLASS]).chain(present).collect()
    }

    fn dialect(&self) -> Option<Dialect> {
        self.sheets.first().and_then(|(sheet, _)| sheet.table.dialect())
    }

    fn formulas(&self) -> Formulas {
        Formulas::Keep
    }

    fn write_lines(&self, syntax: &AnySyntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        syntax.run(Writing { joined: self, target, watch })
    }

    fn batches(&self) -> Result<Box<dyn Batched + '_>> {
        let own = self.names.iter().zip(&self.kinds).map(|(name, kind)| Field::new(name, kind.clone(), true));
        let class = Field::new(CLASS, DataType::Utf8, true);
        let present = self.present.then(|| Field::new(PRESENT, DataType::Int64, true));
        let fields: Vec<Field> = own.chain([class]).chain(present).collect();
        Ok(Box::new(InBatches { joined: self, schema: Arc::new(Schema::new(fields)) }))
    }
}

struct Writing<'a, 't> {
    joined: &'a Joined<'a>,
    target: &'a mut Target<'t>,
    watch: &'a dyn Watch,
}

impl InSyntax for Writing<'_, '_> {
    type Output = Result<()>;

    fn run(self, syntax: &impl Syntax) -> Result<()> {
        self.joined.write_in(syntax, self.target, self.watch)
    }
}

struct InBatches<'a> {
    joined: &'a Joined<'a>,
    schema: SchemaRef,
}

impl Batched for InBatches<'_> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()> {
        for rows in self.joined.rows.chunks(BATCH) {
            watch.check()?;
            take(self.joined.batch(rows, &self.schema)?)?;
        }
        Ok(())
    }
}
