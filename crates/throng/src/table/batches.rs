//! Tables from Arrow record batches, wherever they come from: memory, Parquet, Arrow IPC.
//!
//! Cells are taken as their text (see [`types`]), so that a table reads alike from every format; the schema is kept,
//! and passed-through columns get their types back when a release is written. Batches are cut into chunks, which are
//! made in parallel.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use rayon::iter::{ParallelBridge, ParallelIterator};

use super::blocks::in_order;
use super::chunk::{Chunk, ChunkBuilder, Slot, slots};
use super::types::{self, Texts};
use super::{Expansion, Origin, Reading, Storage, Table};
use super::{coding, nested};
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};

/// Rows in a chunk.
pub(crate) const CHUNK_ROWS: usize = 16_384;
/// Bytes of text in a chunk; its places are numbers of 32 bits.
const CHUNK_BYTES: usize = 1 << 30;

/// Batches of the columns that are decoded.
pub(crate) type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch>> + Send + 'a>;

impl Table {
    /// A table of Arrow record batches. Nulls are missing cells; all batches have the columns of the schema.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{Int32Array, RecordBatch, StringArray};
    /// use throng::table::{Reading, Storage, Table};
    /// use throng::watch::Unwatched;
    ///
    /// let batch = RecordBatch::try_from_iter([
    ///     ("age", Arc::new(Int32Array::from(vec![Some(31), None])) as _),
    ///     ("city", Arc::new(StringArray::from(vec!["Rome", "Oslo"])) as _),
    /// ])?;
    /// let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    /// let table = Table::from_batches(batch.schema(), [batch], &Reading::new(&plan, &Unwatched).missing("?"))?;
    /// assert_eq!(table.values(0), ["31", "?"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::needless_pass_by_value, reason = "a schema is shared, and callers give theirs away")]
    pub fn from_batches<I>(schema: SchemaRef, batches: I, reading: &Reading<'_>) -> Result<Self>
    where
        I: IntoIterator<Item: IntoBatch, IntoIter: Send>,
    {
        let origin = Origin::memory(reading.name);
        let read = || {
            let columns = Columns::plan(reading, &schema)?;
            let mut pieces = batches.into_iter().enumerate().map(|(at, batch)| columns.wanted_of(at, batch));
            let chunks = columns.read(reading, &Budget::unlimited(), &mut pieces);
            columns.table(origin.clone(), reading, chunks)
        };
        read().map_err(|error| error.in_file(&origin))
    }
}

/// What gives a record batch, or an error in its stead.
pub trait IntoBatch {
    /// The batch.
    fn into_batch(self) -> Result<RecordBatch>;
}

impl IntoBatch for RecordBatch {
    fn into_batch(self) -> Result<RecordBatch> {
        Ok(self)
    }
}

impl IntoBatch for Result<RecordBatch> {
    fn into_batch(self) -> Result<RecordBatch> {
        self
    }
}

impl IntoBatch for Result<RecordBatch, ArrowError> {
    fn into_batch(self) -> Result<RecordBatch> {
        // Arrow's own words may quote cells.
        self.map_err(|_| {
            Error::new(ErrorCode::UnreadableFile, "the record batches could not be read to their end")
        })
    }
}

/// How much memory the rows of a file may take.
pub(crate) struct Budget {
    expansion: Expansion,
    left: AtomicU64,
}

impl Budget {
    /// That of a file of so many bytes.
    pub fn of_file(expansion: Expansion, bytes: u64) -> Self {
        Budget { expansion, left: AtomicU64::new(expansion.of(bytes)) }
    }

    /// So many more bytes of the file have come.
    pub fn grant(&self, bytes: u64) {
        let more = |left: u64| Some(left.saturating_add(bytes.saturating_mul(self.expansion.times)));
        // The closure always gives a value.
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// What is in memory already needs no limit.
    fn unlimited() -> Self {
        Self::of_file(Expansion::UNLIMITED, 0)
    }

    /// Takes so many bytes of memory, if they are left.
    pub fn take(&self, bytes: u64) -> Result<()> {
        let taken =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(|_| ()).map_err(|_| self.expansion.exceeded())
    }
}

/// What is read of some batches.
pub(crate) struct Columns {
    schema: Arc<Schema>,
    names: Vec<String>,
    storage: Vec<Storage>,
    slots: Vec<Slot>,
    /// The columns that are decoded, ascending.
    pub wanted: Vec<usize>,
    /// The nested columns that are passed through, and their types in a release.
    nested: Vec<(usize, DataType)>,
}

/// A passed-through column of some rows.
enum Cells {
    Texts(Texts),
    Nested(ArrayRef, Vec<Option<String>>),
}

impl Cells {
    /// The text of a row; `None` for a null.
    fn get(&self, row: usize) -> Option<&str> {
        match self {
            Cells::Texts(texts) => texts.get(row),
            Cells::Nested(_, texts) => texts[row].as_deref(),
        }
    }

