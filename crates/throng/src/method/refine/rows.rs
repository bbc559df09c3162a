//! The rows that the search works on: distinct combinations of codes with how often they occur.
//!
//! Where nearly all records differ, compressing would cost more than it saves, and rows are the records.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use crate::problem::{Code, LANES, Lanes, Matrix};

/// Records looked at to see whether compressing pays.
const SAMPLE: usize = 1 << 13;

/// Some rows, their codes, and the groups of lanes per row.
pub(super) type Slice<'a, C> = (&'a [u32], &'a [Lanes<C>], usize);

/// Rows and the records behind them.
pub(super) struct Rows {
    /// How many records each row stands for; `None` if one each.
    weights: Option<Vec<u32>>,
    /// Records, row by row, and where each row ends; empty if rows are records.
    members: Vec<u32>,
    ends: Vec<u32>,
}

impl Rows {
    /// The distinct rows of a matrix and their codes, where there are clearly fewer than rows.
    pub fn compress<C: Code + Hash>(matrix: &Matrix<C>) -> (Self, Matrix<C>) {
        let step = (matrix.len() / SAMPLE).max(1);
        let sample: Vec<u32> = (0..matrix.len() as u32).step_by(step).collect();
        if group(matrix, &sample).1.len() * 10 > sample.len() * 9 {
            return Self::each_record(matrix);
        }
        let all: Vec<u32> = (0..matrix.len() as u32).collect();
        let (row_of, first) = group(matrix, &all);
        let mut weights = vec![0u32; first.len()];
        row_of.iter().for_each(|row| weights[*row as usize] += 1);
        let mut ends: Vec<u32> = Vec::with_capacity(weights.len());
        weights.iter().for_each(|weight| ends.push(ends.last().unwrap_or(&0) + weight));
        let mut next: Vec<u32> = ends.iter().zip(&weights).map(|(end, weight)| end - weight).collect();
        let mut members = vec![0; matrix.len()];
        for (record, row) in (0..).zip(row_of) {
            members[next[row as usize] as usize] = record;
            next[row as usize] += 1;
        }
        (Rows { weights: Some(weights), members, ends }, matrix.gather(&first))
    }

    /// Every record is a row.
    pub fn each_record<C: Code>(matrix: &Matrix<C>) -> (Self, Matrix<C>) {
        (Rows { weights: None, members: Vec::new(), ends: Vec::new() }, matrix.clone())
    }

    /// How many records a row stands for.
    #[inline(always)]
    pub fn weight(&self, row: u32) -> u32 {
        self.weights.as_ref().map_or(1, |weights| weights[row as usize])
    }

    /// For each of some attributes and each of its starts but the first, how many records of some rows have a code from
    /// there on. All attributes of a row are compared at once.
    pub fn count_from<C: Code>(
        &self,
        (rows, codes, stride): Slice<'_, C>,
        attributes: &[usize],
        starts: &[Vec<u32>],
    ) -> Vec<Vec<u32>> {
        let levels = starts.iter().map(|starts| starts.len() - 1).max().unwrap_or(0);
        let mut bounds: Vec<Lanes<C>> = vec![[C::MAX; LANES]; levels * stride];
        for (attribute, starts) in attributes.iter().zip(starts) {
            for (level, start) in starts[1..].iter().enumerate() {
                bounds[level * stride + attribute / LANES][attribute % LANES] =
                    C::from_index(*start as usize);
            }
        }
        let mut sums = vec![[0u32; LANES]; levels * stride];
        match &self.weights {
            None => {
                // Narrow sums are fast and hold as many rows as this.
                for codes in codes.chunks(usize::from(u16::MAX) * stride) {
                    let mut narrow = vec![[0u16; LANES]; levels * stride];
                    for codes in codes.chunks_exact(stride) {
                        for (sums, bounds) in narrow.chunks_exact_mut(stride).zip(bounds.chunks_exact(stride))
                        {
                            for ((sums, bounds), codes) in sums.iter_mut().zip(bounds).zip(codes) {
                                for lane in 0..LANES {
                                    sums[lane] += u16::from(codes[lane] >= bounds[lane]);
                                }
                            }
                        }
                    }
                    let wide = sums.iter_mut().flatten();
                    wide.zip(narrow.iter().flatten()).for_each(|(wide, narrow)| *wide += u32::from(*narrow));
                }
            }
            Some(weights) => {
                for (row, codes) in rows.iter().zip(codes.chunks_exact(stride)) {
                    let weight = weights[*row as usize];
                    for (sums, bounds) in sums.chunks_exact_mut(stride).zip(bounds.chunks_exact(stride)) {
                        for ((sums, bounds), codes) in sums.iter_mut().zip(bounds).zip(codes) {
                            for lane in 0..LANES {
                                sums[lane] += if codes[lane] >= bounds[lane] { weight } else { 0 };
                            }
                        }
                    }
                }
            }
        }
        let of = |attribute: usize, level: usize| sums[level * stride + attribute / LANES][attribute % LANES];
        attributes
            .iter()
            .zip(starts)
            .map(|(attribute, starts)| (0..starts.len() - 1).map(|level| of(*attribute, level)).collect())
            .collect()
    }

    /// Adds the records of a row to a list.
    pub fn extend_with_records(&self, row: u32, records: &mut Vec<u32>) {
        if self.weights.is_none() {
            records.push(row);
        } else {
            let end = self.ends[row as usize] as usize;
            records.extend(&self.members[end - self.weight(row) as usize..end]);
        }
    }
}

/// Numbers some records by equal codes: the number of each, and the first record of each number.
fn group<C: Code + Hash>(matrix: &Matrix<C>, records: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let state = foldhash::fast::FixedState::with_seed(0);
    let hash = |record: u32| state.hash_one(matrix.row(record as usize));
    let mut known: HashTable<u32> = HashTable::new();
    let mut first: Vec<u32> = Vec::new();
    let numbers = records
        .iter()
        .map(|&record| {
            let own = matrix.row(record as usize);
            let equal = |number: &u32| matrix.row(first[*number as usize] as usize) == own;
            let hashed = hash(record);
            if let Some(number) = known.find(hashed, equal) {
                return *number;
            }
            let number = first.len() as u32;
            known.insert_unique(hashed, number, |number| hash(first[*number as usize]));
            first.push(record);
            number
        })
        .collect();
    (numbers, first)
}
