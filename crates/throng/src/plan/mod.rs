//! A plan: everything that is decided before data is touched.
//!
//! A policy says what must hold, a [`Registry`] what can be done, and [`Choices`] how the release is to look. A plan made
//! from the three holds the method with its wrappers, the target, how the release is published, how many records may be left
//! out, the seed and the secret; from there on nobody asks for the name of a method. It reads a table, binds a problem,
//! solves, publishes and audits; commands, fronts and tests are loops over plans.
//!
//! ```
//! use throng::plan::{Choices, Plan, Registry};
//! use throng::policy::Policy;
//! let policy = Policy::parse("[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n", None)?;
//! let plan = Plan::new(&policy, &Registry::default(), Choices::default())?;
//! assert_eq!(plan.method_name(), "auto");
//! # Ok::<(), throng::Error>(())
//! ```

mod registry;
pub mod target;

use std::path::Path;
use std::time::Instant;

pub use registry::Registry;
use target::Target;

use crate::audit::{Cells, Findings, Keep, Received, audit, masked_truth};
use crate::bind;
use crate::bound::{Effort, last_for_proof};
use crate::error::{Error, ErrorCode, Result};
use crate::format::Format;
use crate::formula::Formulas;
use crate::method::facts::Associations;
use crate::method::options::Mistake;
use crate::method::{
    Entry, Fact, LeavingOut, Mended, Method, Methods, OneEach, PerPart, Published, Solution, Together,
    Traits, WholePeople,
};
use crate::policy::{Policy, suggest};
use crate::privacy::Part;
use crate::problem::Problem;
use crate::published::StandsFor;
use crate::release::{
    self, Batches, MemoryFile, Order, Output, Publish, Release, RowOrder, Sink, midpoints, permutation,
};
use crate::research::association;
use crate::secret::Secret;
use crate::table::Table;
use crate::watch::{Timed, Watch};

/// The lower bound has at least so many of the seconds.
const LEAST_SECONDS_OF_BOUND: f64 = 0.05;

/// The share of the seconds for the method; the rest is for the lower bound. The larger classes are, the sooner a search has found most of
/// what it will find, and the longer a bound takes to come near.
fn share_of_method(smallest_class: usize) -> f64 {
    const UP_TO: (f64, f64) = (10.0, 0.7);
    const LEAST: f64 = 0.3;
    let ratio = (smallest_class as f64 / UP_TO.0).max(1.0);
    (UP_TO.1 / ratio.sqrt()).max(LEAST)
}

/// What is chosen beside the policy.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// How quasi-identifiers are written; a method that is meant for another way goes before.
    pub publish: Publish,
    /// In which order rows are written.
    pub order: Order,
    /// What the order and every lot is drawn from; fresh unless somebody brings one.
    pub secret: Option<Secret>,
    /// What becomes of cells that a spreadsheet would run.
    pub formulas: Formulas,
    /// Seconds for the method, its improvement and the lower bound together.
    pub seconds: Option<f64>,
    /// Whether the lower bound is to be proved even if that takes longer than the method.
    pub proves: bool,
}

/// What happens where a release does not meet its requirement.
///
/// ```
/// use throng::Unmet;
/// // `throng::Apply::new(&recipe).unmet(Unmet::Suppress)` leaves out what falls short.
/// assert_ne!(Unmet::Suppress, Unmet::Refuse);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unmet {
    /// That cannot be: the method promised that it does.
    Impossible,
    /// Nothing is written.
    Refuse,
    /// The records of classes that fall short are left out.
    Suppress,
    /// They are written all the same, for use where the table itself may be seen.
    Publish,
}

