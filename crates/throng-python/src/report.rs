//! What is told of runs, and recipes. Python reads the JSON; here are the other forms.

use std::path::PathBuf;

use pyo3::prelude::*;
use throng::report::{self, page_html, page_terminal};
use throng::simulate::{self, Simulated};
use throng::{Comparison, Error, Evaluation, Findings, RiskReport};

use crate::errors::raised;

/// What was found by one of the calls.
pub enum Told {
    Run(Box<throng::Report>),
    Audit(Box<Findings>),
    Risk(Box<RiskReport>),
    Comparison(Box<Comparison>),
    Evaluation(Box<Evaluation>),
    Simulation(Box<Simulated>, Option<f64>),
    /// One that comes from a pickle.
    Written {
        json: String,
        text: String,
        html: Option<String>,
    },
}

#[pyclass(frozen, module = "throng._throng")]
pub struct Report(pub Told);

#[pymethods]
impl Report {
    /// All figures as JSON.
    fn json(&self) -> PyResult<String> {
        match &self.0 {
            Told::Run(own) => report::json(own),
            Told::Audit(own) => report::audit_json(own, None),
            Told::Risk(own) => report::json(own),
            Told::Comparison(own) => report::json(own),
            Told::Evaluation(own) => report::json(own),
            Told::Simulation(own, _) => report::json(own),
            Told::Written { json, .. } => Ok(json.clone()),
        }
        .map_err(|error| raised(&error))
    }

    /// The text that the command line prints.
    fn text(&self) -> String {
        match &self.0 {
            Told::Run(own) => report::terminal(own),
            Told::Audit(own) => report::audit_terminal(own),
            Told::Risk(own) => report::risk_terminal(own),
            Told::Comparison(own) => report::compare_terminal(own),
            Told::Evaluation(own) => page_terminal(&own.page),
            Told::Simulation(own, share) => simulate::terminal(own, *share),
            Told::Written { text, .. } => text.clone(),
        }
    }

    /// The page that the command line writes, where it writes one.
    fn html(&self) -> PyResult<Option<String>> {
        let page = match &self.0 {
            Told::Run(own) => report::html(own),
            Told::Comparison(own) => report::compare_html(own),
            Told::Evaluation(own) => page_html(&own.page),
            Told::Audit(_) | Told::Risk(_) | Told::Simulation(..) => return Ok(None),
            Told::Written { html, .. } => return Ok(html.clone()),
        };
        page.map(Some).map_err(|error| raised(&error))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, own) = (slf.py(), slf.get());
        let arguments = (own.json()?, own.text(), own.html()?).into_pyobject(py)?.into_any();
        Ok((py.get_type::<Report>().getattr("written")?, arguments))
    }

    #[staticmethod]
    fn written(json: String, text: String, html: Option<String>) -> Self {
        Report(Told::Written { json, text, html })
    }
}

/// A recoding that was learned.
#[pyclass(frozen, module = "throng._throng")]
pub struct Recipe(pub throng::Recipe);

#[pymethods]
impl Recipe {
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        throng::Recipe::load(&path).map(Recipe).map_err(|error| raised(&error))
    }

    #[staticmethod]
    fn parse(json: &str) -> PyResult<Self> {
        let recipe: throng::Recipe = serde_json::from_str(json)
            .map_err(|_| raised(&Error::new(throng::ErrorCode::BadRecipe, "this is not a recipe")))?;
        recipe.check().map_err(|error| raised(&error))?;
        Ok(Recipe(recipe))
    }

    fn json(&self) -> PyResult<String> {
        self.0.to_json().map_err(|error| raised(&error))
    }
}
