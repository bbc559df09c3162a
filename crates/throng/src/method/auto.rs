//! Auto: chooses a method by requirement, size and time, and says which and why.

use toml::{Table, Value};

use super::{Entry, Method, Options, Solution, accuracy, ordered, peel};
use crate::error::Result;
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
    configure,
};

fn configure(options: &mut Options<'_>) -> Result<Box<dyn Method>> {
    let seconds = options.number("seconds", "a number above 0", |seconds| seconds > 0.0 && seconds < 1e9)?;
    Ok(Box::new(Auto { seconds }))
}

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
    entry: &'static Entry,
    options: Table,
    because: String,
}

impl Auto {
    fn choose(&self, problem: &Problem) -> Choice {
        let plain =
            |entry, because: &str| Choice { entry, options: Table::new(), because: because.to_owned() };
        if !problem.limits.is_empty() {
            return plain(
                &accuracy::ACCURACY,
                "the policy limits the loss of each class and asks for the most privacy",
            );
        }
        let cells = problem.len() as f64 * problem.attributes.len() as f64;
        let expected = cells / CELLS_PER_SECOND;
        let within = self.seconds.unwrap_or(SECONDS);
        let own_k = problem.demands.is_some();
        if expected > within && !own_k {
            let because = format!(
                "the table is large, so that peel could take longer than {within} seconds (`seconds` under [method] \
                 says how long it may)"
            );
            return plain(&ordered::HILBERT, &because);
        }
        let mut options = Table::new();
        if let Some(seconds) = self.seconds {
            options.insert("seconds".to_owned(), Value::Float(seconds));
        }
        let because = "as a rule it loses least, and the table is not too large for it".to_owned();
        Choice { entry: &peel::PEEL, options, because }
    }
}

impl Method for Auto {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let Choice { entry, options, because } = self.choose(problem);
        let method = (entry.configure)(&mut Options::new(format!("the method {}", entry.name), &options))?;
        let mut solution = method.solve(problem, watch)?;
        solution.notes.insert(0, format!("auto chose the method {}: {because}.", entry.name));
        Ok(solution)
    }
}
