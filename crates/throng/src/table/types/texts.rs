//! Typed cells as texts.

use std::fmt::{Display, LowerExp};

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_duration, as_time, date64_to_datetime};
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayAccessor, ArrowPrimitiveType, LargeStringArray, PrimitiveArray, downcast_integer_array,
};
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano};
use arrow_schema::{ArrowError, DataType, IntervalUnit, TimeUnit};

use crate::table::gather::take;

/// The cells of a column as texts. Fails on cells without one, such as bytes that are not UTF-8.
pub(crate) fn texts(column: &dyn Array) -> Result<LargeStringArray, ArrowError> {
    use DataType as T;
    Ok(match column.data_type() {
        T::Null => LargeStringArray::new_null(column.len()),
        T::Dictionary(..) | T::RunEndEncoded(..) => {
            let (values, places) = super::shared(column);
            let texts = texts(&values)?;
            take(&texts, &places)?.as_string().clone()
        }
        T::Boolean => shown(column.as_boolean())?,
        T::Float16 => written(column.as_primitive::<Float16Type>(), |cell| Some(float_text(cell.to_f32())))?,
        T::Float32 => written(column.as_primitive::<Float32Type>(), |cell| Some(float_text(cell)))?,
        T::Float64 => written(column.as_primitive::<Float64Type>(), |cell| Some(float_text(cell)))?,
        T::Utf8 => shown(column.as_string::<i32>())?,
        T::LargeUtf8 => column.as_string().clone(),
        T::Utf8View => shown(column.as_string_view())?,
        T::Binary => byte_texts(column.as_binary::<i32>())?,
        T::LargeBinary => byte_texts(column.as_binary::<i64>())?,
        T::BinaryView => byte_texts(column.as_binary_view())?,
        T::Decimal32(..) => decimals(column.as_primitive::<Decimal32Type>())?,
        T::Decimal64(..) => decimals(column.as_primitive::<Decimal64Type>())?,
        T::Decimal128(..) => decimals(column.as_primitive::<Decimal128Type>())?,
        T::Decimal256(..) => decimals(column.as_primitive::<Decimal256Type>())?,
        T::Date32 | T::Date64 | T::Time32(_) | T::Time64(_) | T::Timestamp(..) => moments(column)?,
        T::Duration(unit) => durations(column, *unit)?,
        T::Interval(unit) => intervals(column, *unit)?,
        _ => downcast_integer_array!(
            column => whole_numbers(column),
            other => return Err(no_text(other)),
        ),
    })
}

fn no_text(kind: &DataType) -> ArrowError {
    ArrowError::CastError(format!("a cell of type {kind} that stands for no text"))
}

/// The texts of all cells that have one; one that has none is an error.
fn written<A: ArrayAccessor + Copy>(
    column: A,
    text: impl Fn(A::Item) -> Option<String>,
) -> Result<LargeStringArray, ArrowError> {
    let mut builder = LargeStringBuilder::with_capacity(column.len(), column.len() * 8);
    for row in 0..column.len() {
        match column.is_valid(row) {
            true => builder.append_value(text(column.value(row)).ok_or_else(|| no_text(column.data_type()))?),
            false => builder.append_null(),
        }
    }
    Ok(builder.finish())
}

/// Whole numbers, digit by digit: most tables have some, and the machinery of formatting takes three times as long.
fn whole_numbers<T: ArrowPrimitiveType<Native: Into<i128>>>(column: &PrimitiveArray<T>) -> LargeStringArray {
    let mut builder = LargeStringBuilder::with_capacity(column.len(), column.len() * 8);
    let mut digits = [0; 24];
    for row in 0..column.len() {
        match column.is_valid(row) {
            true => builder.append_value(digits_of(column.value(row).into(), &mut digits)),
            false => builder.append_null(),
        }
    }
    builder.finish()
}

/// A number of 64 bits in digits.
pub(crate) fn digits_of(number: i128, digits: &mut [u8; 24]) -> &str {
    let (mut left, mut start) = (number.unsigned_abs() as u64, digits.len());
    loop {
        start -= 1;
        digits[start] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        start -= 1;
        digits[start] = b'-';
    }
    std::str::from_utf8(&digits[start..]).unwrap_or_default()
}

/// Cells whose text is what they display.
fn shown<A: ArrayAccessor<Item: Display> + Copy>(column: A) -> Result<LargeStringArray, ArrowError> {
    use std::fmt::Write;
    let mut builder = LargeStringBuilder::with_capacity(column.len(), column.len() * 8);
    for row in 0..column.len() {
        match column.is_valid(row) {
            true => {
                write!(builder, "{}", column.value(row)).map_err(|_| no_text(column.data_type()))?;
                builder.append_value("");
            }
            false => builder.append_null(),
        }
    }
    Ok(builder.finish())
}

/// Rust writes the fewest digits that read back as the same number; very large and small ones need an exponent
/// to be short. Whole numbers of more than 15 digits would pass for labels.
pub(super) fn float_text<N: Display + LowerExp + Into<f64> + Copy>(number: N) -> String {
    let size = number.into().abs();
    let plain = size == 0.0 || (1e-5..1e15).contains(&size) || !size.is_finite();
    if plain { format!("{number}") } else { format!("{number:e}") }
}

