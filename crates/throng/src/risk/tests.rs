#![allow(clippy::unwrap_used)]

use std::io::Write;

use proptest::prelude::*;

use super::combinations::Finder;
use super::*;
use crate::data::People;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::run;
use crate::watch::Unwatched;

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn policy(attributes: usize) -> Policy {
    let section = |at: usize| format!("[attribute.a{at}]\nrole = \"quasi\"\n");
    let sections: String = (0..attributes).map(section).collect();
    Policy::parse(&format!("[data]\nmissing = [\"?\"]\n[privacy]\nk = 2\n{sections}"), None).unwrap()
}

fn csv(rows: &[Vec<u32>], attributes: usize) -> String {
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let header = line((0..attributes).map(|at| format!("a{at}")).collect());
    // A text beside the number makes the odd columns categorical.
    let cell = |(at, code): (usize, &u32)| if at % 2 == 0 { code.to_string() } else { format!("v{code}") };
    header + &rows.iter().map(|row| line(row.iter().enumerate().map(cell).collect())).collect::<String>()
}

fn measured(text: &str, attributes: usize, population: Option<&str>, fraction: Option<f64>) -> Risk {
    let (data, policy) = (file(text), policy(attributes));
    let table = run::read(data.path(), &policy, &Unwatched).unwrap();
    let problem = Problem::new(&table, &policy).unwrap();
    let population = population
        .map(file)
        .map(|file| read_population(file.path(), &problem, &policy.missing, &Unwatched).unwrap());
    let background = match (&population, fraction) {
        (Some(table), _) => Background::Population(table),
        (None, Some(fraction)) => Background::Fraction(fraction),
        (None, None) => Background::Itself,
    };
    measure(&problem, &policy.missing, background, &Unwatched).unwrap()
}

/// Classes: (1, x) three times, (2, x) twice, (2, y) once.
const SAMPLE: &str = "a0,a1\n1,x\n1,x\n1,x\n2,x\n2,x\n2,y\n";

#[test]
fn a_small_table_has_the_risk_computed_by_hand() {
    let risk = measured(SAMPLE, 2, None, None);
    assert_eq!((risk.rows, risk.classes, risk.k, risk.unique_records), (6, 3, 1, 1));
    assert_eq!(
        risk.prosecutor,
        Chances { highest: 1.0, average: 0.5, above_1_in_5: 1.0, above_1_in_20: 1.0 }
    );
    assert_eq!((&*risk.basis, &risk.journalist, risk.marketer), ("table", &risk.prosecutor, 0.5));
    let bands: Vec<(u64, u64)> = risk.class_sizes.iter().map(|band| (band.classes, band.records)).collect();
    assert_eq!(bands, [(1, 1), (1, 2), (1, 3), (0, 0), (0, 0), (0, 0), (0, 0)]);
    // Only y singles out, alone; the pair adds nothing new.
    let told: Vec<_> =
        risk.combinations.iter().map(|one| (one.attributes.join("+"), one.unique_records)).collect();
    assert_eq!(told, [("a1".to_owned(), 1), ("a0+a1".to_owned(), 1)]);
    assert_eq!((risk.attributes[0].attribute.as_str(), risk.attributes[0].minimal_uniques), ("a1", 1));
    assert_eq!((risk.attributes[1].minimal_uniques, risk.attributes[1].distinct), (0, 2));
}

#[test]
fn a_population_is_matched_by_values_in_any_spelling_and_column_order() {
    let mut population = "other,a1,a0\n".to_owned();
    for (count, cells) in [(10, "x,1.0"), (4, "x,2"), (2, "y,02"), (7, "z,2"), (3, "x,77")] {
        population += &format!("o,{cells}\n").repeat(count);
    }
    let risk = measured(SAMPLE, 2, Some(&population), None);
    assert_eq!((&*risk.basis, risk.population_rows, risk.k_map), ("population", Some(26), 2.0));
    assert_eq!(risk.journalist.highest, 0.5);
    assert!((risk.marketer - (3.0 / 10.0 + 2.0 / 4.0 + 1.0 / 2.0) / 6.0).abs() < 1e-12);
    assert_eq!(risk.journalist.above_1_in_5, 0.5);
    let below: Vec<(u64, u64, u64)> =
        risk.k_map_below.iter().map(|below| (below.below, below.classes, below.records)).collect();
    assert_eq!(below, [(2, 0, 0), (3, 1, 1), (5, 2, 3), (10, 2, 3)]);
    assert!(risk.notes.is_empty(), "{:?}", risk.notes);
}

#[test]
fn a_population_that_lacks_records_of_the_table_is_told() {
    let risk = measured(SAMPLE, 2, Some("a0,a1\n1,x\n1,x\n1,x\n1,x\n2,x\n"), None);
    assert_eq!(risk.notes.len(), 1);
    assert!(risk.notes[0].starts_with("2 classes with 3 records"), "{}", risk.notes[0]);
    assert_eq!(risk.journalist.highest, 1.0);
}

