//! Whole runs: from a table and a policy to a release and its report.
//!
//! This is what fronts call. Everything below it is free of clocks and files' names; here they meet. Every run is a loop
//! over [`Plan`]s: one of them for a release, many for a comparison.

mod anonymize;
mod apply;
mod attack;
mod audit_series;
mod bounded;
mod built;
mod certify;
pub mod cluster;
mod compare;
mod evaluate;
mod in_parts;
mod look;
mod series;

use std::path::{Path, PathBuf};
use std::time::Instant;

use indexmap::IndexMap;

pub use crate::release::permutation::sensitive_path;
pub use anonymize::Anonymize;
pub use apply::Apply;
pub(crate) use apply::{plan_for_recipe, read_for_recipe};
pub use attack::attack_files;
pub use audit_series::AuditSeries;
pub use bounded::Memory;
pub use built::built;
pub use certify::{certified_k, certify_files};
pub use compare::{Bounded, Compare, Trials, suitable_methods};
pub(crate) use evaluate::Tables;
pub use evaluate::{Evaluate, Evaluation};
pub use look::{Looked, look};
pub use series::Series;

use crate::as_is;
use crate::audit::{Findings, Keep, Received, audit, truth};
use crate::bound::Certificate;
use crate::error::{Error, Fault, Result};
use crate::method::{Methods, Solution};
use crate::plan::{self, Choices, Plan, Registry, Solved, Unmet, Written};
use crate::policy::Policy;
use crate::policy::suggest::person;
use crate::problem::{Problem, Protected};
use crate::recipe::Recipe;
use crate::release::{Files, Output, Publish, Sink, publish_all};
use crate::report::{Circumstances, Provenance, Report};
use crate::series::{Book, Ledger, hash_file};
use crate::table::Table;
use crate::table::source::is_standard;
use crate::watch::Watch;

/// A release that is written and audited but not under its name yet. Dropping it removes it.
#[derive(Debug)]
pub struct Prepared<S = Output> {
    pub(crate) written: Written<S>,
    /// What it achieves.
    pub report: Report,
    /// How other records can be masked in the same way, if the method learned that.
    pub recipe: Option<Recipe>,
    /// What proves the lower bound on the loss, where it is proved.
    pub certificate: Option<Certificate>,
    /// What the ledger will say of it, if it is one of a series.
    pub(crate) entry: Option<Entry>,
}

/// What the ledger of a series will say of a release.
#[derive(Debug)]
pub(crate) struct Entry {
    pub book: Book,
    pub next: Ledger,
}

impl Prepared<Output> {
    /// Lets the release appear under its name.
    pub fn publish(self) -> Result<Report> {
        self.publish_with(Vec::new())
    }

    /// Lets the release appear together with other files, all of them or none.
    pub fn publish_with(self, others: Vec<Output>) -> Result<Report> {
        if let Some(Entry { book, next }) = self.entry {
            book.publish(&next, self.written.release, others)?;
            return Ok(self.report);
        }
        let own = self.written.sensitive.into_iter().chain([self.written.release]);
        publish_all(own.chain(others).collect())?;
        Ok(self.report)
    }
}

/// Measures an existing release.
pub fn audit_files(data: &Path, release: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Findings> {
    let table = read(data, policy, watch)?;
    audit_table(&table, policy, watch, |problem| {
        Received::read(release, problem, policy, Keep::Audited, watch)
    })
}

/// Measures a release that is received in any way, and looks whether it is true of its table.
pub(crate) fn audit_table(
    table: &Table,
    policy: &Policy,
    watch: &dyn Watch,
    receive: impl FnOnce(&Problem) -> Result<Received>,
) -> Result<Findings> {
    let mut problem = Problem::new(table, policy)?;
    let notes = as_is::check(table, &problem, policy)?;
    problem.suppressible = plan::records(plan::allowance(policy, &Methods::standard()), problem.len());
    let received = receive(&problem)?;
    let mut findings = audit(&problem, policy, &received, watch)?;
    let (truth, untrue) = truth::check(table, &problem, policy, &received, watch)?;
    findings.measures.truth = Some(truth);
    findings.measures.violations.extend(untrue);
    findings.notes = notes;
    findings.notes.extend(person::warning(table, policy));
    Ok(findings)
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
pub(crate) struct Job<'a> {
    pub plan: &'a Plan,
    pub data: &'a Path,
    pub release: &'a Path,
    pub overrides: &'a [String],
    pub hashes: bool,
}

impl Job<'_> {
    /// Runs it up to the point where the release would appear under its name.
    pub fn prepare(&self, table: &Table, clock: Clock, watch: &dyn Watch) -> Result<Prepared> {
        make(
            self.plan,
            (table, self.data, None),
            clock,
            watch,
            |problem, solved| self.plan.write(table, problem, solved, self.release, watch),
            |written| self.provenance(written.release.temporary_path()),
        )
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
            command: Vec::new(),
        })
    }
}