/// Everything that is decided before data is touched.
pub struct Plan {
    policy: Policy,
    name: String,
    method: Box<dyn Method>,
    traits: Traits,
    /// Whether soft rules steer the method.
    steered_by_rules: bool,
    target: Option<Target>,
    publish: Publish,
    order: Order,
    formulas: Formulas,
    /// Whether somebody brought the secret.
    keyed: bool,
    secret: Secret,
    /// Seconds that the method may take, and those for it and the bound together.
    method_seconds: Option<f64>,
    seconds: Option<f64>,
    /// Share of records that may be suppressed.
    suppress: f64,
    unmet: Unmet,
    /// Options of the policy that do not apply to the method.
    left_out: Vec<String>,
    /// Whether the lower bound is to be proved even if that takes longer than the method.
    proves: bool,
    /// Whether a table without rows gives a release without rows; else it is an error.
    takes_nobody: bool,
}

/// What a plan's method found, and the policy that its release is held to.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The solution.
    pub solution: Solution,
    /// The policy; where a target was given, with the k that was found.
    pub policy: Policy,
}

/// A release that was written to sinks: files that have no name yet, or memory.
#[derive(Debug)]
pub struct Written<S> {
    /// The release.
    pub release: S,
    /// The table of sensitive values, where it is published by permutation.
    pub sensitive: Option<S>,
    /// Whose each row is, where requirements count people. It is not part of what is published.
    people: Option<Vec<u32>>,
    /// The record behind each row of record batches; nor is this.
    pub(crate) records: Vec<u32>,
    /// What numbers stand for that are published in place of ranges. That is not part of it either.
    stands_for: Option<StandsFor>,
    /// Whether cells that a spreadsheet would run have a mark before them.
    marked: bool,
}

impl<S> Written<S> {
    /// Sinks that nothing was written to yet.
    fn new(release: S, sensitive: Option<S>) -> Self {
        Written { release, sensitive, people: None, records: Vec::new(), stands_for: None, marked: false }
    }

    /// A release that was written otherwise.
    pub(crate) fn elsewhere(release: S, marked: bool) -> Self {
        Written { marked, ..Self::new(release, None) }
    }
}

impl<S: Sink> Written<S> {
    /// A release that is one table and was written by others.
    pub(crate) fn whole(release: S) -> Self {
        Self::new(release, None)
    }

    /// Reads it back as its recipients will.
    pub fn read_back(
        &self,
        problem: &Problem,
        policy: &Policy,
        keep: Keep,
        watch: &dyn Watch,
    ) -> Result<Received> {
        let sensitive = self.sensitive.as_ref().map(|sink| sink as &dyn Sink);
        let sinks = (&self.release as &dyn Sink, sensitive);
        let mut received = Received::read_sinks(sinks, self.marked, problem, policy, keep, watch)?;
        received.people = self.people.clone();
        received.stands_for = self.stands_for.clone();
        Ok(received)
    }
}

impl Plan {
    /// Decides; an error if the method does not take what the policy asks for.
    pub fn new(policy: &Policy, registry: &Registry, choices: Choices) -> Result<Self> {
        let policy = with_seed(policy)?;
        // A method that was not written is the default one: what it does not take stands under [privacy].
        let span = policy.method.span.as_ref().unwrap_or(&policy.privacy.span);
        let point = |error: Error| policy.point(error, span, "here");
        let methods = &registry.methods;
        let entry = *methods.find(&policy.method.name).map_err(point)?;
        methods.check_takes(&entry, &policy.parts()).map_err(point)?;
        let (options, left_out) = options(&policy, &entry, methods)?;
        let method = methods.configure(&entry, &options).map_err(|Mistake { key, error }| {
            match policy.option_span(&key) {
                Some(span) if !key.is_empty() => policy.point(error, &span, "in this option"),
                _ => point(error),
            }
        })?;
        let method_seconds =
            options.get("seconds").and_then(|own| own.as_float().or(own.as_integer().map(|own| own as f64)));
        let steered_by_rules = entry.takes.contains(&Part::HardRules);
        Ok(Plan {
            name: entry.name.to_owned(),
            method: around(method, steered_by_rules),
            traits: entry.traits,
            steered_by_rules,
            target: target::of(&policy),
            publish: match entry.traits.published {
                Published::AsClasses => choices.publish,
                Published::ByPermutation => Publish::Permutation,
            },
            order: choices.order,
            formulas: choices.formulas,
            keyed: choices.secret.is_some(),
            secret: choices.secret.map_or_else(Secret::fresh, Ok)?,
            method_seconds,
            seconds: choices.seconds,
            suppress: allowance(&policy, methods),
            unmet: Unmet::Impossible,
            left_out,
            proves: choices.proves,
            takes_nobody: false,
            policy,
        })
    }

