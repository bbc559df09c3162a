//! A lower bound on the loss of every release.
//!
//! Any k-anonymous generalization puts a record r into a class with at least k − 1 others, so its class costs at
//! least the (k − 1)-th smallest penalty of {r, x}, and at least what the cheapest box around r and k − 1 others costs
//! (`joint_box.rs`). Where people are counted these are records of other people, one of each for the nearest. With l-diversity the class holds at least ⌈l⌉ different sensitive values, so it costs at least the (⌈l⌉ − 1)-th smallest of the penalties to the nearest record of each
//! other value. The mean over all records bounds the loss of every local recoding; over a sample of records it
//! estimates that bound, and we state a 95 % interval.
//!
//! Records are ordered along a curve and cut into blocks with their boxes; a search skips every block whose box
//! cannot hold anything nearer than what was found.

mod joint_box;

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;
use serde::{Deserialize, Serialize};

use crate::collections::Map;
use crate::data::People;
use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::mapping;
use crate::problem::{Code, Matrix, Problem, Protected};
use crate::watch::Watch;
use crate::with_matrix;
use joint_box::Sides;

/// Up to this many records all are looked at, beyond it a sample.
const ALL_UP_TO: usize = 2_000;
/// Records looked at in larger tables.
const SAMPLE: usize = 500;
/// Rows in a block, and blocks in a group of blocks.
const FAN: usize = 32;

/// A lower bound on the GCP of any release that meets the requirement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LowerBound {
    /// The bound, or its estimate when sampled.
    pub gcp: f64,
    /// Records it was computed from.
    pub records: u64,
    /// 95 % confidence interval when sampled.
    pub interval: Option<(f64, f64)>,
}

/// The bound for a problem's class size and the given l.
pub fn lower_bound(problem: &Problem, l: Option<f64>, watch: &dyn Watch) -> Result<LowerBound> {
    with_matrix!(&problem.records, matrix => bound_of(problem, matrix, l, watch))
}

fn bound_of<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    l: Option<f64>,
    watch: &dyn Watch,
) -> Result<LowerBound> {
    let count = problem.len();
    let sample: Vec<usize> = if count <= ALL_UP_TO {
        (0..count).collect()
    } else {
        let mut random = ChaCha8Rng::seed_from_u64(problem.seed);
        random.set_stream(2);
        index::sample(&mut random, count, SAMPLE).into_vec()
    };
    let line = problem.line(&mapping::HILBERT, watch)?;
    let blocks = Blocks::new(problem, matrix, line.order());
    let distinct = l.map_or(1, |l| l.ceil().max(1.0) as usize);
    let scale = 1.0 / problem.total_weight();
    let bounds = sample
        .into_par_iter()
        .map(|place| {
            watch.check()?;
            Ok(scale * blocks.record_bound(problem, place, distinct))
        })
        .collect::<Result<Vec<f64>>>()?;
    Ok(summarize(&bounds, count))
}

/// Records in the order of a curve, with the boxes of blocks and of groups of blocks.
struct Blocks<'a, C> {
    kernel: Kernel,
    sorted: Matrix<C>,
    order: &'a [u32],
    boxes: Vec<Extent<C>>,
    groups: Vec<Extent<C>>,
}

impl<'a, C: Code> Blocks<'a, C> {
    fn new(problem: &Problem, matrix: &Matrix<C>, order: &'a [u32]) -> Self {
        let sorted = matrix.gather(order);
        let stride = sorted.stride();
        let boxes: Vec<Extent<C>> =
            sorted.data().par_chunks(FAN * stride).map(|rows| Extent::of_rows(rows, stride)).collect();
        let groups = boxes
            .chunks(FAN)
            .map(|boxes| {
                let mut group = boxes[0].clone();
                boxes[1..].iter().for_each(|next| group.merge(next));
                group
            })
            .collect();
        Blocks { kernel: Kernel::new(&problem.attributes), sorted, order, boxes, groups }
    }

