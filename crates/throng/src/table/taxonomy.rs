//! Trees of values: which value is a kind of which.
//!
//! A [`Tree`] is what a hierarchy says, one path per leaf. A [`Taxonomy`] is the tree numbered for work:
//! leaves in left-to-right order, so that any set of leaves is covered by the range from its first to its
//! last, and the lowest common ancestor of a range is found in constant time. For neighbouring leaves
//! `i, i + 1` we store their lowest common ancestor; the ancestor of a longer range is the largest of those
//! inside it, a range-maximum query on a sparse table. Building costs O(n log n) for n leaves.
//!
//! ```
//! use throng::table::{Taxonomy, Tree};
//! let tree = Tree::from_paths([["Italy", "Europe"], ["France", "Europe"], ["US", "America"]])?;
//! let taxonomy = Taxonomy::new(&tree);
//! assert_eq!(taxonomy.label(taxonomy.ancestor(0, 1)), "Europe");
//! assert_eq!(taxonomy.label(taxonomy.ancestor(1, 2)), "*");
//! # Ok::<(), throng::Error>(())
//! ```

use super::Map;
use crate::schema::{ANY, Tree};

/// Index of a node in a [`Taxonomy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

#[derive(Clone, Debug)]
struct Node {
    label: String,
    parent: Option<NodeId>,
    /// Leaves `first..end` lie under this node.
    first: u32,
    end: u32,
    /// Steps to the furthest leaf below.
    height: u32,
}

/// A tree numbered for work. Node 0 is the root.
#[derive(Clone, Debug)]
pub struct Taxonomy {
    nodes: Vec<Node>,
    /// The node of each leaf, left to right.
    leaves: Vec<NodeId>,
    /// `ancestors[j][i]`: lowest common ancestor of leaves `i ..= i + 2^j`.
    ancestors: Vec<Vec<NodeId>>,
    /// What the leaves before each place weigh together, with the weights of the nodes above them; empty if all weigh the
    /// same.
    weight_before: Vec<f64>,
}

impl Taxonomy {
    /// Numbers a tree.
    pub fn new(tree: &Tree) -> Self {
        let mut builder = Builder::default();
        for (leaf, path) in tree.paths() {
            builder.add(leaf, path);
        }
        builder.build()
    }

    /// The tree without middle: one root over all values.
    pub fn flat<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut builder = Builder::default();
        for value in values {
            builder.add(value.as_ref(), &[]);
        }
        builder.build()
    }

    /// Number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// The labels of the leaves, left to right.
    pub fn leaf_labels(&self) -> impl ExactSizeIterator<Item = &str> {
        self.leaves.iter().map(|leaf| self.label(*leaf))
    }

    /// All nodes.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeId> + DoubleEndedIterator + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The lowest common ancestor of the leaves `first ..= last`; the leaf itself when they are one.
    pub fn ancestor(&self, first: usize, last: usize) -> NodeId {
        debug_assert!(first <= last);
        if first >= last {
            return self.leaves[first];
        }
        let level = (last - first).ilog2() as usize;
        let row = &self.ancestors[level];
        self.larger(row[first], row[last - (1 << level)])
    }

    /// A node's label; `*` for the root.
    pub fn label(&self, node: NodeId) -> &str {
        &self.nodes[node.0 as usize].label
    }

    /// A node's parent.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].parent
    }

    /// The positions of the leaves under a node.
    pub fn leaves_under(&self, node: NodeId) -> std::ops::Range<usize> {
        let node = &self.nodes[node.0 as usize];
        node.first as usize..node.end as usize
    }

    /// The labels of inner nodes but for the root.
    pub fn inner_labels(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().skip(1).filter(|node| node.height > 0).map(|node| node.label.as_str())
    }

    /// Gives every leaf a weight of its own, and every inner node one by which all leaves below it weigh more. A label that is
    /// repeated where a level is missing is one node. Tells whether the weights make numbers together.
    pub fn weigh(&mut self, leaf: impl Fn(&str) -> f64, node: impl Fn(&str) -> f64) -> bool {
        let mut total = 0.0;
        let mut before = vec![0.0];
        for own in &self.leaves {
            let mut weight = leaf(self.label(*own));
            let (mut below, mut at) = (None, self.parent(*own));
            while let Some(above) = at.filter(|above| above.0 > 0) {
                let label = self.label(above);
                if below != Some(label) {
                    weight *= node(label);
                }
                (below, at) = (Some(label), self.parent(above));
            }
            if !weight.is_normal() {
                return false;
            }
            total += weight;
            before.push(total);
        }
        self.weight_before = before;
        total.is_finite()
    }

    /// Which share of all leaves lies under a node, by their weights.
    pub fn share(&self, node: NodeId) -> f64 {
        let leaves = self.leaves_under(node);
        match self.weight_before.last() {
            None => leaves.len() as f64 / self.leaf_count() as f64,
            Some(total) => (self.weight_before[leaves.end] - self.weight_before[leaves.start]) / total,
        }
    }

    /// Steps from a node to the furthest leaf below it.
    pub fn height_of(&self, node: NodeId) -> usize {
        self.nodes[node.0 as usize].height as usize
    }

    /// Steps from the root to the furthest leaf.
    pub fn height(&self) -> usize {
        self.nodes[0].height as usize
    }

    /// The node that stands for a leaf when the attribute is recoded to a level (0 = raw, height = root):
    /// its highest ancestor of at most that height.
    pub fn at_level(&self, leaf: usize, level: usize) -> NodeId {
        let mut node = self.leaves[leaf];
        while let Some(parent) = self.parent(node) {
            if self.nodes[parent.0 as usize].height as usize > level {
                break;
            }
            node = parent;
        }
        node
    }

    fn larger(&self, a: NodeId, b: NodeId) -> NodeId {
        if self.leaves_under(a).len() >= self.leaves_under(b).len() { a } else { b }
    }
}

