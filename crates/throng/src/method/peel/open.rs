//! The records that no class has taken yet, equal ones together.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

use super::ladder::Ladder;
use crate::loss::Extent;
use crate::method::improve::Work;
use crate::problem::{Code, LANES, Lanes};

/// Open records by their distinct rows.
pub(super) struct OpenRecords<C> {
    /// Records, equal ones next to each other.
    sorted: Vec<u32>,
    /// Where the records of each distinct row start in `sorted`; one more at the end.
    starts: Vec<u32>,
    /// Distinct rows that are open, ascending.
    open: Vec<u32>,
    /// The codes of the open rows, one after the other: all of them are looked at again and again.
    codes: Vec<Lanes<C>>,
    is_open: Vec<bool>,
    records: usize,
}

/// Distinct rows that could be published as one class.
#[derive(Debug, PartialEq)]
pub(super) struct Candidate {
    /// The penalty of their box.
    pub ncp: f64,
    pub rows: Vec<u32>,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    /// The cheapest is the greatest, as a heap wants it.
    fn cmp(&self, other: &Self) -> Ordering {
        other.ncp.total_cmp(&self.ncp).then_with(|| other.rows.cmp(&self.rows))
    }
}

impl<C: Code> OpenRecords<C> {
    pub fn new(work: &Work<'_, C>) -> Self {
        let matrix = work.matrix;
        let row = |record: &u32| matrix.row(*record as usize);
        let mut sorted: Vec<u32> = (0..matrix.len() as u32).collect();
        sorted.par_sort_unstable_by(|a, b| row(a).cmp(row(b)).then(a.cmp(b)));
        let mut starts: Vec<u32> = (0..sorted.len() as u32)
            .filter(|at| *at == 0 || row(&sorted[*at as usize - 1]) != row(&sorted[*at as usize]))
            .collect();
        let rows = starts.len();
        let codes = starts.iter().flat_map(|start| row(&sorted[*start as usize])).copied().collect();
        starts.push(sorted.len() as u32);
        OpenRecords {
            records: sorted.len(),
            sorted,
            starts,
            open: (0..rows as u32).collect(),
            codes,
            is_open: vec![true; rows],
        }
    }

    /// Number of open distinct rows.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Number of open records.
    pub fn records(&self) -> usize {
        self.records
    }

    fn members(&self, row: u32) -> &[u32] {
        &self.sorted[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }

    /// Counts the open records by their values under a string. Gives back the counts, and the number of the count of
    /// each open row.
    fn count(&self, work: &Work<'_, C>, ladders: &[Ladder], steps: &[u8]) -> (Counts, Vec<u32>) {
        let marks: Vec<&[u64]> = ladders
            .iter()
            .zip(steps)
            .map(|(ladder, step)| ladder.steps[usize::from(*step)].marks.as_slice())
            .collect();
        let mut counts = Counts::new(self.open.len());
        let mut numbers = Vec::with_capacity(self.open.len());
        for (&row, codes) in self.open.iter().zip(self.codes.chunks_exact(work.matrix.stride())) {
            // Two combinations with one key would only make a group larger than it had to be.
            let mut key = 0;
            for (codes, marks) in codes.iter().zip(marks.chunks(LANES)) {
                for (code, marks) in codes.iter().zip(marks) {
                    key ^= marks[code.index()];
                }
            }
            numbers.push(counts.add(key, self.members(row).len() as u32));
        }
        (counts, numbers)
    }

    /// Whether no combination under a string has enough open records. Then none under a finer one has, now or later.
    pub fn is_exhausted(&self, work: &Work<'_, C>, ladders: &[Ladder], steps: &[u8]) -> bool {
        let (counts, _) = self.count(work, ladders, steps);
        counts.groups.iter().all(|(_, count)| (*count as usize) < work.smallest)
    }

    /// The groups under a string that are large enough and whose box costs at most `limit`.
    pub fn find(&self, work: &Work<'_, C>, ladders: &[Ladder], steps: &[u8], limit: f64) -> Vec<Candidate> {
        let (counts, numbers) = self.count(work, ladders, steps);
        let mut group_of = vec![u32::MAX; counts.groups.len()];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (&row, &number) in self.open.iter().zip(&numbers) {
            if counts.groups[number as usize].1 as usize >= work.smallest {
                let group = &mut group_of[number as usize];
                if *group == u32::MAX {
                    *group = groups.len() as u32;
                    groups.push(Vec::new());
                }
                groups[*group as usize].push(row);
            }
        }
        let candidate = |rows: Vec<u32>| Candidate { ncp: self.ncp(work, &rows), rows };
        groups.into_iter().map(candidate).filter(|candidate| candidate.ncp <= limit).collect()
    }

    /// What of a candidate is still open, if it is enough for a class.
    pub fn still_open(&self, work: &Work<'_, C>, mut candidate: Candidate) -> Option<Candidate> {
        let before = candidate.rows.len();
        candidate.rows.retain(|row| self.is_open[*row as usize]);
        if candidate.rows.len() < before {
            let records: usize = candidate.rows.iter().map(|row| self.members(*row).len()).sum();
            if records < work.smallest {
                return None;
            }
            candidate.ncp = self.ncp(work, &candidate.rows);
        }
        Some(candidate)
    }

    fn ncp(&self, work: &Work<'_, C>, rows: &[u32]) -> f64 {
        let firsts: Vec<u32> = rows.iter().map(|row| self.members(*row)[0]).collect();
        work.kernel.ncp(&Extent::around(work.matrix, &firsts))
    }

    /// Takes the records of a candidate that is open, if they may be a class.
    pub fn take(&mut self, work: &Work<'_, C>, candidate: &Candidate) -> Option<Vec<u32>> {
        let rows = &candidate.rows;
        let records: Vec<u32> = rows.iter().flat_map(|row| self.members(*row)).copied().collect();
        if !work.holds(records.iter().copied()) {
            return None;
        }
        rows.iter().for_each(|row| self.is_open[*row as usize] = false);
        self.records -= records.len();
        Some(records)
    }

    /// Forgets the rows that were taken.
    pub fn close(&mut self) {
        let stride = self.codes.len() / self.open.len().max(1);
        let mut kept = 0;
        for at in 0..self.open.len() {
            let row = self.open[at];
            if self.is_open[row as usize] {
                self.open[kept] = row;
                self.codes.copy_within(at * stride..(at + 1) * stride, kept * stride);
                kept += 1;
            }
        }
        self.open.truncate(kept);
        self.codes.truncate(kept * stride);
    }

    pub fn into_records(self) -> Vec<u32> {
        let mut records: Vec<u32> = self.open.iter().flat_map(|row| self.members(*row)).copied().collect();
        records.sort_unstable();
        records
    }
}

/// Counts by key: numbers keys in order of appearance.
struct Counts {
    /// Numbers plus one; 0 is free.
    slots: Vec<u32>,
    groups: Vec<(u64, u32)>,
}

impl Counts {
    fn new(most: usize) -> Self {
        Counts { slots: vec![0; (most * 2).next_power_of_two().max(16)], groups: Vec::with_capacity(most) }
    }

    #[inline]
    fn add(&mut self, key: u64, count: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = key as usize & mask;
        loop {
            match self.slots[at] {
                0 => {
                    self.groups.push((key, count));
                    self.slots[at] = self.groups.len() as u32;
                    return self.slots[at] - 1;
                }
                number if self.groups[number as usize - 1].0 == key => {
                    self.groups[number as usize - 1].1 += count;
                    return number - 1;
                }
                _ => at = (at + 1) & mask,
            }
        }
    }
}