    /// What the class of the record at a place in the order costs at least.
    fn record_bound(&self, problem: &Problem, place: usize, distinct: usize) -> f64 {
        let row = self.sorted.row(place);
        let own = row.as_flattened().iter().map(|code| code.index()).collect();
        let people = problem.people.as_ref().map(|people| (people, self.order));
        let query = Query { place, own, tables: self.kernel.pairs_with(row), people };
        let needed = problem.requirement.smallest_combination().saturating_sub(1);
        let mut bound = 0.0f64;
        if needed > 0 {
            let mut nearest = NearestPlaces {
                kept: Vec::new(),
                room: needed,
                limit: f64::INFINITY,
                people,
                tidy_from: 2 * needed,
            };
            self.search(&query, &mut nearest);
            let nearest = nearest.nearest();
            if nearest.len() == needed {
                bound = self.together(problem, &query, nearest).max(nearest[needed - 1].0);
            }
        }
        if distinct > 1 {
            for counted in &problem.sensitive {
                let mut values = NearestValues::new(counted, self.order, place, distinct - 1);
                self.search(&query, &mut values);
                bound = bound.max(values.furthest());
            }
        }
        bound
    }

    /// What the cheapest box around the record and as many others as these, its nearest, costs at least.
    fn together(&self, problem: &Problem, query: &Query<'_>, nearest: &[(f64, usize)]) -> f64 {
        let mut extent = Extent::of(self.sorted.row(query.place));
        for (_, place) in nearest {
            extent.grow(self.sorted.row(*place));
        }
        // No record that is further away than this box is wide can be in a cheaper one.
        let within = self.kernel.ncp(&extent);
        let most = most_together(problem.len());
        let mut candidates = Within { limit: within, places: Vec::new(), most, too_many: false };
        self.search(query, &mut candidates);
        if candidates.too_many {
            return 0.0;
        }
        let places = candidates.places.iter();
        let records = places.map(|place| self.sorted.row(*place).as_flattened());
        Sides::new(&problem.attributes, &self.kernel, query, records).least_box(nearest.len(), within)
    }

    /// Offers every other record that could matter to a collector, those nearby in the order first.
    fn search(&self, query: &Query<'_>, found: &mut impl Collector) {
        let home = query.place / FAN;
        self.offer_block(query, home, found);
        for (group, extent) in self.groups.iter().enumerate() {
            if query.least(extent) >= found.limit() {
                continue;
            }
            for (block, extent) in self.boxes.iter().enumerate().skip(group * FAN).take(FAN) {
                if block != home && query.least(extent) < found.limit() {
                    self.offer_block(query, block, found);
                }
            }
        }
    }

    fn offer_block(&self, query: &Query<'_>, block: usize, found: &mut impl Collector) {
        let places = block * FAN..((block + 1) * FAN).min(self.order.len());
        let others_only = found.others_only();
        let counts = |place: &usize| *place != query.place && !(others_only && query.is_own(*place));
        for place in places.filter(counts) {
            found.offer(query.penalty(self.sorted.row(place).as_flattened()), place);
        }
    }
}

/// A record whose nearest are looked for.
struct Query<'a> {
    place: usize,
    own: Vec<usize>,
    /// For each attribute the penalty of the pair with each code.
    tables: Vec<Vec<f64>>,
    people: Option<Ordered<'a>>,
}

/// Whose records are, and the record at each place.
type Ordered<'a> = (&'a People, &'a [u32]);

/// The person of the record at a place.
fn person((people, order): Ordered<'_>, place: usize) -> u32 {
    people.of(order[place])
}

impl Query<'_> {
    /// Whether the record at a place is of the same person.
    fn is_own(&self, place: usize) -> bool {
        self.people.is_some_and(|ordered| person(ordered, place) == person(ordered, self.place))
    }

    #[inline]
    fn penalty<C: Code>(&self, codes: &[C]) -> f64 {
        self.tables.iter().zip(codes).map(|(table, code)| table[code.index()]).sum()
    }

    /// The least penalty that a record in a box could have: that of the nearest code of each attribute, because
    /// the penalty of a pair grows with the range between them.
    fn least<C: Code>(&self, extent: &Extent<C>) -> f64 {
        let ends = extent.lows().as_flattened().iter().zip(extent.highs().as_flattened());
        let tables = self.tables.iter().zip(&self.own);
        tables
            .zip(ends)
            .map(|((table, own), (low, high))| table[(*own).clamp(low.index(), high.index())])
            .sum()
    }
}

