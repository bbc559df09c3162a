//! Cells of columnar formats as texts, and texts as typed cells again.
//!
//! Everything downstream works on texts, so that a table reads alike from every format. What a type can be read as
//! and whether it comes back in a release is decided here, up front and by type alone:
//!
//! | type | read as | in a release of a columnar table |
//! | --- | --- | --- |
//! | integers, booleans, strings, times | their text | the same type |
//! | floats | the shortest text that reads back as the same number; `5` for 5.0 | the same type |
//! | decimals | all their digits | the same type; text if the scale is negative |
//! | dates | `2024-02-29` | the same type |
//! | timestamps | `2024-02-29T12:30:00`, with a zone in UTC: `2024-02-29T11:30:00Z` | the same type and zone |
//! | binary | its text, if it is UTF-8 | the same type |
//! | dictionaries, run-end encoded | as their values | the type of their values |
//! | durations, intervals | as Arrow writes them | text |
//! | lists, structs, maps, fixed-size binary | not at all, but they can be passed through | the same type, with plain types for dictionaries and views within |
//! | unions, views of lists | not at all | – |

use std::fmt::{Display, LowerExp};
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, RunEndIndexType,
};
use arrow_array::{
    Array, ArrayRef, LargeBinaryArray, LargeStringArray, PrimitiveArray, RunArray, UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use arrow_select::take::take;

/// Whether columns of a type can be read.
pub(crate) fn readable(kind: &DataType) -> bool {
    use DataType as T;
    match kind {
        T::Dictionary(_, values) => readable(values),
        T::RunEndEncoded(_, values) => readable(values.data_type()),
        T::Null | T::Boolean | T::Utf8 | T::LargeUtf8 | T::Utf8View => true,
        T::Binary | T::LargeBinary | T::BinaryView => true,
        other => other.is_primitive(),
    }
}

/// The type that a passed-through column of a type has in a release.
pub(crate) fn published(kind: &DataType) -> DataType {
    use DataType as T;
    match kind {
        // Batches are cut by row: each would have a dictionary of its own, which Arrow files do not allow.
        T::Dictionary(_, values) => published(values),
        T::RunEndEncoded(_, values) => published(values.data_type()),
        T::Decimal32(_, scale)
        | T::Decimal64(_, scale)
        | T::Decimal128(_, scale)
        | T::Decimal256(_, scale)
            if *scale < 0 =>
        {
            T::Utf8
        }
        T::Null | T::Duration(_) | T::Interval(_) => T::Utf8,
        other if readable(other) => other.clone(),
        other => super::nested::published(other).unwrap_or(T::Utf8),
    }
}

/// The cells of a column as texts. Fails on cells without one, such as bytes that are not UTF-8.
pub(crate) fn texts(column: &dyn Array) -> Result<LargeStringArray, ArrowError> {
    use DataType as T;
    match column.data_type() {
        T::Dictionary(_, values) => texts(&strict(column, values)?),
        T::RunEndEncoded(_, values) => texts(&strict(column, values.data_type())?),
        T::Float16 => texts(&strict(column, &T::Float32)?),
        T::Float32 => Ok(float_texts(column.as_primitive::<Float32Type>())),
        T::Float64 => Ok(float_texts(column.as_primitive::<Float64Type>())),
        T::Binary | T::LargeBinary | T::BinaryView => {
            byte_texts(strict(column, &T::LargeBinary)?.as_binary())
        }
        T::Date64 => Ok(without_midnight(strict(column, &T::LargeUtf8)?.as_string())),
        T::Timestamp(unit, Some(zone)) if &**zone != UTC => texts(&strict(column, &in_utc(*unit))?),
        _ => Ok(strict(column, &T::LargeUtf8)?.as_string().clone()),
    }
}

/// The cells of some rows as texts. Each distinct text of a dictionary or of runs is kept once: a file of a few bytes may
/// repeat a long one in every row.
pub(crate) struct Texts {
    values: LargeStringArray,
    /// Which value each row has, unless it is that of its own place.
    places: Option<Vec<usize>>,
    nulls: Option<NullBuffer>,
}

impl Texts {
    /// Reads a column. Fails on cells without a text.
    pub fn of(column: &dyn Array) -> Result<Self, ArrowError> {
        let (values, places) = match column.data_type() {
            DataType::Dictionary(..) => {
                let dictionary = column.as_any_dictionary();
                if dictionary.values().is_empty() {
                    return Ok(Self::plain(LargeStringArray::new_null(column.len())));
                }
                (dictionary.values().clone(), dictionary.normalized_keys())
            }
            DataType::RunEndEncoded(ends, _) => match ends.data_type() {
                DataType::Int16 => runs(column.as_run::<Int16Type>()),
                DataType::Int32 => runs(column.as_run::<Int32Type>()),
                _ => runs(column.as_run::<Int64Type>()),
            },
            _ => return texts(column).map(Self::plain),
        };
        let mut used: Vec<u64> = places.iter().map(|place| *place as u64).collect();
        used.sort_unstable();
        used.dedup();
        let places = places.iter().map(|place| used.partition_point(|own| *own < *place as u64)).collect();
        let values = texts(&take(&values, &UInt64Array::from(used), None)?)?;
        Ok(Texts { values, places: Some(places), nulls: column.logical_nulls() })
    }

    fn plain(values: LargeStringArray) -> Self {
        Texts { nulls: values.nulls().cloned(), values, places: None }
    }

    /// The text of a row; `None` for a null.
    pub fn get(&self, row: usize) -> Option<&str> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let place = self.places.as_ref().map_or(row, |places| places[row]);
        (!self.values.is_null(place)).then(|| self.values.value(place))
    }

    /// Bytes of the texts of all rows.
    pub fn bytes(&self) -> u64 {
        match &self.places {
            None => {
                let offsets = self.values.value_offsets();
                (offsets[offsets.len() - 1] - offsets[0]) as u64
            }
            Some(places) => places.iter().map(|place| self.values.value_length(*place) as u64).sum(),
        }
    }
}

