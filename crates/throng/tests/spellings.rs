//! Dates and numbers as people write them are the same dates and numbers.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Loaded, loaded, table_of};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::release::{Order, Publish};
use throng::run::solve;
use throng::watch::Unwatched;

const ROWS: usize = 60;

/// Day, month, year, and tenths of a kilogram, of each row. Some days are above twelve.
fn rows() -> impl Iterator<Item = (usize, usize, usize, usize)> {
    (0..ROWS).map(|row| (1 + row * 7 % 28, 1 + row * 5 % 12, 1950 + row * 11 % 40, 455 + row * 37 % 500))
}

type Spell = fn(usize, usize, usize, usize) -> (String, String);

fn iso(day: usize, month: usize, year: usize, tenths: usize) -> (String, String) {
    (format!("{year}-{month:02}-{day:02}"), format!("{}.{}", tenths / 10, tenths % 10))
}

fn german(day: usize, month: usize, year: usize, tenths: usize) -> (String, String) {
    (format!("{day:02}.{month:02}.{year}"), format!("{},{}", tenths / 10, tenths % 10))
}

fn american(day: usize, month: usize, year: usize, tenths: usize) -> (String, String) {
    (format!("{month:02}/{day:02}/{year}"), format!("{}.{}", tenths / 10, tenths % 10))
}

fn table(spell: Spell) -> String {
    let line = |(day, month, year, tenths)| {
        let (date, weight) = spell(day, month, year, tenths);
        format!("\"{date}\",\"{weight}\"\n")
    };
    format!("born,weight\n{}", rows().map(line).collect::<String>())
}

const POLICY: &str = "[privacy]\nk = 4\n[method]\nname = \"METHOD\"\nseed = 1\n[attribute.born]\nrole = \"quasi\"\nBORN\n\
    [attribute.weight]\nrole = \"quasi\"\nWEIGHT\n";

fn policy(method: &str, born: &str, weight: &str) -> String {
    POLICY.replace("METHOD", method).replace("BORN", born).replace("WEIGHT", weight)
}

fn release(loaded: &Loaded) -> (String, f64) {
    let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
    let release = loaded.publish(&solution, Publish::Cells, Order::Keep);
    let measures = loaded.measures(&release);
    assert!(measures.k >= 4);
    (String::from_utf8(release.bytes).unwrap().replace('"', ""), measures.gcp)
}

/// A release of ISO dates and decimal points, spelt differently.
fn respelt(release: &str, spell: Spell) -> String {
    let mut text = release.to_owned();
    for (day, month, year, tenths) in rows() {
        let (from, to) = (iso(day, month, year, tenths), spell(day, month, year, tenths));
        text = text.replace(&from.0, &to.0).replace(&from.1, &to.1);
    }
    text
}

#[test]
fn releases_differ_in_spelling_alone() {
    for method in ["mondrian", "hilbert", "refine", "peel"] {
        let plain = release(&loaded(table(iso), &policy(method, "", "")));
        for (spell, born, weight) in [
            (german as Spell, "", ""),
            (german, "format = \"%d.%m.%Y\"", "decimal = \",\""),
            (american, "", ""),
            (american, "format = \"%m/%d/%Y\"", ""),
        ] {
            let other = release(&loaded(table(spell), &policy(method, born, weight)));
            assert_eq!(other.0, respelt(&plain.0, spell), "{method}");
            assert_eq!(other.1, plain.1, "{method}");
        }
    }
}

#[test]
fn calendars_and_bands_read_every_spelling() {
    let (born, weight) =
        ("hierarchy = { dates = [\"month\", \"year\", \"decade\"] }", "hierarchy = { intervals = [5, 20] }");
    let plain = release(&loaded(table(iso), &policy("rv-local", born, weight)));
    let other = release(&loaded(table(german), &policy("rv-local", born, weight)));
    assert_eq!(other.0, respelt(&plain.0, german));
    assert!(plain.0.contains("0s") || plain.0.contains("-0") || plain.0.contains('*'), "{}", plain.0);
}

fn encoded(csv: &str, born: &str) -> throng::Result<Problem> {
    let text = format!("[privacy]\nk = 1\n[attribute.born]\nrole = \"quasi\"\n{born}\n");
    let policy = Policy::parse(&text, None)?;
    Problem::new(&table_of(csv, &policy), &policy)
}

#[test]
fn what_cannot_be_told_apart_is_said() {
    let dates = "born,x\n03/04/1990,1\n01/02/1991,1\n";
    let error = encoded(dates, "kind = \"numeric\"").unwrap_err();
    assert!(error.message().contains("two ways"), "{error}");
    assert!(error.hint().unwrap().contains("format = \"%d/%m/%Y\" or \"%m/%d/%Y\""), "{error}");
    let numbers = "born,x\n\"1,234\",1\n\"5,678\",1\n";
    let error = encoded(numbers, "kind = \"numeric\"").unwrap_err();
    assert!(error.hint().unwrap().contains("decimal = \",\" or \".\""), "{error}");
    let values = |csv: &str, born: &str| {
        let domain = &encoded(csv, born).unwrap().attributes[0].domain;
        [domain.label(0).to_owned(), domain.label(1).to_owned()]
    };
    // The sixth of March is before the fifth of April, the fourth of May before the third of June.
    assert_eq!(
        values("born,x\n05/04/1990,1\n06/03/1990,1\n", "format = \"%d/%m/%Y\""),
        ["06/03/1990", "05/04/1990"]
    );
    assert_eq!(
        values("born,x\n05/04/1990,1\n06/03/1990,1\n", "format = \"%m/%d/%Y\""),
        ["05/04/1990", "06/03/1990"]
    );
    assert_eq!(values("born,x\n\"1,234\",1\n\"7\",1\n", "decimal = \",\""), ["1,234", "7"]);
    assert_eq!(values("born,x\n\"1,234\",1\n\"7\",1\n", "decimal = \".\""), ["7", "1,234"]);
}

#[test]
fn wrong_forms_are_errors_that_point_at_the_policy() {
    let csv = "born,x\n19.11.1985,1\n31.12.1990,1\n";
    for (born, says) in [
        ("format = \"%d.%m\"", "a day %d, a month %m and a year %Y"),
        ("format = \"%q\"", "no part %q"),
        ("decimal = \";\"", "a comma or a point"),
        ("decimal = \",\"\nformat = \"%d.%m.%Y\"", "not both"),
        ("kind = \"categorical\"\ndecimal = \",\"", "categorical"),
        ("format = \"%m/%d/%Y\"", "is not a number or date with format"),
    ] {
        let error = encoded(csv, born).unwrap_err();
        assert!(error.message().contains(says), "{born}: {error}");
        assert!(error.hint().is_some() && error.place().line.is_some(), "{born}: {error}");
    }
}
