//! Step 1: what is known of a table from one look at all of its rows.
//!
//! Of every column that is looked at all distinct values with their counts (up to [`MOST_VALUES`]), of every other published
//! column a sample of its distinct cells, a sample of rows, their number, and a sum over hashes of all rows by which a second
//! look tells whether it has seen the same table. States merge in any order to the same.

use serde::{Deserialize, Serialize};

use super::bottom::Bottom;
use super::hashes::{Hashes, RowHashes, Small, small};
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::table::{Sketch, Storage, Table};

/// Distinct values that a column which is looked at may have.
pub const MOST_VALUES: usize = 1 << 20;
/// Distinct cells that are kept of a column that is passed through.
const CELLS: usize = 1 << 16;
/// Distinct rows that are kept at most, and cells of them. Values that are too rare for the sample cannot be cut off where records are
/// dealt by lot.
const ROWS: usize = 1 << 17;
const CELLS_OF_ROWS: usize = 1 << 20;

/// What is known of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSketch {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Number of rows.
    pub rows: u64,
    /// The distinct values of columns that are looked at.
    columns: Vec<Option<Sketch>>,
    /// The distinct cells of columns that are passed through, or some of them.
    texts: Vec<Option<Bottom>>,
    /// Some rows: the cells of the columns that are looked at.
    pub sample: Bottom,
    /// What all rows come to.
    pub checksum: Checksum,
    seed: u64,
}

/// What rows come to in any order: equal tables have equal sums, and others hardly ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum {
    rows: u64,
    sum: u128,
}

impl Checksum {
    /// Takes the rows of a piece.
    pub fn add(&mut self, hashes: &[u64]) {
        self.rows += hashes.len() as u64;
        // Squared as well, so that two changes do not cancel each other out.
        let of = |hash: &u64| u128::from(*hash) * u128::from(hash | 1);
        self.sum = hashes.iter().fold(self.sum, |sum, hash| sum.wrapping_add(of(hash)));
    }

    /// Takes other rows.
    pub fn merge(&mut self, other: &Checksum) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl TableSketch {
    /// Of no rows yet, of a table with these columns. The sample may have so many cells.
    pub fn new(names: &[String], storage: &[Storage], seed: u64, sampled_cells: usize) -> Self {
        let of = |wanted: Storage| storage.iter().map(move |own| *own == wanted);
        let coded = of(Storage::Coded).filter(|own| *own).count().max(1);
        TableSketch {
            names: names.to_vec(),
            rows: 0,
            columns: of(Storage::Coded).map(|own| own.then(Sketch::default)).collect(),
            texts: of(Storage::Text).map(|own| own.then(|| Bottom::new(CELLS))).collect(),
            sample: Bottom::new((sampled_cells.min(CELLS_OF_ROWS) / coded).min(ROWS)),
            checksum: Checksum::default(),
            seed,
        }
    }

    /// Takes the rows of a piece of the table.
    pub fn add(&mut self, piece: &Table) -> Result<()> {
        self.rows += piece.len() as u64;
        let coded = (0..self.names.len()).filter(|at| self.columns[*at].is_some());
        let own: Vec<(usize, Sketch)> = parallel::map(coded, |at| (at, piece.sketch(at)));
        for (at, sketch) in own {
            if let Some(known) = &mut self.columns[at] {
                known.merge(&sketch);
            }
        }
        self.check_distinct()?;
        let hashes = Hashes::new(piece, self.seed);
        let thresholds: Vec<u64> =
            self.texts.iter().map(|own| own.as_ref().map_or(0, Bottom::threshold)).collect();
        let threshold = self.sample.threshold();
        let found: Vec<Found> = parallel::map(0..piece.chunk_rows().len(), |chunk| {
            Found::of(&hashes.of_chunk(chunk), threshold, &thresholds)
        });
        let coded: Vec<(Vec<&str>, &[u32])> =
            self.coded().map(|at| (piece.values(at), piece.numbers(at))).collect();
        found.into_iter().for_each(|found| self.take(piece, &coded, found));
        Ok(())
    }

    fn take(&mut self, piece: &Table, coded: &[(Vec<&str>, &[u32])], found: Found) {
        self.checksum.merge(&found.checksum);
        if found.left_out {
            self.sample.leave_out();
        }
        for (hash, row, count) in found.rows {
            let cells = coded.iter().map(|(values, numbers)| values[numbers[row] as usize]);
            self.sample.add(hash, count, || cells.collect());
        }
        let texts = self.texts.iter_mut().flatten();
        for (nth, (known, (cells, left_out))) in texts.zip(found.texts).enumerate() {
            if left_out {
                known.leave_out();
            }
            for (hash, row, count) in cells {
                known.add(hash, count, || [cell_of(piece, row, nth)].into_iter().collect());
            }
        }
    }

    /// Takes what another sketch of the same columns knows.
    pub fn merge(&mut self, other: &TableSketch) -> Result<()> {
        self.rows += other.rows;
        let sketches = self.columns.iter_mut().zip(&other.columns);
        sketches.for_each(|(own, other)| own.iter_mut().zip(other).for_each(|(own, other)| own.merge(other)));
        let texts = self.texts.iter_mut().zip(&other.texts);
        texts.for_each(|(own, other)| own.iter_mut().zip(other).for_each(|(own, other)| own.merge(other)));
        self.sample.merge(&other.sample);
        self.checksum.merge(&other.checksum);
        self.check_distinct()
    }

    /// The distinct values of a column that is looked at.
    pub fn column(&self, at: usize) -> Option<&Sketch> {
        self.columns[at].as_ref()
    }

    /// The distinct cells of a column that is passed through, or some of them.
    pub fn cells(&self, at: usize) -> Option<&Bottom> {
        self.texts[at].as_ref()
    }

    /// Lets go of the samples, once nobody needs them.
    pub fn forget_samples(&mut self) {
        self.sample = Bottom::new(1);
        self.texts.iter_mut().for_each(|own| *own = None);
    }

    /// The columns that are looked at.
    pub fn coded(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.names.len()).filter(|at| self.columns[*at].is_some())
    }

    fn check_distinct(&self) -> Result<()> {
        let many = |at: &usize| self.columns[*at].as_ref().is_some_and(|own| own.distinct() > MOST_VALUES);
        (0..self.names.len()).find(many).map_or(Ok(()), |at| {
            Err(Error::new(
                ErrorCode::TableTooLarge,
                format!("more than {MOST_VALUES} different values are not kept within a limit on memory"),
            )
            .for_attribute(&self.names[at])
            .with_hint("round the values or shorten them, or give the column another role"))
        })
    }
}

/// The passed-through cell of a row; a null is as good as an empty text here.
fn cell_of(piece: &Table, row: usize, nth: usize) -> &str {
    piece.nullable_text_row(row).nth(nth).flatten().unwrap_or_default()
}

/// What a chunk has for the samples.
struct Found {
    checksum: Checksum,
    rows: Small,
    left_out: bool,
    texts: Vec<(Small, bool)>,
}

impl Found {
    fn of(hashes: &RowHashes, threshold: u64, thresholds: &[u64]) -> Self {
        let mut checksum = Checksum::default();
        checksum.add(&hashes.rows);
        let (rows, left_out) = small(&hashes.coded, hashes.first, threshold);
        let texts = hashes.texts.iter();
        let texts = texts.map(|(at, own)| small(own, hashes.first, thresholds[*at])).collect();
        Found { checksum, rows, left_out, texts }
    }
}
