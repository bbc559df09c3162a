//! What a release is still good for: one that exists, or one that is made as the policy says.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::audit::{Cells, Keep, Measures, Received, audit_cells};
use crate::bind;
use crate::error::Result;
use crate::evaluate::{Entry, Exported, Open, Solver, Study, Task};
use crate::format::CSV;
use crate::method::options::Mistake;
use crate::method::{Partition, Solution};
use crate::plan::{Choices, Plan, Registry};
use crate::policy::{Policy, suggest};
use crate::problem::Problem;
use crate::release::Order;
use crate::release::permutation::sensitive_path;
use crate::report::Page;
use crate::secret::Secret;
use crate::table::{Reading, Table};
use crate::watch::Watch;

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
    /// What every lot is drawn from; fresh unless somebody brings one.
    pub secret: Option<Secret>,
    /// The methods and tasks to choose from.
    pub registry: Registry,
}

/// What an evaluation found.
///
/// ```
/// use throng::{Evaluate, Policy};
/// let folder = tempfile::tempdir().unwrap();
/// let table = folder.path().join("people.csv");
/// std::fs::write(&table, "age\n31\n34\n").unwrap();
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let evaluation = Evaluate::new(&policy).read(&table).task("queries").run()?;
/// assert_eq!((evaluation.task.as_ref(), evaluation.k), ("queries", 2));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evaluation {
    /// The task.
    pub task: Cow<'static, str>,
    /// The method that made the release, if it was made here.
    pub method: Option<String>,
    /// Achieved k.
    pub k: u64,
    /// Achieved l, where there is a sensitive attribute.
    pub l: Option<f64>,
    /// Global certainty penalty of the release.
    pub gcp: f64,
    /// Records that the release holds.
    pub rows_published: u64,
    /// Records that were left out.
    pub suppressed: u64,
    /// What the task found.
    #[serde(flatten)]
    pub figures: serde_json::Map<String, serde_json::Value>,
    /// The same as a page.
    #[serde(skip)]
    pub page: Page,
    /// Tables that were asked for, such as folds.
    #[serde(skip)]
    #[doc(hidden)]
    pub exported: Vec<Exported>,
}

/// How the tables of an evaluation are opened, from wherever they come. Some tasks open the table more than once.
pub(crate) struct Tables<'a> {
    pub table: &'a Open<'a>,
    /// Asked for only where a release is named.
    pub release: &'a Open<'a>,
    /// Its sensitive values, if it is one by permutation.
    pub sensitive: &'a Open<'a>,
}

impl Evaluate {
    /// Runs it.
    pub fn run(&self, watch: &dyn Watch) -> Result<Evaluation> {
        let release = self.release.clone().unwrap_or_default();
        let tables = Tables {
            table: &|reading: &Reading<'_>| Table::read(&self.data, reading),
            release: &|reading: &Reading<'_>| Table::read(&release, reading),
            sensitive: &|reading: &Reading<'_>| Table::read(&sensitive_path(&release), reading),
        };
        self.run_on(&tables, watch)
    }

    /// The same on tables that are opened in any way.
    pub(crate) fn run_on(&self, tables: &Tables<'_>, watch: &dyn Watch) -> Result<Evaluation> {
        let task = self.task()?;
        match &self.release {
            Some(_) => {
                let table = (tables.table)(&self.policy.reading(&bind::plan(&self.policy), watch))?;
                suggest::check_header(&table, &self.policy)?;
                let problem = Problem::new(&table, &self.policy)?;
                let received = Received::from_others(
                    &problem,
                    &self.policy,
                    Keep::All,
                    watch,
                    tables.release,
                    tables.sensitive,
                )?;
                let made = Made {
                    table: &table,
                    problem: &problem,
                    policy: &self.policy,
                    received: &received,
                    records: None,
                };
                self.study(&task, &made, tables.table, watch)
            }
            None => self.make_and_study(&task, tables.table, watch),
        }
    }