    /// Bytes that the cells take.
    fn bytes(&self) -> u64 {
        match self {
            Cells::Texts(texts) => texts.bytes(),
            // Their arrays take about as much room as their texts.
            Cells::Nested(_, texts) => 2 * texts.iter().flatten().map(|text| text.len() as u64).sum::<u64>(),
        }
    }
}

impl Columns {
    pub fn plan(reading: &Reading<'_>, schema: &Arc<Schema>) -> Result<Self> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        if names.is_empty() {
            return Err(Error::new(ErrorCode::EmptyTable, "the table has no columns"));
        }
        let storage = reading.plan_columns(&names)?;
        let wanted: Vec<usize> = (0..names.len()).filter(|&at| storage[at] != Storage::Skip).collect();
        let mut nested = Vec::new();
        for &at in &wanted {
            let passed =
                nested::published(schema.field(at).data_type()).filter(|_| storage[at] == Storage::Text);
            match passed {
                Some(kind) => nested.push((at, kind)),
                None => check_type(schema, at)?,
            }
        }
        Ok(Columns { schema: schema.clone(), slots: slots(&storage), names, storage, wanted, nested })
    }

    /// The wanted columns of a batch, if it is one of the schema.
    fn wanted_of(&self, at: usize, batch: impl IntoBatch) -> Result<RecordBatch> {
        let batch = batch.into_batch()?;
        let schema = batch.schema();
        let fields = schema.fields().iter().map(|field| (field.name(), field.data_type()));
        if !fields.eq(self.schema.fields().iter().map(|field| (field.name(), field.data_type()))) {
            return Err(Error::new(
                ErrorCode::BatchesDiffer,
                format!("record batch {} has other columns than the schema", at + 1),
            )
            .with_hint("all batches of a table have the same names and types of columns"));
        }
        batch.project(&self.wanted).map_err(|_| Error::bug("a record batch without its own columns"))
    }

    /// The chunks of some batches of the wanted columns in order; the last may be an error.
    pub fn read(
        &self,
        reading: &Reading<'_>,
        budget: &Budget,
        batches: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
    ) -> Vec<Result<Chunk>> {
        let mut failed = false;
        let batches = batches.map(|batch| batch.and_then(|batch| self.within(budget, batch)));
        let until_failure = batches.take_while(move |batch| !std::mem::replace(&mut failed, batch.is_err()));
        let mut chunks: Vec<(usize, Vec<Result<Chunk>>)> = until_failure
            .flat_map(cut)
            .enumerate()
            .par_bridge()
            .map(|(at, batch)| {
                let batch = reading.watch.check().and(batch);
                let chunks = batch.and_then(|batch| self.chunks(&batch, reading.missing, budget));
                (at, chunks.unwrap_or_else(|error| vec![Err(error)]))
            })
            .collect();
        chunks.arrange_by_key(|(at, _)| *at);
        chunks.into_iter().flat_map(|(_, chunks)| chunks).collect()
    }

    /// A batch whose rows do not take more memory than they may. Rows without a byte of their own can be any number.
    fn within(&self, budget: &Budget, batch: RecordBatch) -> Result<RecordBatch> {
        budget.take((batch.num_rows() as u64).saturating_mul(4 * self.wanted.len() as u64 + 1))?;
        Ok(batch)
    }

    /// The rows of a piece: one chunk, or several where texts are very long.
    fn chunks(&self, batch: &RecordBatch, missing: &str, budget: &Budget) -> Result<Vec<Result<Chunk>>> {
        let texts = self.passed_through(batch)?;
        budget.take(texts.iter().map(|(_, cells)| cells.bytes()).sum())?;
        let (mut chunks, mut start) = (Vec::new(), 0);
        let mut builder = ChunkBuilder::new(&self.slots);
        for row in 0..batch.num_rows() {
            if builder.text_bytes() > CHUNK_BYTES {
                self.code(&mut builder, batch, start..row, missing)?;
                chunks.push(finish(builder, &texts, start));
                (builder, start) = (ChunkBuilder::new(&self.slots), row);
            }
            for (at, cells) in &texts {
                match cells.get(row) {
                    None => builder.push_null(*at, missing.as_bytes()),
                    Some(text) => builder.push(*at, text.as_bytes()),
                }
            }
            builder.end_row();
        }
        self.code(&mut builder, batch, start..batch.num_rows(), missing)?;
        chunks.push(finish(builder, &texts, start));
        Ok(chunks)
    }

    /// The columns of a batch that are passed through.
    fn passed_through(&self, batch: &RecordBatch) -> Result<Vec<(usize, Cells)>> {
        let columns = self.wanted.iter().zip(batch.columns());
        let own = columns.filter(|(at, _)| self.storage[**at] == Storage::Text);
        let cells = own.map(|(&at, column)| {
            let cells = match self.nested.iter().find(|(own, _)| *own == at) {
                Some((_, kind)) => {
                    nested::kept(column, kind).map(|(array, texts)| Cells::Nested(array, texts))
                }
                None => Texts::of(column).map(Cells::Texts),
            };
            Ok((at, cells.map_err(|_| self.unreadable_cell(column, at))?))
        });
        cells.collect()
    }

