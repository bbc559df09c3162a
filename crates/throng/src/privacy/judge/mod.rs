//! May these records be a class? The one place where methods ask.
//!
//! A [`Judge`] is made once for a problem. It finds out which way of deciding is cheapest for the requirement, so that
//! loops neither count what nobody asks for nor know the models:
//! - the *number* of records, where only sizes are asked for;
//! - the number of *people*, where only sizes are asked for and records belong to people;
//! - the number of records and the largest k that one of them *demands*;
//! - the number of records and how *often* one value occurs, where one sensitive attribute is limited in frequency;
//! - *running counts* ([`Tally`]) in general.
//!
//! All ways give the answer that the models give from counts. What is equal but for the rounding of floats counts as
//! equal everywhere, by the one tolerance [`ROUNDING`]: a method that is more generous than the audit makes releases
//! that the audit then refuses.
//!
//! What the size of a class is, is defined here and in `Tally`: its people, where a policy says whose records are. [`Judge::smallest`] is for pruning: no class has
//! fewer records, but as many need not be enough unless [`Judge::count_decides`].
//!
//! ```
//! use throng::privacy::{Judge, KAnonymity, Requirement};
//! let requirement = Requirement::from_models(vec![Box::new(KAnonymity { k: 2 })]);
//! let judge = Judge::of(&requirement, &[], None);
//! assert!(judge.holds([4, 7].into_iter()));
//! assert!(!judge.holds_without(&[4, 7], 4));
//! ```

mod frequency;
mod seen;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use frequency::Frequency;
use seen::Seen;

use super::{Part, Requirement, Tally};
use crate::data::{People, Protected};

/// How far two sides of a comparison may be apart that are equal but for the rounding of floats: relative to counts,
/// absolute for distances and entropies. Not a margin: 5 records with 3 of a value are not 1.6666666667-diverse.
pub const ROUNDING: f64 = 1e-12;

/// Decides whether records may be a class.
#[derive(Clone, Debug)]
pub struct Judge<'a> {
    requirement: &'a Requirement,
    /// The columns whose values are counted; none where no value matters.
    counted: &'a [Protected],
    demands: Option<&'a Arc<[u32]>>,
    people: Option<&'a People>,
    smallest: usize,
    way: Way<'a>,
}

