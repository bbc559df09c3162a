//! The rows that the search works on: distinct combinations of codes with how often they occur.
//!
//! To find equal records costs more than to touch each of them a few times. So they are looked for where a sample shows many
//! of each; elsewhere rows are the records.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use crate::problem::{Code, LANES, Lanes, Matrix};

/// Records looked at to see whether compressing pays.
const SAMPLE: usize = 1 << 13;

/// How many equal records a sample must hold on average.
const EQUAL: usize = 4;

/// Rows compared with one bound after the other: few enough to stay at hand meanwhile, and to be counted narrowly.
const BLOCK: usize = 512;

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
    /// The distinct rows of a matrix and their codes, where there are far fewer than rows.
    pub fn compress<C: Code + Hash>(matrix: Matrix<C>) -> (Self, Matrix<C>) {
        let step = (matrix.len() / SAMPLE).max(1);
        let sample: Vec<u32> = (0..matrix.len() as u32).step_by(step).collect();
        if group(&matrix, &sample).1.len() * EQUAL > sample.len() {
            return Self::each_record(matrix);
        }
        let all: Vec<u32> = (0..matrix.len() as u32).collect();
        let (row_of, first) = group(&matrix, &all);
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
    pub fn each_record<C: Code>(matrix: Matrix<C>) -> (Self, Matrix<C>) {
        (Rows { weights: None, members: Vec::new(), ends: Vec::new() }, matrix)
    }

    /// How many records a row stands for.
    #[inline(always)]
    pub fn weight(&self, row: u32) -> u32 {
        self.weights.as_ref().map_or(1, |weights| weights[row as usize])
    }

    /// How many records some rows stand for.
    pub fn records(&self, rows: &[u32]) -> u32 {
        match &self.weights {
            None => rows.len() as u32,
            Some(weights) => rows.iter().map(|row| weights[*row as usize]).sum(),
        }
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
        for (nth, block) in codes.chunks(BLOCK * stride).enumerate() {
            for (at, (sums, bounds)) in sums.iter_mut().zip(&bounds).enumerate() {
                let lanes = block[at % stride..].iter().step_by(stride);
                match &self.weights {
                    None => {
                        let counts = at_least(lanes, bounds);
                        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u32::from(count));
                    }
                    Some(weights) => {
                        let own = rows[nth * BLOCK..].iter().map(|row| weights[*row as usize]);
                        weigh_at_least(lanes.zip(own), bounds, sums);
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

    /// Adds the records of some rows to a list.
    pub fn extend_with_records(&self, rows: &[u32], records: &mut Vec<u32>) {
        if self.weights.is_none() {
            records.extend_from_slice(rows);
            return;
        }
        for &row in rows {
            let end = self.ends[row as usize] as usize;
            records.extend(&self.members[end - self.weight(row) as usize..end]);
        }
    }
}

/// How many rows reach the bound of each lane, of no more rows than a narrow count can hold. Kept apart so that counts stay
/// in registers and all lanes of a row are compared at once.
#[inline(never)]
fn at_least<'a, C: Code>(rows: impl Iterator<Item = &'a Lanes<C>>, bounds: &Lanes<C>) -> [u16; LANES] {
    let bounds = *bounds;
    let mut counts = [0u16; LANES];
    for row in rows {
        for lane in 0..LANES {
            counts[lane] += u16::from(row[lane] >= bounds[lane]);
        }
    }
    counts
}

/// Adds up the weights of rows that reach the bound of each lane.
#[inline(never)]
fn weigh_at_least<'a, C: Code>(
    rows: impl Iterator<Item = (&'a Lanes<C>, u32)>,
    bounds: &Lanes<C>,
    sums: &mut [u32; LANES],
) {
    let bounds = *bounds;
    let mut own = [0u32; LANES];
    for (row, weight) in rows {
        for lane in 0..LANES {
            // All bits where the bound is reached, none where not.
            own[lane] += weight & u32::from(row[lane] >= bounds[lane]).wrapping_neg();
        }
    }
    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
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
