//! Releases as Parquet and Arrow IPC.
//!
//! Quasi-identifiers, sensitive and class columns are strings with a dictionary; bounds are numbers or dates.
//! A dictionary holds each cell that is published once, sorted: neither its order nor what it holds besides
//! may tell more than the cells do. Passed-through columns have the type that [`types::published`] gives them.
//! Batches are built in parallel and written in order by another thread.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, DictionaryArray, LargeStringArray, PrimitiveArray, RecordBatch,
    RecordBatchWriter, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use super::output::Encoder;
use super::{CellKind, Cells, Column, Content, Release};
use crate::error::{Error, Result};
use crate::problem::Counted;
use crate::table::source::is_arrow_stream;
use crate::table::{types, value};
use crate::watch::Watch;

const ROWS_PER_BATCH: usize = 1 << 16;
const BATCHES_AT_A_TIME: usize = 4;

/// Writes a Parquet file.
pub(super) fn write_parquet(
    release: &Release<'_>,
    encoder: Encoder,
    watch: &dyn Watch,
    path: &Path,
) -> Result<()> {
    let layout = Layout::new(release);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    Target::new(encoder, path).fill(|target| {
        let writer = ArrowWriter::try_new(target, layout.schema.clone(), Some(properties));
        layout.write(writer.map_err(|_| not_encoded())?, watch)
    })
}

/// Writes an Arrow IPC file, or a stream where the name asks for one.
pub(super) fn write_arrow(
    release: &Release<'_>,
    encoder: Encoder,
    watch: &dyn Watch,
    path: &Path,
) -> Result<()> {
    let layout = Layout::new(release);
    Target::new(encoder, path).fill(|target| {
        if is_arrow_stream(path) {
            let writer = arrow_ipc::writer::StreamWriter::try_new(target, &layout.schema);
            layout.write(writer.map_err(|_| not_encoded())?, watch)
        } else {
            let writer = arrow_ipc::writer::FileWriter::try_new(target, &layout.schema);
            layout.write(writer.map_err(|_| not_encoded())?, watch)
        }
    })
}

/// Arrow's own words may quote cells.
fn not_encoded() -> Error {
    Error::bug("the release could not be encoded")
}

/// A writer that remembers its first failure, which the writers of formats pass on as mere text.
struct Target<'a> {
    encoder: Encoder,
    path: &'a Path,
    failure: Option<io::Error>,
}

impl<'a> Target<'a> {
    fn new(encoder: Encoder, path: &'a Path) -> Self {
        Target { encoder, path, failure: None }
    }

    /// Writes everything and ends the file.
    fn fill(mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let outcome = write(&mut self);
        let fail = |cause: &io::Error| Error::io("write", self.path, cause);
        if let Some(cause) = &self.failure {
            return Err(fail(cause));
        }
        outcome?;
        self.encoder.finish().map_err(|cause| fail(&cause))
    }

    fn remember<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|cause| {
            let kind = cause.kind();
            if kind != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(cause);
            }
            kind.into()
        })
    }
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.encoder.write(bytes);
        self.remember(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.encoder.flush();
        self.remember(outcome)
    }
}

/// Where the cells of each column come from.
struct Layout<'a> {
    release: &'a Release<'a>,
    schema: Arc<Schema>,
    sources: Vec<Source<'a>>,
}

enum Source<'a> {
    /// Strings, the same for all of a class.
    ClassLabels(Labels),
    /// Strings that records have of their own.
    RecordLabels(Labels, &'a Counted),
    /// Bounds of a class.
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Date(Vec<Option<i32>>),
    /// The next passed-through cell, as this type.
    Text(DataType),
}

/// A dictionary, and the place in it of each class or code.
struct Labels {
    texts: ArrayRef,
    places: Vec<Option<i32>>,
}

impl<'a> Layout<'a> {
    fn new(release: &'a Release<'a>) -> Self {
        let sources: Vec<Source<'a>> =
            release.columns.iter().map(|column| Source::new(release, column)).collect();
        let fields = release.columns.iter().zip(&sources);
        let fields: Vec<Field> =
            fields.map(|(column, source)| Field::new(&column.name, source.data_type(), true)).collect();
        Layout { release, schema: Arc::new(Schema::new(fields)), sources }
    }

