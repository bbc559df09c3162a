//! What a release is still good for: the registry of tasks.
//!
//! A task compares what somebody would learn from the table with what they learn from the release. It sees the
//! release as its recipients do, read back from the published file. To add one: a file or folder here with an
//! [`Entry`], and one line in [`TASKS`].

pub mod classify;
pub mod cube;
pub mod partition;
pub mod queries;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::audit::{Cells, Measures, audit_cells};
use crate::error::{Error, Result, did_you_mean};
use crate::method::{Options, Partition};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::release::{Order, Output, Publish, Release};
use crate::report::{Page, Section};
use crate::run;
use crate::table::{Reading, Storage, Table};
use crate::watch::Watch;

/// All tasks.
pub static TASKS: &[Entry] = &[queries::QUERIES, cube::CUBE, classify::CLASSIFY, partition::PARTITION];

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
pub struct Entry {
    /// Its name on the command line, and of its section in a policy.
    pub name: &'static str,
    /// What it tells, in a sentence.
    pub summary: &'static str,
    /// Where it was described.
    pub citation: &'static str,
    /// Reads its options.
    pub configure: fn(&mut Options<'_>) -> Result<Box<dyn Task>>,
}

impl Entry {
    /// The task of a name, or an error that says what there is.
    pub fn find(name: &str) -> Result<&'static Entry> {
        TASKS.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = TASKS.iter().map(|entry| entry.name).collect();
            let hint = match did_you_mean(name, names.iter().copied()) {
                Some(guess) => format!("did you mean \"{guess}\"?"),
                None => format!("the tasks are {}", names.join(", ")),
            };
            Error::input(format!("there is no task \"{name}\"")).with_hint(hint)
        })
    }
}

/// What a task looks at.
pub struct Study<'a> {
    /// Where the table came from, for tasks that read more of it.
    pub data: &'a Path,
    /// The table.
    pub table: &'a Table,
    /// The table under the policy.
    pub problem: &'a Problem,
    /// The policy.
    pub policy: &'a Policy,
    /// The release as published, every column coded.
    pub release: &'a Table,
    /// What the release's cells say of each quasi-identifier.
    pub cells: &'a Cells<'a>,
    /// The record behind each row of the release, where it was made here; nobody can tell for a file.
    pub records: Option<&'a [u32]>,
    /// What the release achieves.
    pub measures: &'a Measures,
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
}

/// What to evaluate.
#[derive(Clone, Debug)]
pub struct Evaluate {
    /// The table, or `-`.
    pub data: PathBuf,
    /// The policy, overrides applied.
    pub policy: Policy,
    /// The release; without it one is made as the policy says.
    pub release: Option<PathBuf>,
    /// Name of the task.
    pub task: String,
}

/// What an evaluation found.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// The task.
    pub task: &'static str,
    /// The method that made the release, if it was made here.
    pub method: Option<String>,
    /// Achieved k.
    pub k: u64,
    /// Achieved l, where there is a sensitive attribute.
    pub l: Option<f64>,
    /// Global certainty penalty of the release.
    pub gcp: f64,
    /// What the task found.
    #[serde(flatten)]
    pub figures: serde_json::Map<String, serde_json::Value>,
    /// The same as a page.
    #[serde(skip)]
    pub page: Page,
}

impl Evaluate {
    /// Runs it.
    pub fn run(&self, watch: &dyn Watch) -> Result<Evaluation> {
        let task = self.task()?;
        let table = run::read(&self.data, &self.policy, watch)?;
        let problem = Problem::new(&table, &self.policy)?;
        match &self.release {
            Some(release) => self.study(&task, &table, &problem, release, None, watch),
            None => {
                let fail = |cause: std::io::Error| Error::io("write", &std::env::temp_dir(), &cause);
                let folder = tempfile::tempdir().map_err(fail)?;
                let file = folder.path().join("release.csv");
                let records = self.publish(&table, &problem, &file, task.1.publish(), watch)?;
                self.study(&task, &table, &problem, &file, Some(&records), watch)
            }
        }
    }

