//! Memory that others wrote, checked before anything looks at it: a text that is not UTF-8 or an offset that points nowhere is an
//! error and not undefined behaviour.
//!
//! Checking is part of the work, on its threads: of a large table it takes as long as reading it does.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use throng::release::Batches;
use throng::{Error, ErrorCode, Result, Watch};

/// Rows that are checked at a time, where a piece of a column can be checked by itself.
const ROWS_AT_A_TIME: usize = 1 << 16;

/// Batches as they came.
#[derive(Clone)]
pub struct Unchecked {
    pub schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Unchecked {
    /// Batches without rows are left out: their texts may begin behind the end of a buffer that was handed over as empty.
    pub fn new(schema: SchemaRef, mut batches: Vec<RecordBatch>) -> Self {
        batches.retain(|batch| batch.num_rows() > 0);
        Unchecked { schema, batches }
    }

    /// The batches, if their memory is what it says.
    pub fn checked(self, watch: &dyn Watch) -> Result<Batches> {
        let pieces: Vec<(usize, ArrayRef)> = self.batches.iter().flat_map(pieces).collect();
        let unsound = |(_, cells): &&(usize, ArrayRef)| watch.stopped() || !is_sound(cells);
        let found = pieces.par_iter().find_first(unsound);
        watch.check()?;
        match found {
            Some((at, _)) => Err(damaged(&self.schema, *at)),
            None => Ok(Batches { schema: self.schema, batches: self.batches }),
        }
    }
}

/// The columns of a batch with their places; texts in pieces, because their rows can be checked one by one.
fn pieces(batch: &RecordBatch) -> Vec<(usize, ArrayRef)> {
    let columns = batch.columns().iter().enumerate();
    let cut = |(at, column): (usize, &ArrayRef)| -> Vec<(usize, ArrayRef)> {
        let step = if is_text(column.data_type()) { ROWS_AT_A_TIME } else { column.len().max(1) };
        let starts = (0..column.len().max(1)).step_by(step);
        starts.map(|start| (at, column.slice(start, step.min(column.len() - start)))).collect()
    };
    columns.flat_map(cut).collect()
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_sound(cells: &dyn Array) -> bool {
    match cells.data_type() {
        // Arrow checks all that the buffers hold, also what a slice leaves out, and many slices may share one buffer.
        DataType::Utf8 => cells.to_data().validate().is_ok() && are_texts(cells.as_string::<i32>()),
        DataType::LargeUtf8 => cells.to_data().validate().is_ok() && are_texts(cells.as_string::<i64>()),
        DataType::Utf8View if cells.as_string_view().views().iter().copied().all(is_short_ascii) => {
            cells.to_data().validate().is_ok()
        }
        _ => cells.to_data().validate_full().is_ok(),
    }
}

/// Whether offsets ascend within the buffer and cut it into texts.
fn are_texts<O: OffsetSizeTrait>(cells: &GenericStringArray<O>) -> bool {
    let ends = cells.value_offsets();
    let (Some(first), Some(last)) = (ends.first(), ends.last()) else { return cells.is_empty() };
    // An offset below zero is one far beyond the end here.
    let (first, last) = (first.as_usize(), last.as_usize());
    let Some(bytes) = cells.value_data().get(first..last) else { return false };
    if !ends.is_sorted() {
        return false;
    }
    let cuts = |text: &str| ends.iter().all(|end| text.is_char_boundary(end.as_usize() - first));
    bytes.is_ascii() || std::str::from_utf8(bytes).is_ok_and(cuts)
}

/// Whether a view holds a text of up to twelve bytes, all of them ASCII, and zeros behind it.
fn is_short_ascii(view: u128) -> bool {
    const MOST: u32 = 12;
    const ABOVE_ASCII: u128 = u128::from_ne_bytes([0x80; 16]);
    let (length, bytes) = (view as u32, view >> 32);
    length <= MOST && bytes & ABOVE_ASCII == 0 && bytes >> (8 * length) == 0
}

/// Arrow's own words may quote cells.
fn damaged(schema: &SchemaRef, at: usize) -> Error {
    let field = schema.field(at);
    let error = match is_text(field.data_type()) {
        true => Error::new(ErrorCode::NotUtf8, "a text of the column is not UTF-8")
            .with_hint("decode the texts, or give the column as binary and make it an identifier"),
        false => Error::new(ErrorCode::UnreadableFile, "the memory of the column is damaged")
            .with_hint("make the table anew"),
    };
    error.in_file("the table").in_column(at as u64 + 1).for_attribute(field.name())
}
