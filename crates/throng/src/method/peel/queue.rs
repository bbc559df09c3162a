//! Nodes, the cheapest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::search::Node;

/// A heap of small keys; the nodes stay where they are.
#[derive(Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Key>>,
    nodes: Vec<Option<Node>>,
    free: Vec<u32>,
    held: usize,
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

impl Queue {
    /// What the cheapest costs at least.
    pub fn cheapest(&self) -> Option<f64> {
        self.heap.peek().map(|key| f64::from_bits(key.0.bound))
    }

    /// How many rows the nodes hold together.
    pub fn held(&self) -> usize {
        self.held
    }

    pub fn push(&mut self, node: Node) {
        self.held += node.rows.len();
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
        self.held -= node.rows.len();
        Some(node)
    }
}
