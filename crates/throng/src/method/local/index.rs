//! An index over boxes that finds the nearest without looking at all of them.
//!
//! A binary tree. Every item has two corners: a low and a high one, and what it costs a box that looks for it is at
//! least the penalty of `min(own low, item's low) … max(own high, item's high)`. For groups to merge with, the corners are
//! the item's box and the cost is just that; for groups to take records from, they are the box turned inside out, because
//! only one record must be reached. A node keeps the highest of the low corners and the lowest of the high corners
//! below it: what any item below costs is at least what the node's own corners cost. Penalties grow with the box in every
//! attribute and are summed in one order, so this holds for the rounded sums too: the search skips a node only if
//! nothing below it could win, and finds what looking at every item finds, of equals the lowest id.
//!
//! What an item costs may depend on more than the box around both ([`Measure`]): on how many records it has, and on what it
//! costs already. A node keeps the smallest size and the highest penalty below it, which bound that from below too.
//!
//! Corners that move apart (groups that grow) leave all nodes valid. For others the nodes above are loosened.
//!
//! Cost: O(N log N) to build. A search starts at the leaf of the box that asks and goes up; how much it visits depends
//! on the data.

use super::{BoxList, Sides};
use crate::loss::Kernel;
use crate::parallel;
use crate::problem::{Code, LANES, Lanes};

/// Items in a leaf, at most.
const LEAF: usize = 8;
/// Items that are looked at to choose a cut.
const SAMPLE: usize = 32;
/// From how many items on both halves of a tree are built at the same time.
const PARALLEL_FROM: usize = 4096;
/// Marks an item that is gone.
const GONE: u32 = u32::MAX;

/// The index.
#[derive(Debug)]
pub struct Index<C> {
    nodes: Vec<Node>,
    corners: BoxList<C>,
    /// In the order of the leaves.
    items: BoxList<C>,
    id_of_slot: Vec<u32>,
    leaf_of_slot: Vec<u32>,
    slot_of_id: Vec<u32>,
    mass_of_slot: Vec<Mass>,
}

/// What is known of an item beside its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass {
    /// How many records it has.
    pub size: u32,
    /// What it costs by itself, for a measure that asks for that.
    pub penalty: f64,
}

/// What an item costs a box that looks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// The penalty of the box around both.
    Union,
    /// By how much the loss of both together grows, loss being records times penalty. `size` and `penalty` are those of
    /// the box that looks.
    Growth {
        /// Its records.
        size: u32,
        /// What it costs.
        penalty: f64,
    },
}

impl Measure {
    /// The cost, from the penalty of the box around both. It rises with `union` and with the item's size and falls with
    /// the item's penalty, rounded as it is, so that it bounds what lies below a node.
    #[inline(always)]
    pub fn cost(self, union: f64, item: Mass) -> f64 {
        match self {
            Measure::Union => union,
            Measure::Growth { size, penalty } => {
                f64::from(size) * (union - penalty).max(0.0)
                    + f64::from(item.size) * (union - item.penalty).max(0.0)
            }
        }
    }

    /// No box around both that costs more than this has a cost of `cost` or less.
    #[inline(always)]
    fn reach(self, cost: f64) -> f64 {
        match self {
            Measure::Union => cost,
            // With room for rounding: what is looked at in vain does no harm.
            Measure::Growth { size, penalty } => {
                (penalty + cost / f64::from(size.max(1))) * (1.0 + 1e-9) + 1e-300
            }
        }
    }
}

/// A node; its left child follows it. Links are distances, so that parts of a tree can be put together.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// How far its right child is; 0 for a leaf.
    right: u32,
    /// How far its parent is; 0 for the root.
    up: u32,
    /// Slots of a leaf.
    start: u32,
    end: u32,
    /// The lowest id below.
    least: u32,
    /// How many items below are left.
    live: u32,
    /// No item below is larger.
    largest: u32,
    /// No item below is smaller, nor costs more.
    lightest: Mass,
}

/// The best found so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// What it costs.
    pub cost: f64,
    /// Its id.
    pub id: u32,
}

