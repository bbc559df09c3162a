//! What a group that grows still needs to be a class.

use super::block::Block;
use crate::privacy::Tally;
use crate::problem::Code;

/// Counts of a group that grows.
pub(super) enum Needs {
    /// Its size is all that counts.
    Size,
    /// How often each value occurs.
    Values(Vec<u32>),
    /// Running counts.
    Counts(Box<Tally>),
}

impl<C: Code> Block<'_, C> {
    pub(super) fn needs_of(&mut self, first: u32) -> Needs {
        let judge = &self.work().judge;
        let mut needs = if judge.count_decides() {
            Needs::Size
        } else if self.task.frequency().is_some() {
            Needs::Values(std::mem::take(&mut self.room.counts))
        } else {
            Needs::Counts(Box::new(judge.tally()))
        };
        if let Needs::Values(counts) = &mut needs {
            counts.fill(0);
        }
        self.count(&mut needs, first);
        needs
    }

    pub(super) fn count(&self, needs: &mut Needs, record: u32) {
        let id = self.ids[record as usize];
        match (needs, self.task.frequency()) {
            (Needs::Values(counts), Some((_, counted))) => counts[counted.codes[id as usize] as usize] += 1,
            (Needs::Counts(tally), _) => self.work().judge.add(tally, id),
            _ => {}
        }
    }

    /// Whether a group of so many may take a record without one value becoming too frequent.
    #[inline]
    pub(super) fn has_room(&self, needs: &Needs, size: usize, record: u32) -> bool {
        let (Needs::Values(counts), Some((frequency, counted))) = (needs, self.task.frequency()) else {
            return true;
        };
        let value = counted.codes[self.ids[record as usize] as usize];
        let size = (size + 1).max(self.work().judge.smallest());
        frequency.allows(counts[value as usize] as usize + 1, size)
    }

    /// Whether a group of so many is a class.
    pub(super) fn is_class(&self, size: usize, needs: &Needs) -> bool {
        let judge = &self.work().judge;
        size >= judge.smallest()
            && match (needs, self.task.frequency()) {
                (Needs::Values(counts), Some((frequency, _))) => {
                    counts.iter().all(|count| frequency.allows(*count as usize, size))
                }
                (Needs::Counts(tally), _) => judge.allows(tally),
                _ => true,
            }
    }

    /// Gives room back.
    pub(super) fn forget(&mut self, needs: Needs) {
        if let Needs::Values(counts) = needs {
            self.room.counts = counts;
        }
    }
}
