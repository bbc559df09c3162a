//! A lower bound on the loss of every release.
//!
//! Any k-anonymous generalization puts a record r into a class with at least k − 1 others, so its class costs at
//! least the (k − 1)-th smallest penalty of {r, x}. With l-diversity the class holds at least ⌈l⌉ different
//! sensitive values, so it costs at least the (⌈l⌉ − 1)-th smallest of the penalties to the nearest record of each
//! other value. The mean over all records bounds the loss of every local recoding; over a sample of records it
//! estimates that bound, and we state a 95 % interval.
//!
//! Cost: one pass over all records for each record looked at, shared among threads.

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::Kernel;
use crate::audit::LowerBound;
use crate::error::Result;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// Pairs of records compared at most, unless that would leave too few records for an interval.
const PAIRS: usize = 50_000_000;
/// Records looked at at least.
const LEAST_SAMPLE: usize = 50;

/// The bound for a problem's class size and the given l.
pub fn lower_bound(problem: &Problem, l: Option<f64>, watch: &dyn Watch) -> Result<LowerBound> {
    let count = problem.len();
    let size = (PAIRS / count.max(1)).max(LEAST_SAMPLE).min(count);
    let sample: Vec<u32> = if size == count {
        (0..count as u32).collect()
    } else {
        let mut random = ChaCha8Rng::seed_from_u64(problem.seed);
        random.set_stream(2);
        index::sample(&mut random, count, size).into_iter().map(|record| record as u32).collect()
    };
    let kernel = Kernel::new(&problem.attributes);
    let distinct = l.map_or(1, |l| l.ceil().max(1.0) as usize);
    let scale = 1.0 / problem.total_weight();
    let bounds: Vec<f64> = with_matrix!(&problem.records, matrix => sample
        .par_iter()
        .map(|&record| {
            watch.check()?;
            Ok(scale * record_bound(problem, matrix, &kernel, record, distinct))
        })
        .collect::<Result<Vec<f64>>>()?);
    Ok(summarize(&bounds, count))
}

fn record_bound<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    kernel: &Kernel,
    record: u32,
    distinct: usize,
) -> f64 {
    let mut nearest = Nearest::new(problem.requirement.smallest_class().saturating_sub(1));
    let mut of_value: Vec<Vec<f64>> =
        if distinct > 1 { problem.sensitive.iter().map(|counted| vec![f64::INFINITY; counted.domain.len()]).collect() } else { Vec::new() };
    let tables = kernel.pairs_with(matrix.row(record as usize));
    for (other, row) in matrix.data().chunks_exact(matrix.stride()).enumerate() {
        if other == record as usize {
            continue;
        }
        let codes = row.as_flattened();
        let penalty = tables.iter().zip(codes).map(|(table, code)| table[code.index()]).sum();
        nearest.offer(penalty);
        for (of_value, counted) in of_value.iter_mut().zip(&problem.sensitive) {
            let best = &mut of_value[counted.codes[other] as usize];
            *best = best.min(penalty);
        }
    }
    let mut bound = nearest.furthest();
    for (mut of_value, counted) in of_value.into_iter().zip(&problem.sensitive) {
        of_value.swap_remove(counted.codes[record as usize] as usize);
        of_value.sort_by(f64::total_cmp);
        bound = bound.max(of_value.get(distinct - 2).copied().filter(|bound| bound.is_finite()).unwrap_or(0.0));
    }
    bound
}

/// Keeps the n smallest of what it is offered.
struct Nearest {
    heap: Vec<f64>,
    room: usize,
    worst: f64,
}

impl Nearest {
    fn new(room: usize) -> Self {
        Nearest { heap: Vec::with_capacity(2 * room), room, worst: f64::INFINITY }
    }

    #[inline]
    fn offer(&mut self, value: f64) {
        if value >= self.worst || self.room == 0 {
            return;
        }
        self.heap.push(value);
        // Selecting once per `room` offers costs a constant per offer.
        if self.heap.len() >= 2 * self.room {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.heap.len() >= self.room {
            self.heap.select_nth_unstable_by(self.room - 1, f64::total_cmp);
            self.heap.truncate(self.room);
            self.worst = self.heap[self.room - 1];
        }
    }

    fn furthest(mut self) -> f64 {
        if self.room == 0 || self.heap.len() < self.room {
            return 0.0;
        }
        self.shrink();
        self.worst
    }
}

/// Mean and, for a sample, the interval by the normal approximation with the correction for finite tables.
fn summarize(bounds: &[f64], count: usize) -> LowerBound {
    let sampled = bounds.len() as f64;
    let mean = bounds.iter().sum::<f64>() / sampled;
    let interval = (bounds.len() < count).then(|| {
        let variance = bounds.iter().map(|bound| (bound - mean).powi(2)).sum::<f64>() / (sampled - 1.0);
        let unseen = (count as f64 - sampled) / (count as f64 - 1.0);
        let margin = 1.96 * (variance / sampled * unseen).sqrt();
        ((mean - margin).max(0.0), mean + margin)
    });
    LowerBound { gcp: mean, records: bounds.len() as u64, interval }
}
