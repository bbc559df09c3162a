//! Whole runs: from a table and a policy to a release and its report.
//!
//! This is what fronts call. Everything below it is free of clocks and files' names; here they meet.

use std::path::{Path, PathBuf};
use std::time::Instant;

use indexmap::IndexMap;

use crate::audit::{Findings, Measures, RuleMeasure, audit};
use crate::error::{Error, Result};
use crate::method::{Divided, Entry, Method, Options, Solution, improve, strings};
use crate::policy::{Kind, Policy, Role};
use crate::privacy::Part;
use crate::problem::{self, Counted, Problem};
use crate::recipe::Recipe;
use crate::release::{Order, Output, Publish, Release, permutation};
use crate::report::{Block, Provenance, Report, Section};
use crate::table::source::is_standard;
use crate::table::{Reading, Table};
use crate::target;
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
        check_release_is_not_the_table(&self.data, &self.release)?;
        if self.publish == Publish::Permutation {
            check_release_is_not_the_table(&self.data, &permutation::sensitive_path(&self.release))?;
        }
        let method = method(&self.policy)?;
        let table = read(&self.data, &self.policy, watch)?;
        clock.lap("read");
        let mut problem = Problem::new(&table, &self.policy)?;
        problem.requirement.check_feasible(&problem).map_err(|error| error.in_file(&self.data))?;
        clock.lap("encode");
        let mut policy = self.policy.clone();
        let mut solution = match target::of(&policy) {
            None => method.solve(&problem, watch)?,
            Some(target) => {
                let found = target.best_privacy(&problem, &policy, method.as_ref(), watch)?;
                policy.privacy.set_k(found.k);
                problem.require(&policy.privacy);
                found.into_solution(&target)
            }
        };
        clock.lap("anonymize");
        let publish = if method.permutes() { Publish::Permutation } else { self.publish };
        let release = Release::new(&table, &problem, &policy, &solution, publish, self.order)?;
        let (output, beside) = write_release(&release, &self.release, publish, watch)?;
        clock.lap("write");
        let findings = audit(&problem, &policy, output.temporary_path(), watch)?;
        if let Some(violation) = findings.measures.violations.first() {
            return Err(Error::bug(format!("the release does not meet its requirement: {violation}")));
        }
        clock.lap("audit");
        let provenance = self.provenance(output.temporary_path())?;
        watch.check()?;
        if publish == Publish::Permutation {
            solution.notes.push(PERMUTED.to_owned());
        }
        let recipe = solution.masks.as_deref().map(|masks| Recipe::new(&problem, &self.policy, masks));
        let report = self.report(&problem, findings, solution, provenance, clock);
        Ok(Prepared::new(output, beside, report, recipe))
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
        let mut notes = notes(&self.policy, &findings.measures);
        notes.extend(solution.notes);
        let mut sections = solution.sections;
        sections.extend(rules_section(&findings.measures));
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
            sections,
        }
    }
}

/// A release under the table's name would destroy the original.
pub(crate) fn check_release_is_not_the_table(data: &Path, release: &Path) -> Result<()> {
    match (data.canonicalize(), release.canonicalize()) {
        (Ok(data), Ok(same)) if data == same && data.is_file() => {
            Err(Error::input("the release would overwrite the table")
                .in_file(release)
                .with_hint("give the release another name"))
        }
        _ => Ok(()),
    }
}

/// What in a policy has no effect on a release, or another one than a reader might think.
fn notes(policy: &Policy, measures: &Measures) -> Vec<String> {
    let mut notes = Vec::new();
    if policy.privacy.suppress > 0.0 && measures.suppressed == 0 {
        notes.push("No record was suppressed: this run had no need to.".to_owned());
    }
    notes.extend(rules_note(measures));
    let own_rules =
        Entry::find(&policy.method.name).is_ok_and(|entry| entry.takes.contains(&Part::HardRules));
    for (name, attribute) in &policy.attributes {
        if attribute.role == Role::Quasi && policy.role(name) == Role::Other {
            notes.push(format!(
                "\"{name}\" is in none of the named quasi-identifiers and is published as it is."
            ));
        }
        if !own_rules && attribute.rules.iter().any(|rule| !rule.hard) {
            notes.push(format!("The rules of \"{name}\" do not steer this method."));
        }
        let by_levels = strings::recodes_by_levels(&policy.method.name);
        if !by_levels && attribute.kind == Some(Kind::Numeric) && attribute.hierarchy.is_some() {
            notes.push(format!(
                "\"{name}\" is numeric: it is published as ranges, its hierarchy is not used by this method."
            ));
        }
    }
    notes
}

/// What a reader of a permuted release must know.
const PERMUTED: &str = "Published by permutation: quasi-identifiers are exact, so who is in the table can be told. k counts the \
     records of a group, among which nobody can tell whose a sensitive value is.";

