//! The cheapest box around a record that holds so many others of a pool.
//!
//! Along every attribute the others lie at some distance from the record: the penalty of the two together. Boxes are strings
//! of such distances, looked through depth first, what costs more than the best so far left out. Along the number with the
//! most values they are windows instead. Other numbers have a few distances that stand for all; their boxes may reach to both
//! sides, so there the search is not exact, and neither is it once it has looked at more than it may.

use super::draws::Draws;
use super::rough::Rough;
use crate::collections::sort_by_code;
use crate::problem::{Code, LANES, Matrix};

/// Distances that stand for all where there are more.
const FEW: usize = 6;
/// A search ends after so many looks at a record of the pool, for each of them.
const MOST_LOOKS: usize = 400;

#[derive(Default)]
pub(super) struct Around {
    /// For each attribute the distance of each record of the pool, as a place in the list of distances.
    levels: Vec<Vec<u8>>,
    penalties: Vec<Vec<f64>>,
    /// For each attribute the distances that occur, a bit for each.
    present: Vec<u64>,
    /// Attributes that are looked through, and the one with windows.
    order: Vec<usize>,
    line: Option<usize>,
    line_scale: f64,
    own: usize,
    codes: Vec<u32>,
    lists: Vec<Vec<u32>>,
    wanted: usize,
    best: f64,
    /// What was found: places in the pool.
    pub found: Vec<u32>,
    looks: usize,
    most_looks: usize,
}

/// What is searched.
pub(super) struct Ground<'a, C> {
    pub rough: &'a Rough,
    pub matrix: &'a Matrix<C>,
    pub line: Option<usize>,
}

impl Around {
    /// Looks for the box around a record with `wanted` others of the pool. Tells what it looked at, if it found one.
    pub fn search<C: Code>(
        &mut self,
        ground: &Ground<'_, C>,
        record: u32,
        pool: &[u32],
        wanted: usize,
        wobble: f64,
        draws: &mut Draws,
    ) -> Option<usize> {
        if pool.len() < wanted || wanted == 0 {
            return None;
        }
        let attributes = ground.rough.attributes();
        self.levels.resize(attributes, Vec::new());
        self.penalties.resize(attributes, Vec::new());
        self.present.resize(attributes, 0);
        self.lists.resize(attributes + 1, Vec::new());
        self.line = ground.line;
        let mut base = 0.0;
        self.order.clear();
        for attribute in (0..attributes).filter(|at| Some(*at) != ground.line) {
            self.measure(ground, record, pool, attribute);
            let factor = draws.about_one(wobble);
            self.penalties[attribute].iter_mut().for_each(|penalty| *penalty *= factor);
            let present = self.present[attribute];
            match present.count_ones() {
                1 => base += self.penalties[attribute][present.trailing_zeros() as usize],
                _ => self.order.push(attribute),
            }
        }
        self.put_fewest_distances_first();
        let mut list = std::mem::take(&mut self.lists[attributes]);
        list.clear();
        list.extend(0..pool.len() as u32);
        self.codes.clear();
        if let Some(line) = self.line {
            let code = |record: u32| ground.matrix.row(record as usize)[line / LANES][line % LANES].index();
            self.own = code(record);
            self.codes.extend(pool.iter().map(|record| code(*record) as u32));
            sort_by_code(&mut list, &self.codes);
        }
        self.line_scale = draws.about_one(wobble);
        (self.wanted, self.best, self.looks) = (wanted, f64::INFINITY, 0);
        self.most_looks = MOST_LOOKS * pool.len();
        self.found.clear();
        self.descend(ground, 0, &list, base);
        self.lists[attributes] = list;
        (self.found.len() >= wanted).then_some(self.looks)
    }

    /// Apart from the search, which is compiled for each width of codes.
    fn put_fewest_distances_first(&mut self) {
        self.order.sort_by_key(|at| (self.present[*at].count_ones(), *at));
    }

    /// The distances of the pool from a record along an attribute.
    fn measure<C: Code>(&mut self, ground: &Ground<'_, C>, record: u32, pool: &[u32], attribute: usize) {
        let code =
            |record: u32| ground.matrix.row(record as usize)[attribute / LANES][attribute % LANES].index();
        let (own, levels, penalties) =
            (code(record), &mut self.levels[attribute], &mut self.penalties[attribute]);
        let mut present = 0u64;
        levels.clear();
        if let Some(steps) = ground.rough.steps(attribute) {
            let (distances, ranks) = steps.from(own);
            penalties.clear();
            penalties.extend_from_slice(distances);
            levels.extend(pool.iter().map(|other| {
                let rank = ranks[code(*other)];
                present |= 1 << rank;
                rank
            }));
            self.present[attribute] = present;
            return;
        }
        let distance = |other: u32| ground.rough.between(attribute, own, code(other));
        penalties.clear();
        for &other in pool {
            let distance = distance(other);
            if let Err(at) = penalties.binary_search_by(|known| known.total_cmp(&distance)) {
                penalties.insert(at, distance);
            }
        }
        if penalties.len() > 2 * FEW {
            let last = penalties.len() - 1;
            let few: Vec<f64> = (0..=FEW).map(|at| penalties[at * last / FEW]).collect();
            *penalties = few;
        }
        levels.extend(pool.iter().map(|other| {
            let distance = distance(*other);
            let level = level_of(penalties, distance);
            present |= 1 << level;
            level
        }));
        self.present[attribute] = present;
    }

    fn descend<C: Code>(&mut self, ground: &Ground<'_, C>, depth: usize, list: &[u32], cost: f64) {
        if cost >= self.best || self.looks > self.most_looks {
            return;
        }
        let Some(&attribute) = self.order.get(depth) else { return self.end(ground, list, cost) };
        let mut next = std::mem::take(&mut self.lists[depth]);
        let mut before = 0;
        let mut present = self.present[attribute];
        while present != 0 {
            let level = present.trailing_zeros() as usize;
            present &= present - 1;
            let cost = cost + self.penalties[attribute][level];
            if cost >= self.best {
                break;
            }
            let levels = &self.levels[attribute];
            next.clear();
            next.extend(list.iter().copied().filter(|at| usize::from(levels[*at as usize]) <= level));
            self.looks += list.len();
            if next.len() >= self.wanted && next.len() > before {
                before = next.len();
                self.descend(ground, depth + 1, &next, cost);
            }
        }
        self.lists[depth] = next;
    }

    /// All other attributes are decided.
    fn end<C: Code>(&mut self, ground: &Ground<'_, C>, list: &[u32], cost: f64) {
        self.looks += list.len();
        let Some(line) = self.line else {
            self.best = cost;
            self.found.clear();
            self.found.extend(list);
            return;
        };
        let mut pick = None;
        for window in list.windows(self.wanted) {
            let (first, last) =
                (self.codes[window[0] as usize], self.codes[window[self.wanted - 1] as usize]);
            let (low, high) = (self.own.min(first as usize), self.own.max(last as usize));
            let cost = cost + self.line_scale * ground.rough.between(line, low, high);
            if cost < self.best {
                self.best = cost;
                pick = Some((low, high));
            }
        }
        if let Some((low, high)) = pick {
            let inside = |at: &u32| (low..=high).contains(&(self.codes[*at as usize] as usize));
            self.found.clear();
            self.found.extend(list.iter().copied().filter(inside));
        }
    }
}

/// How many of a few penalties are less.
#[inline]
fn level_of(penalties: &[f64], distance: f64) -> u8 {
    let mut level = 0;
    for at in 0..penalties.len() {
        level += u8::from(penalties[at] < distance);
    }
    level
}
