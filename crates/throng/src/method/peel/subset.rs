//! Which records of some rows may be a class, where more than their number counts.
//!
//! Where no sensitive value may make up more than one in l records, a set with too many of one value still holds
//! classes: those without the surplus. Other requirements are met by the whole set or not at all.

use super::rows::OpenRows;
use crate::method::improve::Work;
use crate::privacy::{Frequency, Judge, Tally};
use crate::problem::Code;

/// What a class must keep to, and leave.
pub(super) struct Needs<'a, C> {
    work: &'a Work<'a, C>,
    /// The sensitive values of the records that are still open: they must stay publishable without the class.
    left: Tally,
    /// Values so frequent among the open records that every class must take its full share of them.
    tight: Vec<u32>,
}

/// A value is tight when fewer records than so many smallest classes have could be taken without it.
const TIGHT: usize = 4;

impl<'a, C: Code> Needs<'a, C> {
    pub fn new(work: &'a Work<'a, C>) -> Self {
        let mut left = work.judge.tally();
        (0..work.problem.len() as u32).for_each(|record| work.judge.add(&mut left, record));
        let mut needs = Needs { work, left, tight: Vec::new() };
        needs.find_tight();
        needs
    }

    fn judge(&self) -> &Judge<'a> {
        &self.work.judge
    }

    fn find_tight(&mut self) {
        let Some(frequency) = self.judge().frequency() else { return };
        let (left, limit) = (self.left.size() as usize, (TIGHT * self.judge().smallest()) as f64);
        let present = self.left.histogram(frequency.attribute()).present();
        let tight = present.filter(|(_, count)| frequency.spare(left, *count as usize) < limit);
        self.tight = tight.map(|(value, _)| value).collect();
        self.tight.sort_unstable();
    }

    /// How many records of one sensitive value a class among these records may have at most; `None` if there is no
    /// class.
    fn most_of_a_value(&self, tally: &Tally) -> Option<u32> {
        let smallest = self.judge().smallest();
        let Some(frequency) = self.judge().frequency() else {
            return self.judge().allows(tally).then_some(u32::MAX);
        };
        if (tally.size() as usize) < smallest {
            return None;
        }
        let histogram = tally.histogram(frequency.attribute());
        let counts = histogram.present();
        let of_tight = self.tight.iter().map(|value| histogram.count(*value)).min();
        let mut most = of_tight.or_else(|| counts.clone().map(|(_, count)| count).max())?;
        while most > 0 {
            let kept: usize = counts.clone().map(|(_, count)| count.min(most) as usize).sum();
            if frequency.allows(most as usize, kept) {
                let size = if self.tight.is_empty() { kept } else { frequency.smallest_with(most as usize) };
                return (size >= smallest).then_some(most);
            }
            // From above to the greatest number that its own sum allows.
            most = frequency.most_of_value(kept) as u32;
        }
        None
    }

    /// The largest class that some records hold, if the open ones can do without it. It is taken out of them.
    pub fn take(&mut self, mut records: Vec<u32>) -> Option<Vec<u32>> {
        if self.judge().count_decides() {
            return (records.len() >= self.judge().smallest()).then_some(records);
        }
        let mut tally = self.judge().tally();
        records.iter().for_each(|record| self.judge().add(&mut tally, *record));
        let most = self.most_of_a_value(&tally)?;
        if let Some(frequency) = self.judge().frequency() {
            let mut room = self.shares(&tally, frequency, most);
            let codes = &self.work.problem.sensitive[frequency.attribute()].codes;
            records.retain(|record| {
                let room = &mut room[codes[*record as usize] as usize];
                let kept = *room > 0;
                *room = room.saturating_sub(1);
                kept
            });
            if !self.can_do_without(&records, frequency) {
                return None;
            }
        }
        if !self.judge().holds(records.iter().copied()) {
            return None;
        }
        records.iter().for_each(|record| self.work.judge.remove(&mut self.left, *record));
        self.find_tight();
        Some(records)
    }

    /// How many records of each value a class takes.
    fn shares(&self, tally: &Tally, frequency: Frequency, most: u32) -> Vec<u32> {
        let histogram = tally.histogram(frequency.attribute());
        let mut shares = vec![0; histogram.domain()];
        if self.tight.is_empty() {
            histogram.present().for_each(|(value, count)| shares[value as usize] = count.min(most));
            return shares;
        }
        self.tight.iter().for_each(|value| shares[*value as usize] = most);
        // A class in which so many records are exactly one in l.
        let size = frequency.smallest_with(most as usize);
        let mut room = size.saturating_sub(self.tight.len() * most as usize);
        let is_other = |value: &(u32, u32)| self.tight.binary_search(&value.0).is_err();
        // Those that are most frequent among the open ones are taken first.
        let left = self.left.histogram(frequency.attribute());
        let rarer = |(value, count): (u32, u32)| (u32::MAX - left.count(value), value, count);
        let mut others: Vec<(u32, u32, u32)> = histogram.present().filter(is_other).map(rarer).collect();
        others.sort_unstable();
        for (_, value, count) in others {
            let share = (count.min(most) as usize).min(room);
            shares[value as usize] = share as u32;
            room -= share;
        }
        shares
    }

    /// Whether the open records without these could still be published.
    fn can_do_without(&self, records: &[u32], frequency: Frequency) -> bool {
        let codes = &self.work.problem.sensitive[frequency.attribute()].codes;
        let left = self.left.histogram(frequency.attribute());
        let mut taken = vec![0u32; left.domain()];
        records.iter().for_each(|record| taken[codes[*record as usize] as usize] += 1);
        let most = frequency.most_of_value(self.left.size() as usize - records.len());
        left.present().all(|(value, count)| (count - taken[value as usize]) as usize <= most)
    }
}

/// To count a record takes as long as so many looks; so many values of a tally one.
const LOOKS_OF_A_COUNT: usize = 2;
const LOOKS_OF_VALUES: usize = 4;

/// The cheapest stretch of rows along an attribute that holds a class; rows are in its order.
pub(super) fn cheapest_window<C: Code>(
    needs: &Needs<'_, C>,
    open: &OpenRows<C>,
    rows: &[u32],
    attribute: usize,
    looks: &mut usize,
) -> Option<(usize, usize)> {
    let work = needs.work;
    let values: usize = work.problem.sensitive.iter().map(|counted| counted.domain.len()).sum();
    let looks_of_a_class = 8 + values / LOOKS_OF_VALUES;
    let code = |at: usize| open.code(rows[at], attribute);
    let mut best: Option<(f64, usize, usize)> = None;
    let mut tally = work.judge.tally();
    let mut first = 0;
    while first < rows.len() {
        tally.clear();
        let mut at = first;
        let found = loop {
            if at == rows.len() {
                break None;
            }
            let penalty = work.kernel.penalty(attribute, code(first), code(at));
            if best.is_some_and(|(least, ..)| penalty >= least) {
                break Some(false);
            }
            let value = code(at);
            while at < rows.len() && code(at) == value {
                open.records(rows[at]).iter().for_each(|record| work.judge.add(&mut tally, *record));
                *looks += LOOKS_OF_A_COUNT * open.count(rows[at]) as usize;
                at += 1;
            }
            *looks += looks_of_a_class;
            if needs.most_of_a_value(&tally).is_some() {
                best = Some((penalty, first, at));
                break Some(true);
            }
        };
        // What all the rest does not hold, less of it does not hold either.
        if found.is_none() {
            break;
        }
        let value = code(first);
        while first < rows.len() && code(first) == value {
            first += 1;
        }
    }
    best.map(|(_, first, end)| (first, end))
}
