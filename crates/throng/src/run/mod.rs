//! Whole runs: from a table and a policy to a release and its report.
//!
//! This is what fronts call. Everything below it is free of clocks and files' names; here they meet. Every run is a loop
//! over [`Plan`]s: one of them for a release, many for a comparison.

mod anonymize;
mod apply;
mod compare;
mod evaluate;

use std::path::Path;
use std::time::Instant;

use indexmap::IndexMap;

pub use anonymize::Anonymize;
pub use apply::Apply;
pub(crate) use apply::take_unknown_values_in;
pub use compare::Compare;
pub use evaluate::{Evaluate, Evaluation};

use crate::audit::{Findings, audit_file};
use crate::error::{Error, Fault, Result};
use crate::method::{Methods, Solution};
use crate::plan::{self, Choices, Plan, Registry, Solved, Written};
use crate::policy::Policy;
use crate::problem::{Counted, Problem};
use crate::recipe::Recipe;
use crate::release::{Output, Publish};
use crate::report::{Circumstances, Provenance, Report};
use crate::table::Table;
use crate::table::source::is_standard;
use crate::watch::Watch;

/// A release that is written and audited but not under its name yet. Dropping it removes it.
#[derive(Debug)]
pub struct Prepared {
    written: Written<Output>,
    /// What it achieves.
    pub report: Report,
    /// How other records can be masked in the same way, if the method learned that.
    pub recipe: Option<Recipe>,
}

impl Prepared {
    /// Lets the release appear under its name.
    pub fn publish(self) -> Result<Report> {
        self.written.sensitive.map_or(Ok(()), Output::publish)?;
        self.written.release.publish()?;
        Ok(self.report)
    }
}

/// Measures an existing release.
pub fn audit_files(data: &Path, release: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Findings> {
    let table = read(data, policy, watch)?;
    let mut problem = Problem::new(&table, policy)?;
    problem.suppressible = plan::records(plan::allowance(policy, &Methods::standard()), problem.len());
    audit_file(&problem, policy, release, watch)
}

/// Reads a table as a policy needs it.
pub fn read(data: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Table> {
    plan::read(data, policy, watch)
}

/// Runs a policy's method on a problem.
pub fn solve(problem: &Problem, policy: &Policy, watch: &dyn Watch) -> Result<Solution> {
    let plan = Plan::new(policy, &Registry::default(), Choices::default())?;
    let allowed = plan.suppressible(problem.len());
    if allowed > problem.suppressible {
        let mut own = problem.clone();
        own.suppressible = allowed;
        return plan.find(&own, watch).map(|(solution, _)| solution);
    }
    plan.find(problem, watch).map(|(solution, _)| solution)
}

/// One release from a table, as a plan says.
struct Job<'a> {
    plan: &'a Plan,
    data: &'a Path,
    release: &'a Path,
    overrides: &'a [String],
    hashes: bool,
}

impl Job<'_> {
    /// Runs it up to the point where the release would appear under its name.
    fn prepare(&self, table: &Table, mut clock: Clock, watch: &dyn Watch) -> Result<Prepared> {
        let plan = self.plan;
        let in_data = |error: Error| error.in_file(self.data);
        let mut problem = plan.problem(table)?;
        clock.lap("encode");
        let solved = plan.solve(&mut problem, watch).map_err(|error| match error.fault() {
            Fault::Requirement => in_data(error),
            _ => error,
        })?;
        clock.lap("anonymize");
        let written = plan.write(table, &problem, &solved, self.release, watch)?;
        clock.lap("write");
        let findings = plan.audit(&problem, &solved, &written, watch).map_err(in_data)?;
        clock.lap("audit");
        let provenance = self.provenance(written.release.temporary_path())?;
        watch.check()?;
        let masks = solved.solution.recoding.masks();
        let recipe = masks.map(|parts| Recipe::new(&problem, plan.policy(), parts));
        let report = report(plan, &problem, &solved, findings, provenance, clock.finish());
        Ok(Prepared { written, report, recipe })
    }

    fn provenance(&self, release: &Path) -> Result<Provenance> {
        let (data_hash, release_hash) = match self.hashes {
            true => (hash(self.data)?, hash(release)?),
            false => (String::new(), String::new()),
        };
        Ok(Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.data.display().to_string(),
            data_hash,
            release: self.release.display().to_string(),
            release_hash,
            policy: self.plan.policy().text.clone(),
            overrides: self.overrides.to_vec(),
        })
    }
}

/// A release under the table's name would destroy the original.
fn check_release_is_not_the_table(data: &Path, release: &Path) -> Result<()> {
    match (data.canonicalize(), release.canonicalize()) {
        (Ok(data), Ok(same)) if data == same && data.is_file() => {
            Err(Error::input("the release would overwrite the table")
                .in_file(release)
                .with_hint("give the release another name"))
        }
        _ => Ok(()),
    }
}

/// The report of a run.
fn report(
    plan: &Plan,
    problem: &Problem,
    solved: &Solved,
    findings: Findings,
    provenance: Provenance,
    seconds: IndexMap<String, f64>,
) -> Report {
    let circumstances = Circumstances {
        policy: plan.policy(),
        recodes_by_levels: plan.traits().recodes_by_levels,
        steered_by_rules: plan.steered_by_rules(),
        left_out_options: plan.left_out_options(),
        permuted: plan.publish() == Publish::Permutation,
    };
    let names = |counted: &Counted| counted.name.clone();
    let (notes, sections) = circumstances.tell(&findings.measures, &solved.solution.facts);
    Report {
        method: plan.method_name().to_owned(),
        seed: problem.seed,
        seconds,
        distributions: findings.distributions,
        quasi: problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
        sensitive_attributes: problem.sensitive.iter().map(names).collect(),
        examples: findings.examples,
        provenance,
        notes,
        left_out_options: plan.left_out_options().to_vec(),
        sections,
        facts: solved.solution.facts.clone(),
        measures: findings.measures,
    }
}

pub(crate) fn hash(path: &Path) -> Result<String> {
    if is_standard(path) {
        return Ok(String::new());
    }
    let mut hasher = blake3::Hasher::new();
    let file = std::fs::File::open(path).map_err(|cause| Error::io("read", path, &cause))?;
    let mut input = std::io::BufReader::with_capacity(1 << 20, file);
    loop {
        let bytes =
            std::io::BufRead::fill_buf(&mut input).map_err(|cause| Error::io("read", path, &cause))?;
        if bytes.is_empty() {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update_rayon(bytes);
        let count = bytes.len();
        std::io::BufRead::consume(&mut input, count);
    }
}

/// Seconds per stage.
pub(crate) struct Clock {
    start: Instant,
    last: Instant,
    laps: IndexMap<String, f64>,
}

impl Clock {
    pub fn start() -> Self {
        let now = Instant::now();
        Clock { start: now, last: now, laps: IndexMap::new() }
    }

    pub fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.laps.insert(stage.to_owned(), (now - self.last).as_secs_f64());
        self.last = now;
    }

    pub fn finish(mut self) -> IndexMap<String, f64> {
        self.laps.insert("total".to_owned(), self.start.elapsed().as_secs_f64());
        self.laps
    }
}
