//! What boxes cost, roughly but fast: single precision, and tables so small that they stay in the nearest cache. It only
//! decides what is looked at; what is kept is decided by the kernel.

use crate::loss::Kernel;
use crate::problem::{Attribute, Code, LANES, Lanes};
use crate::table::Scale;

/// Trees with more values than this are asked of the kernel.
const PAIRS_UP_TO: usize = 128;

/// Rough penalties of all attributes.
pub(super) struct Rough {
    /// Attribute, where its positions begin, and its weight.
    lines: Vec<(usize, usize, f32)>,
    /// Attribute, where its table begins, and its number of values.
    trees: Vec<(usize, usize, usize)>,
    others: Vec<usize>,
    figures: Vec<f32>,
    kernel: Kernel,
    /// For each attribute that is a line where its positions begin, and its weight.
    line_of: Vec<Option<(usize, f32)>>,
    /// For each attribute that is a tree with a table, how far its values lie apart.
    steps: Vec<Option<Steps>>,
}

/// How far the values of an attribute lie apart, from each of them: the distances that occur, and which of them each other
/// value has.
pub(super) struct Steps {
    values: usize,
    ranks: Vec<u8>,
    distances: Vec<Vec<f64>>,
}

impl Steps {
    /// The distances from a value, ascending, and the place of each value among them.
    #[inline]
    pub fn from(&self, own: usize) -> (&[f64], &[u8]) {
        (&self.distances[own], &self.ranks[own * self.values..(own + 1) * self.values])
    }

    fn new(values: usize, penalty: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let mut steps = Steps { values, ranks: Vec::with_capacity(values * values), distances: Vec::new() };
        for own in 0..values {
            let to = |other: usize| if own == other { 0.0 } else { penalty(own.min(other), own.max(other)) };
            let mut distances: Vec<f64> = (0..values).map(to).collect();
            distances.sort_unstable_by(f64::total_cmp);
            distances.dedup();
            if distances.len() > MOST_STEPS {
                return None;
            }
            steps.ranks.extend((0..values).map(|other| {
                let distance = to(other);
                distances.partition_point(|known| *known < distance) as u8
            }));
            steps.distances.push(distances);
        }
        Some(steps)
    }
}

/// Distances from one value, at most; a set of them is a number with a bit for each.
const MOST_STEPS: usize = 64;

impl Rough {
    pub fn new(attributes: &[Attribute], kernel: &Kernel) -> Self {
        let (lines, trees, others) = (Vec::new(), Vec::new(), Vec::new());
        let (figures, kernel_of) = (Vec::new(), kernel.clone());
        let (line_of, steps) = (vec![None; attributes.len()], Vec::new());
        let mut rough = Rough { lines, trees, others, figures, kernel: kernel_of, line_of, steps };
        for (at, attribute) in attributes.iter().enumerate() {
            let (start, values) = (rough.figures.len(), attribute.domain.len());
            let penalty = |low: usize, high: usize| kernel.penalty(at, low, high) as f32;
            rough.steps.push(match attribute.domain.scale() {
                Scale::Categorical(_) if values <= PAIRS_UP_TO => {
                    Steps::new(values, |low, high| kernel.penalty(at, low, high))
                }
                _ => None,
            });
            match attribute.domain.scale() {
                Scale::Numeric { .. } => {
                    let missing = attribute.domain.missing().is_some();
                    let numbers = values - usize::from(missing);
                    rough.figures.extend((0..numbers).map(|code| penalty(0, code)));
                    // A missing value lies as far from all numbers as they can lie apart.
                    rough.figures.extend(missing.then_some(2.0 * attribute.weight as f32));
                    rough.lines.push((at, start, attribute.weight as f32));
                    rough.line_of[at] = Some((start, attribute.weight as f32));
                }
                Scale::Categorical(_) if values <= PAIRS_UP_TO => {
                    let pairs = (0..values).flat_map(|low| (0..values).map(move |high| (low, high)));
                    let pair =
                        |(low, high): (usize, usize)| if low < high { penalty(low, high) } else { 0.0 };
                    rough.figures.extend(pairs.map(pair));
                    rough.trees.push((at, start, values));
                }
                Scale::Categorical(_) => rough.others.push(at),
            }
        }
        rough
    }

    /// Penalty of a box grown around a record.
    #[inline]
    pub fn union<C: Code>(&self, (lows, highs): (&[Lanes<C>], &[Lanes<C>]), row: &[Lanes<C>]) -> f32 {
        let ([low], [high], [row]) = (lows, highs, row) else {
            return self.union_of_many((lows, highs), row);
        };
        let (mut low, mut high) = (*low, *high);
        for lane in 0..LANES {
            low[lane] = low[lane].min(row[lane]);
            high[lane] = high[lane].max(row[lane]);
        }
        self.sum(|at| (low[at % LANES].index(), high[at % LANES].index()))
    }

    fn union_of_many<C: Code>(&self, (low, high): (&[Lanes<C>], &[Lanes<C>]), row: &[Lanes<C>]) -> f32 {
        self.sum(|at| {
            let (group, lane) = (at / LANES, at % LANES);
            let code = row[group][lane];
            (low[group][lane].min(code).index(), high[group][lane].max(code).index())
        })
    }

    #[inline(always)]
    fn sum(&self, ends: impl Fn(usize) -> (usize, usize)) -> f32 {
        let mut sum = 0.0;
        for &(at, start, weight) in &self.lines {
            let (low, high) = ends(at);
            sum += (self.figures[start + high] - self.figures[start + low]).min(weight);
        }
        for &(at, start, values) in &self.trees {
            let (low, high) = ends(at);
            sum += self.figures[start + low * values + high];
        }
        for &at in &self.others {
            let (low, high) = ends(at);
            sum += self.kernel.penalty(at, low, high) as f32;
        }
        sum
    }

    /// The same of one attribute.
    pub fn one_with<C: Code>(
        &self,
        at: usize,
        (low, high): (&[Lanes<C>], &[Lanes<C>]),
        row: &[Lanes<C>],
    ) -> f32 {
        let (group, lane) = (at / LANES, at % LANES);
        let code = row[group][lane];
        let (low, high) = (low[group][lane].min(code), high[group][lane].max(code));
        self.kernel.penalty(at, low.index(), high.index()) as f32
    }

    /// Number of attributes.
    pub fn attributes(&self) -> usize {
        self.kernel.attributes()
    }

    /// Penalty of one attribute between two codes in any order.
    #[inline]
    pub fn between(&self, at: usize, one: usize, other: usize) -> f64 {
        let (low, high) = (one.min(other), one.max(other));
        match self.line_of[at] {
            Some((start, weight)) => {
                f64::from((self.figures[start + high] - self.figures[start + low]).min(weight))
            }
            None => self.kernel.penalty(at, low, high),
        }
    }

    /// How far the values of an attribute lie apart, if it is a tree of few values.
    #[inline]
    pub fn steps(&self, at: usize) -> Option<&Steps> {
        self.steps[at].as_ref()
    }
}
