//! iDistance: each record by the nearest of some reference points, and its distance from it.
//!
//! Zhang et al. 2005, as Ghinita et al. 2009 use it. A tenth of the records, drawn from the seed, is clustered around
//! some points: the median of a cluster's numbers, the most frequent of its categories, a few rounds. The points are
//! ordered along the Hilbert curve. A record lies at its point's rank times the greatest possible distance, plus its
//! own distance, which is the penalty of the box of the two: so records of different points do not mix.
//!
//! Where we differ: the paper takes 512 points whatever the table is. Records at the same distance from a point may lie on all
//! sides of it, so the more points the better, as a rule ([`points_for`]). The exception: with about as many points as classes,
//! most classes reach over from one point to the next, which loses more than with fewer points or with more.
//!
//! Cost: O(p·d·N) for p points, as sums of p neighbouring numbers per attribute, which vectorise.

use std::collections::HashSet;

use rand::SeedableRng;
use rand::seq::{SliceRandom, index};
use rand_chacha::ChaCha8Rng;

use super::{Line, Mapping, Places};
use crate::curve::Curve;
use crate::data::{Code, Data, Matrix};
use crate::error::Result;
use crate::loss::Kernel;
use crate::parallel;
use crate::schema::Kind;
use crate::watch::Watch;
use crate::with_matrix;

/// The mapping.
pub const IDISTANCE: Mapping = Mapping {
    name: "idistance",
    summary: "by the nearest of some reference points and the distance from it",
    map: |data, watch| along_points(data, POINTS, watch),
};

/// Reference points where nothing is known of k, as in the paper.
const POINTS: usize = 512;
/// As many as are ever chosen, and the records that there are for each then.
const MOST: usize = 4096;
const RECORDS_OF_POINT: usize = 4;
/// Distances that may be computed for more than [`POINTS`].
const WORK: usize = 5_000_000_000;
/// Where fewer than [`MOST`] are affordable, so many classes share one, lest they reach from one to the next.
const CLASSES_OF_POINT: usize = 5;
/// Fewer rows are not worth room of their own.
const LEAST_ROWS: usize = 256;
/// One in so many records is in the sample.
const SAMPLED: usize = 10;
/// Rounds of clustering.
const ROUNDS: usize = 4;
/// Domains have their distances to all points tabulated if these are no more.
const TABULATED: usize = 1 << 20;
/// The stream of random numbers that draws the sample.
const STREAM: u64 = 20;

/// How many reference points suit classes of k of so many records with so many attributes: as many as the work allows, but
/// not about as many as there are classes.
pub fn points_for(records: usize, attributes: usize, k: usize) -> usize {
    let affordable = WORK / (records * attributes).max(1);
    if affordable >= MOST {
        return (records / RECORDS_OF_POINT).clamp(POINTS, MOST);
    }
    affordable.min(records / (CLASSES_OF_POINT * k.max(1))).max(POINTS)
}

/// The records of a table along a line of so many reference points, or as many as there are different records.
pub fn along_points(data: &Data, points: usize, watch: &dyn Watch) -> Result<Line> {
    with_matrix!(&data.records, matrix => map(data, matrix, points, watch))
}

fn map<C: Code>(data: &Data, matrix: &Matrix<C>, points: usize, watch: &dyn Watch) -> Result<Line> {
    let kernel = Kernel::new(&data.attributes);
    let points = ordered_points(data, &kernel, matrix, points, watch)?;
    let near = Near::new(&kernel, data, &points);
    watch.check()?;
    let nearest = near.nearest_of_all(matrix);
    watch.check()?;
    Ok(line(&nearest, data.total_weight()))
}

/// The line of records with the nearest point of each, no further from it than so far.
fn line(nearest: &[(u32, f32)], reach: f64) -> Line {
    // Distances are not negative, so their bits are ordered as they are.
    let key = |record: usize| {
        let (point, distance) = nearest[record];
        u64::from(point) << 32 | u64::from(distance.to_bits())
    };
    let keys = parallel::fill(nearest.len(), parallel::FEW_STEPS, key);
    let order = parallel::places(&parallel::sorted_with_places(&keys));
    let place = |at: usize| {
        let (point, distance) = nearest[order[at] as usize];
        f64::from(point) * reach + f64::from(distance).min(reach)
    };
    let numbers = parallel::fill(order.len(), parallel::FEW_STEPS, place);
    Line { order, places: Places::Numbers(numbers) }
}

/// The reference points in the order of the curve.
fn ordered_points<C: Code>(
    data: &Data,
    kernel: &Kernel,
    matrix: &Matrix<C>,
    wanted: usize,
    watch: &dyn Watch,
) -> Result<Matrix<C>> {
    let mut random = ChaCha8Rng::seed_from_u64(data.seed);
    random.set_stream(STREAM);
    let count = matrix.len();
    let drawn = (count / SAMPLED).max(wanted).min(count);
    let mut sample: Vec<u32> =
        index::sample(&mut random, count, drawn).into_iter().map(|at| at as u32).collect();
    sample.sort_unstable();
    let sample_rows = matrix.gather(&sample);
    let mut points = first_points(&sample_rows, wanted, &mut random);
    for _ in 0..ROUNDS {
        watch.check()?;
        points = centered(data, kernel, &sample_rows, points);
    }
    let order = Curve::fit(&data.attributes, matrix).keys(&points).order();
    Ok(points.gather(&order))
}

