//! The studio: a project joined with the open table, long work and what it found.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use throng::as_is::{self, Again};
use throng::plan::Registry;
use throng::problem::Problem;
use throng::report::{Comparison, Report};
use throng::risk::{self, Background};
use throng::run::{self, Bounded, Looked, Trials};
use throng::{Error, ErrorCode, Policy, Result, RiskReport, Secret, Watch};

use crate::Options;
use crate::cells;
use crate::folder::Folder;
use crate::gate::Gate;
use crate::opened::Opened;
use crate::project::Project;
use crate::work::{Kind, Newest, Work, Works, lock};

/// The file of the secret of a project whose releases can be repeated byte for byte.
pub const SECRET: &str = "studio.secret";
/// Results that are kept.
const MOST_RESULTS: usize = 6;
/// Of these so many with their cells.
const MOST_CELLS: usize = 2;
/// Evaluations that are kept.
const MOST_EVALUATIONS: usize = 24;

/// Everything.
pub struct Studio {
    pub gate: Gate,
    pub folder: Folder,
    pub works: Works,
    project: Mutex<Project>,
    opened: Mutex<Option<Arc<Opened>>>,
    risk: Mutex<Option<(String, Arc<TableRisk>)>>,
    /// What the risk was asked for last.
    risk_asked: Mutex<String>,
    risk_turn: Mutex<()>,
    trials: Mutex<Option<(String, Trials)>>,
    frontier: Mutex<Option<Arc<Frontier>>>,
    results: Mutex<Vec<Arc<Made>>>,
    evaluations: Mutex<Vec<Arc<Evaluated>>>,
    published: Mutex<Option<Arc<Published>>>,
    /// What releases are drawn from while the project has no secret of its own.
    secret: Secret,
}

/// The risk of the table under a policy.
pub struct TableRisk {
    pub risk: RiskReport,
    pub again: Vec<Again>,
}

/// Loss over k.
#[derive(Serialize, Deserialize)]
pub struct Frontier {
    /// The table and policy it was computed for, k and method left out.
    pub key: String,
    pub comparison: Comparison,
    /// Whether all of it is there.
    pub complete: bool,
    /// What else was measured of each release.
    #[serde(default)]
    pub errors: Vec<TaskError>,
}

/// How far a task is off with a release.
#[derive(Clone, Serialize, Deserialize)]
pub struct TaskError {
    pub task: String,
    pub method: String,
    pub k: usize,
    pub error: f64,
}

/// A release to be looked at.
pub struct Made {
    pub kept: KeptResult,
    /// Its cells, while they are in memory.
    pub looked: Option<Looked>,
    /// Whether they were read again: a release that is written now would be drawn from another secret.
    pub restored: bool,
}

impl Made {
    fn without_cells(kept: KeptResult) -> Arc<Self> {
        Arc::new(Made { kept, looked: None, restored: false })
    }
}

/// What is kept of a release that was looked at.
#[derive(Clone, Serialize, Deserialize)]
pub struct KeptResult {
    pub number: u64,
    /// The table and policy that it was made from.
    pub fingerprint: String,
    pub report: Report,
    pub has_recipe: bool,
    pub has_certificate: bool,
    /// What the table was recognised by.
    #[serde(default)]
    pub table: Option<String>,
}

/// What a release is still good for.
#[derive(Serialize, Deserialize)]
pub struct Evaluated {
    pub task: String,
    pub fingerprint: String,
    pub headline: Vec<String>,
    pub markup: String,
}

/// Files that were published.
#[derive(Clone, Serialize, Deserialize)]
pub struct Published {
    pub fingerprint: String,
    pub files: Vec<PublishedFile>,
    pub headline: String,
}

/// One of them.
#[derive(Clone, Serialize, Deserialize)]
pub struct PublishedFile {
    pub name: String,
    pub what: String,
    pub bytes: u64,
    pub hash: String,
}

