//! Releases as Python sees them.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use throng::Error;
use throng::formula::Formulas;
use throng::release::Batches;

use crate::errors::raised;
use crate::work;

/// A table of record batches that was published.
#[pyclass(frozen, module = "throng._throng")]
pub struct Table {
    pub batches: Batches,
    /// What text has in place of nulls.
    missing: String,
    origin: Option<Origin>,
    /// Whether cells that a spreadsheet would run get a mark in delimited text.
    escape_formulas: bool,
    typed: OnceLock<Batches>,
}

/// The columns of the table that a release was made from which have their types back. It goes wherever the release goes, so
/// it holds their names and types and nothing else: neither other columns nor what others wrote beside a column.
#[derive(Clone)]
pub struct Origin(SchemaRef);

impl Origin {
    /// Of the columns of a table that are published as they are.
    pub fn new(schema: &Schema, as_it_is: impl Fn(&str) -> bool) -> Self {
        let bare = |field: &Field| Field::new(field.name(), field.data_type().clone(), field.is_nullable());
        let kept = schema.fields().iter().filter(|field| as_it_is(field.name()));
        // Nested types keep theirs, but for what is within them.
        let fields: Vec<Field> = kept
            .filter_map(|field| match field.data_type() {
                DataType::RunEndEncoded(ends, values) => {
                    let kind = DataType::RunEndEncoded(bare(ends).into(), bare(values).into());
                    Some(Field::new(field.name(), kind, true))
                }
                kind => (!kind.is_nested()).then(|| bare(field)),
            })
            .collect();
        Origin(Arc::new(Schema::new(fields)))
    }
}

impl Table {
    pub fn new(batches: Batches, missing: String, origin: Option<Origin>, escape_formulas: bool) -> Self {
        Table { batches, missing, origin, escape_formulas, typed: OnceLock::new() }
    }

    /// The batches with the types of the table that they were made from.
    fn typed(&self, py: Python<'_>) -> PyResult<&Batches> {
        if let Some(typed) = self.typed.get() {
            return Ok(typed);
        }
        let batches = self.batches.clone();
        let typed = match self.origin.clone() {
            Some(Origin(schema)) => {
                let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
                work::run(py, None, None, move |_| Ok(batches.with_types_of(&schema, &names)))?
            }
            None => batches,
        };
        Ok(self.typed.get_or_init(|| typed))
    }
}

