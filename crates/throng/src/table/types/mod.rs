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
//! | durations | as ISO 8601 writes them, in seconds: `PT90.5S` | the same type |
//! | null | as missing | the same type |
//! | intervals | their months, days and seconds | text |
//! | lists, structs, maps, fixed-size binary | not at all, but they can be passed through | the same type, with plain types for dictionaries and views within |
//! | unions, views of lists | not at all | – |

mod texts;
mod typed;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{
    Array, ArrayAccessor, ArrayRef, LargeStringArray, OffsetSizeTrait, RunArray, StringArray,
    StringViewArray, UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};

use crate::table::gather::take;

pub(crate) use texts::{digits_of, texts};
pub(crate) use typed::typed;

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
        T::Interval(_) => T::Utf8,
        other if readable(other) => other.clone(),
        other => super::nested::published(other).unwrap_or(T::Utf8),
    }
}

/// The cells of some rows as texts. Each distinct text of a dictionary or of runs is kept once: a file of a few bytes may
/// repeat a long one in every row.
pub(crate) struct Texts {
    values: Values,
    /// Which value each row has, unless it is that of its own place.
    places: Option<Vec<usize>>,
    nulls: Option<NullBuffer>,
}

/// Texts as they came, or as they were written out.
enum Values {
    Usual(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

/// A dictionary of more values for each row is not looked at as a whole.
const MOST_VALUES_PER_ROW: usize = 4;

impl Values {
    /// The texts of an array of texts.
    fn as_they_are(array: &dyn Array) -> Option<Self> {
        match array.data_type() {
            DataType::Utf8 => Some(Values::Usual(array.as_string().clone())),
            DataType::LargeUtf8 => Some(Values::Large(array.as_string().clone())),
            DataType::Utf8View => Some(Values::View(array.as_string_view().clone())),
            _ => None,
        }
    }

    fn get(&self, place: usize) -> Option<&str> {
        fn of<'a, A: ArrayAccessor<Item = &'a str> + Copy>(array: A, place: usize) -> Option<&'a str> {
            array.is_valid(place).then(|| array.value(place))
        }
        match self {
            Values::Usual(array) => of(array, place),
            Values::Large(array) => of(array, place),
            Values::View(array) => of(array, place),
        }
    }

    fn len(&self) -> usize {
        match self {
            Values::Usual(array) => array.len(),
            Values::Large(array) => array.len(),
            Values::View(array) => array.len(),
        }
    }

    fn length(&self, place: usize) -> u64 {
        self.get(place).map_or(0, |text| text.len() as u64)
    }
}

impl Texts {
    /// Reads a column. Fails on cells without a text.
    pub fn of(column: &dyn Array) -> Result<Self, ArrowError> {
        if let Some(values) = Values::as_they_are(column) {
            return Ok(Texts { values, places: None, nulls: column.nulls().cloned() });
        }
        if !matches!(column.data_type(), DataType::Dictionary(..) | DataType::RunEndEncoded(..)) {
            return texts(column).map(Self::plain);
        }
        let (values, places) = parts(column);
        if values.is_empty() {
            return Ok(Self::plain(LargeStringArray::new_null(column.len())));
        }
        let few = values.len() <= MOST_VALUES_PER_ROW * column.len();
        let (values, places) = match Values::as_they_are(&values).filter(|_| few) {
            Some(values) => (values, places),
            None => used(&values, &places)?,
        };
        Ok(Texts { values, places: Some(places), nulls: column.logical_nulls() })
    }

    fn plain(values: LargeStringArray) -> Self {
        Texts { nulls: values.nulls().cloned(), values: Values::Large(values), places: None }
    }

    /// The text of a row; `None` for a null.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.values.get(self.place(row)?)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.places.as_ref().map_or(self.values.len(), Vec::len)
    }

    /// Among how many places the rows have their texts.
    pub fn distinct(&self) -> usize {
        self.values.len()
    }

    /// The place of a row's text; `None` for a null.
    #[inline(always)]
    pub fn place(&self, row: usize) -> Option<usize> {
        match self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            true => None,
            false => Some(self.places.as_ref().map_or(row, |places| places[row])),
        }
    }

    /// Bytes of the texts of all rows.
    pub fn bytes(&self) -> u64 {
        fn of<O: OffsetSizeTrait>(offsets: &[O]) -> u64 {
            (offsets[offsets.len() - 1] - offsets[0]).as_usize() as u64
        }
        match (&self.places, &self.values) {
            (Some(places), values) => places.iter().map(|place| values.length(*place)).sum(),
            (None, Values::Usual(array)) => of(array.value_offsets()),
            (None, Values::Large(array)) => of(array.value_offsets()),
            (None, Values::View(array)) => (0..array.len()).map(|place| self.values.length(place)).sum(),
        }
    }
}

/// The texts of those values that some row has, and the place of each row's among them. The others may have no text.
fn used(values: &dyn Array, places: &[usize]) -> Result<(Values, Vec<usize>), ArrowError> {
    let mut used: Vec<u64> = places.iter().map(|place| *place as u64).collect();
    used.sort_unstable();
    used.dedup();
    let places = places.iter().map(|place| used.partition_point(|own| *own < *place as u64)).collect();
    let texts = texts(&take(values, &UInt64Array::from(used))?)?;
    Ok((Values::Large(texts), places))
}

/// The distinct values of a dictionary or of runs, and which one each row has; rows without one have a null.
fn shared(column: &dyn Array) -> (ArrayRef, UInt64Array) {
    let (values, places) = parts(column);
    let nulls = column.logical_nulls();
    let is_null = |row: usize| values.is_empty() || nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let place = |(row, place): (usize, usize)| (!is_null(row)).then_some(place as u64);
    (values.clone(), places.into_iter().enumerate().map(place).collect())
}

/// The values of a dictionary or of runs, and which one each row has.
fn parts(column: &dyn Array) -> (ArrayRef, Vec<usize>) {
    match column.data_type() {
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs(column.as_run::<Int16Type>()),
            DataType::Int32 => runs(column.as_run::<Int32Type>()),
            _ => runs(column.as_run::<Int64Type>()),
        },
        _ => {
            let dictionary = column.as_any_dictionary();
            let empty = dictionary.values().is_empty();
            let places = if empty { vec![0; column.len()] } else { dictionary.normalized_keys() };
            (dictionary.values().clone(), places)
        }
    }
}

/// The values of runs, and which one each row has.
fn runs<R: RunEndIndexType>(column: &RunArray<R>) -> (ArrayRef, Vec<usize>) {
    let places = (0..column.len()).map(|row| column.get_physical_index(row)).collect();
    (column.values().clone(), places)
}

/// The cells of a dictionary or of runs one by one, in the type of their values.
pub(super) fn unshared(column: &dyn Array) -> Result<ArrayRef, ArrowError> {
    let (values, places) = shared(column);
    take(&values, &places)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
