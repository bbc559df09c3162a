//! Arrow arrays as numbers into the dictionary of a chunk.
//!
//! Equal cells are told by what stands in the array: a number, the view of a text, a place in a dictionary. The text is looked
//! at only where that was not met lately, so that most cells cost one comparison.

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrowPrimitiveType, GenericStringArray, OffsetSizeTrait, PrimitiveArray, StringViewArray,
    downcast_integer_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use super::chunk::CodedRun;
use super::types::{Texts, digits_of, texts};

/// Takes all cells of an array; `missing` stands for nulls. Fails on cells without a text.
pub(super) fn code(run: &mut CodedRun, column: &dyn Array, missing: &[u8]) -> Result<(), ArrowError> {
    run.expect(column.len());
    match column.data_type() {
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => shared(run, &Texts::of(column)?, missing),
        DataType::Utf8 => strings(run, column.as_string::<i32>(), missing),
        DataType::LargeUtf8 => strings(run, column.as_string::<i64>(), missing),
        DataType::Utf8View => views(run, column.as_string_view(), missing),
        _ => downcast_integer_array!(
            column => numbers(run, column, missing),
            _ => strings(run, &texts(column)?, missing),
        ),
    }
    Ok(())
}

/// Takes cells one after the other, with `missing` in place of nulls.
#[inline(always)]
fn each(
    run: &mut CodedRun,
    (rows, nulls): (usize, Option<&NullBuffer>),
    missing: &[u8],
    mut take: impl FnMut(&mut CodedRun, usize),
) {
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => (0..rows).for_each(|row| take(run, row)),
        Some(nulls) => (0..rows).for_each(|row| match nulls.is_null(row) {
            true => run.push(missing),
            false => take(run, row),
        }),
    }
}

fn numbers<T>(run: &mut CodedRun, column: &PrimitiveArray<T>, missing: &[u8])
where
    T: ArrowPrimitiveType<Native: Into<i128>>,
{
    let (values, mut digits) = (column.values(), [0; 24]);
    each(run, (column.len(), column.nulls()), missing, |run, row| {
        let number: i128 = values[row].into();
        run.push_keyed(number as u128, |known| known.intern(digits_of(number, &mut digits).as_bytes()));
    });
}

/// Views of short texts hold the text; long texts with one view are one text.
fn views(run: &mut CodedRun, column: &StringViewArray, missing: &[u8]) {
    let views = column.views();
    each(run, (column.len(), column.nulls()), missing, |run, row| {
        run.push_keyed(views[row], |known| known.intern(column.value(row).as_bytes()));
    });
}

fn strings<O: OffsetSizeTrait>(run: &mut CodedRun, column: &GenericStringArray<O>, missing: &[u8]) {
    let (text, ends) = (column.value_data(), column.value_offsets());
    each(run, (column.len(), column.nulls()), missing, |run, row| {
        run.push_at(text, ends[row].as_usize(), ends[row + 1].as_usize());
    });
}

/// The number of a text that was not met yet.
const UNKNOWN: u32 = u32::MAX;

fn shared(run: &mut CodedRun, texts: &Texts, missing: &[u8]) {
    let mut number_of = vec![UNKNOWN; texts.distinct()];
    for row in 0..texts.len() {
        let Some(place) = texts.place(row) else {
            run.push(missing);
            continue;
        };
        if number_of[place] == UNKNOWN {
            number_of[place] = run.values.intern(texts.get(row).map_or(missing, str::as_bytes));
        }
        run.codes.push(number_of[place]);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray,
        RunArray, StringArray, UInt64Array,
    };

    use super::*;

    /// The texts of an array one by one, the plain way.
    fn plainly(column: &dyn Array) -> Vec<String> {
        let texts = texts(column).unwrap();
        (0..texts.len())
            .map(|row| if texts.is_null(row) { "?" } else { texts.value(row) }.to_owned())
            .collect()
    }

    fn coded(column: &dyn Array) -> Vec<String> {
        let mut run = CodedRun::default();
        code(&mut run, column, b"?").unwrap();
        assert!(run.values.len() <= column.len(), "texts are known that no cell has");
        run.codes.iter().map(|number| run.values.text(*number).to_owned()).collect()
    }

    /// Numbers that repeat, with nulls, long enough that recent cells are kept.
    fn drawn(count: u64) -> impl Iterator<Item = Option<u64>> {
        (0..count).map(|at| (at % 11 != 3).then_some((at * at * 2_654_435_761) >> 7))
    }

    #[test]
    fn codes_stand_for_the_texts_of_the_cells() {
        let words = || {
            drawn(2000).map(|own| own.map(|own| "wörter".repeat(own as usize % 5) + &(own % 700).to_string()))
        };
        let plain = StringArray::from_iter(words());
        let keys = drawn(2000).map(|own| own.map(|own| (own % 600) as i32));
        let values =
            Arc::new(StringArray::from_iter((0..600).map(|at| (at != 5).then(|| format!("value {at}")))));
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(StringViewArray::from_iter(words())),
            Arc::new(LargeStringArray::from_iter(words())),
            Arc::new(Int64Array::from_iter(drawn(2000).map(|own| own.map(|own| own as i64 % 500 - 250)))),
            Arc::new(UInt64Array::from_iter(drawn(2000).map(|own| own.map(|own| u64::MAX - own % 9)))),
            Arc::new(Float64Array::from_iter(drawn(2000).map(|own| own.map(|own| (own % 90) as f64 / 8.0)))),
            Arc::new(BooleanArray::from_iter(drawn(2000).map(|own| own.map(|own| own % 3 == 0)))),
            Arc::new(DictionaryArray::<Int32Type>::try_new(keys.collect(), values).unwrap()),
            Arc::new(drawn(900).map(|own| own.map(|_| "the same")).collect::<DictionaryArray<Int8Type>>()),
            runs(),
            Arc::new(plain),
        ];
        for array in arrays {
            for (start, rows) in [(0, array.len()), (7, 3), (100, 700), (5, 0)] {
                let piece = array.slice(start, rows);
                assert_eq!(coded(&piece), plainly(&piece), "{} from {start}", array.data_type());
            }
        }
    }

    fn runs() -> ArrayRef {
        let ends = Int32Array::from_iter_values((1..=250).map(|at| at * 8));
        let values = StringArray::from_iter((0..250).map(|at| (at % 7 != 1).then(|| (at % 40).to_string())));
        Arc::new(RunArray::<Int32Type>::try_new(&ends, &values).unwrap())
    }
}
