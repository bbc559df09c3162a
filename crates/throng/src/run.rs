//! Whole runs: from a table and a policy to a release and its report.
//!
//! This is what fronts call. Everything below it is free of clocks and files' names; here they meet.

use std::path::{Path, PathBuf};
use std::time::Instant;

use indexmap::IndexMap;

use crate::audit::{Findings, audit};
use crate::error::{Error, Result};
use crate::method::{Entry, Method, Options, Solution, improve};
use crate::policy::{Kind, Policy, Role};
use crate::privacy::Part;
use crate::problem::{self, Counted, Problem};
use crate::release::{Order, Output, Publish, Release};
use crate::report::{Provenance, Report};
use crate::table::source::is_standard;
use crate::table::{Reading, Table};
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
}

impl Anonymize {
    /// Runs it. The release appears under its name only if the audit finds that the requirement holds.
    pub fn run(&self, watch: &dyn Watch) -> Result<Report> {
        self.prepare(watch)?.publish()
    }

    /// Runs it up to the point where the release would appear under its name, so that the report can be written
    /// before.
    pub fn prepare(&self, watch: &dyn Watch) -> Result<Prepared> {
        let mut clock = Clock::start();
        self.check_release_is_not_the_table()?;
        let method = method(&self.policy)?;
        let table = read(&self.data, &self.policy, watch)?;
        clock.lap("read");
        let problem = Problem::new(&table, &self.policy)?;
        problem.requirement.check_feasible(&problem).map_err(|error| error.in_file(&self.data))?;
        clock.lap("encode");
        let solution = method.solve(&problem, watch)?;
        clock.lap("anonymize");
        let mut output = Output::create(&self.release)?;
        let release = Release::new(&table, &problem, &self.policy, &solution, self.publish, self.order)?;
        release.write(&mut output, watch)?;
        clock.lap("write");
        let findings = audit(&problem, &self.policy, output.temporary_path(), watch)?;
        if let Some(violation) = findings.measures.violations.first() {
            return Err(Error::bug(format!("the release does not meet its requirement: {violation}")));
        }
        clock.lap("audit");
        let provenance = self.provenance(output.temporary_path())?;
        watch.check()?;
        Ok(Prepared { output, report: self.report(&problem, findings, solution, provenance, clock) })
    }

    /// A release under the table's name would destroy the original.
    fn check_release_is_not_the_table(&self) -> Result<()> {
        match (self.data.canonicalize(), self.release.canonicalize()) {
            (Ok(data), Ok(release)) if data == release && data.is_file() => {
                Err(Error::input("the release would overwrite the table")
                    .in_file(&self.release)
                    .with_hint("give the release another name"))
            }
            _ => Ok(()),
        }
    }

    fn provenance(&self, release: &Path) -> Result<Provenance> {
        let (data_hash, release_hash) = match self.hashes {
            true => (hash(&self.data)?, hash(release)?),
            false => (String::new(), String::new()),
        };
        Ok(Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.data.display().to_string(),
            data_hash,
            release: self.release.display().to_string(),
            release_hash,
            policy: self.policy.text.clone(),
            overrides: self.overrides.clone(),
        })
    }

    fn report(
        &self,
        problem: &Problem,
        findings: Findings,
        solution: Solution,
        provenance: Provenance,
        clock: Clock,
    ) -> Report {
        let names = |counted: &Counted| counted.name.clone();
        let mut notes = notes(&self.policy);
        notes.extend(solution.notes);
        Report {
            measures: findings.measures,
            method: self.policy.method.name.clone(),
            seed: problem.seed,
            seconds: clock.finish(),
            distributions: findings.distributions,
            quasi: problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
            sensitive_attributes: problem.sensitive.iter().map(names).collect(),
            examples: findings.examples,
            provenance,
            notes,
            sections: solution.sections,
        }
    }
}

