//! From a table and a policy to a release.

use std::path::Path;

use super::finished::Ready;
use super::{Data, given};
use crate::bind;
use crate::error::Result;
use crate::plan::{Choices, Plan, Registry};
use crate::policy::Policy;
use crate::release::Publish;
use crate::run::{Clock, check_outputs};
use crate::watch::{Unwatched, Watch};

/// Turns a table into a release that meets a policy.
///
/// Whatever the method found, the release is read back and audited before anyone gets it. What nobody chooses is chosen
/// here: the method by the policy or by requirement, size and time; the seed and the secret by the system's randomness.
///
/// ```
/// use throng::{Anonymize, Data, Order, Policy};
///
/// let policy = Policy::builder().k(2).identifier("name").quasi("age").sensitive("illness").build()?;
/// let table = Data::csv("name,age,illness\nAda,31,flu\nBen,34,cold\nCleo,56,flu\nDan,58,gout\n");
/// let done = Anonymize::new(&policy).read(table).method("mondrian").seed(7).order(Order::Keep).to_csv()?;
/// assert_eq!(done.release, "age,illness\n[31-34],flu\n[31-34],cold\n[56-58],flu\n[56-58],gout\n");
/// assert_eq!(done.report.measures.k, 2);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing runs before `write` or `to_…`"]
pub struct Anonymize<'a> {
    policy: Policy,
    data: Option<Data>,
    method: Option<String>,
    seed: Option<u64>,
    choices: Choices,
    registry: Registry,
    watch: &'a dyn Watch,
}

impl<'a> Anonymize<'a> {
    /// A run under a policy.
    pub fn new(policy: &Policy) -> Self {
        Anonymize {
            policy: policy.clone(),
            data: None,
            method: None,
            seed: None,
            choices: Choices::default(),
            registry: Registry::default(),
            watch: &Unwatched,
        }
    }

    /// The table.
    pub fn read(self, data: impl Into<Data>) -> Self {
        Anonymize { data: Some(data.into()), ..self }
    }

    /// Another method than the policy's.
    pub fn method(self, name: impl Into<String>) -> Self {
        Anonymize { method: Some(name.into()), ..self }
    }

    /// The seed of all that may be repeated; drawn if neither the policy nor this gives one.
    pub fn seed(self, seed: u64) -> Self {
        Anonymize { seed: Some(seed), ..self }
    }

    /// How quasi-identifiers are written; as cells unless this says otherwise.
    pub fn publish(mut self, publish: Publish) -> Self {
        self.choices.publish = publish;
        self
    }

    /// Seconds for the method and the lower bound together. What a search finds may then differ from run to run.
    pub fn seconds(mut self, seconds: f64) -> Self {
        self.choices.seconds = Some(seconds);
        self
    }

    /// The methods to choose from, for methods of your own.
    pub fn registry(self, registry: Registry) -> Self {
        Anonymize { registry, ..self }
    }

    /// An error if a file would destroy what the run reads.
    fn check_file(&self, path: &Path) -> Result<()> {
        let data = self.data.as_ref().and_then(Data::path);
        data.map_or(Ok(()), |data| {
            check_outputs(data, Some(&self.policy), path, Publish::Permutation).map(|_| ())
        })
    }

    fn ready(&self) -> Result<Ready<'_>> {
        let mut clock = Clock::start();
        let data = given("the table to anonymize", "read(…)", &self.data)?;
        let mut policy = self.policy.clone();
        if let Some(name) = &self.method {
            policy = policy.with_method(name)?;
        }
        if let Some(seed) = self.seed {
            policy = policy.with_seed(seed);
        }
        let plan = Plan::new(&policy, &self.registry, self.choices.clone())?;
        let table = data.open(&plan.policy().reading(&bind::plan(plan.policy()), self.watch))?;
        clock.lap("read");
        Ok(Ready::new(plan, table, data, clock, self.watch))
    }
}

super::finished::outputs!(Anonymize);

impl std::fmt::Debug for Anonymize<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Anonymize").field("policy", &self.policy.text).finish_non_exhaustive()
    }
}
