//! The policy: what the table holds, what privacy it needs, and how to get there.
//!
//! [`Policy::parse`] turns TOML into a checked [`Policy`]; every mistake in it is an error that points at
//! the line. What was written and what was checked are different types: `written` holds the former.
//! A policy knows nothing of a table yet; [`crate::problem::Problem`] joins the two.

mod adjust;
mod check;
mod hierarchy;
pub mod suggest;
#[cfg(test)]
mod tests;
mod written;

use std::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) use check::{KINDS, ROLES};
pub(crate) use hierarchy::UNITS;
use indexmap::IndexMap;

use crate::error::{Error, Result, did_you_mean};
use crate::keys::source::{Source, point};
pub use crate::privacy::{Diversity, Privacy, QuasiIdentifier};
use crate::table::Tree;
use crate::table::domain::shorten;
use crate::table::{Expansion, Plan, Reading};
use crate::watch::Watch;

/// The method of a policy that names none.
pub const DEFAULT_METHOD: &str = "auto";

/// A checked policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Where it came from, for error messages.
    pub path: Option<PathBuf>,
    /// Its text as written.
    pub text: String,
    /// Cells read as missing.
    pub missing: Vec<String>,
    /// What happens to rows with a missing cell.
    pub incomplete: Incomplete,
    /// How far files may expand when they are read.
    pub expansion: Expansion,
    /// What must hold.
    pub privacy: Privacy,
    /// How to get there.
    pub method: MethodChoice,
    /// The attributes, in the order they were written.
    pub attributes: IndexMap<String, AttributePolicy>,
    /// The options of each task of [`crate::evaluate::TASKS`], for the task to read.
    pub evaluate: IndexMap<String, toml::Table>,
}

/// What happens to rows with a missing quasi-identifier, sensitive or class cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The rows are left out.
    Drop,
    /// Missing is a value of its own.
    Keep,
}

/// The method, its seed and its own options.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodChoice {
    /// A name in [`crate::method::METHODS`]; not checked by the policy.
    pub name: String,
    /// The seed of all randomness; 0 if none was written.
    pub seed: u64,
    /// Whether a seed was written. Row order drawn from a seed that anyone could guess links rows to their place in
    /// the table, so fronts draw one where none is given.
    pub seed_given: bool,
    /// Further keys of `[method]`, for the method to read.
    pub options: toml::Table,
    /// Whether the name took the place of the one that the options were written for.
    pub replaced: bool,
    /// Where the name stands in the policy, if it was written.
    pub span: Option<Range<usize>>,
}

/// What the policy says of one attribute.
#[derive(Clone, Debug)]
pub struct AttributePolicy {
    /// Its part in the release.
    pub role: Role,
    /// Its kind, if not to be guessed.
    pub kind: Option<Kind>,
    /// Its weight, above 0.
    pub weight: f64,
    /// Weights of the leaves of its hierarchy that do not weigh 1.
    pub leaf_weights: IndexMap<String, f64>,
    /// Whether its weight comes from the table instead: from how little other attributes tell of it.
    pub auto_weight: bool,
    /// Its hierarchy.
    pub hierarchy: Option<Hierarchy>,
    /// Its data constraint rules.
    pub rules: Vec<Rule>,
    /// Where the name stands in `[attribute.NAME]` in the policy.
    pub span: Range<usize>,
    /// Where the hierarchy stands in the policy.
    pub hierarchy_span: Option<Range<usize>>,
}

/// The part an attribute plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Could be known to someone who wants to find a person: generalized.
    Quasi,
    /// What must not be learned about a person: published, protected by l and t.
    Sensitive,
    /// What recipients want to predict: published.
    Class,
    /// Names a person: never published.
    Identifier,
    /// Published as it is.
    Other,
}

/// The kinds of attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers and dates.
    Numeric,
    /// Everything else.
    Categorical,
}

/// A hierarchy as the policy gives it.
#[derive(Clone, Debug)]
pub enum Hierarchy {
    /// A tree, from a file or inline.
    Tree(Tree),
    /// Nested equal-width bands of numbers, narrowest first.
    Intervals(Vec<f64>),
    /// Keep so many leading characters, most first.
    Prefix(Vec<usize>),
    /// Calendar units, finest first.
    Dates(Vec<DateUnit>),
}

