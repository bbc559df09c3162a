//! Parquet and Arrow IPC.
//!
//! Only the columns that are kept are decoded. Row groups of a Parquet file are read in parallel; every batch is
//! cut into chunks. Cells are taken as their text (see [`types`]), so that a table reads alike from every
//! format; the schema is kept, and passed-through columns get their types back when a release is written.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use rayon::iter::{IntoParallelIterator, ParallelBridge, ParallelIterator};

use super::chunk::{Chunk, ChunkBuilder, Slot, slots};
use super::read::{in_order, plan_columns};
use super::shared_file::SharedFile;
use super::{Reading, Storage, Table, ipc, source, types};
use crate::error::{Error, Result};

/// Rows in a chunk.
const CHUNK_ROWS: usize = 16_384;

/// Batches of the columns that are decoded.
pub(super) type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'a>;

/// Reads a Parquet file.
pub(super) fn read_parquet(reading: &Reading<'_>) -> Result<Table> {
    let input =
        SharedFile::new(seekable(reading)?).map_err(|cause| Error::io("read", reading.path, &cause))?;
    let metadata = guarded("Parquet", || ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()))?;
    let columns = Columns::plan(reading, metadata.schema())?;
    let groups: Vec<Vec<Result<Chunk>>> = (0..metadata.metadata().num_row_groups())
        .into_par_iter()
        .map(|group| match row_group(&input, &metadata, &columns, group) {
            Ok(batches) => columns.read(reading, "Parquet", batches),
            Err(error) => vec![Err(error)],
        })
        .collect();
    columns.table(reading, groups.into_iter().flatten())
}

fn row_group(
    input: &SharedFile,
    metadata: &ArrowReaderMetadata,
    columns: &Columns,
    group: usize,
) -> Result<Batches<'static>> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.wanted.iter().copied());
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(input.clone(), metadata.clone());
    let builder = builder.with_row_groups(vec![group]).with_projection(mask).with_batch_size(CHUNK_ROWS);
    Ok(Box::new(guarded("Parquet", || builder.build())?))
}

/// Reads an Arrow IPC file or stream.
pub(super) fn read_arrow(reading: &Reading<'_>) -> Result<Table> {
    let file = seekable(reading)?;
    let (schema, _) = guarded("Arrow", || ipc::open(&file, None))?;
    let columns = Columns::plan(reading, &schema)?;
    let (_, batches) = guarded("Arrow", || ipc::open(&file, Some(columns.wanted.clone())))?;
    let chunks = columns.read(reading, "Arrow", batches);
    columns.table(reading, chunks)
}

/// Columnar files are read from their end; pipes and compressed files are copied to a temporary file first.
fn seekable(reading: &Reading<'_>) -> Result<File> {
    let compressed = source::format_of(reading.path).1 != source::Compression::None;
    let fail = |cause: std::io::Error| Error::io("read", reading.path, &cause);
    if !compressed && !source::is_standard(reading.path) {
        return source::open_file(reading.path);
    }
    let mut copy = tempfile::tempfile().map_err(fail)?;
    std::io::copy(&mut source::open(reading.path)?, &mut copy).map_err(fail)?;
    Ok(copy)
}

/// Opens or reads on. Arrow's own words may quote cells, so none are passed on; and its readers panic on some
/// damaged files, which to a user is a file that cannot be read.
fn guarded<T, E>(format: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) | Err(_) => Err(Error::input(format!("this is not a readable {format} file"))
            .with_hint("check that the file is complete and that its ending names its format")),
    }
}

/// What is read of a file.
struct Columns {
    schema: Arc<Schema>,
    names: Vec<String>,
    storage: Vec<Storage>,
    slots: Vec<Slot>,
    /// The columns that are decoded, ascending.
    wanted: Vec<usize>,
}

