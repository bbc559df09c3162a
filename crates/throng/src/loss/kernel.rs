//! The penalty kernel: what a box costs, for every kind of attribute.
//!
//! `spec`: NCP of a group on a number is its width over the domain's; on a category the share of leaves below
//! the lowest common ancestor, by their weights, 0 for a single value. Weighted and summed over attributes.
//!
//! Every attribute has a penalty of one of three shapes, chosen when the kernel is built:
//! * *pairs*: a table over (low, high), for domains with few values of whatever kind;
//! * *linear*: `min(w, p[high] − p[low])` over scaled positions, for numbers. A missing number sits two widths away
//!   from the lowest, so a box that mixes it with numbers costs the full weight, and one of missing only costs 0;
//! * *sparse*: the range maximum of the penalties of neighbouring leaves, for large trees.

use std::borrow::Cow;

use super::Extent;
use crate::data::{Attribute, Code, LANES, Lanes};
use crate::table::{Domain, Scale, Taxonomy};

/// Domains with up to this many values get a table over all pairs: 128 KiB at most.
const PAIRS_UP_TO: usize = 128;

/// Looking up a pair in the kernel costs as much as this many entries of a table that only one record needs.
const PAIRS_PER_VALUE: usize = 4;

/// Pairs that are summed at the same time.
const TOGETHER: usize = 4;

/// After how many attributes a sum may be given up.
const GIVE_UP_EVERY: usize = 4;

/// The penalties of all attributes of a problem.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    attributes: Vec<Penalty>,
    /// All tables in one place, if every attribute has one.
    tables: Option<Tables>,
}

/// Tables over pairs, one after the other.
#[derive(Clone, Debug, Default)]
struct Tables {
    penalties: Vec<f64>,
    /// Where each attribute's table starts, and how many values it has. Padding has one value, which costs nothing: all
    /// lanes can be looked up, without asking how many there are.
    of_lanes: Vec<[(u32, u32); LANES]>,
}

/// The penalties of one attribute.
#[derive(Clone, Debug)]
struct Penalty {
    values: usize,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// Penalty of low and high at `low * values + high`, and at `high * values + low` for those who have a pair.
    Pairs(Vec<f64>),
    Linear {
        weight: f64,
        position: Vec<f64>,
    },
    /// `rows[j][i]`: penalty of leaves `i ..= i + 2^j`.
    Sparse(Vec<Vec<f64>>),
}

impl Kernel {
    /// The kernel of some attributes.
    pub fn new(attributes: &[Attribute]) -> Self {
        let penalty = |attribute: &Attribute| Penalty::new(&attribute.domain, attribute.weight);
        let attributes: Vec<Penalty> = attributes.iter().map(penalty).collect();
        let tables = Tables::new(&attributes);
        Kernel { attributes, tables }
    }

    /// Number of attributes.
    pub fn attributes(&self) -> usize {
        self.attributes.len()
    }

    /// Number of values of all domains together.
    pub fn values(&self) -> usize {
        self.attributes.iter().map(|penalty| penalty.values).sum()
    }

    /// Weighted penalty of one attribute between two codes, the lower one first.
    #[inline(always)]
    pub fn penalty(&self, attribute: usize, low: usize, high: usize) -> f64 {
        self.attributes[attribute].between(low, high)
    }

    /// Weighted penalty of a box.
    pub fn ncp<C: Code>(&self, extent: &Extent<C>) -> f64 {
        let (low, high) = (extent.lows().as_flattened(), extent.highs().as_flattened());
        let mut sum = 0.0;
        for at in 0..self.attributes.len() {
            sum += self.attributes[at].between(low[at].index(), high[at].index());
        }
        sum
    }

    /// Weighted penalty of the box around two boxes, each given by its lowest and highest codes. The sum is given
    /// up once it is above `limit`; what is returned then is above `limit` too.
    #[inline]
    pub fn union_up_to<C: Code>(
        &self,
        (low, high): (&[Lanes<C>], &[Lanes<C>]),
        (other_low, other_high): (&[Lanes<C>], &[Lanes<C>]),
        limit: f64,
    ) -> f64 {
        // The order of the sum is that of `ncp`, so that a box inside another never costs more by rounding.
        let mut sum = 0.0;
        for at in 0..self.attributes.len().div_ceil(LANES) {
            let (mut lows, mut highs) = (low[at], high[at]);
            for lane in 0..LANES {
                lows[lane] = lows[lane].min(other_low[at][lane]);
                highs[lane] = highs[lane].max(other_high[at][lane]);
            }
            let end = self.attributes.len().min((at + 1) * LANES);
            let mut few = 0;
            while at * LANES + few < end {
                match &self.tables {
                    Some(tables) => {
                        for lane in few..few + GIVE_UP_EVERY {
                            let (start, values) = tables.of_lanes[at][lane];
                            let (low, high) = (lows[lane].index(), highs[lane].index());
                            sum += tables.penalties[start as usize + low * values as usize + high];
                        }
                    }
                    None => {
                        for lane in few..(few + GIVE_UP_EVERY).min(end - at * LANES) {
                            let penalty = &self.attributes[at * LANES + lane];
                            sum += penalty.between(lows[lane].index(), highs[lane].index());
                        }
                    }
                }
                few += GIVE_UP_EVERY;
                if sum > limit {
                    return sum;
                }
            }
        }
        sum
    }

