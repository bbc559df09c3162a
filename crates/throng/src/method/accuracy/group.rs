//! A group along the line, while records come and go.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Sorted;
use crate::loss::{Extent, Kernel};
use crate::privacy::Histogram;
use crate::problem::{Code, LANES, Lanes, Matrix, Problem};

/// Attributes of up to so many values have a table of how often each occurs, others a tree.
const TABULATED: usize = 1 << 12;

/// A group that still changes. Records are told by their places on the line.
pub(super) struct Group<C> {
    /// What it grew from, in the order of the line; some may have moved away.
    own: Vec<u32>,
    /// What came from a neighbour. It does not move on.
    arrived: Vec<u32>,
    /// `own` by value, and the values that have any.
    buckets: Vec<Bucket>,
    touched: Vec<u32>,
    pub counts: Counts,
    pub around: Around<C>,
}

/// Records of one value, by what they would cost a neighbour.
#[derive(Clone, Debug, Default)]
struct Bucket {
    own: Vec<u32>,
    /// For whom `near` was made: the pair, and how often the neighbour had shrunk.
    made_for: (u32, u32),
    /// The least that the neighbour's box would cost with each record, as the bits of a number that is not negative,
    /// and its place.
    near: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<C: Code> Group<C> {
    /// An empty group of a problem, over so many sensitive values.
    pub fn new(problem: &Problem, matrix: &Matrix<C>, values: usize) -> Self {
        Group {
            own: Vec::new(),
            arrived: Vec::new(),
            buckets: vec![Bucket::default(); values],
            touched: Vec::new(),
            counts: Counts::new(values),
            around: Around::new(problem, matrix.stride()),
        }
    }

    /// Empties it, keeping its memory, and begins anew with a record.
    pub fn begin(&mut self, line: &Sorted<C>, place: u32) {
        for value in self.touched.drain(..) {
            let bucket = &mut self.buckets[value as usize];
            bucket.own.clear();
            bucket.near.clear();
            bucket.made_for = (0, 0);
        }
        self.own.clear();
        self.arrived.clear();
        self.counts.clear();
        self.around.clear(line.row(place));
        self.grow(line, place);
    }

    pub fn len(&self) -> usize {
        self.counts.size
    }

    /// Takes in the record that comes next on the line.
    pub fn grow(&mut self, line: &Sorted<C>, place: u32) {
        let value = line.values[place as usize];
        let bucket = &mut self.buckets[value as usize];
        if bucket.own.is_empty() {
            self.touched.push(value);
        }
        bucket.own.push(place);
        self.own.push(place);
        self.counts.add(value);
        self.around.add(line.kernel, line.row(place));
    }

    /// Takes in a record of a neighbour.
    pub fn receive(&mut self, line: &Sorted<C>, place: u32) {
        self.arrived.push(place);
        self.counts.add(line.values[place as usize]);
        self.around.add(line.kernel, line.row(place));
    }

    /// Lets a record go, which is marked as moved.
    pub fn release(&mut self, line: &Sorted<C>, place: u32) {
        self.counts.remove(line.values[place as usize]);
        self.around.remove(line.kernel, line.row(place));
    }

    /// The places of its records.
    pub fn places(&self, moved: &[bool]) -> impl Iterator<Item = u32> {
        let stayed = self.own.iter().filter(|place| !moved[**place as usize]);
        stayed.chain(&self.arrived).copied()
    }

    /// Its own record of a value that enlarges a neighbour least, of equals the first, if any may move there. The record is
    /// taken to move. The neighbour mostly grows, which makes what was known of the others a lower bound: only those that
    /// come up are looked at again. Once it has shrunk, all are.
    pub fn pop_nearest(
        &mut self,
        line: &Sorted<C>,
        moved: &[bool],
        value: u32,
        neighbour: &Around<C>,
        pair: u32,
    ) -> Option<u32> {
        let Bucket { own, made_for, near } = &mut self.buckets[value as usize];
        let enlarged = |place: u32| Some((neighbour.penalty_with(line, line.row(place))?.to_bits(), place));
        if *made_for != (pair, neighbour.shrunk) {
            *made_for = (pair, neighbour.shrunk);
            near.clear();
            near.extend(
                own.iter()
                    .filter(|place| !moved[**place as usize])
                    .filter_map(|place| enlarged(*place))
                    .map(Reverse),
            );
        }
        while let Some(Reverse((least, place))) = near.pop() {
            match enlarged(place) {
                Some((cost, _)) if cost <= least => return Some(place),
                Some(later) => near.push(Reverse(later)),
                // It never will be allowed while the neighbour only grows.
                None => {}
            }
        }
        None
    }
}

/// How often each sensitive value occurs, and the most frequent one.
pub(super) struct Counts {
    values: Histogram,
    /// How many values occur so often.
    of_count: Vec<u32>,
    most: u32,
    size: usize,
}

impl Counts {
    fn new(values: usize) -> Self {
        Counts { values: Histogram::new(values), of_count: vec![0], most: 0, size: 0 }
    }

    fn clear(&mut self) {
        self.values.clear();
        self.of_count.clear();
        self.of_count.push(0);
        (self.most, self.size) = (0, 0);
    }

    fn add(&mut self, value: u32) {
        let before = self.values.count(value);
        self.values.add(value);
        self.size += 1;
        if before == self.most {
            self.most += 1;
            self.of_count.push(0);
        }
        self.of_count[before as usize + 1] += 1;
        if before > 0 {
            self.of_count[before as usize] -= 1;
        }
    }