    /// Takes the coded columns of some rows of a batch.
    fn code(
        &self,
        builder: &mut ChunkBuilder<'_>,
        batch: &RecordBatch,
        rows: Range<usize>,
        missing: &str,
    ) -> Result<()> {
        for (&at, column) in self.wanted.iter().zip(batch.columns()) {
            let Slot::Coded(slot) = self.slots[at] else { continue };
            let cells = column.slice(rows.start, rows.len());
            coding::code(builder.coded_run(slot), &cells, missing.as_bytes())
                .map_err(|_| self.unreadable_cell(column, at))?;
        }
        Ok(())
    }

    /// Points at the first cell of a batch that has no text.
    fn unreadable_cell(&self, column: &dyn Array, at: usize) -> Error {
        let error = Error::new(
            ErrorCode::UnreadableType,
            format!("a cell of type {} cannot be read as text", column.data_type()),
        )
        .in_column(at as u64 + 1)
        .for_attribute(&self.names[at])
        .with_hint("correct the cell, or leave the column out");
        match (0..column.len()).find(|&row| types::texts(&column.slice(row, 1)).is_err()) {
            Some(row) => error.on_line(row as u64 + 1),
            None => error,
        }
    }

    pub fn table(
        self,
        origin: Origin,
        reading: &Reading<'_>,
        chunks: impl IntoIterator<Item = Result<Chunk>>,
    ) -> Result<Table> {
        let chunks = in_order(chunks, 0)?;
        reading.watch.check()?;
        let nested = self.nested.into_iter().map(|(at, _)| at).collect();
        Ok(Table::new(origin, self.names, self.storage, chunks).with_schema(self.schema, nested))
    }
}

/// Rows of a piece of a table.
const PIECE_ROWS: usize = 8 * CHUNK_ROWS;

impl Columns {
    /// Hands over pieces of some batches of the wanted columns, in order; `rows` counts those that came before.
    pub fn pieces(
        &self,
        origin: &Origin,
        reading: &Reading<'_>,
        budget: &Budget,
        batches: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
        rows: &mut u64,
        take: &mut dyn FnMut(Table) -> Result<()>,
    ) -> Result<()> {
        let mut batches = batches.peekable();
        while batches.peek().is_some() {
            let mut taken = 0;
            let mut some = std::iter::from_fn(|| {
                let next = if taken < PIECE_ROWS { batches.next() } else { None };
                taken += next.as_ref().map_or(0, |batch| batch.as_ref().map_or(0, RecordBatch::num_rows));
                next
            });
            let chunks = in_order(self.read(reading, budget, &mut some), *rows)?;
            reading.watch.check()?;
            let nested = self.nested.iter().map(|(at, _)| *at).collect();
            let piece = Table::piece(origin.clone(), self.names.clone(), self.storage.clone(), chunks, *rows);
            *rows += piece.len() as u64;
            take(piece.with_schema(self.schema.clone(), nested))?;
        }
        Ok(())
    }
}

/// The chunk of the rows from `start` on that were built.
fn finish(builder: ChunkBuilder<'_>, columns: &[(usize, Cells)], start: usize) -> Result<Chunk> {
    if builder.text_bytes() > u32::MAX as usize {
        return Err(Error::new(ErrorCode::RecordTooLong, "a row is longer than 4 GiB")
            .with_hint("leave the column of long texts out"));
    }
    let mut chunk = builder.finish();
    chunk.lines = chunk.rows as u64;
    let nested = columns.iter().filter_map(|(_, cells)| match cells {
        Cells::Nested(array, _) => Some(array.slice(start, chunk.rows)),
        Cells::Texts(_) => None,
    });
    chunk.nested = nested.collect();
    Ok(chunk)
}

/// A batch may hold the whole table.
fn cut(batch: Result<RecordBatch>) -> impl Iterator<Item = Result<RecordBatch>> + Send {
    let (batch, error) = match batch {
        Ok(batch) => (Some(batch), None),
        Err(error) => (None, Some(Err(error))),
    };
    let pieces = batch.into_iter().flat_map(|batch| {
        let rows = batch.num_rows();
        (0..rows).step_by(CHUNK_ROWS).map(move |start| Ok(batch.slice(start, CHUNK_ROWS.min(rows - start))))
    });
    pieces.chain(error)
}

fn check_type(schema: &Schema, at: usize) -> Result<()> {
    let field = schema.field(at);
    if types::readable(field.data_type()) {
        return Ok(());
    }
    // Nested types would be written out with all they contain.
    let kind = field.data_type().to_string();
    let kind = kind.split(['(', '<']).next().unwrap_or_default();
    Err(Error::new(ErrorCode::UnreadableType, format!("columns of type {kind} cannot be read"))
        .in_column(at as u64 + 1)
        .for_attribute(field.name())
        .with_hint("give the column as text, numbers, booleans or dates, publish it as it is, or make it an identifier"))
}
