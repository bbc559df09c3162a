//! Points in a tree of boxes, to find those near one without looking at all.
//!
//! The points are halved along the attribute that costs most, until few are left; each half knows its lowest and highest
//! codes. A point outside of a box is at least as far as the nearest code of each attribute, because the cost of a pair
//! grows with the range between them. The points of a box stand next to each other.

use super::space::Space;
use crate::collections::sort_by_key_and_id;

/// Points of a box that is not halved again.
const LEAF: usize = 12;
/// Points of a box by which it is told how far a search need go.
const COARSE: u32 = 256;
/// Points of a box whose halving takes milliseconds.
const LARGE: u32 = 1 << 14;
const NONE: u32 = u32::MAX;

pub(super) struct Index {
    nodes: Vec<Node>,
    /// Lowest and highest codes of each node, attribute by attribute.
    ends: Vec<(u32, u32)>,
    width: usize,
    /// Nodes of few points whose halved node has more; they hold each point once.
    coarse: Vec<u32>,
}

/// How dear the points of a coarse node are at most, and how many records they are.
#[derive(Clone, Copy)]
pub(super) struct Dear {
    node: u32,
    price: i64,
    records: u64,
}

#[derive(Clone, Copy)]
struct Node {
    first: u32,
    end: u32,
    /// The halves, one after the other; `NONE` in a leaf.
    halves: u32,
}

impl Node {
    /// Whether halving it takes milliseconds, so that a look at the clock costs nothing beside.
    fn takes_long(&self) -> bool {
        self.end - self.first > LARGE
    }
}

impl Index {
    /// Puts points in the order of the tree: the index, and which point stands at each place.
    pub fn order(space: &Space, stopped: &dyn Fn() -> bool) -> Option<(Self, Vec<u32>)> {
        let mut order: Vec<u32> = (0..space.len() as u32).collect();
        let mut index =
            Index { nodes: Vec::new(), ends: Vec::new(), width: space.width(), coarse: Vec::new() };
        if !order.is_empty() {
            index.nodes.push(Node { first: 0, end: order.len() as u32, halves: NONE });
            index.ends.extend(ends_of(space, &order));
        }
        let mut at = 0;
        while at < index.nodes.len() {
            if index.nodes[at].takes_long() && stopped() {
                return None;
            }
            index.halve(space, &mut order, at);
            at += 1;
        }
        index.find_coarse();
        Some((index, order))
    }

    fn halve(&mut self, space: &Space, order: &mut [u32], at: usize) {
        let Node { first, end, .. } = self.nodes[at];
        let points = &mut order[first as usize..end as usize];
        let Some(cut) = (points.len() > LEAF).then(|| self.cut(space, points, at)).flatten() else { return };
        self.nodes[at].halves = self.nodes.len() as u32;
        for (first, end) in [(first, first + cut), (first + cut, end)] {
            self.nodes.push(Node { first, end, halves: NONE });
            self.ends.extend(ends_of(space, &order[first as usize..end as usize]));
        }
    }

    /// Halves points in the middle of the attribute that costs most; none if they are all alike.
    fn cut(&self, space: &Space, points: &mut [u32], at: usize) -> Option<u32> {
        let ends = self.ends(at);
        let cost = |of: &usize| space.costs[*of].between(ends[*of].0, ends[*of].1);
        let widest = (0..self.width)
            .filter(|of| ends[*of].0 < ends[*of].1)
            .max_by_key(|of| (cost(of), usize::MAX - of))?;
        let code = |point: &u32| space.row(*point)[widest];
        sort_by_key_and_id(points, |point| code(&point) as usize);
        let middle = code(&points[points.len() / 2]);
        let below = points.partition_point(|point| code(point) < middle);
        let cut = if below > 0 { below } else { points.partition_point(|point| code(point) <= middle) };
        Some(cut as u32)
    }

    fn find_coarse(&mut self) {
        let mut open: Vec<u32> = (0..self.nodes.len().min(1) as u32).collect();
        while let Some(at) = open.pop() {
            let Node { first, end, halves } = self.nodes[at as usize];
            if end - first <= COARSE || halves == NONE {
                self.coarse.push(at);
            } else {
                open.extend([halves, halves + 1]);
            }
        }
    }

    /// How dear the points of coarse nodes are that stand at a place or later.
    pub fn dear(&self, space: &Space, prices: &[i64], places: &[u32], place: u32) -> Vec<Dear> {
        let of_node = |node: &u32| {
            let Node { first, end, .. } = self.nodes[*node as usize];
            let points = (first as usize..end as usize).filter(|point| places[*point] >= place);
            let both = points.map(|point| (prices[point], u64::from(space.records[point])));
            let (price, records) = both.fold((i64::MIN, 0), |all, one| (all.0.max(one.0), all.1 + one.1));
            (records > 0).then_some(Dear { node: *node, price, records })
        };
        self.coarse.iter().filter_map(of_node).collect()
    }