impl Columns {
    fn plan(reading: &Reading<'_>, schema: &Arc<Schema>) -> Result<Self> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        if names.is_empty() {
            return Err(Error::input("the table has no columns"));
        }
        let storage = plan_columns(reading, &names)?;
        let wanted: Vec<usize> = (0..names.len()).filter(|&at| storage[at] != Storage::Skip).collect();
        for &at in &wanted {
            check_type(schema, at)?;
        }
        Ok(Columns { schema: schema.clone(), slots: slots(&storage), names, storage, wanted })
    }

    /// The chunks of some batches in order; the last may be an error.
    fn read(&self, reading: &Reading<'_>, format: &str, mut batches: Batches<'_>) -> Vec<Result<Chunk>> {
        let mut ended = false;
        let pieces = std::iter::from_fn(|| {
            let next = if ended { None } else { guarded(format, || batches.next().transpose()).transpose() };
            ended = !matches!(next, Some(Ok(_)));
            next
        });
        let mut chunks: Vec<(usize, Result<Chunk>)> = pieces
            .flat_map(cut)
            .enumerate()
            .par_bridge()
            .map(|(at, batch)| {
                let chunk =
                    reading.watch.check().and(batch).and_then(|batch| self.chunk(&batch, reading.missing));
                (at, chunk)
            })
            .collect();
        chunks.sort_by_key(|(at, _)| *at);
        chunks.into_iter().map(|(_, chunk)| chunk).collect()
    }

    fn chunk(&self, batch: &RecordBatch, missing: &str) -> Result<Chunk> {
        let mut columns = Vec::with_capacity(self.wanted.len());
        for (column, &at) in batch.columns().iter().zip(&self.wanted) {
            columns.push((at, types::texts(column).map_err(|_| self.unreadable_cell(column, at))?));
        }
        let mut builder = ChunkBuilder::new(&self.slots);
        for row in 0..batch.num_rows() {
            for (at, column) in &columns {
                match column.is_null(row) {
                    true => builder.push_null(*at, missing.as_bytes()),
                    false => builder.push(*at, column.value(row).as_bytes()),
                }
            }
            builder.end_row();
        }
        let mut chunk = builder.finish();
        chunk.lines = chunk.rows as u64;
        Ok(chunk)
    }

    /// Points at the first cell of a batch that has no text.
    fn unreadable_cell(&self, column: &dyn Array, at: usize) -> Error {
        let error = Error::input(format!("a cell of type {} cannot be read as text", column.data_type()))
            .in_column(at as u64 + 1)
            .for_attribute(&self.names[at])
            .with_hint("correct the cell, or leave the column out");
        match (0..column.len()).find(|&row| types::texts(&column.slice(row, 1)).is_err()) {
            Some(row) => error.on_line(row as u64 + 1),
            None => error,
        }
    }

    fn table(self, reading: &Reading<'_>, chunks: impl IntoIterator<Item = Result<Chunk>>) -> Result<Table> {
        let chunks = in_order(chunks.into_iter().enumerate().collect(), 0)?;
        reading.watch.check()?;
        Ok(Table { schema: Some(self.schema), ..Table::new(reading.path, self.names, self.storage, chunks) })
    }
}

/// A batch of an Arrow file may hold the whole table.
fn cut(batch: Result<RecordBatch>) -> Vec<Result<RecordBatch>> {
    match batch {
        Ok(batch) => (0..batch.num_rows())
            .step_by(CHUNK_ROWS)
            .map(|start| Ok(batch.slice(start, CHUNK_ROWS.min(batch.num_rows() - start))))
            .collect(),
        Err(error) => vec![Err(error)],
    }
}

fn check_type(schema: &Schema, at: usize) -> Result<()> {
    let field = schema.field(at);
    if types::readable(field.data_type()) {
        return Ok(());
    }
    // Nested types would be written out with all they contain.
    let kind = field.data_type().to_string();
    let kind = kind.split(['(', '<']).next().unwrap_or_default();
    Err(Error::input(format!("columns of type {kind} cannot be read"))
        .in_column(at as u64 + 1)
        .for_attribute(field.name())
        .with_hint("give the column as text, numbers, booleans or dates, or make it an identifier"))
}