/// Cell by cell: Arrow checks the bytes of all cells at once, also of those that a slice leaves out.
fn byte_texts<'a, A: ArrayAccessor<Item = &'a [u8]> + Copy>(
    column: A,
) -> Result<LargeStringArray, ArrowError> {
    written(column, |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned))
}

fn decimals<T: DecimalType>(column: &PrimitiveArray<T>) -> Result<LargeStringArray, ArrowError> {
    let (precision, scale) = match column.data_type() {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => (*precision, *scale),
        other => return Err(no_text(other)),
    };
    written(column, |cell| Some(T::format_decimal(cell, precision, scale)))
}

/// Dates and times, without a fraction of seconds or with 3, 6 or 9 digits of it.
fn moments(column: &dyn Array) -> Result<LargeStringArray, ArrowError> {
    use {DataType as T, TimeUnit as U};
    match column.data_type() {
        T::Date32 => {
            let column = column.as_primitive::<Date32Type>();
            written(column, |cell| Some(format!("{:?}", Date32Type::to_naive_date_opt(cell)?)))
        }
        // Dates that are kept in milliseconds are still dates.
        T::Date64 => written(column.as_primitive::<Date64Type>(), |cell| {
            let text = format!("{:?}", date64_to_datetime(cell)?);
            Some(text.strip_suffix("T00:00:00").map(str::to_owned).unwrap_or(text))
        }),
        T::Time32(U::Second) => times(column.as_primitive::<Time32SecondType>()),
        T::Time32(_) => times(column.as_primitive::<Time32MillisecondType>()),
        T::Time64(U::Microsecond) => times(column.as_primitive::<Time64MicrosecondType>()),
        T::Time64(_) => times(column.as_primitive::<Time64NanosecondType>()),
        T::Timestamp(U::Second, _) => timestamps(column.as_primitive::<TimestampSecondType>()),
        T::Timestamp(U::Millisecond, _) => timestamps(column.as_primitive::<TimestampMillisecondType>()),
        T::Timestamp(U::Microsecond, _) => timestamps(column.as_primitive::<TimestampMicrosecondType>()),
        T::Timestamp(U::Nanosecond, _) => timestamps(column.as_primitive::<TimestampNanosecondType>()),
        other => Err(no_text(other)),
    }
}

fn times<T>(column: &PrimitiveArray<T>) -> Result<LargeStringArray, ArrowError>
where
    T: ArrowPrimitiveType<Native: Into<i64>>,
{
    written(column, |cell| Some(format!("{:?}", as_time::<T>(cell.into())?)))
}

/// Named zones need a database to be written out; UTC needs none.
fn timestamps<T: ArrowTimestampType>(column: &PrimitiveArray<T>) -> Result<LargeStringArray, ArrowError> {
    let zone = if matches!(column.data_type(), DataType::Timestamp(_, Some(_))) { "Z" } else { "" };
    written(column, |cell| {
        let moment = arrow_array::temporal_conversions::as_datetime::<T>(cell)?;
        Some(format!("{moment:?}{zone}"))
    })
}

/// As ISO 8601 writes them.
fn durations(column: &dyn Array, unit: TimeUnit) -> Result<LargeStringArray, ArrowError> {
    fn of<T: ArrowPrimitiveType<Native = i64>>(column: &dyn Array) -> Result<LargeStringArray, ArrowError> {
        written(column.as_primitive::<T>(), |cell| Some(as_duration::<T>(cell)?.to_string()))
    }
    match unit {
        TimeUnit::Second => of::<DurationSecondType>(column),
        TimeUnit::Millisecond => of::<DurationMillisecondType>(column),
        TimeUnit::Microsecond => of::<DurationMicrosecondType>(column),
        TimeUnit::Nanosecond => of::<DurationNanosecondType>(column),
    }
}

/// Their parts with units; months, days and seconds cannot be turned into each other.
fn intervals(column: &dyn Array, unit: IntervalUnit) -> Result<LargeStringArray, ArrowError> {
    match unit {
        IntervalUnit::YearMonth => {
            written(column.as_primitive::<IntervalYearMonthType>(), |months| Some(format!("{months} months")))
        }
        IntervalUnit::DayTime => written(column.as_primitive::<IntervalDayTimeType>(), |cell| {
            let IntervalDayTime { days, milliseconds } = cell;
            Some(format!("{days} days {} seconds", f64::from(milliseconds) / 1e3))
        }),
        IntervalUnit::MonthDayNano => written(column.as_primitive::<IntervalMonthDayNanoType>(), |cell| {
            let IntervalMonthDayNano { months, days, nanoseconds } = cell;
            Some(format!("{months} months {days} days {nanoseconds} nanoseconds"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written_as_rust_writes_them() {
        let ends = [i128::from(i64::MIN), i128::from(i64::MAX), i128::from(u64::MAX)];
        let powers =
            (0..19).flat_map(|power| [10i128.pow(power), 10i128.pow(power) - 1, -(10i128.pow(power))]);
        for number in ends.into_iter().chain(powers) {
            assert_eq!(digits_of(number, &mut [0; 24]), number.to_string());
        }
    }

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
