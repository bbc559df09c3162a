//! What the others in a record's class cost together.
//!
//! A class that holds r has at least k − 1 others, and its box must cover them all at once. Seen from r, every attribute
//! is one or two *sides*: how far a category or a number below or above reaches from r's own. A box reaches so far on
//! each side, and costs the sum; it covers the records that are within reach on every side. The cheapest box with
//! enough records is found by branch and bound: sides are settled one by one, and each open side costs at least what the
//! (k − 1)-th nearest on it costs. Where the search is given up, the cheapest box that was still possible is a bound.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Query;
use crate::loss::Kernel;
use crate::problem::{Attribute, Code};
use crate::table::Scale;

/// Points looked at, times the sides, before a search is given up.
const LOOKS: usize = 100_000;
const TINY: f64 = 1e-12;

/// Numbers reach to two sides. Mixed with a missing value a number costs no more than everything, so where values are
/// missing it counts how far the further side reaches, which is never too much.
fn reaches_two_sides(attribute: &Attribute) -> bool {
    matches!(attribute.domain.scale(), Scale::Numeric { .. }) && attribute.domain.missing().is_none()
}

/// Other records as seen from one.
pub(super) struct Sides {
    /// The different reaches on each side, ascending.
    reaches: Vec<Vec<f64>>,
    /// For each point the rank of its reach on each side.
    ranks: Vec<u16>,
    /// How many records each point stands for.
    weights: Vec<u32>,
}

