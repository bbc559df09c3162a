//! The most private of what the walks and the searches reach within a limit, for `auto`.

use std::time::Instant;

use super::search::Search;
use super::{ACCURACY, Accuracy, Tries, Wanted, search};
use crate::error::{Error, Fault, Result};
use crate::loss::{Kernel, group_ncp};
use crate::mapping;
use crate::method::mondrian::{Categories, Cut, Mondrian, Ties};
use crate::method::ordered::{Cost, Dealing, Ordered};
use crate::method::{Method, Solution};
use crate::problem::Problem;
use crate::watch::Watch;

/// The interval of l at which a search ends.
const THRESHOLD: f64 = 0.05;

/// The most private solution, of equally private ones the one that loses least, and the name of the method it is from.
/// `until` tells when no further one is begun.
pub fn most_private(
    problem: &Problem,
    until: Option<Instant>,
    watch: &dyn Watch,
) -> Result<(&'static str, Solution)> {
    let goal = Wanted::Fitting.goal(problem)?;
    let mut best: Option<(f64, f64, &'static str, Solution)> = None;
    let mut refused: Option<Error> = None;
    for (name, method) in candidates() {
        let begun = best.is_some() || refused.is_some();
        if begun && until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        let solution = match method.solve(problem, watch) {
            Ok(solution) => solution,
            Err(error) if error.fault() == Fault::Requirement => {
                refused.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        let privacy = goal.of_partition(problem, &solution.partition);
        let loss = loss(problem, &solution);
        let better = |(most, least, ..): &(f64, f64, &str, Solution)| {
            privacy > *most || (privacy == *most && loss < *least)
        };
        if best.as_ref().is_none_or(better) {
            best = Some((privacy, loss, name, solution));
        }
    }
    match (best, refused) {
        (Some((_, _, name, solution)), _) => Ok((name, solution)),
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::bug("no method keeps to a limit")),
    }
}

/// What is tried: walks, and searches over methods that cut by attributes and along the curve.
fn candidates() -> Vec<(&'static str, Box<dyn Method>)> {
    let wanted = Wanted::Fitting;
    let walks = Accuracy { mapping: mapping::HILBERT, tries: Tries::Several, wanted };
    let over = |method: Box<dyn Method>, along| -> (&'static str, Box<dyn Method>) {
        (search::ACCURACY_SEARCH.name, Box::new(Search { method, along, wanted, threshold: THRESHOLD }))
    };
    let mondrian = |ties| Box::new(Mondrian { cut: Cut::Strict, ties, categories: Categories::Hierarchy });
    let line = Ordered { mapping: mapping::HILBERT, points: None, cost: Cost::Box, dealing: Dealing::Lots };
    vec![
        (ACCURACY.name, Box::new(walks)),
        over(mondrian(Ties::LeastEven), None),
        over(mondrian(Ties::Table), None),
        over(Box::new(line), Some(mapping::HILBERT)),
    ]
}

/// Σ of size times penalty; a record that is left out loses everything.
fn loss(problem: &Problem, solution: &Solution) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    let of_group = |group: &[u32]| group.len() as f64 * group_ncp(problem, &kernel, group);
    let lost = solution.suppressed.len() as f64 * problem.total_weight();
    lost + solution.partition.groups().map(of_group).sum::<f64>()
}
