//! Which records a release holds, and in which order.

use std::sync::OnceLock;

use rand::Rng;
use rand::seq::SliceRandom;

use crate::parallel;
use crate::secret::Secret;

/// The rows of a release.
pub(super) struct Rows {
    /// The published records, ascending.
    pub records: Vec<u32>,
    /// Where each of them goes, unless they keep their order.
    pub shuffle: Option<Shuffle>,
    /// The records in the order they are written, once somebody asked.
    in_order: OnceLock<Vec<u32>>,
}

/// Buckets of a shuffle; fixed, so that the outcome does not depend on the number of threads.
pub(super) const BUCKETS: usize = 256;

/// A random order. Every row is dealt to a random bucket and every bucket is shuffled: each order is as likely as any
/// other. Whoever follows it can deal rows out in the order they have, and then has to look no further than into one
/// bucket at a time.
pub(super) struct Shuffle {
    /// The bucket of each row.
    pub bucket_of: Vec<u8>,
    /// For each bucket, the order in which its rows come out: places among the bucket's rows.
    pub within: Vec<Vec<u32>>,
}

impl Rows {
    /// Records in their own order.
    pub fn kept(records: Vec<u32>) -> Self {
        Rows { records, shuffle: None, in_order: OnceLock::new() }
    }

    /// Records in a random order.
    pub fn shuffled(records: Vec<u32>, secret: &Secret) -> Self {
        let shuffle = Shuffle::new(records.len(), secret);
        Rows { records, shuffle: Some(shuffle), in_order: OnceLock::new() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// The records in the order they are written.
    pub fn in_order(&self) -> &[u32] {
        match &self.shuffle {
            None => &self.records,
            Some(shuffle) => self.in_order.get_or_init(|| shuffle.follow(&self.records)),
        }
    }

    /// The same, without the rest.
    pub fn into_order(self) -> Vec<u32> {
        match self.shuffle {
            None => self.records,
            Some(shuffle) => self.in_order.into_inner().unwrap_or_else(|| shuffle.follow(&self.records)),
        }
    }
}

impl Shuffle {
    fn new(count: usize, secret: &Secret) -> Self {
        let mut bucket_of = vec![0; count];
        secret.stream(1).fill_bytes(&mut bucket_of);
        let mut sizes = [0; BUCKETS];
        bucket_of.iter().for_each(|bucket| sizes[usize::from(*bucket)] += 1);
        let shuffled = |(bucket, size): (usize, u32)| {
            let mut places: Vec<u32> = (0..size).collect();
            places.shuffle(&mut secret.stream(1000 + bucket as u64));
            places
        };
        Shuffle { bucket_of, within: parallel::map(sizes.into_iter().enumerate(), shuffled) }
    }

    /// Records in the order that this gives them.
    fn follow(&self, records: &[u32]) -> Vec<u32> {
        let Shuffle { bucket_of, within } = self;
        let mut buckets: Vec<Vec<u32>> =
            within.iter().map(|places| Vec::with_capacity(places.len())).collect();
        for (&record, &bucket) in records.iter().zip(bucket_of) {
            buckets[usize::from(bucket)].push(record);
        }
        let mut order = Vec::with_capacity(records.len());
        for (own, places) in buckets.iter().zip(within) {
            order.extend(places.iter().map(|&place| own[place as usize]));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(count: u32, secret: u64) -> Vec<u32> {
        let secret = Secret::from_bytes(&secret.to_le_bytes());
        Rows::shuffled((0..count).collect(), &secret).into_order()
    }

    #[test]
    fn a_shuffle_keeps_every_number_once() {
        for count in [0, 1, 2, 300, 10_000] {
            let mut order = shuffled(count, 7);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count));
        }
    }

    #[test]
    fn every_order_is_about_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        let draws = 6000;
        for seed in 0..draws {
            *seen.entry(shuffled(3, seed)).or_insert(0) += 1;
        }
        // Each of the six orders is expected 1,000 times with a standard deviation below 29.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
    }
}
