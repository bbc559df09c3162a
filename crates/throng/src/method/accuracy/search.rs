//! The dual problem by searching: any method, for the highest privacy at which it stays within the limit.
//!
//! IPCSD of Ghinita et al. 2009: binary search on l from 1 to records over the most frequent value's count (on whole
//! numbers of k where no l is wanted), keeping the most private partition whose groups all stay within the limit. The
//! search takes loss to grow with privacy, which methods do not guarantee, so it may miss the best.
//!
//! Over `hilbert` and `idistance` with k the search would try cuts of a line into runs of up to 2k records, each of which
//! takes O(k·N). There the largest k at which any cut of the line stays within the limit is found directly
//! ([`largest_runs`]), in O(N·d + N log N); no k that the search could find is larger.

use super::{Goal, WANTED_OPTION, Wanted, reached};
use crate::error::{Error, ErrorCode, Fault, Result};
use crate::loss::{Extent, Kernel};
use crate::mapping::{self, Mapping};
use crate::method::exact::within::largest_runs;
use crate::method::options::Numbers;
use crate::method::ordered;
use crate::method::{Entry, Method, OptionKind, OptionSpec, Partition, Solution, Traits};
use crate::privacy::Diversity;
use crate::privacy::{KAnonymity, LDiversity, Model, Part, Requirement};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// The registry entry.
pub const ACCURACY_SEARCH: Entry = Entry {
    name: "accuracy-search",
    summary: "the most privacy within max_loss or max_span, by searching with another method (over = \"hilbert\")",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    guarantee: "no class exceeds the limit; privacy is not guaranteed to be the highest possible",
    takes: &[Part::MaxLoss, Part::K, Part::L, Part::T],
    needs: &[Part::MaxLoss],
    options: &[
        OptionSpec {
            name: "over",
            kind: OptionKind::Method { default: "hilbert" },
            help: "the method that is tried; its own options may be given too",
        },
        OptionSpec {
            name: "threshold",
            kind: OptionKind::Number { allowed: Numbers::POSITIVE, default: Some(0.05) },
            help: "the search ends when the interval of l is shorter",
        },
        WANTED_OPTION,
    ],
    traits: Traits { in_parts: false, ..Traits::USUAL },
    configure: |options, methods| {
        let name = options.text("over")?.unwrap_or_default();
        let over = methods.find(name)?;
        if !over.takes.contains(&Part::K) || over.takes.contains(&Part::MaxLoss) {
            return Err(Error::new(
                ErrorCode::BadOption,
                format!("accuracy-search cannot search with {name}"),
            )
            .with_hint("it needs a method that takes k or l and no limit, such as hilbert or mondrian"));
        }
        let method = (over.configure)(options, methods)?;
        let (wanted, threshold) = (Wanted::option(options)?, options.number("threshold")?);
        let along = match name {
            _ if name == ordered::HILBERT.name => Some(mapping::HILBERT),
            _ if name == ordered::IDISTANCE.name => Some(mapping::IDISTANCE),
            _ => None,
        };
        Ok(Box::new(Search { method, along, wanted, threshold }))
    },
};

/// The method.
pub struct Search {
    /// The method that is tried.
    pub method: Box<dyn Method>,
    /// The line that the method cuts with the least loss, if that is what it does.
    pub along: Option<Mapping>,
    /// Which privacy is wanted.
    pub wanted: Wanted,
    /// The search ends when the interval of l is shorter.
    pub threshold: f64,
}

impl Method for Search {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let goal = self.wanted.goal(problem)?;
        let kernel = Kernel::new(&problem.attributes);
        if let (Goal::Size, Some(mapping)) = (goal, &self.along) {
            let line = problem.line(mapping, watch)?;
            let runs = with_matrix!(&problem.records, matrix => {
                largest_runs(problem, matrix, &kernel, line.order(), watch)
            });
            return reached(problem, goal, runs?);
        }
        let mut trial = problem.clone();
        // What may be left out is decided at the end.
        trial.suppressible = 0;
        // Not even a single record is out of bounds, so every record for itself is where the search begins.
        let all: Vec<u32> = (0..problem.len() as u32).collect();
        let mut best = Partition::from_sizes(all, vec![1; problem.len()]);
        let mut most = goal.of_partition(problem, &best);
        let mut found = |privacy: f64| -> Result<bool> {
            watch.check()?;
            trial.requirement = requirement(problem, goal, privacy);
            let partition = match self.method.solve(&trial, watch) {
                Ok(solution) => solution.partition,
                Err(error) if error.fault() == Fault::Requirement => return Ok(false),
                Err(error) => return Err(error),
            };
            if !within(problem, &kernel, &partition) {
                return Ok(false);
            }
            let reached = goal.of_partition(problem, &partition);
            if reached > most {
                (best, most) = (partition, reached);
            }
            Ok(true)
        };
        match goal {
            Goal::Size => search_whole(problem.len(), &mut found)?,
            Goal::Diversity(at) => {
                search_real(highest(problem, at), self.threshold, &mut found)?;
            }
        }
        reached(problem, goal, best)
    }
}

fn search_whole(most: usize, found: &mut dyn FnMut(f64) -> Result<bool>) -> Result<()> {
    let (mut low, mut high) = (1, most + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if found(middle as f64)? { low = middle } else { high = middle }
    }
    Ok(())
}

fn search_real(most: f64, threshold: f64, found: &mut dyn FnMut(f64) -> Result<bool>) -> Result<()> {
    let (mut low, mut high) = (1.0, most);
    if most > 1.0 && found(most)? {
        return Ok(());
    }
    while high - low > threshold {
        let middle = f64::midpoint(low, high);
        if found(middle)? { low = middle } else { high = middle }
    }
    Ok(())
}

/// The highest l of any release: that of the whole table.
fn highest(problem: &Problem, attribute: usize) -> f64 {
    let counted = &problem.sensitive[attribute];
    let mut counts = vec![0u32; counted.domain.len()];
    counted.codes.iter().for_each(|code| counts[*code as usize] += 1);
    problem.len() as f64 / f64::from(counts.into_iter().max().unwrap_or(1).max(1))
}

/// What is asked of the method that is tried.
fn requirement(problem: &Problem, goal: Goal, privacy: f64) -> Requirement {
    let k = match goal {
        Goal::Size => privacy as usize,
        Goal::Diversity(_) => 1,
    };
    let size = KAnonymity { k: k.max(problem.requirement.smallest_size()) };
    let mut models: Vec<Box<dyn Model>> = vec![Box::new(size)];
    if let Goal::Diversity(attribute) = goal {
        models.push(Box::new(LDiversity { l: privacy, form: Diversity::Frequency, attribute }));
    }
    Requirement::from_models(models)
}

/// Whether all groups stay within the limits.
fn within(problem: &Problem, kernel: &Kernel, partition: &Partition) -> bool {
    fn all<C: Code>(problem: &Problem, kernel: &Kernel, matrix: &Matrix<C>, partition: &Partition) -> bool {
        partition.groups().all(|group| problem.limits.allow(kernel, &Extent::around(matrix, group)))
    }
    with_matrix!(&problem.records, matrix => all(problem, kernel, matrix, partition))
}