#[pymethods]
impl Table {
    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let Batches { schema, batches } = self.typed(py)?.clone();
        let structs =
            batches.into_iter().map(|batch| Ok(Arc::new(arrow_array::StructArray::from(batch)) as _));
        let field =
            Field::new_struct("", schema.fields().clone(), false).with_metadata(schema.metadata().clone());
        let reader = Box::new(ArrayIterator::new(structs, field.into()));
        Ok(to_stream_pycapsule(py, reader, requested_schema)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.typed(py)?.schema.as_ref())?)
    }

    /// Writes a file in the format that its name tells; marks before formulas as this says, or as the run was told.
    #[pyo3(signature = (path, escape_formulas=None))]
    fn write(slf: Bound<'_, Self>, path: PathBuf, escape_formulas: Option<bool>) -> PyResult<()> {
        let (py, own) = (slf.py(), slf.get());
        let (batches, missing) = (own.batches.clone(), own.missing.clone());
        let formulas = match escape_formulas.unwrap_or(own.escape_formulas) {
            true => Formulas::Escape,
            false => Formulas::Keep,
        };
        work::run(py, None, None, move |watch| batches.write(&path, &missing, formulas, watch))
    }

    #[getter]
    fn rows(&self) -> usize {
        self.batches.rows()
    }

    /// Names of the columns.
    fn names(&self) -> Vec<String> {
        self.batches.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Names of the columns with their types in words.
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let fields = self.typed(py)?.schema.fields();
        Ok(fields.iter().map(|field| (field.name().clone(), field.data_type().to_string())).collect())
    }

    /// The columns as lists.
    fn lists<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyList>)>> {
        let batches = self.typed(py)?;
        let fields = batches.schema.fields().iter().enumerate();
        fields.map(|(at, field)| Ok((field.name().clone(), list(py, batches, at)?))).collect()
    }

    /// The class of each of `total` rows of the table, given the row of the table behind each row of the release.
    fn classes(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        rows: &[u8],
        total: usize,
    ) -> PyResult<Vec<Option<u32>>> {
        let rows: Vec<u32> = rows.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let batches = self.batches.clone();
        work::run(py, None, None, move |_| {
            // Numbered as the table comes, so that they say nothing about the order of the release.
            let mut of_row = vec![None; total];
            for (row, class) in rows.iter().zip(batches.classes(&names)?) {
                if let Some(own) = of_row.get_mut(*row as usize) {
                    *own = Some(class);
                }
            }
            Ok(renumbered(of_row))
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, own) = (slf.py(), slf.get());
        let rows = PyBytes::new(py, &encoded(&own.batches.schema, &own.batches.batches)?);
        let origin = match &own.origin {
            Some(Origin(schema)) => Some(PyBytes::new(py, &encoded(schema, &[])?)),
            None => None,
        };
        let arguments =
            (rows, own.missing.clone(), origin, own.escape_formulas).into_pyobject(py)?.into_any();
        Ok((py.get_type::<Table>().getattr("decoded")?, arguments))
    }

    #[staticmethod]
    fn decoded(
        rows: &[u8],
        missing: String,
        origin: Option<Vec<u8>>,
        escape_formulas: bool,
    ) -> PyResult<Self> {
        let origin = match origin {
            Some(schema) => Some(Origin(decode(&schema)?.schema)),
            None => None,
        };
        Ok(Table::new(decode(rows)?, missing, origin, escape_formulas))
    }
}

fn renumbered(classes: Vec<Option<u32>>) -> Vec<Option<u32>> {
    let most = classes.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    let (mut numbers, mut next) = (vec![None; most], 0);
    let mut number = |class: u32| {
        *numbers[class as usize].get_or_insert_with(|| {
            next += 1;
            next - 1
        })
    };
    classes.into_iter().map(|class| class.map(&mut number)).collect()
}

fn broken(_: ArrowError) -> PyErr {
    raised(&Error::bug("a release that cannot be pickled"))
}

fn encoded(schema: &Schema, batches: &[RecordBatch]) -> PyResult<Vec<u8>> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema).map_err(broken)?;
    batches.iter().try_for_each(|batch| writer.write(batch)).map_err(broken)?;
    writer.into_inner().map_err(broken)
}

fn decode(bytes: &[u8]) -> PyResult<Batches> {
    let reader = StreamReader::try_new(Cursor::new(bytes), None).map_err(broken)?;
    let schema = reader.schema();
    Ok(Batches { schema, batches: reader.collect::<Result<_, _>>().map_err(broken)? })
}

/// The cells of a column as values of Python: numbers, booleans and dates as such, everything else as text.
fn list<'py>(py: Python<'py>, batches: &Batches, at: usize) -> PyResult<Bound<'py, PyList>> {
    let cells = PyList::empty(py);
    for batch in &batches.batches {
        let column = batch.column(at);
        let texts = ArrayFormatter::try_new(column.as_ref(), &FormatOptions::new()).map_err(broken)?;
        let nulls = column.logical_nulls();
        for row in 0..column.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                cells.append(py.None())?;
                continue;
            }
            let text = texts.value(row).to_string();
            match column.data_type() {
                kind if kind.is_integer() => cells.append(text.parse::<i128>().unwrap_or_default())?,
                kind if kind.is_floating() => cells.append(text.parse::<f64>().unwrap_or(f64::NAN))?,
                DataType::Boolean => cells.append(text == "true")?,
                DataType::Date32 => {
                    cells.append(
                        py.import("datetime")?.getattr("date")?.call_method1("fromisoformat", (text,))?,
                    )?;
                }
                _ => cells.append(text)?,
            }
        }
    }
    Ok(cells)
}
