//! What a release is still good for: the registry of tasks.
//!
//! A task compares what somebody would learn from the table with what they learn from the release. It sees the
//! release as its recipients do, read back from the published file. To add one: a file or folder here with an
//! [`Entry`], and one line in [`STANDARD`]; tasks of other crates join with [`Tasks::with`].

pub mod classify;
pub mod cube;
pub mod partition;
pub mod queries;
pub mod regress;

use std::path::{Path, PathBuf};

use crate::audit::{Cells, Measures};
use crate::error::{Error, ErrorCode, Result};
use crate::method::Solution;
use crate::method::options::{Mistake, OptionSpec, Options};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::release::Publish;
use crate::report::Section;
use crate::table::{Reading, Storage, Table};
use crate::watch::Watch;
use crate::words::did_you_mean;

/// The tasks of this library.
pub static STANDARD: &[Entry] =
    &[queries::QUERIES, cube::CUBE, classify::CLASSIFY, regress::REGRESS, partition::PARTITION];

/// A task ready to run.
pub trait Task: Send + Sync {
    /// Compares table and release.
    fn run(&self, study: &Study<'_>, watch: &dyn Watch) -> Result<Outcome>;

    /// How a release is published that is made for it.
    fn publish(&self) -> Publish {
        Publish::Cells
    }
}

/// What the registry knows of a task.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line, and of its section in a policy.
    pub name: &'static str,
    /// What it tells, in a sentence.
    pub summary: &'static str,
    /// Where it was described.
    pub citation: &'static str,
    /// Its options.
    pub options: &'static [OptionSpec],
    /// Makes it ready to run.
    pub configure: fn(&Options) -> Result<Box<dyn Task>>,
}

/// A list of tasks.
#[derive(Clone, Debug)]
pub struct Tasks(Vec<Entry>);

impl Default for Tasks {
    fn default() -> Self {
        Tasks(STANDARD.to_vec())
    }
}

impl Tasks {
    /// With one more, in place of one of the same name.
    #[must_use]
    pub fn with(mut self, entry: Entry) -> Self {
        self.0.retain(|own| own.name != entry.name);
        self.0.push(entry);
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }

    /// The task of a name, or an error that says what there is.
    pub fn find(&self, name: &str) -> Result<&Entry> {
        self.0.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|entry| entry.name).collect();
            let hint = match did_you_mean(name, names.iter().copied()) {
                Some(guess) => format!("did you mean \"{guess}\"?"),
                None => format!("the tasks are {}", names.join(", ")),
            };
            Error::new(ErrorCode::UnknownTask, format!("there is no task \"{name}\"")).with_hint(hint)
        })
    }

    /// A task ready to run, its options checked.
    pub fn configure(
        &self,
        entry: &Entry,
        written: &toml::Table,
    ) -> std::result::Result<Box<dyn Task>, Mistake> {
        let declared = entry.options.iter().copied();
        let options = Options::check(&format!("the task {}", entry.name), declared, written)?;
        (entry.configure)(&options).map_err(|error| Mistake { key: String::new(), error })
    }
}

/// What can solve a problem as the policy of a study says, for tasks that learn from some records only.
pub trait Solver {
    /// Finds groups.
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution>;
}

/// Opens a table as it is to be read, from wherever it comes.
pub type Open<'a> = dyn Fn(&Reading<'_>) -> Result<Table> + 'a;

/// What a task looks at.
pub struct Study<'a> {
    /// Opens the table again, for tasks that read more of it.
    pub open: &'a Open<'a>,
    /// The table.
    pub table: &'a Table,
    /// The table under the policy.
    pub problem: &'a Problem,
    /// The policy.
    pub policy: &'a Policy,
    /// The release as published, every column coded.
    pub release: &'a Table,
    /// Its sensitive values by group, if it is one by permutation.
    pub sensitive: Option<&'a Table>,
    /// What the release's cells say of each quasi-identifier.
    pub cells: &'a Cells<'a>,
    /// The record behind each row of the release, where it was made here; nobody can tell for a file.
    pub records: Option<&'a [u32]>,
    /// What the release achieves.
    pub measures: &'a Measures,
    /// Solves other problems as the policy says.
    pub solver: &'a dyn Solver,
}

/// What a task found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The figures, as JSON.
    pub figures: serde_json::Map<String, serde_json::Value>,
    /// What a reader should take away, one sentence each.
    pub headline: Vec<String>,
    /// Words, tables and charts.
    pub sections: Vec<Section>,
    /// Tables that were asked for.
    pub exported: Vec<Exported>,
}

/// A table that a task gives away.
#[derive(Clone, Debug)]
pub struct Exported {
    /// What it is, for a file's name.
    pub name: &'static str,
    /// It, as CSV.
    pub csv: String,
}

/// Opens a table with every column coded.
pub(crate) fn read_all(open: &Open<'_>, policy: &Policy, watch: &dyn Watch) -> Result<Table> {
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    open(&policy.reading(&plan, watch))
}

/// A file named beside the policy if it is there, else from where the command runs.
pub(crate) fn beside(policy: Option<&Path>, file: &Path) -> PathBuf {
    let beside = policy.and_then(Path::parent).map(|folder| folder.join(file));
    beside.filter(|path| path.exists()).unwrap_or_else(|| file.to_owned())
}