/// What decides.
#[derive(Clone, Copy, Debug)]
enum Way<'a> {
    Count,
    People(&'a People),
    Demand(&'a [u32]),
    Frequency(Frequency, &'a Protected),
    Counts,
    CountsBeyondSize,
}

impl<'a> Judge<'a> {
    /// The same over people; the requirement must count them too.
    pub fn counting(self, people: Option<&'a People>) -> Self {
        let Some(own) = people else { return self };
        let only_number = self.requirement.parts().all(|part| part == Part::K);
        let (way, counted) = match self.way {
            Way::CountsBeyondSize => (self.way, self.counted),
            _ if only_number => (Way::People(own), &[][..]),
            _ => (Way::Counts, self.counted),
        };
        Judge { people, way, counted, ..self }
    }

    /// The judge of a requirement on records with these sensitive values, which may ask for a k of their own.
    pub fn of(
        requirement: &'a Requirement,
        sensitive: &'a [Protected],
        demands: Option<&'a Arc<[u32]>>,
    ) -> Self {
        let (smallest, way) = (requirement.smallest_class(), Way::of(requirement, sensitive, demands));
        let counted = if matches!(way, Way::Count | Way::Demand(_)) { &[] } else { sensitive };
        Judge { requirement, counted, demands, people: None, smallest, way }
    }

    /// The judge of what a requirement asks of classes beyond their size; `None` if it asks nothing more.
    pub(crate) fn of_more_than_size(
        requirement: &'a Requirement,
        sensitive: &'a [Protected],
        demands: Option<&'a Arc<[u32]>>,
    ) -> Option<Self> {
        let way = Way::CountsBeyondSize;
        let judge = Judge { requirement, counted: sensitive, demands, people: None, smallest: 1, way };
        (!requirement.only_size()).then_some(judge)
    }

    /// No class has fewer records; at least 1.
    #[inline(always)]
    pub fn smallest(&self) -> usize {
        self.smallest
    }

    /// Whether [`Self::smallest`] is all that is asked: any so many records may be a class.
    #[inline(always)]
    pub fn count_decides(&self) -> bool {
        matches!(self.way, Way::Count)
    }

    /// The limit on how often values occur, where that and the number of records decide alone.
    #[inline]
    pub fn frequency(&self) -> Option<Frequency> {
        match self.way {
            Way::Frequency(frequency, _) => Some(frequency),
            Way::Count | Way::People(_) | Way::Demand(_) | Way::Counts | Way::CountsBeyondSize => None,
        }
    }

    /// The first limit on how often values occur, whatever else is asked. Methods that deal values out build classes
    /// that keep to it and join them until the rest holds too.
    pub fn first_frequency(&self) -> Option<Frequency> {
        self.requirement.frequencies().first().map(|(attribute, l)| Frequency::new(*attribute, *l))
    }

    /// No class has fewer records, as far as models of size alone ask; at least 1.
    pub fn smallest_size(&self) -> usize {
        self.requirement.smallest_size()
    }

    /// Whether records may be a class.
    pub fn holds(&self, records: impl ExactSizeIterator<Item = u32>) -> bool {
        self.holds_set(records.len(), records)
    }

    /// The same for loops that ask often: what must be counted is counted in `room`, a tally of this judge.
    pub fn holds_in(&self, room: &mut Tally, records: impl ExactSizeIterator<Item = u32>) -> bool {
        if !matches!(self.way, Way::Counts | Way::CountsBeyondSize) {
            return self.holds(records);
        }
        records.len() >= self.smallest && {
            room.clear();
            records.for_each(|record| self.add(room, record));
            self.allows(room)
        }
    }

    /// Whether the records of two sets may be one class.
    pub fn holds_merged(
        &self,
        one: impl ExactSizeIterator<Item = u32>,
        other: impl ExactSizeIterator<Item = u32>,
    ) -> bool {
        self.holds_set(one.len() + other.len(), one.chain(other))
    }

    /// Whether a class may take a record in.
    #[inline]
    pub fn holds_with(&self, class: &[u32], record: u32) -> bool {
        match self.way {
            Way::Count | Way::People(_) => true,
            Way::Demand(demands) => demands[record as usize] as usize <= class.len() + 1,
            Way::Frequency(frequency, counted) => {
                // The other values only become less frequent.
                let value = |record: u32| counted.codes[record as usize];
                let own = value(record);
                let count = 1 + class.iter().filter(|one| value(**one) == own).count();
                frequency.allows(count, class.len() + 1)
            }
            Way::Counts | Way::CountsBeyondSize => {
                self.holds_merged(class.iter().copied(), [record].into_iter())
            }
        }
    }

    /// Whether a class may lose one of its records.
    #[inline]
    pub fn holds_without(&self, class: &[u32], record: u32) -> bool {
        class.len() > self.smallest
            && (self.count_decides()
                || self.holds_set(class.len() - 1, class.iter().copied().filter(|one| *one != record)))
    }

    /// Which of two sides of so many records may be classes. `divided` tells each record, and whether it is on the first
    /// side.
    pub fn holds_divided(&self, sizes: [usize; 2], divided: impl Iterator<Item = (u32, bool)>) -> [bool; 2] {
        let enough = sizes.map(|size| size >= self.smallest);
        if self.count_decides() || enough == [false, false] {
            return enough;
        }
        if let Way::People(people) = self.way {
            return divided_people(people, self.smallest, divided);
        }
        let mut sides = [self.tally(), self.tally()];
        divided.for_each(|(record, first)| self.add(&mut sides[usize::from(!first)], record));
        sides.map(|side| self.allows(&side))
    }

    fn holds_set(&self, size: usize, mut records: impl Iterator<Item = u32>) -> bool {
        size >= self.smallest
            && match self.way {
                Way::Count => true,
                Way::People(people) => {
                    let mut seen = Seen::new(self.smallest);
                    records.any(|record| seen.add(people.of(record)))
                }
                Way::Demand(demands) => records.all(|record| demands[record as usize] as usize <= size),
                Way::Frequency(frequency, counted) => {
                    let values = records.map(|record| counted.codes[record as usize]);
                    none_occurs_more(values, counted.domain.len(), frequency.most_of_value(size))
                }
                Way::Counts | Way::CountsBeyondSize => {
                    let mut tally = self.tally();
                    records.for_each(|record| self.add(&mut tally, record));
                    self.allows(&tally)
                }
            }
    }

    /// Empty running counts.
    pub fn tally(&self) -> Tally {
        Tally::for_counted(self.counted, self.demands, self.people)
    }

    /// Takes a record into running counts.
    #[inline]
    pub fn add(&self, tally: &mut Tally, record: u32) {
        tally.add_record(self.counted, record);
    }

    /// Takes a record out of running counts that it is in.
    #[inline]
    pub fn remove(&self, tally: &mut Tally, record: u32) {
        tally.remove_record(self.counted, record);
    }

    /// Whether the records of running counts may be a class.
    #[inline]
    pub fn allows(&self, tally: &Tally) -> bool {
        match self.way {
            Way::CountsBeyondSize => self.requirement.holds_beyond_size(tally),
            Way::Count | Way::People(_) | Way::Demand(_) | Way::Frequency(..) | Way::Counts => {
                tally.size() >= self.smallest as u64 && self.requirement.holds(tally)
            }
        }
    }

    /// Whether the records of running counts may be a class without some of them.
    pub fn allows_without(&self, tally: &Tally, records: &[u32]) -> bool {
        if self.count_decides() {
            return tally.size() >= (records.len() + self.smallest) as u64;
        }
        let mut rest = tally.clone();
        records.iter().for_each(|record| self.remove(&mut rest, *record));
        self.allows(&rest)
    }
}

impl<'a> Way<'a> {
    fn of(requirement: &Requirement, sensitive: &'a [Protected], demands: Option<&'a Arc<[u32]>>) -> Self {
        let sizes_and_demands = || requirement.parts().all(|part| matches!(part, Part::K | Part::OwnK));
        let frequency = || {
            let (attribute, l) = requirement.only_frequency()?;
            Some(Way::Frequency(Frequency::new(attribute, l), sensitive.get(attribute)?))
        };
        match demands {
            _ if requirement.only_size() => Way::Count,
            Some(demands) if sizes_and_demands() => Way::Demand(demands),
            _ => frequency().unwrap_or(Way::Counts),
        }
    }
}

/// Which of two sides have so many people.
fn divided_people(people: &People, enough: usize, divided: impl Iterator<Item = (u32, bool)>) -> [bool; 2] {
    let (mut sides, mut met) = ([Seen::new(enough), Seen::new(enough)], [false, false]);
    for (record, first) in divided {
        let side = usize::from(!first);
        met[side] = met[side] || sides[side].add(people.of(record));
        if met == [true, true] {
            break;
        }
    }
    met
}

/// Values of so few are counted in a table that needs no memory of its own.
const FEW: usize = 256;

/// Whether no value occurs more often than `most` times.
fn none_occurs_more(mut values: impl Iterator<Item = u32>, domain: usize, most: usize) -> bool {
    if domain <= FEW {
        let mut counts = [0u32; FEW];
        return values.all(|value| {
            counts[value as usize] += 1;
            counts[value as usize] as usize <= most
        });
    }
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    values.chunk_by(|one, other| one == other).all(|equal| equal.len() <= most)
}
