//! Which combinations of attributes single people out.
//!
//! For every combination of up to three attributes we count the records that are unique on it, by refining
//! partitions: the classes of `{a}` are split by b, those of `{a, b}` by c. Records that are alone already stay
//! alone, so they drop out, and what is left is split class by class with one array of counts. A record is a
//! *minimal* unique on a combination if it is unique on it and on none of its parts.
//!
//! Where the policy says whose records are, people are counted: someone is unique on a combination if a record of theirs has
//! values there that only their own records have.

use serde::{Deserialize, Serialize};

use crate::collections::Arrange;
use crate::data::{Data, People};
use crate::error::Result;
use crate::parallel;
use crate::watch::Watch;

/// Rows visited at most; a size of combinations that would need more is left out.
const BUDGET: u64 = 500_000_000;
/// How many combinations of each size are told; what one size leaves over goes to the next.
const TOLD: [usize; 3] = [3, 3, 4];

/// A combination of attributes on which records are unique.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Combination {
    /// The attributes.
    pub attributes: Vec<String>,
    /// Records that are unique on it; people, where the policy says whose records are.
    pub unique_records: u64,
    /// Their share of all records, or people.
    pub unique_share: f64,
    /// Those that are unique on it but on none of its parts.
    pub minimal_uniques: u64,
}

/// What one attribute adds to the risk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttributeRisk {
    /// The attribute.
    pub attribute: String,
    /// Its distinct values in the table.
    pub distinct: u64,
    /// Records that are unique on it alone; people, where the policy says whose records are.
    pub unique_records: u64,
    /// Minimal uniques, of all combinations searched, that it takes part in.
    pub minimal_uniques: u64,
    /// Their share of all minimal uniques.
    pub minimal_share: f64,
}

/// What the search found.
pub(super) struct Search {
    pub combinations: Vec<Combination>,
    pub attributes: Vec<AttributeRisk>,
    /// Combinations of up to so many attributes were searched.
    pub searched: usize,
}

impl Search {
    /// Tells if larger combinations were left out for lack of time.
    pub fn note(&self, attributes: usize) -> Option<String> {
        (self.searched < attributes.min(TOLD.len())).then(|| {
            format!(
                "the table is large, so only combinations of up to {} of the {attributes} quasi-identifiers were searched",
                self.searched
            )
        })
    }
}

/// Searches all combinations that the budget allows.
pub(super) fn search(data: &Data, columns: &[Vec<u32>], watch: &dyn Watch) -> Result<Search> {
    let domains: Vec<usize> = data.attributes.iter().map(|attribute| attribute.domain.len()).collect();
    let searched = affordable(data.len() as u64, columns.len() as u64);
    let finder = Finder { columns, domains: &domains, rows: data.len(), people: data.people.as_ref(), watch };
    let found = finder.find(searched)?;
    let name = |at: &usize| data.attributes[*at].name.clone();
    let all = data.people.as_ref().map_or(data.len(), People::count) as f64;
    let combination = |found: &Found| Combination {
        attributes: found.attributes.iter().map(name).collect(),
        unique_records: found.unique,
        unique_share: found.unique as f64 / all,
        minimal_uniques: found.minimal,
    };
    Ok(Search {
        combinations: most_telling(&found).into_iter().map(combination).collect(),
        attributes: contributions(data, columns, &found),
        searched,
    })
}

/// The largest size of combinations, at most three, that can be searched within the budget.
fn affordable(rows: u64, attributes: u64) -> usize {
    let pairs = attributes * attributes.saturating_sub(1) / 2;
    let triples = pairs * attributes.saturating_sub(2) / 3;
    let visits = [attributes, 2 * pairs, 2 * pairs + triples];
    let mut spent = 0;
    let affordable = visits.iter().take(attributes as usize).take_while(|visits| {
        spent += rows.saturating_mul(**visits);
        spent <= BUDGET
    });
    affordable.count().max(1)
}

/// One combination and what was counted on it.
pub(super) struct Found {
    pub attributes: Vec<usize>,
    pub unique: u64,
    pub minimal: u64,
}

pub(super) struct Finder<'a> {
    pub columns: &'a [Vec<u32>],
    pub domains: &'a [usize],
    pub rows: usize,
    pub people: Option<&'a People>,
    pub watch: &'a dyn Watch,
}

