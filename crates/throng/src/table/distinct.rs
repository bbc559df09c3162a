//! The distinct cells of a column, however the column is kept.

use std::borrow::Cow;

use super::chunk::{Chunk, TextRows};
use super::intern::Interner;
use super::{Slot, Table};
use crate::parallel;

/// A column that is passed through is gone through in so many runs at most.
const RUNS: usize = 8;

/// The distinct cells of a column, and which of them each row has.
pub(crate) struct Distinct<'a> {
    /// For each row the number of its cell.
    pub numbers: Cow<'a, [u32]>,
    values: Cow<'a, Interner>,
}

/// The distinct cells of a column, and how often each occurs.
pub(crate) struct Counted<'a> {
    pub counts: Vec<u64>,
    values: Cow<'a, Interner>,
}

impl Counted<'_> {
    /// The cells in the order of their counts.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.texts()
    }
}

impl Distinct<'_> {
    /// The cells in the order of their numbers.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.texts()
    }

    /// How often each cell is among some, given by their numbers.
    pub fn counts_of(&self, numbers: &[u32]) -> Vec<u64> {
        self.counts(numbers.len(), |at| numbers[at])
    }

    fn counts(&self, cells: usize, number: impl Fn(usize) -> u32 + Sync) -> Vec<u64> {
        // Each part has counts of its own: not more of them than cells.
        let counted = parallel::ranges(cells, self.values.len().max(parallel::FEW_STEPS), |range| {
            let mut counts = vec![0; self.values.len()];
            for at in range {
                counts[number(at) as usize] += 1;
            }
            counts
        });
        let mut counts = vec![0; self.values.len()];
        for part in counted {
            for number in 0..counts.len() {
                counts[number] += part[number];
            }
        }
        counts
    }
}

impl Table {
    /// The distinct cells of a column; nothing if it was not kept. Passed-through cells are numbered when this is asked.
    pub(crate) fn distinct(&self, column: usize) -> Option<Distinct<'_>> {
        match self.slots[column] {
            Slot::Skip => None,
            Slot::Coded(at) => Some(Distinct {
                numbers: Cow::Borrowed(self.numbers(column)),
                values: Cow::Borrowed(&self.dictionaries[at].values),
            }),
            Slot::Text => Some(self.number_texts(self.texts_before(column))),
        }
    }

    /// The distinct cells of a column and how often each occurs in some rows, in all if none are named; nothing if it was not kept.
    pub(crate) fn counted(&self, column: usize, rows: Option<&[u32]>) -> Option<Counted<'_>> {
        if let (Slot::Text, None) = (&self.slots[column], rows) {
            return Some(self.count_texts(self.texts_before(column)));
        }
        let distinct = self.distinct(column)?;
        let numbers: &[u32] = &distinct.numbers;
        let counts = match rows {
            None => distinct.counts_of(numbers),
            Some(rows) => distinct.counts(rows.len(), |at| numbers[rows[at] as usize]),
        };
        Some(Counted { counts, values: distinct.values })
    }

    /// How many columns before one are passed through.
    fn texts_before(&self, column: usize) -> usize {
        self.slots[..column].iter().filter(|slot| matches!(slot, Slot::Text)).count()
    }

    /// Numbers the cells of the nth column that is passed through, in order of first appearance.
    fn number_texts(&self, nth: usize) -> Distinct<'static> {
        let mut values = Interner::default();
        let mut numbers: Vec<u32> = Vec::with_capacity(self.len());
        for run in self.runs(|chunks| TextRows::coded(chunks, nth)) {
            let of_run = values.intern_all(&run.values);
            numbers.extend(run.codes.iter().map(|code| of_run[*code as usize]));
        }
        Distinct { numbers: Cow::Owned(numbers), values: Cow::Owned(values) }
    }

    /// Counts the cells of the nth column that is passed through; no row needs a number for that.
    fn count_texts(&self, nth: usize) -> Counted<'static> {
        let of_runs: Vec<(Interner, Vec<u64>)> = self.runs(|chunks| {
            let run = TextRows::coded(chunks, nth);
            let mut counts = vec![0; run.values.len()];
            for at in 0..run.codes.len() {
                counts[run.codes[at] as usize] += 1;
            }
            (run.values, counts)
        });
        let (mut values, mut counts) = (Interner::default(), Vec::new());
        for (of_run, counts_of_run) in of_runs {
            let numbers = values.intern_all(&of_run);
            counts.resize(values.len(), 0);
            numbers.iter().zip(counts_of_run).for_each(|(number, count)| counts[*number as usize] += count);
        }
        Counted { counts, values: Cow::Owned(values) }
    }

    /// What there is for chunks that stand together: as many as may share what they know of cells, and no fewer on more threads, so that
    /// cells are numbered alike on any number of them.
    fn runs<T: Send>(&self, of_chunks: impl Fn(&[Chunk]) -> T + Sync) -> Vec<T> {
        parallel::map(self.chunks.chunks(self.chunks.len().div_ceil(RUNS).max(1)), of_chunks)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fmt::Write as _;

    use crate::format::CSV;
    use crate::table::{Reading, Storage, Table};
    use crate::watch::Unwatched;

    #[test]
    fn cells_are_counted_alike_however_a_column_is_kept() {
        let mut text = "a,b\n".to_owned();
        for row in 0..40_000 {
            writeln!(text, "{},{}", row * row % 71, row % 3).unwrap();
        }
        let read = |storage: Storage| {
            let plan = move |_: &[String]| Ok(vec![storage, Storage::Coded]);
            Table::read_from(&CSV, text.as_bytes(), &Reading::new(&plan, &Unwatched)).unwrap()
        };
        let some: Vec<u32> = (0..40_000).filter(|row| row % 7 > 2).collect();
        for rows in [None, Some(&some[..])] {
            let counts = |storage: Storage| {
                let table = read(storage);
                let counted = table.counted(0, rows).unwrap();
                let mut counts: Vec<(String, u64)> =
                    counted.texts().map(str::to_owned).zip(counted.counts.iter().copied()).collect();
                counts.sort();
                counts
            };
            let expected = rows.map_or(40_000, |rows| rows.len() as u64);
            assert_eq!(counts(Storage::Text).iter().map(|(_, count)| count).sum::<u64>(), expected);
            assert_eq!(counts(Storage::Text), counts(Storage::Coded));
        }
        assert!(read(Storage::Skip).counted(0, None).is_none());
    }
}
