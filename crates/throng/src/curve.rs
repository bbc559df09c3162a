//! The Hilbert curve in any number of dimensions: an order in which near records lie together.
//!
//! Skilling's transform (Programming the Hilbert curve, 2004) turns coordinates into the bits of the index.
//! A key has d·b bits in as many 64-bit words as that takes. Records are transformed several at a time, one per
//! vector lane.
//!
//! Where a code lies on its axis is a table: [`Curve::new`] scales every domain to the same width, `fit` finds the
//! scale and the order of axes that suit a table.

mod fit;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::problem::{Code, Matrix};

/// Records transformed together.
const BATCH: usize = 8;

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
    /// Bits that are in use.
    bits: u32,
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
        axes.sort_by_key(|axis| domains[axis.attribute]);
        Curve { bits, axes }
    }

    /// Words per key.
    pub fn words(&self) -> usize {
        (self.axes.len() * self.bits as usize).div_ceil(64).max(1)
    }

    /// The keys of all rows.
    pub fn keys<C: Code>(&self, matrix: &Matrix<C>) -> Keys {
        let words = self.words();
        let mut data = vec![0; matrix.len() * words];
        data.par_chunks_mut(BATCH * words).enumerate().with_min_len(64).for_each_init(
            || vec![[0; BATCH]; self.axes.len()],
            |axes, (at, keys)| self.batch(matrix, at * BATCH, axes, keys),
        );
        Keys { words, bits: self.axes.len() as u32 * self.bits, data }
    }

    fn batch<C: Code>(&self, matrix: &Matrix<C>, first: usize, axes: &mut [[u32; BATCH]], keys: &mut [u64]) {
        let words = self.words();
        let count = keys.len() / words;
        for (coordinates, axis) in axes.iter_mut().zip(&self.axes) {
            for (lane, coordinate) in coordinates[..count].iter_mut().enumerate() {
                *coordinate = axis.coordinates[matrix.get(first + lane, axis.attribute).index()];
            }
        }
        transpose(axes, self.bits);
        if words == 1 {
            let mut interleaved = [0u64; BATCH];
            for bit in (0..self.bits).rev() {
                for axis in axes.iter() {
                    for lane in 0..BATCH {
                        interleaved[lane] = interleaved[lane] << 1 | u64::from(axis[lane] >> bit & 1);
                    }
                }
            }
            keys.copy_from_slice(&interleaved[..count]);
        } else {
            for (lane, key) in keys.chunks_exact_mut(words).enumerate() {
                interleave(&axes.iter().map(|axis| axis[lane]), self.bits, key);
            }
        }
    }
}

/// Bits that tell so many values apart; at least one.
fn bits_of(values: usize) -> u32 {
    usize::BITS - (values.max(2) - 1).leading_zeros()
}

/// Skilling's transform of coordinates into the transposed index, for several points at once.
fn transpose<const N: usize>(axes: &mut [[u32; N]], bits: u32) {
    let Some(last) = axes.len().checked_sub(1) else { return };
    for bit in (1..bits).rev() {
        let below = (1u32 << bit) - 1;
        for axis in 0..=last {
            let (mut first, mut other) = (axes[0], axes[axis]);
            for lane in 0..N {
                // All ones where the bit is set: invert the low bits of the first axis, else exchange them.
                let set = 0u32.wrapping_sub(other[lane] >> bit & 1);
                let exchange = (first[lane] ^ other[lane]) & below & !set;
                first[lane] ^= exchange | (below & set);
                other[lane] ^= exchange;
            }
            axes[axis] = other;
            if axis == 0 {
                // Exchanging an axis with itself changes nothing; only the inversion counts.
                for lane in 0..N {
                    let set = 0u32.wrapping_sub(axes[0][lane] >> bit & 1);
                    axes[0][lane] ^= below & set;
                }
            } else {
                axes[0] = first;
            }
        }
    }
    for axis in 1..=last {
        for lane in 0..N {
            axes[axis][lane] ^= axes[axis - 1][lane];
        }
    }
    let mut flip = [0u32; N];
    for bit in (1..bits).rev() {
        for lane in 0..N {
            flip[lane] ^= ((1u32 << bit) - 1) & 0u32.wrapping_sub(axes[last][lane] >> bit & 1);
        }
    }
    for axis in axes.iter_mut() {
        for lane in 0..N {
            axis[lane] ^= flip[lane];
        }
    }
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
            return self.order_of_single_words();
        }
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.par_sort_unstable_by(|a, b| self.key(*a as usize).cmp(self.key(*b as usize)).then(a.cmp(b)));
        order
    }

    /// Sorts words that hold the leading bits of a key and the record; records whose leading bits agree, which are
    /// few, are then put into order by their whole keys.
    fn order_of_single_words(&self) -> Vec<u32> {
        let id_bits = usize::BITS - self.len().leading_zeros();
        let dropped = (self.bits + id_bits).saturating_sub(u64::BITS);
        let pack = |(record, key): (usize, &u64)| key >> dropped << id_bits | record as u64;
        let mut packed: Vec<u64> = self.data.par_iter().enumerate().map(pack).collect();
        packed.par_sort_unstable();
        let mask = (1u64 << id_bits) - 1;
        let mut order: Vec<u32> = packed.par_iter().map(|word| (word & mask) as u32).collect();
        if dropped > 0 {
            let mut start = 0;
            for run in packed.chunk_by(|a, b| a >> id_bits == b >> id_bits) {
                let end = start + run.len();
                order[start..end].sort_unstable_by_key(|record| (self.data[*record as usize], *record));
                start = end;
            }
        }
        order
    }

    /// All keys, if each has one word.
    pub fn single_words(&self) -> Option<&[u64]> {
        (self.words == 1).then_some(&self.data)
    }

    /// The keys in another order.
    pub fn gather(&self, order: &[u32]) -> Self {
        let data = order.iter().flat_map(|record| self.key(*record as usize)).copied().collect();
        Keys { words: self.words, bits: self.bits, data }
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
    transpose(&mut axes, bits);
    let mut key = vec![0; (coordinates.len() * bits as usize).div_ceil(64).max(1)];
    interleave(&axes.iter().map(|axis| axis[0]), bits, &mut key);
    key
}
