//! What the numbers of a release stand for that are published in place of ranges (`--publish midpoints`).
//!
//! A median or mean does not tell the range of its class. What is known of it, from the surest on:
//! - *run*: who writes a release knows it, and tells the audit of that run;
//! - *order*: row by row, the table explains the release, and each number is the median or mean of the records in its place;
//! - *bound*: else a class may hold any record that its other cells cover. The range of those is at least as wide as that of
//!   the class, so the loss is what it is at most.
//!
//! A number outside of that range is nobody's median: it is then read as the value that it is, which the records of its class
//! do not have, so that its rows are not explained. [`impossible`] holds all numbers of a column against the table: whatever
//! the groups are, medians and means of them lie in the middle of it.
//!
//! Cost: O(n log n) for *run* and *order*; records × classes for *bound*, past [`MOST`] of which every record is taken to fit.

use std::borrow::Cow;

use super::meaning::CellReader;
use super::{Columns, Tables, codes_of};
use crate::classes::Classes;
use crate::collections::Map;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::published::{AttributeCells, Cell, Cells, StandsFor};
use crate::release::midpoints::{self, Middle};
use crate::schema::spelling::Measured;
use crate::table::{Domain, Scale};

/// So many pairs of a record and a class are looked at.
const MOST: usize = 200_000_000;

/// Reads the columns that hold numbers in place of ranges, the others being read already.
pub(super) fn fill(
    cells: &mut Cells<'_>,
    problem: &Problem,
    policy: &Policy,
    tables: &Tables<'_>,
    columns: &Columns,
) -> Result<()> {
    let own: Vec<usize> = (0..columns.middles.len()).filter(|at| columns.middles[*at].is_some()).collect();
    if own.is_empty() {
        return Ok(());
    }
    let classes = Classes::group(tables.release, &columns.all());
    let numbers: Vec<Numbers> =
        own.iter().map(|at| Numbers::read(problem, policy, tables, columns, *at)).collect::<Result<_>>()?;
    let (of_class, known_by) = match tables.stands_for {
        Some(known) => (own.iter().map(|at| known_ends(known, &classes, *at)).collect(), "run"),
        None => match in_order(cells, problem, tables, &classes, &numbers)? {
            Some(ends) => (ends, "order"),
            None => (possible_ends(cells, problem, &classes, &own), "bound"),
        },
    };
    let of_rows = classes.of_rows();
    for (numbers, ends) in numbers.iter().zip(of_class) {
        let entries: Vec<u32> =
            (0..classes.len()).map(|class| numbers.of_row[classes.first_row(class)]).collect();
        let mut with_number: Map<u32, Ends> = Map::default();
        for (entry, ends) in entries.iter().zip(&ends) {
            let own = with_number.entry(*entry).or_insert(*ends);
            *own = join(*own, *ends);
        }
        // A number stands for its class, or for all rows that have it where values are published alike.
        let cell = |(entry, ends): (&u32, Ends)| {
            let own = numbers.cell(*entry, ends);
            own.or_else(|| numbers.cell(*entry, with_number[entry]))
                .unwrap_or_else(|| numbers.exactly(*entry))
        };
        let own: Vec<Cell> = entries.iter().zip(ends).map(cell).collect();
        cells.attributes[numbers.at] = AttributeCells { cells: own, of_row: Cow::Owned(of_rows.clone()) };
    }
    cells.stands_by = Some(known_by);
    Ok(())
}

/// Codes, from the lowest to the highest.
type Ends = (u32, u32);

/// A column of numbers in place of ranges.
struct Numbers<'a> {
    at: usize,
    reader: CellReader<'a>,
    domain: &'a Domain,
    middle: Middle,
    decimals: Option<usize>,
    /// Distinct cells as they stand; `None` for those that tell nothing.
    told: Vec<Option<Told>>,
    of_row: &'a [u32],
}

#[derive(Clone, Copy)]
enum Told {
    Number(f64),
    /// A tail, which is told as a range.
    Range(Cell),
}

impl<'a> Numbers<'a> {
    fn read(
        problem: &'a Problem,
        policy: &'a Policy,
        tables: &Tables<'a>,
        columns: &Columns,
        at: usize,
    ) -> Result<Self> {
        let attribute = &problem.attributes[at];
        let (reader, column) = (CellReader::new(attribute, &policy.missing), columns.of_attribute[at][0]);
        let (release, domain) = (tables.release, &attribute.domain);
        let told = |(entry, text): (usize, &&str)| match domain.read(text) {
            _ if reader.tells_nothing(text) => Ok(None),
            Some(number) => Ok(Some(Told::Number(number))),
            None => {
                let cell =
                    reader.read(text).ok_or_else(|| super::meaning::unreadable(release, column, entry, text));
                cell.map(|cell| Some(Told::Range(cell)))
            }
        };
        let told = release.values(column).iter().enumerate().map(told).collect::<Result<_>>()?;
        let middle =
            columns.middles[at].ok_or_else(|| Error::new(ErrorCode::Bug, "a column without numbers"))?;
        let of_row = release.numbers(column);
        let decimals = midpoints::decimals(domain);
        Ok(Numbers { at, reader, domain, middle, decimals, told, of_row })
    }