impl Studio {
    /// Opens the project.
    pub fn open(options: &Options, gate: Gate) -> Result<Self> {
        let folder = Folder::open(&options.folder)?;
        let project = Project::open(&folder, options.table.as_deref(), options.policy.as_deref())?;
        let kept = |name: &str| std::fs::read(project.beside(name)).ok();
        let frontier: Option<Frontier> =
            kept("frontier.json").and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let results: Vec<KeptResult> =
            kept("results.json").and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let evaluations: Vec<Evaluated> = kept("evaluations.json")
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let published: Option<Published> =
            kept("published.json").and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Studio {
            gate,
            folder,
            works: Works::new(),
            project: Mutex::new(project),
            opened: Mutex::default(),
            risk: Mutex::default(),
            risk_asked: Mutex::default(),
            risk_turn: Mutex::default(),
            trials: Mutex::default(),
            frontier: Mutex::new(frontier.map(Arc::new)),
            results: Mutex::new(results.into_iter().map(Made::without_cells).collect()),
            evaluations: Mutex::new(evaluations.into_iter().map(Arc::new).collect()),
            published: Mutex::new(published.map(Arc::new)),
            secret: Secret::fresh()?,
        })
    }

    /// Looks at the project, or changes it.
    pub fn project<T>(&self, look: impl FnOnce(&mut Project) -> T) -> T {
        let mut project = lock(&self.project);
        project.look();
        let before = project.revision;
        let outcome = look(&mut project);
        if project.revision != before {
            self.works.moved().tell();
        }
        outcome
    }

    /// The open table, if it is read.
    pub fn opened(&self) -> Option<Arc<Opened>> {
        lock(&self.opened).clone()
    }

    /// The open table, or what to do.
    pub fn needs_table(&self) -> Result<Arc<Opened>> {
        self.opened().ok_or_else(|| {
            Error::new(ErrorCode::FileNotFound, "no table is open")
                .with_hint("open one on the screen \"Table\"")
        })
    }

    /// Starts to read the project's table.
    pub fn read_table(self: &Arc<Self>) {
        let Some(name) = self.project(|project| project.table().map(str::to_owned)) else { return };
        let own = self.clone();
        *lock(&self.opened) = None;
        self.works.start(Kind::Open, move |work| {
            let path = own.folder.existing(&name)?;
            let policy = own.project(|project| project.policy().ok());
            let opened = Arc::new(Opened::read(&name, &path, policy.as_ref(), work)?);
            work.check()?;
            *lock(&own.opened) = Some(opened.clone());
            own.project(|project| match project.text() {
                Some(_) => Ok(()),
                None => project.change("first policy", &opened.suggestion.text, &[]),
            })?;
            own.restore_cells(&opened.path, work)
        });
    }

    /// Reads the cells of results that an earlier studio has made of the table as it still is.
    fn restore_cells(&self, table: &Path, watch: &dyn Watch) -> Result<()> {
        let mark = cells::mark(table);
        let wanted = |made: &&Arc<Made>| made.looked.is_none() && mark.is_some() && made.kept.table == mark;
        let all: Vec<KeptResult> =
            self.results().iter().filter(wanted).map(|made| made.kept.clone()).collect();
        for kept in all.into_iter().rev().take(MOST_CELLS) {
            let beside = |name: &str| self.project(|project| project.beside(name));
            let Some(looked) = cells::restore(beside, &kept, watch) else { continue };
            watch.check()?;
            let mut results = lock(&self.results);
            if let Some(made) = results.iter_mut().find(|made| made.kept.number == kept.number)
                && made.looked.is_none()
            {
                *made = Arc::new(Made { kept, looked: Some(looked), restored: true });
            }
        }
        self.works.moved().tell();
        Ok(())
    }

    /// The risk of the table as it stands. A newer question stops an older one.
    pub fn risk(&self) -> Result<Arc<TableRisk>> {
        let (policy, key) = self.project(|project| (project.policy(), project.fingerprint()));
        let (policy, opened) = (policy?, self.needs_table()?);
        if let Some((known, risk)) = &*lock(&self.risk)
            && *known == key
        {
            return Ok(risk.clone());
        }
        lock(&self.risk_asked).clone_from(&key);
        let _turn = lock(&self.risk_turn);
        // Somebody else may have asked the same meanwhile.
        if let Some((known, risk)) = &*lock(&self.risk)
            && *known == key
        {
            return Ok(risk.clone());
        }
        let watch = Newest { asked: &self.risk_asked, own: &key };
        watch.check()?;
        let problem = Problem::new(&opened.table, &policy)?;
        let mut risk = risk::measure(&problem, &policy.missing, Background::Itself, &watch)?;
        risk.published_as_is = Some(as_is::of_table(&opened.table, &problem, &policy));
        let again = as_is::says_again(&opened.table, &policy);
        let risk = Arc::new(TableRisk { risk, again });
        *lock(&self.risk) = Some((key, risk.clone()));
        Ok(risk)
    }

    /// What releases are drawn from.
    pub fn secret(&self) -> Result<Secret> {
        match self.project(|project| project.repeatable()) {
            true => Secret::read(&self.folder.existing(SECRET)?),
            false => Ok(self.secret.clone()),
        }
    }

    /// What trials depend on: the table and the policy but for k, method and seed.
    pub fn trial_key(&self) -> Result<String> {
        let (text, table) = self.project(|project| {
            (project.text().unwrap_or_default().to_owned(), project.table().unwrap_or_default().to_owned())
        });
        let mut text = crate::edit::Text::parse(&text)?;
        text.key("privacy", "k", None)?;
        text.key("method", "name", None)?;
        text.key("method", "seed", None)?;
        Ok(blake3::hash(format!("{table}\n{}", text.finish()).as_bytes()).to_hex().to_string())
    }

    /// Runs something on the table as trials hold it.
    pub fn try_out<T>(
        &self,
        policy: &Policy,
        watch: &dyn Watch,
        run: impl FnOnce(&mut Trials) -> Result<T>,
    ) -> Result<T> {
        let (key, opened) = (self.trial_key()?, self.needs_table()?);
        let mut trials = lock(&self.trials);
        let known = trials.take().filter(|(known, _)| *known == key);
        let (key, mut own) = match known {
            Some(known) => known,
            None => {
                (key, Trials::open(&opened.path, policy, Some(self.secret()?), Registry::default(), watch)?)
            }
        };
        let outcome = run(&mut own);
        *trials = Some((key, own));
        outcome
    }

    /// Compares methods and k in the background.
    pub fn compare(self: &Arc<Self>, methods: Vec<String>, ks: Vec<usize>, also: Option<&str>) -> Result<()> {
        let policy = self.project(|project| project.policy())?;
        let (own, key, opened) = (self.clone(), self.trial_key()?, self.needs_table()?);
        *lock(&self.frontier) = None;
        let also = also.map(str::to_owned);
        self.works.start(Kind::Frontier, move |work| {
            let mut trials =
                Trials::open(&opened.path, &policy, Some(own.secret()?), Registry::default(), work)?;
            let (mut runs, mut errors) = (Vec::new(), Vec::new());
            for k in &ks {
                for method in &methods {
                    let policy = policy.clone().with_k(*k)?.with_method(method)?;
                    let run = trials.run(&policy, Bounded::Yes, work)?;
                    if let Some(task) = also.as_deref().filter(|_| run.report.is_some()) {
                        let error = own.task_error(task, &policy, &opened.path, work)?;
                        let (task, method, k) = (task.to_owned(), method.clone(), *k);
                        errors.extend(error.map(|error| TaskError { task, method, k, error }));
                    }
                    runs.push(run);
                    let comparison = trials.comparison(runs.clone(), Vec::new(), &policy);
                    let complete = runs.len() == ks.len() * methods.len();
                    let frontier =
                        Arc::new(Frontier { key: key.clone(), comparison, complete, errors: errors.clone() });
                    *lock(&own.frontier) = Some(frontier);
                    work.tell();
                }
            }
            own.keep_frontier()
        });
        Ok(())
    }

    /// How far a task is off with a release of a policy, as its evaluation tells.
    fn task_error(&self, task: &str, policy: &Policy, data: &Path, watch: &dyn Watch) -> Result<Option<f64>> {
        let evaluate = run::Evaluate {
            data: data.to_owned(),
            policy: policy.clone(),
            release: None,
            task: task.to_owned(),
            secret: Some(self.secret()?),
            registry: Registry::default(),
        };
        let figures = evaluate.run(watch)?.figures;
        let mean = figures.get("mean_error").and_then(serde_json::Value::as_f64);
        let tree = || figures.get("tree")?.get("anonymity_error")?.as_f64();
        Ok(mean.or_else(tree).filter(|error| error.is_finite()))
    }

    fn keep_frontier(&self) -> Result<()> {
        let frontier = lock(&self.frontier).clone();
        frontier.map_or(Ok(()), |frontier| self.keep("frontier.json", &*frontier))
    }

    /// Loss over k, if it was computed for the policy as it is.
    pub fn frontier(&self) -> Option<Arc<Frontier>> {
        let key = self.trial_key().ok()?;
        lock(&self.frontier).clone().filter(|frontier| frontier.key == key)
    }

    /// Makes a release to look at, in the background.
    pub fn make(self: &Arc<Self>) -> Result<()> {
        let (policy, fingerprint) = self.project(|project| (project.policy(), project.fingerprint()));
        let (policy, opened, own) = (policy?, self.needs_table()?, self.clone());
        self.works.start(Kind::Result, move |work| {
            let table = cells::mark(&opened.path);
            let looked = run::look(&opened.path, &policy, own.secret()?, &Registry::default(), work)?;
            own.add_result((fingerprint, table), looked)
        });
        Ok(())
    }

    fn add_result(&self, (fingerprint, table): (String, Option<String>), looked: Looked) -> Result<()> {
        let mut results = lock(&self.results);
        let number = results.iter().map(|made| made.kept.number).max().unwrap_or(0) + 1;
        results.retain(|made| made.kept.fingerprint != fingerprint);
        let kept = KeptResult {
            number,
            fingerprint,
            report: looked.report.clone(),
            has_recipe: looked.has_recipe,
            has_certificate: looked.has_certificate,
            table,
        };
        let made = Arc::new(Made { kept, looked: Some(looked), restored: false });
        results.push(made.clone());
        let surplus = results.len().saturating_sub(MOST_RESULTS);
        results.drain(..surplus);
        let from = results.len().saturating_sub(MOST_CELLS);
        for made in &mut results[..from] {
            *made = Made::without_cells(made.kept.clone());
        }
        let all: Vec<KeptResult> = results.iter().map(|made| made.kept.clone()).collect();
        drop(results);
        let with_cells: Vec<u64> = all.iter().rev().take(MOST_CELLS).map(|kept| kept.number).collect();
        self.project(|project| {
            cells::forget_but(project, &with_cells);
            made.looked.as_ref().map_or(Ok(()), |looked| cells::keep(project, number, looked))
        })?;
        self.keep("results.json", &all)
    }

    /// The releases that were looked at, oldest first.
    pub fn results(&self) -> Vec<Arc<Made>> {
        lock(&self.results).clone()
    }

    /// Forgets the cells of all results, which were drawn from another secret.
    pub fn forget_cells(&self) {
        for made in &mut *lock(&self.results) {
            *made = Made::without_cells(made.kept.clone());
        }
        self.project(|project| cells::forget_but(project, &[]));
        *lock(&self.trials) = None;
    }

    /// Whether a release that is written now is the one that was looked at.
    pub fn is_current(&self, made: &Made) -> bool {
        made.looked.is_some() && (!made.restored || self.project(|project| project.repeatable()))
    }

    /// The release of the policy as it is.
    pub fn result(&self) -> Option<Arc<Made>> {
        let fingerprint = self.project(|project| project.fingerprint());
        self.results().into_iter().find(|made| made.kept.fingerprint == fingerprint)
    }

    /// Asks what a release under the policy is good for, in the background.
    pub fn evaluate(self: &Arc<Self>, task: &str) -> Result<()> {
        let (policy, fingerprint) = self.project(|project| (project.policy(), project.fingerprint()));
        let (opened, own) = (self.needs_table()?, self.clone());
        let evaluate = run::Evaluate {
            data: opened.path.clone(),
            policy: policy?,
            release: None,
            task: task.to_owned(),
            secret: Some(self.secret()?),
            registry: Registry::default(),
        };
        self.works.start(Kind::Evaluate, move |work| {
            let found = evaluate.run(work)?;
            let (headline, markup) = throng::report::pieces::page(&found.page)?;
            let mut all = lock(&own.evaluations);
            all.retain(|known| known.task != evaluate.task || known.fingerprint != fingerprint);
            all.push(Arc::new(Evaluated { task: evaluate.task.clone(), fingerprint, headline, markup }));
            let surplus = all.len().saturating_sub(MOST_EVALUATIONS);
            all.drain(..surplus);
            let kept = all.clone();
            drop(all);
            own.keep("evaluations.json", &kept.iter().map(|known| &**known).collect::<Vec<&Evaluated>>())
        });
        Ok(())
    }

    /// What is known of what the release is good for.
    pub fn evaluations(&self) -> Vec<Arc<Evaluated>> {
        let fingerprint = self.project(|project| project.fingerprint());
        lock(&self.evaluations).iter().filter(|known| known.fingerprint == fingerprint).cloned().collect()
    }

    /// Runs a publication in the background.
    pub fn publish(self: &Arc<Self>, run: impl FnOnce(&Studio, &Work) -> Result<Published> + Send + 'static) {
        let own = self.clone();
        self.works.start(Kind::Publish, move |work| {
            let published = run(&own, work)?;
            own.keep("published.json", &published)?;
            *lock(&own.published) = Some(Arc::new(published));
            Ok(())
        });
    }

    /// What was published last.
    pub fn published(&self) -> Option<Arc<Published>> {
        lock(&self.published).clone()
    }

    fn keep(&self, name: &str, what: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec(what)
            .map_err(|cause| Error::bug(format!("what was found cannot be kept: {cause}")))?;
        self.project(|project| project.keep(name, &json))
    }
}