impl Sides {
    /// The sides of some records as seen from the one of a query. Equal ones become one point.
    pub fn new<'a, C: Code>(
        attributes: &[Attribute],
        kernel: &Kernel,
        query: &Query<'_>,
        records: impl Iterator<Item = &'a [C]>,
    ) -> Self {
        let sides: usize = attributes.iter().map(|one| if reaches_two_sides(one) { 2 } else { 1 }).sum();
        let mut points: Vec<f64> = Vec::new();
        for codes in records {
            for (at, attribute) in attributes.iter().enumerate() {
                let (own, code) = (query.own[at], codes[at].index());
                let reach = kernel.penalty(at, own.min(code), own.max(code));
                match (reaches_two_sides(attribute), code < own) {
                    (false, _) => points.push(reach),
                    (true, true) => points.extend([reach, 0.0]),
                    (true, false) => points.extend([0.0, reach]),
                }
            }
        }
        let mut order: Vec<&[f64]> = points.chunks_exact(sides.max(1)).collect();
        let compare = |a: &&[f64], b: &&[f64]| {
            a.iter()
                .zip(*b)
                .map(|(a, b)| a.total_cmp(b))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        order.sort_unstable_by(compare);
        let runs: Vec<&[&[f64]]> = order.chunk_by(|a, b| a == b).collect();
        let weights: Vec<u32> = runs.iter().map(|run| run.len() as u32).collect();
        let points: Vec<&[f64]> = runs.iter().map(|run| run[0]).collect();
        let reaches: Vec<Vec<f64>> = (0..sides)
            .map(|side| {
                let mut reaches: Vec<f64> = points.iter().map(|point| point[side]).collect();
                reaches.sort_unstable_by(f64::total_cmp);
                reaches.dedup();
                reaches
            })
            .collect();
        let rank = |(side, reach): (usize, &f64)| {
            reaches[side].partition_point(|other| other < reach).min(usize::from(u16::MAX)) as u16
        };
        let ranks = points.iter().flat_map(|point| point.iter().enumerate().map(rank)).collect();
        Sides { reaches, ranks, weights }
    }

    fn count(&self) -> usize {
        self.reaches.len()
    }

    fn reach(&self, point: u32, side: usize) -> f64 {
        self.reaches[side][usize::from(self.rank(point, side))]
    }

    fn records(&self, points: &[u32]) -> usize {
        points.iter().map(|point| self.weights[*point as usize] as usize).sum()
    }

    /// No box that covers `needed` records costs less. `within` is what one such box costs; records further away than
    /// that need not be among the points.
    pub fn least_box(&self, needed: usize, within: f64) -> f64 {
        let all: Vec<u32> = (0..self.weights.len() as u32).collect();
        // Whoever is not among the points is in no cheaper box.
        if self.records(&all) < needed {
            return within;
        }
        let mut best = within.min(self.shrunk_box(&all, needed));
        let mut looks = 0;
        let mut heap = Nodes::default();
        heap.extend(self.node(0.0, &all, (0..self.count() as u16).collect(), needed, &mut best, &mut looks));
        while let Some(node) = heap.pop() {
            if node.bound >= best - TINY {
                return best;
            }
            let Some(side) = node.next else { return node.bound };
            if looks > LOOKS {
                return node.bound;
            }
            let open: Vec<u16> = node.open.iter().copied().filter(|one| usize::from(*one) != side).collect();
            let mut within_reach = 0;
            for &reach in &self.reaches[side] {
                let points: Vec<u32> =
                    node.points.iter().copied().filter(|point| self.reach(*point, side) <= reach).collect();
                looks += node.points.len();
                // A reach that takes nothing in that a shorter one does not is never better.
                if points.len() == within_reach || self.records(&points) < needed {
                    continue;
                }
                within_reach = points.len();
                let child =
                    self.node(node.cost + reach, &points, open.clone(), needed, &mut best, &mut looks);
                heap.extend(child.filter(|child| child.bound < best - TINY));
            }
        }
        best
    }

    /// What a good box with enough records costs: the one around the nearest, made smaller side by side.
    fn shrunk_box(&self, all: &[u32], needed: usize) -> f64 {
        let sides: Vec<u16> = (0..self.count() as u16).collect();
        let sums = self.by_sum(all, &sides);
        let mut nearer = 0;
        let last = sums.iter().position(|(_, point)| {
            nearer += self.weights[*point as usize] as usize;
            nearer >= needed
        });
        let nearest = &sums[..last.map_or(sums.len(), |last| last + 1)];
        let furthest =
            |side: usize| nearest.iter().map(|(_, point)| self.rank(*point, side)).max().unwrap_or(0);
        let mut reach: Vec<u16> = (0..self.count()).map(furthest).collect();
        let is_inside =
            |point: &u32, reach: &[u16]| (0..self.count()).all(|side| self.rank(*point, side) <= reach[side]);
        let mut inside: Vec<u32> = all.iter().copied().filter(|point| is_inside(point, &reach)).collect();
        loop {
            let shorter = (0..self.count()).filter(|side| reach[*side] > 0).filter_map(|side| {
                let next = inside
                    .iter()
                    .map(|point| self.rank(*point, side))
                    .filter(|rank| *rank < reach[side])
                    .max()?;
                let left = inside.iter().copied().filter(|point| self.rank(*point, side) <= next);
                let records: usize = left.map(|point| self.weights[point as usize] as usize).sum();
                let saved =
                    self.reaches[side][usize::from(reach[side])] - self.reaches[side][usize::from(next)];
                (records >= needed).then_some((saved, side, next))
            });
            let Some((_, side, next)) = shorter.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) else {
                break;
            };
            reach[side] = next;
            inside.retain(|point| self.rank(*point, side) <= next);
        }
        reach.iter().zip(&self.reaches).map(|(rank, reaches)| reaches[usize::from(*rank)]).sum()
    }

    fn rank(&self, point: u32, side: usize) -> u16 {
        self.ranks[point as usize * self.count() + side]
    }

    /// Points by what they cost on some sides, the nearest first.
    fn by_sum(&self, points: &[u32], sides: &[u16]) -> Vec<(f64, u32)> {
        let sum = |point: u32| sides.iter().map(|side| self.reach(point, usize::from(*side))).sum::<f64>();
        let mut sums: Vec<(f64, u32)> = points.iter().map(|point| (sum(*point), *point)).collect();
        sums.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        sums
    }

    /// A node with its bound; a box that is found on the way may be the best. `None` if it cannot be better.
    fn node(
        &self,
        cost: f64,
        points: &[u32],
        open: Vec<u16>,
        needed: usize,
        best: &mut f64,
        looks: &mut usize,
    ) -> Option<Node> {
        *looks += points.len() * (open.len() + 1);
        // The nearest on all open sides together: the last of them is in no cheaper box, and they make a box. What is
        // further away than a box is wide is not in it.
        let mut sums = self.by_sum(points, &open);
        sums.truncate(sums.partition_point(|(sum, _)| cost + sum < *best - TINY));
        let points: Vec<u32> = sums.iter().map(|(_, point)| *point).collect();
        let mut alone = cost;
        let mut next: Option<(f64, usize, usize)> = None;
        let mut counts = Vec::new();
        for &side in &open {
            let side = usize::from(side);
            counts.clear();
            counts.resize(self.reaches[side].len(), 0u32);
            for &point in &points {
                counts[usize::from(self.rank(point, side))] += self.weights[point as usize];
            }
            let mut nearer = 0;
            let rank = counts.iter().position(|count| {
                nearer += *count as usize;
                nearer >= needed
            })?;
            let least = self.reaches[side][rank];
            alone += least;
            let values = counts.iter().filter(|count| **count > 0).count();
            if values > 1 && next.is_none_or(|(most, more, _)| (least, values) > (most, more)) {
                next = Some((least, values, side));
            }
        }
        let mut nearer = 0;
        let last = sums.iter().position(|(_, point)| {
            nearer += self.weights[*point as usize] as usize;
            nearer >= needed
        })?;
        let bound = alone.max(cost + sums[last].0);
        let nearest = &sums[..=last];
        let reach = |side: &u16| {
            nearest.iter().map(|(_, point)| self.reach(*point, usize::from(*side))).fold(0.0, f64::max)
        };
        *best = best.min(cost + open.iter().map(reach).sum::<f64>());
        (bound < *best - TINY).then_some(Node {
            bound,
            cost,
            points,
            open,
            next: next.map(|(_, _, side)| side),
        })
    }
}

