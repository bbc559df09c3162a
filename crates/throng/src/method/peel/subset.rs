//! Which records of some rows may be a class, where more than their number counts.
//!
//! Where no sensitive value may make up more than one in l records, a set with too many of one value still holds
//! classes: those without the surplus. Other requirements are met by the whole set or not at all.

use super::rows::OpenRows;
use crate::method::improve::Work;
use crate::privacy::Tally;
use crate::problem::Code;

/// What a class must keep to, and leave.
pub(super) struct Needs<'a, C> {
    work: &'a Work<'a, C>,
    /// The sensitive attribute and l where only size and the frequency of one attribute's values count.
    frequency: Option<(usize, f64)>,
    /// The sensitive values of the records that are still open: they must stay publishable without the class.
    left: Tally,
    /// Values so frequent among the open records that every class must take its full share of them.
    tight: Vec<u32>,
}

const ROUNDING: f64 = 1e-9;

/// A value is tight when fewer records than so many smallest classes have could be taken without it.
const TIGHT: usize = 4;

impl<'a, C: Code> Needs<'a, C> {
    pub fn new(work: &'a Work<'a, C>) -> Self {
        let frequency = work.problem.requirement.only_frequency();
        let left = Tally::of_all(work.problem);
        let mut needs = Needs { work, frequency, left, tight: Vec::new() };
        needs.find_tight();
        needs
    }

    /// How many records could be taken without any of a value.
    fn slack(&self, l: f64, count: u32) -> f64 {
        self.left.size() as f64 - l * f64::from(count)
    }

    fn find_tight(&mut self) {
        let Some((attribute, l)) = self.frequency else { return };
        let limit = (TIGHT * self.work.smallest) as f64;
        let present = self.left.histogram(attribute).present();
        self.tight =
            present.filter(|(_, count)| self.slack(l, *count) < limit).map(|(value, _)| value).collect();
        self.tight.sort_unstable();
    }

    /// How many records of one sensitive value a class among these records may have at most; `None` if there is no
    /// class.
    fn most_of_a_value(&self, tally: &Tally) -> Option<u32> {
        let smallest = self.work.smallest;
        if (tally.size() as usize) < smallest {
            return None;
        }
        let Some((attribute, l)) = self.frequency else {
            return self.work.problem.requirement.holds(tally).then_some(u32::MAX);
        };
        let histogram = tally.histogram(attribute);
        let counts = histogram.present();
        let of_tight = self.tight.iter().map(|value| histogram.count(*value)).min();
        let mut most = of_tight.or_else(|| counts.clone().map(|(_, count)| count).max())?;
        while most > 0 {
            let kept: u64 = counts.clone().map(|(_, count)| u64::from(count.min(most))).sum();
            if f64::from(most) * l <= kept as f64 + ROUNDING {
                let size = if self.tight.is_empty() { kept as usize } else { full_share(most, l) };
                return (size >= smallest).then_some(most);
            }
            // From above to the greatest number that its own sum allows.
            most = ((kept as f64 + ROUNDING) / l).floor() as u32;
        }
        None
    }

    /// The largest class that some records hold, if the open ones can do without it. It is taken out of them.
    pub fn take(&mut self, mut records: Vec<u32>) -> Option<Vec<u32>> {
        if self.work.only_size() {
            return (records.len() >= self.work.smallest).then_some(records);
        }
        let mut tally = Tally::for_problem(self.work.problem);
        records.iter().for_each(|record| tally.add_record(&self.work.problem.sensitive, *record));
        let most = self.most_of_a_value(&tally)?;
        if let Some((attribute, l)) = self.frequency {
            let mut room = self.shares(&tally, attribute, most, l);
            let codes = &self.work.problem.sensitive[attribute].codes;
            records.retain(|record| {
                let room = &mut room[codes[*record as usize] as usize];
                let kept = *room > 0;
                *room = room.saturating_sub(1);
                kept
            });
            if !self.can_do_without(&records, attribute, l) {
                return None;
            }
        }
        if !self.work.holds(records.iter().copied()) {
            return None;
        }
        for record in &records {
            let sensitive = self.work.problem.sensitive.iter();
            let values: Vec<u32> = sensitive.map(|counted| counted.codes[*record as usize]).collect();
            self.left.remove(&values);
        }
        self.find_tight();
        Some(records)
    }

    /// How many records of each value a class takes.
    fn shares(&self, tally: &Tally, attribute: usize, most: u32, l: f64) -> Vec<u32> {
        let histogram = tally.histogram(attribute);
        let mut shares = vec![0; histogram.domain()];
        if self.tight.is_empty() {
            histogram.present().for_each(|(value, count)| shares[value as usize] = count.min(most));
            return shares;
        }
        self.tight.iter().for_each(|value| shares[*value as usize] = most);
        let mut room = full_share(most, l).saturating_sub(self.tight.len() * most as usize);
        let is_other = |value: &(u32, u32)| self.tight.binary_search(&value.0).is_err();
        let mut others: Vec<(u32, u32)> = histogram.present().filter(is_other).collect();
        // Those that are most frequent among the open ones are taken first.
        let left = self.left.histogram(attribute);
        others.sort_by_key(|(value, _)| (std::cmp::Reverse(left.count(*value)), *value));
        for (value, count) in others {
            let share = (count.min(most) as usize).min(room);
            shares[value as usize] = share as u32;
            room -= share;
        }
        shares
    }

    /// Whether the open records without these could still be published.
    fn can_do_without(&self, records: &[u32], attribute: usize, l: f64) -> bool {
        let codes = &self.work.problem.sensitive[attribute].codes;
        let mut taken = vec![0u32; self.left.histogram(attribute).domain()];
        records.iter().for_each(|record| taken[codes[*record as usize] as usize] += 1);
        let left = self.left.size() - records.len() as u64;
        let mut counts = self.left.histogram(attribute).present();
        counts.all(|(value, count)| f64::from(count - taken[value as usize]) * l <= left as f64 + ROUNDING)
    }
}

/// The size of a class in which so many records are exactly one in l.
fn full_share(most: u32, l: f64) -> usize {
    (f64::from(most) * l - ROUNDING).ceil() as usize
}

/// The cheapest stretch of rows along an attribute that holds a class; rows are in its order.
pub(super) fn cheapest_window<C: Code>(
    needs: &Needs<'_, C>,
    open: &OpenRows<C>,
    rows: &[u32],
    attribute: usize,
) -> Option<(usize, usize)> {
    let work = needs.work;
    let code = |at: usize| open.code(rows[at], attribute);
    let mut best: Option<(f64, usize, usize)> = None;
    let mut tally = Tally::for_problem(work.problem);
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
                open.records(rows[at])
                    .iter()
                    .for_each(|record| tally.add_record(&work.problem.sensitive, *record));
                at += 1;
            }
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