    fn write(&self, mut writer: impl RecordBatchWriter + Send, watch: &dyn Watch) -> Result<()> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<RecordBatch>>(1);
            let written = scope.spawn(move || -> Result<(), ArrowError> {
                for batch in receiver.into_iter().flatten() {
                    writer.write(&batch)?;
                }
                writer.close()
            });
            for rows in self.release.rows.in_order().chunks(ROWS_PER_BATCH * BATCHES_AT_A_TIME) {
                watch.check()?;
                let batches = rows.par_chunks(ROWS_PER_BATCH).map(|records| self.batch(records));
                let batches = batches.collect::<Result<Vec<_>>>()?;
                watch.advance(rows.len() as u64);
                // The receiver is gone only after a failed write, which is told below.
                if sender.send(batches).is_err() {
                    break;
                }
            }
            drop(sender);
            match written.join() {
                Ok(outcome) => outcome.map_err(|_| not_encoded()),
                Err(_) => Err(Error::bug("the writing thread failed")),
            }
        })
    }

    fn batch(&self, records: &[u32]) -> Result<RecordBatch> {
        let mut texts = self.passed_through(records).into_iter();
        let class_of = |record: u32| self.release.class_of[record as usize];
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.sources.len());
        for (at, source) in self.sources.iter().enumerate() {
            arrays.push(match source {
                Source::ClassLabels(labels) => {
                    labels.cells(records.iter().map(|&record| class_of(record)))?
                }
                Source::RecordLabels(labels, counted) => {
                    labels.cells(records.iter().map(|&record| counted.codes[record as usize]))?
                }
                Source::Whole(bounds) => {
                    numbers::<Int64Type>(bounds, records.iter().map(|&record| class_of(record)))
                }
                Source::Real(bounds) => {
                    numbers::<Float64Type>(bounds, records.iter().map(|&record| class_of(record)))
                }
                Source::Date(bounds) => {
                    numbers::<Date32Type>(bounds, records.iter().map(|&record| class_of(record)))
                }
                Source::Text(kind) => {
                    let texts = texts.next().unwrap_or_else(|| LargeStringArray::new_null(records.len()));
                    types::typed(&texts, kind).map_err(|_| self.untypable(&texts, kind, at, records))?
                }
            });
        }
        RecordBatch::try_new(self.schema.clone(), arrays).map_err(|_| not_encoded())
    }

    /// The texts of all passed-through columns. Row by row, as the table keeps them.
    fn passed_through(&self, records: &[u32]) -> Vec<LargeStringArray> {
        let count = self.sources.iter().filter(|source| matches!(source, Source::Text(_))).count();
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
        let error = Error::input(format!("a cell cannot be written as {kind}"))
            .in_file(table.path())
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
            Content::Counted(counted) => {
                let texts = published_values(release, counted);
                Source::RecordLabels(Labels::new(release, &texts), counted)
            }
            Content::Text => Source::Text(match release.table.schema() {
                Some(schema) => types::published(schema.field(column.source).data_type()),
                None => DataType::Utf8,
            }),
        }
    }

    fn of_classes(release: &Release<'_>, cells: &Cells) -> Self {
        match cells.kind {
            CellKind::Text => {
                let texts: Vec<Option<&str>> =
                    (0..release.classes as u32).map(|class| Some(cells.text(class))).collect();
                Source::ClassLabels(Labels::new(release, &texts))
            }
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
            Source::Text(kind) => kind.clone(),
        }
    }
}

/// The values of a column that some published record has, by code.
fn published_values<'a>(release: &Release<'_>, counted: &'a Counted) -> Vec<Option<&'a str>> {
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
    /// From the text of each class or code; `None` where it is not published.
    fn new(release: &Release<'_>, texts: &[Option<&str>]) -> Self {
        let not_null = |text: &&str| release.null_text.as_deref() != Some(*text);
        let distinct: BTreeSet<&str> = texts.iter().flatten().copied().filter(not_null).collect();
        let sorted: Vec<&str> = distinct.into_iter().collect();
        let place =
            |text: &Option<&str>| text.and_then(|text| sorted.binary_search(&text).ok()).map(|at| at as i32);
        let places = texts.iter().map(place).collect();
        Labels { texts: Arc::new(StringArray::from_iter_values(sorted)), places }
    }

    fn cells(&self, numbers: impl Iterator<Item = u32>) -> Result<ArrayRef> {
        let keys: PrimitiveArray<Int32Type> = numbers.map(|number| self.places[number as usize]).collect();
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

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_with_the_path() {
        for size in [10, 1 << 20] {
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let target = Target::new(Encoder::Plain(io::BufWriter::new(full)), Path::new("release.parquet"));
            let outcome = target.fill(|target| target.write_all(&vec![0; size]).map_err(|_| not_encoded()));
            let error = outcome.unwrap_err();
            assert!(error.message().contains("no space left"), "{error}");
            assert_eq!(error.place().file.as_deref(), Some(Path::new("release.parquet")));
        }
    }
}
