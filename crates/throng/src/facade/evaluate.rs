//! What a release is still good for.

use super::{Data, given};
use crate::error::Result;
use crate::plan::Registry;
use crate::policy::Policy;
use crate::run::{self, Evaluation, Tables};
use crate::secret::Secret;
use crate::table::{Reading, Table};
use crate::watch::{Unwatched, Watch};

/// Tells what a release is still good for: `queries`, `cube`, `classify` or `partition`.
///
/// ```
/// use throng::{Data, Evaluate, Policy};
///
/// let policy = Policy::builder().k(2).quasi("age").seed(1).build()?;
/// let evaluation = Evaluate::new(&policy).read(Data::csv("age\n31\n34\n56\n58\n")).task("queries").run()?;
/// assert!(evaluation.k >= 2);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing runs before `run`"]
pub struct Evaluate<'a> {
    policy: Policy,
    data: Option<Data>,
    release: Option<Data>,
    sensitive: Option<Data>,
    task: Option<String>,
    secret: Option<Secret>,
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
            sensitive: None,
            task: None,
            secret: None,
            registry: Registry::default(),
            watch: &Unwatched,
        }
    }

    /// The table.
    pub fn read(self, data: impl Into<Data>) -> Self {
        Evaluate { data: Some(data.into()), ..self }
    }

    /// The release; without it one is made as the policy says.
    pub fn release(self, release: impl Into<Data>) -> Self {
        Evaluate { release: Some(release.into()), ..self }
    }

    /// The sensitive values by group of a release by permutation; beside a file they are found by themselves.
    pub fn sensitive(self, data: impl Into<Data>) -> Self {
        Evaluate { sensitive: Some(data.into()), ..self }
    }

    /// What the release is wanted for.
    pub fn task(self, name: impl Into<String>) -> Self {
        Evaluate { task: Some(name.into()), ..self }
    }

    /// What every lot is drawn from, to repeat the figures; fresh unless this brings one.
    pub fn secret(self, secret: Secret) -> Self {
        Evaluate { secret: Some(secret), ..self }
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
        let data = given("the table", "read(…)", &self.data)?;
        let evaluate = run::Evaluate {
            secret: self.secret,
            data: data.name().to_owned(),
            task: given("the task", "task(…)", &self.task)?.clone(),
            policy: self.policy,
            release: self.release.as_ref().map(|release| release.name().to_owned()),
            registry: self.registry,
        };
        let sensitive = || given("the table of sensitive values", "sensitive(…)", &self.sensitive);
        evaluate.run_on(
            &Tables {
                table: &|reading: &Reading<'_>| data.open(reading),
                release: &|reading: &Reading<'_>| {
                    given("the release", "release(…)", &self.release)?.open(reading)
                },
                sensitive: &|reading: &Reading<'_>| match self.release.as_ref().and_then(Data::path) {
                    Some(path) if self.sensitive.is_none() => {
                        Table::read(&run::sensitive_path(path), reading)
                    }
                    _ => sensitive()?.open(reading),
                },
            },
            self.watch,
        )
    }
}

impl std::fmt::Debug for Evaluate<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Evaluate").field("policy", &self.policy.text).finish_non_exhaustive()
    }
}
