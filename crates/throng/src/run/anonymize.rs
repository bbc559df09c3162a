//! From a table and a policy to a release.

use std::path::PathBuf;

use super::bounded::{self, Memory};
use super::{Clock, Job, Prepared, check_outputs};
use crate::error::Result;
use crate::formula::Formulas;
use crate::plan::{Choices, Plan, Registry};
use crate::policy::Policy;
use crate::release::{Files, Order, Publish};
use crate::report::Report;
use crate::secret::Secret;
use crate::watch::Watch;

/// What to anonymize and how.
#[derive(Clone, Debug)]
pub struct Anonymize {
    /// The table, or `-`.
    pub data: PathBuf,
    /// The release, or `-`.
    pub release: PathBuf,
    /// The policy, overrides applied.
    pub policy: Policy,
    /// How quasi-identifiers are written.
    pub publish: Publish,
    /// In which order rows are written.
    pub order: Order,
    /// Arguments that override the policy, for the report.
    pub overrides: Vec<String>,
    /// Whether to hash input and output, for the report.
    pub hashes: bool,
    /// What the order of rows and every lot is drawn from; fresh unless somebody brings one.
    pub secret: Option<Secret>,
    /// What becomes of cells that a spreadsheet would run.
    pub formulas: Formulas,
    /// Seconds for the method, its improvement and the lower bound together.
    pub seconds: Option<f64>,
    /// Whether the lower bound is to be proved even if that takes longer than the method, as a certificate needs it.
    pub proves: bool,
    /// The methods to choose from.
    pub registry: Registry,
    /// Further files of the table. `data` and these may also be folders and patterns.
    pub more: Vec<PathBuf>,
    /// The memory that the run may take; the table must fit into that of the machine if nothing is said.
    pub memory: Option<Memory>,
}

impl Anonymize {
    /// A run as most are: cells in a random order, with the methods of this library.
    pub fn new(data: impl Into<PathBuf>, release: impl Into<PathBuf>, policy: Policy) -> Self {
        Anonymize {
            data: data.into(),
            release: release.into(),
            policy,
            publish: Publish::Cells,
            order: Order::Shuffled,
            overrides: Vec::new(),
            hashes: false,
            secret: None,
            formulas: Formulas::default(),
            seconds: None,
            proves: false,
            registry: Registry::default(),
            more: Vec::new(),
            memory: None,
        }
    }

    /// Runs it. The release appears under its name only if the audit finds that the requirement holds.
    pub fn run(&self, watch: &dyn Watch) -> Result<Report> {
        self.prepare(watch)?.publish()
    }

    /// What it reads and writes; an error if it would destroy something.
    pub fn files(&self) -> Result<Files> {
        let mut files = check_outputs(&self.data, Some(&self.policy), &self.release, self.plan()?.publish())?;
        if self.runs_in_parts() {
            bounded::read_files(self, &mut files)?;
        }
        Ok(files)
    }

    /// Whether it is run part by part: that was asked for, or the table has several files, or the release is a folder.
    pub fn runs_in_parts(&self) -> bool {
        self.memory.is_some()
            || self.policy.memory.is_some()
            || !self.more.is_empty()
            || bounded::is_many(&self.data)
            || bounded::is_folder(&self.release)
    }

    pub(super) fn plan(&self) -> Result<Plan> {
        let choices = Choices {
            publish: self.publish,
            order: self.order,
            secret: self.secret.clone(),
            formulas: self.formulas,
            seconds: self.seconds,
            proves: self.proves,
        };
        Plan::new(&self.policy, &self.registry, choices)
    }

    /// Runs it up to the point where the release would appear under its name, so that the report can be written
    /// before.
    pub fn prepare(&self, watch: &dyn Watch) -> Result<Prepared> {
        let mut clock = Clock::start();
        self.files()?;
        if self.runs_in_parts() || bounded::needs_more_than_there_is(self)? {
            return bounded::prepare(self, watch);
        }
        let plan = self.plan()?;
        let table = plan.read(&self.data, watch)?;
        clock.lap("read");
        let job = Job {
            plan: &plan,
            data: &self.data,
            release: &self.release,
            overrides: &self.overrides,
            hashes: self.hashes,
        };
        job.prepare(&table, clock, watch)
    }
}
