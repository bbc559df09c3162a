//! The risk of a table as it stands.

use super::{Data, given};
use crate::as_is;
use crate::bind;
use crate::error::{Error, ErrorCode, Result};
use crate::policy::suggest::person;
use crate::policy::{Policy, suggest};
use crate::problem::Problem;
use crate::risk::{self, Background, Risk as RiskReport};
use crate::watch::{Unwatched, Watch};

/// Tells how easily people could be found in a table as it stands.
///
/// ```
/// use throng::{Data, Policy, Risk};
///
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let risk = Risk::new(&policy).read(Data::csv("age\n31\n31\n56\n")).run()?;
/// assert_eq!(risk.unique_records, 1);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing runs before `run`"]
pub struct Risk<'a> {
    policy: Policy,
    data: Option<Data>,
    population: Option<Data>,
    fraction: Option<f64>,
    watch: &'a dyn Watch,
}

impl<'a> Risk<'a> {
    /// The risk under a policy, which says what the quasi-identifiers are.
    pub fn new(policy: &Policy) -> Self {
        Risk { policy: policy.clone(), data: None, population: None, fraction: None, watch: &Unwatched }
    }

    /// The table.
    pub fn read(self, data: impl Into<Data>) -> Self {
        Risk { data: Some(data.into()), ..self }
    }

    /// The population that the table was drawn from.
    pub fn population(self, data: impl Into<Data>) -> Self {
        Risk { population: Some(data.into()), ..self }
    }

    /// The share of the population that is in the table, above 0 and at most 1.
    pub fn fraction(self, share: f64) -> Self {
        Risk { fraction: Some(share), ..self }
    }

    /// Who watches the work and may stop it.
    pub fn watch(self, watch: &'a dyn Watch) -> Self {
        Risk { watch, ..self }
    }

    /// Runs it.
    pub fn run(self) -> Result<RiskReport> {
        let data = given("the table", "read(…)", &self.data)?;
        let (policy, watch) = (&self.policy, self.watch);
        risk::check_fraction(self.fraction)?;
        let table = data.open(&policy.reading(&bind::plan(policy), watch))?;
        suggest::check_header(&table, policy)?;
        let problem = Problem::new(&table, policy)?;
        let open = |data: &Data| {
            risk::open_population(&problem, &policy.missing, watch, |reading| data.open(reading))
        };
        let population = self.population.as_ref().map(open).transpose()?;
        let background = match (&population, self.fraction) {
            (Some(_), Some(_)) => {
                let message = "the population and the fraction exclude each other";
                return Err(Error::new(ErrorCode::BadUsage, message).with_hint("leave one of them out"));
            }
            (Some(population), None) => Background::Population(population),
            (None, Some(fraction)) => Background::Fraction(fraction),
            (None, None) => Background::Itself,
        };
        let mut risk = risk::measure(&problem, &policy.missing, background, watch)?;
        risk.published_as_is = Some(as_is::of_table(&table, &problem, policy));
        risk.notes.extend(person::warning(&table, policy));
        Ok(risk)
    }
}

impl std::fmt::Debug for Risk<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Risk").field("policy", &self.policy.text).finish_non_exhaustive()
    }
}