/// The values of runs, and which one each row has.
fn runs<R: RunEndIndexType>(column: &RunArray<R>) -> (ArrayRef, Vec<usize>) {
    let places = (0..column.len()).map(|row| column.get_physical_index(row)).collect();
    (column.values().clone(), places)
}

/// Texts as cells of a type that [`published`] gives.
pub(crate) fn typed(texts: &LargeStringArray, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    match kind {
        DataType::Timestamp(unit, Some(_)) => strict(&strict(texts, &in_utc(*unit))?, kind),
        _ => strict(texts, kind),
    }
}

/// Named zones need a database to be written out; UTC needs none.
const UTC: &str = "+00:00";

fn in_utc(unit: TimeUnit) -> DataType {
    DataType::Timestamp(unit, Some(Arc::from(UTC)))
}

/// A cell that does not fit is an error, where Arrow would make it a null.
fn strict(column: &dyn Array, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(column, kind, &CastOptions { safe: false, ..CastOptions::default() })
}

fn float_texts<T>(column: &PrimitiveArray<T>) -> LargeStringArray
where
    T: ArrowPrimitiveType,
    T::Native: Display + LowerExp + Into<f64>,
{
    let mut builder = LargeStringBuilder::with_capacity(column.len(), column.len() * 8);
    for cell in column {
        builder.append_option(cell.map(float_text));
    }
    builder.finish()
}

/// Rust writes the fewest digits that read back as the same number; very large and small ones need an exponent
/// to be short. Whole numbers of more than 15 digits would pass for labels.
fn float_text<N: Display + LowerExp + Into<f64> + Copy>(number: N) -> String {
    let size = number.into().abs();
    let plain = size == 0.0 || (1e-5..1e15).contains(&size) || !size.is_finite();
    if plain { format!("{number}") } else { format!("{number:e}") }
}

/// Cell by cell: Arrow checks the bytes of all cells at once, also of those that a slice leaves out.
fn byte_texts(column: &LargeBinaryArray) -> Result<LargeStringArray, ArrowError> {
    let mut builder = LargeStringBuilder::with_capacity(column.len(), column.len() * 8);
    for cell in column {
        let text = cell.map(std::str::from_utf8).transpose();
        builder.append_option(text.map_err(|_| ArrowError::CastError("bytes are not text".to_owned()))?);
    }
    Ok(builder.finish())
}

/// Dates that are kept in milliseconds are still dates.
fn without_midnight(texts: &LargeStringArray) -> LargeStringArray {
    texts.iter().map(|text| text.map(|text| text.strip_suffix("T00:00:00").unwrap_or(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_short_and_read_back() {
        for (number, text) in [
            (5.0, "5"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e-7, "1e-7"),
            (12_345_678.9, "12345678.9"),
            (1e14, "100000000000000"),
            (1e16, "1e16"),
            (1.5e300, "1.5e300"),
            (0.0, "0"),
        ] {
            assert_eq!(float_text(number), text);
            assert_eq!(crate::table::value::number(text), Some(number));
        }
        assert_eq!(float_text(0.1f32), "0.1");
    }
}
