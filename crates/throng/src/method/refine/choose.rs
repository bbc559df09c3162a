//! Which of several ways to refine tells most about the class: the one with the least cross-validated error.
//!
//! With several quasi-identifiers, no way to weigh what each of them loses is the best on every table ([`Way`]). So each is
//! followed to its end, and a decision tree is grown on what it would publish: the records are dealt into five parts, and
//! each is predicted from the other four. The tree splits by masked values, by gain ratio among attributes with at least
//! the mean gain (as C4.5 does), and only where the gain pays for the branches it adds (the Bayesian information criterion),
//! so that it needs no pruning. It is there to choose by; `throng evaluate --task classify` has the learners to report.
//!
//! Cost: that of the searches, and of 15 trees over at most 60,000 records.

use super::benefit::{entropy, information_gain};
use super::{Anonymity, First, Outcome};
use crate::problem::Problem;

/// Parts that the records are dealt into.
const FOLDS: u32 = 5;
/// Records that are looked at, at most.
const LOOKED_AT: usize = 60_000;
/// Nodes with fewer records are not split.
const SMALLEST: usize = 8;

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// With which quasi-identifiers it begins.
    pub first: First,
    /// How anonymity that is lost counts.
    pub anonymity: Anonymity,
}

/// The share of records whose class a tree does not predict that has not seen them, grown on what would be published.
pub(super) fn error(problem: &Problem, outcome: &Outcome) -> f64 {
    let Some(class) = problem.labels.first() else { return 0.0 };
    let step = problem.len().div_ceil(LOOKED_AT).max(1);
    let group_of = outcome.partition.group_of_record(problem.len());
    let looked_at: Vec<usize> = (0..problem.len())
        .step_by(step)
        .filter(|record| (group_of[*record] as usize) < outcome.partition.len())
        .collect();
    let table = Table {
        columns: outcome.boxes.ends.iter().map(|ends| column(ends, &group_of, &looked_at)).collect(),
        classes: looked_at.iter().map(|record| class.codes[*record]).collect(),
        count: class.domain.len(),
    };
    let (mut wrong, mut all) = (0usize, 0usize);
    for fold in 0..FOLDS {
        let (held_out, learned): (Vec<u32>, Vec<u32>) =
            (0..looked_at.len() as u32).partition(|row| fold_of(*row) == fold);
        let tree = table.grow(&learned);
        wrong += held_out
            .iter()
            .filter(|row| table.predict(&tree, **row) != table.classes[**row as usize])
            .count();
        all += held_out.len();
    }
    wrong as f64 / all.max(1) as f64
}

/// The part of a row; rows next to each other are in different ones, whatever their order means.
fn fold_of(row: u32) -> u32 {
    (row.wrapping_mul(0x9e37_79b1) >> 16) % FOLDS
}

/// A published attribute in numbers from 0 on.
fn column(ends: &[(u32, u32)], group_of: &[u32], records: &[usize]) -> Column {
    let mut different = ends.to_vec();
    different.sort_unstable();
    different.dedup();
    let number: Vec<u32> =
        ends.iter().map(|own| different.partition_point(|other| other < own) as u32).collect();
    let values = records.iter().map(|record| number[group_of[*record] as usize]).collect();
    Column { values, count: different.len() }
}

struct Column {
    values: Vec<u32>,
    count: usize,
}

struct Table {
    columns: Vec<Column>,
    classes: Vec<u32>,
    count: usize,
}

/// A tree: the class that most records have, and for an inner node what it splits by and where each value goes.
struct Tree {
    class: u32,
    split: Option<(usize, Vec<Option<Tree>>)>,
}

impl Table {
    fn grow(&self, rows: &[u32]) -> Tree {
        let mut whole = vec![0u64; self.count];
        rows.iter().for_each(|row| whole[self.classes[*row as usize] as usize] += 1);
        let class = (0..).zip(&whole).max_by_key(|(class, count)| (**count, std::cmp::Reverse(*class)));
        let class = class.map_or(0, |(class, _)| class);
        let split = self.best_split(rows, &whole).map(|at| {
            let column = &self.columns[at];
            let mut parts: Vec<Vec<u32>> = vec![Vec::new(); column.count];
            rows.iter().for_each(|row| parts[column.values[*row as usize] as usize].push(*row));
            let grown = parts.iter().map(|part| (!part.is_empty()).then(|| self.grow(part)));
            (at, grown.collect())
        });
        Tree { class, split }
    }

    /// The attribute to split by, if any pays.
    fn best_split(&self, rows: &[u32], whole: &[u64]) -> Option<usize> {
        if rows.len() < SMALLEST || whole.iter().filter(|count| **count > 0).count() < 2 {
            return None;
        }
        let splits: Vec<(usize, f64, f64)> = (0..self.columns.len())
            .filter_map(|at| self.gain(rows, whole, at).map(|(gain, ratio)| (at, gain, ratio)))
            .collect();
        let mean = splits.iter().map(|(_, gain, _)| gain).sum::<f64>() / splits.len().max(1) as f64;
        let good = splits.into_iter().filter(|(_, gain, _)| *gain >= mean * (1.0 - 1e-9));
        // Of equal ones the first.
        good.reduce(|best, next| if next.2 > best.2 { next } else { best }).map(|(at, ..)| at)
    }

    /// The information gain of an attribute and its gain ratio, if the gain pays for the branches.
    fn gain(&self, rows: &[u32], whole: &[u64], at: usize) -> Option<(f64, f64)> {
        let column = &self.columns[at];
        let mut counts = vec![0u64; column.count * self.count];
        for row in rows {
            let value = column.values[*row as usize] as usize;
            counts[value * self.count + self.classes[*row as usize] as usize] += 1;
        }
        let parts = || counts.chunks_exact(self.count).filter(|part| part.iter().any(|count| *count > 0));
        let sizes: Vec<u64> = parts().map(|part| part.iter().sum()).collect();
        if sizes.len() < 2 {
            return None;
        }
        let records = rows.len() as f64;
        let gain = information_gain(whole, parts());
        let price = 0.5 * (sizes.len() - 1) as f64 * (self.count - 1) as f64 * records.log2() / records;
        (gain > price).then(|| (gain, gain / entropy(&sizes)))
    }

    fn predict(&self, tree: &Tree, row: u32) -> u32 {
        let mut at = tree;
        while let Some((attribute, branches)) = &at.split {
            match &branches[self.columns[*attribute].values[row as usize] as usize] {
                Some(next) => at = next,
                None => break,
            }
        }
        at.class
    }
}
