//! What the local recodings of Xu et al. 2006 share: halving a set by two seeds, looking for the nearest group, and
//! taking the nearest records of a group.
//!
//! A box is told by two slices of lanes, its lowest and its highest codes ([`Sides`]).

pub mod growing;
pub mod halves;
pub mod index;
pub mod pieces;
pub mod take;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{OptionKind, OptionSpec};
use crate::problem::{Code, LANES, Lanes, Problem};

/// Scans for the two far records that a set is halved by, without being asked.
pub const ROUNDS: usize = 3;

/// The option of methods that halve sets by two seeds.
pub const ROUNDS_OPTION: OptionSpec = OptionSpec {
    name: "rounds",
    kind: OptionKind::Whole { least: 1, default: Some(ROUNDS as u64) },
    help: "scans for the two far records that a set is halved by",
};

/// A box: its lowest and its highest codes.
pub type Sides<'a, C> = (&'a [Lanes<C>], &'a [Lanes<C>]);

/// Boxes of many groups, one after the other.
#[derive(Clone, Debug, Default)]
pub struct BoxList<C> {
    low: Vec<Lanes<C>>,
    high: Vec<Lanes<C>>,
    stride: usize,
}

impl<C: Code> BoxList<C> {
    /// An empty list of boxes of so many groups of lanes.
    pub fn new(stride: usize) -> Self {
        BoxList { low: Vec::new(), high: Vec::new(), stride }
    }

    /// Number of boxes.
    pub fn len(&self) -> usize {
        self.low.len() / self.stride
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// A box.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Sides<'_, C> {
        let lanes = at * self.stride..(at + 1) * self.stride;
        (&self.low[lanes.clone()], &self.high[lanes])
    }

    /// Adds a box.
    pub fn push(&mut self, (low, high): Sides<'_, C>) {
        self.low.extend_from_slice(low);
        self.high.extend_from_slice(high);
    }

    /// Adds the box of some rows; there is at least one.
    pub fn push_around<'a>(&mut self, mut rows: impl Iterator<Item = &'a [Lanes<C>]>) {
        let at = self.len();
        if let Some(first) = rows.next() {
            self.push((first, first));
        }
        rows.for_each(|row| self.grow(at, (row, row)));
    }

    /// Replaces a box.
    pub fn set(&mut self, at: usize, (low, high): Sides<'_, C>) {
        let lanes = at * self.stride..(at + 1) * self.stride;
        self.low[lanes.clone()].copy_from_slice(low);
        self.high[lanes].copy_from_slice(high);
    }

    /// Grows a box around another.
    #[inline]
    pub fn grow(&mut self, at: usize, (low, high): Sides<'_, C>) {
        for lanes in 0..self.stride {
            self.grow_lanes(at * self.stride + lanes, low[lanes], high[lanes]);
        }
    }

    /// Grows a box of the list around another one of the list.
    pub fn grow_around(&mut self, at: usize, other: usize) {
        for lanes in 0..self.stride {
            let (low, high) = (self.low[other * self.stride + lanes], self.high[other * self.stride + lanes]);
            self.grow_lanes(at * self.stride + lanes, low, high);
        }
    }

    #[inline(always)]
    fn grow_lanes(&mut self, at: usize, low: Lanes<C>, high: Lanes<C>) {
        let (mut own_low, mut own_high) = (self.low[at], self.high[at]);
        for lane in 0..LANES {
            own_low[lane] = own_low[lane].min(low[lane]);
            own_high[lane] = own_high[lane].max(high[lane]);
        }
        (self.low[at], self.high[at]) = (own_low, own_high);
    }
}

/// The records in a random order, drawn from the seed of a problem with a stream of its own.
pub fn random_order(problem: &Problem, stream: u64) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(problem.seed);
    random.set_stream(stream);
    let mut order: Vec<u32> = (0..problem.len() as u32).collect();
    order.shuffle(&mut random);
    order
}
