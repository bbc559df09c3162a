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
mod near;
mod partitioned;
mod picked;
pub mod search;
mod solution;

use super::options::{Numbers, words};
use super::{Entry, Method, OptionKind, OptionSpec, Options, Solution, Traits};
use crate::error::{Error, ErrorCode, Result};
use crate::privacy::Part;
use crate::problem::Problem;
use crate::research::{self, Settings};
use crate::watch::Watch;
use goal::{GOALS, Goal, Measure};
use lattice::{Lattice, hard_rules_in_the_way};
pub use local::Halving;
use search::{Found, Known, Limits, Search};

const CITATION: &str = "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, Indiana University 2012";
const TAKES: &[Part] = &[Part::K, Part::L, Part::T, Part::HardRules, Part::People];

/// The registry entry of `rv-global`.
pub const GLOBAL: Entry = Entry {
    name: "rv-global",
    summary: "the full-domain recoding with the highest research value, or the least of a loss",
    citation: CITATION,
    guarantee: "one level per attribute for all records; no valid string is better, or the report says by how much one could be",
    takes: TAKES,
    needs: &[],
    options: OPTIONS,
    traits: TRAITS,
    configure: |options, _| Ok(Box::new(FullDomainSearch::configure(Way::Global, options)?)),
};

/// The registry entry of `rv-local`.
pub const LOCAL: Entry = Entry {
    name: "rv-local",
    summary: "a full-domain recoding found in a few tests by halving the levels and the detail of all attributes at once",
    citation: CITATION,
    guarantee: "one level per attribute for all records; may find nothing but the coarsest string, and says so",
    takes: TAKES,
    needs: &[],
    options: LOCAL_OPTIONS,
    traits: TRAITS,
    configure: |options, _| Ok(Box::new(FullDomainSearch::configure(Way::Local, options)?)),
};

/// The registry entry of `rv-hybrid`.
pub const HYBRID: Entry = Entry {
    name: "rv-hybrid",
    summary: "as rv-global, with the outcomes of rv-local to prune the search",
    citation: CITATION,
    guarantee: "the same string as rv-global",
    takes: TAKES,
    needs: &[],
    options: OPTIONS,
    traits: TRAITS,
    configure: |options, _| Ok(Box::new(FullDomainSearch::configure(Way::Hybrid, options)?)),
};

/// The registry entry of `rv-partitioned`.
pub const PARTITIONED: Entry = Entry {
    name: "rv-partitioned",
    summary: "as rv-global, with blocks of attributes searched first to prune the whole",
    citation: CITATION,
    guarantee: "the same string as rv-global",
    takes: TAKES,
    needs: &[],
    options: PARTITIONED_OPTIONS,
    traits: TRAITS,
    configure: |options, _| Ok(Box::new(FullDomainSearch::configure(Way::Partitioned, options)?)),
};

const TRAITS: Traits = Traits { recodes_by_levels: true, in_parts: false, ..Traits::USUAL };
const GOAL_WORDS: [&str; GOALS.len()] = words(GOALS);
const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "goal",
        kind: OptionKind::Choice { words: &GOAL_WORDS },
        help: "what the string is chosen by: rv for the most research value, or the least of a loss",
    },
    super::BASE_OPTION,
    super::IMPORTANCE_OPTION,
    OptionSpec {
        name: "research_values",
        kind: OptionKind::Structured,
        help: "the research value of each level of an attribute, for example { race = [0.95, 0.72, 0.1] }",
    },
    OptionSpec {
        name: "string",
        kind: OptionKind::Structured,
        help: "the level of each quasi-identifier, in the order of the table, for example [2, 0, 1]: no string is searched then",
    },
    OptionSpec {
        name: "seconds",
        kind: OptionKind::Number { allowed: Numbers::SECONDS, default: None },
        help: "how long the search may take; what comes out then depends on the machine",
    },
    OptionSpec {
        name: "tests",
        kind: OptionKind::Whole { least: 1, default: None },
        help: "how many strings may be tested",
    },
    OptionSpec {
        name: "memory",
        kind: OptionKind::Whole { least: 1, default: Some(256) },
        help: "mebibytes for groups that are remembered",
    },
];
const HALVINGS: [&str; Halving::CHOICES.len()] = words(Halving::CHOICES);
const LOCAL_OPTIONS: &[OptionSpec] = &[
    OPTIONS[0],
    OPTIONS[1],
    OPTIONS[2],
    OPTIONS[3],
    OPTIONS[4],
    OPTIONS[5],
    OPTIONS[6],
    OPTIONS[7],
    OptionSpec {
        name: "halving",
        kind: OptionKind::Choice { words: &HALVINGS },
        help: "what is halved: levels and the detail that they leave, or levels alone, as in the thesis",
    },
];
const PARTITIONED_OPTIONS: &[OptionSpec] = &[
    OPTIONS[0],
    OPTIONS[1],
    OPTIONS[2],
    OPTIONS[3],
    OPTIONS[4],
    OPTIONS[5],
    OPTIONS[6],
    OPTIONS[7],
    OptionSpec {
        name: "block",
        kind: OptionKind::Whole { least: 2, default: Some(1024) },
        help: "strings that a block of attributes may have",
    },
];

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
pub struct FullDomainSearch {
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
    /// What a local search halves.
    pub halving: Halving,
    /// The string that somebody picked; none is searched then.
    pub picked: Option<Vec<u8>>,
}

