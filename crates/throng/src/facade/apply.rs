//! Masking other records with a recipe.

use std::path::{Path, PathBuf};

use super::finished::Ready;
use super::{Anonymized, Data, given};
use crate::error::Result;
use crate::plan::{Choices, Unmet};
use crate::recipe::Recipe;
use crate::release::{Batches, Order, Publish};
use crate::run::{self, Clock, check_outputs};
use crate::secret::Secret;
use crate::watch::{Unwatched, Watch};

/// Masks other records with a recipe that a run learned.
///
/// ```
/// use throng::{Anonymize, Apply, Data, Order, Policy};
///
/// let policy = Policy::builder().k(2).quasi("age").class("buys").method("refine").seed(1).build()?;
/// let table = Data::csv("age,buys\n31,no\n34,no\n56,yes\n58,yes\n");
/// let recipe = Anonymize::new(&policy).read(table).to_csv()?.recipe.unwrap();
///
/// let others = Data::csv("age,buys\n32,no\n33,yes\n57,yes\n57,no\n");
/// let masked = Apply::new(&recipe).read(others).order(Order::Keep).to_csv()?;
/// assert_eq!(masked.release.lines().count(), 5);
/// assert!(masked.report.measures.k >= 2);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing runs before `write` or `to_…`"]
pub struct Apply<'a> {
    recipe: Recipe,
    data: Option<Data>,
    unmet: Unmet,
    choices: Choices,
    watch: &'a dyn Watch,
}

impl<'a> Apply<'a> {
    /// A run with a recipe. Records that do not meet its requirement are an error unless [`Apply::unmet`] says
    /// otherwise.
    pub fn new(recipe: &Recipe) -> Self {
        Apply {
            recipe: recipe.clone(),
            data: None,
            unmet: Unmet::Refuse,
            choices: Choices::default(),
            watch: &Unwatched,
        }
    }

    /// The records.
    pub fn read(self, data: impl Into<Data>) -> Self {
        Apply { data: Some(data.into()), ..self }
    }

    /// What happens where the requirement does not hold.
    pub fn unmet(self, unmet: Unmet) -> Self {
        Apply { unmet, ..self }
    }

    /// What the order of rows is drawn from; fresh unless this brings one.
    pub fn secret(mut self, secret: Secret) -> Self {
        self.choices.secret = Some(secret);
        self
    }

    /// In which order rows are written; a random one unless this says otherwise.
    pub fn order(mut self, order: Order) -> Self {
        self.choices.order = order;
        self
    }

    /// Who watches the work and may stop it.
    pub fn watch(self, watch: &'a dyn Watch) -> Self {
        Apply { watch, ..self }
    }

    /// Writes the masked records into a file, which appears complete or not at all.
    pub fn write(self, path: impl AsRef<Path>) -> Result<Anonymized<PathBuf>> {
        let path = path.as_ref();
        if let Some(data) = self.data.as_ref().and_then(Data::path) {
            check_outputs(data, None, path, Publish::Cells)?;
        }
        self.ready()?.write(path)
    }

    /// The masked records as record batches.
    pub fn to_batches(self) -> Result<Anonymized<Batches>> {
        self.ready()?.into_batches()
    }

    /// The masked records as delimited text.
    pub fn to_csv(self) -> Result<Anonymized<String>> {
        self.ready()?.into_csv()
    }

    fn ready(&self) -> Result<Ready<'_>> {
        let mut clock = Clock::start();
        let data = given("the table to mask", "read(…)", &self.data)?;
        let table = run::read_for_recipe(&self.recipe, self.watch, |reading| data.open(reading))?;
        clock.lap("read");
        let plan = run::plan_for_recipe(&self.recipe, &table, self.unmet, self.choices.clone())?;
        Ok(Ready { plan, table, data, clock, watch: self.watch })
    }
}

impl std::fmt::Debug for Apply<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Apply").field("recipe", &self.recipe).finish_non_exhaustive()
    }
}
