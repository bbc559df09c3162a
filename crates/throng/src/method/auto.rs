//! Auto: chooses a method by requirement, size and time, and says which and why.

use super::facts::Because;
use super::options::Numbers;
use super::{Entry, Fact, Method, OptionKind, OptionSpec, Solution, Traits, accuracy, ordered, peel};
use crate::error::{Error, ErrorCode, Result};
use crate::mapping;
use crate::privacy::{Part, Tally};
use crate::problem::Problem;
use crate::watch::Watch;

/// The registry's entry.
pub const AUTO: Entry = Entry {
    name: "auto",
    summary: "chooses by requirement, size and time: peel where it can, hilbert on tables too large for it",
    citation: "throng",
    guarantee: "that of the method it chooses; the report says which and why",
    takes: &[Part::K, Part::OwnK, Part::L, Part::T, Part::MaxLoss, Part::People],
    needs: &[],
    options: &[OptionSpec {
        name: "seconds",
        kind: OptionKind::Number { allowed: Numbers::SECONDS, default: None },
        help: "seconds that the method may take",
    }],
    traits: Traits::USUAL,
    configure: |options, _| Ok(Box::new(Auto { seconds: options.number_if_any("seconds")? })),
};

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Auto {
    /// Seconds that the method may take.
    pub seconds: Option<f64>,
}

/// Without a limit in seconds, as many are thought fine.
const SECONDS: f64 = 120.0;
/// Cells of quasi-identifiers that peel goes through in a second: a third of what two cores did with a million records,
/// for slower machines.
const CELLS_PER_SECOND: f64 = 250_000.0;

/// What was chosen.
struct Choice {
    name: &'static str,
    method: Box<dyn Method>,
    because: Because,
}

impl Auto {
    fn choose(&self, problem: &Problem) -> Choice {
        if !problem.limits.is_empty() {
            let (mapping, wanted) = (mapping::HILBERT, accuracy::Wanted::Fitting);
            return Choice {
                name: accuracy::ACCURACY.name,
                method: Box::new(accuracy::Accuracy { mapping, wanted }),
                because: Because::LossIsLimited,
            };
        }
        let lots = || {
            let (mapping, cost) = (mapping::HILBERT, ordered::Cost::Box);
            Box::new(ordered::Ordered { mapping, cost, dealing: ordered::Dealing::Lots })
        };
        let margin = problem.requirement.diversity_of(&Tally::of_all(problem));
        if margin.is_some_and(|margin| margin.is_narrow()) {
            let because = Because::DiversityIsNarrow;
            return Choice { name: ordered::HILBERT.name, method: lots(), because };
        }
        let seconds = self.seconds.unwrap_or(SECONDS);
        let own_k = problem.demands.is_some();
        if self.is_too_large(problem) && !own_k {
            let because = Because::TableIsLarge { seconds };
            return Choice { name: ordered::HILBERT.name, method: lots(), because };
        }
        Choice {
            name: peel::PEEL.name,
            method: Box::new(peel::Peel { seconds: self.seconds, ..peel::Peel::default() }),
            because: Because::LosesLeast,
        }
    }

    fn is_too_large(&self, problem: &Problem) -> bool {
        let cells = problem.len() as f64 * problem.attributes.len() as f64;
        cells / CELLS_PER_SECOND > self.seconds.unwrap_or(SECONDS)
    }
}

impl Method for Auto {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        if problem.people.is_some() && !problem.limits.is_empty() {
            return Err(Error::new(
                ErrorCode::MethodDoesNotFit,
                "no method keeps to a limit on the loss of classes where people are counted",
            )
            .with_hint("leave out max_loss and max_span, or the role \"person\""));
        }
        let Choice { name, method, because } = self.choose(problem);
        let mut solution = method.solve(problem, watch)?;
        solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
        Ok(solution)
    }
}
