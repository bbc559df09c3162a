//! The dual problem for k, exactly: cut a line into runs within a limit so that the smallest is as large as possible.
//!
//! A run that ends at i is within the limit if it begins at `first(i)` or later, because boxes only grow; `first` never
//! goes back, so one pass finds it for all ends, with boxes kept as two stacks. Whether runs of at least k records are
//! possible is one more pass, and that is searched for the greatest k: O(N·d + N log N), against O(N²) for the dynamic
//! program over all runs.

use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::method::Partition;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;

/// The runs of an order within a problem's limits whose smallest is largest.
pub fn largest_runs<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    kernel: &Kernel,
    order: &[u32],
    watch: &dyn Watch,
) -> Result<Partition> {
    let first = first_starts(problem, matrix, kernel, order);
    let (mut low, mut high) = (1, order.len() + 1);
    let mut best = cut(&first, 1);
    while high - low > 1 {
        watch.check()?;
        let middle = low.midpoint(high);
        match cut(&first, middle) {
            Some(sizes) => (low, best) = (middle, Some(sizes)),
            None => high = middle,
        }
    }
    Ok(Partition::from_sizes(order.to_vec(), best.unwrap_or_default()))
}

/// For each end, the earliest start of a run that is within the limits.
fn first_starts<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    kernel: &Kernel,
    order: &[u32],
) -> Vec<usize> {
    let row = |at: usize| matrix.row(order[at] as usize);
    let allowed = |earlier: Option<&Extent<C>>, later: Option<&Extent<C>>| match (earlier, later) {
        (Some(earlier), Some(later)) => {
            let mut all = earlier.clone();
            all.merge(later);
            problem.limits.allow(kernel, &all)
        }
        (one, other) => one.or(other).is_none_or(|extent| problem.limits.allow(kernel, extent)),
    };
    let mut first = vec![0; order.len() + 1];
    let mut start = 0;
    // Boxes from each start up to the middle, the latest start first; and the box from the middle on.
    let mut earlier: Vec<Extent<C>> = Vec::new();
    let mut later: Option<Extent<C>> = None;
    for end in 1..=order.len() {
        match &mut later {
            Some(extent) => {
                extent.grow(row(end - 1));
            }
            None => later = Some(Extent::of(row(end - 1))),
        }
        while end - start > 1 && !allowed(earlier.last(), later.as_ref()) {
            if earlier.is_empty() {
                // All of the run moves to the stack, from its end backwards.
                for at in (start..end).rev() {
                    let mut extent = Extent::of(row(at));
                    if let Some(after) = earlier.last() {
                        extent.merge(after);
                    }
                    earlier.push(extent);
                }
                later = None;
            }
            earlier.pop();
            start += 1;
        }
        first[end] = start;
    }
    first
}

/// Sizes of runs of at least `k` records within the limits, the last ones as short as possible.
fn cut(first: &[usize], k: usize) -> Option<Vec<usize>> {
    let count = first.len() - 1;
    // The last place up to each one at which a run may end.
    let mut last: Vec<Option<usize>> = vec![None; count + 1];
    last[0] = Some(0);
    let start_of =
        |last: &[Option<usize>], end: usize| last[end.checked_sub(k)?].filter(|start| *start >= first[end]);
    for end in 1..=count {
        last[end] = if start_of(&last, end).is_some() { Some(end) } else { last[end - 1] };
    }
    let mut sizes = Vec::new();
    let mut end = count;
    while end > 0 {
        let start = start_of(&last, end)?;
        sizes.push(end - start);
        end = start;
    }
    sizes.reverse();
    Some(sizes)
}
