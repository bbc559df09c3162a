//! An estimate for tables that are too large for prices of all records in the time that is given.
//!
//! A class with a record r has K − 1 others, one of which is at least as far from r as its (K − 1)-th nearest record: the class
//! costs at least what the two cost together. The mean of that over all records is a bound, and its mean over a sample an
//! estimate of it, with an interval by the normal approximation.
//!
//! Records stand along a Hilbert curve in blocks with their boxes; a search skips blocks that can hold nothing nearer.

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::mapping;
use crate::parallel;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// Records of the sample at most, and at least.
const SAMPLE: usize = 500;
const LEAST_SAMPLE: usize = 50;
/// With many attributes a search looks at all rows. So many may be looked at in a table of any size, and so many for each record of it.
const LOOKS: u64 = 100_000;
pub(super) const MANY_LOOKS_PER_RECORD: u64 = 20;
pub(super) const FEW_LOOKS_PER_RECORD: u64 = 5;
/// Rows in a block, and blocks in a group of blocks.
const FAN: usize = 32;

/// The mean over a sample, how many records it has, and the 95 % interval.
pub(super) struct Estimate {
    pub gcp: f64,
    pub records: usize,
    pub interval: (f64, f64),
}

/// The estimate for classes of at least `size` records, by so many looks for each record of the table.
pub(super) fn estimate(problem: &Problem, size: usize, looks: u64, watch: &dyn Watch) -> Result<Estimate> {
    let most = LOOKS + looks * problem.len() as u64;
    with_matrix!(&problem.records, matrix => of_matrix(problem, matrix, size, most, watch))
}

fn of_matrix<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    size: usize,
    most_looks: u64,
    watch: &dyn Watch,
) -> Result<Estimate> {
    let line = problem.line(&mapping::HILBERT, watch)?;
    let blocks = Blocks::new(problem, matrix, line.order());
    let mut random = ChaCha8Rng::seed_from_u64(problem.seed);
    random.set_stream(2);
    let sample = index::sample(&mut random, problem.len(), SAMPLE.min(problem.len())).into_vec();
    let of_some = |places: &[usize]| {
        parallel::try_map(places, |place| {
            watch.check()?;
            Ok(blocks.nearest(*place, size - 1))
        })
    };
    // The first of them tell how many more there may be.
    let (first, more) = sample.split_at(LEAST_SAMPLE.min(sample.len()));
    let mut found = of_some(first)?;
    let looks: u64 = found.iter().map(|(_, looks)| looks).sum();
    let affordable = (most_looks / (looks / first.len().max(1) as u64).max(1)) as usize;
    found.extend(of_some(&more[..affordable.saturating_sub(first.len()).min(more.len())])?);
    let scale = 1.0 / problem.total_weight();
    let costs: Vec<f64> = found.into_iter().map(|(cost, _)| scale * cost).collect();
    Ok(summary(&costs, problem.len()))
}

fn summary(costs: &[f64], all: usize) -> Estimate {
    let sampled = costs.len() as f64;
    let mean = costs.iter().sum::<f64>() / sampled;
    let variance = costs.iter().map(|cost| (cost - mean).powi(2)).sum::<f64>() / (sampled - 1.0).max(1.0);
    let unseen = (all as f64 - sampled) / (all as f64 - 1.0).max(1.0);
    let margin = 1.96 * (variance / sampled * unseen).sqrt();
    Estimate { gcp: mean, records: costs.len(), interval: ((mean - margin).max(0.0), mean + margin) }
}

/// Records in the order of a curve, with the boxes of blocks and of groups of blocks.
struct Blocks<C> {
    kernel: Kernel,
    sorted: Matrix<C>,
    boxes: Vec<Extent<C>>,
    groups: Vec<Extent<C>>,
}

impl<C: Code> Blocks<C> {
    fn new(problem: &Problem, matrix: &Matrix<C>, order: &[u32]) -> Self {
        let sorted = matrix.gather(order);
        let stride = sorted.stride();
        let rows = sorted.data().chunks(FAN * stride);
        let boxes: Vec<Extent<C>> = parallel::map(rows, |rows| Extent::of_rows(rows, stride));
        let join = |boxes: &[Extent<C>]| {
            let mut group = boxes[0].clone();
            boxes[1..].iter().for_each(|next| group.merge(next));
            group
        };
        let groups = boxes.chunks(FAN).map(join).collect();
        Blocks { kernel: Kernel::new(&problem.attributes), sorted, boxes, groups }
    }

    /// What a record costs with its n-th nearest, 0 if there are not as many; and how many rows were looked at.
    fn nearest(&self, place: usize, count: usize) -> (f64, u64) {
        let row = self.sorted.row(place);
        let own: Vec<usize> = row.as_flattened().iter().map(|code| code.index()).collect();
        let tables = self.kernel.pairs_with(row);
        let mut found = Found { costs: Vec::new(), count };
        let home = place / FAN;
        self.offer(place, home, &tables, &mut found);
        // Making the tables counts too.
        let entries = tables.iter().map(Vec::len).sum::<usize>() / tables.len().max(1);
        let mut looks = (entries + self.groups.len() + FAN) as u64;
        // What is near on the curve first: the sooner near records are found, the more blocks can hold nothing nearer.
        let own_group = home / FAN;
        let others = (0..self.groups.len()).filter(|group| *group != own_group);
        for group in std::iter::once(own_group).chain(others) {
            if least(&tables, &own, &self.groups[group]) >= found.limit() {
                continue;
            }
            looks += FAN as u64;
            for (block, extent) in self.boxes.iter().enumerate().skip(group * FAN).take(FAN) {
                if block != home && least(&tables, &own, extent) < found.limit() {
                    self.offer(place, block, &tables, &mut found);
                    looks += FAN as u64;
                }
            }
        }
        let cost = found.costs.last().copied().filter(|_| found.costs.len() == count);
        (cost.unwrap_or(0.0), looks)
    }

    fn offer(&self, place: usize, block: usize, tables: &[Vec<f64>], found: &mut Found) {
        let end = ((block + 1) * FAN).min(self.sorted.len());
        for other in (block * FAN..end).filter(|other| *other != place) {
            let codes = &self.sorted.row(other).as_flattened()[..tables.len()];
            let mut cost = 0.0;
            for at in 0..tables.len() {
                cost += tables[at][codes[at].index()];
            }
            found.add(cost);
        }
    }
}

/// The least that a record in a box could cost with the one of the tables.
fn least<C: Code>(tables: &[Vec<f64>], own: &[usize], extent: &Extent<C>) -> f64 {
    let (lows, highs) =
        (&extent.lows().as_flattened()[..own.len()], &extent.highs().as_flattened()[..own.len()]);
    let mut cost = 0.0;
    for at in 0..own.len().min(tables.len()) {
        cost += tables[at][own[at].clamp(lows[at].index(), highs[at].index())];
    }
    cost
}

/// The smallest of some costs, ascending.
struct Found {
    costs: Vec<f64>,
    count: usize,
}

impl Found {
    fn limit(&self) -> f64 {
        match self.costs.last() {
            Some(last) if self.costs.len() == self.count => *last,
            _ => f64::INFINITY,
        }
    }

    fn add(&mut self, cost: f64) {
        if cost < self.limit() {
            self.costs.truncate(self.count - 1);
            let at = self.costs.partition_point(|other| *other <= cost);
            self.costs.insert(at, cost);
        }
    }
}
