//! Masking other records with a recipe.

use std::path::Path;

use super::finished::Ready;
use super::{Data, given};
use crate::error::Result;
use crate::plan::{Choices, Unmet};
use crate::recipe::Recipe;
use crate::release::Publish;
use crate::run::{self, Clock, check_outputs};
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

    /// How quasi-identifiers are written; as cells unless this says otherwise. As bounds, numbers are two columns; there are no
    /// other ways for records that are masked with a recipe.
    pub fn publish(mut self, publish: Publish) -> Self {
        self.choices.publish = publish;
        self
    }

    /// An error if a file would destroy what the run reads.
    fn check_file(&self, path: &Path) -> Result<()> {
        let data = self.data.as_ref().and_then(Data::path);
        data.map_or(Ok(()), |data| check_outputs(data, None, path, Publish::Cells).map(|_| ()))
    }

    fn ready(&self) -> Result<Ready<'_>> {
        let mut clock = Clock::start();
        let data = given("the table to mask", "read(…)", &self.data)?;
        let table = run::read_for_recipe(&self.recipe, self.watch, |reading| data.open(reading))?;
        clock.lap("read");
        let plan = run::plan_for_recipe(&self.recipe, &table, self.unmet, self.choices.clone())?;
        Ok(Ready::new(plan, table, data, clock, self.watch))
    }
}

super::finished::outputs!(Apply);

impl std::fmt::Debug for Apply<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Apply").field("recipe", &self.recipe).finish_non_exhaustive()
    }
}
