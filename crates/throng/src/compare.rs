//! Several methods and several k on one table, read once.
//!
//! Every combination is solved, released to a temporary file and audited, as a run of its own would be. The lower
//! bound on the loss depends on the table and k alone, so it is computed once per k.

use std::path::PathBuf;
use std::time::Instant;

use indexmap::IndexMap;

use crate::audit::{self, Findings, LowerBound};
use crate::error::{Error, Fault, Result};
use crate::method::exact::EXACT;
use crate::method::{Entry, METHODS, Solution};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::release::{Order, Output, Publish, Release};
use crate::report::{Comparison, ComparisonRun, LeftOut, Provenance, Report};
use crate::run;
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
}

impl Compare {
    /// Runs every combination. What a method refuses is told with its reason; it is an error only if nothing ran.
    pub fn run(&self, watch: &dyn Watch) -> Result<Comparison> {
        let policies = self.policies()?;
        let first = policies.first().ok_or_else(|| Error::bug("a comparison without any policy"))?;
        let (methods, left_out) = match self.methods.is_empty() {
            true => suitable_methods(first)?,
            false => (self.named_methods()?, Vec::new()),
        };
        let table = run::read(&self.data, first, watch)?;
        let mut problem = Problem::new(&table, first)?;
        let mut runs = Vec::new();
        for policy in &policies {
            // All of them give the columns the same roles, so only what is required changes.
            problem.require(&policy.privacy);
            let stage = Stage { compare: self, table: &table, problem: &problem, watch };
            runs.extend(stage.run_all(&methods, policy)?);
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
            let found = Entry::find(name.trim())?.name;
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
        Error::requirement("none of the methods could run, so there is nothing to compare")
            .in_file(&self.data)
            .with_hint(reason.unwrap_or_else(|| "name at least one method".to_owned()))
    }
}

/// The methods that a comparison without names runs, and the others with why they are left out.
fn suitable_methods(policy: &Policy) -> Result<(Vec<&'static str>, Vec<LeftOut>)> {
    let (mut methods, mut left_out) = (Vec::new(), Vec::new());
    for entry in METHODS {
        let reason = match run::method(&policy.clone().with_method(entry.name)?) {
            Err(error) if error.fault() == Fault::Input => {
                let said = format!("the method {} ", entry.name);
                error.message().strip_prefix(&said).unwrap_or(error.message()).to_owned()
            }
            Err(error) => return Err(error),
            Ok(_) if entry.name == EXACT.name => {
                "with k alone it finds what hilbert finds, and with l only small tables can be solved"
                    .to_owned()
            }
            Ok(method) if method.permutes() => {
                "it publishes exact quasi-identifiers, which have no loss to compare".to_owned()
            }
            Ok(_) => {
                methods.push(entry.name);
                continue;
            }
        };
        left_out.push(LeftOut { method: entry.name.to_owned(), reason });
    }
    Ok((methods, left_out))
}

/// The combinations of one k.
struct Stage<'a> {
    compare: &'a Compare,
    table: &'a Table,
    problem: &'a Problem,
    watch: &'a dyn Watch,
}

impl Stage<'_> {
    fn run_all(&self, methods: &[&str], policy: &Policy) -> Result<Vec<ComparisonRun>> {
        let mut bound = None;
        let mut runs = Vec::with_capacity(methods.len());
        for method in methods {
            let policy = policy.clone().with_method(method)?;
            let k = policy.privacy.k().map(|k| k as u64);
            let (report, refused) = match self.solve(&policy) {
                Ok((solution, seconds)) => {
                    (Some(self.measure(&policy, &solution, seconds, &mut bound)?), None)
                }
                Err(error) => (None, Some(refusal(error)?)),
            };
            runs.push(ComparisonRun { method: (*method).to_owned(), k, report, refused });
        }
        Ok(runs)
    }

    fn solve(&self, policy: &Policy) -> Result<(Solution, f64)> {
        self.watch.check()?;
        self.watch.stage(&policy.method.name, None);
        let method = run::method(policy)?;
        self.problem.requirement.check_feasible(self.problem)?;
        let start = Instant::now();
        let solution = method.solve(self.problem, self.watch)?;
        Ok((solution, start.elapsed().as_secs_f64()))
    }

    /// Releases a solution to a file that nobody sees and audits it.
    fn measure(
        &self,
        policy: &Policy,
        solution: &Solution,
        anonymize: f64,
        bound: &mut Option<LowerBound>,
    ) -> Result<Report> {
        let start = Instant::now();
        let fail = |cause: std::io::Error| Error::io("write", &std::env::temp_dir(), &cause);
        let folder = tempfile::tempdir().map_err(fail)?;
        let mut output = Output::create(&folder.path().join("release.csv"))?;
        let release =
            Release::new(self.table, self.problem, policy, solution, Publish::Cells, Order::Shuffled)?;
        release.write(&mut output, self.watch)?;
        let write = start.elapsed().as_secs_f64();
        let mut findings = audit::audit_cells(self.problem, policy, output.temporary_path(), self.watch)?;
        if bound.is_none() {
            *bound = audit::lower_bound(self.problem, policy, self.watch)?;
        }
        findings.measures.set_lower_bound(bound.clone());
        Ok(self.report(policy, findings, &[("anonymize", anonymize), ("write", write)]))
    }

    fn report(&self, policy: &Policy, findings: Findings, seconds: &[(&str, f64)]) -> Report {
        let mut seconds: IndexMap<String, f64> =
            seconds.iter().map(|(stage, time)| ((*stage).to_owned(), *time)).collect();
        let total = seconds.values().sum();
        seconds.insert("total".to_owned(), total);
        let mut overrides = vec![format!("--method {}", policy.method.name)];
        overrides.extend(policy.privacy.k().map(|k| format!("--k {k}")));
        Report {
            measures: findings.measures,
            method: policy.method.name.clone(),
            seed: self.problem.seed,
            seconds,
            distributions: Vec::new(),
            quasi: self.problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
            sensitive_attributes: self.problem.sensitive.iter().map(|counted| counted.name.clone()).collect(),
            examples: Vec::new(),
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                data: self.compare.data.display().to_string(),
                overrides,
                ..Provenance::default()
            },
            notes: Vec::new(),
            sections: Vec::new(),
        }
    }
}

/// Why a combination did not run; a stop or a bug is not such a reason.
fn refusal(error: Error) -> Result<String> {
    match error.fault() {
        Fault::Input | Fault::Requirement => Ok(match error.hint() {
            Some(hint) => format!("{}; {hint}", error.message()),
            None => error.message().to_owned(),
        }),
        Fault::Cancelled | Fault::Bug => Err(error),
    }
}