    /// What a cell says of a class that holds codes between these; nothing if its number does not lie there.
    fn cell(&self, entry: u32, (low, high): Ends) -> Option<Cell> {
        let Scale::Numeric { values, .. } = self.domain.scale() else { return Some(self.reader.anything()) };
        let missing = self.domain.missing();
        match self.told[entry as usize] {
            Some(Told::Range(cell)) => Some(cell),
            None if missing == Some(low) => Some(self.reader.only_missing()),
            None => Some(self.reader.anything()),
            Some(Told::Number(_)) if low > high || missing == Some(low) => None,
            Some(Told::Number(number)) => {
                let wide = match missing == Some(high) {
                    true => self.reader.anything(),
                    false => self.reader.between((values[low as usize], values[high as usize])),
                };
                Some(Cell { number: Some(number), ..wide }).filter(Cell::holds_its_number)
            }
        }
    }

    /// A number that stands for itself.
    fn exactly(&self, entry: u32) -> Cell {
        match self.told[entry as usize] {
            Some(Told::Number(number)) => {
                Cell { number: Some(number), ..self.reader.between((number, number)) }
            }
            _ => self.reader.anything(),
        }
    }

    /// Whether the number of a cell is the middle of records with these codes, as it would be written.
    fn is_middle(&self, entry: u32, mut codes: Vec<u32>) -> bool {
        codes.sort_unstable();
        let (Some(low), Some(high)) = (codes.first().copied(), codes.last().copied()) else { return false };
        match self.told[entry as usize] {
            None => self.domain.missing() == Some(high),
            Some(Told::Range(cell)) => self.reader.read(&self.domain.cell(low, high)) == Some(cell),
            Some(Told::Number(number)) => {
                let written = midpoints::cell(self.domain, &codes, (low, high), self.middle, self.decimals);
                self.domain
                    .read(&written)
                    .is_some_and(|own| (own - number).abs() <= 1e-9 * own.abs().max(1.0))
            }
        }
    }
}

impl Cell {
    /// Whether a number that stands for a range lies within it.
    fn holds_its_number(&self) -> bool {
        self.number.zip(self.range).is_none_or(|(number, (low, high))| low <= number && number <= high)
    }
}

/// The ends of each class as whoever wrote the release knows them; groups with the same numbers are one class.
fn known_ends(known: &StandsFor, classes: &Classes, at: usize) -> Vec<Ends> {
    let of_class = |class: usize| {
        let groups = classes.rows(class).iter().map(|row| known.group_of_row[*row as usize]);
        groups.map(|group| known.ends[at][group as usize]).fold((u32::MAX, 0), join)
    };
    (0..classes.len()).map(of_class).collect()
}

fn join(one: Ends, other: Ends) -> Ends {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The ends of each class where each row is the record in its place, attribute by attribute; nothing if that cannot be.
fn in_order(
    cells: &Cells<'_>,
    problem: &Problem,
    tables: &Tables<'_>,
    classes: &Classes,
    numbers: &[Numbers<'_>],
) -> Result<Option<Vec<Vec<Ends>>>> {
    let release = tables.release;
    if release.len() != problem.len() {
        return Ok(None);
    }
    for own in problem.sensitive.iter().filter(|own| release.names().contains(&own.name)) {
        if codes_of(own, release)? != own.codes {
            return Ok(None);
        }
    }
    let fitting = Fitting::new(cells, problem, numbers.iter().map(|own| own.at).collect());
    if parallel::any(problem.len(), 64, |row| !fitting.fits(row, row)) {
        return Ok(None);
    }
    let of_attribute = |own: &Numbers<'_>| -> Option<Vec<Ends>> {
        let code = |row: &u32| problem.records.code(*row as usize, own.at);
        let mut with_number: Map<u32, Vec<u32>> = Map::default();
        (0..release.len() as u32)
            .for_each(|row| with_number.entry(own.of_row[row as usize]).or_default().push(code(&row)));
        // A number stands for its class, or for all rows that have it where values are published alike.
        let mut alike: Map<u32, bool> = Map::default();
        let of_class = |class: usize| {
            let entry = own.of_row[classes.first_row(class)];
            let codes: Vec<u32> = classes.rows(class).iter().map(code).collect();
            let ends = |codes: &[u32]| codes.iter().map(|code| (*code, *code)).fold((u32::MAX, 0), join);
            let tight = ends(&codes);
            if own.is_middle(entry, codes) {
                return Some(tight);
            }
            let all = &with_number[&entry];
            let holds = *alike.entry(entry).or_insert_with(|| own.is_middle(entry, all.clone()));
            holds.then(|| ends(all))
        };
        (0..classes.len()).map(of_class).collect()
    };
    Ok(numbers.iter().map(of_attribute).collect())
}

/// The ends of the records that may be in each class, attribute by attribute.
fn possible_ends(cells: &Cells<'_>, problem: &Problem, classes: &Classes, own: &[usize]) -> Vec<Vec<Ends>> {
    let all = |at: &usize| (0, problem.attributes[*at].domain.len() as u32 - 1);
    let without_missing = |at: &usize, ends: Ends| match problem.attributes[*at].domain.missing() {
        // A class with a number has none that is missing.
        Some(missing) if ends.1 == missing && ends.0 < missing => (ends.0, missing - 1),
        _ => ends,
    };
    if problem.len().saturating_mul(classes.len()) > MOST || own.len() == problem.attributes.len() {
        return own.iter().map(|at| vec![without_missing(at, all(at)); classes.len()]).collect();
    }
    let fitting = Fitting::new(cells, problem, own.to_vec());
    let of_class = |class: usize| -> Vec<Ends> {
        let row = classes.first_row(class);
        let mut ends = vec![(u32::MAX, 0); own.len()];
        for record in (0..problem.len()).filter(|record| fitting.fits(row, *record)) {
            for (at, ends) in own.iter().zip(&mut ends) {
                let code = problem.records.code(record, *at);
                if problem.attributes[*at].domain.missing() != Some(code) {
                    *ends = join(*ends, (code, code));
                }
            }
        }
        ends
    };
    let of_classes: Vec<Vec<Ends>> = parallel::map(0..classes.len(), of_class);
    (0..own.len()).map(|nth| of_classes.iter().map(|ends| ends[nth]).collect()).collect()
}

/// Which records the other cells of a row cover.
struct Fitting<'a> {
    problem: &'a Problem,
    cells: &'a Cells<'a>,
    others: Vec<usize>,
}

