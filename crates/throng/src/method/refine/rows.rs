//! The rows that the search works on: distinct combinations of codes with how often they occur.
//!
//! Where nearly all records differ, compressing would cost more than it saves, and rows are the records.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use crate::problem::{Code, Matrix};

/// Records looked at to see whether compressing pays.
const SAMPLE: usize = 1 << 13;

/// Rows and the records behind them.
pub(super) struct Rows<C> {
    pub codes: Matrix<C>,
    /// How many records each row stands for; `None` if one each.
    weights: Option<Vec<u32>>,
    /// Records, row by row, and where each row ends; empty if rows are records.
    members: Vec<u32>,
    ends: Vec<u32>,
}

impl<C: Code + Hash> Rows<C> {
    /// The distinct rows of a matrix, where there are clearly fewer than rows.
    pub fn compress(matrix: &Matrix<C>) -> Self {
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
        Rows { codes: matrix.gather(&first), weights: Some(weights), members, ends }
    }

    /// Every record is a row.
    pub fn each_record(matrix: &Matrix<C>) -> Self {
        Rows { codes: matrix.clone(), weights: None, members: Vec::new(), ends: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// How many records a row stands for.
    #[inline(always)]
    pub fn weight(&self, row: u32) -> u32 {
        self.weights.as_ref().map_or(1, |weights| weights[row as usize])
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
