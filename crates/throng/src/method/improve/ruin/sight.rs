//! Boxes told so that what they cost with one more record is looked up and not computed: of a tree the node that a box reaches
//! up to, of a number the places of its ends. A record has a row of costs for every tree, one for each node.
//!
//! Most of a search is looking at all boxes of a block for those near a record, so that this is what its speed depends on: attribute by
//! attribute for all boxes, which leaves nothing to decide in between.

use super::reach::{FEW, Place};
use super::rough::Rough;
use crate::loss::Kernel;
use crate::problem::{Attribute, Code, LANES, Lanes};
use crate::table::{Scale, Taxonomy};

/// Trees with more values or more nodes are asked of the kernel.
const MOST_VALUES: usize = 128;
const MOST_NODES: usize = 256;

/// The costs of all attributes.
pub(super) struct Sight {
    lines: Vec<Line>,
    trees: Vec<Tree>,
    /// Attributes that are neither.
    others: Vec<usize>,
    places: Vec<f32>,
    /// The node that each pair of codes of a tree reaches up to, tree after tree.
    nodes: Vec<u8>,
    /// What each node costs together with each code, tree after tree, code after code.
    costs: Vec<[f32; MOST_NODES]>,
}

/// A number: where its places begin, and its weight.
struct Line {
    attribute: usize,
    start: usize,
    weight: f32,
}

/// A tree: how many values it has, where its nodes and its costs begin.
struct Tree {
    attribute: usize,
    values: usize,
    nodes: usize,
    costs: usize,
}

/// Boxes as records see them, attribute by attribute.
#[derive(Default)]
pub(super) struct Boxes {
    nodes: Vec<Vec<u8>>,
    lows: Vec<Vec<f32>>,
    highs: Vec<Vec<f32>>,
    count: usize,
}

impl Sight {
    pub fn new(attributes: &[Attribute], kernel: &Kernel) -> Self {
        let (lines, trees, others) = (Vec::new(), Vec::new(), Vec::new());
        let mut sight =
            Sight { lines, trees, others, places: Vec::new(), nodes: Vec::new(), costs: Vec::new() };
        for (at, attribute) in attributes.iter().enumerate() {
            match attribute.domain.scale() {
                Scale::Numeric { .. } => sight.add_line(at, attribute, kernel),
                Scale::Categorical(tree) if tree.leaf_count() <= MOST_VALUES => {
                    sight.add_tree(at, tree, kernel);
                }
                Scale::Categorical(_) => sight.others.push(at),
            }
        }
        sight
    }

    fn add_line(&mut self, at: usize, attribute: &Attribute, kernel: &Kernel) {
        let (start, weight) = (self.places.len(), attribute.weight as f32);
        let missing = attribute.domain.missing().is_some();
        let numbers = attribute.domain.len() - usize::from(missing);
        self.places.extend((0..numbers).map(|code| kernel.penalty(at, 0, code) as f32));
        // A missing value lies as far from all numbers as they can lie apart.
        self.places.extend(missing.then_some(2.0 * weight));
        self.lines.push(Line { attribute: at, start, weight });
    }

    fn add_tree(&mut self, at: usize, tree: &Taxonomy, kernel: &Kernel) {
        let values = tree.leaf_count();
        let mut known = Vec::new();
        let mut node_of = vec![0; values * values];
        for low in 0..values {
            for high in low..values {
                let node = tree.ancestor(low, high);
                let place = known.iter().position(|own| *own == node).unwrap_or_else(|| {
                    known.push(node);
                    known.len() - 1
                });
                node_of[low * values + high] = place;
            }
        }
        if known.len() > MOST_NODES {
            return self.others.push(at);
        }
        let (nodes, costs) = (self.nodes.len(), self.costs.len());
        self.nodes.extend(node_of.into_iter().map(|node| node as u8));
        for code in 0..values {
            let mut row = [0.0; MOST_NODES];
            for (cost, node) in row.iter_mut().zip(&known) {
                let leaves = tree.leaves_under(*node);
                *cost = kernel.penalty(at, leaves.start.min(code), (leaves.end - 1).max(code)) as f32;
            }
            self.costs.push(row);
        }
        self.trees.push(Tree { attribute: at, values, nodes, costs });
    }

