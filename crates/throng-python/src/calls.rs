//! The calls of the package: arguments in, work on other threads, results out.

use std::path::PathBuf;

use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use throng::extend::{Entry, Method, Part, Problem, Solution};
use throng::formula::Formulas;
use throng::method::Methods;
use throng::method::options::Numbers;
use throng::run::{self, Memory};
use throng::simulate as drawing;
use throng::simulate::Simulation;
use throng::{
    Anonymize, Anonymized, Apply, Audit, Batches, Compare, Data, Error, ErrorCode, Evaluate, Order, Publish,
    Registry, Result, Risk, Secret, Unmet, Watch,
};

use crate::errors::raised;
use crate::input::Given;
use crate::policy::Policy;
use crate::report::{Recipe, Report, Told};
use crate::table::{Origin, Table};
use crate::work;

/// Fewer bytes than this could be guessed by trying.
const LEAST_SECRET: usize = 16;

/// How a call runs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Running<'py> {
    threads: Option<usize>,
    /// For the method and the lower bound together.
    seconds: Option<f64>,
    progress: Option<Bound<'py, PyAny>>,
    secret: Option<Key>,
}

/// A secret: its bytes, or a file with them.
#[derive(FromPyObject)]
pub enum Key {
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl Key {
    pub fn secret(&self) -> Result<Secret> {
        match self {
            Key::File(path) => Secret::read(path),
            Key::Bytes(bytes) if bytes.len() < LEAST_SECRET => Err(Error::new(
                ErrorCode::WeakSecret,
                format!("the argument secret: one of {} bytes could be guessed", bytes.len()),
            )
            .with_hint("make one with `secrets.token_bytes(32)`, and keep it to yourself")),
            Key::Bytes(bytes) => Ok(Secret::from_bytes(bytes)),
        }
    }
}

impl Running<'_> {
    fn seconds(&self) -> PyResult<Option<f64>> {
        let allowed = Numbers::SECONDS;
        match self.seconds {
            Some(seconds) if !allowed.contains(seconds) => {
                let message = format!("the argument seconds: it must be {}", allowed.describe());
                Err(raised(&Error::new(ErrorCode::BadUsage, message)))
            }
            seconds => Ok(seconds),
        }
    }

    fn secret(&self) -> PyResult<Option<Secret>> {
        self.secret.as_ref().map(Key::secret).transpose().map_err(|error| raised(&error))
    }
}

/// What a release is and how it was made: the release, its sensitive values, the report, the recipe, and the row of the table
/// behind each row of the release.
type Made<'py> = (Table, Option<Table>, Report, Option<Recipe>, Bound<'py, PyBytes>);

fn made<'py>(
    py: Python<'py>,
    done: Anonymized<Batches>,
    given: Option<SchemaRef>,
    policy: &Policy,
    escape_formulas: bool,
) -> PyResult<Made<'py>> {
    let as_it_is = |name: &str| done.sensitive.is_some() || policy.publishes_as_it_is(name);
    let origin = given.map(|schema| Origin::new(&schema, as_it_is));
    let table = |batches: Batches| Table::new(batches, policy.missing(), origin.clone(), escape_formulas);
    let rows = PyBytes::new_with(py, 4 * done.rows.len(), |bytes| {
        bytes
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .zip(&done.rows)
            .for_each(|(own, row)| *own = row.to_le_bytes());
        Ok(())
    })?;
    let release = table(done.release);
    let (sensitive, recipe) = (done.sensitive.map(table), done.recipe.map(Recipe));
    Ok((release, sensitive, Report(Told::Run(Box::new(done.report))), recipe, rows))
}

/// How a release is written: the order of its rows, how quasi-identifiers look, whether cells that a spreadsheet would run
/// get a mark.
type Written = (String, String, bool);

#[pyfunction]
pub fn anonymize<'py>(
    py: Python<'py>,
    given: Given,
    policy: &Bound<'py, Policy>,
    written: Written,
    overrides: Vec<String>,
    running: Running<'py>,
) -> PyResult<Made<'py>> {
    let (own, schema, secret) = (policy.get().0.clone(), given.schema(), running.secret()?);
    let (order, publish, escape_formulas) = written;
    let order = named(&order, "order", ORDERS)?;
    let publish = published(&publish)?;
    let seconds = running.seconds()?;
    let mut done = work::run(py, running.threads, running.progress, move |watch| {
        let mut run = Anonymize::new(&own)
            .read(given.data(watch)?)
            .order(order)
            .publish(publish)
            .registry(registry(&own))
            .watch(watch);
        if let Some(seconds) = seconds {
            run = run.seconds(seconds);
        }
        match secret {
            Some(secret) => run.secret(secret).to_batches(),
            None => run.to_batches(),
        }
    })?;
    done.report.provenance.overrides = overrides;
    made(py, done, schema, policy.get(), escape_formulas)
}

/// The limit on memory of a run over files: what it may take, where what does not fit is kept, and the number of parts.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Limit {
    memory: Option<String>,
    scratch: Option<PathBuf>,
    parts: Option<usize>,
}

