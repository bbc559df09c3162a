//! Boxes told so that what they cost with one more record is looked up and not computed: of a tree the node that a box reaches
//! up to, of a number the places of its ends. A record has a row of costs for every tree, one for each node.
//!
//! Most of a search is looking at all boxes of a block for those near a record, so that this is what its speed depends on.

use super::rough::Rough;
use crate::loss::Kernel;
use crate::problem::{Attribute, Code, LANES, Lanes};
use crate::table::{Scale, Taxonomy};

/// So many trees are looked up before the sum is compared with a limit.
const FEW_TREES: usize = 4;
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
    costs: Vec<f32>,
}

/// A number: where its places begin, and its weight.
struct Line {
    attribute: usize,
    start: usize,
    weight: f32,
}

/// A tree: how many values and nodes it has, where its nodes and its costs begin.
struct Tree {
    attribute: usize,
    values: usize,
    count: usize,
    nodes: usize,
    costs: usize,
}

/// Records as boxes see them.
#[derive(Default)]
pub(super) struct Records {
    /// Where the row of costs of each tree begins.
    rows: Vec<u32>,
    places: Vec<f32>,
}

/// Boxes as records see them.
#[derive(Default)]
pub(super) struct Boxes {
    nodes: Vec<u8>,
    spans: Vec<(f32, f32)>,
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
        let (nodes, costs, count) = (self.nodes.len(), self.costs.len(), known.len());
        self.nodes.extend(node_of.into_iter().map(|node| node as u8));
        for code in 0..values {
            self.costs.extend(known.iter().map(|node| {
                let leaves = tree.leaves_under(*node);
                kernel.penalty(at, leaves.start.min(code), (leaves.end - 1).max(code)) as f32
            }));
        }
        self.trees.push(Tree { attribute: at, values, count, nodes, costs });
    }

    /// Adds a record.
    pub fn add_record<C: Code>(&self, row: &[Lanes<C>], records: &mut Records) {
        let code = |at: usize| row[at / LANES][at % LANES].index();
        records
            .rows
            .extend(self.trees.iter().map(|tree| (tree.costs + code(tree.attribute) * tree.count) as u32));
        records.places.extend(self.lines.iter().map(|line| self.places[line.start + code(line.attribute)]));
    }

    /// Adds a box.
    pub fn add_box<C: Code>(&self, (lows, highs): (&[Lanes<C>], &[Lanes<C>]), boxes: &mut Boxes) {
        boxes.nodes.extend(self.trees.iter().map(|tree| self.node(tree, lows, highs)));
        boxes.spans.extend(self.lines.iter().map(|line| self.span(line, lows, highs)));
    }

    /// Changes a box.
    pub fn set_box<C: Code>(&self, at: usize, (lows, highs): (&[Lanes<C>], &[Lanes<C>]), boxes: &mut Boxes) {
        let nodes = &mut boxes.nodes[at * self.trees.len()..];
        self.trees.iter().zip(nodes).for_each(|(tree, node)| *node = self.node(tree, lows, highs));
        let spans = &mut boxes.spans[at * self.lines.len()..];
        self.lines.iter().zip(spans).for_each(|(line, span)| *span = self.span(line, lows, highs));
    }

    /// Takes a box out; the last one takes its place.
    pub fn remove_box(&self, at: usize, boxes: &mut Boxes) {
        let (trees, lines) = (self.trees.len(), self.lines.len());
        let last = boxes.nodes.len() - trees;
        boxes.nodes.copy_within(last.., at * trees);
        boxes.nodes.truncate(last);
        let last = boxes.spans.len() - lines;
        boxes.spans.copy_within(last.., at * lines);
        boxes.spans.truncate(last);
    }

    fn node<C: Code>(&self, tree: &Tree, lows: &[Lanes<C>], highs: &[Lanes<C>]) -> u8 {
        let (group, lane) = (tree.attribute / LANES, tree.attribute % LANES);
        self.nodes[tree.nodes + lows[group][lane].index() * tree.values + highs[group][lane].index()]
    }

    fn span<C: Code>(&self, line: &Line, lows: &[Lanes<C>], highs: &[Lanes<C>]) -> (f32, f32) {
        let (group, lane) = (line.attribute / LANES, line.attribute % LANES);
        let place = |code: C| self.places[line.start + code.index()];
        (place(lows[group][lane]), place(highs[group][lane]))
    }

    /// What a record sees of boxes.
    #[inline]
    pub fn of<'a>(&'a self, records: &'a Records, record: u32) -> View<'a> {
        let (trees, lines, at) = (self.trees.len(), self.lines.len(), record as usize);
        View {
            sight: self,
            rows: &records.rows[at * trees..(at + 1) * trees],
            places: &records.places[at * lines..(at + 1) * lines],
        }
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

/// What a record sees of boxes.
pub(super) struct View<'a> {
    sight: &'a Sight,
    rows: &'a [u32],
    places: &'a [f32],
}

impl View<'_> {
    /// What a box costs with the record, given up once it is above a limit: what is returned then is above it too.
    #[inline(always)]
    pub fn with_up_to(&self, boxes: &Boxes, at: usize, limit: f32) -> f32 {
        let (trees, lines) = (self.rows.len(), self.places.len());
        let mut sum = 0.0;
        let spans = &boxes.spans[at * lines..(at + 1) * lines];
        for ((place, span), line) in self.places.iter().zip(spans).zip(&self.sight.lines) {
            sum += (place.max(span.1) - place.min(span.0)).min(line.weight);
        }
        let nodes = &boxes.nodes[at * trees..(at + 1) * trees];
        for (rows, nodes) in self.rows.chunks(FEW_TREES).zip(nodes.chunks(FEW_TREES)) {
            if sum > limit {
                return sum;
            }
            for (row, node) in rows.iter().zip(nodes) {
                sum += self.sight.costs[*row as usize + usize::from(*node)];
            }
        }
        sum
    }
}