/// Calendar units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DateUnit {
    /// `2024-03`
    Month,
    /// `2024-Q1`
    Quarter,
    /// `2024`
    Year,
    /// `2020s`
    Decade,
    /// `1900-1999`
    Century,
}

/// A data constraint rule: two things that should stay apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What it keeps apart.
    pub apart: Apart,
    /// How much it matters, above 0.
    pub importance: f64,
    /// Whether it must never be broken.
    pub hard: bool,
    /// Where it stands in the policy.
    pub span: Range<usize>,
}

/// What a rule keeps apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Apart {
    /// Numbers up to the first and from the second on.
    Cut(f64, f64),
    /// Two values of a category.
    Values(String, String),
}

impl Policy {
    /// How tables are read under this policy: its first marker of missing cells stands for nulls.
    pub fn reading<'a>(&'a self, plan: &'a Plan<'a>, watch: &'a dyn Watch) -> Reading<'a> {
        let missing = self.missing.first().map_or("", String::as_str);
        Reading::new(plan, watch).missing(missing).expansion(self.expansion)
    }

    /// Reads and checks the policy in a file.
    pub fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(|cause| Error::io("read the policy", path, &cause))?;
        Self::parse(&text, Some(path))
    }

    /// Checks a policy. `path` is used in messages and to find hierarchies beside the policy.
    ///
    /// ```
    /// let policy = throng::policy::Policy::parse("[privacy]\nk = 5\n[attribute.age]\nrole = \"quasi\"\n", None)?;
    /// assert_eq!(policy.privacy.k(), Some(5));
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn parse(text: &str, path: Option<&Path>) -> Result<Self> {
        check::check(written::parse(text, path)?, text, path)
    }

    /// What keys of `[privacy]` ask for that do not stand in a policy's text: `privacy` as TOML would say it, over some
    /// attributes. They are checked as if they had been written.
    pub fn read_privacy(
        privacy: &toml::Table,
        attributes: &IndexMap<String, AttributePolicy>,
        missing: &[String],
    ) -> Result<Privacy> {
        let text = toml::to_string(privacy)
            .map_err(|cause| Error::bug(format!("the requirement cannot be written as TOML: {cause}")))?;
        let source = Source { text: &text, path: None };
        let keys = written::parse_keys(source, &text)?;
        check::read_privacy(source, keys.get_ref(), attributes, missing)
    }

    /// What the policy says of a column; columns it does not name are published as they are.
    pub fn role(&self, column: &str) -> Role {
        let role = self.attributes.get(column).map_or(Role::Other, |attribute| attribute.role);
        if role == Role::Quasi && !self.privacy.generalizes(column) { Role::Other } else { role }
    }

    /// Checks that every attribute the policy names is a column of the table.
    pub fn check_columns(&self, columns: &[String]) -> Result<()> {
        for (name, attribute) in &self.attributes {
            if columns.contains(name) {
                continue;
            }
            let hint = match did_you_mean(name, columns.iter().map(String::as_str)) {
                Some(column) => format!("did you mean \"{column}\"?"),
                None => format!("the columns are {}", some_of(columns)),
            };
            let error = Error::input(format!("the table has no column \"{name}\""))
                .for_attribute(name)
                .with_hint(hint);
            return Err(self.point(error, &attribute.span, "not a column of the table"));
        }
        Ok(())
    }

    /// Where a further key of `[method]` stands, for a method that does not know it.
    pub fn option_span(&self, key: &str) -> Option<Range<usize>> {
        written::option_span(&self.text, key)
    }

    /// Where a key of `[evaluate.TASK]` stands in the text.
    pub fn task_option_span(&self, task: &str, key: &str) -> Option<Range<usize>> {
        written::task_option_span(&self.text, task, key)
    }

    /// Lets an error point at a piece of this policy.
    pub fn point(&self, error: Error, span: &Range<usize>, label: impl Into<String>) -> Error {
        point(error, &self.text, self.path.as_deref(), span, label)
    }
}

/// The names of columns, as many as a message can hold.
fn some_of(columns: &[String]) -> String {
    const ENOUGH: usize = 20;
    let mut names: Vec<String> = columns.iter().take(ENOUGH).map(|name| shorten(name)).collect();
    if columns.len() > ENOUGH {
        names.push(format!("… and {} more", columns.len() - ENOUGH));
    }
    names.join(", ")
}
