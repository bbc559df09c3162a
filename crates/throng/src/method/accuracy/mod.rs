//! The dual problem: the most privacy within a limit on the loss of every class.
//!
//! Ghinita et al. 2009, sections 5.3 and 6.3 (AC). Records are walked along the Hilbert curve; a group grows while its box
//! stays within the limit. When it cannot grow any more, the next group is grown from what follows, and the pair is
//! *adjusted*: a record of one group moves to the other, of the most frequent sensitive value for which that helps and is
//! allowed, the one that enlarges the other group least: if the other stays within the limit and the lower privacy of the
//! two does not fall. A value moves in one direction per pair, and a record that came from the group before does not move
//! on. For k every record counts as having the same value.
//!
//! Privacy is size over the count of the most frequent value, the lowest of all groups; for k, the smallest group.
//!
//! Where we differ: how well that does depends on where the order happens to jump, and a wider limit may do worse than a
//! tighter one. So by default several walks are made, along several orders and within tighter limits too, and the most
//! private outcome is taken (`tries.rs`); `tries = "one"` is the paper's single walk. Records may be left out where the
//! policy allows that (`outcome.rs`). If nothing is reached, nothing is published.
//!
//! Cost of a walk: O(N·d) to grow. Of a group that gives records away, those of a value are put into a heap once, by what
//! they would cost the other group; a record that moves then takes O(m log m + log n) steps, m being the number of values.

mod adjust;
mod best;
mod group;
mod outcome;
pub mod search;
mod tries;

use std::cell::RefCell;

use adjust::Pairs;
use group::Group;

use super::options::words;
pub(super) use best::most_private;
pub(super) use outcome::reached;

use super::{Entry, Method, OptionKind, OptionSpec, Options, Partition, Solution, Traits};
use crate::error::{Error, ErrorCode, Result};
use crate::loss::{Extent, Kernel, Limits};
use crate::mapping::{MAPPINGS, Mapping};
use crate::privacy::{Histogram, Part};
use crate::problem::{Code, LANES, Lanes, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// The registry entry.
pub const ACCURACY: Entry = Entry {
    name: "accuracy",
    summary: "the most privacy within max_loss or max_span: l where there is a sensitive attribute, else k",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    guarantee: "no class exceeds the limit; privacy is not guaranteed to be the highest possible",
    takes: &[Part::MaxLoss, Part::K, Part::L, Part::T],
    needs: &[Part::MaxLoss],
    options: &[
        MAPPING_OPTION,
        OptionSpec {
            name: "tries",
            kind: OptionKind::Choice { words: &TRIES_WORDS },
            help: "several walks, along other orders and within tighter limits too, of which the most private is taken; or \
                   one, as in the paper",
        },
        WANTED_OPTION,
    ],
    traits: Traits { in_parts: false, ..Traits::USUAL },
    configure: |options, _| {
        Ok(Box::new(Accuracy {
            mapping: mapping_option(options)?,
            tries: options.choice("tries", TRIES)?,
            wanted: Wanted::option(options)?,
        }))
    },
};

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// How records get on the line.
    pub mapping: Mapping,
    /// How many walks are made.
    pub tries: Tries,
    /// Which privacy is wanted.
    pub wanted: Wanted,
}

/// How many walks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tries {
    /// Several, of which the most private is taken.
    #[default]
    Several,
    /// One, as in the paper.
    One,
}

const TRIES: &[(&str, Tries)] = &[("several", Tries::Several), ("one", Tries::One)];
const TRIES_WORDS: [&str; TRIES.len()] = words(TRIES);

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

const MAPPING_WORDS: [&str; MAPPINGS.len()] = {
    let mut words = [""; MAPPINGS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = MAPPINGS[at].name;
        at += 1;
    }
    words
};

/// The option that says which mapping orders the records.
pub(super) const MAPPING_OPTION: OptionSpec = OptionSpec {
    name: "mapping",
    kind: OptionKind::Choice { words: &MAPPING_WORDS },
    help: "how records are put on a line",
};

const WANTED: &[(&str, Wanted)] =
    &[("fitting", Wanted::Fitting), ("l", Wanted::Diversity), ("k", Wanted::Size)];
const WANTED_WORDS: [&str; WANTED.len()] = words(WANTED);

