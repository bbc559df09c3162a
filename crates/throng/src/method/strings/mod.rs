//! Generalization strings: one level per attribute for the whole table (Morton 2012).
//!
//! A full-domain recoding, in the manner of Incognito and Flash, whose string is chosen by research value or by any of
//! the losses. `rv-global` finds the best string and proves it; `rv-local` halves the levels of all attributes at once
//! and takes what it meets; `rv-hybrid` lets the local outcomes prune the global search; `rv-partitioned` (the thesis's
//! "distributed" form) first finds what blocks of attributes allow by themselves. Where the thesis lists all strings
//! in memory, [`search`] visits only what the bounds leave open.
//!
//! Levels that break a hard rule are left out. Records may be suppressed up to the policy's share.

pub mod goal;
pub mod lattice;
mod local;
mod partitioned;
pub mod search;
mod solution;

use super::{Entry, Method, Options, Solution};
use crate::error::{Error, Result};
use crate::privacy::Part;
use crate::problem::Problem;
use crate::research::{self, Settings};
use crate::watch::Watch;
use goal::{GOALS, Goal, Measure};
use lattice::{Lattice, hard_rules_in_the_way};
use search::{Found, Known, Limits, Search};

const CITATION: &str = "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, Indiana University 2012";
const TAKES: &[Part] = &[Part::K, Part::L, Part::T, Part::HardRules];

/// The registry entry of `rv-global`.
pub const GLOBAL: Entry = Entry {
    name: "rv-global",
    summary: "the full-domain recoding with the highest research value, or the least of a loss",
    citation: CITATION,
    guarantee: "one level per attribute for all records; no valid string is better, or the report says by how much one could be",
    takes: TAKES,
    configure: |options| Ok(Box::new(Strings::configure(Way::Global, options)?)),
};

/// The registry entry of `rv-local`.
pub const LOCAL: Entry = Entry {
    name: "rv-local",
    summary: "a full-domain recoding found in a few tests by halving the levels of all attributes at once",
    citation: CITATION,
    guarantee: "one level per attribute for all records; may find nothing but the coarsest string, and says so",
    takes: TAKES,
    configure: |options| Ok(Box::new(Strings::configure(Way::Local, options)?)),
};

/// The registry entry of `rv-hybrid`.
pub const HYBRID: Entry = Entry {
    name: "rv-hybrid",
    summary: "as rv-global, with the outcomes of rv-local to prune the search",
    citation: CITATION,
    guarantee: "the same string as rv-global",
    takes: TAKES,
    configure: |options| Ok(Box::new(Strings::configure(Way::Hybrid, options)?)),
};

/// The registry entry of `rv-partitioned`.
pub const PARTITIONED: Entry = Entry {
    name: "rv-partitioned",
    summary: "as rv-global, with blocks of attributes searched first to prune the whole",
    citation: CITATION,
    guarantee: "the same string as rv-global",
    takes: TAKES,
    configure: |options| Ok(Box::new(Strings::configure(Way::Partitioned, options)?)),
};

/// Whether a method recodes by levels.
pub fn recodes_by_levels(method: &str) -> bool {
    [GLOBAL, LOCAL, HYBRID, PARTITIONED].iter().any(|entry| entry.name == method)
}

/// How the string is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Best first over all of it.
    Global,
    /// By halving levels.
    Local,
    /// By halving levels, then best first.
    Hybrid,
    /// Blocks of attributes, then best first.
    Partitioned,
}

/// The method.
#[derive(Clone, Debug)]
pub struct Strings {
    /// How the string is searched.
    pub way: Way,
    /// What to optimise.
    pub goal: Goal,
    /// How research value is computed.
    pub research: Settings,
    /// When to stop.
    pub limits: Limits,
    /// Most strings of a block of attributes.
    pub block: u64,
}

const MEBIBYTE: u64 = 1 << 20;

