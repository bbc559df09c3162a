//! Cutting a line into runs of k … 2k − 1 records with the least total cost.
//!
//! `best(i) = min over k ≤ s < 2k of best(i − s) + cost(run of s records that ends at i)`.
//!
//! Records come as a stream in the order of the line: the state is a window of 2k − 1 records and values of `best`, a
//! block of records being costed, and one choice per record to trace the cut back. The costs of different ends do
//! not depend on each other, so a block is costed in parallel; only the minimum is taken in sequence, beside the
//! costing of the next block.

use std::collections::VecDeque;

use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::mapping::Line;
use crate::parallel;
use crate::problem::{Code, LANES, Lanes, Matrix};
use crate::watch::Watch;

/// Costs held at a time.
const BLOCK_COSTS: usize = 1 << 18;
/// Fewer records are not worth room of their own.
const LEAST_RECORDS: usize = 16;

/// A stream of records that tells what runs of them cost.
pub trait Stream: Send + Sync {
    /// Room to work in, one per thread.
    type Scratch: Send;

    /// Makes room to work in.
    fn scratch(&self) -> Self::Scratch;

    /// Brings up to `records` more into reach and tells how many there were. Those that lie 2k − 1 or more before
    /// the first of them are not asked for again.
    fn advance(&mut self, records: usize) -> Result<usize>;

    /// Fills `costs[s − k]` with the cost of the run of `s` records that ends before record `end`, for every such run
    /// that fits.
    fn fill(&self, end: usize, costs: &mut [f64], scratch: &mut Self::Scratch);
}

/// The sizes of the best runs, in order. A stream of fewer than k records is one run.
pub fn cut(k: usize, watch: &dyn Watch, stream: &mut impl Stream) -> Result<Vec<usize>> {
    let block = (BLOCK_COSTS / k).max(1);
    let mut runs = Runs::new(k, block);
    let (mut current, mut next) = (vec![0.0; block * k], vec![0.0; block * k]);
    let mut ready = cost_block(stream, 0, k, &mut current)?;
    while ready > 0 {
        let end = runs.end + ready;
        // The next block is costed while this one is searched.
        let ((), costed) = parallel::join(
            || runs.push_block(&current[..ready * k]),
            || cost_block(stream, end, k, &mut next),
        );
        watch.advance(ready as u64);
        watch.check()?;
        ready = costed?;
        std::mem::swap(&mut current, &mut next);
    }
    Ok(runs.sizes())
}

/// Costs the runs that end within the next block of records, the first of which comes after `before` others.
fn cost_block<S: Stream>(stream: &mut S, before: usize, k: usize, costs: &mut [f64]) -> Result<usize> {
    let records = stream.advance(costs.len() / k)?;
    let stream = &*stream;
    let each = parallel::length_of_a_piece(records, LEAST_RECORDS);
    parallel::chunks_mut(&mut costs[..records * k], each * k, |piece, rows| {
        let mut scratch = stream.scratch();
        for (at, row) in rows.chunks_exact_mut(k).enumerate() {
            let end = before + piece * each + at + 1;
            if end >= k {
                stream.fill(end, row, &mut scratch);
            }
        }
    });
    Ok(records)
}

/// The dynamic program. Ends are pushed in order, from 1 on.
struct Runs {
    k: usize,
    /// Records seen.
    end: usize,
    /// Least costs of cutting the first `i` records, for the ends of the block and the 2k − 1 before it, infinite
    /// where there is no cut.
    best: Vec<f64>,
    /// Size of the last run of the best cut of the first `i` records, from `i = 1` on.
    last_size: Vec<u32>,
}

impl Runs {
    fn new(k: usize, block: usize) -> Self {
        let mut best = vec![f64::INFINITY; 2 * k - 1 + block];
        best[2 * k - 2] = 0.0;
        Runs { k, end: 0, best, last_size: Vec::new() }
    }

    fn push_block(&mut self, block: &[f64]) {
        let window = 2 * self.k - 1;
        for (at, costs) in block.chunks_exact(self.k).enumerate() {
            self.end += 1;
            // From the run of k records to that of 2k − 1, their starts go backwards.
            let starts = &self.best[at..at + self.k];
            let sizes = costs.len().min((self.end + 1).saturating_sub(self.k));
            let (mut best, mut best_size) = (f64::INFINITY, self.k);
            for ((cost, start), size) in costs[..sizes].iter().zip(starts.iter().rev()).zip(self.k..) {
                let total = start + cost;
                if total < best {
                    (best, best_size) = (total, size);
                }
            }
            self.best[at + window] = best;
            self.last_size.push(best_size as u32);
        }
        let ends = block.len() / self.k;
        self.best.copy_within(ends..ends + window, 0);
    }

    fn sizes(&self) -> Vec<usize> {
        if self.end < self.k { vec![self.end] } else { traced_back(&self.last_size) }
    }
}

