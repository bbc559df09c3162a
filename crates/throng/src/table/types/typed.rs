//! Texts as typed cells again.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::builder::{BinaryViewBuilder, StringViewBuilder};
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, LargeBinaryArray, LargeStringArray,
    NullArray, PrimitiveArray, StringArray, make_array,
};
use arrow_buffer::i256;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// Texts as cells of a type that [`super::published`] gives; one that does not fit is an error.
pub(crate) fn typed(texts: &LargeStringArray, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    use DataType as T;
    let cells = Cells { texts, kind };
    match kind {
        T::Boolean => Ok(Arc::new(cells.each(parsed)?.into_iter().collect::<BooleanArray>())),
        T::Int8 => cells.read::<Int8Type>(parsed),
        T::Int16 => cells.read::<Int16Type>(parsed),
        T::Int32 => cells.read::<Int32Type>(parsed),
        T::Int64 => cells.read::<Int64Type>(parsed),
        T::UInt8 => cells.read::<UInt8Type>(parsed),
        T::UInt16 => cells.read::<UInt16Type>(parsed),
        T::UInt32 => cells.read::<UInt32Type>(parsed),
        T::UInt64 => cells.read::<UInt64Type>(parsed),
        T::Float16 => cells.read::<Float16Type>(|text| parsed(text).map(Half::from_f32)),
        T::Float32 => cells.read::<Float32Type>(parsed),
        T::Float64 => cells.read::<Float64Type>(parsed),
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => cells.decimals(),
        T::Date32 | T::Date64 | T::Time32(_) | T::Time64(_) => cells.days(),
        T::Timestamp(unit, _) => cells.timestamps(*unit),
        T::Duration(unit) => cells.durations(*unit),
        T::Null => cells.nulls(),
        _ => cells.strings(),
    }
}

/// The texts of a column and the type it is to have.
struct Cells<'a> {
    texts: &'a LargeStringArray,
    kind: &'a DataType,
}

impl Cells<'_> {
    fn misfit(&self) -> ArrowError {
        ArrowError::CastError(format!("a text that is no {}", self.kind))
    }

    /// Every text read; one that cannot be is an error, where Arrow would make it a null.
    fn each<N>(&self, read: impl Fn(&str) -> Option<N>) -> Result<Vec<Option<N>>, ArrowError> {
        let one = |text: &str| read(text).ok_or_else(|| self.misfit());
        self.texts.iter().map(|text| text.map(one).transpose()).collect()
    }

    /// The cells as numbers of a type that lies in memory as theirs does, under the name of theirs: what stands for arrays of every type
    /// by name is compiled by Arrow, and only once.
    fn read<T: ArrowPrimitiveType>(
        &self,
        read: impl Fn(&str) -> Option<T::Native>,
    ) -> Result<ArrayRef, ArrowError> {
        let cells: PrimitiveArray<T> = self.each(read)?.into_iter().collect();
        Ok(make_array(cells.into_data().into_builder().data_type(self.kind.clone()).build()?))
    }

    fn strings(&self) -> Result<ArrayRef, ArrowError> {
        use DataType as T;
        let texts = self.texts.iter();
        let bytes = self.texts.iter().map(|text| text.map(str::as_bytes));
        Ok(match self.kind {
            T::Utf8 => Arc::new(texts.collect::<StringArray>()),
            T::LargeUtf8 => Arc::new(self.texts.clone()),
            T::Utf8View => {
                let mut builder = StringViewBuilder::with_capacity(self.texts.len());
                texts.for_each(|text| builder.append_option(text));
                Arc::new(builder.finish())
            }
            T::Binary => Arc::new(bytes.collect::<BinaryArray>()),
            T::LargeBinary => Arc::new(bytes.collect::<LargeBinaryArray>()),
            T::BinaryView => {
                let mut builder = BinaryViewBuilder::with_capacity(self.texts.len());
                bytes.for_each(|bytes| builder.append_option(bytes));
                Arc::new(builder.finish())
            }
            _ => return Err(self.misfit()),
        })
    }

    fn decimals(&self) -> Result<ArrayRef, ArrowError> {
        use DataType as T;
        let narrow = |text: &str, scale: i8| unscaled(text, scale)?.to_i128();
        match self.kind {
            T::Decimal32(_, scale) => {
                self.read::<Int32Type>(|text| i32::try_from(narrow(text, *scale)?).ok())
            }
            T::Decimal64(_, scale) => {
                self.read::<Int64Type>(|text| i64::try_from(narrow(text, *scale)?).ok())
            }
            T::Decimal128(_, scale) => self.read::<Decimal128Type>(|text| narrow(text, *scale)),
            T::Decimal256(_, scale) => self.read::<Decimal256Type>(|text| unscaled(text, *scale)),
            _ => Err(self.misfit()),
        }
    }

    fn days(&self) -> Result<ArrayRef, ArrowError> {
        use {DataType as T, TimeUnit as U};
        match self.kind {
            T::Date32 => self.read::<Int32Type>(|text| Some(Date32Type::from_naive_date(parsed(text)?))),
            T::Date64 => self.read::<Int64Type>(|text| {
                let midnight = || parsed::<NaiveDate>(text)?.and_hms_opt(0, 0, 0);
                let moment: NaiveDateTime = parsed(text).or_else(midnight)?;
                Some(moment.and_utc().timestamp_millis())
            }),
            T::Time32(U::Second) => {
                self.read::<Int32Type>(|text| i32::try_from(nanoseconds(text)? / 1_000_000_000).ok())
            }
            T::Time32(_) => self.read::<Int32Type>(|text| i32::try_from(nanoseconds(text)? / 1_000_000).ok()),
            T::Time64(U::Microsecond) => self.read::<Int64Type>(|text| Some(nanoseconds(text)? / 1000)),
            _ => self.read::<Int64Type>(nanoseconds),
        }
    }

    fn timestamps(&self, unit: TimeUnit) -> Result<ArrayRef, ArrowError> {
        match unit {
            TimeUnit::Second => self.read::<Int64Type>(|text| Some(moment(text)?.timestamp())),
            TimeUnit::Millisecond => self.read::<Int64Type>(|text| Some(moment(text)?.timestamp_millis())),
            TimeUnit::Microsecond => self.read::<Int64Type>(|text| Some(moment(text)?.timestamp_micros())),
            TimeUnit::Nanosecond => self.read::<Int64Type>(|text| moment(text)?.timestamp_nanos_opt()),
        }
    }
}

