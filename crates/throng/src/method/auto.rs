//! Auto: chooses a method by requirement, size and time, and says which and why.
//!
//! What loses least as a rule need not on a small table. So where only the size of classes counts, up to `SMALL`
//! records are given to several methods (`CANDIDATES`) and the least loss is taken, and up to `all::MOST` records
//! are grouped in the best of all ways.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::exact::{self, Exact, all};
use super::facts::Because;
use super::options::Numbers;
use super::{
    Entry, Fact, Method, Methods, OptionKind, OptionSpec, Solution, Traits, accuracy, bottom_up, improve,
    mondrian, ordered, peel, top_down,
};
use crate::error::{Error, ErrorCode, Result};
use crate::loss::{Kernel, group_ncp};
use crate::mapping;
use crate::privacy::{Part, Tally};
use crate::problem::{Attribute, Problem};
use crate::watch::Watch;

/// The registry's entry.
pub const AUTO: Entry = Entry {
    name: "auto",
    summary: "chooses by requirement, size and time: the best of several on small tables, peel where it can, the better of mondrian and hilbert on tables too large for it",
    citation: "throng",
    guarantee: "that of the method it chooses; the report says which and why",
    takes: &[Part::K, Part::OwnK, Part::L, Part::T, Part::MaxLoss, Part::People],
    needs: &[],
    options: &[OptionSpec {
        name: "seconds",
        kind: OptionKind::Number { allowed: Numbers::SECONDS, default: None },
        help: "seconds that the method may take",
    }],
    traits: Traits::USUAL,
    configure: |options, _| Ok(Box::new(Auto { seconds: options.number_if_any("seconds")? })),
};

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Auto {
    /// Seconds that the method may take.
    pub seconds: Option<f64>,
}

/// Without a limit in seconds, as many are thought fine.
const SECONDS: f64 = 120.0;
/// Cells of quasi-identifiers that peel goes through in a second: a third of what two cores did with a million records,
/// for slower machines.
const CELLS_PER_SECOND: f64 = 250_000.0;

/// From so many attributes on, and where more than one number has more values than so many, peel looks at no more than
/// so many rows in all, or at each so often.
const MANY_ATTRIBUTES: usize = 30;
const MANY_VALUES: usize = 2000;
const LOOKS_IN_ALL: usize = 30_000_000;
const LEAST_LOOKS: usize = 300;

/// Up to so many records, several methods are run.
const SMALL: usize = 1000;
/// The methods that are run then, each with its groups improved.
const CANDIDATES: [Entry; 6] = [
    peel::PEEL,
    mondrian::STRICT,
    ordered::HILBERT,
    ordered::IDISTANCE,
    bottom_up::BOTTOM_UP,
    top_down::TOP_DOWN,
];

/// What was chosen.
struct Choice {
    name: &'static str,
    method: Box<dyn Method>,
    because: Because,
}

impl Auto {
    fn choose(&self, problem: &Problem) -> Choice {
        let lots = || {
            let (mapping, cost) = (mapping::HILBERT, ordered::Cost::Box);
            Box::new(ordered::Ordered { mapping, points: None, cost, dealing: ordered::Dealing::Lots })
        };
        let margin = problem.requirement.diversity_of(&Tally::of_all(problem));
        if margin.is_some_and(|margin| margin.is_narrow()) {
            let because = Because::DiversityIsNarrow;
            return Choice { name: ordered::HILBERT.name, method: lots(), because };
        }
        let seconds = self.seconds.unwrap_or(SECONDS);
        let own_k = problem.demands.is_some();
        if self.is_too_large(problem) && !own_k {
            let because = Because::TableIsLarge { seconds };
            return Choice { name: ordered::HILBERT.name, method: lots(), because };
        }
        if problem.len() <= all::MOST && only_size_counts(problem) {
            let (mapping, wanted) = (mapping::HILBERT, accuracy::Wanted::Fitting);
            let (loss, partitions) = (exact::Loss::Gcp, exact::Partitions::All);
            return Choice {
                name: exact::EXACT.name,
                method: Box::new(Exact { mapping, loss, partitions, wanted }),
                because: Because::TableIsTiny,
            };
        }
        Choice { name: peel::PEEL.name, method: Box::new(self.peel(problem)), because: Because::LosesLeast }
    }