impl Finder<'_> {
    /// All combinations of up to `size` attributes, smaller ones first, in the order of the attributes.
    pub fn find(&self, size: usize) -> Result<Vec<Found>> {
        let count = self.columns.len();
        self.watch.stage("searching", None);
        let singles: Vec<usize> = (0..count).collect();
        let alone: Vec<Marks> = parallel::map(&singles, |&a| self.marks(&[], a));
        let found = |attributes: Vec<usize>, unique: u64, minimal: u64| Found { attributes, unique, minimal };
        let mut all: Vec<Found> =
            alone.iter().enumerate().map(|(a, marks)| found(vec![a], marks.count(), marks.count())).collect();
        if size < 2 {
            return Ok(all);
        }
        let pairs: Vec<(usize, usize)> =
            (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect();
        let in_pairs: Vec<(Marks, u64)> = parallel::try_map(&pairs, |&(a, b)| {
            self.watch.check()?;
            let fresh = self.marks(&[a], b);
            let minimal = fresh.count_without(&[&alone[a], &alone[b]]);
            Ok((fresh.or(&alone[a]), minimal))
        })?;
        all.extend(
            pairs
                .iter()
                .zip(&in_pairs)
                .map(|(&(a, b), (marks, minimal))| found(vec![a, b], marks.count(), *minimal)),
        );
        if size > 2 {
            all.extend(self.triples(&pairs, &in_pairs)?);
        }
        Ok(all)
    }

    fn triples(&self, pairs: &[(usize, usize)], in_pairs: &[(Marks, u64)]) -> Result<Vec<Found>> {
        let count = self.columns.len();
        // Pairs are listed by their first attribute, then by their second.
        let place = |a: usize, b: usize| a * count - a * (a + 1) / 2 + b - a - 1;
        let extended: Vec<Vec<Found>> = parallel::try_map(pairs, |&(a, b)| {
            self.watch.check()?;
            let partition = self.partition(&[a, b]);
            let of_pair = |a: usize, b: usize| &in_pairs[place(a, b)].0;
            let extend = |c: usize| {
                let fresh = self.split_marks(&partition, c);
                let minimal = fresh.count_without(&[of_pair(a, b), of_pair(a, c), of_pair(b, c)]);
                Found { attributes: vec![a, b, c], unique: fresh.or(of_pair(a, b)).count(), minimal }
            };
            Ok((b + 1..count).map(extend).collect())
        })?;
        Ok(extended.into_iter().flatten().collect())
    }

    /// Rows, or people, that become unique when attribute `next` joins the others.
    fn marks(&self, attributes: &[usize], next: usize) -> Marks {
        self.split_marks(&self.partition(attributes), next)
    }

    fn split_marks(&self, partition: &Partition, next: usize) -> Marks {
        let mut marks = Marks::none(self.people.map_or(self.rows, People::most));
        let whose = |row: u32| self.whose(row);
        partition.each_single(&self.columns[next], self.domains[next], whose, |row| marks.set(whose(row)));
        marks
    }

    /// The person that a row is of; everyone has one row where nobody says.
    fn whose(&self, row: u32) -> u32 {
        self.people.map_or(row, |people| people.of(row))
    }

    fn partition(&self, attributes: &[usize]) -> Partition {
        let whole = Partition { rows: (0..self.rows as u32).collect(), ends: vec![self.rows] };
        let whose = |row: u32| self.whose(row);
        let split = |part: Partition, at: &usize| part.split(&self.columns[*at], self.domains[*at], whose);
        attributes.iter().fold(whole, split)
    }
}

/// Rows in classes, without those that are alone.
struct Partition {
    rows: Vec<u32>,
    ends: Vec<usize>,
}

