//! Policies. The package writes what was said in Python as keys; the library checks them as it checks a file.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use throng::method::Methods;
use throng::run::cluster::Adjusted;
use throng::{Attribute, Error, ErrorCode, PolicyBuilder, Result, Role};

use crate::errors::raised;
use crate::input::Given;
use crate::work;

/// A checked policy.
#[pyclass(frozen, module = "throng._throng")]
pub struct Policy(pub throng::Policy);

/// What one key says, and what Python calls it.
struct Key {
    /// `privacy`, `data`, `report`, `method`, `evaluate` or `attribute`.
    section: String,
    /// The attribute or the task.
    of: String,
    name: String,
    value: toml::Value,
    place: String,
}

#[pymethods]
impl Policy {
    #[staticmethod]
    #[pyo3(signature = (text, path=None))]
    fn parse(text: &str, path: Option<PathBuf>) -> PyResult<Self> {
        told(throng::Policy::parse(text, path.as_deref()))
    }

    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        told(throng::Policy::load(&path))
    }

    #[staticmethod]
    fn guess(py: Python<'_>, data: Given) -> PyResult<Self> {
        work::run(py, None, None, move |watch| throng::Policy::guess(data.data(watch)?)).map(Policy)
    }

    /// A policy of keys: `(section, attribute or task, key, value, what Python calls it)`.
    #[staticmethod]
    fn build(keys: Vec<(String, String, String, Bound<'_, PyAny>, String)>) -> PyResult<Self> {
        let mut own = Vec::with_capacity(keys.len());
        for (section, of, name, value, place) in keys {
            let value = toml_value(&value, &place).map_err(|error| raised(&error))?;
            own.push(Key { section, of, name, value, place });
        }
        told(built(&own))
    }

    /// The policy with arguments of a call in place of its own.
    #[pyo3(signature = (method=None, k=None, l=None, seed=None, options=None))]
    fn adjusted(
        &self,
        method: Option<&str>,
        k: Option<usize>,
        l: Option<f64>,
        seed: Option<u64>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut changes = Adjusted { method: method.map(str::to_owned), k, l, seed, ..Adjusted::default() };
        changes.options = options_of(options)?;
        changed(&self.0, &changes).map(Policy)
    }

    /// The policy with options of a task of `evaluate`.
    fn with_task_options(&self, task: &str, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut policy = self.0.clone();
        let own = policy.evaluate.entry(task.to_owned()).or_default();
        for (name, value) in options {
            let name: String = name.extract()?;
            let value = toml_value(&value, &name).map_err(|error| raised(&error))?;
            own.insert(name, value);
        }
        Ok(Policy(policy))
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    #[getter]
    fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    #[getter]
    fn k(&self) -> Option<usize> {
        self.0.privacy.k()
    }

    /// Bytes of memory that a run may take, where the policy says so.
    #[getter]
    fn memory(&self) -> Option<u64> {
        self.0.memory
    }

    #[getter]
    fn method(&self) -> &str {
        &self.0.method.name
    }

    /// The attributes with their roles, in the order in which they were written.
    fn roles(&self) -> Vec<(&str, &'static str)> {
        self.0.attributes.iter().map(|(name, attribute)| (name.as_str(), attribute.role.name())).collect()
    }
}

impl Policy {
    /// The text that stands for nulls.
    pub fn missing(&self) -> String {
        self.0.missing.first().cloned().unwrap_or_default()
    }

    /// Whether a column is published as it is.
    pub fn publishes_as_it_is(&self, name: &str) -> bool {
        matches!(self.0.role(name), Role::Sensitive | Role::Class | Role::Other)
    }
}

/// What the arguments of a call change in a policy.
pub fn adjusted(policy: &throng::Policy, changes: &Bound<'_, PyDict>) -> PyResult<Adjusted> {
    fn of<T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>>(
        changes: &Bound<'_, PyDict>,
        key: &str,
    ) -> PyResult<Option<T>> {
        changes.get_item(key)?.filter(|value| !value.is_none()).map(|value| value.extract()).transpose()
    }
    let options = changes.get_item("options")?.filter(|value| !value.is_none());
    let options = options.map(Bound::cast_into::<PyDict>).transpose()?;
    let found = Adjusted {
        method: of(changes, "method")?,
        k: of(changes, "k")?,
        l: of(changes, "l")?,
        seed: of(changes, "seed")?,
        options: options_of(options.as_ref())?,
    };
    changed(policy, &found)?;
    Ok(found)
}

fn options_of(options: Option<&Bound<'_, PyDict>>) -> PyResult<toml::Table> {
    let mut given = toml::Table::new();
    for (name, value) in options.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = toml_value(&value, &name).map_err(|error| raised(&error))?;
        given.insert(name, value);
    }
    Ok(given)
}

