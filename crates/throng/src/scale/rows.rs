//! Rows on their way between steps, as Arrow record batches: a number for each cell that is looked at, the texts of those that
//! are passed through, and what orders rows of equal codes.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::cuts::Cuts;
use super::hashes::{Hashes, mix};
use super::known::{Counts, Known, PartCounts};
use super::sketch::Checksum;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::table::{Storage, Table};

/// Where a row goes that goes nowhere.
pub const NOWHERE: u32 = u32::MAX;

/// How rows are laid out in batches.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The columns of a batch.
    pub schema: SchemaRef,
    /// Number of coded columns.
    pub coded: usize,
    /// The columns that are passed through and published: their places among those kept as text, and in the table.
    pub passed: Vec<(usize, usize)>,
}

impl Layout {
    /// For a table whose columns are kept like this. `published` says of a column whether it is.
    pub fn new(known: &Known, storage: &[Storage], published: impl Fn(usize) -> bool) -> Self {
        let texts = (0..storage.len()).filter(|at| storage[*at] == Storage::Text).enumerate();
        let passed: Vec<(usize, usize)> = texts.filter(|(_, at)| published(*at)).collect();
        let coded = (0..known.coded.len()).map(|at| Field::new(format!("c{at}"), DataType::UInt32, false));
        let texts = passed.iter().map(|(at, _)| Field::new(format!("t{at}"), DataType::LargeUtf8, true));
        let tie = [Field::new("tie", DataType::UInt64, false)];
        let fields: Vec<Field> = coded.chain(tie).chain(texts).collect();
        Layout { schema: Arc::new(Schema::new(fields)), coded: known.coded.len(), passed }
    }

    /// The places of all but the texts.
    pub fn without_texts(&self) -> Vec<usize> {
        (0..=self.coded).collect()
    }

    /// The numbers of a coded column of a batch.
    pub fn numbers<'b>(&self, batch: &'b RecordBatch, coded: usize) -> &'b [u32] {
        batch.column(coded).as_primitive::<UInt32Type>().values()
    }

    /// What orders the rows of a batch that have equal codes.
    pub fn ties<'b>(&self, batch: &'b RecordBatch) -> &'b [u64] {
        batch.column(self.coded).as_primitive::<UInt64Type>().values()
    }
}

/// The rows of a piece, and what they come to.
pub struct Rows {
    /// One for each chunk.
    pub batches: Vec<RecordBatch>,
    /// By which a second look tells whether it saw the same rows.
    pub checksum: Checksum,
}

/// The rows of a piece of the table. `key` is of the secret: it orders rows of equal codes in a way that nobody can guess.
pub fn rows(piece: &Table, known: &Known, layout: &Layout, seed: u64, key: u64) -> Result<Rows> {
    let numbers: Vec<Vec<u32>> = known
        .coded
        .iter()
        .map(|own| {
            let number = |text: &&str| {
                let found = own.values.binary_search_by(|value| value.as_str().cmp(text));
                found.map(|at| at as u32).map_err(|_| changed())
            };
            piece.values(own.column).iter().map(number).collect::<Result<Vec<u32>>>()
        })
        .collect::<Result<_>>()?;
    let hashes = Hashes::new(piece, seed);
    let made: Vec<(RecordBatch, Checksum)> = parallel::try_map(0..piece.chunk_rows().len(), |chunk| {
        let hashes = hashes.of_chunk(chunk).rows;
        let mut checksum = Checksum::default();
        checksum.add(&hashes);
        Ok((batch(piece, known, layout, chunk, &numbers, &hashes, key)?, checksum))
    })?;
    let mut checksum = Checksum::default();
    made.iter().for_each(|(_, own)| checksum.merge(own));
    Ok(Rows { batches: made.into_iter().map(|(batch, _)| batch).collect(), checksum })
}

/// What is said of a table that is not what it was.
pub fn changed() -> Error {
    Error::new(ErrorCode::TableChanged, "the table was changed while it was read")
        .with_hint("run it again once nobody writes to it, or give it a copy; nothing was written")
}

