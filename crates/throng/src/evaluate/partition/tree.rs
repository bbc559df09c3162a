//! Recursive partitioning: a binary tree of best splits.
//!
//! A split is measured by G², the likelihood ratio of classes on its two sides against one. Numbers are split at a
//! value; a row goes to the lower side only if its whole range is below. Labels are split between those with few and
//! those with many rows of a class (with more than two classes, one label against the others), and a row of the first
//! side overlaps if its label shares leaves with a label of the second.

use super::rows::{Content, Rows};
use crate::collections::cheapest_first;

/// How trees are grown.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Splits from the root to a leaf at most.
    pub depth: usize,
    /// Fewest rows of a side.
    pub least: usize,
}

/// The least G² of a split: one in a thousand by chance, with one degree of freedom.
const SIGNIFICANT: f64 = 10.83;

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Rows of each class.
    pub counts: Vec<u64>,
    /// How it is split, with its two sides.
    pub split: Option<(Split, Box<[Node; 2]>)>,
    /// Rows that may belong to the other side too.
    pub overlap: u64,
}

/// How a node is split.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The feature.
    pub feature: usize,
    /// Where.
    pub at: Where,
    /// The G² of it.
    pub gain: f64,
}

/// Where a feature is split.
#[derive(Clone, Debug, PartialEq)]
pub enum Where {
    /// Below this number and from it on.
    Number(f64),
    /// These labels (sorted) and the others, with the leaves of the former.
    Labels(Vec<u32>),
}

impl Node {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The most frequent class and its share.
    pub fn majority(&self) -> (usize, f64) {
        let most =
            (0..self.counts.len()).max_by_key(|class| (self.counts[*class], std::cmp::Reverse(*class)));
        let class = most.unwrap_or(0);
        (class, self.counts[class] as f64 / self.rows().max(1) as f64)
    }
}

/// Grows a tree over all rows.
pub fn grow(rows: &Rows, growth: Growth) -> Node {
    let all: Vec<u32> = (0..rows.target.len() as u32).collect();
    grow_node(rows, &all, growth, 0)
}

fn grow_node(rows: &Rows, own: &[u32], growth: Growth, overlap: u64) -> Node {
    let mut node = Node { counts: counts(rows, own), split: None, overlap };
    if growth.depth == 0 {
        return node;
    }
    let splits = (0..rows.features.len()).filter_map(|feature| best_split(rows, own, feature, growth.least));
    let best = splits.fold(None, |best: Option<Split>, split| match best {
        Some(best) if best.gain >= split.gain => Some(best),
        _ => Some(split),
    });
    if let Some(split) = best.filter(|split| split.gain >= SIGNIFICANT) {
        let (left, right): (Vec<u32>, Vec<u32>) = own.iter().partition(|row| goes_left(rows, &split, **row));
        let deeper = Growth { depth: growth.depth - 1, ..growth };
        let overlap =
            |side: &[u32], left| side.iter().filter(|row| overlaps(rows, &split, **row, left)).count() as u64;
        let sides = [
            grow_node(rows, &left, deeper, overlap(&left, true)),
            grow_node(rows, &right, deeper, overlap(&right, false)),
        ];
        node.split = Some((split, Box::new(sides)));
    }
    node
}

fn counts(rows: &Rows, own: &[u32]) -> Vec<u64> {
    let mut counts = vec![0; rows.classes.len()];
    own.iter().for_each(|row| counts[rows.target[*row as usize] as usize] += 1);
    counts
}

fn goes_left(rows: &Rows, split: &Split, row: u32) -> bool {
    match (&rows.features[split.feature].content, &split.at) {
        (Content::Numbers(ends), Where::Number(at)) => ends[row as usize].1 < *at,
        (Content::Labels { of_row, .. }, Where::Labels(left)) => {
            left.binary_search(&of_row[row as usize]).is_ok()
        }
        _ => false,
    }
}

/// Whether a row may belong to the other side too.
fn overlaps(rows: &Rows, split: &Split, row: u32, is_left: bool) -> bool {
    match (&rows.features[split.feature].content, &split.at) {
        // Whoever is on the lower side is there as a whole.
        (Content::Numbers(ends), Where::Number(at)) => !is_left && ends[row as usize].0 < *at,
        (Content::Labels { of_row, leaves, .. }, Where::Labels(left)) => {
            let own = leaves[of_row[row as usize] as usize];
            let meets = |other: &(u32, u32)| own.0 <= other.1 && other.0 <= own.1;
            (0..leaves.len() as u32)
                .filter(|label| left.binary_search(label).is_ok() != is_left)
                .any(|label| meets(&leaves[label as usize]))
        }
        _ => false,
    }
}