impl Cells<'_> {
    fn durations(&self, unit: TimeUnit) -> Result<ArrayRef, ArrowError> {
        let of = |per_second: i64| move |text: &str| duration(text, per_second);
        match unit {
            TimeUnit::Second => self.read::<Int64Type>(of(1)),
            TimeUnit::Millisecond => self.read::<Int64Type>(of(1_000)),
            TimeUnit::Microsecond => self.read::<Int64Type>(of(1_000_000)),
            TimeUnit::Nanosecond => self.read::<Int64Type>(of(1_000_000_000)),
        }
    }

    fn nulls(&self) -> Result<ArrayRef, ArrowError> {
        let all = self.texts.null_count() == self.texts.len();
        all.then(|| Arc::new(NullArray::new(self.texts.len())) as ArrayRef).ok_or_else(|| self.misfit())
    }
}

/// A duration such as `-PT90.5S` in parts of a second, of which there are so many; `P0D` is none.
fn duration(text: &str, per_second: i64) -> Option<i64> {
    if text == "P0D" {
        return Some(0);
    }
    let (sign, unsigned) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let seconds = unsigned.strip_prefix("PT")?.strip_suffix('S')?;
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let nanoseconds: i128 = format!("{fraction:0<9}").parse().ok()?;
    let parts = whole.parse::<i128>().ok()? * i128::from(per_second)
        + nanoseconds * i128::from(per_second) / 1_000_000_000;
    i64::try_from(sign * parts).ok()
}

fn parsed<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}

/// Times with a zone are written in UTC.
fn moment(text: &str) -> Option<DateTime<Utc>> {
    parsed::<NaiveDateTime>(text.strip_suffix('Z').unwrap_or(text)).map(|moment| moment.and_utc())
}

/// Nanoseconds since midnight.
fn nanoseconds(text: &str) -> Option<i64> {
    let time: NaiveTime = parsed(text)?;
    Some(i64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + i64::from(time.nanosecond()))
}

/// The digits of a decimal number with so many places behind the point. A scale below zero is published as text.
fn unscaled(text: &str, scale: i8) -> Option<i256> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let missing = usize::try_from(scale).ok()?.checked_sub(fraction.len())?;
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = whole.strip_prefix('-').unwrap_or(whole);
    let fits = is_digits(unsigned) && is_digits(fraction) && !(unsigned.is_empty() && fraction.is_empty());
    fits.then(|| i256::from_string(&format!("{whole}{fraction}{}", "0".repeat(missing)))).flatten()
}
