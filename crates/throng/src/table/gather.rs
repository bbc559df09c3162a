//! Rows of arrays put together anew.
//!
//! Arrow has kernels for that in a crate of its own, compiled for every pair of types; they took a tenth of what all other packages take in
//! a first build. Here the types that rows between steps have are copied cell by cell, all others by ranges of neighbours.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, LargeStringArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    UInt64Array, make_array,
};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::append;

/// Which array, and which row of it; `None` for a null.
type Place = Option<(usize, usize)>;

/// The rows of a column at some places; a null for each null among them.
pub(crate) fn take(column: &dyn Array, places: &UInt64Array) -> Result<ArrayRef, ArrowError> {
    let place = |row: usize| places.is_valid(row).then(|| (0, places.value(row) as usize));
    gather(&[column], places.len(), place)
}

/// The rows of some arrays at places: which array, and which row of it.
pub(crate) fn interleave(arrays: &[&dyn Array], places: &[(usize, usize)]) -> Result<ArrayRef, ArrowError> {
    gather(arrays, places.len(), |row| Some(places[row]))
}

/// The same for all columns of batches that have the same ones.
pub(crate) fn interleave_batches(
    batches: &[&RecordBatch],
    places: &[(usize, usize)],
) -> Result<RecordBatch, ArrowError> {
    let first = batches.first().ok_or_else(nothing)?;
    let column = |at: usize| {
        let arrays: Vec<&dyn Array> = batches.iter().map(|batch| &**batch.column(at)).collect();
        interleave(&arrays, places)
    };
    let columns = (0..first.num_columns()).map(column).collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
    RecordBatch::try_new_with_options(first.schema(), columns, &options)
}

/// Batches one after the other.
pub(crate) fn joined(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<RecordBatch, ArrowError> {
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    if batches.is_empty() {
        return Ok(RecordBatch::new_empty(schema.clone()));
    }
    let column = |at: usize| {
        let parts: Vec<&dyn Array> = batches.iter().map(|batch| &**batch.column(at)).collect();
        concat(&parts)
    };
    let columns = (0..schema.fields().len()).map(column).collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
}

/// Arrays one after the other; an error where there is none, or they have different types.
pub fn concat(arrays: &[&dyn Array]) -> Result<ArrayRef, ArrowError> {
    let parts: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    let first = parts.first().ok_or_else(nothing)?;
    if let Some(other) = parts.iter().find(|part| part.data_type() != first.data_type()) {
        let (one, other) = (first.data_type(), other.data_type());
        return Err(ArrowError::InvalidArgumentError(format!(
            "an array of type {one} and one of type {other}"
        )));
    }
    let rows = parts.iter().map(ArrayData::len).sum();
    let mut whole = MutableArrayData::new(parts.iter().collect(), false, rows);
    for (at, part) in parts.iter().enumerate() {
        whole.try_extend(at, 0, part.len())?;
    }
    Ok(make_array(whole.freeze()))
}

fn gather(
    arrays: &[&dyn Array],
    rows: usize,
    place: impl Fn(usize) -> Place,
) -> Result<ArrayRef, ArrowError> {
    match arrays.first().ok_or_else(nothing)?.data_type() {
        DataType::UInt32 => Ok(numbers::<UInt32Type>(arrays, rows, place)),
        DataType::UInt64 => Ok(numbers::<UInt64Type>(arrays, rows, place)),
        DataType::LargeUtf8 => texts(arrays, rows, place),
        _ => others(arrays, rows, &place),
    }
}

fn nothing() -> ArrowError {
    ArrowError::InvalidArgumentError("rows of no array".to_owned())
}

/// Which of the rows that are put together are nulls.
struct Nulls<'a> {
    of_arrays: Vec<Option<&'a NullBuffer>>,
    found: Vec<usize>,
}

impl<'a> Nulls<'a> {
    fn of(arrays: &[&'a dyn Array]) -> Self {
        Nulls { of_arrays: arrays.iter().map(|array| array.nulls()).collect(), found: Vec::new() }
    }

    /// The place of a row's cell, unless it is a null, which is noted.
    #[inline]
    fn cell(&mut self, row: usize, place: Place) -> Place {
        if let Some((array, from)) = place
            && self.of_arrays[array].is_none_or(|nulls| nulls.is_valid(from))
        {
            return place;
        }
        self.found.push(row);
        None
    }

    fn finish(self, rows: usize) -> Option<NullBuffer> {
        if self.found.is_empty() {
            return None;
        }
        let mut valid = BooleanBufferBuilder::new(rows);
        valid.append_n(rows, true);
        for row in self.found {
            valid.set_bit(row, false);
        }
        Some(NullBuffer::new(valid.finish()))
    }
}

fn numbers<T: ArrowPrimitiveType>(
    arrays: &[&dyn Array],
    rows: usize,
    place: impl Fn(usize) -> Place,
) -> ArrayRef {
    let mut nulls = Nulls::of(arrays);
    let values: Vec<&[T::Native]> =
        arrays.iter().map(|array| &**array.as_primitive::<T>().values()).collect();
    let mut cells = vec![T::Native::default(); rows];
    for row in 0..cells.len() {
        if let Some((array, from)) = nulls.cell(row, place(row)) {
            cells[row] = values[array][from];
        }
    }
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(cells), nulls.finish(rows)))
}