impl Best {
    /// Nothing yet.
    pub const NONE: Best = Best { cost: f64::INFINITY, id: GONE };

    /// Whether something of this cost and id is better.
    #[inline(always)]
    pub fn loses_to(&self, cost: f64, id: u32) -> bool {
        cost < self.cost || (cost == self.cost && id < self.id)
    }
}

impl<C: Code> Index<C> {
    /// An index over items with the ids 0, 1, 2, … and masses of their own, by which searches may choose.
    pub fn new(kernel: &Kernel, items: &BoxList<C>, masses: &[Mass]) -> Self {
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        let mut tree = Part { nodes: Vec::new(), corners: BoxList::new(items.stride) };
        Planner { kernel, items, masses, room: Vec::new() }.build(&mut order, 0, &mut tree);
        let Part { nodes, corners } = tree;
        let mut sorted = BoxList::new(items.stride);
        let mut slot_of_id = vec![0; order.len()];
        for (slot, &id) in (0..).zip(&order) {
            sorted.push(items.get(id as usize));
            slot_of_id[id as usize] = slot;
        }
        let mut leaf_of_slot = vec![0; order.len()];
        for (at, node) in (0..).zip(&nodes).filter(|(_, node)| node.right == 0) {
            leaf_of_slot[node.start as usize..node.end as usize].fill(at);
        }
        let mass_of_slot = order.iter().map(|id| masses[*id as usize]).collect();
        Index { nodes, corners, items: sorted, id_of_slot: order, leaf_of_slot, slot_of_id, mass_of_slot }
    }

    /// Takes an item out.
    pub fn remove(&mut self, id: u32) {
        let slot = self.slot_of_id[id as usize] as usize;
        self.id_of_slot[slot] = GONE;
        let mut at = self.leaf_of_slot[slot] as usize;
        loop {
            self.nodes[at].live -= 1;
            match self.nodes[at].up {
                0 => break,
                up => at -= up as usize,
            }
        }
    }

    /// Moves the corners of an item and tells its mass.
    pub fn set(&mut self, id: u32, (low, high): Sides<'_, C>, mass: Mass) {
        let slot = self.slot_of_id[id as usize] as usize;
        self.items.set(slot, (low, high));
        self.mass_of_slot[slot] = mass;
        let mut at = self.leaf_of_slot[slot] as usize;
        while loosen(&mut self.corners, at, (low, high)) | self.nodes[at].weigh(mass) {
            match self.nodes[at].up {
                0 => break,
                up => at -= up as usize,
            }
        }
    }

    /// The item that costs a box least, of equals the lowest id. The box is that of the item `own`, which is not found.
    pub fn nearest(&self, kernel: &Kernel, own: u32, sides: Sides<'_, C>, measure: Measure) -> Option<Best> {
        let mut best = Best::NONE;
        let take = &mut |best: &mut Best, cost: f64, id: u32| *best = Best { cost, id };
        self.search(kernel, (own, sides), measure, 0, &mut best, take);
        (best.id != GONE).then_some(best)
    }

    /// Offers every item of at least a size that may be better than the best with the least it can cost, except the
    /// item `own`.
    pub fn search(
        &self,
        kernel: &Kernel,
        (own, sides): (u32, Sides<'_, C>),
        measure: Measure,
        at_least: u32,
        best: &mut Best,
        offer: &mut impl FnMut(&mut Best, f64, u32),
    ) {
        let mut query = Query { index: self, kernel, own, sides, measure, at_least, best, offer };
        let mut at = self.leaf_of_slot[self.slot_of_id[own as usize] as usize] as usize;
        query.scan(at);
        while self.nodes[at].up != 0 {
            let parent = at - self.nodes[at].up as usize;
            let sibling =
                if parent + 1 == at { parent + self.nodes[parent].right as usize } else { parent + 1 };
            let bound = query.bound(sibling);
            query.enter(sibling, bound);
            at = parent;
        }
    }
}

struct Query<'a, C, F> {
    index: &'a Index<C>,
    kernel: &'a Kernel,
    own: u32,
    sides: Sides<'a, C>,
    measure: Measure,
    at_least: u32,
    best: &'a mut Best,
    offer: &'a mut F,
}