    /// A plan for something that solves problems but is no method of a registry, such as a saved recoding. What it makes
    /// need not meet the requirement: `unmet` says what happens then.
    pub fn of_method(
        policy: &Policy,
        method: Box<dyn Method>,
        unmet: Unmet,
        choices: Choices,
    ) -> Result<Self> {
        let policy = with_seed(policy)?;
        Ok(Plan {
            name: policy.method.name.clone(),
            method,
            traits: Traits::USUAL,
            steered_by_rules: true,
            target: None,
            publish: choices.publish,
            order: choices.order,
            formulas: choices.formulas,
            keyed: choices.secret.is_some(),
            secret: choices.secret.map_or_else(Secret::fresh, Ok)?,
            method_seconds: None,
            seconds: choices.seconds,
            // Leaving records out was asked for, however many.
            suppress: if unmet == Unmet::Suppress { 1.0 } else { policy.privacy.suppress },
            unmet,
            left_out: Vec::new(),
            proves: choices.proves,
            takes_nobody: false,
            policy,
        })
    }

    /// Lets a table without rows give a release without rows. In a file, no rows is most often a mistake.
    pub(crate) fn taking_nobody(self) -> Self {
        Plan { takes_nobody: true, ..self }
    }

    /// The method's name.
    pub fn method_name(&self) -> &str {
        &self.name
    }

    /// The policy, with a seed.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What the order of rows and every lot is drawn from.
    pub(crate) fn secret(&self) -> &Secret {
        &self.secret
    }

    /// What becomes of cells that a spreadsheet would run.
    pub(crate) fn formulas(&self) -> Formulas {
        self.formulas
    }

    /// The share of records that may be suppressed.
    pub(crate) fn suppress(&self) -> f64 {
        self.suppress
    }

    /// Whether the policy asks for the most privacy that keeps a utility.
    pub(crate) fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// In what the method differs from most.
    pub fn traits(&self) -> Traits {
        self.traits
    }

    /// Whether soft rules steer the method.
    pub fn steered_by_rules(&self) -> bool {
        self.steered_by_rules
    }

    /// How the release is published.
    pub fn publish(&self) -> Publish {
        self.publish
    }

    /// In which order its rows come.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Where that order comes from.
    pub fn row_order(&self) -> RowOrder {
        match (self.order, self.keyed) {
            (Order::Keep, _) => RowOrder::Kept,
            (Order::Shuffled, true) => RowOrder::Keyed,
            (Order::Shuffled, false) => RowOrder::Random,
        }
    }

    /// What happens where the requirement is not met.
    pub fn unmet(&self) -> Unmet {
        self.unmet
    }

    /// Options of the policy that were written for another method and do not apply to this one.
    pub fn left_out_options(&self) -> &[String] {
        &self.left_out
    }

    /// Reads a table as the plan needs it.
    pub fn read(&self, data: &Path, watch: &dyn Watch) -> Result<Table> {
        read(data, &self.policy, watch)
    }

    /// Joins a table and the plan.
    pub fn problem(&self, table: &Table) -> Result<Problem> {
        self.problem_among(table, None)
    }

    /// Joins some rows of a table, ascending, and the plan.
    pub fn problem_among(&self, table: &Table, rows: Option<&[u32]>) -> Result<Problem> {
        let mut problem = if self.takes_nobody && table.is_empty() {
            Problem::of_nobody(table, &self.policy)?
        } else {
            Problem::among(table, &self.policy, rows)?
        };
        self.bind(&mut problem);
        Ok(problem)
    }

