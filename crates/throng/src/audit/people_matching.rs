//! How many people a class has rows of at least, when nobody tells whose they are.
//!
//! Every published row is one record of the table that its cells cover and that has its sensitive values. A class of n rows
//! may take its records from few people, as far as the table lets it: the n rows that belong to the fewest people are those
//! of the people with most records that fit. Records that fit one class only, or a class that as many records fit as it has
//! rows, are sure; what is sure there is gone elsewhere, until nothing changes. This is a bound, not the least number, which
//! is a set cover over matchings; where classes do not overlap it is exact.
//!
//! Cost: records × classes, by attribute until one does not cover; past [`MOST`] pairs, no record is looked at and every
//! record is taken to fit every class.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::classes::Classes;
use crate::error::Result;
use crate::problem::{People, Problem};
use crate::published::Cells;
use crate::table::{Map, Scale};
use crate::watch::Watch;

/// So many pairs of a record and a class are looked at.
const MOST: usize = 400_000_000;
/// So often is looked for what is sure.
const ROUNDS: usize = 30;

/// Which records the rows of a release may be.
pub(super) struct Covering<'a> {
    problem: &'a Problem,
    cells: &'a Cells<'a>,
    /// The sensitive codes of each row.
    codes: &'a [Vec<u32>],
    /// For each attribute and distinct cell the first code it covers, the one after the last, and a missing one.
    covered: Vec<Vec<(u32, u32, Option<u32>)>>,
}

impl<'a> Covering<'a> {
    pub fn new(problem: &'a Problem, cells: &'a Cells<'a>, codes: &'a [Vec<u32>]) -> Self {
        let of_attribute = |at: usize| {
            let domain = &problem.attributes[at].domain;
            let code = |cell: &crate::published::Cell| match domain.scale() {
                Scale::Categorical(_) => (cell.leaves.0, cell.leaves.1, None),
                Scale::Numeric { values, .. } => {
                    let (low, high) = cell.range.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
                    let first = values.partition_point(|value| *value < low) as u32;
                    let end = values.partition_point(|value| *value <= high) as u32;
                    (first, end, domain.missing().filter(|_| cell.missing))
                }
            };
            cells.of_attribute(at).0.iter().map(code).collect()
        };
        let covered = (0..problem.attributes.len()).map(of_attribute).collect();
        Covering { problem, cells, codes, covered }
    }

    /// Whether the cells of a row cover a record.
    fn covers(&self, row: usize, record: usize) -> bool {
        self.covered.iter().enumerate().all(|(at, covered)| {
            let (first, end, missing) = covered[self.cells.of_attribute(at).1[row] as usize];
            let code = self.problem.records.code(record, at);
            first <= code && code < end || missing == Some(code)
        })
    }

    /// Whether each row may be the record at its place.
    pub fn in_order(&self) -> bool {
        (0..self.problem.len()).into_par_iter().all(|at| {
            let mut sensitive = self.problem.sensitive.iter().zip(self.codes);
            sensitive.all(|(own, codes)| own.codes[at] == codes[at]) && self.covers(at, at)
        })
    }

    /// The records that may be among the rows of each class.
    fn candidates(&self, classes: &Classes) -> Vec<Vec<u32>> {
        let of_class = |class: usize| -> Vec<u32> {
            let values = |row: &u32| self.codes.iter().map(|codes| codes[*row as usize]).collect();
            let there: Map<Vec<u32>, ()> = classes.rows(class).iter().map(|row| (values(row), ())).collect();
            let has = |record: &usize| {
                let own: Vec<u32> =
                    self.problem.sensitive.iter().map(|counted| counted.codes[*record]).collect();
                there.contains_key(&own)
            };
            let row = classes.first_row(class);
            let fitting = (0..self.problem.len()).filter(|record| self.covers(row, *record));
            fitting.filter(has).map(|record| record as u32).collect()
        };
        (0..classes.len()).into_par_iter().map(of_class).collect()
    }
}