/// Grows a tree node by node, children in order of appearance.
#[derive(Default)]
struct Builder {
    labels: Vec<String>,
    children: Vec<Vec<usize>>,
    child_by_label: Map<(usize, String, bool), usize>,
}

impl Builder {
    fn add(&mut self, leaf: &str, path: &[String]) {
        if self.labels.is_empty() {
            self.node(ANY);
        }
        let mut at = 0;
        for label in path.iter().rev() {
            at = self.child(at, label, false);
        }
        self.child(at, leaf, true);
    }

    fn node(&mut self, label: &str) -> usize {
        self.labels.push(label.to_owned());
        self.children.push(Vec::new());
        self.labels.len() - 1
    }

    fn child(&mut self, parent: usize, label: &str, leaf: bool) -> usize {
        let key = (parent, label.to_owned(), leaf);
        if let Some(&child) = self.child_by_label.get(&key) {
            return child;
        }
        let child = self.node(label);
        self.children[parent].push(child);
        self.child_by_label.insert(key, child);
        child
    }

    fn build(mut self) -> Taxonomy {
        if self.labels.is_empty() {
            self.node(ANY);
        }
        let mut taxonomy = Taxonomy {
            nodes: Vec::new(),
            leaves: Vec::new(),
            ancestors: Vec::new(),
            weight_before: Vec::new(),
        };
        self.number(&mut taxonomy);
        taxonomy.ancestors = sparse_table(&taxonomy);
        taxonomy
    }

    /// Numbers nodes in pre-order without recursion, so that depth cannot overflow the stack.
    fn number(&mut self, taxonomy: &mut Taxonomy) {
        let mut stack = vec![(0, None)];
        while let Some((at, parent)) = stack.pop() {
            let id = NodeId(taxonomy.nodes.len() as u32);
            let first = taxonomy.leaves.len() as u32;
            let leaf = self.children[at].is_empty() && at != 0;
            if leaf {
                taxonomy.leaves.push(id);
            }
            let label = std::mem::take(&mut self.labels[at]);
            taxonomy.nodes.push(Node { label, parent, first, end: first + u32::from(leaf), height: 0 });
            stack.extend(self.children[at].iter().rev().map(|child| (*child, Some(id))));
        }
        for at in (1..taxonomy.nodes.len()).rev() {
            let Node { parent, end, height, .. } = taxonomy.nodes[at];
            if let Some(NodeId(parent)) = parent {
                let parent = &mut taxonomy.nodes[parent as usize];
                parent.end = parent.end.max(end);
                parent.height = parent.height.max(height + 1);
            }
        }
    }
}

fn sparse_table(taxonomy: &Taxonomy) -> Vec<Vec<NodeId>> {
    let neighbours: Vec<NodeId> =
        taxonomy.leaves.windows(2).map(|pair| common_ancestor(taxonomy, pair[0], pair[1])).collect();
    let mut rows = vec![neighbours];
    loop {
        let reach = 1 << (rows.len() - 1);
        let last = &rows[rows.len() - 1];
        if last.len() <= reach {
            return rows;
        }
        let next = (0..last.len() - reach).map(|i| taxonomy.larger(last[i], last[i + reach])).collect();
        rows.push(next);
    }
}

/// Climbs from the left leaf until the right one lies below.
fn common_ancestor(taxonomy: &Taxonomy, left: NodeId, right: NodeId) -> NodeId {
    let target = taxonomy.nodes[right.0 as usize].first;
    let mut at = left;
    while taxonomy.nodes[at.0 as usize].end <= target {
        match taxonomy.parent(at) {
            Some(parent) => at = parent,
            None => return at,
        }
    }
    at
}
