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
use crate::loss::{Extent, Kernel};
use crate::problem::{Code, LANES, Matrix};
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
///
/// Attribute by attribute rather than record by record: most attributes do not change between the shortest and the
/// longest run, which two boxes tell, and the others need no branch per record.
pub fn box_costs<C: Code>(sorted: &Matrix<C>, kernel: &Kernel, end: usize, k: usize, costs: &mut [f64]) {
    let stride = sorted.stride();
    let start = end.saturating_sub(2 * k - 1);
    let shortest = Extent::of_rows(&sorted.data()[(end - k) * stride..end * stride], stride);
    let mut longest = shortest.clone();
    let further = &sorted.data()[start * stride..(end - k) * stride];
    if !further.is_empty() {
        longest.merge(&Extent::of_rows(further, stride));
    }
    costs.fill(0.0);
    let mut unchanged = 0.0;
    for attribute in 0..kernel.attributes() {
        let (low, high) = (shortest.low(attribute), shortest.high(attribute));
        let penalty = kernel.penalty(attribute, low.index(), high.index());
        if (low, high) == (longest.low(attribute), longest.high(attribute)) {
            unchanged += penalty;
        } else {
            costs[0] += penalty;
            let (group, lane) = (attribute / LANES, attribute % LANES);
            let codes = further.chunks_exact(stride).rev().map(|row| row[group][lane]);
            kernel.add_growing(attribute, (low, high), codes, &mut costs[1..]);
        }
    }
    for (cost, size) in costs.iter_mut().zip(k..) {
        *cost = (*cost + unchanged) * size as f64;
    }
}
