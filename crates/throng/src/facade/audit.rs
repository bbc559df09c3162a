//! Measuring a release that exists.

use super::{Data, given};
use crate::audit::{Findings, Keep, Received};
use crate::bind;
use crate::error::Result;
use crate::policy::{Policy, suggest};
use crate::run;
use crate::watch::{Unwatched, Watch};

/// Measures what a release achieves, from the two tables and the policy alone, and looks whether each of its rows is true
/// of a record.
///
/// ```
/// use throng::{Audit, Data, Policy};
///
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let (table, release) = (Data::csv("age\n31\n34\n56\n"), Data::csv("age\n[31-34]\n[31-34]\n56\n"));
/// let findings = Audit::new(&policy).original(table).release(release).run()?;
/// assert_eq!(findings.measures.k, 1);
/// assert!(!findings.holds());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing runs before `run`"]
pub struct Audit<'a> {
    policy: Policy,
    original: Option<Data>,
    release: Option<Data>,
    sensitive: Option<Data>,
    watch: &'a dyn Watch,
}

impl<'a> Audit<'a> {
    /// An audit under a policy.
    pub fn new(policy: &Policy) -> Self {
        Audit { policy: policy.clone(), original: None, release: None, sensitive: None, watch: &Unwatched }
    }

    /// The original table.
    pub fn original(self, data: impl Into<Data>) -> Self {
        Audit { original: Some(data.into()), ..self }
    }

    /// The release.
    pub fn release(self, data: impl Into<Data>) -> Self {
        Audit { release: Some(data.into()), ..self }
    }

    /// The sensitive values by group of a release by permutation; beside a file they are found by themselves.
    pub fn sensitive(self, data: impl Into<Data>) -> Self {
        Audit { sensitive: Some(data.into()), ..self }
    }

    /// Who watches the work and may stop it.
    pub fn watch(self, watch: &'a dyn Watch) -> Self {
        Audit { watch, ..self }
    }

    /// Runs it. A release that does not meet the policy is not an error: [`Findings::holds`] tells.
    pub fn run(self) -> Result<Findings> {
        let original = given("the original table", "original(…)", &self.original)?;
        let release = given("the release", "release(…)", &self.release)?;
        let (policy, watch) = (&self.policy, self.watch);
        let table = original.open(&policy.reading(&bind::plan(policy), watch))?;
        suggest::check_header(&table, policy)?;
        run::audit_table(&table, policy, watch, |problem| match (release.path(), &self.sensitive) {
            (Some(path), None) => Received::read(path, problem, policy, Keep::Audited, watch),
            (_, sensitive) => Received::from_others(
                problem,
                policy,
                Keep::Audited,
                watch,
                |reading| release.open(reading),
                |reading| given("the table of sensitive values", "sensitive(…)", sensitive)?.open(reading),
            ),
        })
    }
}

impl std::fmt::Debug for Audit<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Audit").field("policy", &self.policy.text).finish_non_exhaustive()
    }
}