impl Strings {
    /// Reads the options of a policy.
    pub fn configure(way: Way, options: &mut Options<'_>) -> Result<Self> {
        let share = |share: f64| (0.0..=1.0).contains(&share);
        let tests = options.whole("tests", 1, u64::MAX)?;
        Ok(Strings {
            way,
            goal: options.choice("goal", GOALS)?,
            research: Settings {
                base: options
                    .number("base", "a number of at least 0", |base| base >= 0.0 && base.is_finite())?
                    .unwrap_or(0.0),
                importance: options.number("importance", "a number from 0 to 1", share)?.unwrap_or(0.5),
                given: given_values(options)?,
            },
            limits: Limits {
                seconds: options.number("seconds", "a number above 0", |most| most > 0.0 && most < 1e9)?,
                tests: (tests < u64::MAX).then_some(tests),
                cache: (options.whole("memory", 1, 256)?.min(1 << 20) * MEBIBYTE) as usize,
            },
            block: match way {
                Way::Partitioned => options.whole("block", 2, 1024)?,
                _ => 0,
            },
        })
    }

    fn search(&self, lattice: &Lattice<'_>, measure: &Measure<'_>, watch: &dyn Watch) -> Result<Found> {
        let known = match self.way {
            Way::Local => return local::search(lattice, measure).map(|(found, _)| found),
            Way::Global => Known::default(),
            Way::Hybrid => local::search(lattice, measure)?.1,
            Way::Partitioned => partitioned::blocks(lattice, measure, self.block, watch)?,
        };
        Search::new(lattice, measure, self.limits, known, watch).run()
    }
}

impl Method for Strings {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        self.check(problem)?;
        let values = research::level_values(problem, &self.research)?;
        watch.stage("pruning levels", None);
        let lattice = Lattice::new(problem)?;
        let measure = Measure::new(self.goal, &lattice, &values);
        if !lattice.verdict(&lattice.groups(&lattice.highest())).valid && lattice.is_monotone() {
            return Err(nothing_valid(problem));
        }
        let found = self.search(&lattice, &measure, watch)?;
        solution::solution(self, &lattice, &measure, &found)
    }
}

impl Strings {
    fn check(&self, problem: &Problem) -> Result<()> {
        let error = match self.goal {
            Goal::Classification if problem.classes.is_empty() => {
                "the goal \"classification\" needs an attribute with role \"class\""
            }
            Goal::Il1 | Goal::IlInfinity if problem.attributes.len() != 1 => {
                "the goals \"il1\" and \"il_infinity\" are for a single quasi-identifier"
            }
            _ => return Ok(()),
        };
        Err(Error::input(error).with_hint("choose another goal under [method]"))
    }
}

fn nothing_valid(problem: &Problem) -> Error {
    let hard = problem.rules.iter().filter(|rule| rule.hard);
    let names: Vec<String> = hard
        .map(|rule| format!("{} of \"{}\"", rule.text, problem.attributes[rule.attribute].name))
        .collect();
    hard_rules_in_the_way(&names)
}

/// `research_values = { age = [1.0, 0.5] }`: what the owner says each level is worth.
fn given_values(options: &mut Options<'_>) -> Result<Vec<(String, Vec<f64>)>> {
    let Some(written) = options.value("research_values") else { return Ok(Vec::new()) };
    let wrong = || {
        Error::input("research_values must give each attribute a list of numbers, one per level")
            .with_hint("for example research_values = { race = [0.95, 0.72, 0.1] }")
    };
    let number = |value: &toml::Value| {
        let number = value.as_float().or(value.as_integer().map(|number| number as f64))?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    let table = written.as_table().ok_or_else(wrong)?;
    table
        .iter()
        .map(|(name, values)| {
            let values = values.as_array().ok_or_else(wrong)?;
            Ok((name.clone(), values.iter().map(number).collect::<Option<Vec<f64>>>().ok_or_else(wrong)?))
        })
        .collect()
}
