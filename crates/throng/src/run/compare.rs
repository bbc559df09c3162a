//! Several methods and several k on one table, read once.
//!
//! Every combination is a plan of its own: solved, released as a file in memory and audited as `anonymize` does it. The lower
//! bound on the loss depends on the table and the requirement alone, so it is computed once per k.

use std::path::{Path, PathBuf};
use std::time::Instant;

use indexmap::IndexMap;

use super::report;
use crate::audit::{self, Keep, LowerBound};
use crate::error::{Error, ErrorCode, Fault, Result};
use crate::evaluate::queries;
use crate::format::CSV;
use crate::method::Methods;
use crate::plan::{Choices, Plan, Registry};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::report::{Comparison, ComparisonRun, LeftOut, Provenance, Report};
use crate::secret::Secret;
use crate::table::Table;
use crate::watch::Watch;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Compare {
    /// The table, or `-`.
    pub data: PathBuf,
    /// The policy; its method and k are replaced.
    pub policy: Policy,
    /// Names of methods; when empty, all that group records and take the requirement.
    pub methods: Vec<String>,
    /// The values of k; the policy's own requirement when empty.
    pub ks: Vec<usize>,
    /// What every lot is drawn from, the same for all combinations; fresh unless somebody brings one.
    pub secret: Option<Secret>,
    /// Whether to ask how far COUNT queries on each release are off.
    pub queries: bool,
    /// The methods to choose from.
    pub registry: Registry,
}

impl Compare {
    /// Runs every combination. What a method refuses is told with its reason; it is an error only if nothing ran.
    pub fn run(&self, watch: &dyn Watch) -> Result<Comparison> {
        self.run_on(watch, |policy| super::read(&self.data, policy, watch))
    }

    /// The same on a table that is opened in any way.
    pub(crate) fn run_on(
        &self,
        watch: &dyn Watch,
        open: impl FnOnce(&Policy) -> Result<Table>,
    ) -> Result<Comparison> {
        let policies = self.policies()?;
        let first = policies.first().ok_or_else(|| Error::bug("a comparison without any policy"))?;
        let (methods, left_out) = match self.methods.is_empty() {
            true => suitable_methods(&self.registry.methods, first),
            false => (self.named_methods()?, Vec::new()),
        };
        let table = open(first)?;
        let mut trials = Trials::on(table, first, &self.data, self.secret.clone(), self.registry.clone())?;
        trials.queries = self.queries;
        let mut runs = Vec::new();
        for policy in &policies {
            for method in &methods {
                runs.push(trials.run(&policy.clone().with_method(method)?, Bounded::Yes, watch)?);
            }
        }
        if runs.iter().all(|run| run.report.is_none()) {
            return Err(self.nothing_ran(&runs));
        }
        Ok(trials.comparison(runs, left_out, &self.policy))
    }

    /// Each method once, in the order given.
    fn named_methods(&self) -> Result<Vec<&'static str>> {
        let mut methods = Vec::new();
        for name in &self.methods {
            let found = self.registry.methods.find(name.trim())?.name;
            if !methods.contains(&found) {
                methods.push(found);
            }
        }
        Ok(methods)
    }

    /// The policy with each k, ascending.
    fn policies(&self) -> Result<Vec<Policy>> {
        let mut ks = self.ks.clone();
        ks.sort_unstable();
        ks.dedup();
        match ks.is_empty() {
            true => Ok(vec![self.policy.clone()]),
            false => ks.into_iter().map(|k| self.policy.clone().with_k(k)).collect(),
        }
    }

    fn nothing_ran(&self, runs: &[ComparisonRun]) -> Error {
        let reason = runs.iter().find_map(|run| Some(format!("{}: {}", run.method, run.refused.as_ref()?)));
        Error::new(
            ErrorCode::NothingToCompare,
            "none of the methods could run, so there is nothing to compare",
        )
        .in_file(&self.data)
        .with_hint(reason.unwrap_or_else(|| "name at least one method".to_owned()))
    }
}

/// The methods that a comparison without names runs, and the others with why they are left out.
pub fn suitable_methods(methods: &Methods, policy: &Policy) -> (Vec<&'static str>, Vec<LeftOut>) {
    let parts = policy.parts();
    let (mut suitable, mut left_out) = (Vec::new(), Vec::new());
    for entry in methods.iter() {
        let refusal = methods.refusal(entry, &parts).map(|refusal| refusal.describe());
        match refusal.or(entry.traits.compared_if_named.map(str::to_owned)) {
            None => suitable.push(entry.name),
            Some(reason) => left_out.push(LeftOut { method: entry.name.to_owned(), reason }),
        }
    }
    (suitable, left_out)
}

/// Whether a trial looks for the lower bound on the loss, which may take longer than the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounded {
    /// It does.
    Yes,
    /// It does only where the bound is known already.
    IfKnown,
}