    /// Weighted penalty of the box of two records.
    pub fn pair<C: Code>(&self, one: &[Lanes<C>], other: &[Lanes<C>]) -> f64 {
        let (one, other) = (one.as_flattened(), other.as_flattened());
        let mut sum = 0.0;
        for at in 0..self.attributes.len() {
            let (low, high) = (one[at].min(other[at]), one[at].max(other[at]));
            sum += self.attributes[at].between(low.index(), high.index());
        }
        sum
    }

    /// Lets a range of one attribute grow code by code, and adds its penalty after each step to the next sum.
    #[inline]
    pub fn add_growing<C: Code>(
        &self,
        attribute: usize,
        range: (C, C),
        codes: impl Iterator<Item = C>,
        sums: &mut [f64],
    ) {
        let penalty = &self.attributes[attribute];
        // The shape is asked for once, outside of the loop.
        match &penalty.shape {
            Shape::Pairs(table) => grow(range, codes, sums, |low, high| table[low * penalty.values + high]),
            Shape::Linear { .. } | Shape::Sparse(_) => {
                grow(range, codes, sums, |low, high| penalty.between(low, high));
            }
        }
    }

    /// For every attribute, the weighted penalty of the pair of a record's code and each code of the domain.
    pub fn pairs_with<C: Code>(&self, row: &[Lanes<C>]) -> Vec<Vec<f64>> {
        let with = |(penalty, own): (&Penalty, &C)| {
            let own = own.index();
            (0..penalty.values).map(|code| penalty.between(own.min(code), own.max(code))).collect()
        };
        self.attributes.iter().zip(row.as_flattened()).map(with).collect()
    }

    /// The penalties of pairs with a record, for so many others to come; none if they are too few to be worth it.
    pub fn pair_tables<C: Code>(&self, row: &[Lanes<C>], others: usize) -> Option<PairTables<'_>> {
        let attributes = self.attributes.len();
        if let Some(tables) = &self.tables {
            let mut starts = vec![[0; LANES]; tables.of_lanes.len()];
            for at in 0..starts.len() {
                for lane in 0..LANES {
                    let (start, values) = tables.of_lanes[at][lane];
                    starts[at][lane] = start + row[at][lane].index() as u32 * values;
                }
            }
            return Some(PairTables { penalties: Cow::Borrowed(&tables.penalties), starts, attributes });
        }
        if others * PAIRS_PER_VALUE < self.values() {
            return None;
        }
        // Padding costs nothing here too.
        let mut penalties = Vec::with_capacity(1 + self.values());
        penalties.push(0.0);
        let mut starts = vec![[0; LANES]; attributes.div_ceil(LANES)];
        let codes = row.as_flattened().iter().zip(starts.as_flattened_mut());
        for (penalty, (own, start)) in self.attributes.iter().zip(codes) {
            let own = own.index();
            *start = penalties.len() as u32;
            let with = |code: usize| penalty.between(own.min(code), own.max(code));
            penalties.extend((0..penalty.values).map(with));
        }
        Some(PairTables { penalties: Cow::Owned(penalties), starts, attributes })
    }

    /// Weighted penalty of each attribute of a box, written to `penalties`.
    pub fn each<C: Code>(&self, extent: &Extent<C>, penalties: &mut [f64]) {
        for (attribute, penalty) in penalties.iter_mut().enumerate() {
            *penalty = self.penalty(attribute, extent.low(attribute).index(), extent.high(attribute).index());
        }
    }
}

impl Tables {
    fn new(attributes: &[Penalty]) -> Option<Self> {
        let of_lanes = vec![[(0, 0); LANES]; attributes.len().div_ceil(LANES)];
        let mut tables = Tables { penalties: vec![0.0], of_lanes };
        for (penalty, place) in attributes.iter().zip(tables.of_lanes.as_flattened_mut()) {
            let Shape::Pairs(table) = &penalty.shape else { return None };
            *place = (tables.penalties.len() as u32, penalty.values as u32);
            tables.penalties.extend_from_slice(table);
        }
        Some(tables)
    }
}

/// What each code of each attribute costs together with one record.
#[derive(Clone, Debug)]
pub struct PairTables<'a> {
    penalties: Cow<'a, [f64]>,
    starts: Vec<[u32; LANES]>,
    attributes: usize,
}