/// Solves, writes and audits, all of a table or some rows of it for a series; errors are told of `data`, where the table
/// is from. A table without rows is an error.
pub(crate) fn make<S: Sink>(
    plan: &Plan,
    (table, data, rows): (&Table, &Path, Option<&[u32]>),
    mut clock: Clock,
    watch: &dyn Watch,
    write: impl FnOnce(&Problem, &Solved) -> Result<Written<S>>,
    provenance: impl FnOnce(&Written<S>) -> Result<Provenance>,
) -> Result<Prepared<S>> {
    let in_data = |error: Error| error.in_file(data);
    let mut problem = plan.problem_among(table, rows)?;
    let warnings = as_is::check(table, &problem, plan.policy())?;
    clock.lap("encode");
    let solved = plan.solve(&mut problem, watch).map_err(|error| match error.fault() {
        Fault::Requirement => in_data(error),
        _ => error,
    })?;
    clock.lap("anonymize");
    let written = write(&problem, &solved)?;
    clock.lap("write");
    let mut findings = plan.audit(&problem, &solved, &written, watch).map_err(in_data)?;
    let certificate = findings.certificate.take();
    clock.lap("audit");
    let provenance = provenance(&written)?;
    watch.check()?;
    let masks = solved.solution.recoding.masks();
    let recipe = masks.map(|parts| Recipe::new(&problem, plan.policy(), parts));
    let once = rows.is_none() && plan.unmet() == Unmet::Impossible;
    let mut report = report((plan, once), &problem, &solved, findings, provenance, clock.finish());
    report.notes.splice(0..0, warnings);
    report.notes.extend(person::warning(table, plan.policy()));
    Ok(Prepared { written, report, recipe, certificate, entry: None })
}

/// What a run reads and writes; an error if it would destroy something.
pub(crate) fn check_outputs(
    data: &Path,
    policy: Option<&Policy>,
    release: &Path,
    publish: Publish,
) -> Result<Files> {
    let mut files = Files::default();
    files.read("the table", data);
    policy.into_iter().for_each(|policy| files.read_policy(policy));
    outputs(release, publish).iter().try_for_each(|(what, path)| files.claim(what, path))?;
    Ok(files)
}

/// What a run writes: the names, and what each is.
fn outputs(release: &Path, publish: Publish) -> Vec<(&'static str, PathBuf)> {
    let mut outputs = vec![("the release", release.to_owned())];
    if publish == Publish::Permutation {
        outputs.push(("the table of sensitive values", sensitive_path(release)));
    }
    outputs
}

/// The report of a run.
fn report(
    (plan, once): (&Plan, bool),
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
        order: plan.row_order(),
        once,
    };
    let names = |counted: &Protected| counted.name.clone();
    let (notes, sections) = circumstances.tell(&findings.measures, &solved.solution.facts);
    Report {
        method: plan.method_name().to_owned(),
        seed: problem.seed,
        order: plan.row_order(),
        seconds,
        distributions: findings.distributions,
        quasi: problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
        sensitive_attributes: problem.sensitive.iter().map(names).collect(),
        examples: findings.examples,
        provenance,
        notes,
        left_out_options: plan.left_out_options().to_vec(),
        sections,
        series: None,
        parts: None,
        facts: solved.solution.facts.clone(),
        measures: findings.measures,
    }
}

pub(crate) fn hash(path: &Path) -> Result<String> {
    if is_standard(path) {
        return Ok(String::new());
    }
    hash_file(path)
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
