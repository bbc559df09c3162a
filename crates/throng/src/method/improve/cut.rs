//! Cutting groups where that saves most.

use super::group::{Group, Work};
use crate::loss::Extent;
use crate::parallel;
use crate::problem::{Code, LANES};

/// One cut: records with codes up to `last` of an attribute go left.
#[derive(Clone, Copy)]
struct Cut {
    loss: f64,
    attribute: usize,
    last: usize,
}

/// Larger sides are cut side by side.
const SIDE_BY_SIDE: usize = 2048;

/// Cuts records into groups, each time where it saves most, until no cut saves anything.
pub(in crate::method) fn cut<C: Code>(work: &Work<'_, C>, records: Vec<u32>, groups: &mut Vec<Group<C>>) {
    let mut open = vec![work.group(records)];
    while let Some(group) = open.pop() {
        match best_cut(work, &group) {
            None => groups.push(group),
            // Both of them, so that many small sides cut off one after the other do not nest.
            Some((left, right)) if left.len().min(right.len()) > SIDE_BY_SIDE => {
                let of_side = |side: Vec<u32>| {
                    let mut groups = Vec::new();
                    cut(work, side, &mut groups);
                    groups
                };
                let (left, right) = parallel::join(|| of_side(left), || of_side(right));
                groups.extend(left.into_iter().chain(right));
            }
            Some((left, right)) => open.extend([work.group(right), work.group(left)]),
        }
    }
}

/// The two sides of the best cut.
pub(super) fn best_cut<C: Code>(work: &Work<'_, C>, group: &Group<C>) -> Option<(Vec<u32>, Vec<u32>)> {
    best_below(work, group, group.loss() - SAVES)
}

/// Apart from what depends on the width of codes, so that it is compiled once.
fn put_cheapest_first(cuts: &mut [Cut]) {
    cuts.sort_by(|a, b| a.loss.total_cmp(&b.loss).then((a.attribute, a.last).cmp(&(b.attribute, b.last))));
}

/// The two sides of the best cut, whether or not it saves anything.
pub(super) fn best_division<C: Code>(work: &Work<'_, C>, group: &Group<C>) -> Option<(Vec<u32>, Vec<u32>)> {
    best_below(work, group, f64::INFINITY)
}

fn best_below<C: Code>(work: &Work<'_, C>, group: &Group<C>, limit: f64) -> Option<(Vec<u32>, Vec<u32>)> {
    if group.records.len() < 2 * work.judge.smallest() {
        return None;
    }
    let mut cuts: Vec<Cut> = (0..work.kernel.attributes())
        .filter(|at| group.extent.low(*at) != group.extent.high(*at))
        .flat_map(|attribute| cuts(work, group, attribute, limit))
        .collect();
    put_cheapest_first(&mut cuts);
    cuts.into_iter().find_map(|cut| {
        let (left, right): (Vec<u32>, Vec<u32>) =
            group.records.iter().partition(|record| code(work, **record, cut.attribute) <= cut.last);
        let allowed = [&left, &right].iter().all(|side| work.judge.holds(side.iter().copied()));
        allowed.then_some((left, right))
    })
}

fn code<C: Code>(work: &Work<'_, C>, record: u32, attribute: usize) -> usize {
    work.matrix.row(record as usize)[attribute / LANES][attribute % LANES].index()
}

/// The cuts along an attribute that leave both sides large enough and cost less than the limit.
fn cuts<C: Code>(work: &Work<'_, C>, group: &Group<C>, attribute: usize, limit: f64) -> Vec<Cut> {
    let (low, high) = (group.extent.low(attribute).index(), group.extent.high(attribute).index());
    match high - low < group.records.len() / RECORDS_OF_A_VALUE {
        true => cuts_between_values(work, group, attribute, limit),
        false => cuts_in_order(work, group, attribute, limit),
    }
}

/// With so many records for each value, they are put together by value first.
const RECORDS_OF_A_VALUE: usize = 4;

/// The same from the boxes of the records of each value.
fn cuts_between_values<C: Code>(
    work: &Work<'_, C>,
    group: &Group<C>,
    attribute: usize,
    limit: f64,
) -> Vec<Cut> {
    let first = group.extent.low(attribute).index();
    let mut of_value: Vec<Option<(usize, Extent<C>)>> = Vec::new();
    of_value.resize_with(group.extent.high(attribute).index() - first + 1, || None);
    for &record in &group.records {
        let row = work.matrix.row(record as usize);
        match &mut of_value[code(work, record, attribute) - first] {
            Some((count, extent)) => {
                *count += 1;
                extent.grow(row);
            }
            empty => *empty = Some((1, Extent::of(row))),
        }
    }
    let values: Vec<(usize, usize, Extent<C>)> = (first..)
        .zip(of_value)
        .filter_map(|(value, found)| found.map(|(count, extent)| (value, count, extent)))
        .collect();
    let (all, smallest) = (group.records.len(), work.judge.smallest());
    // What lies up to each value, then what lies above it.
    let mut left: Vec<(usize, f64)> = Vec::with_capacity(values.len());
    let (mut extent, mut count) = (values[0].2.clone(), 0);
    for (_, own, next) in &values {
        extent.merge(next);
        count += own;
        left.push((count, work.kernel.ncp(&extent) * count as f64));
    }
    let mut cuts = Vec::new();
    let mut extent = values[values.len() - 1].2.clone();
    for at in (1..values.len()).rev() {
        extent.merge(&values[at].2);
        let ((before, loss), above) = (left[at - 1], all - left[at - 1].0);
        let loss = loss + work.kernel.ncp(&extent) * above as f64;
        if before >= smallest && above >= smallest && loss < limit {
            cuts.push(Cut { loss, attribute, last: values[at - 1].0 });
        }
    }
    cuts
}

/// The same from all records in the order of their codes.
fn cuts_in_order<C: Code>(work: &Work<'_, C>, group: &Group<C>, attribute: usize, limit: f64) -> Vec<Cut> {
    let mut sorted: Vec<(usize, u32)> =
        group.records.iter().map(|record| (code(work, *record, attribute), *record)).collect();
    sorted.sort_unstable();
    let row = |at: usize| work.matrix.row(sorted[at].1 as usize);
    // Where the code changes: first places of the right sides.
    let middles: Vec<usize> = (1..sorted.len())
        .filter(|at| sorted[at - 1].0 != sorted[*at].0)
        .filter(|at| *at >= work.judge.smallest() && sorted.len() - at >= work.judge.smallest())
        .collect();
    let (Some(&first), Some(&last)) = (middles.first(), middles.last()) else { return Vec::new() };
    let mut left_losses = Vec::with_capacity(middles.len());
    let mut extent = Extent::of(row(0));
    let mut next = middles.iter().peekable();
    for at in 0..=last {
        if next.next_if(|middle| **middle == at).is_some() {
            left_losses.push(work.kernel.ncp(&extent) * at as f64);
        }
        extent.grow(row(at));
    }
    let mut cuts = Vec::new();
    let mut extent = Extent::of(row(sorted.len() - 1));
    let mut next = middles.iter().zip(left_losses).rev().peekable();
    for at in (first..sorted.len()).rev() {
        extent.grow(row(at));
        if let Some((_, left)) = next.next_if(|(middle, _)| **middle == at) {
            let loss = left + work.kernel.ncp(&extent) * (sorted.len() - at) as f64;
            if loss < limit {
                cuts.push(Cut { loss, attribute, last: sorted[at - 1].0 });
            }
        }
    }
    cuts
}

/// Smaller differences are rounding.
pub(super) const SAVES: f64 = 1e-9;