/// For each class how many people it has rows of at least.
pub(super) fn fewest_people(
    people: &People,
    covering: &Covering<'_>,
    classes: &Classes,
    watch: &dyn Watch,
) -> Result<Vec<u32>> {
    let sizes: Vec<usize> = (0..classes.len()).map(|class| classes.size(class)).collect();
    let records = covering.problem.len();
    if records.saturating_mul(classes.len()) > MOST {
        let all: Vec<u32> = people.records_of_each();
        return Ok(sizes.iter().map(|size| take_most(all.clone(), *size)).collect());
    }
    let mut fits = Fits { candidates: covering.candidates(classes), sizes, home: vec![NONE; records] };
    watch.check()?;
    // Where records are left out, one that fits one class only need not be there.
    let complete = fits.sizes.iter().sum::<usize>() == records;
    for _ in 0..ROUNDS {
        watch.check()?;
        if !fits.settle(complete) {
            break;
        }
    }
    Ok((0..fits.sizes.len()).into_par_iter().map(|class| fits.fewest(people, class)).collect())
}

/// Which records may be in which class, and which must.
struct Fits {
    candidates: Vec<Vec<u32>>,
    sizes: Vec<usize>,
    /// The class that a record must be in.
    home: Vec<u32>,
}

/// No class yet.
const NONE: u32 = u32::MAX;

impl Fits {
    /// Notes what is sure and takes it away elsewhere; tells whether anything changed.
    fn settle(&mut self, complete: bool) -> bool {
        let before = self.home.iter().filter(|home| **home != NONE).count();
        let mut classes_of = vec![0u32; self.home.len()];
        self.candidates.iter().flatten().for_each(|record| classes_of[*record as usize] += 1);
        for (class, candidates) in (0u32..).zip(&self.candidates) {
            let all = candidates.len() == self.sizes[class as usize];
            for record in candidates.iter().map(|record| *record as usize) {
                if self.home[record] == NONE && (all || complete && classes_of[record] == 1) {
                    self.home[record] = class;
                }
            }
        }
        let mut homed = vec![0usize; self.sizes.len()];
        let homes = self.home.iter().filter(|home| **home != NONE);
        homes.for_each(|home| homed[*home as usize] += 1);
        let (home, sizes) = (&self.home, &self.sizes);
        for (class, candidates) in (0u32..).zip(&mut self.candidates) {
            let full = homed[class as usize] >= sizes[class as usize];
            candidates.retain(|record| match home[*record as usize] {
                NONE => !full,
                own => own == class,
            });
        }
        homed.iter().sum::<usize>() > before
    }

    /// The fewest people that the rows of a class may be of.
    fn fewest(&self, people: &People, class: usize) -> u32 {
        let (mut sure, mut maybe): (Map<u32, u32>, Map<u32, u32>) = (Map::default(), Map::default());
        for record in &self.candidates[class] {
            let own = if self.home[*record as usize] == NONE { &mut maybe } else { &mut sure };
            *own.entry(people.of(*record)).or_insert(0) += 1;
        }
        let certain: usize = sure.values().map(|records| *records as usize).sum();
        let free = maybe.iter().filter(|(person, _)| sure.contains_key(person));
        let free: usize = free.map(|(_, records)| *records as usize).sum();
        let left = self.sizes[class].saturating_sub(certain + free);
        let others = maybe.iter().filter(|(person, _)| !sure.contains_key(person));
        sure.len() as u32 + take_most(others.map(|(_, records)| *records).collect(), left)
    }
}

/// How many people it takes at least to have so many records.
fn take_most(mut records: Vec<u32>, mut left: usize) -> u32 {
    records.sort_unstable_by(|a, b| b.cmp(a));
    let mut taken = 0;
    for own in records {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(own as usize);
        taken += 1;
    }
    taken
}
