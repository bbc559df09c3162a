//! The steps of a run on a cluster, for `throng.spark`: record batches and bytes in, bytes out. What a cluster is, Python knows.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use throng::release::Batches;
use throng::run::Memory;
use throng::run::cluster::{self, Adjusted, Asked, AuditDealer, Block, Kind};
use throng::{Error, Result, Watch};

use crate::calls::Key;
use crate::errors::raised;
use crate::input;
use crate::policy::{Policy, adjusted};
use crate::report::{Report, Told};
use crate::table::Table;
use crate::work;

type Bytes = Vec<u8>;
type PyBlock<'py> = (u32, Bound<'py, PyBytes>);

fn told<T>(outcome: Result<T>) -> PyResult<T> {
    outcome.map_err(|error| raised(&error))
}

fn given<'py>(py: Python<'py>, blocks: Vec<Block>) -> Vec<PyBlock<'py>> {
    blocks.into_iter().map(|(part, block)| (part, PyBytes::new(py, &block))).collect()
}

/// Decides between the steps.
#[pyclass(module = "throng._throng")]
pub struct Driver(cluster::Driver);

#[pymethods]
impl Driver {
    #[new]
    #[pyo3(signature = (schema, policy, changes, secret, memory, parts, overrides))]
    #[allow(clippy::too_many_arguments, reason = "each is an argument of the call in Python")]
    fn new(
        schema: &Bound<'_, PyAny>,
        policy: &Bound<'_, Policy>,
        changes: &Bound<'_, PyDict>,
        secret: Option<Key>,
        memory: &str,
        parts: Option<usize>,
        overrides: Vec<String>,
    ) -> PyResult<Self> {
        let policy = policy.get().0.clone();
        let adjusted: Adjusted = adjusted(&policy, changes)?;
        let schema = input::batches(schema)?.schema;
        let asked = Asked {
            secret: told(secret.as_ref().map(Key::secret).transpose())?,
            memory: told(Memory::parse(memory))?,
            policy,
            adjusted,
            schema,
            parts,
            overrides,
        };
        told(cluster::Driver::new(asked)).map(Driver)
    }

    fn shared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        told(self.0.shared()).map(|bytes| PyBytes::new(py, &bytes))
    }

    fn sketched<'py>(&mut self, py: Python<'py>, states: Vec<Bytes>) -> PyResult<Bound<'py, PyBytes>> {
        told(py.detach(|| self.0.sketched(&states))).map(|bytes| PyBytes::new(py, &bytes))
    }

    fn dealt<'py>(
        &mut self,
        py: Python<'py>,
        states: Vec<Bytes>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<i32>)> {
        let round = told(py.detach(|| self.0.dealt(&states)))?;
        let bytes = told(round.encode())?;
        Ok((PyBytes::new(py, &bytes), round.group_of_part))
    }

    fn solved<'py>(
        &mut self,
        py: Python<'py>,
        states: Vec<Bytes>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>)> {
        let next = told(py.detach(|| self.0.solved(&states)))?;
        Ok((PyBytes::new(py, &next.limit), next.cuts.map(|cuts| PyBytes::new(py, &cuts))))
    }

    fn audit_parts(&mut self) -> u64 {
        self.0.audit_parts()
    }

    fn released(&mut self, states: Vec<Bytes>) -> PyResult<u64> {
        told(self.0.released(&states))
    }

    fn audited(&mut self, py: Python<'_>, findings: Vec<Bytes>) -> PyResult<Report> {
        let report = told(py.detach(|| self.0.audited(&findings)))?;
        Ok(Report(Told::Run(Box::new(report))))
    }
}

/// A run as every machine knows it.
#[pyclass(frozen, module = "throng._throng")]
pub struct Steps(Arc<cluster::Steps>);

#[pymethods]
impl Steps {
    #[staticmethod]
    fn decode(bytes: Bytes) -> PyResult<Self> {
        told(cluster::Steps::decode(&bytes)).map(|steps| Steps(Arc::new(steps)))
    }

    /// The columns of the release, and whether each has the type that it has in the table.
    fn columns(&self) -> PyResult<Vec<(String, bool)>> {
        told(self.0.release_columns())
    }

    fn sketcher(&self) -> Sketcher {
        Sketcher(shared(cluster::Sketcher::new(self.0.clone())))
    }

    fn dealer(&self, cuts: Bytes) -> PyResult<Dealer> {
        told(cluster::Dealer::new(self.0.clone(), &cuts)).map(|own| Dealer(shared(Dealing::Table(own))))
    }

    fn onward(&self, limit: Bytes, cuts: Bytes) -> PyResult<Onward> {
        told(cluster::Onward::new(self.0.clone(), &limit, &cuts)).map(|own| Onward(shared(own)))
    }

    fn audit_dealer(&self, parts: u64, piece: u64) -> Dealer {
        Dealer(shared(Dealing::Release(AuditDealer::new(self.0.clone(), parts, piece))))
    }

