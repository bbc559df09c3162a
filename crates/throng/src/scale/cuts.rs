//! Step 2: cuts that send every record to a part of about the same size, found from a sample.
//!
//! A tree of cuts, each of one quasi-identifier at one code: halving along the attribute that is widest among the records at
//! hand (as Mondrian does), at the median, or beside it where a hierarchy parts anyway. Only quasi-identifiers decide, so a part
//! tells no more than the boxes of its classes do. Cuts are dear: what lies on both sides of one cannot be published together.
//! So what comes out dearest of all parts is cut elsewhere in the next round, along another attribute first.
//!
//! Cost: O(s · d) for each level of the tree, s records of the sample and d attributes.

use serde::{Deserialize, Serialize};

use crate::loss::Kernel;

/// A tree of cuts. The first node is its root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    nodes: Vec<Node>,
    parts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Node {
    Part(u32),
    /// Codes of an attribute below `at` go left.
    Cut {
        attribute: u32,
        at: u32,
        left: u32,
        right: u32,
    },
}

/// A record of a sample: its codes, and how many records it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The code of each quasi-identifier.
    pub codes: Vec<u32>,
    /// How many equal ones there are in the sample.
    pub weight: u64,
}

/// How far from the median a better place may be, as a share of the records.
const ASIDE: f64 = 0.1;

impl Cuts {
    /// One part of all records.
    pub fn none() -> Self {
        Cuts { nodes: vec![Node::Part(0)], parts: 1 }
    }

    /// So many parts of a sample, fewer if it cannot be cut so often. Rounds differ in where they cut first.
    pub fn new(sample: &[Sampled], kernel: &Kernel, parts: usize, round: usize) -> Self {
        let mut cuts = Cuts { nodes: Vec::new(), parts: 0 };
        let mut records: Vec<&Sampled> = sample.iter().collect();
        records.sort_by(|one, other| one.codes.cmp(&other.codes));
        cuts.grow(records, kernel, parts.max(1), round);
        cuts
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.parts as usize
    }

    /// The part of a record, given its codes.
    #[inline]
    pub fn part(&self, code: impl Fn(usize) -> u32) -> u32 {
        let mut node = 0;
        loop {
            match self.nodes[node] {
                Node::Part(part) => return part,
                Node::Cut { attribute, at, left, right } => {
                    node = if code(attribute as usize) < at { left } else { right } as usize;
                }
            }
        }
    }

    /// The parts in groups that are solved together: a part that cannot stand alone joins its sibling, however large that is.
    pub fn joined(&self, stands: &dyn Fn(&[u32]) -> bool) -> Vec<Vec<u32>> {
        self.join(0, stands)
    }

    fn join(&self, node: usize, stands: &dyn Fn(&[u32]) -> bool) -> Vec<Vec<u32>> {
        match self.nodes[node] {
            Node::Part(part) => vec![vec![part]],
            Node::Cut { left, right, .. } => {
                let mut groups = self.join(left as usize, stands);
                groups.extend(self.join(right as usize, stands));
                match groups.iter().all(|group| stands(group)) {
                    true => groups,
                    false => vec![groups.concat()],
                }
            }
        }
    }

    fn grow(&mut self, records: Vec<&Sampled>, kernel: &Kernel, parts: usize, aside: usize) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node::Part(self.parts));
        let left_parts = parts / 2;
        let share = left_parts as f64 / parts as f64;
        let found = if parts > 1 { place(&records, kernel, share, aside) } else { None };
        let Some((attribute, at)) = found else {
            self.parts += 1;
            return node;
        };
        let (left, right): (Vec<&Sampled>, Vec<&Sampled>) =
            records.into_iter().partition(|record| record.codes[attribute] < at);
        // Only the first cut is made elsewhere.
        let left = self.grow(left, kernel, left_parts, 0);
        let right = self.grow(right, kernel, parts - left_parts, 0);
        self.nodes[node as usize] = Node::Cut { attribute: attribute as u32, at, left, right };
        node
    }
}

/// Where to cut some records so that a share of them goes left: along the widest attribute that can be cut, or one that comes
/// so many places after it.
fn place(records: &[&Sampled], kernel: &Kernel, share: f64, aside: usize) -> Option<(usize, u32)> {
    let first = records.first()?;
    let mut widths: Vec<(f64, usize)> = (0..first.codes.len())
        .filter_map(|attribute| {
            let codes = || records.iter().map(|record| record.codes[attribute]);
            let (low, high) = (codes().min()?, codes().max()?);
            (low < high).then(|| (kernel.penalty(attribute, low as usize, high as usize), attribute))
        })
        .collect();
    widths.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let count = widths.len();
    let found = (0..count).filter_map(|at| {
        let attribute = widths[(at + aside) % count].1;
        best_code(records, kernel, attribute, share).map(|(at, off)| (attribute, at, off))
    });
    // One that leaves about the right share on either side, or else the one that comes nearest.
    let mut nearest: Option<(usize, u32, f64)> = None;
    for (attribute, at, off) in found {
        if off <= 2.0 * ASIDE {
            return Some((attribute, at));
        }
        if nearest.is_none_or(|(.., least)| off < least) {
            nearest = Some((attribute, at, off));
        }
    }
    nearest.map(|(attribute, at, _)| (attribute, at))
}

/// The code to cut an attribute at, and how far from the share that is: among those near enough the one across which classes
/// would lose most, of equals the nearest.
fn best_code(records: &[&Sampled], kernel: &Kernel, attribute: usize, share: f64) -> Option<(u32, f64)> {
    let mut weights: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
    records.iter().for_each(|record| *weights.entry(record.codes[attribute]).or_default() += record.weight);
    let all = weights.values().sum::<u64>() as f64;
    let codes: Vec<(u32, u64)> = weights.into_iter().collect();
    let mut below = 0;
    let mut best: Option<(bool, f64, f64, u32)> = None;
    for pair in codes.windows(2) {
        below += pair[0].1;
        let off = (below as f64 / all - share).abs();
        let lost = kernel.penalty(attribute, pair[0].0 as usize, pair[1].0 as usize);
        let near = off <= ASIDE;
        let better = match best {
            None => true,
            Some((true, ..)) if !near => false,
            Some((false, ..)) if near => true,
            Some((true, most, least, _)) => lost > most || (lost == most && off < least),
            Some((false, _, least, _)) => off < least,
        };
        if better {
            best = Some((near, lost, off, pair[1].0));
        }
    }
    best.map(|(_, _, off, at)| (at, off))
}
