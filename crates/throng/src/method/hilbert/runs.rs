//! Cutting an order into runs of k … 2k − 1 with the least total cost.
//!
//! `best(i) = min over k ≤ s < 2k of best(i − s) + cost(run of s records that ends at i)`.
//!
//! The costs of different ends do not depend on each other, so blocks of ends are costed in parallel; only the
//! minimum is taken in sequence, beside the costing of the next block. The state is a window of 2k − 1 values of
//! `best` and one choice per record, so records can come as a stream in curve order.

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::problem::{Code, LANES, Matrix};
use crate::watch::Watch;

/// Costs held at a time.
const BLOCK_COSTS: usize = 1 << 18;

/// What runs cost.
pub trait Costs: Sync {
    /// Room to work in, one per thread.
    type Scratch: Send;

    /// Makes room to work in.
    fn scratch(&self) -> Self::Scratch;

    /// Fills `costs[s − k]` with the cost of the run of `s` records that ends before `end`, for every such run that
    /// fits.
    fn fill(&self, end: usize, costs: &mut [f64], scratch: &mut Self::Scratch);
}

/// The sizes of the best runs, in order.
pub fn cut(count: usize, k: usize, watch: &dyn Watch, costs: &impl Costs) -> Result<Vec<usize>> {
    if count < 2 * k {
        return Ok(vec![count]);
    }
    let ends_per_block = (BLOCK_COSTS / k).clamp(1, count);
    let fill = |first: usize, block: &mut [f64]| {
        let rows = block.par_chunks_exact_mut(k).enumerate().with_min_len(16);
        rows.for_each_init(|| costs.scratch(), |scratch, (at, row)| costs.fill(first + at, row, scratch));
    };
    let ends_from = |end: usize| ends_per_block.min((count + 1).saturating_sub(end));
    let mut runs = Runs::new(k, count, ends_per_block);
    let mut current = vec![0.0; ends_per_block * k];
    let mut next = current.clone();
    let mut end = k;
    fill(end, &mut current[..ends_from(end) * k]);
    while end <= count {
        let ends = ends_from(end);
        let after = ends_from(end + ends);
        // The next block is costed while this one is searched.
        rayon::join(|| runs.push_block(&current[..ends * k]), || fill(end + ends, &mut next[..after * k]));
        std::mem::swap(&mut current, &mut next);
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
    /// Least costs of cutting the first `i` records, for the ends of the block and the 2k − 1 before it, infinite
    /// where there is no cut.
    best: Vec<f64>,
    /// Size of the last run of the best cut of the first `i` records, from `i = k` on.
    last_size: Vec<u32>,
}

impl Runs {
    fn new(k: usize, count: usize, ends_per_block: usize) -> Self {
        let mut best = vec![f64::INFINITY; 2 * k - 1 + ends_per_block];
        // The window before the first block ends at k − 1, so 0 is k places from its end.
        best[2 * k - 1 - k] = 0.0;
        Runs { k, end: k, best, last_size: Vec::with_capacity(count + 1 - k) }
    }

    fn push_block(&mut self, block: &[f64]) {
        let window = 2 * self.k - 1;
        for (at, costs) in block.chunks_exact(self.k).enumerate() {
            // From the run of k records to that of 2k − 1, their starts go backwards.
            let starts = &self.best[at..at + self.k];
            let sizes = costs.len().min(self.end + 1 - self.k);
            let (mut best, mut best_size) = (f64::INFINITY, self.k);
            for ((cost, start), size) in costs[..sizes].iter().zip(starts.iter().rev()).zip(self.k..) {
                let total = start + cost;
                if total < best {
                    (best, best_size) = (total, size);
                }
            }
            self.best[at + window] = best;
            self.last_size.push(best_size as u32);
            self.end += 1;
        }
        let ends = block.len() / self.k;
        self.best.copy_within(ends..ends + window, 0);
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

/// The size of a run times the penalty of its box.
///
/// Costed attribute by attribute rather than record by record: most attributes do not change between the shortest and
/// the longest run, which two boxes tell, and the others need no branch per record.
pub struct BoxCosts<'a, C> {
    /// The records in order.
    pub sorted: &'a Matrix<C>,
    /// The penalties.
    pub kernel: &'a Kernel,
    /// Records of the shortest run.
    pub k: usize,
}

impl<C: Code> Costs for BoxCosts<'_, C> {
    /// The boxes of the shortest and the longest run.
    type Scratch = [Extent<C>; 2];

    fn scratch(&self) -> Self::Scratch {
        [Extent::of(self.sorted.row(0)), Extent::of(self.sorted.row(0))]
    }

    fn fill(&self, end: usize, costs: &mut [f64], [shortest, longest]: &mut Self::Scratch) {
        let (k, stride) = (self.k, self.sorted.stride());
        let start = end.saturating_sub(2 * k - 1);
        let further = &self.sorted.data()[start * stride..(end - k) * stride];
        shortest.set_to_rows(&self.sorted.data()[(end - k) * stride..end * stride]);
        longest.clone_from(shortest);
        longest.grow_rows(further);
        costs.fill(0.0);
        let mut unchanged = 0.0;
        for attribute in 0..self.kernel.attributes() {
            let (low, high) = (shortest.low(attribute), shortest.high(attribute));
            let penalty = self.kernel.penalty(attribute, low.index(), high.index());
            if (low, high) == (longest.low(attribute), longest.high(attribute)) {
                unchanged += penalty;
            } else {
                costs[0] += penalty;
                let (group, lane) = (attribute / LANES, attribute % LANES);
                let codes = further.chunks_exact(stride).rev().map(|row| row[group][lane]);
                self.kernel.add_growing(attribute, (low, high), codes, &mut costs[1..]);
            }
        }
        for (cost, size) in costs.iter_mut().zip(k..) {
            *cost = (*cost + unchanged) * size as f64;
        }
    }
}