/// The option that says which privacy is to be as high as possible.
pub(super) const WANTED_OPTION: OptionSpec = OptionSpec {
    name: "maximise",
    kind: OptionKind::Choice { words: &WANTED_WORDS },
    help: "which privacy is to be as high as possible; fitting means l where an attribute is sensitive, else k",
};

/// Reads which mapping orders the records.
pub(super) fn mapping_option(options: &Options) -> Result<Mapping> {
    let choices: Vec<(&str, Mapping)> = MAPPINGS.iter().map(|mapping| (mapping.name, *mapping)).collect();
    options.choice("mapping", &choices)
}

impl Wanted {
    /// Reads the option `maximise`.
    pub(super) fn option(options: &Options) -> Result<Self> {
        options.choice("maximise", WANTED)
    }

    /// What that means for a problem.
    pub fn goal(self, problem: &Problem) -> Result<Goal> {
        match (self, problem.sensitive.is_empty()) {
            (Wanted::Fitting | Wanted::Diversity, false) => Ok(Goal::Diversity(0)),
            (Wanted::Fitting, true) | (Wanted::Size, _) => Ok(Goal::Size),
            (Wanted::Diversity, true) => {
                Err(Error::new(ErrorCode::NoSensitive, "l cannot be maximised: no attribute is sensitive")
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
        let partition = match self.tries {
            Tries::One => {
                watch.stage("ordering", None);
                let line = problem.line(&self.mapping, watch)?;
                watch.stage("grouping", Some(problem.len() as u64));
                walk_within(problem, line.order(), &problem.limits, goal, watch)?
            }
            Tries::Several => tries::best(problem, &self.mapping, goal, watch)?,
        };
        reached(problem, goal, &partition)
    }
}

/// Grows groups along an order and adjusts neighbours, all of them within limits.
fn walk_within(
    problem: &Problem,
    order: &[u32],
    limits: &Limits,
    goal: Goal,
    watch: &dyn Watch,
) -> Result<Partition> {
    with_matrix!(&problem.records, matrix => walk(problem, matrix, (order, limits), goal, watch))
}

/// Records in the order of a line, and what their boxes are measured by.
struct Sorted<'a, C> {
    rows: Matrix<C>,
    values: Vec<u32>,
    kernel: &'a Kernel,
    limits: &'a Limits,
    /// Room for a box.
    scratch: RefCell<Extent<C>>,
}

impl<C: Code> Sorted<'_, C> {
    fn row(&self, place: u32) -> &[Lanes<C>] {
        self.rows.row(place as usize)
    }
}

/// The same for rows of a width.
fn walk<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    (order, limits): (&[u32], &Limits),
    goal: Goal,
    watch: &dyn Watch,
) -> Result<Partition> {
    let (values, domain) = goal.values(problem);
    let line = Sorted {
        rows: matrix.gather(order),
        values: order.iter().map(|record| values[*record as usize]).collect(),
        kernel: &Kernel::new(&problem.attributes),
        limits,
        scratch: RefCell::new(Extent::of(&vec![[C::default(); LANES]; matrix.stride()])),
    };
    let mut pairs = Pairs::new(&line, goal, domain);
    let (mut records, mut sizes) = (Vec::with_capacity(order.len()), Vec::new());
    let mut finish = |group: &Group<C>, moved: &[bool]| {
        watch.advance(group.len() as u64);
        sizes.push(group.len());
        records.extend(group.places(moved).map(|place| order[place as usize]));
        watch.check()
    };
    let mut before = Group::new(problem, matrix, domain);
    let mut after = Group::new(problem, matrix, domain);
    let mut places = (0..order.len() as u32).peekable();
    while let Some(first) = places.next() {
        after.begin(&line, first);
        while let Some(place) =
            places.next_if(|place| after.around.penalty_with(&line, line.row(*place)).is_some())
        {
            after.grow(&line, place);
        }
        if before.len() > 0 {
            pairs.adjust(&mut before, &mut after);
            finish(&before, &pairs.moved)?;
        }
        std::mem::swap(&mut before, &mut after);
    }
    if before.len() > 0 {
        finish(&before, &pairs.moved)?;
    }
    Ok(Partition::from_sizes(records, sizes))
}
