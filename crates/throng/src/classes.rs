//! Classes: rows with literally equal cells.

use std::ops::Range;

use hashbrown::HashTable;

use crate::parallel;
use crate::table::Table;

/// Rows are dealt by hash to this many tables, which are filled in parallel. Fixed, so that the outcome does not
/// depend on the number of threads.
const SHARDS: usize = 16;
/// Rows that are dealt together.
const ROWS_PER_PIECE: usize = 1 << 16;

/// So many different numbers are counted for each class; more are sorted.
const FEW_NUMBERS: u32 = 1 << 12;

/// So many rows of a class are told apart by a table that fits a cache; more are sorted, which takes less memory then.
const FEW_KEYS: usize = 1 << 12;

/// The classes of a table over some of its columns.
pub(crate) struct Classes {
    /// Rows, class by class.
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Classes {
    /// Groups the rows of a table by the cells of some coded columns.
    pub fn group(table: &Table, columns: &[usize]) -> Self {
        let numbers: Vec<&[u32]> = columns.iter().map(|&column| table.numbers(column)).collect();
        Self::group_numbers(&numbers, table.len())
    }

    /// Groups rows by equal numbers in all columns.
    pub fn group_numbers<N: AsRef<[u32]>>(columns: &[N], rows: usize) -> Self {
        let columns: Vec<&[u32]> = columns.iter().map(AsRef::as_ref).collect();
        Self::group_columns(&columns, rows)
    }

    fn group_columns(columns: &[&[u32]], rows: usize) -> Self {
        let packing = Packing::of(columns);
        let pieces: Vec<usize> = (0..rows).step_by(ROWS_PER_PIECE).collect();
        let dealt = parallel::map(pieces, |start| {
            Dealt::rows(columns, &packing, start..rows.min(start + ROWS_PER_PIECE))
        });
        Self::from_shards(parallel::map(0..SHARDS, |shard| {
            Shard::fill(dealt.iter().map(|dealt| &dealt.shards[shard]), packing.words)
        }))
    }

    fn from_shards(shards: Vec<Shard>) -> Self {
        let mut classes = Classes { rows: Vec::new(), ends: Vec::new() };
        for shard in shards {
            let before = classes.rows.len() as u32;
            classes.rows.extend(shard.rows);
            classes.ends.extend(shard.ends.into_iter().map(|end| before + end));
        }
        classes
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The rows of a class, ascending.
    pub fn rows(&self, class: usize) -> &[u32] {
        &self.rows[self.places(class)]
    }

    /// Number of rows of a class.
    pub fn size(&self, class: usize) -> usize {
        self.rows(class).len()
    }

    /// The class of each row.
    pub fn of_rows(&self) -> Vec<u32> {
        let mut of_rows = vec![0; self.rows.len()];
        for class in 0..self.len() {
            self.rows(class).iter().for_each(|row| of_rows[*row as usize] = class as u32);
        }
        of_rows
    }

    /// What belongs to each row, class by class.
    pub fn arranged(&self, of_row: impl Fn(u32) -> u32 + Sync) -> Vec<u32> {
        parallel::fill(self.rows.len(), parallel::FEW_STEPS, |at| of_row(self.rows[at]))
    }

    /// How many rows are the only ones of their class with their numbers in some columns, which are given class by class
    /// ([`Self::arranged`]): so a class is gone through in one place of each.
    pub fn unique_within<N: AsRef<[u32]>>(&self, arranged: &[N]) -> u64 {
        let columns: Vec<&[u32]> = arranged.iter().map(AsRef::as_ref).collect();
        self.unique_within_columns(&columns)
    }

    fn unique_within_columns(&self, columns: &[&[u32]]) -> u64 {
        if let [column] = columns
            && let Some(most) = greatest(column).filter(|most| *most < FEW_NUMBERS)
        {
            return self.unique_of_few(column, most as usize + 1);
        }
        let packing = Packing::of(columns);
        let exact = packing.words <= 1;
        let counted = parallel::ranges(self.len(), 256, |classes| {
            let (mut keys, mut pairs, mut unique) = (Keys::default(), Vec::new(), 0);
            for class in classes {
                let places = self.places(class);
                if exact && places.len() <= FEW_KEYS {
                    keys.make_room(places.len());
                    for at in places {
                        keys.meet(packing.only_word(columns, at));
                    }
                    unique += keys.alone;
                } else {
                    pairs.clear();
                    pairs.extend(places.map(|at| (hash(columns, at), at as u32)));
                    pairs.sort_unstable();
                    let alike = pairs.chunk_by(|one, other| one.0 == other.0);
                    unique += alike.map(|places| unique_of_alike(places, columns)).sum::<u64>();
                }
            }
            unique
        });
        counted.into_iter().sum()
    }

    /// The same for a column with few different numbers, which are counted.
    fn unique_of_few(&self, column: &[u32], numbers: usize) -> u64 {
        let counted = parallel::ranges(self.len(), 256, |classes| {
            let (mut counts, mut unique) = (vec![0u32; numbers], 0);
            for class in classes {
                let own = &column[self.places(class)];
                for at in 0..own.len() {
                    counts[own[at] as usize] += 1;
                }
                for at in 0..own.len() {
                    unique += u64::from(counts[own[at] as usize] == 1);
                }
                for at in 0..own.len() {
                    counts[own[at] as usize] = 0;
                }
            }
            unique
        });
        counted.into_iter().sum()
    }

    /// Where the rows of a class stand among all, class by class.
    fn places(&self, class: usize) -> Range<usize> {
        let start = if class == 0 { 0 } else { self.ends[class - 1] as usize };
        start..self.ends[class] as usize
    }

    /// Some row of a class.
    pub fn first_row(&self, class: usize) -> usize {
        self.rows(class)[0] as usize
    }

    /// Size of the smallest class; 0 without any.
    pub fn smallest(&self) -> usize {
        (0..self.len()).map(|class| self.size(class)).min().unwrap_or(0)
    }

    /// How many classes there are of each size, ascending.
    pub fn size_counts(&self) -> Vec<(u64, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for class in 0..self.len() {
            *counts.entry(self.size(class) as u64).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}

/// How the numbers of a row go into as few words as hold them, so that rows are equal where their words are.
struct Packing {
    /// For each column its word, and the bits of a number.
    places: Vec<(usize, u32)>,
    words: usize,
}

impl Packing {
    fn of(columns: &[&[u32]]) -> Self {
        let (mut words, mut free) = (0, 0);
        let place = |greatest: Option<u32>| {
            let bits = u32::BITS - greatest.unwrap_or(0).leading_zeros();
            if words == 0 || bits > free {
                (words, free) = (words + 1, u64::BITS);
            }
            free -= bits;
            (words - 1, bits)
        };
        let places = columns.iter().map(|column| greatest(column)).map(place).collect();
        Packing { places, words }
    }

    /// The word of a row where there is at most one.
    #[inline(always)]
    fn only_word(&self, columns: &[&[u32]], row: usize) -> u64 {
        let (mut word, places) = (0, &self.places[..columns.len()]);
        for at in 0..columns.len() {
            word = word << places[at].1 | u64::from(columns[at][row]);
        }
        word
    }

    /// Appends the words of a row.
    #[inline(always)]
    fn push_words(&self, columns: &[&[u32]], row: usize, words: &mut Vec<u64>) {
        if self.words == 1 {
            return words.push(self.only_word(columns, row));
        }
        let first = words.len();
        words.resize(first + self.words, 0);
        for (column, &(at, bits)) in columns.iter().zip(&self.places) {
            let word = &mut words[first + at];
            *word = *word << bits | u64::from(column[row]);
        }
    }
}

/// The greatest number of a column.
fn greatest(column: &[u32]) -> Option<u32> {
    let of_parts = parallel::ranges(column.len(), 1 << 16, |range| {
        let mut greatest = 0;
        for at in range {
            greatest = column[at].max(greatest);
        }
        greatest
    });
    of_parts.into_iter().max()
}

/// Which keys were met once, and which again.
#[derive(Default)]
struct Keys {
    keys: Vec<u64>,
    met: Vec<Met>,
    /// How many were met once.
    alone: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Met {
    Never,
    Once,
    Again,
}

impl Keys {
    /// Forgets all, and has room for so many.
    fn make_room(&mut self, count: usize) {
        let places = (2 * count).next_power_of_two();
        self.met.clear();
        self.met.resize(places, Met::Never);
        self.keys.resize(places, 0);
        self.alone = 0;
    }

    #[inline]
    fn meet(&mut self, key: u64) {
        let last = self.met.len() - 1;
        let mut at = hash_of(&[key]) as usize & last;
        while self.met[at] != Met::Never && self.keys[at] != key {
            at = (at + 1) & last;
        }
        self.keys[at] = key;
        match self.met[at] {
            Met::Never => self.alone += 1,
            Met::Once => self.alone -= 1,
            Met::Again => return,
        }
        self.met[at] = if self.met[at] == Met::Never { Met::Once } else { Met::Again };
    }
}

#[inline(always)]
fn hash(columns: &[&[u32]], row: usize) -> u64 {
    columns.iter().fold(1, |hash, column| mix(hash, column[row]))
}

/// How many of some rows with equal keys no other of them equals.
fn unique_of_alike(rows: &[(u64, u32)], columns: &[&[u32]]) -> u64 {
    let equal = |one: u32, other: u32| columns.iter().all(|own| own[one as usize] == own[other as usize]);
    let [(_, first), others @ ..] = rows else { return 0 };
    if others.is_empty() {
        return 1;
    }
    if others.iter().all(|(_, row)| equal(*first, *row)) {
        return 0;
    }
    // Different rows with one hash.
    let alone = |(_, row): &&(u64, u32)| rows.iter().filter(|(_, other)| equal(*row, *other)).count() == 1;
    rows.iter().filter(alone).count() as u64
}

#[inline(always)]
fn hash_of(words: &[u64]) -> u64 {
    let mut hash = 1;
    for at in 0..words.len() {
        hash = mix(mix(hash, words[at] as u32), (words[at] >> 32) as u32);
    }
    hash
}

/// One step of a hash; equal hashes are told apart by their cells.
#[inline(always)]
fn mix(hash: u64, number: u32) -> u64 {
    let product = u128::from(hash ^ u64::from(number) ^ 0x9e37_79b9_7f4a_7c15) * 0xf39c_c060_5ced_c835;
    (product >> 64) as u64 ^ product as u64
}

/// Rows that stand together, dealt to shards.
struct Dealt {
    shards: Vec<DealtRows>,
}

/// Those of one shard, and their words, one row after the other: what is compared lies together.
struct DealtRows {
    rows: Vec<u32>,
    words: Vec<u64>,
}

impl Dealt {
    fn rows(columns: &[&[u32]], packing: &Packing, range: Range<usize>) -> Self {
        // Rows fall to a shard as they like; a quarter more is seldom exceeded.
        let room = range.len() / SHARDS + range.len() / SHARDS / 4 + 8;
        let empty =
            || DealtRows { rows: Vec::with_capacity(room), words: Vec::with_capacity(room * packing.words) };
        let mut shards: Vec<DealtRows> = (0..SHARDS).map(|_| empty()).collect();
        for row in range {
            let own = &mut shards[(hash(columns, row) >> 32) as usize % SHARDS];
            own.rows.push(row as u32);
            packing.push_words(columns, row, &mut own.words);
        }
        Dealt { shards }
    }
}

/// The classes whose hash falls to one shard.
struct Shard {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Shard {
    fn fill<'a>(dealt: impl Iterator<Item = &'a DealtRows>, words: usize) -> Self {
        let mut table: HashTable<u32> = HashTable::new();
        let mut members: Vec<(u32, u32)> = Vec::new();
        let mut sizes: Vec<u32> = Vec::new();
        // The words of each class.
        let mut known: Vec<u64> = Vec::new();
        for DealtRows { rows, words: own } in dealt {
            for (at, &row) in rows.iter().enumerate() {
                let own = &own[at * words..][..words];
                let of_class = |class: u32| class as usize * words..(class as usize + 1) * words;
                let hash = hash_of(own);
                let class = match table.find(hash, |class| known[of_class(*class)] == *own) {
                    Some(class) => *class,
                    None => {
                        let class = sizes.len() as u32;
                        table.insert_unique(hash, class, |class| hash_of(&known[of_class(*class)]));
                        sizes.push(0);
                        known.extend(own);
                        class
                    }
                };
                sizes[class as usize] += 1;
                members.push((row, class));
            }
        }
        Self::arrange(&members, &sizes)
    }

    /// Sorts rows by class, keeping their order.
    fn arrange(members: &[(u32, u32)], sizes: &[u32]) -> Self {
        let mut next: Vec<u32> = Vec::with_capacity(sizes.len());
        let mut ends = Vec::with_capacity(sizes.len());
        let mut end = 0;
        for size in sizes {
            next.push(end);
            end += size;
            ends.push(end);
        }
        let mut rows = vec![0; members.len()];
        for &(row, class) in members {
            rows[next[class as usize] as usize] = row;
            next[class as usize] += 1;
        }
        Shard { rows, ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(factor: u32, modulus: u32) -> Vec<u32> {
        (0..5000).map(|row: u32| row.wrapping_mul(factor).wrapping_add(row / 7) % modulus).collect()
    }

    /// Wide enough that two columns need two words.
    fn wide(column: &[u32]) -> Vec<u32> {
        column.iter().map(|number| number.wrapping_mul(2_654_435_761)).collect()
    }

    #[test]
    fn rows_that_are_unique_within_their_class_are_those_of_a_grouping_by_all_columns() {
        let (classes, one, other) = (numbers(17, 90), numbers(2_654_435_761, 11), numbers(40_503, 5));
        let grouped = Classes::group_numbers(&[&classes], 5000);
        let many: Vec<u32> = one.iter().map(|number| number * FEW_NUMBERS).collect();
        let (wide_one, wide_other) = (wide(&one), wide(&other));
        let different: Vec<u32> = (0..5000).map(|row| if row % 7 == 0 { 0 } else { row }).collect();
        let all_columns = || {
            [
                vec![&one],
                vec![&many],
                vec![&different],
                vec![&one, &other],
                vec![&wide_one, &wide_other, &one],
                vec![],
            ]
            .into_iter()
        };
        // All rows in one class are too many for a table of keys.
        let whole = Classes::group_numbers(&[&vec![0; 5000]], 5000);
        for columns in all_columns() {
            let plain = Classes::group_numbers(&columns, 5000);
            let expected = (0..plain.len()).filter(|class| plain.size(*class) == 1).count() as u64;
            let arranged: Vec<Vec<u32>> =
                columns.iter().map(|column| whole.arranged(|row| column[row as usize])).collect();
            assert_eq!(whole.unique_within(&arranged), expected, "{} columns", columns.len());
        }
        for columns in all_columns() {
            let all: Vec<&Vec<u32>> = std::iter::once(&classes).chain(columns.iter().copied()).collect();
            let plain = Classes::group_numbers(&all, 5000);
            let expected = (0..plain.len()).filter(|class| plain.size(*class) == 1).count() as u64;
            let arranged: Vec<Vec<u32>> =
                columns.iter().map(|column| grouped.arranged(|row| column[row as usize])).collect();
            assert_eq!(grouped.unique_within(&arranged), expected, "{} columns", columns.len());
            assert!(expected > 0 || columns.len() < 2, "{} columns", columns.len());
        }
    }

    #[test]
    fn rows_of_a_class_are_those_with_equal_numbers() {
        let (one, other, third) = (numbers(17, 9), numbers(2_654_435_761, 11), numbers(40_503, 5));
        let (wide_one, wide_other) = (wide(&one), wide(&other));
        for columns in [vec![], vec![&one], vec![&one, &other, &third], vec![&wide_one, &wide_other, &third]]
        {
            let mut plain: std::collections::BTreeMap<Vec<u32>, Vec<u32>> = std::collections::BTreeMap::new();
            for row in 0..5000 {
                let cells = columns.iter().map(|column| column[row]).collect();
                plain.entry(cells).or_default().push(row as u32);
            }
            let grouped = Classes::group_numbers(&columns, 5000);
            let mut found: Vec<Vec<u32>> = (0..grouped.len()).map(|at| grouped.rows(at).to_vec()).collect();
            let mut expected: Vec<Vec<u32>> = plain.into_values().collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{} columns", columns.len());
            let of_rows = grouped.of_rows();
            assert!(
                (0..grouped.len()).all(|class| grouped
                    .rows(class)
                    .iter()
                    .all(|row| of_rows[*row as usize] == class as u32))
            );
        }
        assert_eq!(Classes::group_numbers(&[&one[..0]], 0).len(), 0);
    }

    #[test]
    fn rows_with_one_hash_are_told_apart_by_their_numbers() {
        let (one, other) = ([1, 1, 2, 3], [5, 5, 6, 7]);
        let columns: Vec<&[u32]> = vec![&one, &other];
        let alike: Vec<(u64, u32)> = (0..4).map(|row| (9, row)).collect();
        assert_eq!(unique_of_alike(&alike, &columns), 2);
        assert_eq!(unique_of_alike(&alike[..2], &columns), 0);
        assert_eq!(unique_of_alike(&alike[..1], &columns), 1);
    }
}
