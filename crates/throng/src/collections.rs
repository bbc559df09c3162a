//! Collections that the rest shares, and orders of slices.
//!
//! The sorts of the standard library are compiled anew for every type of items and every comparison; an eighth of the library's
//! machine code was that. What sorts a few items, or sorts once in a run, goes through [`Arrange`], which is compiled once. What sorts in
//! the innermost loops calls the standard library's sorts, with numbers and pairs of numbers where it can: those are the same
//! for all.

use std::cmp::Ordering;

/// A hash map whose order never reaches a result.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;

/// Stable sorts that cost a call for each comparison, and next to no machine code.
pub(crate) trait Arrange<T> {
    /// Sorts ascending.
    fn arrange(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison.
    fn arrange_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key that is made for each comparison.
    fn arrange_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);

    /// Sorts by a key that is made once for each item.
    fn arrange_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> Arrange<T> for [T] {
    fn arrange(&mut self)
    where
        T: Ord,
    {
        self.arrange_by(T::cmp);
    }

    fn arrange_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let order = order(self.len(), &mut |one, other| compare(&self[one], &self[other]));
        put_in_order(self, order);
    }

    fn arrange_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.arrange_by(|one, other| key(one).cmp(&key(other)));
    }

    fn arrange_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        let keys: Vec<K> = self.iter().map(key).collect();
        let order = order(self.len(), &mut |one, other| keys[one].cmp(&keys[other]));
        put_in_order(self, order);
    }
}

/// The places of items in their order; of equals the first comes first.
fn order(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

/// Puts the item of each place of an order there, along cycles. It is compiled for each type of items, so it is short.
fn put_in_order<T>(items: &mut [T], mut order: Vec<usize>) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

/// Sorts by cost, the least first; of equal ones by id.
pub(crate) fn cheapest_first(costs: &mut [(f64, usize)]) {
    costs.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
}

/// Sorts numbers, the greatest first.
pub(crate) fn greatest_first(numbers: &mut [f64]) {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.reverse();
}

/// Sorts ids by their codes; those of one code by id.
pub(crate) fn sort_by_code(ids: &mut [u32], codes: &[u32]) {
    ids.sort_unstable_by_key(|id| (codes[*id as usize], *id));
}

/// Sorts ids by a key that is made once for each; those of one key by id.
pub(crate) fn sort_by_key_and_id(ids: &mut [u32], key: impl Fn(u32) -> usize) {
    let mut keyed: Vec<(usize, u32)> = ids.iter().map(|id| (key(*id), *id)).collect();
    keyed.sort_unstable();
    ids.iter_mut().zip(keyed).for_each(|(id, (_, own))| *id = own);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [usize; 10] = [0, 1, 2, 3, 7, 20, 21, 64, 257, 1000];

    /// Keys of which many are equal, each with its place.
    fn items(count: usize, keys: u64) -> Vec<(u64, usize)> {
        let mut state = count as u64 + 1;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % keys
        };
        (0..count).map(|place| (next(), place)).collect()
    }

    fn each(mut check: impl FnMut(Vec<(u64, usize)>)) {
        for count in SIZES {
            for keys in [1, 2, 10, 1 << 30] {
                check(items(count, keys));
            }
        }
    }

    #[test]
    fn items_are_arranged_as_the_standard_library_sorts_them() {
        each(|items| {
            let mut sorted = items.clone();
            sorted.sort_by_key(|item| std::cmp::Reverse(item.0));
            let mut arranged = items;
            arranged.arrange_by(|one, other| other.0.cmp(&one.0));
            assert_eq!(sorted, arranged);
        });
    }

    #[test]
    fn equal_items_stay_in_their_order() {
        each(|items| {
            let mut arranged = items.clone();
            arranged.arrange_by_key(|(key, _)| *key);
            assert!(arranged.is_sorted(), "places ascend among equal keys");
            let mut cached = items;
            cached.arrange_by_cached_key(|(key, _)| *key);
            assert_eq!(cached, arranged);
        });
    }

    #[test]
    fn items_that_cannot_be_copied_are_arranged() {
        each(|items| {
            let mut texts: Vec<String> = items.iter().map(|(key, _)| key.to_string()).collect();
            let mut sorted = texts.clone();
            sorted.sort();
            texts.arrange();
            assert_eq!(sorted, texts);
        });
    }

    #[test]
    fn sorted_and_reversed_items_are_arranged() {
        let ascending: Vec<usize> = (0..100).collect();
        let mut arranged = ascending.clone();
        arranged.arrange();
        assert_eq!(arranged, ascending);
        arranged.reverse();
        arranged.arrange();
        assert_eq!(arranged, ascending);
    }

    #[test]
    fn ids_are_sorted_by_what_is_said_of_them() {
        each(|items| {
            let codes: Vec<u32> = items.iter().map(|(key, _)| *key as u32).collect();
            let mut expected: Vec<u32> = (0..codes.len() as u32).collect();
            expected.sort_by_key(|id| codes[*id as usize]);
            let mut by_code: Vec<u32> = (0..codes.len() as u32).rev().collect();
            let mut by_key = by_code.clone();
            sort_by_code(&mut by_code, &codes);
            assert_eq!(by_code, expected);
            sort_by_key_and_id(&mut by_key, |id| codes[id as usize] as usize);
            assert_eq!(by_key, expected);
            let mut costs: Vec<(f64, usize)> =
                items.iter().rev().map(|(key, place)| (*key as f64, *place)).collect();
            cheapest_first(&mut costs);
            assert!(costs.iter().map(|(_, id)| *id as u32).eq(expected));
        });
    }

    #[test]
    fn the_greatest_number_comes_first() {
        let mut numbers = [0.0, -0.0, 3.0, f64::INFINITY, -1.0, 3.0];
        greatest_first(&mut numbers);
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&numbers), bits(&[f64::INFINITY, 3.0, 3.0, 0.0, -0.0, -1.0]));
    }
}
