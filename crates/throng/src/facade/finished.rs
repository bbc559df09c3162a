//! The end of a run: a release in a file or in memory, with its report.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::format::CSV;
use crate::plan::{Plan, Solved, Written};
use crate::problem::Problem;
use crate::recipe::Recipe;
use crate::release::{Batches, Publish, Sink, permutation};
use crate::report::{Provenance, Report};
use crate::run::{self, Clock, Job, Prepared};
use crate::table::Table;
use crate::watch::Watch;

use super::Data;

/// A release that was audited and meets its requirement: a file (then this holds its path), record batches, or text.
///
/// ```
/// use throng::{Anonymize, Data, Policy};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let done = Anonymize::new(&policy).read(Data::csv("age\n31\n34\n")).to_csv()?;
/// assert_eq!(done.release, "age\n[31-34]\n[31-34]\n");
/// assert_eq!(done.report.measures.k, 2);
/// assert!(done.sensitive.is_none() && done.recipe.is_none());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Anonymized<R> {
    /// The release.
    pub release: R,
    /// Its sensitive values by group, where it was published by permutation.
    pub sensitive: Option<R>,
    /// What it achieves.
    pub report: Report,
    /// How other records can be masked in the same way, if the method learned that.
    pub recipe: Option<Recipe>,
    /// The row of the table, counted from 0, behind each row of a release of record batches. For the holder of the table
    /// alone: it undoes the shuffle.
    pub rows: Vec<u32>,
}

/// What every run that makes a release can be told and can make, written once for all of them.
macro_rules! outputs {
    ($run:ident) => {
        impl<'a> $run<'a> {
            /// What the order of rows and every lot is drawn from; fresh unless this brings one.
            pub fn secret(mut self, secret: crate::secret::Secret) -> Self {
                self.choices.secret = Some(secret);
                self
            }

            /// In which order rows are written; a random one unless this says otherwise.
            pub fn order(mut self, order: crate::release::Order) -> Self {
                self.choices.order = order;
                self
            }

            /// Puts a `'` before cells that a spreadsheet would run as formulas, in delimited text; record batches are no
            /// text and keep their cells.
            pub fn escape_formulas(mut self) -> Self {
                self.choices.formulas = crate::formula::Formulas::Escape;
                self
            }

            /// Who watches the work and may stop it.
            pub fn watch(self, watch: &'a dyn Watch) -> Self {
                $run { watch, ..self }
            }

            /// Writes the release into a file, in the format that its name tells. The file appears complete or not at all.
            pub fn write(self, path: impl AsRef<Path>) -> Result<super::Anonymized<std::path::PathBuf>> {
                self.check_file(path.as_ref())?;
                self.ready()?.write(path.as_ref())
            }

            /// The release as record batches.
            pub fn to_batches(self) -> Result<super::Anonymized<crate::release::Batches>> {
                self.ready()?.into_batches()
            }

            /// The release as delimited text.
            pub fn to_csv(self) -> Result<super::Anonymized<String>> {
                self.ready()?.into_csv()
            }
        }
    };
}

pub(super) use outputs;

/// A plan and its table.
pub(super) struct Ready<'a> {
    plan: Plan,
    table: Table,
    data: &'a Data,
    clock: Clock,
    watch: &'a dyn Watch,
}

impl<'a> Ready<'a> {
    pub fn new(plan: Plan, table: Table, data: &'a Data, clock: Clock, watch: &'a dyn Watch) -> Self {
        let plan = if data.may_be_empty() { plan.taking_nobody() } else { plan };
        Ready { plan, table, data, clock, watch }
    }

    pub fn write(self, path: &Path) -> Result<Anonymized<PathBuf>> {
        let permuted = self.plan.publish() == Publish::Permutation;
        let sensitive = permuted.then(|| permutation::sensitive_path(path));
        let job = Job {
            plan: &self.plan,
            data: self.data.name(),
            release: path,
            overrides: &[],
            hashes: self.data.path().is_some(),
        };
        let prepared = job.prepare(&self.table, self.clock, self.watch)?;
        let recipe = prepared.recipe.clone();
        let (release, report) = (path.to_owned(), prepared.publish()?);
        Ok(Anonymized { release, sensitive, report, recipe, rows: Vec::new() })
    }

    pub fn into_batches(self) -> Result<Anonymized<Batches>> {
        let mut rows = Vec::new();
        let made = self.in_memory(|ready, problem, solved| {
            let mut written = ready.plan.to_batches(&ready.table, problem, solved, ready.watch)?;
            rows = std::mem::take(&mut written.records);
            rows.iter_mut().for_each(|record| *record = problem.row(*record) as u32);
            Ok(written)
        })?;
        Ok(Anonymized { rows, ..made })
    }

    pub fn into_csv(self) -> Result<Anonymized<String>> {
        let made = self.in_memory(|ready, problem, solved| {
            ready.plan.write_in_memory(&ready.table, problem, solved, &CSV, ready.watch)
        })?;
        let text = |file: crate::release::MemoryFile| {
            String::from_utf8(file.bytes).map_err(|_| Error::bug("a release that is not UTF-8"))
        };
        let Anonymized { release, sensitive, report, recipe, rows } = made;
        Ok(Anonymized {
            release: text(release)?,
            sensitive: sensitive.map(text).transpose()?,
            report,
            recipe,
            rows,
        })
    }

    fn in_memory<S: Sink>(
        mut self,
        write: impl FnOnce(&Self, &Problem, &Solved) -> Result<Written<S>>,
    ) -> Result<Anonymized<S>> {
        let clock = std::mem::replace(&mut self.clock, Clock::start());
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.data.name().display().to_string(),
            policy: self.plan.policy().text.clone(),
            ..Provenance::default()
        };
        let Prepared { written, report, recipe, .. } = run::make(
            &self.plan,
            (&self.table, self.data.name(), None),
            clock,
            self.watch,
            |problem, solved| write(&self, problem, solved),
            |_| Ok(provenance),
        )?;
        let Written { release, sensitive, .. } = written;
        Ok(Anonymized { release, sensitive, report, recipe, rows: Vec::new() })
    }
}
