//! How often each value of an attribute occurs in a set of records.

/// How often each value occurs. Costs follow the number of values that occur, not the size of the domain.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u32>,
    present: Vec<u32>,
    /// Where each value stands in `present`.
    place: Vec<u32>,
    /// How many people there are, where a person may count for several values.
    people: Option<u64>,
}

impl Histogram {
    /// An empty histogram over so many values.
    pub fn new(values: usize) -> Self {
        Histogram { counts: vec![0; values], present: Vec::new(), place: vec![0; values], people: None }
    }

    /// One more of a value.
    #[inline]
    pub fn add(&mut self, value: u32) {
        self.add_many(value, 1);
    }

    /// So many more of a value.
    #[inline]
    pub(crate) fn add_many(&mut self, value: u32, many: u32) {
        let count = &mut self.counts[value as usize];
        if *count == 0 && many > 0 {
            self.place[value as usize] = self.present.len() as u32;
            self.present.push(value);
        }
        *count += many;
    }

    /// One less of a value that is there.
    #[inline]
    pub fn remove(&mut self, value: u32) {
        let count = &mut self.counts[value as usize];
        *count -= 1;
        if *count == 0 {
            let at = self.place[value as usize];
            self.present.swap_remove(at as usize);
            if let Some(&moved) = self.present.get(at as usize) {
                self.place[moved as usize] = at;
            }
        }
    }

    /// How often a value occurs.
    #[inline]
    pub fn count(&self, value: u32) -> u32 {
        self.counts[value as usize]
    }

    /// Number of values of the domain.
    pub fn domain(&self) -> usize {
        self.counts.len()
    }

    /// The values that occur with their counts, in no particular order.
    pub fn present(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + Clone + '_ {
        self.present.iter().map(|&value| (value, self.counts[value as usize]))
    }

    /// The values that occur with their counts, the most frequent first, of equally frequent ones the lowest.
    pub fn most_frequent_first(&self) -> Vec<(u32, u32)> {
        let mut values: Vec<(u32, u32)> = self.present().collect();
        values.sort_unstable_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
        values
    }

    /// Number of records counted; where people are, the different values of each of them added up.
    pub fn total(&self) -> u64 {
        self.present().map(|(_, count)| u64::from(count)).sum()
    }

    /// Number of people counted, or of records where each is for itself.
    pub fn people(&self) -> u64 {
        self.people.unwrap_or_else(|| self.total())
    }

    /// Says how many people have the values that were counted: each is counted once for every different value they have.
    pub fn set_people(&mut self, people: u64) {
        self.people = Some(people);
    }

    /// The counts in the most uneven way in which every person could be counted for one of their values, the largest
    /// first: as many people as have the most frequent value, of the rest as many as have the next, and so on. Where
    /// each is for itself, simply the counts.
    pub fn uneven(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self.present().map(|(_, count)| count).collect();
        counts.sort_unstable();
        counts.reverse();
        let Some(mut left) = self.people else { return counts };
        for count in &mut counts {
            *count = u64::from(*count).min(left) as u32;
            left -= u64::from(*count);
        }
        counts.retain(|count| *count > 0);
        counts
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        for value in self.present.drain(..) {
            self.counts[value as usize] = 0;
        }
        self.people = self.people.map(|_| 0);
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts && self.people == other.people
    }
}
