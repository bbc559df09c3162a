//! Tables from Python objects.
//!
//! What comes over the Arrow C interface is memory that others wrote: every array is checked in full before anything looks at it,
//! so that a text that is not UTF-8 or an offset that points nowhere is an error and not undefined behaviour.

use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::input::AnyRecordBatch;
use throng::release::Batches;
use throng::{Data, Error, ErrorCode, Result};

use crate::columns;
use crate::errors::raised;
use crate::table::Table;

/// A table as it was given.
#[derive(Clone)]
pub struct Given {
    pub data: Data,
    /// Names and types of its columns, if it came as Arrow.
    pub schema: Option<SchemaRef>,
}

impl<'py> FromPyObject<'_, 'py> for Given {
    type Error = PyErr;

    /// A `(path, None)` or `(None, object)`: the package has told them apart.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (path, table): (Option<std::path::PathBuf>, Option<Bound<'py, PyAny>>) = object.extract()?;
        match (path, table) {
            (Some(path), _) => Ok(Given { data: Data::file(path), schema: None }),
            (None, Some(table)) => in_memory(&table),
            (None, None) => Err(raised(&Error::new(ErrorCode::BadUsage, "no table was given"))),
        }
    }
}

fn in_memory(table: &Bound<'_, PyAny>) -> PyResult<Given> {
    batches(table).map(given)
}

/// The batches of a table in memory.
pub fn batches(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if let Ok(own) = table.cast::<Table>() {
        return Ok(own.borrow().batches.clone());
    }
    let (schema, batches) = match table.cast::<PyDict>() {
        Ok(columns) => {
            let batch = columns::batch(columns)?;
            (batch.schema(), vec![batch])
        }
        Err(_) => read(table).map_err(|cause| told(table, cause))?,
    };
    let py = table.py();
    let batches = py.detach(|| checked(&schema, batches)).map_err(|error| raised(&error))?;
    Ok(Batches { schema, batches })
}

fn given(batches: Batches) -> Given {
    Given { schema: Some(batches.schema.clone()), data: batches.into() }
}

fn read(table: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let reader: Box<dyn RecordBatchReader + Send> = table.extract::<AnyRecordBatch>()?.into_reader()?;
    let schema = reader.schema();
    // Streams may run Python of others, so the interpreter is let go and taken again by whoever needs it.
    let batches: std::result::Result<Vec<RecordBatch>, ArrowError> = table.py().detach(|| reader.collect());
    let batches = batches.map_err(|_| {
        let error = Error::new(ErrorCode::UnreadableFile, "the table could not be read to its end");
        raised(&error.with_hint("a stream can be read once; give the table itself, or a new stream"))
    })?;
    Ok((schema, batches))
}

/// What another package says of its own table, as an error about the data.
fn told(table: &Bound<'_, PyAny>, cause: PyErr) -> PyErr {
    let py = table.py();
    let own = py.import("throng._errors").and_then(|module| module.getattr("ThrongError"));
    let passed_on = cause.is_instance_of::<PyKeyboardInterrupt>(py)
        || cause.is_instance_of::<PyMemoryError>(py)
        || own.is_ok_and(|own| cause.matches(py, own).unwrap_or(false));
    if passed_on {
        return cause;
    }
    let kind = table.get_type().fully_qualified_name().map(|name| name.to_string()).unwrap_or_default();
    let error = Error::new(ErrorCode::UnreadableType, format!("{kind} could not give its table as Arrow"))
        .with_hint("give columns of one type each, as text, numbers, booleans or dates");
    let raised = raised(&error);
    raised.set_cause(py, Some(cause));
    raised
}

/// The batches, if their memory is what it says.
fn checked(schema: &SchemaRef, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
    for batch in &batches {
        for (at, column) in batch.columns().iter().enumerate() {
            column.to_data().validate_full().map_err(|_| damaged(schema, at))?;
        }
    }
    Ok(batches)
}

/// Arrow's own words may quote cells.
fn damaged(schema: &SchemaRef, at: usize) -> Error {
    let field = schema.field(at);
    let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let error = match is_text {
        true => Error::new(ErrorCode::NotUtf8, "a text of the column is not UTF-8")
            .with_hint("decode the texts, or give the column as binary and make it an identifier"),
        false => Error::new(ErrorCode::UnreadableFile, "the memory of the column is damaged")
            .with_hint("make the table anew"),
    };
    error.in_file("the table").in_column(at as u64 + 1).for_attribute(field.name())
}
