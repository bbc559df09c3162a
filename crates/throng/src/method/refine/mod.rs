//! Top-down refinement: mask everything, then refine what tells most about the class while it is safe.
//!
//! Fung, Wang and Yu 2007. A global recoding: equal values are published alike. Categories are masked by a cut through
//! their taxonomy or, without one, by hiding values one by one; numbers by intervals that are split in two where that
//! tells most about the class. The search starts from one class of all records and performs the best refinement
//! again and again: the one with the highest gain in information per anonymity lost. Each of several quasi-identifiers
//! is held to its own k. It can be stopped at any time, and what is there is safe.
//!
//! Where we differ from the paper:
//! * l and t are taken besides k, on the combination of all quasi-identifiers. All models are monotone, so a refinement
//!   that breaks one never becomes valid again, as for k.
//! * Without a class, the gain is the loss that a refinement avoids (`goal = "loss"`), and every valid refinement counts
//!   as beneficial.
//! * A disclosure of a hidden value is beneficial if the hidden records are of more than one class; the paper leaves
//!   open which records it means.
//! * With several quasi-identifiers and a class, three searches are made, and of what they would publish the one is taken
//!   from which the class can be predicted best (see `choose`): the paper's (`first = "each"`), one that begins with the
//!   union, and one that counts the anonymity lost as a share of what there is (`anonymity = "share"`).
//! * `first = "union"` begins with all attributes of several quasi-identifiers as one, and goes on with each of them by
//!   itself when nothing more is possible. A score compares losses of anonymity in records: what is refined first lowers
//!   the anonymity of its quasi-identifiers so far that further refinements there look cheap, and those of others, still at
//!   the size of the table, look dear. So a search for several may end with less about the class than one for their
//!   union has; begun with the union, it never does.
//! * A node of a taxonomy whose children cannot all be told, because some would be too small, is refined into those that can
//!   (`children = "some"`): one child after the other is told by itself, while it and what is left stay safe. What is left is
//!   published under the name of the node, as values that are hidden are under `*`. Whoever knows the rule reads such a cell as
//!   the node without the children that are told, and every class is as large and as diverse as is asked for all the same.
//!   Told by itself is refused once it is unsafe, since what is left only gets smaller. `children = "all"` is the paper's form.
//! * A refinement that changes no published cell, from a group to the only value in it, is made but neither told nor counted
//!   (`iterations`).
//! * Missing numbers are parted from the others before these are split.
//! * The least count that a refinement would make is kept as a running minimum, so that no counts are stored with
//!   the leaves (see `counting`), and gains come from counts of classes per value, taken once (see `benefit`).
//!
//! Cost: each refinement touches the rows that hold the refined value, once to deal them and once to count them for each
//! attribute that could still be refined: O(N · d · h) for h refinements per value. Each quasi-identifier has leaves of its own
//! (see `part`), so several cost as much as that many single ones, and to sort the records by what is published.

mod benefit;
mod choose;
mod classes;
mod counting;
mod leaves;
mod masks;
mod part;
mod propose;
mod quasi;
mod rows;
mod search;
mod solution;
mod state;
mod trace;

pub use benefit::{Goal, entropy, information_gain};
pub use choose::Way;
pub use masks::{Masks, Value};
pub use propose::{hierarchy_file, propose};
use quasi::union;
pub use quasi::{Qid, quasi_identifiers};
pub use state::Shape;
pub use trace::{End, Step, Why};

use super::options::{Numbers, words};
use super::{Boxes, Entry, Method, Methods, OptionKind, OptionSpec, Options, Partition, Solution, Traits};
use crate::error::{Error, ErrorCode, Result};
use crate::privacy::Part;
use crate::problem::Problem;
use crate::watch::Watch;