    /// No record at this cost or further can be in a class of so many with a row that is paid too much, where the row itself is
    /// paid `price`; at most `reach`. None if there is no such class at all.
    pub fn reach(
        &self,
        space: &Space,
        row: &[u32],
        dear: &[Dear],
        (price, others): (i64, u64),
        mut reach: u32,
    ) -> Option<u32> {
        let least =
            |dear: &Dear| (dear.price, dear.records, self.least(space, row, dear.node as usize, reach));
        let mut near: Vec<(i64, u64, u32)> = dear.iter().map(least).filter(|near| near.2 < reach).collect();
        near.sort_unstable_by(|one, other| other.cmp(one));
        loop {
            let (mut left, mut sum) = (others, price);
            for (price, records, _) in near.iter().filter(|near| near.2 < reach) {
                let taken = left.min(*records);
                sum = sum.saturating_add(price.saturating_mul(taken as i64));
                left -= taken;
                if left == 0 {
                    break;
                }
            }
            let shorter = sum.div_euclid(others as i64 + 1) + 1;
            if left > 0 || shorter <= 0 {
                return None;
            }
            // A few more rounds where that helps much.
            let before = reach;
            reach = reach.min(u32::try_from(shorter).unwrap_or(u32::MAX));
            if u64::from(reach) * 8 > u64::from(before) * 7 {
                return Some(reach);
            }
        }
    }

    #[inline(always)]
    fn ends(&self, node: usize) -> &[(u32, u32)] {
        &self.ends[node * self.width..(node + 1) * self.width]
    }

    /// What a point costs at least together with any point of a node, given up above a limit.
    #[inline(always)]
    fn least(&self, space: &Space, row: &[u32], node: usize, limit: u32) -> u32 {
        let mut sum = 0;
        for ((cost, own), (low, high)) in space.costs.iter().zip(row).zip(self.ends(node)) {
            let nearest = (*own).clamp(*low, *high);
            if nearest != *own {
                sum += cost.pair(*own, nearest);
                if sum >= limit {
                    return sum;
                }
            }
        }
        sum
    }

    /// The latest place of the points of each node, for [`Index::within`].
    pub fn latest(&self, places: &[u32]) -> Vec<u32> {
        let of_node = |node: &Node| places[node.first as usize..node.end as usize].iter().copied().max();
        self.nodes.iter().map(|node| of_node(node).unwrap_or(0)).collect()
    }

    /// Tells the points of every node that may cost less than `reach` together with a row and that is not wholly before a
    /// place; returns how many nodes were looked at.
    pub fn within(
        &self,
        space: &Space,
        row: &[u32],
        reach: u32,
        (latest, place): (&[u32], u32),
        mut tell: impl FnMut(std::ops::Range<u32>),
    ) -> u64 {
        let mut stack = [0u32; 128];
        let (mut open, mut looks) = (usize::from(!self.nodes.is_empty()), 0);
        while open > 0 {
            open -= 1;
            let at = stack[open] as usize;
            looks += 1;
            if latest[at] < place || self.least(space, row, at, reach) >= reach {
                continue;
            }
            let node = self.nodes[at];
            if node.halves == NONE || open + 2 > stack.len() {
                tell(node.first..node.end);
                continue;
            }
            stack[open] = node.halves;
            stack[open + 1] = node.halves + 1;
            open += 2;
        }
        looks
    }

    /// The points of a box with such ends, and those that it costs nothing more to have in it; and how many nodes and points were looked at.
    pub fn inside(&self, space: &Space, ends: &[(u32, u32)]) -> (Vec<u32>, u64) {
        let costs: Vec<u32> =
            space.costs.iter().zip(ends).map(|(cost, (low, high))| cost.between(*low, *high)).collect();
        let within = |at: usize, code: u32| {
            let (low, high) = ends[at];
            let wider = || space.costs[at].between(low.min(code), high.max(code)) <= costs[at];
            (low..=high).contains(&code) || !space.costs[at].two_sided() && wider()
        };
        let apart = |node: u32| {
            let nodes = self.ends(node as usize).iter().zip(ends).enumerate();
            nodes.into_iter().any(|(at, ((first, last), (low, high)))| {
                first > high && !within(at, *first) || last < low && !within(at, *last)
            })
        };
        let (mut points, mut looks) = (Vec::new(), 0);
        let mut open: Vec<u32> = (0..self.nodes.len().min(1) as u32).collect();
        while let Some(at) = open.pop() {
            looks += 1;
            if apart(at) {
                continue;
            }
            let node = self.nodes[at as usize];
            if node.halves != NONE {
                open.extend([node.halves + 1, node.halves]);
                continue;
            }
            looks += u64::from(node.end - node.first);
            let is_inside =
                |point: &u32| space.row(*point).iter().enumerate().all(|(at, code)| within(at, *code));
            points.extend((node.first..node.end).filter(is_inside));
        }
        (points, looks)
    }

    /// Offers leaves, the nearest first as far as halves tell, as long as they are nearer than what `tell` returns: the limit
    /// from then on. Returns how many nodes were looked at.
    pub fn nearest(
        &self,
        space: &Space,
        row: &[u32],
        mut tell: impl FnMut(std::ops::Range<u32>) -> u32,
    ) -> u64 {
        let (mut limit, mut looks) = (u32::MAX, 0);
        let mut stack: Vec<(u32, u32)> = Vec::with_capacity(64);
        stack.extend((!self.nodes.is_empty()).then_some((0, 0)));
        while let Some((least, at)) = stack.pop() {
            let node = self.nodes[at as usize];
            if least >= limit {
                continue;
            }
            looks += 1;
            if node.halves == NONE {
                limit = tell(node.first..node.end);
                continue;
            }
            let halves = [node.halves, node.halves + 1];
            let [one, other] = halves.map(|half| (self.least(space, row, half as usize, limit), half));
            let (near, far) = if one.0 <= other.0 { (one, other) } else { (other, one) };
            stack.extend([far, near]);
        }
        looks
    }
}

fn ends_of<'a>(space: &'a Space, points: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    (0..space.width()).map(|at| {
        let codes = points.iter().map(|point| space.row(*point)[at]);
        (codes.clone().min().unwrap_or(0), codes.max().unwrap_or(0))
    })
}