#[test]
fn a_fraction_scales_the_classes() {
    let risk = measured(SAMPLE, 2, None, Some(0.25));
    assert_eq!(
        (&*risk.basis, risk.k_map, risk.journalist.highest, risk.marketer),
        ("estimate", 4.0, 0.25, 0.125)
    );
    assert_eq!(risk.prosecutor.highest, 1.0);
    for fraction in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(check_fraction(Some(fraction)).is_err());
    }
}

#[test]
fn missing_cells_match_each_other_in_table_and_population() {
    let risk = measured("a0,a1\n?,x\n1,?\n", 2, Some("a0,a1\n?,x\n?,x\n1,?\n1,?\n1,?\n"), None);
    assert_eq!((risk.k_map, risk.notes.len()), (2.0, 0));
}

#[test]
fn a_population_without_a_quasi_identifier_is_an_error() {
    let (data, policy, population) = (file(SAMPLE), policy(2), file("a0,b1\n1,x\n"));
    let table = run::read(data.path(), &policy, &Unwatched).unwrap();
    let problem = Problem::new(&table, &policy).unwrap();
    let error = read_population(population.path(), &problem, &policy.missing, &Unwatched).unwrap_err();
    assert_eq!(error.message(), "the population has no column \"a1\"");
    assert!(error.hint().is_some() && error.place().file.is_some());
}

/// People with a row whose cells in some attributes no row of anyone else has.
fn unique_people(rows: &[Vec<u32>], whose: &[u32], attributes: &[usize]) -> Vec<u32> {
    let same = |one: &Vec<u32>, other: &Vec<u32>| attributes.iter().all(|&at| one[at] == other[at]);
    let theirs = |row: usize| {
        rows.iter().zip(whose).all(|(other, person)| *person == whose[row] || !same(&rows[row], other))
    };
    let mut people: Vec<u32> = (0..rows.len()).filter(|row| theirs(*row)).map(|row| whose[row]).collect();
    people.sort_unstable();
    people.dedup();
    people
}

/// Unique people, and those that are on no non-empty part of the combination.
fn by_force(rows: &[Vec<u32>], whose: &[u32], attributes: &[usize]) -> (u64, u64) {
    let unique = unique_people(rows, whose, attributes);
    let mut minimal = unique.clone();
    for left_out in attributes.iter().filter(|_| attributes.len() > 1) {
        let part: Vec<usize> = attributes.iter().copied().filter(|at| at != left_out).collect();
        let of_part = unique_people(rows, whose, &part);
        minimal.retain(|person| !of_part.contains(person));
    }
    (unique.len() as u64, minimal.len() as u64)
}

fn tables() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1usize..6)
        .prop_flat_map(|attributes| prop::collection::vec(prop::collection::vec(0u32..5, attributes), 1..30))
}

proptest! {
    #[test]
    fn combinations_agree_with_brute_force(rows in tables(), of_person in 1u32..5) {
        let attributes = rows[0].len();
        let columns: Vec<Vec<u32>> = (0..attributes).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
        // Everyone has so many rows, scattered over the table.
        let people = (rows.len() as u32).div_ceil(of_person);
        let whose: Vec<u32> = (0..rows.len() as u32).map(|row| row * 7 % people).collect();
        let people = People::new(whose.clone());
        let domains = vec![5; attributes];
        let each: Vec<u32> = (0..rows.len() as u32).collect();
        for (people, whose) in [(None, each), (Some(&people), whose)] {
            let finder =
                Finder { columns: &columns, domains: &domains, rows: rows.len(), people, watch: &Unwatched };
            let found = finder.find(3).unwrap();
            let expected = attributes + attributes * (attributes - 1) / 2
                + attributes * (attributes - 1) * attributes.saturating_sub(2) / 6;
            prop_assert_eq!(found.len(), expected);
            for one in found {
                prop_assert_eq!((one.unique, one.minimal), by_force(&rows, &whose, &one.attributes), "{:?}", one.attributes);
            }
        }
    }

    #[test]
    fn classes_agree_with_brute_force(rows in tables(), others in tables()) {
        let attributes = rows[0].len();
        // The population holds the table, and whatever else has as many columns.
        let others = others.into_iter().filter(|row| row.len() == attributes);
        let people: Vec<Vec<u32>> = rows.iter().cloned().chain(others).collect();
        let same = |all: &[Vec<u32>], row: &Vec<u32>| all.iter().filter(|other| *other == row).count() as f64;
        let risk = measured(&csv(&rows, attributes), attributes, Some(&csv(&people, attributes)), None);
        let mean = |all: &[Vec<u32>]| rows.iter().map(|row| 1.0 / same(all, row)).sum::<f64>() / rows.len() as f64;
        prop_assert!((risk.prosecutor.average - mean(&rows)).abs() < 1e-9);
        prop_assert!((risk.marketer - mean(&people)).abs() < 1e-9);
        prop_assert_eq!(risk.unique_records as usize, rows.iter().filter(|row| same(&rows, row) == 1.0).count());
        prop_assert_eq!(risk.k_map, rows.iter().map(|row| same(&people, row)).fold(f64::INFINITY, f64::min));
        prop_assert_eq!(risk.class_sizes.iter().map(|band| band.records).sum::<u64>(), rows.len() as u64);
        prop_assert!(risk.notes.is_empty());
    }
}