/// Some sides settled.
struct Node {
    bound: f64,
    cost: f64,
    points: Vec<u32>,
    open: Vec<u16>,
    /// The side to settle next; none if all points are alike on all open sides.
    next: Option<usize>,
}

/// Nodes, the cheapest first; of equally cheap ones that with the fewest points.
#[derive(Default)]
struct Nodes {
    nodes: Vec<Option<Node>>,
    /// The bits of the bound, which are in its order because it is not negative, the points, and the place.
    heap: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl Nodes {
    fn extend(&mut self, node: Option<Node>) {
        if let Some(node) = &node {
            self.heap.push(Reverse((node.bound.to_bits(), node.points.len(), self.nodes.len())));
        }
        self.nodes.push(node);
    }

    fn pop(&mut self) -> Option<Node> {
        let Reverse((_, _, place)) = self.heap.pop()?;
        self.nodes[place].take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All combinations of reaches.
    fn plain(sides: &Sides, needed: usize) -> f64 {
        fn go(sides: &Sides, side: usize, cost: f64, points: &[u32], needed: usize) -> f64 {
            if sides.records(points) < needed {
                return f64::INFINITY;
            }
            if side == sides.count() {
                return cost;
            }
            let within = |reach: f64| -> Vec<u32> {
                points.iter().copied().filter(|point| sides.reach(*point, side) <= reach).collect()
            };
            let costs = sides.reaches[side].iter();
            costs
                .map(|reach| go(sides, side + 1, cost + reach, &within(*reach), needed))
                .fold(f64::INFINITY, f64::min)
        }
        let all: Vec<u32> = (0..sides.weights.len() as u32).collect();
        go(sides, 0, 0.0, &all, needed)
    }

    #[test]
    fn the_search_finds_the_cheapest_box() {
        let mut state = 7u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        for _ in 0..500 {
            let (count, points) = (1 + draw(5) as usize, 1 + draw(14) as usize);
            let reaches: Vec<Vec<f64>> = (0..count)
                .map(|_| {
                    let mut reaches: Vec<f64> = (0..4).map(|_| draw(10) as f64 / 10.0).collect();
                    reaches.sort_unstable_by(f64::total_cmp);
                    reaches
                })
                .collect();
            let ranks = (0..points * count).map(|_| draw(4) as u16).collect();
            let weights: Vec<u32> = (0..points).map(|_| 1 + draw(3) as u32).collect();
            let records: u32 = weights.iter().sum();
            let needed = 1 + draw(u64::from(records)) as usize;
            let sides = Sides { reaches, ranks, weights };
            let (found, expected) = (sides.least_box(needed, f64::INFINITY), plain(&sides, needed));
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
