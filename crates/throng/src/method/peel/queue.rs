//! Nodes, the cheapest first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::search::Node;

/// A heap of small keys; the nodes stay where they are.
#[derive(Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Key>,
    nodes: Vec<Option<Node>>,
    free: Vec<u32>,
    held: usize,
    born: u64,
}

#[derive(Clone, Copy, PartialEq)]
struct Key {
    bound: f64,
    records: usize,
    born: u64,
    place: u32,
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    /// The cheapest is the greatest, as a heap wants it; of equally cheap ones the largest, then the oldest.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cost = other.bound.total_cmp(&self.bound);
        by_cost.then(self.records.cmp(&other.records)).then(other.born.cmp(&self.born))
    }
}

impl Queue {
    /// What the cheapest costs at least.
    pub fn cheapest(&self) -> Option<f64> {
        self.heap.peek().map(|key| key.bound)
    }

    /// How many rows the nodes hold together.
    pub fn held(&self) -> usize {
        self.held
    }

    pub fn push(&mut self, node: Node) {
        self.held += node.rows.len();
        self.born += 1;
        let place = self.free.pop().unwrap_or(self.nodes.len() as u32);
        self.heap.push(Key { bound: node.bound, records: node.records, born: self.born, place });
        match self.nodes.get_mut(place as usize) {
            Some(slot) => *slot = Some(node),
            None => self.nodes.push(Some(node)),
        }
    }

    pub fn pop(&mut self) -> Option<Node> {
        let key = self.heap.pop()?;
        let node = self.nodes[key.place as usize].take()?;
        self.free.push(key.place);
        self.held -= node.rows.len();
        Some(node)
    }
}
