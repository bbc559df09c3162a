//! Re-identification risk of a table as it stands.
//!
//! Records are grouped by equal quasi-identifiers; a class of f records in the table stands for F in the
//! population. A *prosecutor* knows that a person is in the table and finds the record with probability 1/f; a
//! *journalist* knows only the population and finds it with probability 1/F; a *marketer* links every record and
//! is right for Σ f/F of them. Terms follow El Emam and Dankar, "Protecting Privacy Using k-Anonymity", JAMIA 2008;
//! minimal sample uniques follow Elliot, Manning and Ford, "A Computational Algorithm for Handling the Special
//! Uniques Problem", 2002, up to combinations of three attributes.
//!
//! Cost: one pass with hashing for the classes, and about one pass without for each combination searched.

mod combinations;
pub(crate) mod population;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

pub use combinations::{AttributeRisk, Combination};
pub use population::{open as open_population, read as read_population};

use crate::classes::Classes;
use crate::error::{Error, ErrorCode, Result};
use crate::problem::{Code, Problem};
use crate::table::Table;
use crate::watch::Watch;
use crate::with_matrix;

/// What is known of the population that the table was drawn from.
#[derive(Clone, Copy, Debug)]
pub enum Background<'a> {
    /// Nothing: the table is taken to be the whole population.
    Itself,
    /// Its records.
    Population(&'a Table),
    /// The share of it that is in the table.
    Fraction(f64),
}

/// The risk of a table. Field names are the keys of the JSON output.
///
/// ```
/// use throng::{Data, Policy, Risk, RiskReport};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let report: RiskReport = Risk::new(&policy).read(Data::csv("age\n31\n31\n56\n")).run()?;
/// assert_eq!((report.rows, report.k, report.prosecutor.highest), (3, 1, 1.0));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Risk {
    /// Records that took part.
    pub rows: u64,
    /// Records left out because the policy drops incomplete ones.
    pub rows_dropped: u64,
    /// Names of the quasi-identifiers.
    pub quasi: Vec<String>,
    /// Distinct combinations of quasi-identifiers.
    pub classes: u64,
    /// Size of the smallest class.
    pub k: u64,
    /// Records that are alone in their class.
    pub unique_records: u64,
    /// Their share of all records.
    pub unique_share: f64,
    /// To someone who knows that a person is in the table.
    pub prosecutor: Chances,
    /// To someone who knows only that a person is in the population.
    pub journalist: Chances,
    /// What the journalist's chances were computed from: `population`, `estimate` or `table`.
    pub basis: Cow<'static, str>,
    /// Records of the population, where it was given.
    pub population_rows: Option<u64>,
    /// The sampling fraction, where it was given.
    pub fraction: Option<f64>,
    /// The smallest number of people in the population that share the values of a record.
    pub k_map: f64,
    /// How many classes have fewer people in the population than a threshold.
    pub k_map_below: Vec<Below>,
    /// Expected share of records that someone who links all of them finds.
    pub marketer: f64,
    /// Classes and records by the size of the class.
    pub class_sizes: Vec<Band>,
    /// Up to ten combinations on which most records are unique, smaller combinations first.
    pub combinations: Vec<Combination>,
    /// What each quasi-identifier adds to the risk, greatest first.
    pub attributes: Vec<AttributeRisk>,
    /// Combinations of up to so many attributes were searched.
    pub searched: usize,
    /// What else a reader should know, one sentence each.
    pub notes: Vec<String>,
}

/// The chances to find the record of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chances {
    /// The greatest of all records.
    pub highest: f64,
    /// The mean over records.
    pub average: f64,
    /// Share of records with a chance above 1 in 5.
    pub above_1_in_5: f64,
    /// Share of records with a chance above 1 in 20.
    pub above_1_in_20: f64,
}

/// Classes below a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Below {
    /// The threshold.
    pub below: u64,
    /// Classes with fewer people in the population.
    pub classes: u64,
    /// Their records in the table.
    pub records: u64,
}

/// Classes of similar size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Band {
    /// The smallest size.
    pub from: u64,
    /// The largest size; open for the last band.
    pub to: Option<u64>,
    /// Number of classes.
    pub classes: u64,
    /// Their records.
    pub records: u64,
}

const BANDS: [(u64, Option<u64>); 7] =
    [(1, Some(1)), (2, Some(2)), (3, Some(4)), (5, Some(9)), (10, Some(19)), (20, Some(49)), (50, None)];
const K_MAP_BELOW: [u64; 4] = [2, 3, 5, 10];

/// One class: its records in the table, and its people in the population (which may be an estimate).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Class {
    sample: u64,
    population: f64,
}