/// What in a policy has no effect on a release, or another one than a reader might think.
fn notes(policy: &Policy) -> Vec<String> {
    let mut notes = Vec::new();
    if policy.privacy.suppress > 0.0 {
        notes.push(
            "No record was suppressed: this method never needs to, so `suppress` has no effect.".to_owned(),
        );
    }
    for (name, attribute) in &policy.attributes {
        if attribute.role == Role::Quasi && policy.role(name) == Role::Other {
            notes.push(format!(
                "\"{name}\" is in none of the named quasi-identifiers and is published as it is."
            ));
        }
        if attribute.rules.iter().any(|rule| !rule.hard) {
            notes.push(format!("The rules of \"{name}\" are not used by this method."));
        }
        if attribute.kind == Some(Kind::Numeric) && attribute.hierarchy.is_some() {
            notes.push(format!(
                "\"{name}\" is numeric: it is published as ranges, its hierarchy is not used by this method."
            ));
        }
    }
    notes
}

/// A release that is written and audited but not under its name yet. Dropping it removes it.
#[derive(Debug)]
pub struct Prepared {
    output: Output,
    /// What it achieves.
    pub report: Report,
}

impl Prepared {
    /// Lets the release appear under its name.
    pub fn publish(self) -> Result<Report> {
        self.output.publish()?;
        Ok(self.report)
    }
}

/// Measures an existing release.
pub fn audit_files(data: &Path, release: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Findings> {
    let table = read(data, policy, watch)?;
    let problem = Problem::new(&table, policy)?;
    audit(&problem, policy, release, watch)
}

/// Reads a table as a policy needs it.
pub fn read(data: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Table> {
    let plan = |names: &[String]| {
        policy.check_columns(names)?;
        Ok(problem::storage(policy, names))
    };
    let missing = policy.missing.first().map_or("", String::as_str);
    Table::read(&Reading { path: data, missing, plan: &plan, watch })
}

/// The method of a policy, if it takes what the policy asks for.
pub fn method(policy: &Policy) -> Result<Box<dyn Method>> {
    // A method that was not written is the default one: what it does not take stands under [privacy].
    let span = policy.method.span.as_ref().unwrap_or(&policy.privacy.span);
    let point = |error: Error| policy.point(error, span, "here");
    let entry = Entry::find(&policy.method.name).map_err(point)?;
    entry.check_takes(parts(policy)).map_err(point)?;
    let mut options = Options::new(format!("the method {}", entry.name), &policy.method.options);
    let method = (entry.configure)(&mut options).map_err(point)?;
    let method = improve::if_asked(method, &mut options).map_err(point)?;
    if let Some((unknown, error)) = options.unknown() {
        let span = policy.option_span(unknown).unwrap_or_else(|| span.clone());
        return Err(policy.point(error, &span, "not an option of this method"));
    }
    Ok(method)
}

/// The parts of a policy's requirement.
fn parts(policy: &Policy) -> Vec<Part> {
    let privacy = &policy.privacy;
    let hard = policy.attributes.values().flat_map(|attribute| &attribute.rules).any(|rule| rule.hard);
    let asked = [
        (Part::K, privacy.k.is_some() || !privacy.quasi_identifiers.is_empty()),
        (Part::L, privacy.l.is_some()),
        (Part::T, privacy.t.is_some()),
        (Part::MaxLoss, privacy.max_loss.is_some()),
        (Part::HardRules, hard),
    ];
    asked.into_iter().filter(|(_, asked)| *asked).map(|(part, _)| part).collect()
}

/// Runs a policy's method on a problem.
pub fn solve(problem: &Problem, policy: &Policy, watch: &dyn Watch) -> Result<Solution> {
    problem.requirement.check_feasible(problem)?;
    method(policy)?.solve(problem, watch)
}

fn hash(path: &Path) -> Result<String> {
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
struct Clock {
    start: Instant,
    last: Instant,
    laps: IndexMap<String, f64>,
}

impl Clock {
    fn start() -> Self {
        let now = Instant::now();
        Clock { start: now, last: now, laps: IndexMap::new() }
    }

    fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.laps.insert(stage.to_owned(), (now - self.last).as_secs_f64());
        self.last = now;
    }

    fn finish(mut self) -> IndexMap<String, f64> {
        self.laps.insert("total".to_owned(), self.start.elapsed().as_secs_f64());
        self.laps
    }
}
