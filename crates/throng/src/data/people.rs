//! Whose record each record is.
//!
//! A table may hold several records of one person. Columns with the role `person` say whose each is, several of them
//! together; requirements then count people. Texts are compared as they are, blanks around them aside: two spellings of
//! one person would count as two people, which is for the owner of the table to know.

use std::sync::Arc;

use super::column_codes;
use crate::collections::Map;
use crate::table::Table;

/// The person of each record, as a number below [`People::most`].
#[derive(Clone, Debug, PartialEq)]
pub struct People {
    of_record: Arc<[u32]>,
    most: usize,
}

/// Stands for a row that does not say whose it is.
const NOBODY: u32 = u32::MAX;

impl People {
    /// From the person of each record.
    pub fn new(of_record: impl Into<Arc<[u32]>>) -> Self {
        let of_record: Arc<[u32]> = of_record.into();
        let most = of_record.iter().map(|person| *person as usize + 1).max().unwrap_or(0);
        People { of_record, most }
    }

    /// The person of each record.
    pub fn of_records(&self) -> &[u32] {
        &self.of_record
    }

    /// The person of a record.
    #[inline(always)]
    pub fn of(&self, record: u32) -> u32 {
        self.of_record[record as usize]
    }

    /// No person has a number as large.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How many people have records here.
    pub fn count(&self) -> usize {
        self.records_of_each().iter().filter(|records| **records > 0).count()
    }

    /// How many records each person has.
    pub fn records_of_each(&self) -> Vec<u32> {
        let mut records = vec![0; self.most];
        self.of_record.iter().for_each(|person| records[*person as usize] += 1);
        records
    }

    /// Those of some records whose people have all of their records among them.
    pub fn whole(&self, records: &[u32]) -> Vec<u32> {
        let (all, some) = (self.records_of_each(), self.of_some(records).records_of_each());
        let whole = |record: &&u32| {
            let person = self.of(**record) as usize;
            all[person] == some[person]
        };
        records.iter().filter(whole).copied().collect()
    }

    /// The people of some records.
    pub fn of_some(&self, records: &[u32]) -> Self {
        let of_record: Arc<[u32]> = records.iter().map(|record| self.of(*record)).collect();
        People { of_record, most: self.most }
    }

    /// The people of the rows of a table, which some columns tell together. The second list tells the rows that do not say
    /// it: cells that are blank or hold one of `missing`.
    pub(crate) fn of_rows(table: &Table, columns: &[usize], missing: &[String]) -> Option<(Self, Vec<u32>)> {
        let (first, others) = columns.split_first()?;
        let mut of_row = texts_of_rows(table, missing, *first);
        for column in others {
            let mut numbers: Map<(u32, u32), u32> = Map::default();
            let both = of_row.into_iter().zip(texts_of_rows(table, missing, *column));
            of_row = both.map(|(one, other)| joined(&mut numbers, one, other)).collect();
        }
        let nobody = (0..).zip(&of_row).filter(|(_, person)| **person == NOBODY).map(|(row, _)| row);
        let nobody: Vec<u32> = nobody.collect();
        // They are dropped or refused; until then their number must be small.
        of_row.iter_mut().filter(|person| **person == NOBODY).for_each(|person| *person = 0);
        Some((People::new(of_row), nobody))
    }
}

fn joined(numbers: &mut Map<(u32, u32), u32>, one: u32, other: u32) -> u32 {
    if one == NOBODY || other == NOBODY {
        return NOBODY;
    }
    let next = numbers.len() as u32;
    *numbers.entry((one, other)).or_insert(next)
}

/// The text of a column in each row, as a number.
fn texts_of_rows(table: &Table, missing: &[String], column: usize) -> Vec<u32> {
    let mut numbers: Map<&str, u32> = Map::default();
    let values = table.values(column);
    let is_missing = |text: &str| missing.iter().any(|marker| marker == text);
    let mut of_entry: Vec<u32> = Vec::with_capacity(values.len());
    for text in values {
        let trimmed = text.trim();
        let next = numbers.len() as u32;
        of_entry.push(match trimmed.is_empty() || is_missing(text) || is_missing(trimmed) {
            true => NOBODY,
            false => *numbers.entry(trimmed).or_insert(next),
        });
    }
    column_codes(table, column, &of_entry, None)
}
