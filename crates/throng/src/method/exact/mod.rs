//! Exact answers, for small tables and to measure the others by.
//!
//! Ghinita et al. 2009, sections 3, 4.2 and 5. All of them are exact over partitions that keep the order of the line:
//! with k alone the best cut of it; with l the best of all ways to cut the queue of each sensitive value, groups coming
//! in the same order in every queue ([`boundaries`]). For one attribute and a loss of extents, their sum or the widest,
//! lemmas 3 to 5 and 7 of the paper make that the best partition of all. For a loss of size times extent they do not,
//! not even for one attribute: a group may do better around another one.
//!
//! With `partitions = "all"` a table of a few records is solved whatever the order of its records ([`all`]).
//!
//! With `max_loss` or `max_span` the most private partition within the limit is found instead: for k over runs of any
//! table, in O(N·d + N log N), for l over the queues.
//!
//! Cost over the queues: exponential in the number of sensitive values, so larger tables are refused.

pub mod all;
pub mod boundaries;
pub mod within;

use boundaries::{Combine, Queues};

use super::accuracy::{Goal, MAPPING_OPTION, WANTED_OPTION, Wanted, mapping_option, reached};
use super::options::words;
use super::ordered::{Cost, Dealing, Ordered};
use super::{Entry, Method, OptionKind, OptionSpec, Partition, Solution, Traits};
use crate::error::{Error, ErrorCode, Result};
use crate::loss::{Kernel, Limits};
use crate::mapping::{Line, Mapping};
use crate::privacy::{Histogram, Judge, Part, ROUNDING};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// The registry entry.
pub const EXACT: Entry = Entry {
    name: "exact",
    summary: "the best partition along the curve, with k, with l, or the most private one within max_loss; for small tables",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    guarantee: "no partition that keeps the order of the curve is better; with l, tables beyond a few dozen records are refused",
    takes: &[Part::K, Part::L, Part::MaxLoss],
    needs: &[],
    options: &[
        MAPPING_OPTION,
        OptionSpec {
            name: "loss",
            kind: OptionKind::Choice { words: &LOSS_WORDS },
            help: "what is to be least",
        },
        OptionSpec {
            name: "partitions",
            kind: OptionKind::Choice { words: &PARTITION_WORDS },
            help: "which are looked at: those that keep the order of the curve, or all of them, for up to 12 records",
        },
        WANTED_OPTION,
    ],
    traits: Traits {
        in_parts: false,
        compared_if_named: Some(
            "with k alone it finds what hilbert finds, and with l only small tables can be solved",
        ),
        ..Traits::USUAL
    },
    configure: |options, _| {
        Ok(Box::new(Exact {
            mapping: mapping_option(options)?,
            loss: options.choice("loss", LOSSES)?,
            partitions: options.choice("partitions", PARTITIONS)?,
            wanted: Wanted::option(options)?,
        }))
    },
};

const LOSSES: &[(&str, Loss)] =
    &[("gcp", Loss::Gcp), ("extent_sum", Loss::SumOfExtents), ("il-infinity", Loss::WidestExtent)];
const LOSS_WORDS: [&str; LOSSES.len()] = words(LOSSES);
const PARTITIONS: &[(&str, Partitions)] = &[("curve", Partitions::AlongTheCurve), ("all", Partitions::All)];
const PARTITION_WORDS: [&str; PARTITIONS.len()] = words(PARTITIONS);

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// How records get on the line.
    pub mapping: Mapping,
    /// What is to be least.
    pub loss: Loss,
    /// Which partitions are looked at.
    pub partitions: Partitions,
    /// Which privacy is to be highest, within a limit.
    pub wanted: Wanted,
}

/// Which partitions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitions {
    /// Those that keep the order of the curve.
    AlongTheCurve,
    /// All of them, for tables of a few records.
    All,
}

/// The loss of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Σ of size times penalty.
    Gcp,
    /// Σ of penalties; for one number, of extents.
    SumOfExtents,
    /// The greatest penalty.
    WidestExtent,
}

impl Loss {
    /// The loss of one class of so many records.
    fn of_class(self, records: usize, ncp: f64) -> f64 {
        if self == Loss::Gcp { records as f64 * ncp } else { ncp }
    }

    /// How the losses of classes make up that of a partition.
    fn combine(self) -> Combine {
        if self == Loss::WidestExtent { Combine::Greatest } else { Combine::Sum }
    }
}