    #[allow(clippy::type_complexity, reason = "blocks, and a state")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        round: Bytes,
        part: u32,
        blocks: Vec<Bytes>,
        threads: Option<usize>,
    ) -> PyResult<(Vec<Bound<'py, PyBytes>>, Bound<'py, PyBytes>)> {
        let steps = self.0.clone();
        let (blocks, state) =
            work::run(py, threads, None, move |watch| steps.solve(&round, part, &blocks, watch))?;
        let blocks = blocks.iter().map(|block| PyBytes::new(py, block)).collect();
        Ok((blocks, PyBytes::new(py, &state)))
    }

    fn publish(
        &self,
        py: Python<'_>,
        limit: Bytes,
        blocks: Vec<Bytes>,
        lot: String,
        threads: Option<usize>,
    ) -> PyResult<Table> {
        let steps = self.0.clone();
        let batches = work::run(py, threads, None, move |_| {
            Ok(Batches {
                schema: steps.release_schema(&lot)?,
                batches: steps.publish(&limit, &blocks, &lot)?,
            })
        })?;
        Ok(Table::new(batches, String::new(), None, false))
    }

    fn audit<'py>(
        &self,
        py: Python<'py>,
        blocks: Vec<Bytes>,
        rows: u64,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let steps = self.0.clone();
        let found = work::run(py, threads, None, move |watch| steps.audit(&blocks, rows, watch))?;
        Ok(PyBytes::new(py, &found))
    }
}

/// What work on other threads and the interpreter both hold.
type Shared<T> = Arc<Mutex<T>>;

fn shared<T>(own: T) -> Shared<T> {
    Arc::new(Mutex::new(own))
}

fn with<T, R>(own: &Mutex<T>, work: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
    match own.lock() {
        Ok(mut own) => work(&mut own),
        Err(_) => Err(Error::bug("a step that failed before")),
    }
}

#[pyclass(frozen, module = "throng._throng")]
pub struct Sketcher(Shared<cluster::Sketcher>);

#[pymethods]
impl Sketcher {
    fn add(&self, py: Python<'_>, rows: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<()> {
        let (own, rows) = (self.0.clone(), input::batches(rows)?);
        work::run(py, threads, None, move |watch| {
            let batches = rows.checked(watch)?.batches;
            with(&own, |own| own.add(batches, watch))
        })
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        told(with(&self.0, |own| own.finish())).map(|state| PyBytes::new(py, &state))
    }
}

/// Rows of the table, or of the release.
enum Dealing {
    Table(cluster::Dealer),
    Release(AuditDealer),
}

impl Dealing {
    fn deal(&mut self, batches: Batches, watch: &dyn Watch) -> Result<Vec<Block>> {
        match self {
            Dealing::Table(own) => own.deal(batches.batches, watch),
            Dealing::Release(own) => own.deal(batches.batches, watch),
        }
    }
}

#[pyclass(frozen, module = "throng._throng")]
pub struct Dealer(Shared<Dealing>);

#[pymethods]
impl Dealer {
    fn deal<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Vec<PyBlock<'py>>> {
        let (own, rows) = (self.0.clone(), input::batches(rows)?);
        let blocks = work::run(py, threads, None, move |watch| {
            let batches = rows.checked(watch)?;
            with(&own, |own| own.deal(batches, watch))
        })?;
        Ok(given(py, blocks))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = with(&self.0, |own| match own {
            Dealing::Table(own) => own.finish(),
            Dealing::Release(own) => own.finish(),
        });
        told(state).map(|state| PyBytes::new(py, &state))
    }
}

#[pyclass(frozen, module = "throng._throng")]
pub struct Onward(Shared<cluster::Onward>);

#[pymethods]
impl Onward {
    fn deal<'py>(
        &self,
        py: Python<'py>,
        blocks: Vec<Bytes>,
        threads: Option<usize>,
    ) -> PyResult<Vec<PyBlock<'py>>> {
        let own = self.0.clone();
        let blocks = work::run(py, threads, None, move |_| with(&own, |own| own.deal(&blocks)))?;
        Ok(given(py, blocks))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        told(with(&self.0, |own| own.finish())).map(|state| PyBytes::new(py, &state))
    }
}

/// Puts states of one kind together.
#[pyfunction]
pub fn merge<'py>(py: Python<'py>, kind: &str, states: Vec<Bytes>) -> PyResult<Bound<'py, PyBytes>> {
    let kind = match kind {
        "sketch" => Kind::Sketch,
        "dealt" => Kind::Dealt,
        "solved" => Kind::Solved,
        "released" => Kind::Released,
        _ => return Err(raised(&Error::bug("a state of no kind"))),
    };
    told(py.detach(|| cluster::merge(kind, &states))).map(|state| PyBytes::new(py, &state))
}