/// Writes a release, and the table of sensitive values beside it where it is published by permutation.
pub(crate) fn write_release(
    release: &Release<'_>,
    path: &Path,
    publish: Publish,
    watch: &dyn Watch,
) -> Result<(Output, Option<Output>)> {
    if publish != Publish::Permutation {
        let mut output = Output::create(path)?;
        release.write(&mut output, watch)?;
        return Ok((output, None));
    }
    permutation::check_name(path)?;
    let mut output = Output::create(path)?;
    let temporary = permutation::sensitive_path(output.temporary_path());
    let mut beside = Output::create_beside(&output, &permutation::sensitive_path(path), &temporary)?;
    release.write(&mut output, watch)?;
    release.write_sensitive(&mut beside)?;
    Ok((output, Some(beside)))
}

/// Which data constraint rules were kept.
fn rules_note(measures: &Measures) -> Option<String> {
    let rules = &measures.rules;
    let broken: Vec<String> = rules
        .iter()
        .filter(|rule| !rule.kept)
        .map(|rule| format!("{} of \"{}\" ({} records)", rule.rule, rule.attribute, rule.broken_records))
        .collect();
    (!rules.is_empty()).then(|| match (broken.is_empty(), rules.len()) {
        (true, 1) => "The rule is kept.".to_owned(),
        (true, all) => format!("All {all} rules are kept."),
        (false, 1) => format!("The rule is broken: {}.", broken[0]),
        (false, _) => {
            format!(
                "{} of {} rules are kept; broken: {}.",
                rules.len() - broken.len(),
                rules.len(),
                broken.join(", ")
            )
        }
    })
}

/// The rules of a policy as a part of the report.
fn rules_section(measures: &Measures) -> Option<Section> {
    let row = |rule: &RuleMeasure| {
        vec![
            rule.attribute.clone(),
            rule.rule.clone(),
            rule.importance.to_string(),
            if rule.hard { "yes" } else { "no" }.to_owned(),
            if rule.kept { "kept" } else { "broken" }.to_owned(),
            rule.broken_records.to_string(),
        ]
    };
    let head = ["attribute", "kept apart", "importance", "hard", "outcome", "records in breaking classes"];
    (!measures.rules.is_empty()).then(|| Section {
        heading: "Data constraint rules".to_owned(),
        blocks: vec![Block::Table {
            head: head.map(str::to_owned).to_vec(),
            rows: measures.rules.iter().map(row).collect(),
        }],
    })
}

/// A release that is written and audited but not under its name yet. Dropping it removes it.
#[derive(Debug)]
pub struct Prepared {
    output: Output,
    /// The table of sensitive values, where there is one.
    beside: Option<Output>,
    /// What it achieves.
    pub report: Report,
    /// How other records can be masked in the same way, if the method learned that.
    pub recipe: Option<Recipe>,
}

impl Prepared {
    pub(crate) fn new(
        output: Output,
        beside: Option<Output>,
        report: Report,
        recipe: Option<Recipe>,
    ) -> Self {
        Prepared { output, beside, report, recipe }
    }

    /// Lets the release appear under its name.
    pub fn publish(self) -> Result<Report> {
        self.beside.map_or(Ok(()), Output::publish)?;
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
    entry.check_takes(policy.privacy.parts()).map_err(point)?;
    let mut options = Options::new(format!("the method {}", entry.name), &policy.method.options);
    let method = (entry.configure)(&mut options).map_err(point)?;
    let asked: Vec<Part> = policy.privacy.parts().into_iter().map(|(part, _)| part).collect();
    if let Some(part) = method.needs().iter().find(|part| !asked.contains(part)) {
        let error = Error::input(format!("the method {} needs {} in [privacy]", entry.name, part.name()))
            .with_hint("it looks for the most privacy within that limit; for example max_loss = 0.3");
        return Err(point(error));
    }
    let method = improve::if_asked(method, &mut options).map_err(point)?;
    if let Some((unknown, error)) = options.unknown() {
        let span = policy.option_span(unknown).unwrap_or_else(|| span.clone());
        return Err(policy.point(error, &span, "not an option of this method"));
    }
    Ok(match entry.takes.contains(&Part::HardRules) {
        true => method,
        false => Box::new(Divided(method)),
    })
}

/// Runs a policy's method on a problem.
pub fn solve(problem: &Problem, policy: &Policy, watch: &dyn Watch) -> Result<Solution> {
    problem.requirement.check_feasible(problem)?;
    let method = method(policy)?;
    match target::of(policy) {
        None => method.solve(problem, watch),
        Some(target) => {
            let found = target.best_privacy(problem, policy, method.as_ref(), watch)?;
            Ok(found.into_solution(&target))
        }
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