fn texts(arrays: &[&dyn Array], rows: usize, place: impl Fn(usize) -> Place) -> Result<ArrayRef, ArrowError> {
    let mut nulls = Nulls::of(arrays);
    let texts: Vec<&LargeStringArray> = arrays.iter().map(|array| array.as_string()).collect();
    let texts: Vec<(&[i64], &[u8])> =
        texts.iter().map(|own| (own.value_offsets(), own.value_data())).collect();
    let (mut offsets, mut bytes) = (vec![0; rows + 1], Vec::new());
    for row in 0..rows {
        if let Some((array, from)) = nulls.cell(row, place(row)) {
            let (ends, text) = texts[array];
            append(&mut bytes, text, ends[from] as usize, ends[from + 1] as usize);
        }
        offsets[row + 1] = bytes.len() as i64;
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(LargeStringArray::try_new(offsets, bytes.into(), nulls.finish(rows))?))
}

/// Cells of any type; neighbours are copied together.
fn others(
    arrays: &[&dyn Array],
    rows: usize,
    place: &dyn Fn(usize) -> Place,
) -> Result<ArrayRef, ArrowError> {
    let parts: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    let mut cells = MutableArrayData::new(parts.iter().collect(), true, rows);
    let mut at = 0;
    while at < rows {
        let begin = at;
        let first = place(begin);
        at += 1;
        while at < rows && place(at) == after(first, at - begin) {
            at += 1;
        }
        match first {
            Some((array, row)) => cells.try_extend(array, row, row + at - begin)?,
            None => cells.try_extend_nulls(at - begin)?,
        }
    }
    Ok(make_array(cells.freeze()))
}

/// The place of the row that stands so many rows further in the same array.
fn after(place: Place, rows: usize) -> Place {
    place.map(|(array, row)| (array, row + rows))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{Int64Array, ListArray, StringArray, UInt32Array};

    use super::*;

    fn arrays() -> Vec<[ArrayRef; 2]> {
        let lists = |from: i32| {
            let lists =
                (0..4).map(|row| (row != 1).then(|| (0..row).map(|at| Some(from + at)).collect::<Vec<_>>()));
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)) as ArrayRef
        };
        vec![
            [Arc::new(UInt32Array::from(vec![1, 2, 3, 4])), Arc::new(UInt32Array::from(vec![Some(5), None]))],
            [Arc::new(UInt64Array::from(vec![1, 2, 3, 4])), Arc::new(UInt64Array::from(vec![5, 6]))],
            [
                Arc::new(LargeStringArray::from(vec![Some("a"), None, Some(""), Some("ä ö")])),
                Arc::new(LargeStringArray::from(vec!["long", "b"])),
            ],
            [
                Arc::new(StringArray::from(vec![None, Some("a"), None, Some("c")])),
                Arc::new(StringArray::from(vec!["x", "y"])),
            ],
            [Arc::new(Int64Array::from(vec![1, 2, 3, 4])), Arc::new(Int64Array::from(vec![Some(5), None]))],
            [lists(0), lists(10)],
        ]
    }

    #[test]
    fn rows_are_those_at_their_places() {
        for [one, other] in arrays() {
            let own: [&dyn Array; 2] = [&*one, &*other];
            let places = [(1, 0), (0, 2), (0, 3), (0, 3), (1, 1), (0, 0), (0, 1)];
            let found = interleave(&own, &places).unwrap();
            assert_eq!(found.len(), places.len());
            for (row, (array, from)) in places.into_iter().enumerate() {
                let expected = own[array].slice(from, 1);
                assert_eq!(found.slice(row, 1).to_data(), expected.to_data(), "{}", one.data_type());
            }
        }
    }

    #[test]
    fn nulls_among_places_are_nulls() {
        for [one, _] in arrays() {
            let found = take(&one, &UInt64Array::from(vec![Some(3), None, None, Some(0)])).unwrap();
            assert_eq!(found.slice(0, 1).to_data(), one.slice(3, 1).to_data());
            assert!(found.is_null(1) && found.is_null(2));
            assert_eq!(found.slice(3, 1).to_data(), one.slice(0, 1).to_data());
        }
    }

    #[test]
    fn slices_are_read_from_where_they_begin() {
        for [one, _] in arrays() {
            let found = take(&one.slice(1, 3), &UInt64Array::from(vec![2, 0])).unwrap();
            assert_eq!(found.slice(0, 1).to_data(), one.slice(3, 1).to_data());
            assert_eq!(found.slice(1, 1).to_data(), one.slice(1, 1).to_data());
        }
    }

    #[test]
    fn batches_are_joined_in_order() {
        for [one, other] in arrays() {
            let batch = |column: &ArrayRef| {
                RecordBatch::try_from_iter_with_nullable([("a", column.clone(), true)]).unwrap()
            };
            let parts = [batch(&one), batch(&other)];
            let whole = joined(&parts[0].schema(), &parts).unwrap();
            assert_eq!(whole.num_rows(), one.len() + other.len());
            let places: Vec<(usize, usize)> =
                (0..one.len()).map(|row| (0, row)).chain((0..other.len()).map(|row| (1, row))).collect();
            let again = interleave_batches(&[&parts[0], &parts[1]], &places).unwrap();
            assert_eq!(whole, again);
            assert_eq!(joined(&parts[0].schema(), &[]).unwrap().num_rows(), 0);
        }
        assert!(interleave(&[], &[]).is_err());
        assert!(concat(&[]).is_err());
        assert!(concat(&[&UInt32Array::from(vec![1]), &Int64Array::from(vec![1])]).is_err());
    }

    #[test]
    fn batches_without_columns_keep_their_rows() {
        let options = RecordBatchOptions::new().with_row_count(Some(3));
        let empty = Arc::new(arrow_schema::Schema::empty());
        let batch = RecordBatch::try_new_with_options(empty.clone(), vec![], &options).unwrap();
        assert_eq!(interleave_batches(&[&batch], &[(0, 1), (0, 1)]).unwrap().num_rows(), 2);
        assert_eq!(joined(&empty, &[batch.clone(), batch]).unwrap().num_rows(), 6);
    }
}