impl Limit {
    fn memory(self) -> Result<Option<Memory>> {
        let bytes = self.memory.as_deref().map(Memory::parse).transpose()?;
        let asked = bytes.is_some() || self.scratch.is_some() || self.parts.is_some();
        Ok(asked.then_some(Memory { bytes, scratch: self.scratch, parts: self.parts }))
    }
}

/// From files to a file, as the command line does it.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "each is an argument of the call in Python")]
pub fn anonymize_files<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    output: PathBuf,
    policy: &Bound<'py, Policy>,
    written: Written,
    limit: Limit,
    overrides: Vec<String>,
    running: Running<'py>,
) -> PyResult<(Report, Option<Recipe>)> {
    let (order, publish, escape_formulas) = written;
    let Some((data, more)) = files.split_first() else {
        return Err(raised(&Error::new(ErrorCode::BadUsage, "no table was given")));
    };
    let mut run = run::Anonymize::new(data, output, policy.get().0.clone());
    run.registry = registry(&run.policy);
    run.more = more.to_vec();
    run.memory = limit.memory().map_err(|error| raised(&error))?;
    run.order = named(&order, "order", ORDERS)?;
    run.publish = published(&publish)?;
    run.formulas = if escape_formulas { Formulas::Escape } else { Formulas::Keep };
    run.secret = running.secret()?;
    run.seconds = running.seconds()?;
    run.overrides = overrides;
    run.hashes = true;
    let (report, recipe) = work::run(py, running.threads, running.progress, move |watch| {
        let mut prepared = run.prepare(watch)?;
        let recipe = prepared.recipe.take();
        Ok((prepared.publish()?, recipe))
    })?;
    Ok((Report(Told::Run(Box::new(report))), recipe.map(Recipe)))
}

#[pyfunction]
pub fn apply<'py>(
    py: Python<'py>,
    recipe: &Bound<'py, Recipe>,
    given: Given,
    unmet: &str,
    written: Written,
    running: Running<'py>,
) -> PyResult<Made<'py>> {
    let (own, schema, secret) = (recipe.get().0.clone(), given.schema(), running.secret()?);
    let (order, publish, escape_formulas) = written;
    let order = named(&order, "order", ORDERS)?;
    let publish = published(&publish)?;
    let unmet = named(
        unmet,
        "unmet",
        &[("refuse", Unmet::Refuse), ("suppress", Unmet::Suppress), ("publish", Unmet::Publish)],
    )?;
    let policy = Policy(recipe.get().0.policy().map_err(|error| raised(&error))?);
    let done = work::run(py, running.threads, running.progress, move |watch| {
        let run =
            Apply::new(&own).read(given.data(watch)?).order(order).publish(publish).unmet(unmet).watch(watch);
        match secret {
            Some(secret) => run.secret(secret).to_batches(),
            None => run.to_batches(),
        }
    })?;
    made(py, done, schema, &policy, escape_formulas)
}

#[pyfunction]
pub fn audit(
    py: Python<'_>,
    original: Given,
    release: Given,
    sensitive: Option<Given>,
    policy: &Bound<'_, Policy>,
    running: Running<'_>,
) -> PyResult<Report> {
    let own = policy.get().0.clone();
    let findings = work::run(py, running.threads, running.progress, move |watch| {
        let audit =
            Audit::new(&own).original(original.data(watch)?).release(release.data(watch)?).watch(watch);
        match sensitive {
            Some(sensitive) => audit.sensitive(sensitive.data(watch)?).run(),
            None => audit.run(),
        }
    })?;
    Ok(Report(Told::Audit(Box::new(findings))))
}

#[pyfunction]
pub fn risk(
    py: Python<'_>,
    given: Given,
    population: Option<Given>,
    fraction: Option<f64>,
    policy: &Bound<'_, Policy>,
    running: Running<'_>,
) -> PyResult<Report> {
    let own = policy.get().0.clone();
    let risk = work::run(py, running.threads, running.progress, move |watch| {
        let mut risk = Risk::new(&own).read(given.data(watch)?).watch(watch);
        if let Some(population) = population {
            risk = risk.population(population.data(watch)?);
        }
        match fraction {
            Some(fraction) => risk.fraction(fraction).run(),
            None => risk.run(),
        }
    })?;
    Ok(Report(Told::Risk(Box::new(risk))))
}

#[pyfunction]
pub fn compare(
    py: Python<'_>,
    given: Given,
    methods: Vec<String>,
    ks: Vec<usize>,
    queries: bool,
    policy: &Bound<'_, Policy>,
    running: Running<'_>,
) -> PyResult<Report> {
    let (own, secret) = (policy.get().0.clone(), running.secret()?);
    let comparison = work::run(py, running.threads, running.progress, move |watch| {
        let mut compare = Compare::new(&own).read(given.data(watch)?).methods(methods).k(ks).watch(watch);
        if queries {
            compare = compare.with_queries();
        }
        match secret {
            Some(secret) => compare.secret(secret).run(),
            None => compare.run(),
        }
    })?;
    Ok(Report(Told::Comparison(Box::new(comparison))))
}