impl PairTables<'_> {
    /// Tells the penalty of the record with each of some others, in their order.
    #[inline(always)]
    pub fn with_each<C: Code>(&self, rows: &[Lanes<C>], stride: usize, mut tell: impl FnMut(usize, f64)) {
        let row = |place: usize| &rows[place * stride..(place + 1) * stride];
        let count = rows.len() / stride;
        // Most tables are this narrow.
        let few = self.attributes <= LANES / 2;
        if let (1, true, [starts]) = (stride, few, &self.starts[..]) {
            return self.with_each_of_few(starts, rows, tell);
        }
        // Several at a time: each sum is taken in one order, so that the additions of one would wait for each other.
        let together = count - count % TOGETHER;
        let mut first = 0;
        while first < together {
            let penalties = self.with([row(first), row(first + 1), row(first + 2), row(first + 3)]);
            for at in 0..TOGETHER {
                tell(first + at, penalties[at]);
            }
            first += TOGETHER;
        }
        for place in together..count {
            tell(place, self.with([row(place)])[0]);
        }
    }

    #[inline(always)]
    fn with<C: Code, const ROWS: usize>(&self, rows: [&[Lanes<C>]; ROWS]) -> [f64; ROWS] {
        let mut sums = [0.0; ROWS];
        let starts = &self.starts.as_flattened()[..self.attributes];
        for attribute in 0..starts.len() {
            for at in 0..ROWS {
                let code = rows[at][attribute / LANES][attribute % LANES];
                sums[at] += self.penalties[starts[attribute] as usize + code.index()];
            }
        }
        sums
    }

    /// The same for rows of one group of lanes of which the second half is padding.
    #[inline(always)]
    fn with_each_of_few<C: Code>(
        &self,
        starts: &[u32; LANES],
        rows: &[Lanes<C>],
        mut tell: impl FnMut(usize, f64),
    ) {
        let penalties = &self.penalties[..];
        let sums = |rows: &[Lanes<C>; TOGETHER]| {
            let mut sums = [0.0; TOGETHER];
            for lane in 0..LANES / 2 {
                for at in 0..TOGETHER {
                    sums[at] += penalties[starts[lane] as usize + rows[at][lane].index()];
                }
            }
            sums
        };
        let (fours, rest) = rows.as_chunks::<TOGETHER>();
        let mut place = 0;
        for rows in fours {
            for penalty in sums(rows) {
                tell(place, penalty);
                place += 1;
            }
        }
        for row in rest {
            tell(place, sums(&[*row; TOGETHER])[0]);
            place += 1;
        }
    }
}

impl Penalty {
    fn new(domain: &Domain, weight: f64) -> Self {
        let shape = match domain.scale() {
            Scale::Numeric { values, .. } => {
                Shape::Linear { weight, position: positions(values, domain.missing().is_some(), weight) }
            }
            Scale::Categorical(tree) => Shape::Sparse(sparse_table(tree, weight)),
        };
        let general = Penalty { values: domain.len(), shape };
        if domain.len() <= PAIRS_UP_TO { general.tabulated() } else { general }
    }

    /// The same penalties as a table over pairs.
    fn tabulated(&self) -> Self {
        let mut table = vec![0.0; self.values * self.values];
        for low in 0..self.values {
            for high in low..self.values {
                let penalty = self.between(low, high);
                table[low * self.values + high] = penalty;
                table[high * self.values + low] = penalty;
            }
        }
        Penalty { values: self.values, shape: Shape::Pairs(table) }
    }

    #[inline(always)]
    fn between(&self, low: usize, high: usize) -> f64 {
        match &self.shape {
            Shape::Pairs(table) => table[low * self.values + high],
            Shape::Linear { weight, position } => (position[high] - position[low]).min(*weight),
            Shape::Sparse(_) if low == high => 0.0,
            Shape::Sparse(rows) => {
                let level = (high - low).ilog2() as usize;
                let row = &rows[level];
                row[low].max(row[high - (1 << level)])
            }
        }
    }
}

#[inline(always)]
fn grow<C: Code>(
    (mut low, mut high): (C, C),
    codes: impl Iterator<Item = C>,
    sums: &mut [f64],
    penalty: impl Fn(usize, usize) -> f64,
) {
    for (sum, code) in sums.iter_mut().zip(codes) {
        low = low.min(code);
        high = high.max(code);
        *sum += penalty(low.index(), high.index());
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

fn sparse_table(tree: &Taxonomy, weight: f64) -> Vec<Vec<f64>> {
    let leaves = tree.leaf_count();
    let levels = if leaves > 1 { (leaves - 1).ilog2() as usize + 1 } else { 0 };
    (0..levels)
        .map(|level| {
            (0..leaves - (1 << level)).map(|low| share(tree, low, low + (1 << level), weight)).collect()
        })
        .collect()
}

fn share(tree: &Taxonomy, low: usize, high: usize, weight: f64) -> f64 {
    tree.share(tree.ancestor(low, high)) * weight
}
