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
}

impl Rough {
    pub fn new(attributes: &[Attribute], kernel: &Kernel) -> Self {
        let (lines, trees, others) = (Vec::new(), Vec::new(), Vec::new());
        let mut rough = Rough { lines, trees, others, figures: Vec::new(), kernel: kernel.clone() };
        for (at, attribute) in attributes.iter().enumerate() {
            let (start, values) = (rough.figures.len(), attribute.domain.len());
            let penalty = |low: usize, high: usize| kernel.penalty(at, low, high) as f32;
            match attribute.domain.scale() {
                Scale::Numeric { .. } => {
                    let missing = attribute.domain.missing().is_some();
                    let numbers = values - usize::from(missing);
                    rough.figures.extend((0..numbers).map(|code| penalty(0, code)));
                    // A missing value lies as far from all numbers as they can lie apart.
                    rough.figures.extend(missing.then_some(2.0 * attribute.weight as f32));
                    rough.lines.push((at, start, attribute.weight as f32));
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
    pub fn with<C: Code>(&self, ends: &[Lanes<C>], row: &[Lanes<C>]) -> f32 {
        let ([low, high], [row]) = (ends, row) else { return self.with_many(ends, row) };
        let (mut low, mut high) = (*low, *high);
        for lane in 0..LANES {
            low[lane] = low[lane].min(row[lane]);
            high[lane] = high[lane].max(row[lane]);
        }
        self.sum(|at| (low[at % LANES].index(), high[at % LANES].index()))
    }

    fn with_many<C: Code>(&self, ends: &[Lanes<C>], row: &[Lanes<C>]) -> f32 {
        let (low, high) = ends.split_at(row.len());
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

    /// Number of attributes.
    pub fn attributes(&self) -> usize {
        self.kernel.attributes()
    }

    /// Penalty of one attribute between two codes in any order.
    #[inline]
    pub fn between(&self, at: usize, one: usize, other: usize) -> f64 {
        self.kernel.penalty(at, one.min(other), one.max(other))
    }
}