fn changed(policy: &throng::Policy, changes: &Adjusted) -> PyResult<throng::Policy> {
    let own = changes.apply(policy.clone()).map_err(|error| raised(&error))?;
    check_options(&own.method.name, &changes.options).map_err(|error| raised(&error))?;
    Ok(own)
}

/// What is given with a call is meant for its method; options of the policy may be meant for another.
fn check_options(method: &str, given: &toml::Table) -> Result<()> {
    let methods = Methods::standard();
    match methods.find(method) {
        Ok(entry) => methods.configure(entry, given).map(|_| ()).map_err(|mistake| mistake.error),
        // The run says which there are.
        Err(_) => Ok(()),
    }
}

fn told(policy: Result<throng::Policy>) -> PyResult<Policy> {
    policy.map(Policy).map_err(|error| raised(&error))
}

fn built(keys: &[Key]) -> Result<throng::Policy> {
    let mut builder: PolicyBuilder = throng::Policy::builder();
    let mut attributes: Vec<(&str, Attribute)> = Vec::new();
    for key in keys {
        let (name, value) = (key.name.as_str(), &key.value);
        builder = match key.section.as_str() {
            "privacy" => builder.require(name, value).called(&key.place),
            "data" => builder.data(name, value).called(&key.place),
            "report" => builder.report(name, value).called(&key.place),
            "method" => builder.option(name, value).called(&key.place),
            "evaluate" => builder.task_option(&key.of, name, value).called(&key.place),
            _ => {
                match attributes.iter().position(|(own, _)| *own == key.of) {
                    Some(at) => {
                        attributes[at].1 = attributes[at].1.clone().set(name, value).called(&key.place);
                    }
                    None => {
                        attributes.push((&key.of, Attribute::other().set(name, value).called(&key.place)));
                    }
                }
                builder
            }
        };
    }
    attributes.into_iter().fold(builder, |builder, (name, own)| builder.attribute(name, own)).build()
}

/// A value of Python as one of a policy.
fn toml_value(value: &Bound<'_, PyAny>, place: &str) -> Result<toml::Value> {
    let unfit = |_| {
        let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        Error::new(
            ErrorCode::WrongType,
            format!("the argument {place}: a value of type {kind} cannot stand in a policy"),
        )
        .with_hint("give texts, numbers, booleans, lists and dicts")
    };
    if let Ok(one) = value.cast::<PyBool>() {
        return Ok(toml::Value::Boolean(one.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract::<i64>().map(toml::Value::Integer).map_err(unfit);
    }
    if value.is_instance_of::<PyFloat>() {
        return value.extract::<f64>().map(toml::Value::Float).map_err(unfit);
    }
    if value.is_instance_of::<PyString>() {
        return value.extract::<String>().map(toml::Value::String).map_err(unfit);
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let pairs = table.iter().map(|(name, own)| {
            let name = name.str().and_then(|name| name.extract::<String>()).map_err(unfit)?;
            Ok((name, toml_value(&own, place)?))
        });
        return pairs.collect::<Result<toml::Table>>().map(toml::Value::Table);
    }
    if let Ok(path) = value.extract::<PathBuf>() {
        return Ok(toml::Value::String(path.display().to_string()));
    }
    // Numbers of numpy and the like.
    if let Ok(plain) = value.getattr("item").and_then(|give| give.call0()) {
        return toml_value(&plain, place);
    }
    let values = value.try_iter().map_err(unfit)?;
    let values = values.map(|one| toml_value(&one.map_err(unfit)?, place));
    values.collect::<Result<Vec<_>>>().map(toml::Value::Array)
}