/// Measures the risk of a problem's table. `missing` are the policy's markers, used to read a population.
pub fn measure(
    problem: &Problem,
    missing: &[String],
    background: Background<'_>,
    watch: &dyn Watch,
) -> Result<Risk> {
    if let Background::Fraction(fraction) = background {
        check_fraction(Some(fraction))?;
    }
    watch.stage("grouping", None);
    let columns = columns(problem);
    let mut notes = Vec::new();
    let classes = match background {
        Background::Itself => sample_classes(&columns, problem.len(), 1.0),
        Background::Fraction(fraction) => sample_classes(&columns, problem.len(), fraction),
        Background::Population(table) => population::classes(
            problem,
            &columns,
            &population::codes(&problem.attributes, table, missing),
            table,
            &mut notes,
        ),
    };
    watch.check()?;
    let search = combinations::search(problem, &columns, watch)?;
    notes.extend(search.note(problem.attributes.len()));
    let mut risk = summarize(problem, &classes, background);
    risk.combinations = search.combinations;
    risk.attributes = search.attributes;
    risk.searched = search.searched;
    risk.notes = notes;
    Ok(risk)
}

/// A share of the population must be one.
pub fn check_fraction(fraction: Option<f64>) -> Result<()> {
    match fraction {
        Some(fraction) if !(fraction > 0.0 && fraction <= 1.0) => Err(Error::new(
            ErrorCode::BadValue,
            format!("the fraction must be above 0 and at most 1, found {fraction}"),
        )
        .with_hint("it is the share of the population that is in the table, for example 0.01")),
        _ => Ok(()),
    }
}

/// The codes of each quasi-identifier.
fn columns(problem: &Problem) -> Vec<Vec<u32>> {
    let code =
        |row: usize, at: usize| with_matrix!(&problem.records, matrix => matrix.get(row, at).index() as u32);
    let column = |at: usize| (0..problem.len()).map(|row| code(row, at)).collect();
    (0..problem.attributes.len()).into_par_iter().map(column).collect()
}

fn sample_classes(columns: &[Vec<u32>], rows: usize, fraction: f64) -> Vec<Class> {
    let classes = Classes::group_numbers(columns, rows);
    let class = |at: usize| {
        let sample = classes.size(at) as u64;
        Class { sample, population: sample as f64 / fraction }
    };
    (0..classes.len()).map(class).collect()
}

fn summarize(problem: &Problem, classes: &[Class], background: Background<'_>) -> Risk {
    let rows = problem.len() as u64;
    let unique = classes.iter().filter(|class| class.sample == 1).count() as u64;
    let journalist = chances(classes, rows, |class| class.population);
    let (basis, population_rows, fraction) = match background {
        Background::Itself => ("table", None, None),
        Background::Population(table) => ("population", Some(table.len() as u64), None),
        Background::Fraction(fraction) => ("estimate", None, Some(fraction)),
    };
    Risk {
        rows,
        rows_dropped: problem.dropped as u64,
        quasi: problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
        classes: classes.len() as u64,
        k: classes.iter().map(|class| class.sample).min().unwrap_or(0),
        unique_records: unique,
        unique_share: unique as f64 / rows as f64,
        prosecutor: chances(classes, rows, |class| class.sample as f64),
        marketer: journalist.average,
        journalist,
        basis: basis.into(),
        population_rows,
        fraction,
        k_map: classes.iter().map(|class| class.population).fold(f64::INFINITY, f64::min),
        k_map_below: K_MAP_BELOW.iter().map(|below| below_threshold(classes, *below)).collect(),
        class_sizes: BANDS.iter().map(|band| in_band(classes, *band)).collect(),
        combinations: Vec::new(),
        attributes: Vec::new(),
        searched: 0,
        notes: Vec::new(),
    }
}

fn chances(classes: &[Class], rows: u64, size: impl Fn(&Class) -> f64) -> Chances {
    let rows = rows as f64;
    let smaller_than = |least: f64| {
        let small = classes.iter().filter(|class| size(class) < least);
        small.map(|class| class.sample).sum::<u64>() as f64 / rows
    };
    Chances {
        highest: classes.iter().map(|class| 1.0 / size(class)).fold(0.0, f64::max),
        average: classes.iter().map(|class| class.sample as f64 / size(class)).sum::<f64>() / rows,
        above_1_in_5: smaller_than(5.0),
        above_1_in_20: smaller_than(20.0),
    }
}

fn below_threshold(classes: &[Class], below: u64) -> Below {
    let (mut count, mut records) = (0, 0);
    for class in classes.iter().filter(|class| class.population < below as f64) {
        count += 1;
        records += class.sample;
    }
    Below { below, classes: count, records }
}

fn in_band(classes: &[Class], (from, to): (u64, Option<u64>)) -> Band {
    let inside = |class: &&Class| class.sample >= from && to.is_none_or(|to| class.sample <= to);
    let sizes: Vec<u64> = classes.iter().filter(inside).map(|class| class.sample).collect();
    Band { from, to, classes: sizes.len() as u64, records: sizes.iter().sum() }
}
