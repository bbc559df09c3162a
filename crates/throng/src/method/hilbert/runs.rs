//! Cutting an order into runs of k … 2k − 1 with the least total cost.
//!
//! `best(i) = min over k ≤ s < 2k of best(i − s) + cost(run of s records that ends at i)`.
//!
//! The costs of different ends do not depend on each other, so blocks of ends are costed in parallel; only the
//! minimum is taken in sequence. The state is a window of the last 2k values of `best` plus one choice per
//! record, so records can come as a stream in curve order.

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::error::Result;
use crate::loss::{Extent, Kernel, grow_lanes};
use crate::problem::{Code, LANES, Lanes, Matrix};
use crate::watch::Watch;

/// Costs held at a time.
const BLOCK_COSTS: usize = 1 << 19;

/// The sizes of the best runs, in order. `costs(end, row)` fills `row[s − k]` with the cost of the run of `s`
/// records that ends before `end`, for every such run that fits.
pub fn cut(
    count: usize,
    k: usize,
    watch: &dyn Watch,
    costs: impl Fn(usize, &mut [f64]) + Sync,
) -> Result<Vec<usize>> {
    if count < 2 * k {
        return Ok(vec![count]);
    }
    let mut runs = Runs::new(k, count);
    let ends_per_block = (BLOCK_COSTS / k).clamp(1, count);
    let mut block = vec![0.0; ends_per_block * k];
    let mut end = k;
    while end <= count {
        let ends = ends_per_block.min(count + 1 - end);
        let block = &mut block[..ends * k];
        block.par_chunks_exact_mut(k).enumerate().with_min_len(16).for_each(|(at, row)| costs(end + at, row));
        for row in block.chunks_exact(k) {
            runs.push(row);
        }
        end += ends;
        watch.advance(ends as u64);
        watch.check()?;
    }
    Ok(runs.sizes())
}

/// The dynamic program. Ends are pushed in order, from `k` on.
struct Runs {
    k: usize,
    end: usize,
    /// `best[i % len]` for the last 2k ends.
    best: Vec<f64>,
    /// Size of the last run of the best cut of the first `i` records, from `i = k` on.
    last_size: Vec<u32>,
}

impl Runs {
    fn new(k: usize, count: usize) -> Self {
        let mut best = vec![f64::INFINITY; 2 * k];
        best[0] = 0.0;
        Runs { k, end: k, best, last_size: Vec::with_capacity(count + 1 - k) }
    }

    fn push(&mut self, costs: &[f64]) {
        let window = self.best.len();
        let (mut best, mut best_size) = (f64::INFINITY, self.k);
        for (cost, size) in costs.iter().zip(self.k..=self.end) {
            let total = self.best[(self.end - size) % window] + cost;
            if total < best {
                (best, best_size) = (total, size);
            }
        }
        self.best[self.end % window] = best;
        self.last_size.push(best_size as u32);
        self.end += 1;
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes = Vec::new();
        let mut end = self.end - 1;
        while end > 0 {
            let size = self.last_size[end - self.k] as usize;
            sizes.push(size);
            end -= size;
        }
        sizes.reverse();
        sizes
    }
}

/// For the run of each size from k on that ends before `end`: its size times the penalty of its box.
#[inline]
pub fn box_costs<C: Code>(sorted: &Matrix<C>, kernel: &Kernel, end: usize, k: usize, costs: &mut [f64]) {
    let stride = sorted.stride();
    let rows = &sorted.data()[(end - k) * stride..end * stride];
    let before = sorted.data()[end.saturating_sub(2 * k - 1) * stride..(end - k) * stride].chunks_exact(stride);
    let mut extent = Extent::of_rows(rows, stride);
    let mut penalty = kernel.ncp(&extent);
    costs[0] = k as f64 * penalty;
    let further = costs[1..].iter_mut().zip(before.rev()).zip(k + 1..);
    if let (&[low], &[high]) = (extent.lows(), extent.highs()) {
        // Few attributes: the box stays in registers, and what changes of it is costed alone.
        let (mut low, mut high) = (low, high);
        for ((cost, row), size) in further {
            let old = (low, high);
            grow_lanes(&mut low, &mut high, &row[0]);
            // Most records lie inside the box already.
            if old != (low, high) {
                penalty += added_penalty(kernel, old, (low, high));
            }
            *cost = size as f64 * penalty;
        }
        return;
    }
    for ((cost, row), size) in further {
        if extent.grow(row) {
            penalty = kernel.ncp(&extent);
        }
        *cost = size as f64 * penalty;
    }
}

/// What a box costs more than the smaller one it grew from. Attributes that did not change are not looked up.
fn added_penalty<C: Code>(
    kernel: &Kernel,
    (old_low, old_high): (Lanes<C>, Lanes<C>),
    (low, high): (Lanes<C>, Lanes<C>),
) -> f64 {
    let mut changed = 0u32;
    for lane in 0..LANES {
        changed |= u32::from(old_low[lane] != low[lane] || old_high[lane] != high[lane]) << lane;
    }
    let mut added = 0.0;
    while changed != 0 {
        let lane = changed.trailing_zeros() as usize;
        added += kernel.penalty(lane, low[lane].index(), high[lane].index())
            - kernel.penalty(lane, old_low[lane].index(), old_high[lane].index());
        changed &= changed - 1;
    }
    added
}
