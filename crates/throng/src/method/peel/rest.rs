//! What peeling leaves: groups of its own, or places in the groups that are there.
//!
//! What is left is cut where each cut saves most. Where peeling ended early and a very large part of a large table is left, that would
//! take longer than peeling did, so it goes to a fast method: the one that loses least on a few pieces of it, each as dense as
//! the whole.

use crate::collections::cheapest_first;
use crate::error::{Error, Result};
use crate::loss::{Kernel, group_ncp};
use crate::mapping;
use crate::method::improve::{Group, Work, cut};
use crate::method::mondrian::{Categories, Cut, Mondrian, Ties};
use crate::method::ordered::{Cost, Dealing, Ordered};
use crate::method::{Method, Partition};
use crate::parallel;
use crate::problem::{Code, Problem};
use crate::watch::Watch;

/// Up to so many codes are cut where each cut saves most.
const FEW_CODES: usize = 4_000_000;
/// More pairs of records and groups are not compared.
const MOST_PAIRS: usize = 200_000_000;
/// Records of a piece that fast methods are tried on, about, and how many such pieces.
const PIECE: usize = 6_000;
const PIECES: usize = 4;
/// Fewer groups are not worth another thread.
const LEAST_GROUPS: usize = 256;

/// Which method made groups of what was left, and of how many records.
pub(super) struct ByOther {
    pub name: &'static str,
    pub records: usize,
}

/// Finds a place for the records that are left: groups of their own where they meet the requirement together, else
/// the group where each adds least.
pub(super) fn place<C: Code>(
    work: &Work<'_, C>,
    mut rest: Vec<u32>,
    groups: &mut Vec<Group<C>>,
    watch: &dyn Watch,
) -> Result<Option<ByOther>> {
    if rest.is_empty() {
        return Ok(None);
    }
    let mut together = rest.len() >= 2 * work.judge.smallest() && work.judge.holds(rest.iter().copied());
    if !together && rest.len().saturating_mul(groups.len()) > MOST_PAIRS {
        reopen(work, &mut rest, groups);
        together = true;
    }
    if !together && !groups.is_empty() {
        join(work, rest, groups);
        return Ok(None);
    }
    if rest.len() * work.problem.attributes.len() <= FEW_CODES {
        cut(work, rest, groups);
        return Ok(None);
    }
    watch.stage("cutting the rest", Some(rest.len() as u64));
    let own = work.problem.of_records(&rest);
    let (name, method) = best_on_pieces(&own, watch)?;
    let partition = method.solve(&own, watch)?.partition;
    let back = |group: &[u32]| work.group(group.iter().map(|record| rest[*record as usize]).collect());
    let made: Vec<Group<C>> = parallel::map(0..partition.len(), |at| back(partition.group(at)));
    groups.extend(made);
    Ok(Some(ByOther { name, records: rest.len() }))
}

/// Opens the last groups again, the dearest, until the rest may be published by itself. The table as a whole may.
fn reopen<C: Code>(work: &Work<'_, C>, rest: &mut Vec<u32>, groups: &mut Vec<Group<C>>) {
    let mut count = 1;
    while !groups.is_empty() && !work.judge.holds(rest.iter().copied()) {
        let from = groups.len().saturating_sub(count);
        rest.extend(groups.drain(from..).flat_map(|group| group.records));
        count *= 2;
    }
    rest.sort_unstable();
}

fn fast(cut: Cut) -> Mondrian {
    Mondrian { cut, ties: Ties::LeastEven, categories: Categories::Hierarchy }
}

/// Fast methods, by name.
type Fast = (&'static str, Box<dyn Method>);

fn fast_methods(problem: &Problem) -> Vec<Fast> {
    let mondrian = |cut| -> Box<dyn Method> { Box::new(fast(cut)) };
    let mut all: Vec<Fast> =
        vec![("mondrian", mondrian(Cut::Strict)), ("mondrian-relaxed", mondrian(Cut::Relaxed))];
    // With sensitive values it deals by lot, which is for those who ask for it.
    if problem.requirement.only_size() && problem.people.is_none() {
        let (mapping, cost) = (mapping::HILBERT, Cost::Box);
        all.push(("hilbert", Box::new(Ordered { mapping, points: None, cost, dealing: Dealing::Lots })));
    }
    all
}

/// The records in parts of at least so many, cut by a fast method.
pub(super) fn parts(problem: &Problem, least: usize, watch: &dyn Watch) -> Result<Partition> {
    Ok(fast(Cut::Strict).solve(&problem.by_size(least), watch)?.partition)
}

/// The fast method that loses least on some pieces of the records; of equals the first.
fn best_on_pieces(problem: &Problem, watch: &dyn Watch) -> Result<Fast> {
    let pieces = fast(Cut::Strict).solve(&problem.by_size(PIECE), watch)?.partition;
    let step = pieces.len().div_ceil(PIECES).max(1);
    let pieces: Vec<Problem> = pieces.groups().step_by(step).map(|piece| problem.of_records(piece)).collect();
    let mut best: Option<(f64, Fast)> = None;
    for (name, method) in fast_methods(problem) {
        let mut loss = 0.0;
        for piece in &pieces {
            watch.check()?;
            loss += match method.solve(piece, watch) {
                Ok(solution) => loss_of(piece, &solution.partition),
                // A piece need not meet the requirement by itself.
                Err(_) => piece.len() as f64 * piece.total_weight(),
            };
        }
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, (name, method)));
        }
    }
    best.map(|(_, fast)| fast).ok_or_else(|| Error::bug("there is no fast method"))
}

fn loss_of(problem: &Problem, partition: &Partition) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    partition.groups().map(|group| group.len() as f64 * group_ncp(problem, &kernel, group)).sum()
}

/// Puts each record into the group where it adds least.
fn join<C: Code>(work: &Work<'_, C>, rest: Vec<u32>, groups: &mut Vec<Group<C>>) {
    let mut homeless = Vec::new();
    for record in rest {
        let cost = |at: usize| (work.cost_of_joining(&groups[at], record), at);
        let mut order: Vec<(f64, usize)> = parallel::fill(groups.len(), LEAST_GROUPS, cost);
        cheapest_first(&mut order);
        match order.into_iter().find(|(_, at)| work.judge.holds_with(&groups[*at].records, record)) {
            Some((_, at)) => work.join(&mut groups[at], record),
            None => homeless.push(record),
        }
    }
    merge_until_valid(work, homeless, groups);
}

/// Records that no group may take one by one: they form a group that takes whole groups in until it is valid, the
/// cheapest first. The table as a whole is valid, so it ends.
fn merge_until_valid<C: Code>(work: &Work<'_, C>, records: Vec<u32>, groups: &mut Vec<Group<C>>) {
    if records.is_empty() {
        return;
    }
    let mut merged = work.group(records);
    while !work.judge.holds(merged.records.iter().copied()) && !groups.is_empty() {
        let cost = |at: usize| {
            let mut extent = merged.extent.clone();
            extent.merge(&groups[at].extent);
            let size = merged.records.len() + groups[at].records.len();
            (work.kernel.ncp(&extent) * size as f64 - groups[at].loss(), at)
        };
        let cheapest = (0..groups.len()).map(cost).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((_, at)) = cheapest else { break };
        let mut records = merged.records;
        records.extend(groups.swap_remove(at).records);
        merged = work.group(records);
    }
    groups.push(merged);
}
