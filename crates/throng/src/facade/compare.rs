//! Several methods and several k side by side.

use super::{Data, given};
use crate::bind;
use crate::error::Result;
use crate::plan::Registry;
use crate::policy::Policy;
use crate::report::Comparison;
use crate::run;
use crate::secret::Secret;
use crate::watch::{Unwatched, Watch};

/// Runs several methods and values of k on one table.
///
/// ```
/// use throng::{Compare, Data, Policy};
///
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let table = Data::csv("age\n31\n34\n56\n58\n");
/// let comparison = Compare::new(&policy).read(table).methods(["mondrian", "hilbert"]).k([2, 4]).run()?;
/// assert_eq!(comparison.runs.len(), 4);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing runs before `run`"]
pub struct Compare<'a> {
    policy: Policy,
    data: Option<Data>,
    methods: Vec<String>,
    ks: Vec<usize>,
    secret: Option<Secret>,
    queries: bool,
    registry: Registry,
    watch: &'a dyn Watch,
}

impl<'a> Compare<'a> {
    /// A comparison under a policy, whose method and k are replaced.
    pub fn new(policy: &Policy) -> Self {
        Compare {
            policy: policy.clone(),
            data: None,
            methods: Vec::new(),
            ks: Vec::new(),
            secret: None,
            queries: false,
            registry: Registry::default(),
            watch: &Unwatched,
        }
    }

    /// The table.
    pub fn read(self, data: impl Into<Data>) -> Self {
        Compare { data: Some(data.into()), ..self }
    }

    /// The methods; by default all that group records and take the requirement.
    pub fn methods<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        Compare { methods: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// The values of k; by default the policy's own requirement.
    pub fn k(self, ks: impl IntoIterator<Item = usize>) -> Self {
        Compare { ks: ks.into_iter().collect(), ..self }
    }

    /// What every lot is drawn from, to repeat the figures; fresh unless this brings one.
    pub fn secret(self, secret: Secret) -> Self {
        Compare { secret: Some(secret), ..self }
    }

    /// Asks too how far COUNT queries on each release are off, on average.
    pub fn with_queries(self) -> Self {
        Compare { queries: true, ..self }
    }

    /// The methods to choose from, for methods of your own.
    pub fn registry(self, registry: Registry) -> Self {
        Compare { registry, ..self }
    }

    /// Who watches the work and may stop it.
    pub fn watch(self, watch: &'a dyn Watch) -> Self {
        Compare { watch, ..self }
    }

    /// Runs every combination. What a method refuses is told with its reason; it is an error only if nothing ran.
    pub fn run(self) -> Result<Comparison> {
        let data = given("the table to compare on", "read(…)", &self.data)?;
        let compare = run::Compare {
            secret: self.secret,
            queries: self.queries,
            data: data.name().to_owned(),
            policy: self.policy,
            methods: self.methods,
            ks: self.ks,
            registry: self.registry,
        };
        let watch = self.watch;
        compare.run_on(watch, |policy| data.open(&policy.reading(&bind::plan(policy), watch)))
    }
}

impl std::fmt::Debug for Compare<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Compare").field("policy", &self.policy.text).finish_non_exhaustive()
    }
}
