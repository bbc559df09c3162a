//! Auto: chooses a method by requirement, size and time, and says which and why.
//!
//! What loses least as a rule need not on a small table. So where only the size of classes counts, up to `SMALL`
//! records are given to several methods (`OTHERS`) and the least loss is taken, and up to `all::MOST` records
//! are grouped in the best of all ways. Where few rows are different, nearest ones are joined beside peel; and where several numbers
//! are so fine that hardly two records share one, that is what it begins with (`joined`).
//!
//! Under a limit on the loss of classes it looks for the most privacy. Where that does not reach what is required besides, methods
//! that begin with what is required and keep to the limit are run, and the least loss is taken.

use std::borrow::Cow;

use super::exact::{self, Exact, all};
use super::facts::Because;
use super::options::Numbers;
use super::{
    Entry, Fact, Method, Methods, OptionKind, OptionSpec, Solution, Traits, accuracy, bottom_up, by_need,
    improve, joined, mondrian, ordered, peel, top_down,
};
use crate::collections::Map;
use crate::error::{Error, ErrorCode, Fault, Result};
use crate::loss::{Kernel, group_ncp};
use crate::mapping;
use crate::privacy::{Part, Tally};
use crate::problem::{Code, Problem};
use crate::watch::{Timed, Watch};
use crate::with_matrix;

