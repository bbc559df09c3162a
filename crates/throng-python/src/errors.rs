//! Errors of the library as exceptions. Which class an error is, `throng._errors` says.

use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use throng::error::ErrorCode;
use throng::{Error, Fault};

/// An error as the exception that the package raises for it.
pub fn raised(error: &Error) -> PyErr {
    Python::attach(|py| exception(py, error).unwrap_or_else(|cause| cause))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let place = error.place();
    let own = PyDict::new(py);
    if let Some(file) = &place.file {
        own.set_item("file", file.display().to_string())?;
    }
    own.set_item("line", place.line)?;
    own.set_item("column", place.column)?;
    own.set_item("attribute", place.attribute.as_deref())?;
    let excerpt = error.excerpt().map(|one| (one.source.clone(), one.span.start, one.label.clone()));
    let told = [
        ("code", error.code().name().into_pyobject(py)?.into_any()),
        ("fault", fault(error.fault()).into_pyobject(py)?.into_any()),
        ("message", error.message().into_pyobject(py)?.into_any()),
        ("hint", error.hint().into_pyobject(py)?),
        ("place", own.into_any()),
        ("excerpt", excerpt.into_pyobject(py)?),
        ("reachable", error.reachable().into_pyobject(py)?),
    ]
    .into_py_dict(py)?;
    let made = py.import("throng._errors")?.getattr("made")?.call((), Some(&told))?;
    Ok(PyErr::from_value(made))
}

fn fault(fault: Fault) -> &'static str {
    match fault {
        Fault::Requirement => "requirement",
        Fault::Cancelled => "cancelled",
        Fault::Bug => "bug",
        _ => "input",
    }
}

/// All codes of errors with their meaning, for the documentation.
#[pyfunction]
pub fn error_codes() -> Vec<(&'static str, &'static str)> {
    ErrorCode::ALL.iter().map(|code| (code.name(), code.meaning())).collect()
}
