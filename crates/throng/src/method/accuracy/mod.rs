//! The dual problem: the most privacy within a limit on the loss of every class.
//!
//! Ghinita et al. 2009, sections 5.3 and 6.3 (AC). Records are walked along the Hilbert curve; a group grows while its box
//! stays within the limit. When it cannot grow any more, the next group is grown from what follows, and the pair is
//! *adjusted*: a record of the most frequent sensitive value of one group moves to the other, the one that enlarges it
//! least, if the other stays within the limit and the lower privacy of the two does not fall. A value moves in one
//! direction per pair, and a record that came from the group before does not move on. For k every record counts
//! as having the same value.
//!
//! Privacy is size over the count of the most frequent value, the lowest of all groups; for k, the smallest group.
//!
//! Cost: O(N·d) to grow; adjusting a pair of groups of n records takes O(n·d) per record that moves.

mod adjust;
pub mod search;

use adjust::{Group, Pair};

use super::{Entry, Method, Options, Partition, Solution};
use crate::error::{Error, Result};
use crate::loss::{Extent, Kernel};
use crate::mapping::{MAPPINGS, Mapping};
use crate::privacy::{Histogram, Part, Tally};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// The registry entry.
pub const ACCURACY: Entry = Entry {
    name: "accuracy",
    summary: "the most privacy within max_loss or max_span: l where there is a sensitive attribute, else k",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    guarantee: "no class exceeds the limit; privacy is not guaranteed to be the highest possible",
    takes: &[Part::MaxLoss, Part::K, Part::L, Part::T],
    configure: |options: &mut Options<'_>| {
        Ok(Box::new(Accuracy { mapping: mapping_option(options)?, wanted: Wanted::option(options)? }))
    },
};

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// How records get on the line.
    pub mapping: Mapping,
    /// Which privacy is wanted.
    pub wanted: Wanted,
}

/// Which privacy is to be as high as possible, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Diversity where there is a sensitive attribute, else size.
    Fitting,
    /// Diversity.
    Diversity,
    /// Size.
    Size,
}

/// Which privacy is to be as high as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Records per occurrence of the most frequent value of a sensitive attribute.
    Diversity(usize),
    /// Records.
    Size,
}

/// Reads which mapping orders the records.
pub(super) fn mapping_option(options: &mut Options<'_>) -> Result<Mapping> {
    let choices: Vec<(&str, Mapping)> = MAPPINGS.iter().map(|mapping| (mapping.name, *mapping)).collect();
    options.choice("mapping", &choices)
}

impl Wanted {
    /// Reads the option `maximise`.
    pub(super) fn option(options: &mut Options<'_>) -> Result<Self> {
        options.choice(
            "maximise",
            &[("fitting", Wanted::Fitting), ("l", Wanted::Diversity), ("k", Wanted::Size)],
        )
    }

    /// What that means for a problem.
    pub fn goal(self, problem: &Problem) -> Result<Goal> {
        match (self, problem.sensitive.is_empty()) {
            (Wanted::Fitting | Wanted::Diversity, false) => Ok(Goal::Diversity(0)),
            (Wanted::Fitting, true) | (Wanted::Size, _) => Ok(Goal::Size),
            (Wanted::Diversity, true) => {
                Err(Error::input("l cannot be maximised: no attribute is sensitive")
                    .with_hint("write role = \"sensitive\" in the section of the attribute to protect"))
            }
        }
    }
}

impl Goal {
    /// The privacy of a group of so many records, the most frequent value occurring so often.
    pub fn privacy(self, size: usize, most: u32) -> f64 {
        match self {
            Goal::Size => size as f64,
            Goal::Diversity(_) => size as f64 / f64::from(most.max(1)),
        }
    }

    /// The value of a record that its group's privacy depends on, and how many there are.
    pub fn values(self, problem: &Problem) -> (Vec<u32>, usize) {
        match self {
            Goal::Size => (vec![0; problem.len()], 1),
            Goal::Diversity(at) => (problem.sensitive[at].codes.clone(), problem.sensitive[at].domain.len()),
        }
    }

    /// The lowest privacy of a partition's groups.
    pub fn of_partition(self, problem: &Problem, partition: &Partition) -> f64 {
        let (values, domain) = self.values(problem);
        let mut histogram = Histogram::new(domain);
        let privacy = |group: &[u32]| {
            histogram.clear();
            group.iter().for_each(|record| histogram.add(values[*record as usize]));
            self.privacy(group.len(), histogram.present().map(|(_, count)| count).max().unwrap_or(0))
        };
        partition.groups().map(privacy).fold(f64::INFINITY, f64::min)
    }

    fn name(self) -> &'static str {
        match self {
            Goal::Size => "k",
            Goal::Diversity(_) => "l",
        }
    }
}

impl Method for Accuracy {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let goal = self.wanted.goal(problem)?;
        watch.stage("ordering", None);
        let line = problem.line(&self.mapping, watch)?;
        watch.stage("grouping", Some(problem.len() as u64));
        let partition =
            with_matrix!(&problem.records, matrix => walk(problem, matrix, line.order(), goal, watch))?;
        reached(problem, goal, partition)
    }

    fn needs(&self) -> &'static [Part] {
        &[Part::MaxLoss]
    }
}

/// Grows groups along an order and adjusts neighbours.
fn walk<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    order: &[u32],
    goal: Goal,
    watch: &dyn Watch,
) -> Result<Partition> {
    let kernel = Kernel::new(&problem.attributes);
    let (values, domain) = goal.values(problem);
    let mut pair = Pair::new(problem, matrix, &kernel, goal, domain);
    let mut records = Vec::with_capacity(order.len());
    let mut sizes = Vec::new();
    let mut finish = |group: Group<C>| {
        watch.advance(group.len() as u64);
        sizes.push(group.len());
        records.extend(group.records());
        watch.check()
    };
    let mut before: Option<Group<C>> = None;
    let mut rest = order;
    while let Some((first, mut after)) = rest.split_first() {
        let mut group = Group::new(Extent::of(matrix.row(*first as usize)), domain);
        group.add(*first, values[*first as usize], matrix);
        while let Some((next, further)) = after.split_first()
            && pair.fits(&group, *next)
        {
            group.add(*next, values[*next as usize], matrix);
            after = further;
        }
        rest = after;
        if let Some(mut earlier) = before.take() {
            pair.adjust(&mut earlier, &mut group);
            finish(earlier)?;
        }
        before = Some(group);
    }
    before.map_or(Ok(()), &mut finish)?;
    Ok(Partition::from_sizes(records, sizes))
}

/// A solution of the dual problem, if it meets what the policy requires as well.
pub(super) fn reached(problem: &Problem, goal: Goal, partition: Partition) -> Result<Solution> {
    let privacy = goal.of_partition(problem, &partition);
    let told = (privacy * 1000.0).floor() / 1000.0;
    let holds = |group: &[u32]| {
        let mut tally = Tally::for_problem(problem);
        group.iter().for_each(|record| tally.add_record(&problem.sensitive, *record));
        problem.requirement.holds(&tally)
    };
    if !partition.groups().all(holds) {
        let asked = problem.requirement.describe().join(" and ");
        return Err(Error::requirement(format!(
            "within the limit on the loss {} = {told} was reached, but not {asked}",
            goal.name()
        ))
        .with_hint("allow more loss, or require less privacy"));
    }
    let note = format!("Within the limit on the loss of every class, {} = {told} was reached.", goal.name());
    Ok(Solution { notes: vec![note], ..Solution::from(partition) })
}
