//! The distinct cells of a column, however the column is kept.

use std::borrow::Cow;

use super::chunk::CodedRun;
use super::intern::Interner;
use super::{Slot, Table};
use crate::parallel;

/// The distinct cells of a column, and which of them each row has.
pub(crate) struct Distinct<'a> {
    /// For each row the number of its cell.
    pub numbers: Cow<'a, [u32]>,
    values: Cow<'a, Interner>,
}

impl Distinct<'_> {
    /// The cells in the order of their numbers.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.texts()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// How many of so many rows have each cell.
    pub fn counts(&self, rows: usize, row: impl Fn(usize) -> usize + Sync) -> Vec<u64> {
        // Each part has counts of its own: not more of them than rows.
        let counted = parallel::ranges(rows, self.len().max(parallel::FEW_STEPS), |range| {
            let mut counts = vec![0; self.len()];
            for at in range {
                counts[self.numbers[row(at)] as usize] += 1;
            }
            counts
        });
        let mut counts = vec![0; self.len()];
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
            Slot::Text => {
                let texts_before = self.slots[..column].iter().filter(|slot| matches!(slot, Slot::Text));
                Some(self.number_texts(texts_before.count()))
            }
        }
    }

    /// Numbers the cells of the nth column that is passed through, in order of first appearance.
    fn number_texts(&self, nth: usize) -> Distinct<'static> {
        let runs: Vec<CodedRun> = parallel::map(&self.chunks, |chunk| chunk.text.coded(nth, chunk.rows));
        let mut values = Interner::default();
        let mut numbers: Vec<u32> = Vec::with_capacity(self.len());
        for run in runs {
            let of_run: Vec<u32> = run.values.texts().map(|text| values.intern(text.as_bytes())).collect();
            numbers.extend(run.codes.iter().map(|code| of_run[*code as usize]));
        }
        Distinct { numbers: Cow::Owned(numbers), values: Cow::Owned(values) }
    }
}