    /// Asks for this plan's requirement in a problem of the same table and roles.
    pub fn bind(&self, problem: &mut Problem) {
        problem.require(&self.policy.privacy);
        problem.suppressible = self.suppressible(problem.len());
        problem.seed = self.policy.method.seed;
        problem.secret = self.secret.clone();
    }

    /// How many of so many records may be suppressed.
    pub fn suppressible(&self, of: usize) -> usize {
        records(self.suppress, of)
    }

    /// Finds groups. Where a target was given, the problem then asks for the k that was found.
    pub fn solve(&self, problem: &mut Problem, watch: &dyn Watch) -> Result<Solved> {
        if problem.is_empty() {
            let words = "The table has no rows, and neither has the release: nobody is in it.".to_owned();
            let solution = Solution { facts: vec![Fact::Remark { words }], ..Solution::default() };
            return Ok(Solved { solution, policy: self.policy.clone() });
        }
        let start = Instant::now();
        let (mut solution, k) = self.find(problem, watch)?;
        solution.facts.extend(self.associations(problem).map(Fact::Associations));
        let mut policy = self.policy.clone();
        if policy.effort == Effort::Usual && self.traits.fast && !self.proves {
            policy.effort = Effort::Quick;
        }
        if let Some(seconds) = self.seconds
            && policy.effort != Effort::Passes(0)
        {
            let left = (seconds - start.elapsed().as_secs_f64()).max(LEAST_SECONDS_OF_BOUND);
            policy.effort = Effort::Seconds(left);
        }
        if let (true, Effort::Seconds(seconds)) = (self.proves, policy.effort) {
            policy.effort = Effort::SecondsForProof(seconds);
        }
        if let Some(k) = k {
            policy.privacy.set_k(k);
            policy.found_k = Some(k);
            problem.require(&policy.privacy);
        }
        Ok(Solved { solution, policy })
    }

    /// How much quasi-identifiers tell of each other, where weights follow from it, or where some tell nearly the same and the
    /// method weighs one attribute against another.
    fn associations(&self, problem: &Problem) -> Option<Associations> {
        let automatic = |name: &str| self.policy.attributes.get(name).is_some_and(|own| own.auto_weight);
        let attributes = &problem.attributes;
        let weighed = attributes.iter().any(|own| automatic(&own.name));
        if !(weighed || self.steered_by_rules) || attributes.len() < 2 {
            return None;
        }
        let matrix = association::matrix(attributes, &problem.records);
        let high = association::high(&matrix, Associations::HIGH);
        (weighed || !high.is_empty()).then(|| Associations {
            attributes: attributes.iter().map(|own| own.name.clone()).collect(),
            weights: attributes.iter().map(|own| own.weight).collect(),
            automatic: attributes.iter().map(|own| automatic(&own.name)).collect(),
            matrix,
            high,
        })
    }

    /// Finds groups; with a target also the k that they meet.
    pub fn find(&self, problem: &Problem, watch: &dyn Watch) -> Result<(Solution, Option<usize>)> {
        if self.publish.middle().is_some() {
            midpoints::check(problem, &self.policy.privacy)?;
        }
        let of_all = self.seconds.map(|seconds| self.share_of_method(problem, seconds) * seconds);
        let own = self.method_seconds.into_iter().chain(of_all).min_by(f64::total_cmp);
        let timed = own.map(|seconds| Timed::seconds(watch, seconds));
        let watch = timed.as_ref().map_or(watch, |timed| timed as &dyn Watch);
        match &self.target {
            None => Ok((self.method.solve(problem, watch)?, None)),
            Some(target) => {
                let found = target.best_privacy(problem, &self.policy, self.method.as_ref(), watch)?;
                let k = found.k;
                Ok((found.into_solution(target), Some(k)))
            }
        }
    }

