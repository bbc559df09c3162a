//! The most published rows that can be explained at once, each by a record of its own.
//!
//! Equal rows are one supply, equal records one demand, and an edge says that a record explains a row: a maximum flow by
//! shortest augmenting paths (Dinic 1970; for single rows Hopcroft and Karp 1973) tells how many rows are explained.
//! Cost: O(edges × √(rows + records)) where all are single; a greedy start leaves little to do.

use std::collections::VecDeque;

use crate::collections::sort_by_key_and_id;

/// Supplies and demands, and which demands each supply can meet.
#[derive(Debug, Default)]
pub(super) struct Bipartite {
    /// Rows of each kind that are not explained yet.
    rows: Vec<u64>,
    /// Records of each kind that explain no row yet.
    records: Vec<u64>,
    /// For each kind of row the kinds of record that explain it, with how many rows they do explain.
    edges: Vec<Vec<(u32, u64)>>,
    /// The same from the other side: kind of row, and place in its list.
    back: Vec<Vec<(u32, u32)>>,
}

const FAR: u32 = u32::MAX;

impl Bipartite {
    pub fn new(records: Vec<u64>) -> Self {
        let back = vec![Vec::new(); records.len()];
        Bipartite { records, back, ..Bipartite::default() }
    }

    /// Adds rows of one kind and the records that explain them.
    pub fn add(&mut self, count: u64, explained_by: Vec<u32>) {
        let row = self.rows.len() as u32;
        for (place, record) in explained_by.iter().enumerate() {
            self.back[*record as usize].push((row, place as u32));
        }
        self.rows.push(count);
        self.edges.push(explained_by.into_iter().map(|record| (record, 0)).collect());
    }

    /// How many rows stay unexplained at best.
    pub fn unexplained(mut self) -> u64 {
        self.start();
        while let Some(levels) = self.levels() {
            let mut next = vec![0; self.rows.len()];
            for row in 0..self.rows.len() {
                while self.rows[row] > 0 && self.augment(row, &levels, &mut next) {}
            }
        }
        self.rows.iter().sum()
    }

    /// Takes what fits, rows with the fewest records first.
    fn start(&mut self) {
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        sort_by_key_and_id(&mut order, |row| self.edges[row as usize].len());
        for row in order.into_iter().map(|row| row as usize) {
            for (record, used) in &mut self.edges[row] {
                let taken = self.rows[row].min(self.records[*record as usize]);
                *used += taken;
                self.rows[row] -= taken;
                self.records[*record as usize] -= taken;
            }
        }
    }

    /// How far each kind of row is from one that is not explained; nothing if no record is left for any of them.
    fn levels(&self) -> Option<Vec<u32>> {
        let mut levels = vec![FAR; self.rows.len()];
        let mut queue: VecDeque<usize> = (0..self.rows.len()).filter(|row| self.rows[*row] > 0).collect();
        queue.iter().for_each(|row| levels[*row] = 0);
        let mut seen = vec![false; self.records.len()];
        let mut free = false;
        while let Some(row) = queue.pop_front() {
            for (record, _) in &self.edges[row] {
                if std::mem::replace(&mut seen[*record as usize], true) {
                    continue;
                }
                free |= self.records[*record as usize] > 0;
                for &(other, place) in &self.back[*record as usize] {
                    let other = other as usize;
                    if levels[other] == FAR && self.edges[other][place as usize].1 > 0 {
                        levels[other] = levels[row] + 1;
                        queue.push_back(other);
                    }
                }
            }
        }
        free.then_some(levels)
    }

    /// Explains one more of some rows, if a path along the levels leads to a free record. A stack instead of recursion:
    /// paths may be as long as there are kinds of rows.
    fn augment(&mut self, start: usize, levels: &[u32], next: &mut [usize]) -> bool {
        // Each step: the row, and the place of its edge that the path takes; then the edge that is undone.
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut undone: Vec<usize> = Vec::new();
        let mut row = start;
        loop {
            let Some(&(record, _)) = self.edges[row].get(next[row]) else {
                // Nothing leads on from here: back to where the path came from, which looks for another way.
                let (Some((before, _)), Some(_)) = (path.pop(), undone.pop()) else { return false };
                row = before;
                continue;
            };
            let record = record as usize;
            if self.records[record] > 0 {
                path.push((row, next[row]));
                self.apply(&path, &undone, record);
                return true;
            }
            let onward = self.back[record].iter().find(|(other, place)| {
                let (other, place) = (*other as usize, *place as usize);
                levels[other] == levels[row].saturating_add(1)
                    && next[other] < self.edges[other].len()
                    && self.edges[other][place].1 > 0
            });
            match onward {
                Some(&(other, place)) => {
                    path.push((row, next[row]));
                    undone.push(place as usize);
                    row = other as usize;
                }
                None => next[row] += 1,
            }
        }
    }

    /// Moves one row along a path: each step takes a record, which the row after it gives up.
    fn apply(&mut self, path: &[(usize, usize)], undone: &[usize], free: usize) {
        for (row, place) in path {
            self.edges[*row][*place].1 += 1;
        }
        for ((row, _), place) in path[1..].iter().zip(undone) {
            self.edges[*row][*place].1 -= 1;
        }
        self.records[free] -= 1;
        self.rows[path[0].0] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The plain way: every subset of rows needs as many records as it has rows (Hall 1935), so the most that stay
    /// unexplained is the greatest shortage of a subset.
    fn shortage(rows: &[(u64, Vec<u32>)], records: &[u64]) -> u64 {
        (0..1u32 << rows.len())
            .map(|subset| {
                let inside = || rows.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
                let needed: u64 = inside().map(|(_, (count, _))| count).sum();
                let explains = |record: &usize| inside().any(|(_, (_, own))| own.contains(&(*record as u32)));
                let there: u64 = (0..records.len()).filter(explains).map(|record| records[record]).sum();
                needed.saturating_sub(there)
            })
            .max()
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn as_many_rows_are_explained_as_can_be(
            rows in prop::collection::vec((1u64..4, prop::collection::btree_set(0u32..7, 0..5)), 0..8),
            records in prop::collection::vec(0u64..4, 7),
        ) {
            let rows: Vec<(u64, Vec<u32>)> =
                rows.into_iter().map(|(count, own)| (count, own.into_iter().collect())).collect();
            let mut both = Bipartite::new(records.clone());
            rows.iter().for_each(|(count, own)| both.add(*count, own.clone()));
            prop_assert_eq!(both.unexplained(), shortage(&rows, &records));
        }
    }
}