fn batch(
    piece: &Table,
    known: &Known,
    layout: &Layout,
    chunk: usize,
    numbers: &[Vec<u32>],
    hashes: &[u64],
    key: u64,
) -> Result<RecordBatch> {
    let range = piece.chunk_rows().nth(chunk).unwrap_or(0..0);
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(layout.schema.fields().len());
    for (own, numbers) in known.coded.iter().zip(numbers) {
        let of_rows = piece.coded_chunk(own.column, chunk, numbers);
        columns.push(Arc::new(UInt32Array::from_iter_values(of_rows)));
    }
    columns.push(Arc::new(UInt64Array::from_iter_values(hashes.iter().map(|hash| mix(key, *hash)))));
    let mut builders: Vec<LargeStringBuilder> = layout
        .passed
        .iter()
        .map(|_| LargeStringBuilder::with_capacity(range.len(), range.len() * 8))
        .collect();
    if !builders.is_empty() {
        for row in range {
            let mut cells = piece.nullable_text_row(row).enumerate();
            for ((nth, _), builder) in layout.passed.iter().zip(&mut builders) {
                let cell = cells.by_ref().find(|(at, _)| at == nth).and_then(|(_, cell)| cell);
                builder.append_option(cell);
            }
        }
    }
    columns.extend(builders.iter_mut().map(|own| Arc::new(own.finish()) as ArrayRef));
    RecordBatch::try_new(layout.schema.clone(), columns)
        .map_err(|_| Error::bug("rows that do not fit their schema"))
}

/// The part that each row of a batch goes to; [`NOWHERE`] for rows that are dropped.
pub fn parts(batch: &RecordBatch, known: &Known, layout: &Layout, cuts: &Cuts) -> Vec<u32> {
    let numbers: Vec<&[u32]> = (0..layout.coded).map(|at| layout.numbers(batch, at)).collect();
    let quasi: Vec<(&[u32], &[u32])> =
        known.quasi().into_iter().map(|at| (numbers[at], &known.coded[at].codes[..])).collect();
    let dropping: Vec<(&[u32], &[bool])> = known
        .coded
        .iter()
        .zip(&numbers)
        .filter(|(own, _)| known.drops && own.missing.contains(&true))
        .map(|(own, numbers)| (*numbers, &own.missing[..]))
        .collect();
    (0..batch.num_rows())
        .map(|row| {
            if dropping.iter().any(|(numbers, missing)| missing[numbers[row] as usize]) {
                return NOWHERE;
            }
            cuts.part(|attribute| {
                let (numbers, codes) = quasi[attribute];
                codes[numbers[row] as usize]
            })
        })
        .collect()
}

/// Counts the rows of a batch that go somewhere.
pub fn count(batch: &RecordBatch, part_of: &[u32], known: &Known, layout: &Layout, counts: &mut Counts) {
    counts.rows += part_of.iter().filter(|part| **part != NOWHERE).count() as u64;
    for (at, (own, counts)) in known.coded.iter().zip(&mut counts.of_codes).enumerate() {
        for (number, part) in layout.numbers(batch, at).iter().zip(part_of) {
            counts[own.codes[*number as usize] as usize] += u64::from(*part != NOWHERE);
        }
    }
}

/// Counts the rows and sensitive values of each part.
pub fn count_parts(
    batch: &RecordBatch,
    part_of: &[u32],
    known: &Known,
    layout: &Layout,
    counts: &mut [PartCounts],
) {
    use super::known::CodedKind;
    for part in part_of.iter().filter(|part| **part != NOWHERE) {
        counts[*part as usize].rows += 1;
    }
    for (at, own) in known.coded.iter().enumerate() {
        let CodedKind::Sensitive(sensitive) = own.kind else { continue };
        for (number, part) in layout.numbers(batch, at).iter().zip(part_of) {
            if *part != NOWHERE {
                counts[*part as usize].sensitive[sensitive][own.codes[*number as usize] as usize] += 1;
            }
        }
    }
}
