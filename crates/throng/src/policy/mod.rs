//! The policy: what the table holds, what privacy it needs, and how to get there.
//!
//! [`Policy::parse`] turns TOML into a checked [`Policy`]; every mistake in it is an error that points at
//! the line. What was written and what was checked are different types: `written` holds the former.
//! A policy knows nothing of a table yet; [`crate::bind`] joins the two.

mod adjust;
mod check;
mod hierarchy;
mod series;
pub mod suggest;
#[cfg(test)]
mod tests;
mod written;

use std::ops::Range;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

pub use hierarchy::parse as parse_hierarchy;
pub use series::SeriesChoice;

use crate::bound::Effort;
use crate::error::{Error, ErrorCode, Result};
pub use crate::keys::source::Brought;
use crate::keys::source::Source;
use crate::privacy::Part;
pub use crate::privacy::{Diversity, Privacy, QuasiIdentifier};
pub use crate::schema::{
    Apart, AttributePolicy, DateUnit, Hierarchy, Kind, Official, PersonChoice, Role, Rule,
};
use crate::table::{Expansion, Plan, Reading};
use crate::watch::Watch;
use crate::words::did_you_mean;
use crate::words::shorten;

/// Bytes of stack for reading a policy.
const STACK: usize = 64 << 20;

/// The method of a policy that names none.
pub const DEFAULT_METHOD: &str = "auto";

/// A checked policy.
///
/// ```
/// use throng::Policy;
/// let in_code = Policy::builder().k(5).quasi("age").build()?;
/// let as_text = Policy::parse("[privacy]\nk = 5\n[attribute.age]\nrole = \"quasi\"\n", None)?;
/// assert_eq!(in_code.privacy.k(), as_text.privacy.k());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// Where it came from, for error messages.
    pub path: Option<PathBuf>,
    /// Its text as written.
    pub text: String,
    /// Cells read as missing.
    pub missing: Vec<String>,
    /// What happens to rows with a missing cell.
    pub incomplete: Incomplete,
    /// What happens to columns that it does not mention.
    pub unlisted: Unlisted,
    /// Whether what looks unsafe is refused, rather than told.
    pub strict: bool,
    /// Whether somebody says that the first line of the table is a header, however it looks.
    pub header: bool,
    /// How far files may expand when they are read.
    pub expansion: Expansion,
    /// What must hold.
    pub privacy: Privacy,
    /// How to get there.
    pub method: MethodChoice,
    /// The attributes, in the order they were written.
    pub attributes: IndexMap<String, AttributePolicy>,
    /// The options of each task of the registry, for the task to read.
    pub evaluate: IndexMap<String, toml::Table>,
    /// How long to look for the lower bound on the loss.
    pub effort: Effort,
    /// The k that a run found where the policy asks for the most within a limit on the loss; nothing before one did.
    pub found_k: Option<usize>,
    /// How releases follow on each other, where they do.
    pub series: SeriesChoice,
    /// Bytes of memory that a run may take; the table must fit into that of the machine if nothing is said.
    pub memory: Option<u64>,
}

/// What happens to rows with a missing quasi-identifier, sensitive or class cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The rows are left out.
    Drop,
    /// Missing is a value of its own.
    Keep,
}

/// What happens to columns that a policy does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// Nothing is published until somebody decides.
    Refuse,
    /// They are published as they are.
    Publish,
    /// They are left out.
    Drop,
}

impl Unlisted {
    /// All of them by name.
    pub const NAMES: &'static [(&'static str, Unlisted)] =
        &[("refuse", Unlisted::Refuse), ("publish", Unlisted::Publish), ("drop", Unlisted::Drop)];
}

/// The method, its seed and its own options.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodChoice {
    /// The name of a method; not checked by the policy.
    pub name: String,
    /// The seed of all randomness; 0 if none was written.
    pub seed: u64,
    /// Whether a seed was written; plans draw one where none is given.
    pub seed_given: bool,
    /// Further keys of `[method]`, for the method to read.
    pub options: toml::Table,
    /// Whether the name took the place of the one that the options were written for.
    pub replaced: bool,
    /// Where the name stands in the policy, if it was written.
    pub span: Option<Range<usize>>,
}

impl Policy {
    /// How tables are read under this policy: its first marker of missing cells stands for nulls.
    pub fn reading<'a>(&'a self, plan: &'a Plan<'a>, watch: &'a dyn Watch) -> Reading<'a> {
        let missing = self.missing.first().map_or("", String::as_str);
        Reading::new(plan, watch).missing(missing).expansion(self.expansion)
    }

