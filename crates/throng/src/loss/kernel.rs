//! The penalty kernel: what a box costs, for every kind of attribute.
//!
//! `spec`: NCP of a group on a number is its width over the domain's; on a category the share of leaves below
//! the lowest common ancestor, 0 for a single value. Weighted and summed over attributes.
//!
//! Attributes are sorted by the shape of their penalty when the kernel is built, so that the inner loops never
//! ask what kind an attribute is:
//! * *linear*: `min(w, p[high] − p[low])` over scaled positions. A missing number sits two widths away from
//!   the lowest, so a box that mixes it with numbers costs the full weight, and one of missing only costs 0;
//! * *flat*: `w` unless low = high;
//! * *pairs*: a table over (low, high), for trees with few leaves;
//! * *sparse*: the range maximum of the penalties of neighbouring leaves, for larger trees.

use super::Extent;
use crate::problem::{Attribute, Code, LANES, Lanes};
use crate::table::{Domain, Scale, Taxonomy};

/// Trees with up to this many leaves get a table over all pairs: 32 KiB at most.
const PAIRS_UP_TO: usize = 64;

/// The penalties of all attributes of a problem.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Number of codes of each attribute.
    domains: Vec<usize>,
    linear: Vec<Linear>,
    flat: Vec<Flat>,
    pairs: Vec<Pairs>,
    sparse: Vec<Sparse>,
}

#[derive(Clone, Debug)]
struct Linear {
    attribute: usize,
    weight: f64,
    position: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Flat {
    attribute: usize,
    weight: f64,
}

#[derive(Clone, Debug)]
struct Pairs {
    attribute: usize,
    leaves: usize,
    penalty: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Sparse {
    attribute: usize,
    /// `rows[j][i]`: penalty of leaves `i ..= i + 2^j`.
    rows: Vec<Vec<f64>>,
}

impl Kernel {
    /// The kernel of some attributes.
    pub fn new(attributes: &[Attribute]) -> Self {
        let mut kernel = Kernel::default();
        for (at, attribute) in attributes.iter().enumerate() {
            kernel.domains.push(attribute.domain.len());
            kernel.add(at, &attribute.domain, attribute.weight);
        }
        kernel
    }

    fn add(&mut self, attribute: usize, domain: &Domain, weight: f64) {
        match domain.scale() {
            Scale::Numeric { values, .. } => {
                let position = positions(values, domain.missing().is_some(), weight);
                self.linear.push(Linear { attribute, weight, position });
            }
            Scale::Categorical(tree) if tree.height() <= 1 => self.flat.push(Flat { attribute, weight }),
            Scale::Categorical(tree) if tree.leaf_count() <= PAIRS_UP_TO => {
                self.pairs.push(Pairs { attribute, leaves: tree.leaf_count(), penalty: pair_table(tree, weight) });
            }
            Scale::Categorical(tree) => self.sparse.push(Sparse { attribute, rows: sparse_table(tree, weight) }),
        }
    }

    /// Weighted penalty of a box.
    #[inline(always)]
    pub fn ncp<C: Code>(&self, extent: &Extent<C>) -> f64 {
        self.ncp_between(extent.lows(), extent.highs())
    }

    /// Weighted penalty of the box between two corners.
    #[inline(always)]
    pub fn ncp_between<C: Code>(&self, low: &[Lanes<C>], high: &[Lanes<C>]) -> f64 {
        let at = |codes: &[Lanes<C>], attribute: usize| codes[attribute / LANES][attribute % LANES].index();
        let mut sum = 0.0;
        for linear in &self.linear {
            sum += linear.penalty(at(low, linear.attribute), at(high, linear.attribute));
        }
        for flat in &self.flat {
            sum += flat.penalty(at(low, flat.attribute), at(high, flat.attribute));
        }
        for pairs in &self.pairs {
            sum += pairs.penalty(at(low, pairs.attribute), at(high, pairs.attribute));
        }
        for sparse in &self.sparse {
            sum += sparse.penalty(at(low, sparse.attribute), at(high, sparse.attribute));
        }
        sum
    }

