//! Columns from Python: a dict of lists becomes a record batch.
//!
//! A column is of one type, that of its values: booleans, whole numbers, numbers, texts, dates, times. `None` is a missing cell,
//! and so is a float that is not a number. What has an Arrow array of its own, such as a series, gives that.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, LargeStringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, NullArray, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use pyo3_arrow::input::AnyArray;
use throng::{Error, ErrorCode};

use crate::errors::raised;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Missing,
    Boolean,
    Whole,
    Number,
    Text,
    Date,
    Time,
}

pub fn batch(columns: &Bound<'_, PyDict>) -> PyResult<RecordBatch> {
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = Default::default();
    for (name, values) in columns {
        let name: String = name.extract().map_err(|_| {
            raised(&Error::new(ErrorCode::UnreadableType, "the name of a column is not a text"))
        })?;
        let array = array(&name, &values)?;
        if let Some(first) = arrays.first()
            && first.len() != array.len()
        {
            return Err(raised(&ragged(&name, array.len(), fields[0].name(), first.len())));
        }
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    if arrays.is_empty() {
        return Err(raised(&Error::new(ErrorCode::EmptyTable, "the table has no columns")));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .map_err(|_| raised(&Error::bug("columns that make no table")))
}

fn ragged(name: &str, rows: usize, first: &str, expected: usize) -> Error {
    Error::new(
        ErrorCode::WrongCellCount,
        format!("the column \"{name}\" has {rows} cells, \"{first}\" has {expected}"),
    )
    .for_attribute(name)
    .with_hint("give all columns as many cells; None is a missing one")
}

fn array(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if values.hasattr("__arrow_c_array__")? || values.hasattr("__arrow_c_stream__")? {
        return arrow(name, values);
    }
    // Arrays of numpy and series give lists.
    let values = match values.getattr("tolist") {
        Ok(give) => give.call0()?,
        Err(_) => values.clone(),
    };
    if values.is_instance_of::<PyString>() {
        return Err(not_a_list(name, &values));
    }
    let cells: Vec<Bound<'_, PyAny>> =
        values.try_iter().map_err(|_| not_a_list(name, &values))?.collect::<PyResult<_>>()?;
    let mut kind = Kind::Missing;
    for (row, cell) in cells.iter().enumerate() {
        kind = joined(kind, kind_of(cell)?).ok_or_else(|| mixed(name, row, cell))?;
    }
    built(name, kind, &cells)
}

fn not_a_list(name: &str, values: &Bound<'_, PyAny>) -> PyErr {
    let kind = values.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    raised(
        &Error::new(ErrorCode::UnreadableType, format!("the column \"{name}\" is no list but {kind}"))
            .for_attribute(name)
            .with_hint("give each column as a list of its cells"),
    )
}

fn mixed(name: &str, row: usize, cell: &Bound<'_, PyAny>) -> PyErr {
    let kind = cell.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    raised(
        &Error::new(
            ErrorCode::UnreadableType,
            format!("a cell of type {kind} does not fit the cells before it"),
        )
        .on_line(row as u64 + 1)
        .for_attribute(name)
        .with_hint("give a column cells of one type: texts, numbers, booleans, dates or times, and None"),
    )
}

fn arrow(name: &str, values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let chunked = values.extract::<AnyArray>()?.into_chunked_array()?;
    let (chunks, field) = chunked.into_inner();
    let plain: Vec<&dyn arrow_array::Array> = chunks.iter().map(AsRef::as_ref).collect();
    let joined: Result<ArrayRef, ArrowError> = match plain.is_empty() {
        true => Ok(arrow_array::new_empty_array(field.data_type())),
        false => throng::table::gather::concat(&plain),
    };
    joined.map_err(|_| {
        raised(
            &Error::new(ErrorCode::UnreadableType, "the pieces of a column have different types")
                .for_attribute(name),
        )
    })
}

/// The kind of one cell; the order matters, because booleans are numbers and times are dates in Python.
fn kind_of(cell: &Bound<'_, PyAny>) -> PyResult<Option<Kind>> {
    if cell.is_none() {
        return Ok(Some(Kind::Missing));
    }
    if cell.is_instance_of::<PyBool>() {
        return Ok(Some(Kind::Boolean));
    }
    if cell.is_instance_of::<PyInt>() {
        return Ok(Some(Kind::Whole));
    }
    if let Ok(number) = cell.cast::<PyFloat>() {
        return Ok(Some(if number.extract::<f64>()?.is_nan() { Kind::Missing } else { Kind::Number }));
    }
    if cell.is_instance_of::<PyString>() {
        return Ok(Some(Kind::Text));
    }
    if cell.hasattr("isoformat")? {
        return Ok(match (cell.hasattr("toordinal")?, cell.hasattr("timestamp")?) {
            (true, false) => Some(Kind::Date),
            (true, true) => Some(Kind::Time),
            _ => None,
        });
    }
    Ok(None)
}

/// The kind of a column with cells of both kinds.
fn joined(one: Kind, other: Option<Kind>) -> Option<Kind> {
    match (one, other?) {
        (Kind::Missing, kind) | (kind, Kind::Missing) => Some(kind),
        (Kind::Whole, Kind::Number) | (Kind::Number, Kind::Whole) => Some(Kind::Number),
        (one, other) => (one == other).then_some(one),
    }
}

fn built(name: &str, kind: Kind, cells: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    macro_rules! build {
        ($builder:expr, $read:expr) => {{
            let mut builder = $builder;
            for (row, cell) in cells.iter().enumerate() {
                let missing = cell.is_none() || cell.extract::<f64>().is_ok_and(f64::is_nan);
                let value = if missing {
                    None
                } else {
                    Some($read(cell).map_err(|_: PyErr| mixed(name, row, cell))?)
                };
                builder.append_option(value);
            }
            Arc::new(builder.finish()) as ArrayRef
        }};
    }
    Ok(match kind {
        Kind::Missing => Arc::new(NullArray::new(cells.len())),
        Kind::Boolean => build!(BooleanBuilder::new(), |cell: &Bound<'_, PyAny>| cell.extract::<bool>()),
        Kind::Whole => build!(Int64Builder::new(), |cell: &Bound<'_, PyAny>| cell.extract::<i64>()),
        Kind::Number => build!(Float64Builder::new(), |cell: &Bound<'_, PyAny>| cell.extract::<f64>()),
        Kind::Text => texts(name, cells)?,
        Kind::Date => build!(Date32Builder::new(), |cell: &Bound<'_, PyAny>| {
            // Days since 1970; Python counts from the year 1.
            Ok(cell.call_method0("toordinal")?.extract::<i32>()? - 719_163)
        }),
        Kind::Time => build!(TimestampMicrosecondBuilder::new(), microseconds),
    })
}

fn texts(name: &str, cells: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let mut builder = LargeStringBuilder::new();
    for (row, cell) in cells.iter().enumerate() {
        match cell.cast::<PyString>() {
            Ok(text) => builder.append_value(text.to_cow().map_err(|_| {
                raised(
                    &Error::new(ErrorCode::NotUtf8, "a text of the column is not UTF-8")
                        .on_line(row as u64 + 1)
                        .for_attribute(name),
                )
            })?),
            Err(_) => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Microseconds since 1970 of a time without a zone, or in UTC of one with a zone.
fn microseconds(cell: &Bound<'_, PyAny>) -> PyResult<i64> {
    let offset = cell.call_method0("utcoffset")?;
    let local = match offset.is_none() {
        true => cell.clone(),
        false => cell.sub(offset)?,
    };
    let days: i64 = local.call_method0("toordinal")?.extract()?;
    let part = |name: &str| local.getattr(name)?.extract::<i64>();
    let seconds = part("hour")? * 3600 + part("minute")? * 60 + part("second")?;
    Ok(((days - 719_163) * 86_400 + seconds) * 1_000_000 + part("microsecond")?)
}