/// The registry entry.
pub const REFINE: Entry = Entry {
    name: "refine",
    summary: "refines a fully masked table while it is safe, so that the class can still be predicted; takes several \
              quasi-identifiers each with its own k",
    citation: "Fung, Wang, Yu: Anonymizing classification data for privacy preservation, TKDE 2007",
    guarantee: "equal values are published alike; no further refinement is both safe and useful",
    takes: &[Part::K, Part::L, Part::T, Part::People],
    needs: &[],
    options: &[
        OptionSpec {
            name: "goal",
            kind: OptionKind::Choice { words: &GOAL_WORDS },
            help: "what decides about a refinement: gain per anonymity lost, gain alone, or the loss it avoids",
        },
        OptionSpec {
            name: "first",
            kind: OptionKind::Choice { words: &FIRST_WORDS },
            help: "with which of several quasi-identifiers to begin: each by itself, their union, or what lets the class be \
                   predicted best of these",
        },
        OptionSpec {
            name: "anonymity",
            kind: OptionKind::Choice { words: &ANONYMITY_WORDS },
            help: "how anonymity that is lost counts: in records, or as a share of what there is; without it, what lets the \
                   class be predicted best where `first` leaves that open, else in records",
        },
        OptionSpec {
            name: "children",
            kind: OptionKind::Choice { words: &CHILDREN_WORDS },
            help: "whether a group of a hierarchy may be refined into some of its children, the others together under its \
                   name, or only into all of them",
        },
        OptionSpec {
            name: "iterations",
            kind: OptionKind::Whole { least: 0, default: None },
            help: "refinements at most",
        },
        OptionSpec {
            name: "seconds",
            kind: OptionKind::Number { allowed: Numbers::NOT_NEGATIVE, default: None },
            help: "seconds after which nothing more is refined; what comes out then depends on the machine",
        },
    ],
    traits: Traits { in_parts: false, ..Traits::USUAL },
    configure,
};

const GOALS: &[(&str, Option<Goal>)] =
    &[("auto", None), ("score", Some(Goal::Score)), ("gain", Some(Goal::Gain)), ("loss", Some(Goal::Loss))];
const GOAL_WORDS: [&str; GOALS.len()] = words(GOALS);
const FIRST: &[(&str, Option<First>)] =
    &[("best", None), ("each", Some(First::Each)), ("union", Some(First::Union))];
const FIRST_WORDS: [&str; FIRST.len()] = words(FIRST);
const ANONYMITY: &[(&str, Option<Anonymity>)] =
    &[("best", None), ("records", Some(Anonymity::Records)), ("share", Some(Anonymity::Share))];
const ANONYMITY_WORDS: [&str; ANONYMITY.len()] = words(ANONYMITY);
const CHILDREN: &[(&str, Children)] = &[("some", Children::Some), ("all", Children::All)];
const CHILDREN_WORDS: [&str; CHILDREN.len()] = words(CHILDREN);

/// When the search ends before it is finished.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// After so many refinements.
    pub iterations: u64,
    /// After so many seconds; the outcome then depends on the machine.
    pub seconds: Option<f64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { iterations: u64::MAX, seconds: None }
    }
}

/// With which quasi-identifiers a search for several begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum First {
    /// With each of them by itself, as the paper does.
    #[default]
    Each,
    /// With all their attributes as one quasi-identifier of the largest k; when nothing more is possible, each of them
    /// by itself.
    Union,
}

/// How anonymity that is lost counts in a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anonymity {
    /// In records, as in the paper.
    #[default]
    Records,
    /// As a share of what the quasi-identifier has; for one of them that is the same.
    Share,
}

/// Into which of its children a value of a hierarchy may be refined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Children {
    /// Into all of them or none, as in the paper.
    All,
    /// Where all of them are refused, into those that are safe: the others stay together under the name of the value.
    #[default]
    Some,
}

/// The method.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refine {
    /// What decides; by default the score if there is a class, and the loss if not.
    pub goal: Option<Goal>,
    /// With which of several quasi-identifiers to begin; if nothing is said, what lets the class be predicted best.
    pub first: Option<First>,
    /// How anonymity that is lost counts; the same.
    pub anonymity: Option<Anonymity>,
    /// Into which of its children a value of a hierarchy may be refined.
    pub children: Children,
    /// When to end.
    pub limits: Limits,
}

/// What a search ends with.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The records in groups with equal masked values.
    pub partition: Partition,
    /// How the groups are published.
    pub boxes: Boxes,
    /// The quasi-identifiers that were kept safe.
    pub qids: Vec<Qid>,
    /// What was done, step by step.
    pub trace: Vec<Step>,
    /// Why it ended.
    pub end: End,
    /// What could be done next, if it ended early.
    pub open: Vec<Step>,
    /// How each attribute is masked.
    pub masks: Vec<Masks>,
    /// Why attributes that are masked as a whole stayed so.
    pub stayed: Vec<(usize, Why)>,
    /// The ways that were tried, with the share of records whose class is predicted wrongly; the one that was taken first.
    /// Empty where there was no choice.
    pub tried: Vec<(Way, f64)>,
}

