//! Several walks, of which the most private is taken.
//!
//! *Orders*: the mapping that is asked for, the other mappings, and the order of the leaves of Mondrian's tree, cut down to
//! equal records, with both of its rules for ties. *Limits*: a fixed ladder of shares of the greatest loss up to the limit.
//! The rungs do not depend on the limit, so whatever is tried under a limit is tried under a larger one too: privacy does not
//! fall as the limit grows. A limit between two rungs counts as the lower one, which is one part in a hundred below it at
//! most; with many records the ladder has fewer rungs, and the nearest hundredth below the limit is tried besides.
//!
//! Cost: that of a walk for each order and rung; walks run at the same time.

use super::{Goal, outcome, walk_within};
use crate::collections::greatest_first;
use crate::error::{Error, Result};
use crate::loss::{Kernel, Limits, group_ncp};
use crate::mapping::{MAPPINGS, Mapping};
use crate::method::mondrian::{Categories, Cut, Mondrian, Ties};
use crate::method::{Method, Partition};
use crate::parallel;
use crate::problem::Problem;
use crate::watch::{Unwatched, Watch};

/// The finest rung, as a share of the greatest loss.
const FINEST: f64 = 0.01;
/// Below it, rungs are halves of each other, so many.
const HALVES: i32 = 6;
/// Records times rungs, at most; but at least so many rungs.
const WORK: usize = 1_000_000;
const LEAST_RUNGS: usize = 10;

/// The most private outcome of all tries, of equally private ones the one that loses least, of these the first.
pub(super) fn best(problem: &Problem, first: &Mapping, goal: Goal, watch: &dyn Watch) -> Result<Partition> {
    watch.stage("ordering", None);
    let orders = orders(problem, first, watch)?;
    let limits = ladder(problem);
    let tries: Vec<(&Vec<u32>, &Limits)> =
        orders.iter().flat_map(|order| limits.iter().map(move |limits| (order, limits))).collect();
    watch.stage("grouping", Some(tries.len() as u64));
    let kernel = Kernel::new(&problem.attributes);
    let walk = |(order, limits): &(&Vec<u32>, &Limits)| -> Result<Outcome> {
        watch.check()?;
        let partition = walk_within(problem, order, limits, goal, &Unwatched)?;
        let privacy = outcome::privacy(problem, goal, &partition);
        let of_group = |group: &[u32]| group.len() as f64 * group_ncp(problem, &kernel, group);
        let loss = partition.groups().map(of_group).sum();
        watch.advance(1);
        Ok(Outcome { privacy, loss, partition })
    };
    // Outcomes are as large as the table, so only the best of each batch is kept.
    let mut best: Option<Outcome> = None;
    for batch in tries.chunks(BATCH) {
        let outcomes: Vec<Result<Outcome>> = parallel::map(batch, walk);
        for outcome in outcomes {
            let outcome = outcome?;
            if best.as_ref().is_none_or(|best| outcome.is_better_than(best)) {
                best = Some(outcome);
            }
        }
    }
    best.map(|best| best.partition).ok_or_else(|| Error::bug("no order was tried"))
}

/// Tries that run at the same time.
const BATCH: usize = 16;

struct Outcome {
    privacy: f64,
    loss: f64,
    partition: Partition,
}

impl Outcome {
    fn is_better_than(&self, other: &Outcome) -> bool {
        self.privacy > other.privacy || (self.privacy == other.privacy && self.loss < other.loss)
    }
}

/// The orders to walk along.
fn orders(problem: &Problem, first: &Mapping, watch: &dyn Watch) -> Result<Vec<Vec<u32>>> {
    let others = MAPPINGS.iter().filter(|mapping| mapping.name != first.name);
    let mut orders = Vec::new();
    for mapping in [first].into_iter().chain(others) {
        orders.push(problem.line(mapping, watch)?.order().to_vec());
    }
    let plain = problem.by_size(1);
    for ties in [Ties::LeastEven, Ties::Table] {
        watch.check()?;
        let tree = Mondrian { cut: Cut::Strict, ties, categories: Categories::Hierarchy }
            .solve(&plain, &Unwatched)?;
        orders.push(tree.partition.groups().flatten().copied().collect());
    }
    Ok(orders)
}

/// The limits to walk within, the widest first.
fn ladder(problem: &Problem) -> Vec<Limits> {
    let whole = problem.total_weight();
    let most = problem.limits.loss().map_or(1.0, |most| (most / whole).min(1.0));
    let rungs = (WORK / problem.len().max(1)).max(LEAST_RUNGS);
    // A divisor of a hundred, so that coarser ladders are parts of finer ones.
    let every = [1u32, 2, 5, 10].into_iter().find(|every| 100 / *every as usize <= rungs).unwrap_or(10);
    let within = |share: &f64| *share <= most * (1.0 + 1e-12);
    let halves = (1..=HALVES).map(|power| FINEST * 0.5f64.powi(power));
    let hundredths = (1..=100u32).map(|at| (at, f64::from(at) * FINEST));
    let nearest = hundredths.clone().map(|(_, share)| share).filter(within).fold(0.0, f64::max);
    let listed =
        hundredths.filter(|(at, share)| at % every == 0 || *share == nearest).map(|(_, share)| share);
    // The last rung is that of equal records.
    let mut shares: Vec<f64> = halves.chain(listed).filter(within).chain([0.0]).collect();
    greatest_first(&mut shares);
    shares.into_iter().map(|share| problem.limits.with_loss(share * whole)).collect()
}
