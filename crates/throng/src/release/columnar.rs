//! Releases as Arrow record batches.
//!
//! Quasi-identifiers, sensitive and class columns are strings with a dictionary; bounds are numbers or dates.
//! A dictionary holds each cell that is published once, sorted: neither its order nor what it holds besides
//! may tell more than the cells do. Passed-through columns have the type that [`types::published`] gives them.
//! Batches are built in parallel and taken in order by another thread.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, DictionaryArray, LargeStringArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{CellKind, Cells, Column, Content, Release};
use crate::error::{Error, ErrorCode, Result};
use crate::format::not_encoded;
use crate::parallel;
use crate::problem::Protected;
use crate::table::{types, value};
use crate::watch::Watch;

const ROWS_PER_BATCH: usize = 1 << 16;
const BATCHES_AT_A_TIME: usize = 4;

/// Where the cells of each column come from.
pub(super) struct Layout<'a> {
    release: &'a Release<'a>,
    schema: Arc<Schema>,
    sources: Vec<Source<'a>>,
}

enum Source<'a> {
    /// Strings, the same for all of a class.
    ClassLabels(Labels),
    /// Strings that records have of their own.
    RecordLabels(Labels, &'a Protected),
    /// Bounds of a class.
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Date(Vec<Option<i32>>),
    /// The next passed-through cell, as this type.
    Text(DataType),
    /// The same of a nested type, from this column of the table.
    Nested(usize, DataType),
}

/// A dictionary, and the place in it of each class or code.
struct Labels {
    texts: ArrayRef,
    places: Vec<i32>,
    /// Those that have no place: what is not published, and nulls.
    without: Option<Vec<bool>>,
}

impl<'a> Layout<'a> {
    pub fn new(release: &'a Release<'a>) -> Self {
        let sources: Vec<Source<'a>> =
            release.columns.iter().map(|column| Source::new(release, column)).collect();
        let fields = release.columns.iter().zip(&sources);
        let fields: Vec<Field> =
            fields.map(|(column, source)| Field::new(&column.name, source.data_type(), true)).collect();
        Layout { release, schema: Arc::new(Schema::new(fields)), sources }
    }

    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Hands every batch over, in order.
    pub fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<RecordBatch>>(1);
            let taken = scope.spawn(move || receiver.into_iter().flatten().try_for_each(take));
            for rows in self.release.rows.in_order().chunks(ROWS_PER_BATCH * BATCHES_AT_A_TIME) {
                watch.check()?;
                let batches = parallel::try_map(rows.chunks(ROWS_PER_BATCH), |records| self.batch(records))?;
                watch.advance(rows.len() as u64);
                // The receiver is gone only after a failure, which is told below.
                if sender.send(batches).is_err() {
                    break;
                }
            }
            drop(sender);
            match taken.join() {
                Ok(outcome) => outcome,
                Err(_) => Err(Error::bug("the writing thread failed")),
            }
        })
    }

    fn batch(&self, records: &[u32]) -> Result<RecordBatch> {
        let mut texts = self.passed_through(records).into_iter();
        // Records come in a random order; each is looked up once for all columns.
        let classes: Vec<u32> =
            records.iter().map(|&record| self.release.class_of[record as usize]).collect();
        let classes = || classes.iter().copied();
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.sources.len());
        for (at, source) in self.sources.iter().enumerate() {
            arrays.push(match source {
                Source::ClassLabels(labels) => labels.cells(classes())?,
                Source::RecordLabels(labels, counted) => {
                    labels.cells(records.iter().map(|&record| counted.codes[record as usize]))?
                }
                Source::Whole(bounds) => numbers::<Int64Type>(bounds, classes()),
                Source::Real(bounds) => numbers::<Float64Type>(bounds, classes()),
                Source::Date(bounds) => numbers::<Date32Type>(bounds, classes()),
                Source::Text(kind) => {
                    let texts = texts.next().unwrap_or_else(|| LargeStringArray::new_null(records.len()));
                    types::typed(&texts, kind).map_err(|_| self.untypable(&texts, kind, at, records))?
                }
                Source::Nested(column, _) => {
                    // Its texts stand among those of the others.
                    texts.next();
                    let rows = records.iter().map(|&record| self.release.problem.row(record));
                    self.release.table.nested_cells(*column, rows)?
                }
            });
        }
        RecordBatch::try_new(self.schema.clone(), arrays).map_err(|_| not_encoded())
    }

    /// The texts of all passed-through columns. Row by row, as the table keeps them.
    fn passed_through(&self, records: &[u32]) -> Vec<LargeStringArray> {
        let passed = |source: &&Source<'_>| matches!(source, Source::Text(_) | Source::Nested(..));
        let count = self.sources.iter().filter(passed).count();
        if count == 0 {
            return Vec::new();
        }
        let mut builders: Vec<_> =
            (0..count).map(|_| LargeStringBuilder::with_capacity(records.len(), records.len() * 8)).collect();
        for &record in records {
            let cells = self.release.table.nullable_text_row(self.release.problem.row(record));
            for (builder, cell) in builders.iter_mut().zip(cells) {
                builder.append_option(cell);
            }
        }
        builders.iter_mut().map(LargeStringBuilder::finish).collect()
    }

    /// Points at the first cell whose text does not give its type back, such as a time past the year 9999.
    fn untypable(&self, texts: &LargeStringArray, kind: &DataType, at: usize, records: &[u32]) -> Error {
        let Release { table, problem, columns, .. } = self.release;
        let error = Error::new(ErrorCode::CellDoesNotFit, format!("a cell cannot be written as {kind}"))
            .in_file(table.origin())
            .in_column(columns[at].source as u64 + 1)
            .for_attribute(&columns[at].name)
            .with_hint("give the column as text, or make it an identifier to leave it out");
        match (0..texts.len()).find(|&row| types::typed(&texts.slice(row, 1), kind).is_err()) {
            Some(row) => error.on_line(table.line_of(problem.row(records[row]))),
            None => error,
        }
    }
}