    /// The share of the seconds for the method: all where no lower bound will be proved in what is left.
    fn share_of_method(&self, problem: &Problem, seconds: f64) -> f64 {
        let share = share_of_method(problem.requirement.smallest_class());
        let proved = self.proves || last_for_proof((1.0 - share) * seconds, problem);
        if proved && self.policy.effort != Effort::Passes(0) { share } else { 1.0 }
    }

    /// The release of a solution.
    pub fn release<'a>(
        &self,
        table: &'a Table,
        problem: &'a Problem,
        solved: &Solved,
    ) -> Result<Release<'a>> {
        let release =
            Release::new(table, problem, &solved.policy, &solved.solution, self.publish, self.order)?;
        Ok(release.with_formulas(self.formulas))
    }

    /// Writes the release of a solution to a file beside the name that it will get.
    pub fn write(
        &self,
        table: &Table,
        problem: &Problem,
        solved: &Solved,
        path: &Path,
        watch: &dyn Watch,
    ) -> Result<Written<Output>> {
        if self.publish == Publish::Permutation {
            permutation::check_name(path)?;
        }
        self.check_marks(Format::of(path)).map_err(|error| error.in_file(path))?;
        let release = Output::create(path)?;
        let sensitive = match self.publish {
            Publish::Permutation => {
                let temporary = permutation::sensitive_path(release.temporary_path());
                Some(Output::create_beside(&release, &permutation::sensitive_path(path), &temporary)?)
            }
            Publish::Cells | Publish::Bounds | Publish::Medians | Publish::Means => None,
        };
        let mut written = Written::new(release, sensitive);
        self.fill(table, problem, solved, &mut written, watch)?;
        Ok(written)
    }

    /// Writes the release of a solution as a file in memory.
    pub fn write_in_memory(
        &self,
        table: &Table,
        problem: &Problem,
        solved: &Solved,
        format: &'static Format,
        watch: &dyn Watch,
    ) -> Result<Written<MemoryFile>> {
        self.check_marks(format)?;
        let permuted = self.publish == Publish::Permutation;
        let sensitive = permuted.then(|| MemoryFile::new(format));
        let release = MemoryFile::new(format);
        let mut written = Written::new(release, sensitive);
        self.fill(table, problem, solved, &mut written, watch)?;
        Ok(written)
    }

    /// The release of a solution as record batches.
    pub fn to_batches(
        &self,
        table: &Table,
        problem: &Problem,
        solved: &Solved,
        watch: &dyn Watch,
    ) -> Result<Written<Batches>> {
        let sensitive = (self.publish == Publish::Permutation).then(Batches::new);
        let mut written = Written::new(Batches::new(), sensitive);
        written.records = self.fill(table, problem, solved, &mut written, watch)?.into_records();
        // Marks are for text.
        written.marked = false;
        Ok(written)
    }

    /// Only delimited text is opened by spreadsheets as it is; in other formats a mark would be one more letter.
    pub(crate) fn check_marks(&self, format: &Format) -> Result<()> {
        match self.formulas == Formulas::Keep || format.is_delimited() {
            true => Ok(()),
            false => Err(Error::new(
                ErrorCode::BadUsage,
                format!("--escape-formulas is for delimited text, not for {}", format.name),
            )
            .with_hint("leave it out, or give the release a name that ends in .csv")),
        }
    }

    fn fill<'a, S: Sink>(
        &self,
        table: &'a Table,
        problem: &'a Problem,
        solved: &Solved,
        written: &mut Written<S>,
        watch: &dyn Watch,
    ) -> Result<Release<'a>> {
        let release = self.release(table, problem, solved)?;
        release.write(&mut written.release, watch)?;
        written.people = release.people();
        written.stands_for = release.stands_for();
        written.marked = self.formulas == Formulas::Escape;
        written.sensitive.as_mut().map_or(Ok(()), |sensitive| release.write_sensitive(sensitive))?;
        Ok(release)
    }

    /// Measures a written release, read back as its recipients will read it. One that does not meet a requirement that the
    /// method promised to meet is a bug.
    pub fn audit<S: Sink>(
        &self,
        problem: &Problem,
        solved: &Solved,
        written: &Written<S>,
        watch: &dyn Watch,
    ) -> Result<Findings> {
        let received = written.read_back(problem, &solved.policy, Keep::Audited, watch)?;
        let findings = audit(problem, &solved.policy, &received, watch)?;
        if self.unmet != Unmet::Impossible || received.stands_for.is_some() {
            let cells = Cells::read(problem, &solved.policy, &received)?;
            masked_truth::check(
                problem,
                &cells,
                &release::records_in_order(problem, &solved.solution, self.order),
            )?;
        }
        self.check(&findings)?;
        Ok(findings)
    }

    /// An error if a release may not be published.
    pub fn check(&self, findings: &Findings) -> Result<()> {
        let Some(violation) = findings.measures.violations.first() else { return Ok(()) };
        match self.unmet {
            Unmet::Impossible => {
                Err(Error::bug(format!("the release does not meet its requirement: {violation}")))
            }
            Unmet::Refuse | Unmet::Suppress => Err(Error::new(
                ErrorCode::RecipeNotSafe,
                format!("masked with this recipe, the records do not meet its requirement: {violation}"),
            )
            .with_hint(UNMET_HINT)),
            Unmet::Publish => Ok(()),
        }
    }
}