    /// No boxes.
    pub fn no_boxes(&self) -> Boxes {
        let (trees, lines) = (self.trees.len(), self.lines.len());
        let (nodes, lows, highs) =
            (vec![Vec::new(); trees], vec![Vec::new(); lines], vec![Vec::new(); lines]);
        Boxes { nodes, lows, highs, count: 0 }
    }

    /// Adds a box.
    pub fn add_box<C: Code>(&self, ends: (&[Lanes<C>], &[Lanes<C>]), boxes: &mut Boxes) {
        boxes.nodes.iter_mut().for_each(|nodes| nodes.push(0));
        boxes.lows.iter_mut().chain(&mut boxes.highs).for_each(|ends| ends.push(0.0));
        boxes.count += 1;
        self.set_box(boxes.count - 1, ends, boxes);
    }

    /// Changes a box.
    pub fn set_box<C: Code>(&self, at: usize, (lows, highs): (&[Lanes<C>], &[Lanes<C>]), boxes: &mut Boxes) {
        let code = |ends: &[Lanes<C>], attribute: usize| ends[attribute / LANES][attribute % LANES].index();
        for (tree, nodes) in self.trees.iter().zip(&mut boxes.nodes) {
            let (low, high) = (code(lows, tree.attribute), code(highs, tree.attribute));
            nodes[at] = self.nodes[tree.nodes + low * tree.values + high];
        }
        for (line, (low, high)) in self.lines.iter().zip(boxes.lows.iter_mut().zip(&mut boxes.highs)) {
            low[at] = self.places[line.start + code(lows, line.attribute)];
            high[at] = self.places[line.start + code(highs, line.attribute)];
        }
    }

    /// Takes a box out; the last one takes its place.
    pub fn remove_box(at: usize, boxes: &mut Boxes) {
        for nodes in &mut boxes.nodes {
            nodes.swap_remove(at);
        }
        for ends in boxes.lows.iter_mut().chain(&mut boxes.highs) {
            ends.swap_remove(at);
        }
        boxes.count -= 1;
    }

    /// What each box costs with a record.
    #[inline(never)]
    pub fn with_each<C: Code>(&self, row: &[Lanes<C>], boxes: &Boxes, sums: &mut Vec<f32>) {
        let code = |attribute: usize| row[attribute / LANES][attribute % LANES].index();
        sums.clear();
        sums.resize(boxes.count, 0.0);
        for (line, (lows, highs)) in self.lines.iter().zip(boxes.lows.iter().zip(&boxes.highs)) {
            let place = self.places[line.start + code(line.attribute)];
            for (sum, (low, high)) in sums.iter_mut().zip(lows.iter().zip(highs)) {
                *sum += (place.max(*high) - place.min(*low)).min(line.weight);
            }
        }
        for (tree, nodes) in self.trees.iter().zip(&boxes.nodes) {
            let costs = &self.costs[tree.costs + code(tree.attribute)];
            for (sum, node) in sums.iter_mut().zip(nodes) {
                *sum += costs[usize::from(*node)];
            }
        }
    }

    /// Whether there is nothing but a few numbers.
    pub fn is_of_few_numbers(&self) -> bool {
        self.trees.is_empty() && self.others.is_empty() && self.lines.len() <= FEW
    }

    /// Where codes lie, if there is nothing but a few numbers.
    pub fn place<C: Code>(&self, codes: &[Lanes<C>]) -> Place {
        let mut place = Place::default();
        for (place, line) in place.iter_mut().zip(&self.lines) {
            let code = codes[line.attribute / LANES][line.attribute % LANES].index();
            *place = self.places[line.start + code];
        }
        place
    }

    /// What each number costs at most.
    pub fn weights(&self) -> Place {
        let mut weights = Place::default();
        weights.iter_mut().zip(&self.lines).for_each(|(weight, line)| *weight = line.weight);
        weights
    }

    /// Whether all attributes are looked up here.
    pub fn is_whole(&self) -> bool {
        self.others.is_empty()
    }

    /// What attributes cost that are not.
    pub fn others<C: Code>(&self, rough: &Rough, ends: (&[Lanes<C>], &[Lanes<C>]), row: &[Lanes<C>]) -> f32 {
        self.others.iter().map(|at| rough.one_with(*at, ends, row)).sum()
    }
}
