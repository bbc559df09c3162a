//! Parquet and Arrow IPC.
//!
//! Every batch becomes a chunk. Cells are taken as their text, so that a table reads alike from every format;
//! the schema is kept, and passed-through columns get their types back when a release is written.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, LargeStringArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::iter::{ParallelBridge, ParallelIterator};

use super::chunk::{Chunk, ChunkBuilder, Slot, slots};
use super::read::plan_columns;
use super::{Reading, Table, source};
use crate::error::{Error, Result};

/// Rows in a chunk.
const BATCH_ROWS: usize = 16_384;

/// Reads a Parquet file.
pub(super) fn read_parquet(reading: &Reading<'_>) -> Result<Table> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(seekable(reading)?)
        .map_err(|error| not_readable("Parquet", &error.to_string()))?;
    let schema = builder.schema().clone();
    let batches = builder
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|error| not_readable("Parquet", &error.to_string()))?;
    read_batches(reading, schema, "Parquet", batches)
}

/// Reads an Arrow IPC file or stream.
pub(super) fn read_arrow(reading: &Reading<'_>) -> Result<Table> {
    let mut file = seekable(reading)?;
    let mut magic = [0; 6];
    let is_file = file.read_exact(&mut magic).is_ok() && &magic == b"ARROW1";
    file.seek(SeekFrom::Start(0)).map_err(|cause| Error::io("read", reading.path, &cause))?;
    let input = std::io::BufReader::new(file);
    let explain = |error: ArrowError| not_readable("Arrow", &error.to_string());
    if is_file {
        let batches = arrow_ipc::reader::FileReader::try_new(input, None).map_err(explain)?;
        read_batches(reading, batches.schema(), "Arrow", batches)
    } else {
        let batches = arrow_ipc::reader::StreamReader::try_new(input, None).map_err(explain)?;
        read_batches(reading, batches.schema(), "Arrow", batches)
    }
}

/// Columnar files are read from their end; pipes and compressed files are copied to a temporary file first.
fn seekable(reading: &Reading<'_>) -> Result<File> {
    let compressed = source::format_of(reading.path).1 != source::Compression::None;
    let fail = |cause: std::io::Error| Error::io("read", reading.path, &cause);
    if !compressed && !source::is_standard(reading.path) {
        return File::open(reading.path).map_err(fail);
    }
    let mut copy = tempfile::tempfile().map_err(fail)?;
    std::io::copy(&mut source::open(reading.path)?, &mut copy).map_err(fail)?;
    copy.seek(SeekFrom::Start(0)).map_err(fail)?;
    Ok(copy)
}

/// Arrow's own words may quote cells, so only their first words are shown.
fn not_readable(format: &str, cause: &str) -> Error {
    let kind = cause.split([':', '\n']).next().unwrap_or_default();
    Error::input(format!("this is not a readable {format} file ({kind})"))
        .with_hint("check that the file is complete and that its ending names its format")
}

fn read_batches(
    reading: &Reading<'_>,
    schema: Arc<Schema>,
    format: &str,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send,
) -> Result<Table> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let storage = plan_columns(reading, &names)?;
    let slots = slots(&storage);
    let mut chunks: Vec<(usize, Result<Chunk>)> = batches
        .enumerate()
        .par_bridge()
        .map(|(at, batch)| {
            let chunk = reading.watch.check().and_then(|()| {
                let batch = batch.map_err(|error| not_readable(format, &error.to_string()))?;
                chunk_of(&batch, &slots, &names, reading.missing)
            });
            (at, chunk)
        })
        .collect();
    chunks.sort_by_key(|(at, _)| *at);
    let chunks = chunks.into_iter().map(|(_, chunk)| chunk).collect::<Result<Vec<_>>>()?;
    Ok(Table { schema: Some(schema), ..Table::new(reading.path, names, storage, chunks) })
}

fn chunk_of(batch: &RecordBatch, slots: &[Slot], names: &[String], missing: &str) -> Result<Chunk> {
    let columns = batch
        .columns()
        .iter()
        .zip(slots)
        .zip(names)
        .map(|((column, slot), name)| match slot {
            Slot::Skip => Ok(None),
            Slot::Coded(_) | Slot::Text => texts(column, name).map(Some),
        })
        .collect::<Result<Vec<_>>>()?;
    let mut builder = ChunkBuilder::new(slots);
    for row in 0..batch.num_rows() {
        for (at, column) in columns.iter().enumerate() {
            let Some(column) = column else { continue };
            let cell = if column.is_null(row) { missing } else { column.value(row) };
            builder.push(at, cell.as_bytes());
        }
        builder.end_row();
    }
    let mut chunk = builder.finish();
    chunk.lines = chunk.rows as u64;
    Ok(chunk)
}

/// The cells of a column as texts.
fn texts(column: &dyn Array, name: &str) -> Result<LargeStringArray> {
    let cast = arrow_cast::cast(column, &DataType::LargeUtf8).map_err(|_| {
        Error::input(format!("columns of type {} cannot be read", column.data_type()))
            .for_attribute(name)
            .with_hint("give the column as text, numbers, booleans or dates, or make it an identifier")
    })?;
    Ok(cast.as_string::<i64>().clone())
}