const MEBIBYTE: u64 = 1 << 20;

impl FullDomainSearch {
    /// Reads the options of a policy.
    pub fn configure(way: Way, options: &Options) -> Result<Self> {
        Ok(FullDomainSearch {
            way,
            goal: options.choice("goal", GOALS)?,
            research: Settings {
                base: options.number_if_any("base")?,
                importance: options.number("importance")?,
                given: given_values(options)?,
            },
            limits: Limits {
                seconds: options.number_if_any("seconds")?,
                tests: options.whole_if_any("tests")?,
                cache: (options.whole("memory")?.min(1 << 20) * MEBIBYTE) as usize,
            },
            block: match way {
                Way::Partitioned => options.whole("block")?,
                _ => 0,
            },
            halving: match way {
                Way::Local => options.choice("halving", Halving::CHOICES)?,
                _ => Halving::default(),
            },
            picked: picked::read(options)?,
        })
    }

    fn search(&self, lattice: &Lattice<'_>, measure: &Measure<'_>, watch: &dyn Watch) -> Result<Found> {
        let known = match self.way {
            Way::Local => return local::search(lattice, measure, self.halving).map(|(found, _)| found),
            Way::Global => Known::default(),
            Way::Hybrid => local::search(lattice, measure, self.halving)?.1,
            Way::Partitioned => partitioned::blocks(lattice, measure, self.block, watch)?,
        };
        Search::new(lattice, measure, self.limits, known, watch).run()
    }
}

impl Method for FullDomainSearch {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        self.check(problem)?;
        let values = research::level_values(problem, &self.research)?;
        watch.stage("pruning levels", None);
        let lattice = Lattice::new(problem)?;
        let measure = Measure::new(self.goal, &lattice, &values);
        if !lattice.verdict(&lattice.groups(&lattice.highest())).valid && lattice.is_monotone() {
            return Err(nothing_valid(problem));
        }
        let found = match &self.picked {
            Some(string) => picked::found(string, &lattice, &measure)?,
            None => self.search(&lattice, &measure, watch)?,
        };
        solution::solution(self, &lattice, &measure, &found)
    }
}

impl FullDomainSearch {
    fn check(&self, problem: &Problem) -> Result<()> {
        let error = match self.goal {
            Goal::Classification if problem.labels.is_empty() => {
                "the goal \"classification\" needs an attribute with role \"class\""
            }
            Goal::Il1 | Goal::IlInfinity if problem.attributes.len() != 1 => {
                "the goals \"il1\" and \"il_infinity\" are for a single quasi-identifier"
            }
            _ => return Ok(()),
        };
        Err(Error::new(ErrorCode::BadOption, error).with_hint("choose another goal under [method]"))
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
fn given_values(options: &Options) -> Result<Vec<(String, Vec<f64>)>> {
    let Some(written) = options.structured("research_values")? else { return Ok(Vec::new()) };
    let wrong = || {
        Error::new(
            ErrorCode::BadOption,
            "research_values must give each attribute a list of numbers, one per level",
        )
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
