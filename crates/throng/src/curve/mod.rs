//! The Hilbert curve in any number of dimensions: an order in which near records lie together.
//!
//! Skilling's transform (Programming the Hilbert curve, 2004) turns coordinates into the bits of the index.
//! A key has d·b bits in as many 64-bit words as that takes. Records are transformed several at a time, one per
//! vector lane, and lanes are as narrow as the coordinates allow.
//!
//! Where a code lies on its axis is a table: [`Curve::new`] scales every domain to the same width, `fit` finds the
//! scale and the order of axes that suit a table.

mod fit;
mod lanes;

use lanes::Lane;
use rayon::slice::ParallelSliceMut;

use crate::collections::Arrange;
use crate::data::{Code, Matrix};
use crate::parallel;

/// Records transformed together.
const BATCH: usize = 16;
/// Fewer batches are not worth room of their own.
const LEAST_BATCHES: usize = 64;
/// Bits of a coordinate that are spread by one look into a table.
const SPREAD: u32 = 11;

/// A curve through the grid of some attributes.
#[derive(Clone, Debug)]
pub struct Curve {
    bits: u32,
    axes: Vec<Axis>,
}

#[derive(Clone, Debug)]
struct Axis {
    attribute: usize,
    /// Where each code lies, below 2^bits.
    coordinates: Vec<u32>,
}

/// Keys of records, `words` words each, the most significant first.
#[derive(Clone, Debug)]
pub struct Keys {
    words: usize,
    data: Vec<u64>,
}

impl Curve {
    /// The curve for attributes with domains of these sizes. Codes are scaled to a grid of b bits, b large enough for
    /// the largest domain, by the power of two that fills it best; small domains become the first axes.
    pub fn new(domains: &[usize]) -> Self {
        let bits = bits_of(domains.iter().copied().max().unwrap_or(0));
        let mut axes: Vec<Axis> = (0..domains.len())
            .map(|attribute| {
                let shift = bits - bits_of(domains[attribute]);
                let coordinates = (0..domains[attribute] as u32).map(|code| code << shift).collect();
                Axis { attribute, coordinates }
            })
            .collect();
        axes.arrange_by_key(|axis| domains[axis.attribute]);
        Curve { bits, axes }
    }

    /// Words per key.
    pub fn words(&self) -> usize {
        (self.axes.len() * self.bits as usize).div_ceil(64).max(1)
    }

    /// The keys of all rows.
    pub fn keys<C: Code>(&self, matrix: &Matrix<C>) -> Keys {
        match self.bits {
            0..=8 => self.keys_by::<u8, C>(matrix),
            9..=16 => self.keys_by::<u16, C>(matrix),
            _ => self.keys_by::<u32, C>(matrix),
        }
    }

    fn keys_by<L: Lane, C: Code>(&self, matrix: &Matrix<C>) -> Keys {
        let words = self.words();
        let narrow = |axis: &Axis| axis.coordinates.iter().map(|place| L::from_low_bits(*place)).collect();
        let coordinates: Vec<Vec<L>> = self.axes.iter().map(narrow).collect();
        let spread = self.spread();
        let mut data = vec![0; matrix.len() * words];
        let records = parallel::length_of_a_piece(matrix.len().div_ceil(BATCH), LEAST_BATCHES) * BATCH;
        parallel::chunks_mut(&mut data, records * words, |piece, keys| {
            let mut lanes = vec![[L::default(); BATCH]; self.axes.len()];
            for (batch, keys) in keys.chunks_mut(BATCH * words).enumerate() {
                let (first, count) = (piece * records + batch * BATCH, keys.len() / words);
                for at in 0..self.axes.len() {
                    let (lanes, attribute) = (&mut lanes[at][..count], self.axes[at].attribute);
                    let coordinates = &coordinates[at];
                    for row in 0..count {
                        lanes[row] = coordinates[matrix.get(first + row, attribute).index()];
                    }
                }
                lanes::transpose(&mut lanes, self.bits);
                self.interleave(&lanes, &spread, keys);
            }
        });
        Keys { words, data }
    }

    /// The bits of each number with room for those of the other axes between them.
    fn spread(&self) -> Vec<u64> {
        let bits = self.bits.min(SPREAD);
        let apart = self.axes.len() as u32;
        let place = |number: u64, bit: u32| (number >> bit & 1).checked_shl(bit * apart).unwrap_or(0);
        (0..1 << bits).map(|number| (0..bits).map(|bit| place(number, bit)).sum()).collect()
    }

