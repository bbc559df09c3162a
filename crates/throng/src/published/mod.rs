//! A release as its readers see it: rows in classes of equal cells, and what the cells say.
//!
//! The audit reads it from a file; requirements are measured on it and on nothing else, so that no method is trusted.

mod as_is;

use std::borrow::Cow;

use crate::classes::Classes;
use crate::data::{Data, Protected};
use crate::histogram::Histogram;
use crate::parallel;
use crate::rules::Rules;
use crate::table::Table;

pub use as_is::{AsIsColumn, Looks, PublishedAsIs};

/// What one cell says of its attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Its penalty, 0 … 1, unweighted.
    pub ncp: f64,
    /// Whether it stands for one value.
    pub single: bool,
    /// The numbers it covers, for numeric attributes; a half-open range up to the last number of the table that it covers,
    /// as its loss is measured.
    pub range: Option<(f64, f64)>,
    /// The number that a half-open range ends before.
    pub ends_before: Option<f64>,
    /// The leaves it covers, for categories.
    pub leaves: (u32, u32),
    /// Whether it may stand for a missing value.
    pub missing: bool,
    /// The number that is published in place of a range; the range is then what is known of its class.
    pub number: Option<f64>,
}

impl Cell {
    /// The numbers that its readers see: a single one, or the ends of a range.
    pub fn shown(&self) -> Option<(f64, f64)> {
        self.number.map(|number| (number, number)).or(self.range)
    }

    /// The lowest and highest number that it covers as a reader understands it: `[60-70)` covers all numbers from 60 up to 70,
    /// whether the table has them or not.
    pub fn numbers(&self) -> Option<(f64, f64)> {
        let (low, high) = self.range?;
        Some((low, self.ends_before.map_or(high, f64::next_down)))
    }
}

/// What the cells of a release say of each quasi-identifier.
pub struct Cells<'a> {
    pub(crate) attributes: Vec<AttributeCells<'a>>,
    /// Where numbers are published in place of ranges, how it is known what they stand for.
    pub(crate) stands_by: Option<&'static str>,
}

pub(crate) struct AttributeCells<'a> {
    /// Meaning of each distinct cell, or pair of cells where bounds were published.
    pub cells: Vec<Cell>,
    pub of_row: Cow<'a, [u32]>,
}

impl Cells<'_> {
    /// What the cell of an attribute in a row of the release says.
    pub fn cell(&self, attribute: usize, row: usize) -> &Cell {
        let cells = &self.attributes[attribute];
        &cells.cells[cells.of_row[row] as usize]
    }

    /// The distinct cells of an attribute, and which of them each row has.
    pub fn of_attribute(&self, attribute: usize) -> (&[Cell], &[u32]) {
        let cells = &self.attributes[attribute];
        (&cells.cells, &cells.of_row)
    }
}

/// What the numbers of a release stand for that are published in place of ranges, as whoever wrote it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandsFor {
    /// The group of each row.
    pub group_of_row: Vec<u32>,
    /// For each attribute the lowest and highest code of each group.
    pub ends: Vec<Vec<(u32, u32)>>,
}

/// Whose the rows of a release are.
#[derive(Clone, Debug)]
pub enum Whose {
    /// The person of each row.
    Rows(Vec<u32>),
    /// Nobody can tell, but each class has rows of so many people at least.
    AtLeast(Vec<u32>),
}

/// A release, ready to be measured.
pub struct Published<'a> {
    /// The table under its policy.
    pub data: &'a Data,
    /// What should stay apart in it, and what must.
    pub rules: &'a Rules,
    /// The release.
    pub(crate) table: &'a Table,
    /// The release's columns of each quasi-identifier: one, or two where bounds were published.
    pub(crate) columns: &'a [Vec<usize>],
    /// What its cells say.
    pub cells: &'a Cells<'a>,
    /// Cells read as missing.
    pub missing: &'a [String],
    /// Its rows in classes; by group where it was published by permutation.
    pub(crate) classes: &'a Classes,
    /// Whose its rows are, where requirements count people.
    pub whose: Option<&'a Whose>,
    /// The sensitive values of each row, for each sensitive attribute.
    pub sensitive: &'a [Vec<u32>],
    /// Records of the problem that are not in it.
    pub suppressed: u64,
    /// Its global certainty penalty.
    pub gcp: f64,
    /// The greatest penalty of a class, as a share of the sum of the weights.
    pub greatest_loss: f64,
}

