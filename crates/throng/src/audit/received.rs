//! Releases as their recipients have them, from files or from memory.

use std::path::Path;

use super::permutation;
use crate::error::{Error, ErrorCode, Result};
use crate::formula::{has_mark, runs};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::published::StandsFor;
use crate::release::Sink;
use crate::release::permutation::{GROUP, sensitive_path};
use crate::table::{Reading, Storage, Table};
use crate::watch::Watch;

/// A release that was read: its table, and that of its sensitive values if it is one by permutation.
#[derive(Debug)]
pub struct Received {
    /// The release.
    pub table: Table,
    /// The sensitive values by group.
    pub sensitive: Option<Table>,
    /// Whose each row is, as whoever wrote the release knows.
    pub people: Option<Vec<u32>>,
    /// What numbers stand for that are published in place of ranges, as whoever wrote the release knows.
    pub stands_for: Option<StandsFor>,
}

/// Which columns of a release are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those that an audit looks at.
    Audited,
    /// All.
    All,
}

/// The tables of a release, to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// The release.
    pub release: &'a Table,
    /// The sensitive values by group, if it is one by permutation.
    pub sensitive: Option<&'a Table>,
    /// Whose each row is, where that is known.
    pub people: Option<&'a [u32]>,
    /// What numbers in place of ranges stand for, where that is known.
    pub stands_for: Option<&'a StandsFor>,
}

impl<'a> From<&'a Table> for Tables<'a> {
    fn from(release: &'a Table) -> Self {
        Tables { release, sensitive: None, people: None, stands_for: None }
    }
}

impl<'a> From<&'a Received> for Tables<'a> {
    fn from(published: &'a Received) -> Self {
        Tables {
            release: &published.table,
            sensitive: published.sensitive.as_ref(),
            people: published.people.as_deref(),
            stands_for: published.stands_for.as_ref(),
        }
    }
}

impl Received {
    /// Reads a release from its file, and its sensitive values from the file beside it if it is one by permutation.
    pub fn read(
        path: &Path,
        problem: &Problem,
        policy: &Policy,
        keep: Keep,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let beside = |reading: &Reading<'_>| Table::read(&sensitive_path(path), reading);
        let table = |reading: &Reading<'_>| Table::read(path, reading);
        Self::from_others(problem, policy, keep, watch, table, beside)
    }

    /// Reads what others wrote: where it looks as if marks had been put before formulas, they are taken off.
    pub(crate) fn from_others(
        problem: &Problem,
        policy: &Policy,
        keep: Keep,
        watch: &dyn Watch,
        table: impl Fn(&Reading<'_>) -> Result<Table>,
        sensitive: impl Fn(&Reading<'_>) -> Result<Table>,
    ) -> Result<Self> {
        let read = |marked: bool| {
            let (table, sensitive) = (&table, &sensitive);
            Self::from_readers(
                problem,
                policy,
                keep,
                watch,
                move |reading| table(&reading.marked(marked)),
                move |reading| sensitive(&reading.marked(marked)),
            )
        };
        let received = read(false)?;
        match received.is_marked(problem) {
            true => read(true),
            false => Ok(received),
        }
    }

    /// Whether no cell of a release would be run by a spreadsheet and some have a mark, which the table's do not.
    fn is_marked(&self, problem: &Problem) -> bool {
        let tables = || [Some(&self.table), self.sensitive.as_ref()].into_iter().flatten();
        let attributes = problem.attributes.iter().map(|own| &own.domain);
        let domains =
            attributes.chain(problem.sensitive.iter().chain(&problem.labels).map(|own| &own.domain));
        let own = |test: fn(&str) -> bool| {
            domains.clone().any(|domain| (0..domain.len() as u32).any(|code| test(domain.label(code))))
        };
        let marked = tables().any(|table| table.any_text(has_mark));
        marked && !tables().any(|table| table.any_text(runs)) && (!own(has_mark) || own(runs))
    }

    /// Reads back what sinks have taken.
    pub fn read_back(
        release: &dyn Sink,
        sensitive: Option<&dyn Sink>,
        problem: &Problem,
        policy: &Policy,
        keep: Keep,
        watch: &dyn Watch,
    ) -> Result<Self> {
        Self::read_sinks((release, sensitive), false, problem, policy, keep, watch)
    }

    /// The same of what may have been written with marks before formulas.
    pub(crate) fn read_sinks(
        (release, sensitive): (&dyn Sink, Option<&dyn Sink>),
        marked: bool,
        problem: &Problem,
        policy: &Policy,
        keep: Keep,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let table = |reading: &Reading<'_>| release.read_back(&reading.marked(marked));
        let beside = |reading: &Reading<'_>| match sensitive {
            Some(sink) => sink.read_back(&reading.marked(marked)),
            None => Err(no_sensitive_values()),
        };
        Self::from_readers(problem, policy, keep, watch, table, beside)
    }

    pub(crate) fn from_readers(
        problem: &Problem,
        policy: &Policy,
        keep: Keep,
        watch: &dyn Watch,
        table: impl FnOnce(&Reading<'_>) -> Result<Table>,
        sensitive: impl FnOnce(&Reading<'_>) -> Result<Table>,
    ) -> Result<Self> {
        let some = |names: &[String]| Ok(storage(problem, names));
        let all = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
        let reading = match keep {
            Keep::Audited => policy.reading(&some, watch),
            Keep::All => policy.reading(&all, watch),
        };
        let table = table(&reading.named("the release"))?;
        let sensitive = match permutation::is_permuted(problem, &table) {
            false => None,
            true => {
                let reading = policy.reading(&all, watch);
                Some(sensitive(&reading.named("the table of sensitive values"))?)
            }
        };
        Ok(Received { table, sensitive, people: None, stands_for: None })
    }
}

pub(super) fn no_sensitive_values() -> Error {
    Error::new(
        ErrorCode::SensitiveTableMissing,
        "the release is one by permutation, but the table of its sensitive values is not there",
    )
    .with_hint("give both tables")
}

/// How an audit needs the columns of a release to be kept: those that it reads coded, the others as they are.
pub fn storage(problem: &Problem, names: &[String]) -> Vec<Storage> {
    let keep = |name: &String| if is_audited(problem, name) { Storage::Coded } else { Storage::Text };
    names.iter().map(keep).collect()
}

fn is_audited(problem: &Problem, name: &str) -> bool {
    let quasi = |name: &str| {
        problem
            .attributes
            .iter()
            .any(|attribute| name == attribute.name || super::is_derived(&attribute.name, name))
    };
    let counted = || problem.sensitive.iter().chain(&problem.labels).any(|counted| counted.name == name);
    name == GROUP || quasi(name) || counted() || problem.number_column.as_deref() == Some(name)
}

/// An error if a column that an audit looks at was not kept in a way that it can be looked at.
pub(super) fn check_storage(problem: &Problem, release: &Table) -> Result<()> {
    let mut names = release.names().iter().enumerate();
    let lost = names.find(|(at, name)| release.storage(*at) != Storage::Coded && is_audited(problem, name));
    lost.map_or(Ok(()), |(_, name)| {
        Err(Error::new(
            ErrorCode::BadUsage,
            format!("the column \"{name}\" of the release was read in a way that cannot be audited"),
        )
        .in_file(release.origin())
        .for_attribute(name)
        .with_hint("keep it coded; `audit::storage` says how to keep each column"))
    })
}