/// The sizes of runs, from the size of the last run of the best cut of the first `i` records, from `i = 1` on.
fn traced_back(last_size: &[u32]) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut end = last_size.len();
    while end > 0 {
        let size = last_size[end - 1] as usize;
        sizes.push(size);
        end -= size;
    }
    sizes.reverse();
    sizes
}

/// The sizes of the runs that reach least along a line, all together. `keys` tell where the records lie, ascending.
///
/// A run costs its last key minus its first, so the best start of a run is the one with the greatest `key − best`,
/// whatever the end: the greatest of a window that moves along, which takes O(N) for all ends, whatever k. In whole
/// numbers nothing is rounded, and none is negative: runs that end before a key do not reach further than to it.
pub fn cut_by_reach(k: usize, keys: &[u64], watch: &dyn Watch) -> Result<Vec<usize>> {
    if keys.len() < k {
        return Ok(vec![keys.len()]);
    }
    let mut last_size = vec![0; keys.len()];
    // `key − best` of the last k places where a run may start, in turn; the first k − 1 records are no run.
    let mut saved = vec![None; k];
    saved[0] = Some(keys[0]);
    // Starts of runs and `key − best`, descending; one that is not above a later one is of no use any more.
    let mut starts: VecDeque<(u64, usize)> = VecDeque::with_capacity(k + 1);
    let mut turn = 0;
    for end in k..=keys.len() {
        let start = end - k;
        if let Some(most) = saved[turn] {
            while starts.back().is_some_and(|(other, _)| *other <= most) {
                starts.pop_back();
            }
            starts.push_back((most, start));
        }
        while starts.front().is_some_and(|(_, start)| *start + 2 * k <= end) {
            starts.pop_front();
        }
        saved[turn] = starts.front().map(|(most, start)| {
            last_size[end - 1] = (end - start) as u32;
            let best = keys[end - 1] - most;
            // No run starts after the last record.
            keys.get(end).map_or(0, |key| key - best)
        });
        turn = if turn + 1 == k { 0 } else { turn + 1 };
        if end.is_multiple_of(BLOCK_COSTS) {
            watch.check()?;
        }
    }
    watch.advance(keys.len() as u64);
    Ok(traced_back(&last_size))
}

/// The size of a run times the penalty of its box.
///
/// Costed attribute by attribute rather than record by record: most attributes do not change between the shortest and
/// the longest run, which two boxes tell, and the others need no branch per record.
pub struct BoxCosts<'a, C> {
    matrix: &'a Matrix<C>,
    /// Records that are still to come.
    order: &'a [u32],
    kernel: &'a Kernel,
    k: usize,
    /// The rows in reach; the first of them is that of record `first`.
    rows: Vec<Lanes<C>>,
    first: usize,
}

impl<'a, C: Code> BoxCosts<'a, C> {
    /// Records of a matrix in an order, to be cut into runs of at least `k`.
    pub fn new(matrix: &'a Matrix<C>, order: &'a [u32], kernel: &'a Kernel, k: usize) -> Self {
        BoxCosts { matrix, order, kernel, k, rows: Vec::new(), first: 0 }
    }
}

impl<C: Code> Stream for BoxCosts<'_, C> {
    /// The boxes of the shortest and the longest run.
    type Scratch = [Extent<C>; 2];

    fn scratch(&self) -> Self::Scratch {
        let padding = vec![[C::default(); LANES]; self.matrix.stride()];
        [Extent::of(&padding), Extent::of(&padding)]
    }

    fn advance(&mut self, records: usize) -> Result<usize> {
        let stride = self.matrix.stride();
        let done = (self.rows.len() / stride).saturating_sub(2 * self.k - 2);
        self.rows.drain(..done * stride);
        self.first += done;
        let (next, rest) = self.order.split_at(records.min(self.order.len()));
        self.rows.extend_from_slice(self.matrix.gather(next).data());
        self.order = rest;
        Ok(next.len())
    }

    fn fill(&self, end: usize, costs: &mut [f64], [shortest, longest]: &mut Self::Scratch) {
        let (k, stride) = (self.k, self.matrix.stride());
        let rows =
            |from: usize, to: usize| &self.rows[(from - self.first) * stride..(to - self.first) * stride];
        let further = rows(end.saturating_sub(2 * k - 1), end - k);
        shortest.set_to_rows(rows(end - k, end));
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

/// How far runs reach along the line.
pub struct LineCosts<'a> {
    line: &'a Line,
    k: usize,
    left: usize,
}

impl<'a> LineCosts<'a> {
    /// The records of a line, to be cut into runs of at least `k`.
    pub fn new(line: &'a Line, k: usize) -> Self {
        LineCosts { line, k, left: line.order().len() }
    }
}

impl Stream for LineCosts<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn advance(&mut self, records: usize) -> Result<usize> {
        let next = records.min(self.left);
        self.left -= next;
        Ok(next)
    }

    fn fill(&self, end: usize, costs: &mut [f64], (): &mut ()) {
        self.line.reaches(end, self.k, costs);
    }
}
