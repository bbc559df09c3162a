//! What every machine knows of a run.

use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};

use super::{block, state};
use crate::error::{Error, ErrorCode, Result};
use crate::plan::{Choices, Plan, Registry};
use crate::policy::{Brought, Policy};
use crate::run::bounded::memory::Room;
use crate::run::bounded::refuse::Place;
use crate::run::in_parts;
use crate::scale::columns::{Column, columns, shown};
use crate::scale::known::{Counts, Known};
use crate::scale::rows::Layout;
use crate::scale::sketch::TableSketch;
use crate::secret::Secret;
use crate::table::Storage;

/// Arguments of a call in place of what a policy says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adjusted {
    /// Another method.
    pub method: Option<String>,
    /// Another k.
    pub k: Option<usize>,
    /// Another l.
    pub l: Option<f64>,
    /// Another seed.
    pub seed: Option<u64>,
    /// Further options of the method.
    pub options: toml::Table,
}

impl Adjusted {
    /// A policy with these in place of its own.
    pub fn apply(&self, mut policy: Policy) -> Result<Policy> {
        if let Some(method) = &self.method {
            policy = policy.with_method(method)?;
        }
        if let Some(k) = self.k {
            policy = policy.with_k(k)?;
        }
        if let Some(l) = self.l {
            policy = policy.with_l(l)?;
        }
        if let Some(seed) = self.seed {
            policy = policy.with_seed(seed);
        }
        policy.method.options.extend(self.options.clone());
        Ok(policy)
    }
}

/// A run on its way to other machines. Never shown: it holds the secret.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Job {
    version: String,
    text: String,
    path: Option<PathBuf>,
    brought: Vec<(PathBuf, Vec<u8>)>,
    adjusted: Adjusted,
    /// So many bytes as a key has. (Serde unrolls the reading of an array to a quarter of a per cent of the library.)
    secret: Vec<u8>,
    schema: Vec<u8>,
    /// Cells that a sample of rows may have.
    pub sampled_cells: usize,
    /// The distinct values, once all rows have been looked at.
    pub sketch: Option<TableSketch>,
    /// Their counts and the number of rows that were dropped, once all rows have been dealt.
    pub counts: Option<(Counts, u64)>,
}

/// A run as every machine knows it.
pub struct Steps {
    pub(super) job: Job,
    pub(super) plan: Plan,
    pub(super) schema: SchemaRef,
    pub(super) storage: Vec<Storage>,
    bound: Option<Bound>,
}

/// What is known once all rows have been looked at.
pub(super) struct Bound {
    pub known: Known,
    pub layout: Layout,
    pub columns: Vec<(String, Column)>,
    /// For each column of values what is published of each.
    pub shown: Vec<Vec<String>>,
    /// What orders rows of equal codes.
    pub key: u64,
}

impl Steps {
    /// Decides everything that can be decided before any row is looked at.
    pub(super) fn new(
        policy: &Policy,
        adjusted: Adjusted,
        secret: Option<Secret>,
        schema: SchemaRef,
        room: Room,
    ) -> Result<Self> {
        let mut brought = Brought::new();
        for path in policy.files() {
            let bytes = std::fs::read(&path).map_err(|cause| {
                Error::io(ErrorCode::CannotRead, "read a file of the policy", &path, &cause)
            })?;
            brought.insert(path, bytes);
        }
        let own = adjusted.apply(Policy::parse_with(&policy.text, policy.path.as_deref(), &brought)?)?;
        let choices = Choices { secret, ..Choices::default() };
        let plan = Plan::new(&own, &Registry::default(), choices)?;
        Place::Cluster.check(&plan)?;
        let job = Job {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            text: policy.text.clone(),
            path: policy.path.clone(),
            brought: brought.into_iter().collect(),
            // A seed that was drawn is that of all machines.
            adjusted: Adjusted { seed: Some(plan.policy().method.seed), ..adjusted },
            secret: plan.secret().key().to_vec(),
            schema: block::encode_schema(&schema)?,
            sampled_cells: room.sampled_cells(),
            sketch: None,
            counts: None,
        };
        Self::with(job, plan, schema)
    }

    fn with(job: Job, plan: Plan, schema: SchemaRef) -> Result<Self> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let storage = in_parts::storage(plan.policy(), &names)?;
        Ok(Steps { job, plan, schema, storage, bound: None })
    }

    /// A run as another machine has sent it.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut job: Job = state::decode(bytes)?;
        if job.version != env!("CARGO_PKG_VERSION") {
            return Err(Error::new(
                ErrorCode::BadUsage,
                format!("the driver has throng {}, a worker has {}", job.version, env!("CARGO_PKG_VERSION")),
            )
            .with_hint("install the same version of throng on all machines"));
        }
        let brought: Brought = job.brought.iter().cloned().collect();
        let path = job.path.clone();
        let policy = Policy::parse_with(&job.text, path.as_deref().map(Path::new), &brought)?;
        let policy = job.adjusted.apply(policy)?;
        let key = <[u8; 32]>::try_from(&job.secret[..]).map_err(|_| state::damaged())?;
        let choices = Choices { secret: Some(Secret::of_key(key)), ..Choices::default() };
        let plan = Plan::new(&policy, &Registry::default(), choices)?;
        let schema = block::decode_schema(&job.schema)?;
        let (sketch, counts) = (job.sketch.take(), job.counts.take());
        let mut steps = Self::with(job, plan, schema)?;
        if let Some(sketch) = sketch {
            steps.bind(sketch)?;
        }
        if let Some((counts, dropped)) = counts {
            steps.count(counts, dropped)?;
        }
        Ok(steps)
    }

    /// The run for other machines.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        state::encode(&self.job)
    }

    /// Binds the distinct values of the table to the policy.
    pub(super) fn bind(&mut self, mut sketch: TableSketch) -> Result<()> {
        let policy = self.plan.policy();
        let known = Known::new(&sketch, policy).map_err(|stranger| stranger.error.in_file("the table"))?;
        let published = |at: usize| in_parts::is_published(policy, &sketch.names[at]);
        let layout = Layout::new(&known, &self.storage, published);
        let columns = columns(&known, &layout, policy, Some(&self.schema));
        let texts = |(_, column): &(String, Column)| match column {
            Column::Values(coded) => shown(&known, *coded),
            _ => Vec::new(),
        };
        let shown = columns.iter().map(texts).collect();
        let key = in_parts::ties_key(&self.plan);
        self.bound = Some(Bound { known, layout, columns, shown, key });
        sketch.forget_samples();
        self.job.sketch = Some(sketch);
        Ok(())
    }

    /// Sets the counts of the whole table, and with them what is required of its classes.
    pub(super) fn count(&mut self, counts: Counts, dropped: u64) -> Result<()> {
        let Some(bound) = &mut self.bound else { return Err(too_early()) };
        bound.known.set_counts(&counts, dropped, self.plan.policy());
        self.job.counts = Some((counts, dropped));
        Ok(())
    }

    pub(super) fn bound(&self) -> Result<&Bound> {
        self.bound.as_ref().ok_or_else(too_early)
    }
}

fn too_early() -> Error {
    Error::bug("a step of a cluster before the one that it builds on")
}
