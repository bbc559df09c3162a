//! How many people a class has rows of at least, when nobody tells whose they are.
//!
//! Every published row is one record of the table that its cells cover and that has its sensitive and class values. The rows of a
//! class with the same values are a *kind*; a kind of n rows takes n of the records that fit it. Records that fit one kind only, or
//! a kind that as many records fit as it has rows, are sure; what is sure there is gone elsewhere, until nothing changes. What a class
//! still needs may come from few people: those who are there for sure anyway, and then those with most records that fit what is
//! needed of each kind.
//!
//! This is a bound, not the least number, which is a set cover over matchings. It is exact where every record fits one class only,
//! as with recodings that treat equal values alike (full-domain ones, `refine`), if nobody is left out: then all is sure.
//!
//! Cost: records × classes, by attribute until one does not cover; past [`MOST`] pairs, no record is looked at and every
//! record is taken to fit every class.

use std::borrow::Cow;

use crate::classes::Classes;
use crate::error::Result;
use crate::parallel;
use crate::problem::{People, Problem};
use crate::published::Cells;
use crate::table::{Map, Scale};
use crate::watch::Watch;

/// So many pairs of a record and a class are looked at.
const MOST: usize = 400_000_000;
/// So often is looked for what is sure.
const ROUNDS: usize = 30;

/// A column that tells the same of records and of rows: the codes of both.
pub(super) type Known<'a> = (&'a [u32], Cow<'a, [u32]>);

/// Which records the rows of a release may be.
pub(super) struct Covering<'a> {
    problem: &'a Problem,
    cells: &'a Cells<'a>,
    /// What is published as it is.
    known: Vec<Known<'a>>,
    /// For each attribute and distinct cell the first code it covers, the one after the last, and a missing one.
    covered: Vec<Vec<(u32, u32, Option<u32>)>>,
}

impl<'a> Covering<'a> {
    pub fn new(problem: &'a Problem, cells: &'a Cells<'a>, known: Vec<Known<'a>>) -> Self {
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
        Covering { problem, cells, known, covered }
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
        let holds = |at: usize| {
            self.known.iter().all(|(records, rows)| records[at] == rows[at]) && self.covers(at, at)
        };
        !parallel::any(self.problem.len(), 64, |at| !holds(at))
    }

    /// The kinds of rows of each class, and the records that may be among them.
    fn kinds(&self, classes: &Classes) -> Vec<Kind> {
        let of_class = |class: usize| -> Vec<Kind> {
            let values =
                |row: u32| self.known.iter().map(|(_, rows)| rows[row as usize]).collect::<Vec<u32>>();
            let mut places: Map<Vec<u32>, usize> = Map::default();
            let mut kinds: Vec<Kind> = Vec::new();
            for row in classes.rows(class) {
                let at = *places.entry(values(*row)).or_insert(kinds.len());
                if at == kinds.len() {
                    kinds.push(Kind { class: class as u32, size: 0, candidates: Vec::new() });
                }
                kinds[at].size += 1;
            }
            let row = classes.first_row(class);
            for record in (0..self.problem.len()).filter(|record| self.covers(row, *record)) {
                let own: Vec<u32> = self.known.iter().map(|(records, _)| records[record]).collect();
                if let Some(at) = places.get(&own) {
                    kinds[*at].candidates.push(record as u32);
                }
            }
            kinds
        };
        let all: Vec<Vec<Kind>> = parallel::map(0..classes.len(), of_class);
        all.into_iter().flatten().collect()
    }
}

