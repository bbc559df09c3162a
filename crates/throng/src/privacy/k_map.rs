//! k-map: everyone looks like at least k people of the population that the table was drawn from.
//!
//! Sweeney's k-map, as El Emam and Dankar use it ("Protecting Privacy Using k-Anonymity", JAMIA 2008): someone who does not
//! know who is in the table must choose among all people of the population whom a published class fits. The population
//! is a table of its own (`population`), or estimated from the share of it that is in the table (`fraction`): f records
//! then stand for f / fraction people.
//!
//! **How methods keep it.** A published class fits at least those people of the population who have the values of one of
//! its records. Let n records of the table and m people of the population share one combination of values, and credit
//! each of the n with m/n people. A class fits at least as many people as its records have credit: what it holds of a
//! combination is credited at most m, and it fits all m. So a record asks for a class of ⌈k / credit⌉ records: if every
//! member of a class has what it demands, the member of least credit shows that the credits add up to k. A record without
//! credit asks for as many records as have k credits together even if they are those with least. That makes k-map a k of
//! each record's own ([`super::OwnAnonymity`]), and every method that takes those takes it. With a fraction it is a k.
//!
//! Monotone: the box of a union covers the boxes of its parts, and a k of each record's own is monotone.
//!
//! **What is measured** is what the published cells cover, not what the method counted: people of the population whose
//! values lie in the cells of a class, the fewest of all classes. A value that neither table nor hierarchy has counts as
//! covered by no category, so the figure is never too large.
//!
//! Cost: grouping table and population; measuring looks, class by class, through the people in the narrowest cell until
//! there are as many as in the worst class so far.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toml::{Spanned, Value};

use super::{Achieved, Figure, Kind, Part, QuasiIdentifier, Spec, spec};
use crate::classes::Classes;
use crate::collections::{Arrange, cheapest_first};
use crate::data::{Attribute, Joined};
use crate::error::{Error, ErrorCode, Result};
use crate::keys::{Keys, within};
use crate::parallel;
use crate::published::{Cell, Published};
use crate::risk::population;
use crate::schema::Role;
use crate::table::{Scale, Table};
use crate::watch::Unwatched;

const KEY: &str = "k_map";

/// The keys `k_map`, `population` and `fraction`.
pub const KIND: Kind =
    Kind { key: KEY, keys: &[KEY, "population", "fraction"], read, unasked: spec::nothing };

/// k-map as a policy asks for it.
#[derive(Clone, Debug)]
pub struct KMap {
    /// How many people of the population every class must fit.
    pub k: usize,
    /// What is known of the population.
    pub population: Population,
}

/// What is known of a population.
#[derive(Clone, Debug)]
pub enum Population {
    /// Its people, one a row, with the columns of all quasi-identifiers.
    People {
        /// Where they came from.
        path: PathBuf,
        /// Their quasi-identifiers, coded.
        table: Arc<Table>,
    },
    /// The share of it that is in the table, above 0 and at most 1.
    Fraction(f64),
}

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    keys.require_beside("population", KEY, "k_map = 5")?;
    keys.require_beside("fraction", KEY, "k_map = 5")?;
    let Some(k) = keys.positive(KEY)? else { return Ok(None) };
    let population = match (keys.string("population")?, keys.number("fraction")?) {
        (Some(file), None) => read_people(keys, &file)?,
        (None, Some(fraction)) => Population::Fraction(read_fraction(keys, &fraction)?),
        (file, _) => {
            let place = file.map(|file| file.span()).or_else(|| Some(keys.fields.item(KEY)?.span()));
            let message = "k_map needs either population or fraction";
            let hint = "name a file with the population's quasi-identifiers, population = \"people.csv\", or say which \
                        share of it is in the table, fraction = 0.1";
            return Err(keys
                .mistake(ErrorCode::MissingKey, &place.unwrap_or(0..0), message, "one of them")
                .with_hint(hint));
        }
    };
    Ok(Some(Arc::new(KMap { k, population })))
}

fn read_fraction(keys: &Keys<'_, '_>, written: &Spanned<f64>) -> Result<f64> {
    let expected = "a number above 0 and at most 1";
    within(keys.source, "fraction", written, expected, |share| share > 0.0 && share <= 1.0)
}