impl<C: Code, F: FnMut(&mut Best, f64, u32)> Query<'_, C, F> {
    #[inline(always)]
    fn bound(&self, node: usize) -> f64 {
        let Node { live, largest, lightest, .. } = self.index.nodes[node];
        if live == 0 || largest < self.at_least {
            return f64::INFINITY;
        }
        self.cost(self.index.corners.get(node), lightest)
    }

    /// What a box costs; once that is above the best, anything above it.
    #[inline(always)]
    fn cost(&self, item: Sides<'_, C>, mass: Mass) -> f64 {
        let reach = self.measure.reach(self.best.cost);
        self.measure.cost(self.kernel.union_up_to(self.sides, item, reach), mass)
    }

    fn enter(&mut self, at: usize, bound: f64) {
        let node = &self.index.nodes[at];
        // A node that was found to hold nothing has an infinite bound, which may equal the best before anything is found.
        if bound == f64::INFINITY || !self.best.loses_to(bound, node.least) {
            return;
        }
        if node.right == 0 {
            return self.scan(at);
        }
        let (left, right) = (at + 1, at + node.right as usize);
        let bounds = (self.bound(left), self.bound(right));
        if bounds.0 <= bounds.1 {
            self.enter(left, bounds.0);
            self.enter(right, bounds.1);
        } else {
            self.enter(right, bounds.1);
            self.enter(left, bounds.0);
        }
    }

    #[inline]
    fn scan(&mut self, leaf: usize) {
        let node = &self.index.nodes[leaf];
        for slot in node.start as usize..node.end as usize {
            let id = self.index.id_of_slot[slot];
            let mass = self.index.mass_of_slot[slot];
            if id == GONE || id == self.own || mass.size < self.at_least {
                continue;
            }
            let cost = self.cost(self.index.items.get(slot), mass);
            if self.best.loses_to(cost, id) {
                (self.offer)(self.best, cost, id);
            }
        }
    }
}

impl Node {
    /// Makes room for the mass of an item; tells whether that was needed.
    fn weigh(&mut self, mass: Mass) -> bool {
        let before = (self.largest, self.lightest);
        self.largest = self.largest.max(mass.size);
        self.lightest.size = self.lightest.size.min(mass.size);
        self.lightest.penalty = self.lightest.penalty.max(mass.penalty);
        before != (self.largest, self.lightest)
    }
}

/// Loosens the corners of a node so that an item's fit; tells whether they changed.
fn loosen<C: Code>(corners: &mut BoxList<C>, node: usize, (low, high): Sides<'_, C>) -> bool {
    let mut changed = false;
    for lanes in 0..corners.stride {
        let at = node * corners.stride + lanes;
        let before = (corners.low[at], corners.high[at]);
        let mut after = before;
        for lane in 0..LANES {
            after.0[lane] = after.0[lane].max(low[lanes][lane]);
            after.1[lane] = after.1[lane].min(high[lanes][lane]);
        }
        changed |= before != after;
        (corners.low[at], corners.high[at]) = after;
    }
    changed
}

/// A tree or a part of one.
struct Part<C> {
    nodes: Vec<Node>,
    corners: BoxList<C>,
}

struct Planner<'a, C> {
    kernel: &'a Kernel,
    items: &'a BoxList<C>,
    masses: &'a [Mass],
    /// Kept from one cut to the next.
    room: Vec<usize>,
}