/// For each class how many people it has rows of at least.
pub(super) fn fewest_people(
    people: &People,
    covering: &Covering<'_>,
    classes: &Classes,
    watch: &dyn Watch,
) -> Result<Vec<u32>> {
    let records = covering.problem.len();
    if records.saturating_mul(classes.len()) > MOST {
        let all: Vec<u32> = people.records_of_each();
        return Ok((0..classes.len()).map(|class| take_most(all.clone(), classes.size(class))).collect());
    }
    let mut fits = Fits { kinds: covering.kinds(classes), home: vec![NONE; records] };
    watch.check()?;
    // Where records are left out, one that fits one kind only need not be there.
    let complete = fits.kinds.iter().map(|kind| kind.size).sum::<usize>() == records;
    for _ in 0..ROUNDS {
        watch.check()?;
        if !fits.settle(complete) {
            break;
        }
    }
    let of_class = fits.kinds.chunk_by(|one, other| one.class == other.class);
    let mut starts = vec![0];
    of_class.for_each(|kinds| starts.push(starts[starts.len() - 1] + kinds.len()));
    let fewest = |at: usize| fits.fewest(people, starts[at]..starts[at + 1]);
    Ok(parallel::map(0..starts.len() - 1, fewest))
}

/// Rows of a class that have the same values.
struct Kind {
    class: u32,
    size: usize,
    /// Records that may be among them.
    candidates: Vec<u32>,
}

/// Which records may be of which kind, and which must.
struct Fits {
    /// Class by class.
    kinds: Vec<Kind>,
    /// The kind that a record must be of.
    home: Vec<u32>,
}

/// No kind yet.
const NONE: u32 = u32::MAX;

impl Fits {
    /// Notes what is sure and takes it away elsewhere; tells whether anything changed.
    fn settle(&mut self, complete: bool) -> bool {
        let before = self.home.iter().filter(|home| **home != NONE).count();
        let mut kinds_of = vec![0u32; self.home.len()];
        let all = self.kinds.iter().flat_map(|kind| &kind.candidates);
        all.for_each(|record| kinds_of[*record as usize] += 1);
        for (at, kind) in (0u32..).zip(&self.kinds) {
            let full = kind.candidates.len() == kind.size;
            for record in kind.candidates.iter().map(|record| *record as usize) {
                if self.home[record] == NONE && (full || complete && kinds_of[record] == 1) {
                    self.home[record] = at;
                }
            }
        }
        let mut homed = vec![0usize; self.kinds.len()];
        let homes = self.home.iter().filter(|home| **home != NONE);
        homes.for_each(|home| homed[*home as usize] += 1);
        let home = &self.home;
        for ((at, kind), homed) in (0u32..).zip(&mut self.kinds).zip(&homed) {
            let full = *homed >= kind.size;
            kind.candidates.retain(|record| match home[*record as usize] {
                NONE => !full,
                own => own == at,
            });
        }
        homed.iter().sum::<usize>() > before
    }

    /// The fewest people that the rows of a class may be of, given its kinds.
    fn fewest(&self, people: &People, kinds: std::ops::Range<usize>) -> u32 {
        let is_sure = |record: &&u32| self.home[**record as usize] != NONE;
        let all = || self.kinds[kinds.clone()].iter();
        let sure: Map<u32, ()> = all()
            .flat_map(|kind| &kind.candidates)
            .filter(is_sure)
            .map(|record| (people.of(*record), ()))
            .collect();
        let (mut left, mut others): (usize, Map<u32, usize>) = (0, Map::default());
        for kind in all() {
            let certain = kind.candidates.iter().filter(is_sure).count();
            let maybe =
                || kind.candidates.iter().filter(|record| !is_sure(record)).map(|record| people.of(*record));
            // Those who are there anyway may be all of the rest, as far as they have records that fit.
            let free = maybe().filter(|person| sure.contains_key(person)).count();
            let needed = kind.size.saturating_sub(certain + free);
            let mut own: Map<u32, usize> = Map::default();
            maybe()
                .filter(|person| !sure.contains_key(person))
                .for_each(|person| *own.entry(person).or_default() += 1);
            own.into_iter()
                .for_each(|(person, records)| *others.entry(person).or_default() += records.min(needed));
            left += needed;
        }
        sure.len() as u32 + take_most(others.into_values().map(|records| records as u32).collect(), left)
    }
}

/// How many people it takes at least to have so many records.
fn take_most(mut records: Vec<u32>, mut left: usize) -> u32 {
    records.sort_unstable();
    let mut taken = 0;
    for own in records.into_iter().rev() {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(own as usize);
        taken += 1;
    }
    taken
}