    /// Peel, with a limit on what it looks at where it would look at nearly everything for little: many attributes, or several
    /// numbers of which hardly any value occurs twice. Among many groups of many attributes moves are slow too; the search
    /// that follows is not.
    fn peel(&self, problem: &Problem) -> peel::Peel {
        let attributes = &problem.attributes;
        let many_values = |attribute: &&Attribute| attribute.domain.len() > MANY_VALUES;
        let wide = attributes.len() >= MANY_ATTRIBUTES;
        let hard = wide || attributes.iter().filter(many_values).count() > 1;
        let looks = (LOOKS_IN_ALL / problem.len().max(1)).max(LEAST_LOOKS);
        peel::Peel {
            rounds: if wide { 0 } else { improve::ROUNDS },
            effort: if hard { looks } else { peel::EFFORT },
            seconds: self.seconds,
            ..peel::Peel::default()
        }
    }

    /// The better of the fast methods, improved. Tells its name.
    fn fast(&self, problem: &Problem, watch: &dyn Watch) -> Result<(&'static str, Solution)> {
        let until = self.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let methods = Methods::standard();
        let mut best: Option<(f64, &'static str, Solution)> = None;
        for entry in [mondrian::STRICT, ordered::HILBERT] {
            let method = methods.configure(&entry, &toml::Table::new()).map_err(|mistake| mistake.error)?;
            let solution = method.solve(problem, watch)?;
            let loss = loss(problem, &solution);
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, entry.name, solution));
            }
        }
        let (_, name, mut solution) = best.ok_or_else(|| Error::bug("there is no fast method"))?;
        let effort = improve::Effort::new(0, None, until);
        solution.partition = improve::improve(problem, &solution.partition, effort, watch)?;
        Ok((name, solution))
    }

    fn is_too_large(&self, problem: &Problem) -> bool {
        let cells = problem.len() as f64 * problem.attributes.len() as f64;
        cells / CELLS_PER_SECOND > self.seconds.unwrap_or(SECONDS)
    }

    /// The solution that loses least of those of several methods; of equals the first.
    fn least_of_several(problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let methods = Methods::standard();
        let improved =
            toml::Table::from_iter([(improve::OPTION.name.to_owned(), toml::Value::Boolean(true))]);
        let asked: Vec<Part> = problem.requirement.parts().collect();
        let mut best: Option<(f64, &'static str, Solution)> = None;
        let mut of: Vec<Cow<'static, str>> = Vec::new();
        for entry in CANDIDATES.iter().filter(|entry| asked.iter().all(|part| entry.takes.contains(part))) {
            let method = methods.configure(entry, &improved).map_err(|mistake| mistake.error)?;
            let solution = method.solve(problem, watch)?;
            let loss = loss(problem, &solution);
            of.push(entry.name.into());
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, entry.name, solution));
            }
        }
        let (_, name, mut solution) = best.ok_or_else(|| Error::bug("no method takes the requirement"))?;
        let because = Because::LostLeast { of };
        solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
        Ok(solution)
    }
}

/// Whether nothing but the size of classes is asked for, and each record is for itself.
fn only_size_counts(problem: &Problem) -> bool {
    problem.people.is_none() && problem.requirement.parts().all(|part| matches!(part, Part::K | Part::OwnK))
}

/// Σ of size times penalty.
fn loss(problem: &Problem, solution: &Solution) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    let of_group = |group: &[u32]| group.len() as f64 * group_ncp(problem, &kernel, group);
    solution.partition.groups().map(of_group).sum()
}

impl Method for Auto {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        if problem.people.is_some() && !problem.limits.is_empty() {
            return Err(Error::new(
                ErrorCode::MethodDoesNotFit,
                "no method keeps to a limit on the loss of classes where people are counted",
            )
            .with_hint("leave out max_loss and max_span, or the role \"person\""));
        }
        if !problem.limits.is_empty() {
            let until = self.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
            let (name, mut solution) = accuracy::most_private(problem, until, watch)?;
            let because = Because::LossIsLimited;
            solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
            return Ok(solution);
        }
        let small = all::MOST + 1..=SMALL;
        if small.contains(&problem.len()) && problem.limits.is_empty() && only_size_counts(problem) {
            return Self::least_of_several(problem, watch);
        }
        let plain = only_size_counts(problem) && problem.demands.is_none() && !problem.rules.any_hard();
        if plain && problem.limits.is_empty() && self.is_too_large(problem) {
            let (name, mut solution) = self.fast(problem, watch)?;
            let because = Because::TableIsLarge { seconds: self.seconds.unwrap_or(SECONDS) };
            solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
            return Ok(solution);
        }
        let Choice { name, method, because } = self.choose(problem);
        let mut solution = method.solve(problem, watch)?;
        solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
        Ok(solution)
    }
}
