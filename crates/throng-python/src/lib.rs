//! throng for Python: the extension module `throng._throng`, on which the package in `python/throng` stands.
//!
//! Here is only what Python cannot do: tables over the Arrow C interface ([`table`], [`input`], [`memory`], [`columns`]), work on threads of its
//! own with the interpreter released ([`work`]), errors as exceptions ([`errors`]), and one function per call of the
//! package ([`calls`]; of a cluster, [`cluster`]). What users see, with its documentation, is Python.

#![allow(
    clippy::needless_pass_by_value,
    reason = "what Python gives is owned, and work on other threads takes it along"
)]

mod calls;
mod cluster;
mod columns;
mod errors;
mod input;
mod memory;
mod policy;
mod report;
mod table;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _throng(module: &Bound<'_, PyModule>) -> PyResult<()> {
    work::quiet_panics();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<policy::Policy>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<report::Report>()?;
    module.add_class::<report::Recipe>()?;
    module.add_class::<cluster::Driver>()?;
    module.add_class::<cluster::Steps>()?;
    module.add_class::<cluster::Sketcher>()?;
    module.add_class::<cluster::Dealer>()?;
    module.add_class::<cluster::Onward>()?;
    module.add_function(wrap_pyfunction!(cluster::merge, module)?)?;
    module.add_function(wrap_pyfunction!(calls::anonymize, module)?)?;
    module.add_function(wrap_pyfunction!(calls::anonymize_files, module)?)?;
    module.add_function(wrap_pyfunction!(calls::apply, module)?)?;
    module.add_function(wrap_pyfunction!(calls::audit, module)?)?;
    module.add_function(wrap_pyfunction!(calls::risk, module)?)?;
    module.add_function(wrap_pyfunction!(calls::compare, module)?)?;
    module.add_function(wrap_pyfunction!(calls::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(calls::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(calls::methods, module)?)?;
    module.add_function(wrap_pyfunction!(errors::error_codes, module)?)
}