#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    given: Given,
    release: Option<Given>,
    sensitive: Option<Given>,
    task: String,
    policy: &Bound<'_, Policy>,
    running: Running<'_>,
) -> PyResult<Report> {
    let (own, secret) = (policy.get().0.clone(), running.secret()?);
    let evaluation = work::run(py, running.threads, running.progress, move |watch| {
        let mut evaluate = Evaluate::new(&own).read(given.data(watch)?).task(task).watch(watch);
        if let Some(release) = release {
            evaluate = evaluate.release(release.data(watch)?);
        }
        if let Some(sensitive) = sensitive {
            evaluate = evaluate.sensitive(sensitive.data(watch)?);
        }
        match secret {
            Some(secret) => evaluate.secret(secret).run(),
            None => evaluate.run(),
        }
    })?;
    Ok(Report(Told::Evaluation(Box::new(evaluation))))
}

/// What is drawn: attributes with equally frequent values, or those of a table.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Drawn {
    values: Option<Vec<u32>>,
    table: Option<Given>,
    k: u32,
    records: Option<u64>,
    repetitions: u32,
    needed: Option<f64>,
    seed: u64,
}

#[pyfunction]
#[pyo3(signature = (drawn, policy, running))]
pub fn simulate(
    py: Python<'_>,
    drawn: Drawn,
    policy: Option<&Bound<'_, Policy>>,
    running: Running<'_>,
) -> PyResult<Report> {
    let own = policy.map(|policy| policy.get().0.clone());
    let needed = drawn.needed;
    let simulated = work::run(py, running.threads, running.progress, move |watch| {
        let attributes = match (drawn.values, drawn.table, &own) {
            (Some(values), _, _) => drawing::uniform(&values)?,
            (None, Some(table), Some(policy)) => marginals(&table.data(watch)?, policy, watch)?,
            _ => return Err(Error::new(ErrorCode::BadUsage, "how many attributes?")),
        };
        let (k, repetitions, seed) = (drawn.k, drawn.repetitions, drawn.seed);
        Simulation { attributes, k, repetitions, seed }.run(drawn.records, drawn.needed, watch)
    })?;
    Ok(Report(Told::Simulation(Box::new(simulated), needed)))
}

fn marginals(data: &Data, policy: &throng::Policy, watch: &dyn Watch) -> Result<Vec<Vec<f64>>> {
    let table = data.table(policy, watch)?;
    Ok(drawing::marginals(&Problem::new(&table, policy)?.data))
}

/// All methods as JSON, as `throng methods --json` prints them.
#[pyfunction]
pub fn methods() -> PyResult<String> {
    let methods = Methods::standard();
    let one = |entry: &Entry| -> Result<serde_json::Value> {
        Ok(serde_json::json!({
            "name": entry.name,
            "summary": entry.summary,
            "takes": entry.takes.iter().map(|part| part.name()).collect::<Vec<_>>(),
            "guarantee": entry.guarantee,
            "citation": entry.citation,
            "options": methods.options(entry, &toml::Table::new())?,
        }))
    };
    let all: Result<Vec<_>> = methods.iter().map(one).collect();
    all.and_then(|all| throng::report::json(&all)).map_err(|error| raised(&error))
}

const ORDERS: &[(&str, Order)] = &[("random", Order::Shuffled), ("keep", Order::Keep)];

fn published(word: &str) -> PyResult<Publish> {
    named(
        word,
        "publish",
        &[
            ("cells", Publish::Cells),
            ("bounds", Publish::Bounds),
            ("medians", Publish::Medians),
            ("means", Publish::Means),
            ("permutation", Publish::Permutation),
        ],
    )
}

fn named<T: Copy>(word: &str, argument: &str, words: &[(&str, T)]) -> PyResult<T> {
    words.iter().find(|(own, _)| *own == word).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(own, _)| format!("\"{own}\"")).collect();
        let message = format!("the argument {argument}: \"{word}\" is not one of the words that are allowed");
        raised(&Error::new(ErrorCode::BadUsage, message).with_hint(format!("write {}", known.join(" or "))))
    })
}

/// The standard methods, and one that fails: with it a test proves that a mistake of ours does not take the interpreter
/// with it. Only those who name it have it.
fn registry(policy: &throng::Policy) -> Registry {
    match policy.method.name == FAILING.name {
        true => Registry::default().with_method(FAILING),
        false => Registry::default(),
    }
}

const FAILING: Entry = Entry::new("panic for the tests", "fails", &[Part::K], |_, _| Ok(Box::new(Failing)));

struct Failing;

impl Method for Failing {
    #[allow(clippy::panic, reason = "that is what it is for")]
    fn solve(&self, _: &Problem, _: &dyn Watch) -> Result<Solution> {
        panic!("this method fails on purpose");
    }
}