fn read_people(keys: &Keys<'_, '_>, file: &Spanned<String>) -> Result<Population> {
    let path = keys.beside(file.get_ref());
    if !path.is_file() {
        let message = format!("the population {} is not a file", path.display());
        let hint = "relative names start at the folder of the policy";
        return Err(keys
            .mistake(ErrorCode::CannotRead, &file.span(), message, "cannot be read")
            .with_hint(hint));
    }
    let quasi: Vec<&str> = keys.with_role(Role::Quasi).collect();
    let table = population::read_columns(&path, &quasi, keys.missing, &Unwatched)?;
    Ok(Population::People { path, table: Arc::new(table) })
}

impl KMap {
    /// The k of a release that a share of the population allows.
    fn of_fraction(&self, fraction: f64) -> usize {
        ((self.k as f64 * fraction) * (1.0 - 1e-12)).ceil().max(1.0) as usize
    }

    fn out_of_reach(&self, people: u64) -> Error {
        Error::new(ErrorCode::PopulationTooSmall, format!(
            "k_map = {} cannot be met: only {people} people of the population share their quasi-identifiers with a \
             record of the table",
            self.k
        ))
        .with_hint("lower k_map, or check that the population contains the people of the table")
        .reaching("k_map", people)
    }
}

impl Spec for KMap {
    fn key(&self) -> &'static str {
        KEY
    }

    fn needs_ranges(&self) -> bool {
        true
    }

    fn part(&self) -> Part {
        match self.population {
            Population::People { .. } => Part::OwnK,
            Population::Fraction(_) => Part::K,
        }
    }

    fn keys(&self) -> toml::Table {
        let population = match &self.population {
            Population::Fraction(fraction) => ("fraction", Value::Float(*fraction)),
            Population::People { path, .. } => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                ("population", Value::String(path.display().to_string()))
            }
        };
        let entries = [(KEY, Value::from(self.k as i64)), population];
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn linkable(&self) -> Vec<QuasiIdentifier> {
        match self.population {
            Population::Fraction(fraction) => {
                vec![QuasiIdentifier::of_all(self.of_fraction(fraction))]
            }
            Population::People { .. } => Vec::new(),
        }
    }

    fn demands(&self, joined: &Joined<'_>) -> Result<Option<Vec<u32>>> {
        let Population::People { table, .. } = &self.population else { return Ok(None) };
        let combinations = Combinations::new(joined, table);
        let people = combinations.each.iter().map(|own| own.people).sum();
        if people < self.k as u64 {
            return Err(self.out_of_reach(people));
        }
        Ok(Some(combinations.demands(self.k as u64)))
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let achieved =
            Achieved::at_least(KEY, "k-map", "the fewest people of the population whom a class fits");
        let smallest = || published.sizes().min().unwrap_or(0) as f64;
        let reached = match &self.population {
            Population::Fraction(fraction) => Figure::Number(smallest() / fraction),
            Population::People { table, .. } => Figure::Count(fewest_covered(published, table)),
        };
        let short = reached.value() < self.k as f64 * (1.0 - super::achieved::TOLERANCE);
        let violation =
            short.then(|| format!("k_map = {} is required, a class fits {} people", self.k, reached.value()));
        Ok(vec![
            achieved.reached(reached).asked(Figure::Count(self.k as u64), violation.into_iter().collect()),
        ])
    }
}

/// The combinations of quasi-identifiers that the table has.
struct Combinations {
    each: Vec<Combination>,
    of_record: Vec<u32>,
}

/// Records of the table and people of the population that share a combination.
#[derive(Clone, Copy)]
struct Combination {
    records: u64,
    people: u64,
}

impl Combinations {
    fn new(joined: &Joined<'_>, population: &Table) -> Self {
        let records = joined.records.len();
        let people = population::codes(joined.attributes, population, joined.missing());
        let column = |(at, people): (usize, Vec<u32>)| -> Vec<u32> {
            (0..records).map(|record| joined.records.code(record, at)).chain(people).collect()
        };
        let columns: Vec<Vec<u32>> = people.into_iter().enumerate().map(column).collect();
        let classes = Classes::group_numbers(&columns, records + population.len());
        let (mut each, mut of_record) = (Vec::new(), vec![0; records]);
        for class in 0..classes.len() {
            // Rows ascend, so those of the table come first.
            let own = classes.rows(class).partition_point(|row| (*row as usize) < records);
            if own > 0 {
                classes.rows(class)[..own]
                    .iter()
                    .for_each(|row| of_record[*row as usize] = each.len() as u32);
                each.push(Combination { records: own as u64, people: (classes.size(class) - own) as u64 });
            }
        }
        Combinations { each, of_record }
    }