    fn task(&self) -> Result<(&'static Entry, Box<dyn Task>)> {
        let entry = Entry::find(&self.task)?;
        let none = toml::Table::new();
        let written = self.policy.evaluate.get(entry.name).unwrap_or(&none);
        let mut options = Options::new(format!("the task {}", entry.name), written);
        let point = |error: Error, key: &str| match self.policy.task_option_span(entry.name, key) {
            Some(span) => self.policy.point(error, &span, "here"),
            None => error,
        };
        let task = (entry.configure)(&mut options).map_err(|error| point(error, ""))?;
        match options.unknown() {
            Some((unknown, error)) => Err(point(error, unknown)),
            None => Ok((entry, task)),
        }
    }

    /// Makes a release in input order; gives back the record of each of its rows.
    fn publish(
        &self,
        table: &Table,
        problem: &Problem,
        file: &Path,
        publish: Publish,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>> {
        let solution = run::solve(problem, &self.policy, watch)?;
        let publish = if run::method(&self.policy)?.permutes() { Publish::Permutation } else { publish };
        let release = Release::new(table, problem, &self.policy, &solution, publish, Order::Keep)?;
        let (output, beside) = run::write_release(&release, file, publish, watch)?;
        beside.map_or(Ok(()), Output::publish)?;
        output.publish()?;
        let groups = solution.partition.group_of_record(problem.len());
        Ok((0..).zip(groups).filter(|(_, group)| *group != Partition::NO_GROUP).map(|(at, _)| at).collect())
    }

    fn study(
        &self,
        (entry, task): &(&'static Entry, Box<dyn Task>),
        table: &Table,
        problem: &Problem,
        file: &Path,
        records: Option<&[u32]>,
        watch: &dyn Watch,
    ) -> Result<Evaluation> {
        let measures = audit_cells(problem, &self.policy, file, watch)?.measures;
        let release = read_all(file, &self.policy, watch)?;
        let cells = Cells::read(problem, &self.policy, &release)?;
        let study = Study {
            data: &self.data,
            table,
            problem,
            policy: &self.policy,
            release: &release,
            cells: &cells,
            records,
            measures: &measures,
        };
        watch.stage(entry.name, None);
        let outcome = task.run(&study, watch)?;
        watch.check()?;
        let method = self.release.is_none().then(|| self.policy.method.name.clone());
        Ok(Evaluation {
            task: entry.name,
            k: measures.k,
            l: measures.l,
            gcp: measures.gcp,
            page: Page {
                over: format!("Evaluation: {}", entry.name),
                title: self.data.display().to_string(),
                subtitle: subtitle(method.as_deref(), self.release.as_deref(), &measures),
                headline: outcome.headline,
                sections: outcome.sections,
            },
            method,
            figures: outcome.figures,
        })
    }
}

fn subtitle(method: Option<&str>, release: Option<&Path>, measures: &Measures) -> String {
    let made = match (method, release) {
        (Some(method), _) => method.to_owned(),
        (None, Some(release)) => release.display().to_string(),
        (None, None) => String::new(),
    };
    format!("{made} · k = {} · GCP {:.4}", measures.k, measures.gcp)
}

/// Reads a file with every column coded.
pub(crate) fn read_all(path: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Table> {
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let missing = policy.missing.first().map_or("", String::as_str);
    Table::read(&Reading { path, missing, plan: &plan, watch })
}

/// A file named beside the policy if it is there, else from where the command runs.
pub(crate) fn beside(policy: Option<&Path>, file: &Path) -> PathBuf {
    let beside = policy.and_then(Path::parent).map(|folder| folder.join(file));
    beside.filter(|path| path.exists()).unwrap_or_else(|| file.to_owned())
}