/// The registry's entry.
pub const AUTO: Entry = Entry {
    name: "auto",
    summary: "chooses by requirement, size and time: the best of several on small tables, else peel, as far as its effort goes",
    citation: "throng",
    guarantee: "that of the method it chooses; the report says which and why",
    takes: &[Part::K, Part::OwnK, Part::L, Part::T, Part::MaxLoss, Part::People],
    needs: &[],
    options: &[OptionSpec {
        name: "seconds",
        kind: OptionKind::Number { allowed: Numbers::SECONDS, default: None },
        help: "seconds that the method may take; what comes out then depends on the machine",
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

/// Rows that peel looks at without a limit in seconds: so many in any table, and so many more for each record. A look takes
/// about ten nanoseconds of a core, so that this is a second and a few times what reading and writing take.
const LOOKS: usize = 120_000_000;
const LOOKS_PER_RECORD: usize = 300;

/// The share of what is feasible in a part of a table from which on its records are dealt by lot, though the table has room.
const PART_IS_NARROW: f64 = 0.8;

/// Up to so many records, several methods are run.
const SMALL: usize = 1000;
/// The methods that are run then beside peel.
const OTHERS: [Entry; 5] =
    [mondrian::STRICT, ordered::HILBERT, ordered::IDISTANCE, bottom_up::BOTTOM_UP, top_down::TOP_DOWN];

/// Up to so many records, those of at most so many different rows are joined with their nearest too: then that takes little, and
/// where a few numbers decide it may lose less than peel.
const MANY: usize = 200_000;
const FEW_ROWS: usize = 2000;

/// What was chosen.
struct Choice {
    name: &'static str,
    method: Box<dyn Method>,
    because: Because,
}

impl Auto {
    fn choose(&self, problem: &Problem, watch: &dyn Watch) -> Choice {
        let lots = || {
            let (mapping, cost) = (mapping::HILBERT, ordered::Cost::Box);
            Box::new(ordered::Ordered { mapping, points: None, cost, dealing: ordered::Dealing::Lots })
        };
        // Of a part too it is the whole table that decides, but where the part has hardly any room; `scale/NOTES.md` says why.
        let margin = problem.requirement.diversity_of(&Tally::of_whole(problem));
        let own = problem.requirement.diversity_of(&Tally::of_all(problem));
        let part_is_narrow = || own.is_some_and(|own| own.asked > 1.0 && own.share() > PART_IS_NARROW);
        if margin.is_some_and(|margin| margin.is_narrow()) || part_is_narrow() {
            let because = Because::DiversityIsNarrow;
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
        if only_size_counts(problem) && joined::suits(problem) {
            return Choice {
                name: joined::name(problem),
                method: Box::new(joined::Joined { seconds: self.seconds }),
                because: Because::NumbersAreFine,
            };
        }
        Choice {
            name: peel::PEEL.name,
            method: Box::new(self.peel(problem, watch)),
            because: Because::LosesLeast,
        }
    }

    /// Peel, with a limit on what it looks at that depends on the size of the table alone, or on the clock where seconds are
    /// given: the same seed then gives the same release only without them.
    fn peel(&self, problem: &Problem, watch: &dyn Watch) -> peel::Peel {
        let timed = self.seconds.is_some() || watch.until().is_some();
        // Every round of parts may take as much as the table at once: those who are left to the last need the most.
        let looks = (LOOKS + LOOKS_PER_RECORD * problem.whole_len()) / problem.round_len().max(1);
        let effort = if timed { peel::EFFORT } else { looks };
        peel::Peel { effort, seconds: self.seconds, ..peel::Peel::default() }
    }

    /// The solution that loses least of those of several methods, of equals the first. Peel searches by itself; the best of the
    /// others is improved, in half of the time that is left.
    fn least_of_several(&self, problem: &Problem, others: &[Entry], watch: &dyn Watch) -> Result<Solution> {
        let timed = self.seconds.map(|seconds| Timed::seconds(watch, seconds));
        let watch = timed.as_ref().map_or(watch, |timed| timed as &dyn Watch);
        let methods = Methods::standard();
        let asked: Vec<Part> = problem.requirement.parts().collect();
        let mut best: Option<(f64, &'static str, Solution)> = None;
        let mut of: Vec<Cow<'static, str>> = vec![peel::PEEL.name.into()];
        for entry in others.iter().filter(|entry| asked.iter().all(|part| entry.takes.contains(part))) {
            let method = methods.configure(entry, &together(entry)).map_err(|mistake| mistake.error)?;
            let solution = method.solve(problem, watch)?;
            let loss = loss(problem, &solution);
            of.push(entry.name.into());
            if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
                best = Some((loss, entry.name, solution));
            }
        }
        let half = Timed::share(watch, 1, 2);
        let own =
            peel::Peel::default().solve(problem, half.as_ref().map_or(watch, |half| half as &dyn Watch))?;
        let (mut name, mut least) = (peel::PEEL.name, own);
        if let Some((_, other, solution)) = best {
            let effort = improve::Effort::new(improve::ROUNDS, None, watch.until());
            let solution = improve::improved(problem, solution, effort, watch)?;
            if loss(problem, &solution) < loss(problem, &least) {
                (name, least) = (other, solution);
            }
        }
        let because = Because::LostLeast { of };
        least.facts.insert(0, Fact::Chosen { method: name.into(), because });
        Ok(least)
    }
}

/// The options of a method that auto runs. Grouping by need is left to what is around auto: told to group all records together, it
/// must not have been done inside.
fn together(entry: &Entry) -> toml::Table {
    let mut options = toml::Table::new();
    if entry.takes.contains(&Part::OwnK) {
        options.insert(by_need::OPTION.name.to_owned(), "together".into());
    }
    options
}

/// Where the walks and searches for the most privacy within a limit do not reach what is required: the solution that loses least
/// of those of methods that begin with what is required and keep to the limit. If none does, what peel says of it.
fn least_within_limits(problem: &Problem, refused: Error, watch: &dyn Watch) -> Result<Solution> {
    let methods = Methods::standard();
    let asked: Vec<Part> = problem.requirement.parts().filter(|part| *part != Part::MaxLoss).collect();
    let (mut best, mut why) = (None::<(f64, &'static str, Solution)>, refused);
    let mut of: Vec<Cow<'static, str>> = Vec::new();
    let all = OTHERS.iter().chain([&peel::PEEL]);
    for entry in all.filter(|own| !asked.is_empty() && asked.iter().all(|part| own.takes.contains(part))) {
        let method = methods.configure(entry, &together(entry)).map_err(|mistake| mistake.error)?;
        let solution = match method.solve(problem, watch) {
            Ok(solution) => solution,
            Err(error) if error.fault() == Fault::Requirement => {
                why = error;
                continue;
            }
            Err(error) => return Err(error),
        };
        let loss = loss(problem, &solution);
        of.push(entry.name.into());
        if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
            best = Some((loss, entry.name, solution));
        }
    }
    let (_, name, mut solution) = best.ok_or(why)?;
    let because = Because::KeepsToLimit { of };
    solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
    Ok(solution)
}

/// Whether nothing but the size of classes is asked for, and each record is for itself.
fn only_size_counts(problem: &Problem) -> bool {
    problem.people.is_none() && problem.requirement.parts().all(|part| matches!(part, Part::K | Part::OwnK))
}

/// Whether few rows are different. Two that only look alike count as one, which is rare and does no harm.
fn has_few_rows(problem: &Problem) -> bool {
    let mut known = Map::default();
    with_matrix!(&problem.records, matrix => {
        (0..matrix.len()).all(|record| {
            let row = matrix.row(record).as_flattened();
            let key = row.iter().fold(0u64, |key, code| {
                (key.rotate_left(5) ^ code.index() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            });
            known.insert(key, ());
            known.len() <= FEW_ROWS
        })
    })
}

/// Σ of size times penalty; who is left out has all of it.
fn loss(problem: &Problem, solution: &Solution) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    let of_group = |group: &[u32]| group.len() as f64 * group_ncp(problem, &kernel, group);
    let lost = solution.suppressed.len() as f64 * problem.total_weight();
    solution.partition.groups().map(of_group).sum::<f64>() + lost
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
            let timed = self.seconds.map(|seconds| Timed::seconds(watch, seconds));
            let until = timed.as_ref().map_or_else(|| watch.until(), Watch::until);
            let (name, mut solution) = match accuracy::most_private(problem, until, watch) {
                Err(refused) if refused.fault() == Fault::Requirement => {
                    let watch = timed.as_ref().map_or(watch, |timed| timed as &dyn Watch);
                    return least_within_limits(problem, refused, watch);
                }
                found => found?,
            };
            let because = Because::LossIsLimited;
            solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
            return Ok(solution);
        }
        let small = all::MOST + 1..=SMALL;
        if small.contains(&problem.len()) && problem.limits.is_empty() && only_size_counts(problem) {
            return self.least_of_several(problem, &OTHERS, watch);
        }
        let several = SMALL + 1..=MANY;
        if several.contains(&problem.len()) && only_size_counts(problem) && has_few_rows(problem) {
            return self.least_of_several(problem, &[bottom_up::BOTTOM_UP], watch);
        }
        let Choice { name, method, because } = self.choose(problem, watch);
        let mut solution = method.solve(problem, watch)?;
        solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
        Ok(solution)
    }
}