    /// How many records the class of each record must have.
    fn demands(&self, k: u64) -> Vec<u32> {
        let enough = self.enough(k as f64);
        let demand = |own: &Combination| match own.people {
            0 => enough,
            people => (k * own.records).div_ceil(people).min(enough),
        };
        let of_each: Vec<u32> = self.each.iter().map(|own| demand(own) as u32).collect();
        self.of_record.iter().map(|combination| of_each[*combination as usize]).collect()
    }

    /// So many records have k credits together, whichever they are.
    fn enough(&self, k: f64) -> u64 {
        let mut least_first = self.each.clone();
        let credit = |own: &Combination| own.people as f64 / own.records as f64;
        least_first.arrange_by(|one, other| credit(one).total_cmp(&credit(other)));
        let (mut records, mut credits) = (0, 0.0);
        for own in least_first {
            // On the safe side of rounding.
            let needed = ((k * (1.0 + 1e-9) - credits) / credit(&own)).ceil();
            if needed <= own.records as f64 {
                return records + needed.max(1.0) as u64;
            }
            records += own.records;
            credits += own.people as f64;
        }
        records
    }
}

/// The fewest people of a population whose values lie in all cells of a row.
fn fewest_covered(published: &Published<'_>, population: &Table) -> u64 {
    let attributes = &published.data.attributes;
    let people: Vec<Places> =
        attributes.iter().map(|attribute| Places::new(attribute, population, published.missing)).collect();
    let fewest = AtomicU64::new(u64::MAX);
    parallel::each(&published.distinct_rows(), |row| {
        let cells: Vec<Vec<(f64, f64)>> = attributes
            .iter()
            .enumerate()
            .map(|(at, attribute)| spans(attribute, published.cells.cell(at, *row)))
            .collect();
        let enough = fewest.load(Ordering::Relaxed);
        fewest.fetch_min(covered(&people, &cells, enough), Ordering::Relaxed);
    });
    match fewest.into_inner() {
        u64::MAX => 0,
        fewest => fewest,
    }
}

/// Where the people of a population stand in one attribute: numbers where they are, missing ones beyond all numbers,
/// categories at the place of their leaf; what is neither is nowhere.
struct Places {
    of_person: Vec<f64>,
    /// The people by their place.
    order: Vec<u32>,
}

const MISSING: f64 = f64::INFINITY;

impl Places {
    fn new(attribute: &Attribute, population: &Table, missing: &[String]) -> Self {
        let of_person = population::places(attribute, population, missing);
        let mut order: Vec<(f64, usize)> = of_person.iter().copied().zip(0..).collect();
        cheapest_first(&mut order);
        let order = order.into_iter().map(|(_, person)| person as u32).collect();
        Places { of_person, order }
    }

    /// The people within a span.
    fn within(&self, (low, high): (f64, f64)) -> &[u32] {
        let place = |person: &u32| self.of_person[*person as usize];
        let first = self.order.partition_point(|person| place(person) < low);
        let end = self.order.partition_point(|person| place(person) <= high);
        &self.order[first..end.max(first)]
    }
}

/// The places that a cell covers.
fn spans(attribute: &Attribute, cell: &Cell) -> Vec<(f64, f64)> {
    match attribute.domain.scale() {
        Scale::Numeric { .. } => {
            cell.numbers().into_iter().chain(cell.missing.then_some((MISSING, MISSING))).collect()
        }
        Scale::Categorical(_) => vec![(f64::from(cell.leaves.0), f64::from(cell.leaves.1) - 1.0)],
    }
}

/// How many people lie in all cells; no more than `enough` are counted.
fn covered(people: &[Places], cells: &[Vec<(f64, f64)>], enough: u64) -> u64 {
    let size = |at: usize| cells[at].iter().map(|span| people[at].within(*span).len()).sum::<usize>();
    let Some(narrowest) = (0..people.len()).min_by_key(|at| size(*at)) else { return 0 };
    let inside = |person: u32| {
        people.iter().zip(cells).all(|(places, spans)| {
            let place = places.of_person[person as usize];
            spans.iter().any(|(low, high)| *low <= place && place <= *high)
        })
    };
    let candidates = cells[narrowest].iter().flat_map(|span| people[narrowest].within(*span));
    let found =
        candidates.filter(|person| inside(**person)).take(usize::try_from(enough).unwrap_or(usize::MAX));
    found.count() as u64
}