    fn task(&self) -> Result<(Entry, Box<dyn Task>)> {
        let entry = *self.registry.tasks.find(&self.task)?;
        let none = toml::Table::new();
        let written = self.policy.evaluate.get(entry.name).unwrap_or(&none);
        let task =
            self.registry.tasks.configure(&entry, written).map_err(|Mistake { key, error }| {
                match self.policy.task_option_span(entry.name, &key) {
                    Some(span) => self.policy.point(error, &span, "here"),
                    None => error,
                }
            })?;
        Ok((entry, task))
    }

    /// Makes a release in input order, so that the record of each of its rows is known.
    fn make_and_study(
        &self,
        task: &(Entry, Box<dyn Task>),
        open: &Open<'_>,
        watch: &dyn Watch,
    ) -> Result<Evaluation> {
        let choices = Choices {
            publish: task.1.publish(),
            order: Order::Keep,
            secret: self.secret.clone(),
            ..Choices::default()
        };
        let plan = Plan::new(&self.policy, &self.registry, choices)?;
        let table = open(&plan.policy().reading(&bind::plan(plan.policy()), watch))?;
        suggest::check_header(&table, plan.policy())?;
        let mut problem = plan.problem(&table)?;
        let solved = plan.solve(&mut problem, watch)?;
        let written = plan.write_in_memory(&table, &problem, &solved, &CSV, watch)?;
        let received = written.read_back(&problem, &solved.policy, Keep::All, watch)?;
        let groups = solved.solution.partition.group_of_record(problem.len());
        let kept = (0..).zip(groups).filter(|(_, group)| *group != Partition::NO_GROUP);
        let records: Vec<u32> = kept.map(|(record, _)| record).collect();
        let made = Made {
            table: &table,
            problem: &problem,
            policy: &solved.policy,
            received: &received,
            records: Some(&records),
        };
        self.study(task, &made, open, watch)
    }

    fn study(
        &self,
        (entry, task): &(Entry, Box<dyn Task>),
        made: &Made<'_>,
        open: &Open<'_>,
        watch: &dyn Watch,
    ) -> Result<Evaluation> {
        let Made { table, problem, policy, received, records } = *made;
        let measures = audit_cells(problem, policy, received, watch)?.measures;
        let release = &received.table;
        let cells = Cells::read(problem, policy, received)?;
        let study = Study {
            open,
            table,
            problem,
            policy,
            release,
            sensitive: received.sensitive.as_ref(),
            cells: &cells,
            records,
            measures: &measures,
            solver: self,
        };
        watch.stage(entry.name, None);
        let outcome = task.run(&study, watch)?;
        watch.check()?;
        let method = self.release.is_none().then(|| self.policy.method.name.clone());
        Ok(Evaluation {
            task: entry.name.into(),
            k: measures.k,
            l: measures.l,
            gcp: measures.gcp,
            rows_published: measures.rows_published,
            suppressed: measures.suppressed,
            page: Page {
                over: format!("Evaluation: {}", entry.name),
                private: true,
                title: self.data.display().to_string(),
                subtitle: subtitle(method.as_deref(), self.release.as_deref(), &measures),
                headline: outcome.headline,
                sections: outcome.sections,
            },
            method,
            figures: outcome.figures,
            exported: outcome.exported,
        })
    }
}

/// A table with a release.
struct Made<'a> {
    table: &'a Table,
    problem: &'a Problem,
    /// What the release is held to.
    policy: &'a Policy,
    received: &'a Received,
    /// The record behind each row, where that is known.
    records: Option<&'a [u32]>,
}

impl Solver for Evaluate {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let choices = Choices { secret: self.secret.clone(), ..Choices::default() };
        let plan = Plan::new(&self.policy, &self.registry, choices)?;
        plan.find(problem, watch).map(|(solution, _)| solution)
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
