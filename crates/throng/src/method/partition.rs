//! Partitions: which records are published alike.

/// Records in groups: one list of records, and where each group ends in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    order: Vec<u32>,
    ends: Vec<u32>,
}

impl Partition {
    /// From records in order and the sizes of consecutive groups.
    pub fn from_sizes(order: Vec<u32>, sizes: impl IntoIterator<Item = usize>) -> Self {
        let ends: Vec<u32> = sizes
            .into_iter()
            .scan(0, |end, size| {
                *end += size as u32;
                Some(*end)
            })
            .collect();
        debug_assert_eq!(ends.last().copied().unwrap_or(0) as usize, order.len());
        Partition { order, ends }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The records of a group.
    pub fn group(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.order[start..self.ends[at] as usize]
    }

    /// The groups.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|at| self.group(at))
    }

    /// The number of a group that no record is in.
    pub const NO_GROUP: u32 = u32::MAX;

    /// The records of all groups, group by group.
    pub fn records(&self) -> &[u32] {
        &self.order
    }

    /// The group of each of `count` records; [`Self::NO_GROUP`] for those in none.
    pub fn group_of_record(&self, count: usize) -> Vec<u32> {
        let mut group_of = vec![Self::NO_GROUP; count];
        for (group, records) in (0..).zip(self.groups()) {
            for &record in records {
                group_of[record as usize] = group;
            }
        }
        group_of
    }
}