    /// Reads and checks the policy in a file.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::io(ErrorCode::CannotRead, "read the policy", path, &cause))?;
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
        Self::parse_source(Source { text, path, brought: None })
    }

    /// Checks a policy on another machine than the one where it was written, with the files that it names brought along.
    pub fn parse_with(text: &str, path: Option<&Path>, brought: &Brought) -> Result<Self> {
        Self::parse_source(Source { text, path, brought: Some(brought) })
    }

    fn parse_source(source: Source<'_>) -> Result<Self> {
        let parse = || check::check(written::parse(source, source.text)?, source);
        // What is nested deeply is read by recursion, and refused only then: the stack of a caller may be too small for it.
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, parse);
            match reader.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(policy)) => policy,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_) => parse(),
            }
        })
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
        let source = Source { text: &text, path: None, brought: None };
        let keys = written::parse_keys(source, &text)?;
        check::read_privacy(source, keys.get_ref(), attributes, missing)
    }

    /// What the policy says of a column; columns it does not name are published as they are, or never.
    pub fn role(&self, column: &str) -> Role {
        let unlisted = if self.unlisted == Unlisted::Drop { Role::Identifier } else { Role::Other };
        let role = self.attributes.get(column).map_or(unlisted, |attribute| attribute.role);
        if role == Role::Quasi && !self.privacy.generalizes(column) { Role::Other } else { role }
    }

    /// The columns that say together whose record it is, in the order they were written.
    pub fn person_columns(&self) -> impl Iterator<Item = (&str, PersonChoice)> {
        let own = self.attributes.iter().filter(|(_, attribute)| attribute.role == Role::Person);
        own.map(|(name, attribute)| (name.as_str(), attribute.person))
    }

    /// Whether requirements count people.
    pub fn counts_people(&self) -> bool {
        self.person_columns().next().is_some()
    }

    /// The column in whose place the number of each person is published, if it is.
    pub fn number_column(&self) -> Option<&str> {
        self.person_columns().find(|(_, choice)| choice.number).map(|(name, _)| name)
    }

    /// Whether what does not change within a person is generalized alike in all their records.
    pub fn keeps_people_together(&self) -> bool {
        self.person_columns().any(|(_, choice)| choice.together)
    }

    /// What a method must take, with what asks for it: all of `[privacy]`, and the role `person`.
    pub fn parts(&self) -> Vec<(Part, &'static str)> {
        let people = self.counts_people().then_some((Part::People, "the role \"person\""));
        self.privacy.parts().into_iter().chain(people).collect()
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
            let error = Error::new(ErrorCode::UnknownColumn, format!("the table has no column \"{name}\""))
                .for_attribute(name)
                .with_hint(hint);
            return Err(self.point(error, &attribute.span, "not a column of the table"));
        }
        Ok(())
    }

    /// The files that its text names: hierarchies, queries, populations. A text that happens to be the name of a file beside
    /// the policy is taken for one, which costs nothing.
    pub fn files(&self) -> Vec<PathBuf> {
        let folder = self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let mut texts = Vec::new();
        if let Ok(table) = self.text.parse::<toml::Table>() {
            collect_texts(&toml::Value::Table(table), &mut texts);
        }
        self.evaluate
            .values()
            .for_each(|table| collect_texts(&toml::Value::Table(table.clone()), &mut texts));
        // Names on the command line count from where it was typed.
        let places = texts.iter().flat_map(|text| [folder.join(text), PathBuf::from(text)]);
        places.filter(|path| path.is_file()).collect()
    }

    /// Where a further key of `[method]` stands, for a method that does not know it.
    pub fn option_span(&self, key: &str) -> Option<Range<usize>> {
        written::option_span(&self.text, key)
    }

    /// Where a key of `[evaluate.TASK]` stands in the text.
    pub fn task_option_span(&self, task: &str, key: &str) -> Option<Range<usize>> {
        written::task_option_span(&self.text, task, key)
    }

    /// Its text and where it came from.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { text: &self.text, path: self.path.as_deref(), brought: None }
    }

    /// Lets an error point at a piece of this policy.
    pub fn point(&self, error: Error, span: &Range<usize>, label: impl Into<String>) -> Error {
        self.source().point(error, span, label)
    }
}

fn collect_texts(value: &toml::Value, texts: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => texts.push(text.clone()),
        toml::Value::Array(list) => list.iter().for_each(|value| collect_texts(value, texts)),
        toml::Value::Table(table) => table.values().for_each(|value| collect_texts(value, texts)),
        _ => {}
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