    /// The bits of the axes in turn, from the highest down.
    fn interleave<L: Lane>(&self, axes: &[[L; BATCH]], spread: &[u64], keys: &mut [u64]) {
        let words = self.words();
        if words > 1 {
            for (lane, key) in keys.chunks_exact_mut(words).enumerate() {
                interleave(&axes.iter().map(|axis| axis[lane].low_bits()), self.bits, key);
            }
            return;
        }
        keys.fill(0);
        for low in (0..self.bits).step_by(SPREAD as usize) {
            let mut part = [0u64; BATCH];
            for axis in axes {
                for lane in 0..BATCH {
                    let bits = (axis[lane].low_bits() >> low) as usize & (spread.len() - 1);
                    part[lane] = part[lane] << 1 | spread[bits];
                }
            }
            for (key, part) in keys.iter_mut().zip(part) {
                *key |= part << (low * axes.len() as u32);
            }
        }
    }
}

/// Bits that tell so many values apart; at least one.
fn bits_of(values: usize) -> u32 {
    usize::BITS - (values.max(2) - 1).leading_zeros()
}

/// The bits of the axes in turn, from the highest down, into the low end of a key.
fn interleave(axes: &(impl Iterator<Item = u32> + Clone), bits: u32, key: &mut [u64]) {
    key.fill(0);
    let total = axes.clone().count() * bits as usize;
    let mut place = total;
    let words = key.len();
    for bit in (0..bits).rev() {
        for axis in axes.clone() {
            place -= 1;
            key[words - 1 - place / 64] |= u64::from(axis >> bit & 1) << (place % 64);
        }
    }
}

impl Keys {
    /// Number of keys.
    pub fn len(&self) -> usize {
        self.data.len() / self.words
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// One key.
    pub fn key(&self, record: usize) -> &[u64] {
        &self.data[record * self.words..(record + 1) * self.words]
    }

    /// The records by key; equal keys keep input order.
    pub fn order(&self) -> Vec<u32> {
        if self.words == 1 {
            return parallel::places(&parallel::sorted_with_places(&self.data));
        }
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.par_sort_unstable_by(|a, b| self.key(*a as usize).cmp(self.key(*b as usize)).then(a.cmp(b)));
        order
    }

    /// The records by key, and their keys in that order.
    pub fn sorted(self) -> (Vec<u32>, Self) {
        if self.words == 1 {
            let sorted = parallel::sorted_with_places(&self.data);
            let key = |at: usize| (sorted[at] >> u64::BITS) as u64;
            let data = parallel::fill(sorted.len(), parallel::FEW_STEPS, key);
            return (parallel::places(&sorted), Keys { data, ..self });
        }
        let order = self.order();
        let data = order.iter().flat_map(|record| self.key(*record as usize)).copied().collect();
        (order, Keys { data, ..self })
    }

    /// All keys, if each has one word.
    pub fn single_words(&self) -> Option<&[u64]> {
        (self.words == 1).then_some(&self.data)
    }

    /// How far the key before `end` lies after the one `shortest` places before `end`, and after each one before that.
    pub fn reaches(&self, end: usize, shortest: usize, reaches: &mut [f64]) {
        for (reach, size) in reaches.iter_mut().zip(shortest..=end) {
            *reach = self.distance(end - size, end - 1);
        }
    }

    /// How far the key of `to` lies after that of `from`, which is not greater. Subtracted exactly, then rounded,
    /// so that near keys keep their distance however long they are.
    pub fn distance(&self, from: usize, to: usize) -> f64 {
        if self.words == 1 {
            return (self.data[to] - self.data[from]) as f64;
        }
        let (from, to) = (self.key(from), self.key(to));
        let (mut distance, mut scale, mut borrow) = (0.0, 1.0, false);
        for word in (0..self.words).rev() {
            let (less, first) = to[word].overflowing_sub(from[word]);
            let (less, second) = less.overflowing_sub(u64::from(borrow));
            borrow = first || second;
            distance += less as f64 * scale;
            scale *= 2f64.powi(64);
        }
        distance
    }
}

/// The index of one point, for tests and other callers with few points: coordinates below 2^bits.
///
/// ```
/// use throng::curve::index_of;
/// assert_eq!(index_of(&[0, 0], 1), [0]);
/// assert_eq!(index_of(&[1, 0], 1), [3]);
/// ```
pub fn index_of(coordinates: &[u32], bits: u32) -> Vec<u64> {
    let mut axes: Vec<[u32; 1]> = coordinates.iter().map(|coordinate| [*coordinate]).collect();
    lanes::transpose(&mut axes, bits);
    let mut key = vec![0; (coordinates.len() * bits as usize).div_ceil(64).max(1)];
    interleave(&axes.iter().map(|axis| axis[0]), bits, &mut key);
    key
}