impl<'a> Fitting<'a> {
    #[allow(clippy::needless_pass_by_value, reason = "a list is made for this call alone")]
    fn new(cells: &'a Cells<'a>, problem: &'a Problem, without: Vec<usize>) -> Self {
        let others = (0..problem.attributes.len()).filter(|at| !without.contains(at)).collect();
        Fitting { problem, cells, others }
    }

    fn fits(&self, row: usize, record: usize) -> bool {
        self.others.iter().all(|at| {
            let code = self.problem.records.code(record, *at);
            super::masked_truth::covers(&self.problem.attributes[*at].domain, self.cells.cell(*at, row), code)
        })
    }
}

/// Whether no groups of the table's records at all have the medians or means of a column. Of means, the n greatest sum up to
/// no more than the n greatest values, and the n least to no less than the n least (Hardy, Littlewood and Pólya 1929); above
/// a median lies half of its group, and below it half.
pub(super) fn impossible(problem: &Problem, cells: &Cells<'_>, at: usize, middle: Middle) -> bool {
    let domain = &problem.attributes[at].domain;
    let Scale::Numeric { values, spelling } = domain.scale() else { return false };
    let (own, of_row) = cells.of_attribute(at);
    let mut published: Vec<f64> = of_row.iter().filter_map(|cell| own[*cell as usize].number).collect();
    let codes = (0..problem.len()).map(|record| problem.records.code(record, at) as usize);
    let mut there: Vec<f64> = codes.filter_map(|code| values.get(code).copied()).collect();
    published.sort_unstable_by(f64::total_cmp);
    there.sort_unstable_by(f64::total_cmp);
    if published.len() > there.len() {
        return true;
    }
    // Dates and times are rounded down to what they are spelt with, numbers to a digit more than the table has.
    let widest = there.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let rounding = midpoints::decimals(domain).map_or(0.0, |digits| 0.5 * 10f64.powi(-(digits as i32)));
    let slack = match spelling.measured() {
        Measured::Numbers => rounding + 1e-9 * widest,
        Measured::Dates | Measured::Times => spelling.rounding(),
    };
    match middle {
        Middle::Mean => {
            let beyond = |published: &mut dyn Iterator<Item = f64>, there: &mut dyn Iterator<Item = f64>| {
                let mut rest = 0.0;
                published.zip(there).any(|(number, value)| {
                    rest += value - number + slack;
                    rest < 0.0
                })
            };
            beyond(&mut published.iter().rev().copied(), &mut there.iter().rev().copied())
                || beyond(&mut published.iter().map(|one| -one), &mut there.iter().map(|one| -one))
        }
        Middle::Median => {
            let short = |above: usize, numbers: usize| 2 * above < numbers;
            published.iter().any(|number| {
                let above = there.len() - there.partition_point(|value| *value < number - slack);
                let below = there.partition_point(|value| *value <= number + slack);
                let numbers_above = published.len() - published.partition_point(|other| other < number);
                let numbers_below = published.partition_point(|other| other <= number);
                short(above, numbers_above) || short(below, numbers_below)
            })
        }
    }
}