impl<C: Code> Planner<'_, C> {
    /// Adds the tree of some items and puts them into its order; `start` is the first one's slot.
    fn build(&mut self, order: &mut [u32], start: usize, tree: &mut Part<C>) {
        let at = tree.nodes.len();
        if let Some((&first, rest)) = order.split_first() {
            tree.corners.push(self.items.get(first as usize));
            for id in rest {
                loosen(&mut tree.corners, at, self.items.get(*id as usize));
            }
        }
        let least = order.iter().copied().min().unwrap_or(GONE);
        let (end, live) = ((start + order.len()) as u32, order.len() as u32);
        let lightest = Mass { size: u32::MAX, penalty: 0.0 };
        let mut node = Node { right: 0, up: 0, start: start as u32, end, least, live, largest: 0, lightest };
        for id in order.iter() {
            node.weigh(self.masses[*id as usize]);
        }
        tree.nodes.push(node);
        if order.len() <= LEAF {
            return;
        }
        let middle = self.cut(order, tree.corners.get(at));
        let (left, right) = order.split_at_mut(middle);
        let right_at = if live as usize >= PARALLEL_FROM {
            let mut other = Planner { room: Vec::new(), ..*self };
            let mut part = Part { nodes: Vec::new(), corners: BoxList::new(self.items.stride) };
            parallel::join(
                || self.build(left, start, tree),
                || other.build(right, start + middle, &mut part),
            );
            let right_at = tree.nodes.len();
            tree.nodes.extend_from_slice(&part.nodes);
            tree.corners.low.extend_from_slice(&part.corners.low);
            tree.corners.high.extend_from_slice(&part.corners.high);
            right_at
        } else {
            self.build(left, start, tree);
            let right_at = tree.nodes.len();
            self.build(right, start + middle, tree);
            right_at
        };
        tree.nodes[at].right = (right_at - at) as u32;
        tree.nodes[at + 1].up = 1;
        tree.nodes[right_at].up = (right_at - at) as u32;
    }

    /// Cuts the items where the node is loosest: between its corners, by the penalty of what lies between them. Of equally
    /// loose attributes the one whose cut is most even; the items are put on their side.
    fn cut(&mut self, order: &mut [u32], (low, high): Sides<'_, C>) -> usize {
        let loose = |at: usize| {
            let (low, high) = (code(low, at), code(high, at));
            if high < low { self.kernel.penalty(at, high, low) } else { 0.0 }
        };
        let attributes = self.kernel.attributes();
        let widest = (0..attributes).map(loose).fold(0.0, f64::max);
        let mut best: Option<Place> = None;
        for at in (0..attributes).filter(|at| widest > 0.0 && loose(*at) == widest) {
            let place = place(&mut self.room, order, |id| key(self.items, id, at), at);
            if best.as_ref().is_none_or(|best| place.uneven < best.uneven) {
                best = Some(place);
            }
        }
        let Some(Place { attribute, key: limit, .. }) = best else { return order.len() / 2 };
        let mut middle = 0;
        for at in 0..order.len() {
            if key(self.items, order[at], attribute) < limit {
                order.swap(middle, at);
                middle += 1;
            }
        }
        if middle == 0 || middle == order.len() { order.len() / 2 } else { middle }
    }
}

/// Where to cut an attribute, from a sample: below or above the median, which is more even.
fn place(keys: &mut Vec<usize>, order: &[u32], key: impl Fn(u32) -> usize, attribute: usize) -> Place {
    let step = order.len().div_ceil(SAMPLE);
    keys.clear();
    keys.extend(order.iter().step_by(step).map(|id| key(*id)));
    keys.sort_unstable();
    let median = keys[keys.len() / 2];
    let below = keys.partition_point(|key| *key < median);
    let up_to = keys.partition_point(|key| *key <= median);
    let uneven = |left: usize| (2 * left).abs_diff(keys.len());
    match uneven(below) <= uneven(up_to) {
        true => Place { attribute, key: median, uneven: uneven(below) },
        false => Place { attribute, key: median + 1, uneven: uneven(up_to) },
    }
}

/// Twice the middle of an item in an attribute.
fn key<C: Code>(items: &BoxList<C>, id: u32, attribute: usize) -> usize {
    let (low, high) = items.get(id as usize);
    code(low, attribute) + code(high, attribute)
}

struct Place {
    attribute: usize,
    /// Items below it go left.
    key: usize,
    uneven: usize,
}

fn code<C: Code>(lanes: &[Lanes<C>], attribute: usize) -> usize {
    lanes[attribute / LANES][attribute % LANES].index()
}