/// What to do where masked records do not meet a requirement.
pub(crate) const UNMET_HINT: &str = "mask more records at once, leave out those that fall short with --unmet suppress, or write them all the \
     same with --unmet publish";

/// Reads a table as a policy needs it.
pub(crate) fn read(data: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Table> {
    let table = Table::read(data, &policy.reading(&bind::plan(policy), watch))?;
    suggest::check_header(&table, policy)?;
    Ok(table)
}

/// The share of records that may be suppressed. A method whose point it is may suppress some unless told otherwise.
pub(crate) fn allowance(policy: &Policy, methods: &Methods) -> f64 {
    match methods.find(&policy.method.name) {
        Ok(entry) if !policy.privacy.suppress_given => entry.traits.suppresses,
        _ => policy.privacy.suppress,
    }
}

/// A share of records as a number of them, with room for rounding: 5 % of 20 records is one record.
pub(crate) fn records(share: f64, of: usize) -> usize {
    (share * of as f64 + 1e-9) as usize
}

/// What every method gets around it: people and hard rules where it knows nothing of them, and who must be left out.
fn around(method: Box<dyn Method>, steered_by_rules: bool) -> Box<dyn Method> {
    let mended: Box<dyn Method> = Box::new(Mended(method));
    let ruled = if steered_by_rules { mended } else { Box::new(PerPart(mended)) };
    Box::new(OneEach(Box::new(WholePeople(Box::new(LeavingOut(Box::new(Together(ruled))))))))
}

/// The policy, with a seed that nobody chose if none was written.
fn with_seed(policy: &Policy) -> Result<Policy> {
    let policy = policy.clone();
    match policy.method.seed_given {
        true => Ok(policy),
        false => Ok(policy.with_seed(draw_seed()?)),
    }
}

/// A new seed. It fits a TOML integer.
pub fn draw_seed() -> Result<u64> {
    Ok(rand::Rng::next_u64(&mut Secret::fresh()?.stream(0)) >> 1)
}

/// The options that a method gets, and the names of those that were written for another one and do not apply to it.
fn options(policy: &Policy, entry: &Entry, methods: &Methods) -> Result<(toml::Table, Vec<String>)> {
    let mut options = policy.method.options.clone();
    if !policy.method.replaced {
        return Ok((options, Vec::new()));
    }
    let known = methods.options(entry, &options)?;
    let applies = |key: &str, value: &toml::Value| {
        known.iter().any(|option| option.name == key && option.kind.allows(value))
    };
    let others = options.iter().filter(|(key, value)| !applies(key, value));
    let left_out: Vec<String> = others.map(|(key, _)| key.clone()).collect();
    options.retain(|key, value| applies(key, value));
    Ok((options, left_out))
}
