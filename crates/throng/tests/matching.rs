//! The audit's comparison of a release with its table, held against a plain program that reads cells by itself and matches
//! rows with records one by one; and what it says of releases that nobody touched.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::HashMap;
use std::fmt::Write as _;

use common::{can_do, cases, load, rows_of_text};
use proptest::prelude::*;
use throng::audit::{Compared, Measures};
use throng::method::STANDARD;
use throng::policy::Policy;
use throng::privacy::Part;
use throng::release::{Order, Publish};
use throng::run::{audit_files, solve};
use throng::watch::Unwatched;

/// What an audit of files finds.
fn audited(csv: &str, release: &[u8], policy: &Policy) -> Measures {
    let folder = tempfile::tempdir().unwrap();
    let (data, path) = (folder.path().join("table.csv"), folder.path().join("release.csv"));
    std::fs::write(&data, csv).unwrap();
    std::fs::write(&path, release).unwrap();
    audit_files(&data, &path, policy, &Unwatched).unwrap().measures
}

/// The plain way: rows that occur once, looking at some columns.
fn unique(rows: &[Vec<String>], wanted: impl Fn(&str) -> bool) -> u64 {
    let places: Vec<usize> = (0..rows[0].len()).filter(|at| wanted(&rows[0][*at])).collect();
    let mut counts: HashMap<Vec<&str>, u64> = HashMap::new();
    for row in &rows[1..] {
        *counts.entry(places.iter().map(|at| row[*at].as_str()).collect()).or_default() += 1;
    }
    counts.values().filter(|count| **count == 1).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_method_publishes_the_truth(case in cases(30)) {
        for entry in STANDARD.iter().filter(|entry| can_do(entry, &[Part::K])) {
            let loaded = load(&case, "k = 2\nsuppress = 0.5", entry.name);
            let Ok(solution) = solve(&loaded.problem, &loaded.policy, &Unwatched) else { continue };
            for (publish, order) in [(Publish::Cells, Order::Shuffled), (Publish::Bounds, Order::Keep)] {
                let release = loaded.publish(&solution, publish, order);
                let measures = audited(&loaded.csv, &release.bytes, &loaded.policy);
                let truth = measures.truth.clone().unwrap();
                prop_assert_eq!(truth.unexplained, 0, "{}: {:?}", entry.name, measures.violations);
                prop_assert!(truth.compared != Compared::Bounds);
                let rows = rows_of_text(&release.bytes);
                let told = &measures.published_as_is;
                prop_assert_eq!(told.unique_rows, unique(&rows, |_| true), "{}", entry.name);
                for column in &told.columns {
                    let alone = unique(&rows, |name| name == column.name);
                    let with_quasi = unique(&rows, |name| name == column.name || name.starts_with('q'));
                    let share = |count: u64| count as f64 / (rows.len() - 1) as f64;
                    prop_assert_eq!(column.unique_share, share(alone), "{}: {}", entry.name, column.name);
                    prop_assert_eq!(column.unique_share_with_quasi, share(with_quasi), "{}", column.name);
                }
            }
        }
    }
}

const POLICY: &str = "[privacy]\nk = 2\n[method]\nname = \"mondrian\"\n[attribute.age]\nrole = \"quasi\"\n\
    [attribute.city]\nrole = \"quasi\"\n[attribute.note]\nrole = \"other\"\n[attribute.ill]\nrole = \"sensitive\"\n";

/// The plain reading of a cell of ages.
fn holds_age(cell: &str, age: &str) -> bool {
    let number = |text: &str| text.parse::<i32>().unwrap();
    match cell.strip_prefix('[').and_then(|cell| cell.strip_suffix(']')) {
        Some(range) => {
            let (low, high) = range.split_once('-').unwrap();
            (number(low)..=number(high)).contains(&number(age))
        }
        None => cell == "*" || cell == age,
    }
}

fn explains(record: &[String], row: &[String]) -> bool {
    holds_age(&row[0], &record[0]) && (row[1] == "*" || row[1] == record[1]) && row[2..] == record[2..]
}

/// Rows that cannot be given a record of their own: rows take turns to displace each other.
fn unexplained(table: &[Vec<String>], release: &[Vec<String>]) -> u64 {
    let mut row_of_record: Vec<Option<usize>> = vec![None; table.len()];
    fn place(
        row: usize,
        table: &[Vec<String>],
        release: &[Vec<String>],
        tried: &mut [bool],
        row_of_record: &mut [Option<usize>],
    ) -> bool {
        for record in 0..table.len() {
            if tried[record] || !explains(&table[record], &release[row]) {
                continue;
            }
            tried[record] = true;
            let free = match row_of_record[record] {
                None => true,
                Some(other) => place(other, table, release, tried, row_of_record),
            };
            if free {
                row_of_record[record] = Some(row);
                return true;
            }
        }
        false
    }
    let rows = 0..release.len();
    rows.filter(|row| !place(*row, table, release, &mut vec![false; table.len()], &mut row_of_record)).count()
        as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_releases_are_matched_as_well_as_they_can_be(
        people in prop::collection::vec((0u8..12, 0u8..3, 0u8..2, 0u8..3), 2..25),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..4), 0..4),
    ) {
        let mut csv = "age,city,note,ill\n".to_owned();
        for (age, city, note, ill) in &people {
            writeln!(csv, "{age},c{city},n{note},i{ill}").unwrap();
        }
        let loaded = common::loaded(csv, POLICY);
        let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
        let bytes = loaded.publish(&solution, Publish::Cells, Order::Shuffled).bytes;
        let mut release = rows_of_text(&bytes);
        // Cells that change places, within a column or as a whole row that stands twice.
        for (one, other, column) in &changes {
            let (one, other) = (1 + one.index(release.len() - 1), 1 + other.index(release.len() - 1));
            match column {
                0 => release[one] = release[other].clone(),
                column => release[one][*column] = release[other][*column].clone(),
            }
        }
        let text: String = release.iter().map(|row| row.join(",") + "\n").collect();
        let table = rows_of_text(loaded.csv.as_bytes());
        let measures = audited(&loaded.csv, text.as_bytes(), &loaded.policy);
        let expected = unexplained(&table[1..], &release[1..]);
        let truth = measures.truth.unwrap();
        prop_assert_eq!(truth.unexplained, expected);
        prop_assert_eq!(measures.violations.iter().any(|told| told.contains("no record of their own")), expected > 0);
    }
}
