//! Classes: rows with literally equal cells.

use hashbrown::HashTable;

use crate::parallel;
use crate::table::Table;

/// Rows are dealt by hash to this many tables, which are filled in parallel. Fixed, so that the outcome does not
/// depend on the number of threads.
const SHARDS: u64 = 16;

/// So many different numbers are counted for each class; more are sorted.
const FEW_NUMBERS: u32 = 1 << 12;

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
        let hashes = parallel::fill(rows, parallel::FEW_STEPS, |row| hash(columns, row));
        let shards: Vec<Shard> = parallel::map(0..SHARDS, |shard| Shard::fill(shard, &hashes, columns));
        Self::from_shards(shards)
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
        let start = if class == 0 { 0 } else { self.ends[class - 1] as usize };
        &self.rows[start..self.ends[class] as usize]
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

    /// How many rows are the only ones of their class with their numbers in some columns. Classes are gone through one by
    /// one: their rows are few, and sorting them stays in the cache where one grouping of all rows would not.
    pub fn unique_within<N: AsRef<[u32]>>(&self, columns: &[N]) -> u64 {
        let columns: Vec<&[u32]> = columns.iter().map(AsRef::as_ref).collect();
        self.unique_within_columns(&columns)
    }

    fn unique_within_columns(&self, columns: &[&[u32]]) -> u64 {
        if let [column] = columns
            && let Some(most) = column.iter().max().filter(|most| **most < FEW_NUMBERS)
        {
            return self.unique_of_few(column, *most as usize + 1);
        }
        let counted = parallel::ranges(self.len(), 256, |classes| {
            let (mut keys, mut unique): (Vec<(u64, u32)>, u64) = (Vec::new(), 0);
            for class in classes {
                keys.clear();
                keys.extend(self.rows(class).iter().map(|row| (key(columns, *row as usize), *row)));
                keys.sort_unstable();
                let alike = keys.chunk_by(|one, other| one.0 == other.0);
                unique += alike.map(|rows| unique_of_alike(rows, columns)).sum::<u64>();
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
                let rows = self.rows(class);
                for row in rows {
                    counts[column[*row as usize] as usize] += 1;
                }
                for row in rows {
                    unique += u64::from(counts[column[*row as usize] as usize] == 1);
                }
                for row in rows {
                    counts[column[*row as usize] as usize] = 0;
                }
            }
            unique
        });
        counted.into_iter().sum()
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

/// A number that is equal where all numbers of two rows are; of a single column the number itself.
#[inline(always)]
fn key(columns: &[&[u32]], row: usize) -> u64 {
    match columns {
        [column] => u64::from(column[row]),
        _ => hash(columns, row),
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

/// One step of a hash; equal hashes are told apart by their cells.
#[inline(always)]
fn mix(hash: u64, number: u32) -> u64 {
    let product = u128::from(hash ^ u64::from(number) ^ 0x9e37_79b9_7f4a_7c15) * 0xf39c_c060_5ced_c835;
    (product >> 64) as u64 ^ product as u64
}

/// The classes whose hash falls to one shard.
struct Shard {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Shard {
    fn fill(shard: u64, hashes: &[u64], columns: &[&[u32]]) -> Self {
        let mine = |hash: u64| (hash >> 32) % SHARDS == shard;
        let mut table: HashTable<(u32, u32)> = HashTable::new();
        let mut members: Vec<(u32, u32)> = Vec::new();
        let mut sizes: Vec<u32> = Vec::new();
        // The cells of each class side by side, so that a comparison touches one place instead of one per column.
        let mut cells: Vec<u32> = Vec::new();
        for (row, &hash) in hashes.iter().enumerate().filter(|(_, hash)| mine(**hash)) {
            let equal = |(_, class): &(u32, u32)| {
                let own = &cells[*class as usize * columns.len()..];
                columns.iter().zip(own).all(|(column, cell)| column[row] == *cell)
            };
            let class = match table.find(hash, equal) {
                Some(&(_, class)) => class,
                None => {
                    let class = sizes.len() as u32;
                    table.insert_unique(hash, (row as u32, class), |(row, _)| hashes[*row as usize]);
                    sizes.push(0);
                    cells.extend(columns.iter().map(|column| column[row]));
                    class
                }
            };
            sizes[class as usize] += 1;
            members.push((row as u32, class));
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

    #[test]
    fn rows_that_are_unique_within_their_class_are_those_of_a_grouping_by_all_columns() {
        let numbers = |factor: u32, modulus: u32| -> Vec<u32> {
            (0..5000).map(|row: u32| row.wrapping_mul(factor).wrapping_add(row / 7) % modulus).collect()
        };
        let (classes, one, other) = (numbers(17, 90), numbers(2_654_435_761, 11), numbers(40_503, 5));
        let grouped = Classes::group_numbers(&[&classes], 5000);
        let many: Vec<u32> = one.iter().map(|number| number * FEW_NUMBERS).collect();
        for columns in [vec![&one], vec![&many], vec![&one, &other], vec![]] {
            let all: Vec<&Vec<u32>> = std::iter::once(&classes).chain(columns.iter().copied()).collect();
            let plain = Classes::group_numbers(&all, 5000);
            let expected = (0..plain.len()).filter(|class| plain.size(*class) == 1).count() as u64;
            assert_eq!(grouped.unique_within(&columns), expected, "{} columns", columns.len());
        }
        assert!(grouped.unique_within(&[&one, &other]) > 0);
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
