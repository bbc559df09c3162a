//! Auto: chooses a method by requirement, size and time, and says which and why.

use super::facts::Because;
use super::options::Numbers;
use super::{Entry, Fact, Method, OptionKind, OptionSpec, Solution, Traits, accuracy, ordered, peel};
use crate::error::Result;
use crate::mapping;
use crate::privacy::Part;
use crate::problem::Problem;
use crate::watch::Watch;

/// The registry's entry.
pub const AUTO: Entry = Entry {
    name: "auto",
    summary: "chooses by requirement, size and time: peel where it can, hilbert on tables too large for it",
    citation: "throng",
    guarantee: "that of the method it chooses; the report says which and why",
    takes: &[Part::K, Part::OwnK, Part::L, Part::T, Part::MaxLoss],
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
        let cells = problem.len() as f64 * problem.attributes.len() as f64;
        let seconds = self.seconds.unwrap_or(SECONDS);
        let own_k = problem.demands.is_some();
        if cells / CELLS_PER_SECOND > seconds && !own_k {
            return Choice {
                name: ordered::HILBERT.name,
                method: Box::new(ordered::Ordered { mapping: mapping::HILBERT, cost: ordered::Cost::Box }),
                because: Because::TableIsLarge { seconds },
            };
        }
        Choice {
            name: peel::PEEL.name,
            method: Box::new(peel::Peel { seconds: self.seconds, ..peel::Peel::default() }),
            because: Because::LosesLeast,
        }
    }
}

impl Method for Auto {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let Choice { name, method, because } = self.choose(problem);
        let mut solution = method.solve(problem, watch)?;
        solution.facts.insert(0, Fact::Chosen { method: name.into(), because });
        Ok(solution)
    }
}
