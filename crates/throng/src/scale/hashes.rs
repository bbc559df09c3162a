//! Hashes of rows and cells, which decide samples and tell tables apart. They are those of the cells alone: neither the place of
//! a row nor the piece it came in matters.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::bottom::Bottom;
use crate::collections::Map;
use crate::parallel;
use crate::table::{Storage, Table};

/// The hashes of a piece of a table.
pub(crate) struct Hashes<'a> {
    piece: &'a Table,
    hasher: FixedState,
    /// For each coded column, the hash of each of its values.
    values: Vec<(usize, Vec<u64>)>,
    /// The columns that are passed through.
    texts: Vec<usize>,
}

/// The hashes of the rows of a chunk.
pub(crate) struct RowHashes {
    /// The first row.
    pub first: usize,
    /// Of the columns that are looked at.
    pub coded: Vec<u64>,
    /// Of all columns.
    pub rows: Vec<u64>,
    /// Of each passed-through column by itself.
    pub texts: Vec<(usize, Vec<u64>)>,
}

impl<'a> Hashes<'a> {
    pub fn new(piece: &'a Table, seed: u64) -> Self {
        let hasher = FixedState::with_seed(seed ^ 0x0073_6361_6c65);
        let kept = |wanted: Storage| (0..piece.names().len()).filter(move |at| piece.storage(*at) == wanted);
        let values = kept(Storage::Coded)
            .map(|at| {
                (at, piece.values(at).iter().map(|text| spread(hasher.hash_one(text.as_bytes()))).collect())
            })
            .collect();
        Hashes { piece, hasher, values, texts: kept(Storage::Text).collect() }
    }

    /// The hash of each distinct value of a coded column.
    pub fn of_values(piece: &Table, column: usize) -> Vec<u64> {
        piece.values(column).iter().map(|text| Self::of_text(text)).collect()
    }

    /// The hash of a text, whatever the seed.
    pub fn of_text(text: &str) -> u64 {
        spread(FixedState::with_seed(0x0073_6361_6c65).hash_one(text.as_bytes()))
    }

    /// Takes the cells of a passed-through column into a sample.
    pub fn add_cells(&self, column: usize, cells: &mut Bottom) {
        let Some(nth) = self.texts.iter().position(|own| *own == column) else { return };
        let threshold = cells.threshold();
        let found: Vec<(Small, bool)> = parallel::map(0..self.piece.chunk_rows().len(), |chunk| {
            let range = self.piece.chunk_rows().nth(chunk).unwrap_or(0..0);
            let hash = |row: usize| match self.piece.nullable_text_row(row).nth(nth).flatten() {
                Some(text) => spread(self.hasher.hash_one(text.as_bytes())),
                None => 1,
            };
            let hashes: Vec<u64> = range.clone().map(hash).collect();
            small(&hashes, range.start, threshold)
        });
        for (some, left_out) in found {
            if left_out {
                cells.leave_out();
            }
            for (hash, row, count) in some {
                let text = || self.piece.nullable_text_row(row).nth(nth).flatten().unwrap_or_default();
                cells.add(hash, count, || [text()].into_iter().collect());
            }
        }
    }

    pub fn of_chunk(&self, chunk: usize) -> RowHashes {
        let Some(range) = self.piece.chunk_rows().nth(chunk) else {
            return RowHashes { first: 0, coded: Vec::new(), rows: Vec::new(), texts: Vec::new() };
        };
        let mut coded = vec![0x9e37_79b9_7f4a_7c15u64; range.len()];
        for (at, hashes) in &self.values {
            let numbers = &self.piece.numbers(*at)[range.clone()];
            for (hash, number) in coded.iter_mut().zip(numbers) {
                *hash = mix(*hash, hashes[*number as usize]);
            }
        }
        let mut rows = coded.clone();
        let mut texts: Vec<(usize, Vec<u64>)> =
            self.texts.iter().map(|at| (*at, Vec::with_capacity(range.len()))).collect();
        if !texts.is_empty() {
            for (row, hash) in range.clone().zip(&mut rows) {
                for ((_, own), cell) in texts.iter_mut().zip(self.piece.nullable_text_row(row)) {
                    let of_cell = match cell {
                        Some(text) => spread(self.hasher.hash_one(text.as_bytes())),
                        None => 1,
                    };
                    *hash = mix(*hash, of_cell);
                    own.push(of_cell);
                }
            }
        }
        RowHashes { first: range.start, coded, rows, texts }
    }
}

/// One step of a hash over cells in order.
#[inline(always)]
pub(crate) fn mix(hash: u64, cell: u64) -> u64 {
    let product = u128::from(hash ^ cell) * 0xf39c_c060_5ced_c835;
    spread((product >> 64) as u64 ^ product as u64 ^ hash.rotate_left(23))
}

/// Lets every bit depend on every other (the finisher of SplitMix64), because samples compare hashes by size.
#[inline(always)]
pub(crate) fn spread(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Rows or cells with small hashes: hash, a row that has it, and how many do.
pub(crate) type Small = Vec<(u64, usize, u64)>;

/// The hashes that are no larger than a threshold, and whether some are.
pub(crate) fn small(hashes: &[u64], first: usize, threshold: u64) -> (Small, bool) {
    let mut known: Map<u64, usize> = Map::default();
    let mut found: Small = Vec::new();
    let mut left_out = false;
    for (row, &hash) in hashes.iter().enumerate() {
        if hash > threshold {
            left_out = true;
            continue;
        }
        let at = *known.entry(hash).or_insert_with(|| {
            found.push((hash, first + row, 0));
            found.len() - 1
        });
        found[at].2 += 1;
    }
    (found, left_out)
}
