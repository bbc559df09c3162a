//! What waits to be looked at, and the classes that were found: the cheapest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::search::Node;

/// Classes, the cheapest first: a heap of small keys; the nodes stay where they are.
#[derive(Default)]
pub(super) struct Classes {
    heap: BinaryHeap<Reverse<Key>>,
    nodes: Vec<Option<Node>>,
    free: Vec<u32>,
    born: u64,
}

/// The least key comes first: the cheapest; of equally cheap ones the largest, then the oldest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The bits of a bound: those of numbers that are not negative are in their order.
    bound: u64,
    records: Reverse<u32>,
    born: u64,
    place: u32,
}

impl Classes {
    /// What the cheapest costs.
    pub fn cheapest(&self) -> Option<f64> {
        self.heap.peek().map(|key| f64::from_bits(key.0.bound))
    }

    pub fn push(&mut self, node: Node) {
        self.born += 1;
        let place = self.free.pop().unwrap_or(self.nodes.len() as u32);
        // Adding zero makes a negative zero a positive one.
        let bound = (node.bound + 0.0).to_bits();
        let records = Reverse(u32::try_from(node.records).unwrap_or(u32::MAX));
        self.heap.push(Reverse(Key { bound, records, born: self.born, place }));
        match self.nodes.get_mut(place as usize) {
            Some(slot) => *slot = Some(node),
            None => self.nodes.push(Some(node)),
        }
    }

    pub fn pop(&mut self) -> Option<Node> {
        let Reverse(key) = self.heap.pop()?;
        let node = self.nodes[key.place as usize].take()?;
        self.free.push(key.place);
        Some(node)
    }
}

/// Nodes by what they cost at least, in steps: those of one step are looked at together anyway, so their order does not
/// matter, and a heap would take longer than looking.
pub(super) struct Waiting {
    /// How much a step costs more than the one before.
    height: f64,
    steps: Vec<Vec<Node>>,
    /// All steps before are empty.
    lowest: usize,
    held: usize,
}

/// How many steps there are between nothing and what everything costs.
const STEPS: usize = 1000;

impl Waiting {
    /// For nodes that cost up to so much.
    pub fn new(most: f64) -> Self {
        let steps = (0..=STEPS).map(|_| Vec::new()).collect();
        Waiting { height: most / STEPS as f64, steps, lowest: STEPS + 1, held: 0 }
    }

    /// How many rows the nodes hold together.
    pub fn held(&self) -> usize {
        self.held
    }

    fn step(&self, cost: f64) -> usize {
        // Not a number, where nothing costs anything, becomes 0.
        ((cost / self.height) as usize).min(STEPS)
    }

    pub fn push(&mut self, node: Node) {
        self.held += node.rows.len();
        let step = self.step(node.bound);
        self.lowest = self.lowest.min(step);
        self.steps[step].push(node);
    }

    /// What each of them costs at least.
    pub fn cheapest(&mut self) -> Option<f64> {
        while self.steps.get(self.lowest)?.is_empty() {
            self.lowest += 1;
        }
        Some(self.lowest as f64 * self.height)
    }

    /// The top of the step that so much lies in: what costs more is on a later step.
    pub fn top(&self, cost: f64) -> f64 {
        match self.step(cost) {
            STEPS => f64::INFINITY,
            // With room for rounding.
            step => (step + 1) as f64 * self.height * (1.0 + 1e-12),
        }
    }

    /// A node of the lowest step that holds any, if it is not above the step that so much lies in.
    pub fn pop(&mut self, cost: f64) -> Option<Node> {
        self.cheapest()?;
        if self.lowest > self.step(cost) {
            return None;
        }
        let node = self.steps[self.lowest].pop()?;
        self.held -= node.rows.len();
        Some(node)
    }
}