impl Partition {
    fn classes(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.rows[start..end])
    }

    /// Visits the rows that are alone, or among those of the same person, once classes are split by a column.
    fn each_single(
        &self,
        codes: &[u32],
        domain: usize,
        whose: impl Fn(u32) -> u32,
        mut visit: impl FnMut(u32),
    ) {
        let mut owners = vec![NOBODY; domain];
        for class in self.classes() {
            class.iter().for_each(|row| own(&mut owners[codes[*row as usize] as usize], whose(*row)));
            let alone = class.iter().filter(|row| owners[codes[**row as usize] as usize] != SEVERAL);
            alone.for_each(|row| visit(*row));
            class.iter().for_each(|row| owners[codes[*row as usize] as usize] = NOBODY);
        }
    }

    /// The classes split by a column, again without rows that are alone.
    fn split(&self, codes: &[u32], domain: usize, whose: impl Fn(u32) -> u32) -> Self {
        let mut split = Partition { rows: Vec::with_capacity(self.rows.len()), ends: Vec::new() };
        // First how many rows have a code and whose they are, then where the next of them goes.
        let (mut counts, mut next) = (vec![0usize; domain], vec![usize::MAX; domain]);
        let mut owners = vec![NOBODY; domain];
        for class in self.classes() {
            for &row in class {
                let code = codes[row as usize] as usize;
                counts[code] += 1;
                own(&mut owners[code], whose(row));
            }
            let shared = class.iter().filter(|row| owners[codes[**row as usize] as usize] == SEVERAL);
            let start = split.rows.len();
            split.rows.resize(start + shared.clone().count(), 0);
            let mut free = start;
            for &row in shared {
                let code = codes[row as usize] as usize;
                if next[code] == usize::MAX {
                    next[code] = free;
                    free += counts[code];
                    split.ends.push(free);
                }
                split.rows[next[code]] = row;
                next[code] += 1;
            }
            for &row in class {
                let code = codes[row as usize] as usize;
                (counts[code], next[code], owners[code]) = (0, usize::MAX, NOBODY);
            }
        }
        split
    }
}

/// Whose some rows are: of nobody yet, of one person, or of several.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// One more of the rows is of a person.
#[inline(always)]
fn own(owner: &mut u32, person: u32) {
    *owner = if *owner == NOBODY || *owner == person { person } else { SEVERAL };
}

/// A set of rows or people, one bit each.
struct Marks(Vec<u64>);

impl Marks {
    fn none(rows: usize) -> Self {
        Marks(vec![0; rows.div_ceil(64)])
    }

    fn set(&mut self, row: u32) {
        self.0[row as usize / 64] |= 1 << (row % 64);
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Those that are in none of the others.
    fn count_without(&self, others: &[&Marks]) -> u64 {
        let left = |(at, word): (usize, &u64)| word & !others.iter().fold(0, |all, other| all | other.0[at]);
        self.0.iter().enumerate().map(|word| u64::from(left(word).count_ones())).sum()
    }

    fn or(mut self, other: &Marks) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
        self
    }
}

/// The combinations with the most unique records of each size.
fn most_telling(found: &[Found]) -> Vec<&Found> {
    let mut told = Vec::new();
    let mut room = 0;
    for (size, more) in (1..).zip(TOLD) {
        room += more;
        let mut of_size: Vec<&Found> =
            found.iter().filter(|found| found.attributes.len() == size && found.unique > 0).collect();
        of_size.arrange_by(|one, other| {
            other.unique.cmp(&one.unique).then(one.attributes.cmp(&other.attributes))
        });
        of_size.truncate(room);
        room -= of_size.len();
        told.extend(of_size);
    }
    told
}

fn contributions(data: &Data, columns: &[Vec<u32>], found: &[Found]) -> Vec<AttributeRisk> {
    let all: u64 = found.iter().map(|found| found.minimal).sum();
    let contribution = |at: usize| {
        let with = found.iter().filter(|found| found.attributes.contains(&at));
        let minimal: u64 = with.map(|found| found.minimal).sum();
        AttributeRisk {
            attribute: data.attributes[at].name.clone(),
            distinct: distinct(&columns[at], data.attributes[at].domain.len()),
            unique_records: found
                .iter()
                .find(|found| found.attributes == [at])
                .map_or(0, |found| found.unique),
            minimal_uniques: minimal,
            minimal_share: if all == 0 { 0.0 } else { minimal as f64 / all as f64 },
        }
    };
    let mut attributes: Vec<AttributeRisk> = (0..columns.len()).map(contribution).collect();
    attributes.arrange_by_key(|attribute| std::cmp::Reverse(attribute.minimal_uniques));
    attributes
}

/// Values that occur: a hierarchy may hold more.
fn distinct(codes: &[u32], domain: usize) -> u64 {
    let mut seen = vec![false; domain];
    codes.iter().for_each(|code| seen[*code as usize] = true);
    seen.into_iter().filter(|seen| *seen).count() as u64
}