fn configure(options: &Options, _: &Methods) -> Result<Box<dyn Method>> {
    Ok(Box::new(Refine {
        goal: options.choice("goal", GOALS)?,
        first: options.choice("first", FIRST)?,
        anonymity: options.choice("anonymity", ANONYMITY)?,
        children: options.choice("children", CHILDREN)?,
        limits: Limits {
            iterations: options.whole_if_any("iterations")?.unwrap_or(u64::MAX),
            seconds: options.number_if_any("seconds")?,
        },
    }))
}

impl Method for Refine {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let (_, follow) = quasi_identifiers(problem);
        let outcome = self.search(problem, watch)?;
        Ok(outcome.into_solution(problem, self.goal_for(problem)?, follow))
    }
}

impl Refine {
    /// Runs the search.
    pub fn search(&self, problem: &Problem, watch: &dyn Watch) -> Result<Outcome> {
        let goal = self.goal_for(problem)?;
        // Counted over people a requirement is not monotone; every leaf is asked for anew, so nothing is published that
        // falls short, but what was refused is not tried again.
        if !problem.requirement.monotone() && problem.people.is_none() {
            return Err(Error::bug("refine was asked for a requirement that is not monotone"));
        }
        let (qids, _) = quasi_identifiers(problem);
        watch.stage("refining", None);
        let ways = self.ways(problem, goal, &qids);
        let mut limits = self.limits;
        limits.seconds = limits.seconds.map(|seconds| seconds / ways.len() as f64);
        let mut best: Option<(f64, Outcome)> = None;
        let mut tried = Vec::new();
        for &way in &ways {
            let lead = (way.first == First::Union && qids.len() > 1).then(|| union(problem, &qids));
            let search = search::Search::new(problem, goal, qids.clone(), lead);
            let outcome = search.counting(way.anonymity).into(self.children).run(&limits, watch)?;
            let stopped = outcome.end == End::Stopped;
            if ways.len() == 1 || (stopped && best.is_none()) {
                return Ok(outcome);
            }
            if stopped {
                break;
            }
            let error = choose::error(problem, &outcome);
            let place = if best.as_ref().is_none_or(|(least, _)| error < *least) { 0 } else { tried.len() };
            tried.insert(place, (way, error));
            if place == 0 {
                best = Some((error, outcome));
            }
        }
        let (_, outcome) = best.ok_or_else(|| Error::bug("no way to refine was tried"))?;
        Ok(Outcome { tried, ..outcome })
    }

    /// The ways to search that are tried: several where there are several quasi-identifiers, a class, and no word of the
    /// policy on it.
    fn ways(&self, problem: &Problem, goal: Goal, qids: &[Qid]) -> Vec<Way> {
        let open = qids.len() > 1 && goal == Goal::Score && !problem.labels.is_empty();
        let first = self.first.unwrap_or_default();
        let anonymity = self.anonymity.unwrap_or_default();
        let (each, union) = (First::Each, First::Union);
        let (records, share) = (Anonymity::Records, Anonymity::Share);
        let ways = match (self.first, self.anonymity) {
            (None, None) if open => vec![(each, records), (union, records), (each, share)],
            (None, Some(anonymity)) if open => vec![(each, anonymity), (union, anonymity)],
            _ => vec![(first, anonymity)],
        };
        ways.into_iter().map(|(first, anonymity)| Way { first, anonymity }).collect()
    }

    fn goal_for(&self, problem: &Problem) -> Result<Goal> {
        match (self.goal, problem.labels.is_empty()) {
            (None, true) => Ok(Goal::Loss),
            (None, false) => Ok(Goal::Score),
            (Some(Goal::Score | Goal::Gain), true) => {
                Err(Error::new(ErrorCode::NoClass, "this goal of refine needs a class to gain information about").with_hint(
                    "give the attribute that recipients want to predict `role = \"class\"`, or set `goal = \"loss\"`",
                ))
            }
            (Some(goal), _) => Ok(goal),
        }
    }
}