/// Runs of several methods and requirements on a table that is read once. All policies give the columns the same roles.
pub struct Trials {
    table: Table,
    problem: Problem,
    data: PathBuf,
    secret: Secret,
    registry: Registry,
    /// Whether to ask how far COUNT queries on each release are off.
    queries: bool,
    /// The lower bounds that are known, by k.
    bounds: IndexMap<Option<usize>, Option<LowerBound>>,
}

impl Trials {
    /// Reads a table as a policy needs it.
    pub fn open(
        data: &Path,
        policy: &Policy,
        secret: Option<Secret>,
        registry: Registry,
        watch: &dyn Watch,
    ) -> Result<Self> {
        Self::on(super::read(data, policy, watch)?, policy, data, secret, registry)
    }

    fn on(
        table: Table,
        policy: &Policy,
        data: &Path,
        secret: Option<Secret>,
        registry: Registry,
    ) -> Result<Self> {
        let problem = Problem::new(&table, policy)?;
        let secret = secret.map_or_else(Secret::fresh, Ok)?;
        Ok(Trials {
            table,
            problem,
            data: data.to_owned(),
            secret,
            registry,
            bounds: IndexMap::new(),
            queries: false,
        })
    }

    /// What the runs amount to.
    pub fn comparison(
        &self,
        runs: Vec<ComparisonRun>,
        left_out: Vec<LeftOut>,
        policy: &Policy,
    ) -> Comparison {
        Comparison {
            data: self.data.display().to_string(),
            rows: self.problem.len() as u64,
            quasi: self.problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
            runs,
            left_out,
            policy: policy.text.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Runs a policy's method; what it refuses is told with its reason.
    pub fn run(&mut self, policy: &Policy, bounded: Bounded, watch: &dyn Watch) -> Result<ComparisonRun> {
        let (report, query_error, error) = match self.report(policy, bounded, watch) {
            Ok((report, query_error)) => (Some(report), query_error, None),
            Err(error) => (None, None, Some(refusing(error)?)),
        };
        let (refused, code) = (error.as_ref().map(in_words), error.map(|error| error.code()));
        let (method, k) = (policy.method.name.clone(), policy.privacy.k().map(|k| k as u64));
        Ok(ComparisonRun { method, k, report, query_error, refused, code })
    }

    /// Releases what a plan finds as a file in memory and audits it.
    fn report(
        &mut self,
        policy: &Policy,
        bounded: Bounded,
        watch: &dyn Watch,
    ) -> Result<(Report, Option<f64>)> {
        watch.check()?;
        watch.stage(&policy.method.name, None);
        let choices = Choices { secret: Some(self.secret.clone()), proves: true, ..Choices::default() };
        let plan = Plan::new(policy, &self.registry, choices)?;
        // All of them give the columns the same roles, so only what is required changes.
        plan.bind(&mut self.problem);
        let start = Instant::now();
        let solved = plan.solve(&mut self.problem, watch)?;
        let anonymize = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let written = plan.write_in_memory(&self.table, &self.problem, &solved, &CSV, watch)?;
        let write = start.elapsed().as_secs_f64();
        let received = written.read_back(&self.problem, &solved.policy, Keep::Audited, watch)?;
        let mut findings = audit::audit_cells(&self.problem, &solved.policy, &received, watch)?;
        plan.check(&findings)?;
        if !findings.measures.permuted {
            findings.measures.set_lower_bound(self.bound(&solved.policy, bounded, watch)?);
        }
        let query_error = match self.queries {
            true => queries::error_on(&self.problem, &solved.policy, &received)?,
            false => None,
        };
        findings.distributions.clear();
        findings.examples.clear();
        let mut overrides = vec![format!("--method {}", policy.method.name)];
        overrides.extend(policy.privacy.k().map(|k| format!("--k {k}")));
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.data.display().to_string(),
            overrides,
            ..Provenance::default()
        };
        let stages = [("anonymize", anonymize), ("write", write), ("total", anonymize + write)];
        let seconds = stages.map(|(stage, seconds)| (stage.to_owned(), seconds)).into();
        Ok((report((&plan, false), &self.problem, &solved, findings, provenance, seconds), query_error))
    }

    /// The bound on the loss of every release under a policy, computed once.
    fn bound(&mut self, policy: &Policy, bounded: Bounded, watch: &dyn Watch) -> Result<Option<LowerBound>> {
        if let Some(known) = self.bounds.get(&policy.privacy.k()) {
            return Ok(known.clone());
        }
        if bounded == Bounded::IfKnown {
            return Ok(None);
        }
        let bound = audit::lower_bound(&self.problem, policy, None, watch)?.map(|proof| proof.bound);
        self.bounds.insert(policy.privacy.k(), bound.clone());
        Ok(bound)
    }
}

/// An error that is a reason for one combination not to run; a stop or a bug is not such a reason.
fn refusing(error: Error) -> Result<Error> {
    match error.fault() {
        Fault::Input | Fault::Requirement => Ok(error),
        Fault::Cancelled | Fault::Bug => Err(error),
    }
}

fn in_words(error: &Error) -> String {
    match error.hint() {
        Some(hint) => format!("{}; {hint}", error.message()),
        None => error.message().to_owned(),
    }
}