/// Twice the log-likelihood of counts, each class at its own share.
fn likelihood(counts: &[u64]) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let of = |count: &u64| if *count > 0 { *count as f64 * (*count as f64 / total).ln() } else { 0.0 };
    2.0 * counts.iter().map(of).sum::<f64>()
}

fn gain(left: &[u64], all: &[u64]) -> f64 {
    let right: Vec<u64> = all.iter().zip(left).map(|(all, left)| all - left).collect();
    likelihood(left) + likelihood(&right) - likelihood(all)
}

fn best_split(rows: &Rows, own: &[u32], feature: usize, least: usize) -> Option<Split> {
    let all = counts(rows, own);
    match &rows.features[feature].content {
        Content::Numbers(ends) => best_number(rows, own, feature, ends, &all, least),
        Content::Labels { of_row, names, .. } => {
            best_labels(rows, own, feature, of_row, names.len(), &all, least)
        }
    }
}

fn best_number(
    rows: &Rows,
    own: &[u32],
    feature: usize,
    ends: &[(f64, f64)],
    all: &[u64],
    least: usize,
) -> Option<Split> {
    let mut by_high: Vec<(f64, usize)> =
        own.iter().map(|row| (ends[*row as usize].1, *row as usize)).collect();
    cheapest_first(&mut by_high);
    let mut places: Vec<f64> =
        own.iter().map(|row| ends[*row as usize].0).filter(|low| low.is_finite()).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup();
    let mut left = vec![0; all.len()];
    let (mut passed, mut best) = (0, None::<Split>);
    for at in places {
        while passed < by_high.len() && by_high[passed].0 < at {
            left[rows.target[by_high[passed].1] as usize] += 1;
            passed += 1;
        }
        if passed < least || own.len() - passed < least {
            continue;
        }
        let gain = gain(&left, all);
        if best.as_ref().is_none_or(|best| gain > best.gain) {
            best = Some(Split { feature, at: Where::Number(at), gain });
        }
    }
    best
}

fn best_labels(
    rows: &Rows,
    own: &[u32],
    feature: usize,
    of_row: &[u32],
    labels: usize,
    all: &[u64],
    least: usize,
) -> Option<Split> {
    let mut of_label = vec![vec![0u64; all.len()]; labels];
    for row in own {
        of_label[of_row[*row as usize] as usize][rows.target[*row as usize] as usize] += 1;
    }
    let total = |label: u32| of_label[label as usize].iter().sum::<u64>();
    let classes = all.iter().filter(|count| **count > 0).count();
    let last = all.iter().rposition(|count| *count > 0).unwrap_or(0);
    let share = |label: u32| of_label[label as usize][last] as f64 / total(label) as f64;
    let mut by_share: Vec<(f64, usize)> = (0..labels as u32)
        .filter(|label| total(*label) > 0)
        .map(|label| (share(label), label as usize))
        .collect();
    cheapest_first(&mut by_share);
    let present: Vec<u32> = by_share.into_iter().map(|(_, label)| label as u32).collect();
    let mut best: Option<Split> = None;
    let mut consider = |side: &[u32]| {
        let mut left = vec![0; all.len()];
        for label in side {
            left.iter_mut().zip(&of_label[*label as usize]).for_each(|(left, count)| *left += count);
        }
        let count = left.iter().sum::<u64>() as usize;
        if count < least || own.len() - count < least {
            return;
        }
        let gain = gain(&left, all);
        if best.as_ref().is_none_or(|best| gain > best.gain) {
            let mut side = side.to_vec();
            side.sort_unstable();
            best = Some(Split { feature, at: Where::Labels(side), gain });
        }
    };
    match classes {
        // Of two classes, the best of all ways to divide the labels is one along their shares.
        0..=2 => (1..present.len()).for_each(|end| consider(&present[..end])),
        _ => present.iter().for_each(|label| consider(std::slice::from_ref(label))),
    }
    best
}
