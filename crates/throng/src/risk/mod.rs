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
mod people;
pub(crate) mod population;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use combinations::{AttributeRisk, Combination};
pub use people::PeopleRisk;
pub use population::{open as open_population, read as read_population};

use crate::classes::Classes;
use crate::data::{Code, Data};
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::published::PublishedAsIs;
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
    /// Size of the smallest class: its people, where the policy says whose records are.
    pub k: u64,
    /// People and their records, where the policy says whose they are; all chances are then those of people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleRisk>,
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
    /// What would be published beside the quasi-identifiers, where the table itself was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_as_is: Option<PublishedAsIs>,
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

/// One class: its records in the table, the people they are of (as many, where each is for itself), and its people in the
/// population (which may be an estimate).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Class {
    records: u64,
    sample: u64,
    population: f64,
}

/// The classes of a table, and that of each record.
struct Grouped {
    classes: Vec<Class>,
    of_record: Vec<u32>,
}

/// Measures the risk of a problem's table. `missing` are the policy's markers, used to read a population.
pub fn measure(
    data: &Data,
    missing: &[String],
    background: Background<'_>,
    watch: &dyn Watch,
) -> Result<Risk> {
    if let Background::Fraction(fraction) = background {
        check_fraction(Some(fraction))?;
    }
    watch.stage("grouping", None);
    let columns = columns(data);
    let mut notes = Vec::new();
    let classes = match background {
        Background::Itself => sample_classes(data, &columns, 1.0),
        Background::Fraction(fraction) => sample_classes(data, &columns, fraction),
        Background::Population(table) => population::classes(
            data,
            &columns,
            &population::codes(&data.attributes, table, missing),
            table,
            &mut notes,
        ),
    };
    watch.check()?;
    let search = combinations::search(data, &columns, watch)?;
    notes.extend(search.note(data.attributes.len()));
    let mut risk = summarize(data, &classes, background);
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
pub(crate) fn columns(data: &Data) -> Vec<Vec<u32>> {
    let code =
        |row: usize, at: usize| with_matrix!(&data.records, matrix => matrix.get(row, at).index() as u32);
    let column = |at: usize| (0..data.len()).map(|row| code(row, at)).collect();
    parallel::map(0..data.attributes.len(), column)
}

fn sample_classes(data: &Data, columns: &[Vec<u32>], fraction: f64) -> Grouped {
    let classes = Classes::group_numbers(columns, data.len());
    let mut grouped = Grouped { classes: Vec::new(), of_record: vec![0; data.len()] };
    for at in 0..classes.len() {
        let sample = data.people_among(classes.rows(at)) as u64;
        grouped.push(classes.rows(at), sample, sample as f64 / fraction);
    }
    grouped
}

impl Grouped {
    fn push(&mut self, rows: &[u32], sample: u64, population: f64) {
        rows.iter().for_each(|row| self.of_record[*row as usize] = self.classes.len() as u32);
        self.classes.push(Class { records: rows.len() as u64, sample, population });
    }
}

fn summarize(data: &Data, grouped: &Grouped, background: Background<'_>) -> Risk {
    let (rows, classes) = (data.len() as u64, &grouped.classes[..]);
    let alone = classes.iter().filter(|class| class.sample == 1);
    let unique: u64 = alone.map(|class| class.records).sum();
    let journalist = chances(data, grouped, |class| class.population);
    let (basis, population_rows, fraction) = match background {
        Background::Itself => ("table", None, None),
        Background::Population(table) => ("population", Some(table.len() as u64), None),
        Background::Fraction(fraction) => ("estimate", None, Some(fraction)),
    };
    Risk {
        rows,
        rows_dropped: data.dropped as u64,
        quasi: data.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
        classes: classes.len() as u64,
        k: classes.iter().map(|class| class.sample).min().unwrap_or(0),
        unique_records: unique,
        unique_share: unique as f64 / rows as f64,
        people: data.people.as_ref().map(|own| people::measure(own, grouped)),
        prosecutor: chances(data, grouped, |class| class.sample as f64),
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
        published_as_is: None,
        notes: Vec::new(),
    }
}

/// The chances of records; of people, where the policy says whose records are.
fn chances(data: &Data, grouped: &Grouped, size: impl Fn(&Class) -> f64) -> Chances {
    let each: Vec<(u64, f64)> = match &data.people {
        None => grouped.classes.iter().map(|class| (class.records, size(class))).collect(),
        Some(own) => people::smallest(own, grouped, size).into_iter().map(|size| (1, size)).collect(),
    };
    let all = each.iter().map(|(many, _)| many).sum::<u64>() as f64;
    let smaller_than = |least: f64| {
        let small = each.iter().filter(|(_, size)| *size < least);
        small.map(|(many, _)| many).sum::<u64>() as f64 / all
    };
    Chances {
        highest: each.iter().map(|(_, size)| 1.0 / size).fold(0.0, f64::max),
        average: each.iter().map(|(many, size)| *many as f64 / size).sum::<f64>() / all,
        above_1_in_5: smaller_than(5.0),
        above_1_in_20: smaller_than(20.0),
    }
}

fn below_threshold(classes: &[Class], below: u64) -> Below {
    let (mut count, mut records) = (0, 0);
    for class in classes.iter().filter(|class| class.population < below as f64) {
        count += 1;
        records += class.records;
    }
    Below { below, classes: count, records }
}

fn in_band(classes: &[Class], (from, to): (u64, Option<u64>)) -> Band {
    let inside = |class: &&Class| class.sample >= from && to.is_none_or(|to| class.sample <= to);
    let records: Vec<u64> = classes.iter().filter(inside).map(|class| class.records).collect();
    Band { from, to, classes: records.len() as u64, records: records.iter().sum() }
}
