//! Tables from Python objects.

use std::path::PathBuf;
use std::time::Instant;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::input::AnyRecordBatch;
use throng::release::Batches;
use throng::{Data, Error, ErrorCode, Result, Watch};

use crate::columns;
use crate::errors::raised;
use crate::memory::Unchecked;
use crate::table::Table;
use crate::work::LOOK;

/// A table as it was given.
#[derive(Clone)]
pub enum Given {
    File(PathBuf),
    /// A release of ours.
    Own(Batches),
    Others(Unchecked),
}

impl Given {
    /// Names and types of its columns, if it came as Arrow.
    pub fn schema(&self) -> Option<SchemaRef> {
        match self {
            Given::File(_) => None,
            Given::Own(own) => Some(own.schema.clone()),
            Given::Others(others) => Some(others.schema.clone()),
        }
    }

    /// The table for the library; what others wrote is checked before.
    pub fn data(self, watch: &dyn Watch) -> Result<Data> {
        match self {
            Given::File(path) => Ok(Data::file(path)),
            Given::Own(own) => Ok(own.into()),
            Given::Others(others) => others.checked(watch).map(Data::from),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Given {
    type Error = PyErr;

    /// A `(path, None)` or `(None, object)`: the package has told them apart.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (path, table): (Option<PathBuf>, Option<Bound<'py, PyAny>>) = object.extract()?;
        match (path, table) {
            (Some(path), _) => Ok(Given::File(path)),
            (None, Some(table)) => match table.cast::<Table>() {
                Ok(own) => Ok(Given::Own(own.get().batches.clone())),
                Err(_) => batches(&table).map(Given::Others),
            },
            (None, None) => Err(raised(&Error::new(ErrorCode::BadUsage, "no table was given"))),
        }
    }
}

/// The batches of a table of others.
pub fn batches(table: &Bound<'_, PyAny>) -> PyResult<Unchecked> {
    let (schema, batches) = match table.cast::<PyDict>() {
        Ok(columns) => {
            let batch = columns::batch(columns)?;
            (batch.schema(), vec![batch])
        }
        Err(_) => read(table).map_err(|cause| told(table, cause))?,
    };
    Ok(Unchecked::new(schema, batches))
}

fn read(table: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let mut reader: Box<dyn RecordBatchReader + Send> = table.extract::<AnyRecordBatch>()?.into_reader()?;
    let (schema, mut batches, mut looked) = (reader.schema(), Vec::new(), Instant::now());
    // Streams may run Python of others, so the interpreter is let go and taken again by whoever needs it.
    while let Some(batch) = table.py().detach(|| reader.next()) {
        batches.push(batch.map_err(|_| {
            let error = Error::new(ErrorCode::UnreadableFile, "the table could not be read to its end");
            raised(&error.with_hint("a stream can be read once; give the table itself, or a new stream"))
        })?);
        if looked.elapsed() > LOOK {
            table.py().check_signals()?;
            looked = Instant::now();
        }
    }
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
