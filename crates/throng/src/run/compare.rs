//! Several methods and several k on one table, read once.
//!
//! Every combination is a plan of its own: solved, released as a file in memory and audited as `anonymize` does it. The lower
//! bound on the loss depends on the table and the requirement alone, so it is computed once per k.

use std::path::PathBuf;
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
        let mut problem = Problem::new(&table, first)?;
        let secret = self.secret.clone().map_or_else(Secret::fresh, Ok)?;
        let mut stage = Stage { compare: self, table: &table, secret, bounds: IndexMap::new(), watch };
        let mut runs = Vec::new();
        for policy in &policies {
            for method in &methods {
                runs.push(stage.run(&policy.clone().with_method(method)?, &mut problem)?);
            }
        }
        if runs.iter().all(|run| run.report.is_none()) {
            return Err(self.nothing_ran(&runs));
        }
        Ok(Comparison {
            data: self.data.display().to_string(),
            rows: problem.len() as u64,
            quasi: problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
            runs,
            left_out,
            policy: self.policy.text.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        })
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
fn suitable_methods(methods: &Methods, policy: &Policy) -> (Vec<&'static str>, Vec<LeftOut>) {
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

/// The combinations of a comparison.
struct Stage<'a> {
    compare: &'a Compare,
    table: &'a Table,
    secret: Secret,
    /// The lower bounds that are known, by k.
    bounds: IndexMap<Option<usize>, Option<LowerBound>>,
    watch: &'a dyn Watch,
}

impl Stage<'_> {
    fn run(&mut self, policy: &Policy, problem: &mut Problem) -> Result<ComparisonRun> {
        let (report, query_error, error) = match self.report(policy, problem) {
            Ok((report, query_error)) => (Some(report), query_error, None),
            Err(error) => (None, None, Some(refusing(error)?)),
        };
        let (refused, code) = (error.as_ref().map(in_words), error.map(|error| error.code()));
        let (method, k) = (policy.method.name.clone(), policy.privacy.k().map(|k| k as u64));
        Ok(ComparisonRun { method, k, report, query_error, refused, code })
    }

    /// Releases what a plan finds as a file in memory and audits it.
    fn report(&mut self, policy: &Policy, problem: &mut Problem) -> Result<(Report, Option<f64>)> {
        self.watch.check()?;
        self.watch.stage(&policy.method.name, None);
        let choices = Choices { secret: Some(self.secret.clone()), ..Choices::default() };
        let plan = Plan::new(policy, &self.compare.registry, choices)?;
        // All of them give the columns the same roles, so only what is required changes.
        plan.bind(problem);
        let start = Instant::now();
        let solved = plan.solve(problem, self.watch)?;
        let anonymize = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let written = plan.write_in_memory(self.table, problem, &solved, &CSV, self.watch)?;
        let write = start.elapsed().as_secs_f64();
        let received = written.read_back(problem, &solved.policy, Keep::Audited, self.watch)?;
        let mut findings = audit::audit_cells(problem, &solved.policy, &received, self.watch)?;
        plan.check(&findings)?;
        if !findings.measures.permuted {
            findings.measures.set_lower_bound(self.bound(&solved.policy, problem)?);
        }
        let query_error = match self.compare.queries {
            true => queries::error_on(problem, &solved.policy, &received)?,
            false => None,
        };
        findings.distributions.clear();
        findings.examples.clear();
        let mut overrides = vec![format!("--method {}", policy.method.name)];
        overrides.extend(policy.privacy.k().map(|k| format!("--k {k}")));
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.compare.data.display().to_string(),
            overrides,
            ..Provenance::default()
        };
        let stages = [("anonymize", anonymize), ("write", write), ("total", anonymize + write)];
        let seconds = stages.map(|(stage, seconds)| (stage.to_owned(), seconds)).into();
        Ok((report(&plan, problem, &solved, findings, provenance, seconds), query_error))
    }

    /// The bound on the loss of every release under a policy, computed once.
    fn bound(&mut self, policy: &Policy, problem: &Problem) -> Result<Option<LowerBound>> {
        if let Some(known) = self.bounds.get(&policy.privacy.k()) {
            return Ok(known.clone());
        }
        let bound = audit::lower_bound(problem, policy, self.watch)?.map(|proof| proof.bound);
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