impl<'a> Source<'a> {
    fn new(release: &'a Release<'a>, column: &'a Column<'a>) -> Self {
        match &column.content {
            Content::Cells(cells) => Self::of_classes(release, cells),
            Content::Protected(counted) => {
                let texts = published_values(release, counted);
                Source::RecordLabels(Labels::new(release, &texts), counted)
            }
            Content::Text => {
                let own = release.table.schema().map(|schema| schema.field(column.source).data_type());
                let kind = own.map_or(DataType::Utf8, types::published);
                match release.table.is_nested(column.source) {
                    true => Source::Nested(column.source, kind),
                    false => Source::Text(kind),
                }
            }
        }
    }

    fn of_classes(release: &Release<'_>, cells: &Cells) -> Self {
        match cells.kind {
            CellKind::Text => Source::ClassLabels(Labels::of_classes(release, cells)),
            CellKind::Whole => Source::Whole(cells.bounds(value::whole)),
            CellKind::Real => Source::Real(cells.bounds(value::number)),
            CellKind::Date => Source::Date(cells.bounds(|text| value::date(text).map(|day| day as i32))),
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Source::ClassLabels(_) | Source::RecordLabels(..) => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
            Source::Whole(_) => DataType::Int64,
            Source::Real(_) => DataType::Float64,
            Source::Date(_) => DataType::Date32,
            Source::Text(kind) | Source::Nested(_, kind) => kind.clone(),
        }
    }
}

/// The values of a column that some published record has, by code.
fn published_values<'a>(release: &Release<'_>, counted: &'a Protected) -> Vec<Option<&'a str>> {
    let mut texts = vec![None; counted.domain.len()];
    for &record in &release.rows.records {
        let code = counted.codes[record as usize];
        texts[code as usize] = Some(counted.domain.label(code));
    }
    texts
}

impl Cells {
    /// The bound of each class; `None` if it is missing.
    fn bounds<T: Copy>(&self, read: impl Fn(&str) -> Option<T>) -> Vec<Option<T>> {
        let present = |text: &&String| self.missing.as_ref() != Some(*text);
        let bounds: Vec<Option<T>> =
            self.texts.iter().map(|text| Some(text).filter(present).and_then(|text| read(text))).collect();
        self.of_class.iter().map(|&cell| bounds[cell as usize]).collect()
    }
}

impl Labels {
    /// Those of classes.
    fn of_classes(release: &Release<'_>, cells: &Cells) -> Self {
        let mut texts = vec![None; cells.texts.len()];
        for &cell in &cells.of_class[..release.classes] {
            texts[cell as usize] = Some(cells.texts[cell as usize].as_str());
        }
        let of_cells = Self::new(release, &texts);
        let of_class = || cells.of_class.iter().map(|&cell| cell as usize);
        Labels {
            places: of_class().map(|cell| of_cells.places[cell]).collect(),
            without: of_cells.without.map(|without| of_class().map(|cell| without[cell]).collect()),
            texts: of_cells.texts,
        }
    }

    /// From the text of each code; `None` where it is not published.
    fn new(release: &Release<'_>, texts: &[Option<&str>]) -> Self {
        let not_null = |text: &&str| release.null_text.as_deref() != Some(*text);
        let distinct: BTreeSet<&str> = texts.iter().flatten().copied().filter(not_null).collect();
        let sorted: Vec<&str> = distinct.into_iter().collect();
        let place = |text: &Option<&str>| text.and_then(|text| sorted.binary_search(&text).ok());
        let places: Vec<Option<usize>> = texts.iter().map(place).collect();
        let without: Vec<bool> = places.iter().map(Option::is_none).collect();
        Labels {
            texts: Arc::new(StringArray::from_iter_values(&sorted)),
            places: places.into_iter().map(|place| place.unwrap_or_default() as i32).collect(),
            without: without.contains(&true).then_some(without),
        }
    }

    fn cells(&self, numbers: impl Iterator<Item = u32> + Clone) -> Result<ArrayRef> {
        let keys: Vec<i32> = numbers.clone().map(|number| self.places[number as usize]).collect();
        let nulls = self.without.as_ref().map(|without| {
            let valid: Vec<bool> = numbers.map(|number| !without[number as usize]).collect();
            NullBuffer::from(valid)
        });
        let keys =
            PrimitiveArray::<Int32Type>::new(keys.into(), nulls.filter(|nulls| nulls.null_count() > 0));
        let cells = DictionaryArray::try_new(keys, self.texts.clone()).map_err(|_| not_encoded())?;
        Ok(Arc::new(cells))
    }
}

fn numbers<T: ArrowPrimitiveType>(
    of_class: &[Option<T::Native>],
    classes: impl Iterator<Item = u32>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter(classes.map(|class| of_class[class as usize])))
}
