//! What a reader needs to know beforehand, wherever the table comes from.

use super::{Map, Storage};
use crate::error::{Error, ErrorCode, Result};
use crate::watch::Watch;

/// Decides how to keep each column once their names are known.
pub type Plan<'a> = dyn Fn(&[String]) -> Result<Vec<Storage>> + Sync + 'a;

/// How a table is read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) missing: &'a str,
    pub(crate) name: &'a str,
    pub(crate) expansion: Expansion,
    pub(crate) marked: bool,
}

impl<'a> Reading<'a> {
    /// With a plan that decides how to keep each column, told its progress to `watch`.
    pub fn new(plan: &'a Plan<'a>, watch: &'a dyn Watch) -> Self {
        Reading {
            plan,
            watch,
            missing: "",
            name: "the table",
            expansion: Expansion::default(),
            marked: false,
        }
    }

    /// The text that stands for a null of formats that have one; the empty text if nothing is said.
    pub fn missing(self, marker: &'a str) -> Self {
        Reading { missing: marker, ..self }
    }

    /// What a table in memory is called in messages; "the table" if nothing is said.
    pub fn named(self, name: &'a str) -> Self {
        Reading { name, ..self }
    }

    /// How far compressed bytes may expand.
    pub fn expansion(self, expansion: Expansion) -> Self {
        Reading { expansion, ..self }
    }

    /// Whether cells that a spreadsheet would run have a mark before them, which is taken off.
    pub fn marked(self, marked: bool) -> Self {
        Reading { marked, ..self }
    }

    /// Checks the names of the columns and asks how to keep each.
    pub(crate) fn plan_columns(&self, names: &[String]) -> Result<Vec<Storage>> {
        if names.is_empty() {
            return Err(Error::new(ErrorCode::EmptyTable, "the table is empty: there is no header row")
                .on_line(1)
                .with_hint("the first line must name the columns"));
        }
        let mut seen = Map::default();
        for (at, name) in names.iter().enumerate() {
            if let Some(before) = seen.insert(name.as_str(), at) {
                let name_shown = crate::words::shorten(name);
                return Err(Error::new(
                    ErrorCode::DuplicateColumn,
                    format!("two columns are called \"{name_shown}\""),
                )
                .on_line(1)
                .in_column(at as u64 + 1)
                .for_attribute(name)
                .with_hint(format!(
                    "rename one of columns {} and {}; if the first line is a record, put a line with the names of the \
                     columns above it",
                    before + 1,
                    at + 1
                )));
            }
        }
        let storage = (self.plan)(names)?;
        match storage.len() == names.len() {
            true => Ok(storage),
            false => Err(Error::bug("a plan that does not say how to keep each column")),
        }
    }
}

/// How far bytes may expand in memory: to so many times their number, and some more that are free. A file of a few
/// kilobytes can be made to expand to any number of bytes; this is where such a file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// So many times the bytes of the file.
    pub times: u64,
    /// Bytes that any file may expand to.
    pub free: u64,
}

impl Expansion {
    /// Without any limit, for files that are trusted.
    pub const UNLIMITED: Expansion = Expansion { times: u64::MAX, free: u64::MAX };

    /// What so many bytes may expand to.
    pub fn of(self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.times).saturating_add(self.free)
    }

    /// The error about a file that expands further.
    pub(crate) fn exceeded(self) -> Error {
        Error::new(
            ErrorCode::ExpandsTooMuch,
            format!("the file expands to more than {} times its size", self.times),
        )
        .with_hint("if it is what it should be, allow more with `max_expansion` under [data]")
    }
}

impl Default for Expansion {
    /// Tables of one repeated row apart, hardly any expands to a hundred times its size. gzip cannot expand to more than
    /// 1,032 times, so that a limit near that would stop none of its bombs.
    fn default() -> Self {
        Expansion { times: 200, free: 1 << 30 }
    }
}