impl Method for Exact {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        if self.partitions == Partitions::All {
            return self.best_of_all(problem);
        }
        if problem.limits.is_empty() && Judge::new(problem).count_decides() && self.loss == Loss::Gcp {
            return Ordered {
                mapping: self.mapping,
                points: None,
                cost: Cost::Box,
                dealing: Dealing::default(),
            }
            .solve(problem, watch);
        }
        let line = problem.line(&self.mapping, watch)?;
        let kernel = Kernel::new(&problem.attributes);
        with_matrix!(&problem.records, matrix => {
            let search = Exactly { problem, matrix, kernel: &kernel, line: &line, watch };
            if problem.limits.is_empty() {
                return search.least(self.loss).map(Solution::from);
            }
            let goal = self.wanted.goal(problem)?;
            let partition = match goal {
                Goal::Size => within::largest_runs(problem, matrix, &kernel, line.order(), watch)?,
                Goal::Diversity(_) => search.most_private(goal, &problem.limits)?,
            };
            reached(problem, goal, &partition)
        })
    }
}

impl Exact {
    fn best_of_all(&self, problem: &Problem) -> Result<Solution> {
        if !problem.limits.is_empty() {
            return Err(Error::new(
                ErrorCode::MethodDoesNotFit,
                "partitions = \"all\" does not go with a limit on the loss",
            )
            .with_hint("leave `partitions` out"));
        }
        let kernel = Kernel::new(&problem.attributes);
        with_matrix!(&problem.records, matrix => all::least(problem, matrix, &kernel, self.loss))
    }
}

/// Records on a line, to be grouped in the best way.
pub struct Exactly<'a, C> {
    /// The problem.
    pub problem: &'a Problem,
    /// Its records.
    pub matrix: &'a Matrix<C>,
    /// Its penalties.
    pub kernel: &'a Kernel,
    /// Where its records lie.
    pub line: &'a Line,
    /// Who watches.
    pub watch: &'a dyn Watch,
}

impl<C: Code> Exactly<'_, C> {
    /// The partition with the least loss that meets the requirement.
    pub fn least(&self, loss: Loss) -> Result<Partition> {
        let problem = self.problem;
        let judge = Judge::new(problem);
        let (values, domain) = match problem.sensitive.first() {
            Some(counted) if !judge.count_decides() => (counted.codes.clone(), counted.domain.len()),
            _ => (vec![0; problem.len()], 1),
        };
        let mut queues = Queues::new(self.matrix, self.line.order(), &values, domain);
        // Larger groups can be split without loss (lemmas 1 and 2); so no value occurs twice (corollary 1). Not so for
        // a sum of extents, against the paper: the parts of a diverse group may overlap, and then cost more than it.
        if judge.count_decides() {
            queues.largest = 2 * judge.smallest() - 1;
        } else if let Some(frequency) = judge.frequency()
            && let Some(l) = frequency.whole()
            && frequency.attribute() == 0
            && loss != Loss::SumOfExtents
            && judge.smallest_size() <= l
        {
            (queues.largest, queues.most_of_each) = (2 * l - 1, 1);
        }
        let mut room = judge.tally();
        let mut worth = |group: &[u32], extent: &_| {
            judge
                .holds_in(&mut room, group.iter().copied())
                .then(|| loss.of_class(group.len(), self.kernel.ncp(extent)))
        };
        queues.best(loss.combine(), &|_| true, &mut worth, self.watch)
    }

    /// The most private partition all of whose groups are within limits.
    pub fn most_private(&self, goal: Goal, limits: &Limits) -> Result<Partition> {
        let (values, domain) = goal.values(self.problem);
        let queues = Queues::new(self.matrix, self.line.order(), &values, domain);
        let mut histogram = Histogram::new(domain);
        let mut worth = |group: &[u32], _: &_| {
            histogram.clear();
            group.iter().for_each(|record| histogram.add(values[*record as usize]));
            let most = histogram.present().map(|(_, count)| count).max().unwrap_or(0);
            Some(-goal.privacy(group.len(), most))
        };
        queues.best(Combine::Greatest, &|extent| limits.allow(self.kernel, extent), &mut worth, self.watch)
    }

    /// The partition whose widest group is narrowest, among those with at least some privacy, by searching for the
    /// tightest limit at which the dual problem reaches it (section 5.2). The limit is found to `precision`.
    pub fn narrowest(&self, goal: Goal, privacy: f64, precision: f64) -> Result<Partition> {
        let (mut low, mut high) = (0.0, self.problem.total_weight());
        let mut best = self.most_private(goal, &Limits::of_loss(high))?;
        while high - low > precision {
            let middle = f64::midpoint(low, high);
            let found = self.most_private(goal, &Limits::of_loss(middle))?;
            if goal.of_partition(self.problem, &found) * (1.0 + ROUNDING) >= privacy {
                (best, high) = (found, middle);
            } else {
                low = middle;
            }
        }
        Ok(best)
    }
}