    /// For every attribute, the weighted penalty of the pair of a record's code and each code of the domain.
    pub fn pairs_with<C: Code>(&self, row: &[Lanes<C>]) -> Vec<Vec<f64>> {
        let own = |attribute: usize| row[attribute / LANES][attribute % LANES].index();
        let all = |count: usize, own: usize, penalty: &dyn Fn(usize, usize) -> f64| {
            (0..count).map(|code| penalty(own.min(code), own.max(code))).collect()
        };
        let mut tables = vec![Vec::new(); self.domains.len()];
        for linear in &self.linear {
            let at = linear.attribute;
            tables[at] = all(self.domains[at], own(at), &|low, high| linear.penalty(low, high));
        }
        for flat in &self.flat {
            let at = flat.attribute;
            tables[at] = all(self.domains[at], own(at), &|low, high| flat.penalty(low, high));
        }
        for pairs in &self.pairs {
            let at = pairs.attribute;
            tables[at] = all(self.domains[at], own(at), &|low, high| pairs.penalty(low, high));
        }
        for sparse in &self.sparse {
            let at = sparse.attribute;
            tables[at] = all(self.domains[at], own(at), &|low, high| sparse.penalty(low, high));
        }
        tables
    }

    /// Weighted penalty of each attribute of a box, written to `penalties`.
    pub fn each<C: Code>(&self, extent: &Extent<C>, penalties: &mut [f64]) {
        let low = |attribute| extent.low(attribute).index();
        let high = |attribute| extent.high(attribute).index();
        for linear in &self.linear {
            penalties[linear.attribute] = linear.penalty(low(linear.attribute), high(linear.attribute));
        }
        for flat in &self.flat {
            penalties[flat.attribute] = flat.penalty(low(flat.attribute), high(flat.attribute));
        }
        for pairs in &self.pairs {
            penalties[pairs.attribute] = pairs.penalty(low(pairs.attribute), high(pairs.attribute));
        }
        for sparse in &self.sparse {
            penalties[sparse.attribute] = sparse.penalty(low(sparse.attribute), high(sparse.attribute));
        }
    }
}

impl Linear {
    #[inline(always)]
    fn penalty(&self, low: usize, high: usize) -> f64 {
        (self.position[high] - self.position[low]).min(self.weight)
    }
}

impl Flat {
    #[inline(always)]
    fn penalty(&self, low: usize, high: usize) -> f64 {
        if low == high { 0.0 } else { self.weight }
    }
}

impl Pairs {
    #[inline(always)]
    fn penalty(&self, low: usize, high: usize) -> f64 {
        self.penalty[low * self.leaves + high]
    }
}

impl Sparse {
    #[inline(always)]
    fn penalty(&self, low: usize, high: usize) -> f64 {
        if low == high {
            return 0.0;
        }
        let level = (high - low).ilog2() as usize;
        let row = &self.rows[level];
        row[low].max(row[high - (1 << level)])
    }
}

/// Where each number lies on a scale of 0 … weight; a missing value lies beyond.
fn positions(values: &[f64], missing: bool, weight: f64) -> Vec<f64> {
    let (first, last) = match values {
        [first, .., last] => (*first, *last),
        _ => (0.0, 0.0),
    };
    // Halved, so that a domain from the least to the greatest double does not overflow.
    let from_first = |value: f64| value / 2.0 - first / 2.0;
    let width = from_first(last);
    let scaled = |value: &f64| if width > 0.0 { from_first(*value) / width * weight } else { 0.0 };
    values.iter().map(scaled).chain(missing.then_some(2.0 * weight)).collect()
}

fn pair_table(tree: &Taxonomy, weight: f64) -> Vec<f64> {
    let leaves = tree.leaf_count();
    let mut penalty = vec![0.0; leaves * leaves];
    for low in 0..leaves {
        for high in low + 1..leaves {
            penalty[low * leaves + high] = share(tree, low, high, weight);
        }
    }
    penalty
}

fn sparse_table(tree: &Taxonomy, weight: f64) -> Vec<Vec<f64>> {
    let leaves = tree.leaf_count();
    let levels = if leaves > 1 { (leaves - 1).ilog2() as usize + 1 } else { 0 };
    (0..levels)
        .map(|level| (0..leaves - (1 << level)).map(|low| share(tree, low, low + (1 << level), weight)).collect())
        .collect()
}

fn share(tree: &Taxonomy, low: usize, high: usize, weight: f64) -> f64 {
    tree.leaves_under(tree.ancestor(low, high)).len() as f64 / tree.leaf_count() as f64 * weight
}
