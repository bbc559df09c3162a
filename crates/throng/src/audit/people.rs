//! Whose the rows of a release are, and how many people its classes hold.
//!
//! Rows are shuffled and people are not published, so two files alone seldom tell whose a row is. What is known, from the
//! surest on:
//! - *run*: who writes a release knows it, and tells the audit of that run;
//! - *number*: the release has a number for each person;
//! - *order*: row by row, the table explains the release, as it does where the order was kept;
//! - *bound*: else the audit counts what holds whosever the rows are (`people_matching`). That is valid but may be far
//!   below what the release has, and what is not shown counts as not met.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::people_matching::{Covering, Known, fewest_people};
use super::{Measures, PeopleMeasure, codes_of};
use crate::classes::Classes;
use crate::error::{Error, Result};
use crate::privacy::About;
use crate::problem::Problem;
use crate::published::{Cells, Published, Whose};
use crate::table::{Storage, Table};
use crate::watch::Watch;

/// Whose rows are, and how that is known.
pub(super) struct Found {
    pub whose: Whose,
    known_by: &'static str,
}

/// A release read and taken apart: what cells say, classes, and sensitive codes.
pub(super) type Apart<'a> = (&'a Cells<'a>, &'a Classes, &'a [Vec<u32>]);

/// Finds out whose rows are, where requirements count people. `known` is what the writer of the release says.
pub(super) fn whose(
    problem: &Problem,
    table: &Table,
    known: Option<&[u32]>,
    (cells, classes, codes): Apart<'_>,
    watch: &dyn Watch,
) -> Result<Option<Found>> {
    let Some(people) = &problem.people else { return Ok(None) };
    let rows = |of_row: Vec<u32>, known_by| Some(Found { whose: Whose::Rows(of_row), known_by });
    if let Some(known) = known {
        return match known.len() == table.len() {
            true => Ok(rows(known.to_vec(), "run")),
            false => Err(Error::bug("a release has not as many rows as were written")),
        };
    }
    if let Some(numbers) = numbers(problem, table) {
        return Ok(rows(numbers.to_vec(), "number"));
    }
    let covering = Covering::new(problem, cells, published_as_is(problem, table, codes)?);
    if table.len() == problem.len() && covering.in_order() {
        return Ok(rows(people.of_records().to_vec(), "order"));
    }
    let fewest = fewest_people(people, &covering, classes, watch)?;
    Ok(Some(Found { whose: Whose::AtLeast(fewest), known_by: "bound" }))
}

/// What both the table and the release tell as it is, in codes: sensitive and class attributes.
fn published_as_is<'a>(problem: &'a Problem, table: &Table, codes: &'a [Vec<u32>]) -> Result<Vec<Known<'a>>> {
    let sensitive = problem.sensitive.iter().zip(codes);
    let mut known: Vec<Known<'a>> =
        sensitive.map(|(own, codes)| (&own.codes[..], Cow::Borrowed(&codes[..]))).collect();
    for own in problem.labels.iter().filter(|own| table.names().contains(&own.name)) {
        known.push((&own.codes, Cow::Owned(codes_of(own, table)?)));
    }
    Ok(known)
}

/// The number of each row's person, if it is published.
fn numbers<'a>(problem: &Problem, table: &'a Table) -> Option<&'a [u32]> {
    let name = problem.number_column.as_ref()?;
    let column = table.names().iter().position(|own| own == name)?;
    (table.storage(column) == Storage::Coded).then(|| table.numbers(column))
}

/// Tells what is known of people, and what does not hold.
pub(super) fn measure(measures: &mut Measures, found: &Found, published: &Published<'_>) {
    let Some(people) = &published.data.people else { return };
    let records = people.records_of_each();
    let count = records.iter().filter(|records| **records > 0).count() as u64;
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    published.sizes().for_each(|size| *sizes.entry(size as u64).or_insert(0) += 1);
    let mut told = PeopleMeasure {
        people_in: count,
        people_published: None,
        average_records: people.of_records().len() as f64 / count.max(1) as f64,
        most_records: records.iter().copied().max().unwrap_or(0).into(),
        with_several: records.iter().filter(|records| **records > 1).count() as u64,
        known_by: found.known_by.into(),
        class_sizes: sizes.into_iter().collect(),
        greatest_share: None,
        alike: None,
        followed: None,
    };
    match &found.whose {
        Whose::Rows(of_row) => {
            let rows = rows_of_each(of_row);
            told.people_published = Some(rows.len() as u64);
            told.greatest_share = Some(greatest_share(of_row, published.classes));
            if found.known_by == "number" || published.data.number_column.is_some() {
                let (alike, followed) = followed(of_row, published.classes);
                (told.alike, told.followed) = (Some(alike), Some(followed));
            }
            measures.violations.extend(not_whole(&records, &rows));
        }
        Whose::AtLeast(_) => not_shown(measures),
    }
    measures.people = Some(told);
}

/// How many rows each person of a release has.
fn rows_of_each(of_row: &[u32]) -> BTreeMap<u32, u32> {
    let mut rows = BTreeMap::new();
    of_row.iter().for_each(|person| *rows.entry(*person).or_insert(0) += 1);
    rows
}

/// People are left out whole or not at all. Numbers of a release are not those of the table, so how many have so many
/// records is compared.
fn not_whole(records: &[u32], rows: &BTreeMap<u32, u32>) -> Option<String> {
    let mut there: BTreeMap<u32, i64> = BTreeMap::new();
    records.iter().for_each(|records| *there.entry(*records).or_insert(0) += 1);
    rows.values().for_each(|rows| *there.entry(*rows).or_insert(0) -= 1);
    let short: i64 = there.values().filter(|left| **left < 0).sum();
    (short < 0)
        .then(|| format!("people who have not all of their records in the release, or none: {}", -short))
}

/// The greatest share of the rows of a class that one person has.
fn greatest_share(of_row: &[u32], classes: &Classes) -> f64 {
    let share = |class: usize| {
        let mut people: Vec<u32> = classes.rows(class).iter().map(|row| of_row[*row as usize]).collect();
        people.sort_unstable();
        let most = people.chunk_by(|one, other| one == other).map(<[u32]>::len).max().unwrap_or(0);
        most as f64 / people.len().max(1) as f64
    };
    (0..classes.len()).map(share).fold(0.0, f64::max)
}

/// With a number for each person, a reader sees all classes that a person has rows in: the fewest people who have them all
/// in common, and how many have them for themselves.
fn followed(of_row: &[u32], classes: &Classes) -> (u64, u64) {
    let mut trails: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for class in 0..classes.len() {
        for row in classes.rows(class) {
            trails.entry(of_row[*row as usize]).or_default().push(class as u32);
        }
    }
    let mut alike: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
    trails.into_values().for_each(|trail| *alike.entry(trail).or_insert(0) += 1);
    let fewest = alike.values().copied().min().unwrap_or(0);
    (fewest, alike.values().filter(|people| **people == 1).count() as u64)
}

/// Requirements on how often values occur in classes cannot be bounded without knowing whose rows are.
fn not_shown(measures: &mut Measures) {
    for asked in measures.requirements.iter_mut().filter(|one| one.about == About::Shares) {
        asked.reached = None;
        if asked.holds.is_some() {
            asked.holds = Some(false);
            let violation =
                format!("{} over people cannot be shown: the files do not tell whose a row is", asked.key);
            measures.violations.push(violation.clone());
            asked.violations.push(violation);
        }
    }
    measures.t = None;
}