    fn remove(&mut self, value: u32) {
        let before = self.values.count(value);
        self.values.remove(value);
        self.size -= 1;
        self.of_count[before as usize] -= 1;
        if before > 1 {
            self.of_count[before as usize - 1] += 1;
        }
        if before == self.most && self.of_count[before as usize] == 0 {
            self.of_count.pop();
            self.most -= 1;
        }
    }

    /// How often the most frequent value occurs.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// The same with one more record of a value.
    pub fn most_with(&self, value: u32) -> u32 {
        self.most.max(self.values.count(value) + 1)
    }

    /// The same with one record less of a value that occurs.
    pub fn most_without(&self, value: u32) -> u32 {
        let alone = self.values.count(value) == self.most && self.of_count[self.most as usize] == 1;
        self.most - u32::from(alone)
    }

    /// The values that occur, the most frequent first, of equally frequent ones the lowest.
    pub fn by_frequency(&self, values: &mut Vec<u32>) {
        values.clear();
        values.extend(self.values.present().map(|(value, _)| value));
        values.sort_unstable_by_key(|value| (Reverse(self.values.count(*value)), *value));
    }
}

/// A box that records enter and leave.
pub(super) struct Around<C> {
    extent: Extent<C>,
    penalty: f64,
    occurring: Vec<Occurring>,
    /// How often it became smaller.
    shrunk: u32,
}

/// How often each code of an attribute occurs.
enum Occurring {
    Table(Vec<u32>),
    Tree(BTreeMap<usize, u32>),
}

impl<C: Code> Around<C> {
    fn new(problem: &Problem, stride: usize) -> Self {
        let occurring = problem.attributes.iter().map(|attribute| match attribute.domain.len() {
            values @ ..=TABULATED => Occurring::Table(vec![0; values]),
            _ => Occurring::Tree(BTreeMap::new()),
        });
        let extent = Extent::of(&vec![[C::default(); LANES]; stride]);
        Around { extent, penalty: 0.0, occurring: occurring.collect(), shrunk: 0 }
    }

    fn clear(&mut self, first: &[Lanes<C>]) {
        self.extent.set_to_rows(first);
        self.penalty = 0.0;
        self.occurring.iter_mut().for_each(Occurring::clear);
        self.shrunk = 0;
    }

    fn add(&mut self, kernel: &Kernel, row: &[Lanes<C>]) {
        for (occurring, code) in self.occurring.iter_mut().zip(row.as_flattened()) {
            occurring.add(code.index());
        }
        if self.extent.grow(row) {
            self.penalty = kernel.ncp(&self.extent);
        }
    }

    fn remove(&mut self, kernel: &Kernel, row: &[Lanes<C>]) {
        let mut smaller = false;
        for (at, (occurring, code)) in self.occurring.iter_mut().zip(row.as_flattened()).enumerate() {
            let (low, high) = (self.extent.low(at), self.extent.high(at));
            let is_last = occurring.remove(code.index());
            if is_last && low != high && (*code == low || *code == high) {
                let (low, high) = occurring.ends(low.index(), high.index());
                self.extent.set(at, C::from_index(low), C::from_index(high));
                smaller = true;
            }
        }
        if smaller {
            self.penalty = kernel.ncp(&self.extent);
            self.shrunk += 1;
        }
    }

    /// What it would cost with one more record, if that is within the limits.
    pub fn penalty_with(&self, line: &Sorted<C>, row: &[Lanes<C>]) -> Option<f64> {
        if self.extent.contains(row) {
            return Some(self.penalty);
        }
        let mut extent = line.scratch.borrow_mut();
        extent.clone_from(&self.extent);
        extent.grow(row);
        line.limits.loss_within(line.kernel, &extent)
    }
}

impl Occurring {
    fn clear(&mut self) {
        match self {
            Occurring::Table(counts) => counts.fill(0),
            Occurring::Tree(counts) => counts.clear(),
        }
    }

    fn add(&mut self, code: usize) {
        match self {
            Occurring::Table(counts) => counts[code] += 1,
            Occurring::Tree(counts) => *counts.entry(code).or_insert(0) += 1,
        }
    }

    /// Takes one out and tells whether it was the last of its code.
    fn remove(&mut self, code: usize) -> bool {
        match self {
            Occurring::Table(counts) => {
                counts[code] -= 1;
                counts[code] == 0
            }
            Occurring::Tree(counts) => {
                let Some(count) = counts.get_mut(&code) else { return false };
                *count -= 1;
                let is_last = *count == 0;
                if is_last {
                    counts.remove(&code);
                }
                is_last
            }
        }
    }

    /// The lowest and highest code that occur, both between the given ones.
    fn ends(&self, low: usize, high: usize) -> (usize, usize) {
        let ends = match self {
            Occurring::Table(counts) => {
                let occurs = |code: &usize| counts[*code] > 0;
                ((low..=high).find(occurs), (low..=high).rev().find(occurs))
            }
            Occurring::Tree(counts) => (
                counts.first_key_value().map(|(code, _)| *code),
                counts.last_key_value().map(|(code, _)| *code),
            ),
        };
        (ends.0.unwrap_or(low), ends.1.unwrap_or(high))
    }
}