impl Published<'_> {
    /// What is counted, in a word.
    pub fn counted(&self) -> &'static str {
        if self.whose.is_some() { "people" } else { "records" }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.table.len()
    }

    /// The number of people of each class, or of its records where each is for itself.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.classes.len()).map(|class| match self.whose {
            None => self.classes.size(class),
            Some(Whose::Rows(of_row)) => different(of_row, self.classes.rows(class)),
            Some(Whose::AtLeast(people)) => people[class] as usize,
        })
    }

    /// The number of records of each class.
    pub fn rows_of_classes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.classes.len()).map(|class| self.classes.size(class))
    }

    /// The cell of an attribute in each class.
    pub fn cells_of(&self, attribute: usize) -> impl Iterator<Item = &Cell> + '_ {
        (0..self.classes.len()).map(move |class| self.cells.cell(attribute, self.classes.first_row(class)))
    }

    /// The fewest people, or rows where each is for itself, that share the cells of some quasi-identifiers.
    pub fn smallest_on(&self, names: &[String]) -> usize {
        let attributes = self.data.attributes.iter().zip(self.columns);
        let own = attributes.filter(|(attribute, _)| names.contains(&attribute.name));
        let columns: Vec<usize> = own.flat_map(|(_, columns)| columns.iter().copied()).collect();
        let classes = Classes::group(self.table, &columns);
        match self.whose {
            None => classes.smallest(),
            Some(Whose::Rows(of_row)) => {
                let people = |class: usize| different(of_row, classes.rows(class));
                (0..classes.len()).map(people).min().unwrap_or(0)
            }
            Some(Whose::AtLeast(people)) => self.fewest_of_whole_classes(people, &classes),
        }
    }

    /// Where rows share the cells of some quasi-identifiers they are whole classes, and have the people of each.
    fn fewest_of_whole_classes(&self, people: &[u32], wider: &Classes) -> usize {
        let mut of_row = vec![0; self.table.len()];
        for (class, people) in people.iter().enumerate() {
            self.classes.rows(class).iter().for_each(|row| of_row[*row as usize] = *people);
        }
        let most = |class: usize| wider.rows(class).iter().map(|row| of_row[*row as usize]).max();
        (0..wider.len()).filter_map(most).min().unwrap_or(0) as usize
    }

    /// A row of each combination of cells in all quasi-identifiers.
    pub fn distinct_rows(&self) -> Vec<usize> {
        let classes = Classes::group(self.table, &self.columns.concat());
        (0..classes.len()).map(|class| classes.first_row(class)).collect()
    }

    /// Looks at the sensitive values of every class; `and` joins what was found, in any order.
    pub fn over_classes<T: Copy + Send + Sync>(
        &self,
        sensitive: usize,
        none: T,
        of: impl Fn(&Histogram) -> T + Sync,
        and: impl Fn(T, T) -> T + Sync,
    ) -> T {
        let codes = &self.sensitive[sensitive];
        let values = self.data.sensitive[sensitive].domain.len();
        let of_some = parallel::ranges(self.classes.len(), 64, |classes| {
            let mut histogram = Histogram::new(values);
            let mut found = none;
            for class in classes {
                histogram.clear();
                self.count(class, codes, &mut histogram);
                found = and(found, of(&histogram));
            }
            found
        });
        of_some.into_iter().fold(none, and)
    }

    /// Counts the values of a class; of each person every different one once. Where nobody can tell whose rows are, a value
    /// may be of as many people as it has rows.
    fn count(&self, class: usize, codes: &[u32], histogram: &mut Histogram) {
        let rows = self.classes.rows(class);
        let Some(Whose::Rows(of_row)) = self.whose else {
            rows.iter().for_each(|row| histogram.add(codes[*row as usize]));
            if let Some(Whose::AtLeast(people)) = self.whose {
                histogram.set_people(u64::from(people[class]));
            }
            return;
        };
        let pair = |row: &u32| (of_row[*row as usize], codes[*row as usize]);
        let mut pairs: Vec<(u32, u32)> = rows.iter().map(pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.iter().for_each(|(_, value)| histogram.add(*value));
        histogram.set_people(pairs.chunk_by(|one, other| one.0 == other.0).count() as u64);
    }

    /// How often each of some codes occurs in each class, and the class of each row.
    pub fn counts_by_class(&self, codes: &[u32]) -> (Vec<u32>, Vec<Vec<(u32, u64)>>) {
        let of_class = |class: usize| {
            let mut own: Vec<u32> = self.classes.rows(class).iter().map(|row| codes[*row as usize]).collect();
            own.sort_unstable();
            own.chunk_by(|one, other| one == other).map(|run| (run[0], run.len() as u64)).collect()
        };
        (self.classes.of_rows(), (0..self.classes.len()).map(of_class).collect())
    }

    /// The codes of each class attribute in each row; nothing of one that is not published, or has other values.
    pub fn labels(&self) -> Vec<Option<Vec<u32>>> {
        let of = |own: &Protected| {
            let column = self.table.names().iter().position(|name| *name == own.name)?;
            let texts = self.table.values(column);
            let codes: Vec<u32> = texts.iter().map(|text| own.domain.code(text)).collect::<Option<_>>()?;
            Some(self.table.numbers(column).iter().map(|number| codes[*number as usize]).collect())
        };
        self.data.labels.iter().map(of).collect()
    }

    /// The greatest distance of a class in each sensitive attribute, with the attribute's name. `distance` gets the
    /// place of the attribute.
    pub fn farthest(&self, distance: impl Fn(usize, &Histogram) -> f64 + Sync) -> Vec<(&str, f64)> {
        let attributes = self.data.sensitive.iter().enumerate();
        let farthest = |at: usize| self.over_classes(at, 0.0, |counts| distance(at, counts), f64::max);
        attributes.map(|(at, counted)| (counted.name.as_str(), farthest(at))).collect()
    }
}

/// How many different people some rows are of.
fn different(of_row: &[u32], rows: &[u32]) -> usize {
    let mut people: Vec<u32> = rows.iter().map(|row| of_row[*row as usize]).collect();
    people.sort_unstable();
    people.dedup();
    people.len()
}
