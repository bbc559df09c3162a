//! What a release is still good for.

use std::path::PathBuf;

use super::given;
use crate::error::Result;
use crate::plan::Registry;
use crate::policy::Policy;
use crate::run::{self, Evaluation};
use crate::watch::{Unwatched, Watch};

/// Tells what a release is still good for: `queries`, `cube`, `classify` or `partition`. Some tasks read the table
/// more than once, so it must be a file.
///
/// ```
/// use throng::{Evaluate, Policy};
///
/// let folder = tempfile::tempdir()?;
/// let table = folder.path().join("people.csv");
/// std::fs::write(&table, "age\n31\n34\n56\n58\n")?;
/// let policy = Policy::builder().k(2).quasi("age").seed(1).build()?;
/// let evaluation = Evaluate::new(&policy).read(&table).task("queries").run()?;
/// assert!(evaluation.k >= 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing runs before `run`"]
pub struct Evaluate<'a> {
    policy: Policy,
    data: Option<PathBuf>,
    release: Option<PathBuf>,
    task: Option<String>,
    registry: Registry,
    watch: &'a dyn Watch,
}

impl<'a> Evaluate<'a> {
    /// An evaluation under a policy.
    pub fn new(policy: &Policy) -> Self {
        Evaluate {
            policy: policy.clone(),
            data: None,
            release: None,
            task: None,
            registry: Registry::default(),
            watch: &Unwatched,
        }
    }

    /// The table, a file.
    pub fn read(self, data: impl Into<PathBuf>) -> Self {
        Evaluate { data: Some(data.into()), ..self }
    }

    /// The release, a file; without it one is made as the policy says.
    pub fn release(self, release: impl Into<PathBuf>) -> Self {
        Evaluate { release: Some(release.into()), ..self }
    }

    /// What the release is wanted for.
    pub fn task(self, name: impl Into<String>) -> Self {
        Evaluate { task: Some(name.into()), ..self }
    }

    /// The methods and tasks to choose from, for some of your own.
    pub fn registry(self, registry: Registry) -> Self {
        Evaluate { registry, ..self }
    }

    /// Who watches the work and may stop it.
    pub fn watch(self, watch: &'a dyn Watch) -> Self {
        Evaluate { watch, ..self }
    }

    /// Runs it.
    pub fn run(self) -> Result<Evaluation> {
        let evaluate = run::Evaluate {
            secret: None,
            data: given("the table", "read(…)", &self.data)?.clone(),
            task: given("the task", "task(…)", &self.task)?.clone(),
            policy: self.policy,
            release: self.release,
            registry: self.registry,
        };
        evaluate.run(self.watch)
    }
}

impl std::fmt::Debug for Evaluate<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Evaluate").field("policy", &self.policy.text).finish_non_exhaustive()
    }
}