/// Keeps what is nearest.
trait Collector {
    /// Nothing at this penalty or above matters any more.
    fn limit(&self) -> f64;
    fn offer(&mut self, penalty: f64, place: usize);
    /// Whether records of the same person do not count.
    fn others_only(&self) -> bool {
        true
    }
}

/// The n nearest places; where people are counted, those of different people.
struct NearestPlaces<'a> {
    kept: Vec<(f64, usize)>,
    room: usize,
    limit: f64,
    people: Option<Ordered<'a>>,
    /// As many are put in order and all but the nearest dropped.
    tidy_from: usize,
}

impl NearestPlaces<'_> {
    fn nearest(&mut self) -> &[(f64, usize)] {
        self.kept.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some(ordered) = self.people {
            let mut seen: Map<u32, ()> = Map::default();
            self.kept.retain(|(_, place)| seen.insert(person(ordered, *place), ()).is_none());
        }
        self.kept.truncate(self.room);
        &self.kept
    }
}

impl Collector for NearestPlaces<'_> {
    fn limit(&self) -> f64 {
        self.limit
    }

    fn offer(&mut self, penalty: f64, place: usize) {
        if penalty >= self.limit {
            return;
        }
        self.kept.push((penalty, place));
        if self.kept.len() >= self.tidy_from {
            let room = self.room;
            if let Some((penalty, _)) = self.nearest().get(room - 1) {
                self.limit = *penalty;
            }
            self.tidy_from = (2 * self.kept.len()).max(2 * room);
        }
    }
}

/// All places within a limit, unless there are too many.
struct Within {
    limit: f64,
    places: Vec<usize>,
    most: usize,
    too_many: bool,
}

/// More are not looked at together: that would take longer than it is worth. The larger the table, the fewer, so that the
/// bound does not take longer than the audit that it is a part of.
fn most_together(table: usize) -> usize {
    (1_000_000_000 / table.max(1)).clamp(1_024, 8_192)
}

impl Collector for Within {
    fn limit(&self) -> f64 {
        self.limit
    }

    fn offer(&mut self, penalty: f64, place: usize) {
        if penalty < self.limit {
            self.places.push(place);
        }
        if self.places.len() > self.most {
            (self.too_many, self.limit) = (true, f64::NEG_INFINITY);
        }
    }
}

/// The n smallest of the penalties to the nearest record of each other sensitive value.
struct NearestValues<'a> {
    codes: &'a [u32],
    order: &'a [u32],
    own: u32,
    of_value: Vec<f64>,
    room: usize,
    limit: f64,
}

impl<'a> NearestValues<'a> {
    fn new(counted: &'a Protected, order: &'a [u32], place: usize, room: usize) -> Self {
        let own = counted.codes[order[place] as usize];
        let of_value = vec![f64::INFINITY; counted.domain.len()];
        NearestValues { codes: &counted.codes, order, own, of_value, room, limit: f64::INFINITY }
    }

    fn furthest(self) -> f64 {
        if self.limit.is_finite() { self.limit } else { 0.0 }
    }
}

impl Collector for NearestValues<'_> {
    /// Another value of the same person is another value of the class.
    fn others_only(&self) -> bool {
        false
    }

    fn limit(&self) -> f64 {
        self.limit
    }

    fn offer(&mut self, penalty: f64, place: usize) {
        let value = self.codes[self.order[place] as usize];
        let best = &mut self.of_value[value as usize];
        if value == self.own || penalty >= *best || penalty >= self.limit {
            return;
        }
        *best = penalty;
        if self.room <= self.of_value.len() {
            let mut sorted = self.of_value.clone();
            self.limit = *sorted.select_nth_unstable_by(self.room - 1, f64::total_cmp).1;
        }
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