/// Different records of the sample, in random order.
fn first_points<C: Code>(sample: &Matrix<C>, wanted: usize, random: &mut ChaCha8Rng) -> Matrix<C> {
    let mut order: Vec<u32> = (0..sample.len() as u32).collect();
    order.shuffle(random);
    let mut seen = HashSet::new();
    let codes = |row: u32| {
        sample.row(row as usize).as_flattened().iter().map(|code| code.index()).collect::<Vec<_>>()
    };
    order.retain(|row| seen.len() < wanted && seen.insert(codes(*row)));
    sample.gather(&order)
}

/// The points moved to the middle of what lies nearest to them.
fn centered<C: Code>(data: &Data, kernel: &Kernel, sample: &Matrix<C>, mut points: Matrix<C>) -> Matrix<C> {
    let near = Near::new(kernel, data, &points);
    let nearest = near.nearest_of_all(sample);
    let mut clusters: Vec<Vec<usize>> = vec![Vec::new(); points.len()];
    nearest.into_iter().enumerate().for_each(|(row, (point, _))| clusters[point as usize].push(row));
    for (point, rows) in clusters.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        for (at, attribute) in data.attributes.iter().enumerate() {
            let mut codes: Vec<u32> = rows.iter().map(|row| sample.get(*row, at).index() as u32).collect();
            codes.sort_unstable();
            let middle = match attribute.domain.kind() {
                Kind::Numeric => codes[codes.len() / 2],
                Kind::Categorical => most_frequent(&codes),
            };
            points.set(point, at, C::from_index(middle as usize));
        }
    }
    points
}

/// The value that occurs most often in an ascending list that is not empty; the least of several.
fn most_frequent(ascending: &[u32]) -> u32 {
    let mut best = &ascending[..1];
    for run in ascending.chunk_by(|a, b| a == b) {
        if run.len() > best.len() {
            best = run;
        }
    }
    best[0]
}

/// Distances to all points.
struct Near<'a, C> {
    kernel: &'a Kernel,
    points: &'a Matrix<C>,
    /// For each attribute the distances of each code from all points, where the domain is not too large.
    tables: Vec<Option<Vec<f32>>>,
}

impl<'a, C: Code> Near<'a, C> {
    fn new(kernel: &'a Kernel, data: &Data, points: &'a Matrix<C>) -> Self {
        let tables = data
            .attributes
            .iter()
            .enumerate()
            .map(|(at, attribute)| {
                let values = attribute.domain.len();
                (values * points.len() <= TABULATED).then(|| {
                    let from_points = |code: usize| {
                        (0..points.len()).map(move |point| distance(kernel, points, point, at, code))
                    };
                    (0..values).flat_map(from_points).collect()
                })
            })
            .collect();
        Near { kernel, points, tables }
    }

    /// The nearest point of each row of a matrix, and its distance.
    fn nearest_of_all(&self, matrix: &Matrix<C>) -> Vec<(u32, f32)> {
        let mut nearest = vec![(0, 0.0); matrix.len()];
        let each = parallel::length_of_a_piece(nearest.len(), LEAST_ROWS);
        parallel::chunks_mut(&mut nearest, each, |piece, nearest| {
            let mut sums = Vec::new();
            for at in 0..nearest.len() {
                nearest[at] = self.nearest(matrix, piece * each + at, &mut sums);
            }
        });
        nearest
    }

    /// The nearest point, the first of several, and its distance.
    fn nearest(&self, matrix: &Matrix<C>, row: usize, sums: &mut Vec<f32>) -> (u32, f32) {
        let count = self.points.len();
        sums.clear();
        sums.resize(count, 0.0);
        for (at, table) in self.tables.iter().enumerate() {
            let code = matrix.get(row, at).index();
            match table {
                Some(table) => {
                    let (sums, parts) = (&mut sums[..count], &table[code * count..][..count]);
                    for point in 0..count {
                        sums[point] += parts[point];
                    }
                }
                None => {
                    for (point, sum) in sums.iter_mut().enumerate() {
                        *sum += distance(self.kernel, self.points, point, at, code);
                    }
                }
            }
        }
        let least = sums.iter().copied().fold(f32::INFINITY, f32::min);
        let point = sums.iter().position(|sum| *sum == least).unwrap_or(0);
        (point as u32, least)
    }
}

fn distance<C: Code>(
    kernel: &Kernel,
    points: &Matrix<C>,
    point: usize,
    attribute: usize,
    code: usize,
) -> f32 {
    let own = points.get(point, attribute).index();
    kernel.penalty(attribute, own.min(code), own.max(code)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_have_the_papers_points_and_larger_ones_as_many_as_are_worth_it() {
        assert_eq!(points_for(100, 8, 5), POINTS);
        assert_eq!(points_for(8_000, 8, 25), 2_000);
        assert_eq!(points_for(30_162, 9, 50), MOST);
        assert_eq!(points_for(145_487, 7, 50), MOST);
    }

    #[test]
    fn where_work_is_limited_points_are_far_fewer_than_classes() {
        for k in [2, 5, 10, 50, 100, 1000] {
            for records in [200_000, 500_000, 1_000_000, 10_000_000] {
                let points = points_for(records, 7, k);
                assert!(
                    points == POINTS || CLASSES_OF_POINT * points <= records / k,
                    "{records}, {k}: {points}"
                );
                assert!(points == POINTS || points * records * 7 <= WORK, "{records}, {k}: {points}");
            }
        }
    }
}
