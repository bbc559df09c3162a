#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::suggest;
use super::words::words;
use crate::error::Result;
use crate::policy::{Kind, Policy, Role};
use crate::problem::Problem;
use crate::run;
use crate::table::{Reading, Storage, Table};
use crate::watch::Unwatched;

struct Suggested {
    text: String,
    policy: Policy,
    file: tempfile::NamedTempFile,
}

fn suggested(names: &[String], rows: &[Vec<String>]) -> Result<Suggested> {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    let mut writer =
        csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_path(file.path()).unwrap();
    writer.write_record(names).unwrap();
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    writer.flush().unwrap();
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let reading = Reading::new(&plan, &Unwatched);
    let text = suggest(&Table::read(file.path(), &reading)?)?.text;
    let policy = Policy::parse(&text, None).map_err(|error| error.with_hint(text.clone()))?;
    Ok(Suggested { text, policy, file })
}

/// A table of 40 rows with one column made from the number of the row.
fn column(name: &str, cell: impl Fn(usize) -> String) -> Suggested {
    suggested(
        &[name.to_owned(), "filler".to_owned()],
        &(0..40).map(|row| vec![cell(row), "x".into()]).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn role(name: &str, cell: impl Fn(usize) -> String) -> Role {
    column(name, cell).policy.attributes[name].role
}

#[test]
fn names_and_values_suggest_roles() {
    for (name, expected) in [
        ("age", Role::Quasi),
        ("Geschlecht", Role::Quasi),
        ("native-country", Role::Quasi),
        ("diagnosis", Role::Sensitive),
        ("annual income", Role::Sensitive),
        ("email", Role::Identifier),
        ("id", Role::Identifier),
        ("product_id", Role::Quasi),
    ] {
        // Without any quasi-identifier a plausible column is taken, as for product_id.
        assert_eq!(role(name, |row| (row % 4).to_string()), expected, "{name}");
    }
    assert_eq!(role("product_id", |row| (row * 7).to_string()), Role::Identifier);
    assert_eq!(role("note", |row| format!("text {row}")), Role::Identifier);
    assert_eq!(role("line", |row| row.to_string()), Role::Identifier);
}

#[test]
fn what_nobody_knows_is_generalized_or_held_back_and_marked() {
    let names = ["email", "colour", "blurb", "gizmo"].map(str::to_owned);
    let row = |row: usize| {
        vec![format!("{row}@x"), ["red", "blue"][row % 2].into(), format!("text {row}"), "kg".to_owned()]
    };
    let found = suggested(&names, &(0..40).map(row).collect::<Vec<_>>()).unwrap();
    let roles: Vec<Role> = names.iter().map(|name| found.policy.attributes[name].role).collect();
    // What is the same for everyone is all that is published as it is.
    assert_eq!(roles, [Role::Identifier, Role::Quasi, Role::Identifier, Role::Other]);
    assert_eq!(found.text.matches("# CHECK: ").count(), 2, "{}", found.text);
}

#[test]
fn without_a_quasi_identifier_a_plausible_column_is_taken_and_marked() {
    let names = ["email", "diagnosis"].map(str::to_owned);
    let row = |row: usize| vec![format!("{row}@x"), ["flu", "gout"][row % 2].into()];
    let found = suggested(&names, &(0..40).map(row).collect::<Vec<_>>()).unwrap();
    assert_eq!(found.policy.attributes["diagnosis"].role, Role::Quasi);
    assert!(found.text.contains("CHECK: no column looked like a quasi-identifier"), "{}", found.text);
}

#[test]
fn a_table_without_a_header_is_refused() {
    let rows = |first: &str| -> Result<Suggested> {
        let names: Vec<String> = first.split(',').map(str::to_owned).collect();
        let row = |row: usize| {
            vec![(30 + row % 9).to_string(), ["m", "f"][row % 2].into(), ["x", "y", "z"][row % 3].into()]
        };
        suggested(&names, &(0..30).map(row).collect::<Vec<_>>())
    };
    // A number above numbers; a cell that recurs below; both.
    for first in ["39,a,b", "39,m,y", "?,m,y"] {
        let error = rows(first).err().unwrap();
        assert!(
            error.message().contains("no header") && error.hint().unwrap().contains("names of the columns"),
            "{error}"
        );
        assert_eq!(error.place().line, Some(1));
    }
    for first in ["age,sex,group", "age,m,y", "0,1,2", "2019,2020,2021", "alter,m,f"] {
        assert!(rows(first).is_ok(), "{first}");
    }
}

#[test]
fn names_are_taken_apart_into_words() {
    let texts = |name: &str| words(name).into_iter().map(|word| word.text).collect::<Vec<_>>();
    assert_eq!(texts("maritalStatus"), ["maritalstatus"]);
    assert_eq!(texts("Zahl der Kinder"), ["zahl", "der", "kinder"]);
    assert_eq!(texts("patientID2"), ["patient", "id"]);
    assert_eq!(texts("Auftragsnummer"), ["auftrag", "nummer"]);
    assert_eq!(texts("Führerscheinnr"), ["fuhrerschein", "nr"]);
    assert_eq!(texts("fuehrerscheinnr"), ["fuehrerschein", "nr"]);
    assert_eq!(texts("fechadenacimiento"), ["fecha", "nacimiento"]);
    assert_eq!(texts("pre\u{301}nom"), ["prenom"]);
    assert!(texts("--").is_empty());
}

#[test]
fn check_digits_are_held_against_their_rules() {
    use super::check_digits as check;
    // The numbers were made by another program, from the rules as their issuers publish them.
    for (test, text) in [
        (check::is_iban as fn(&str) -> bool, "DE89 3704 0044 0532 0130 00"),
        (check::is_card, "4111 1111 1111 1111"),
        (check::is_german_tax_id, "86095742719"),
        (check::is_french_nir, "185057500123475"),
        (check::is_spanish_dni, "12345678Z"),
        (check::is_spanish_dni, "X1234567L"),
        (check::is_italian_code, "RSSMRA85T10A562S"),
        (check::is_dutch_bsn, "111222333"),
        (check::is_nhs_number, "943 476 5919"),
        (check::is_irish_number, "1234567T"),
        (check::is_polish_number, "44051401359"),
        (check::is_nordic_number, "811218-9876"),
        (check::is_finnish_number, "131052-308T"),
        (check::is_spanish_insurance_number, "281234567840"),
        (check::is_tax_number_of_the_andes, "12.345.678-5"),
        (check::is_tax_number_of_the_andes, "20-12345678-6"),
        (check::is_brazilian_number, "529.982.247-25"),
        (check::is_orcid, "0000-0002-1825-0097"),
    ] {
        assert!(test(text), "{text}");
        let place = text.len() - if text.ends_with(char::is_alphabetic) { 2 } else { 1 };
        let digit = text[place..=place].parse::<u32>().unwrap();
        let wrong = format!("{}{}{}", &text[..place], (digit + 1) % 10, &text[place + 1..]);
        assert!(!test(&wrong), "{wrong}");
    }
    for text in [
        "",
        "ä",
        "1",
        "ABCDEFGHIJKLMNOP",
        "1234567890123456789012",
        "äöüß-äöüß-äöüß-äöüß",
        "ää-ää-ää-ää",
        "ß-ß",
    ] {
        assert!(check::NATIONAL.iter().all(|test| !test(text)) && !check::is_iban(text), "{text}");
    }
}

#[test]
fn markers_count_as_missing_only_where_they_are_clear() {
    let marked = column("age", |row| ["?", "31", "NA", "40"][row % 4].to_owned());
    assert_eq!(marked.policy.missing, ["", "?", "NA"]);
    assert!(marked.text.contains("# 10 cells of 1 column are \"?\"."), "{}", marked.text);
    assert_eq!(marked.policy.attributes["age"].kind, Some(Kind::Numeric));
    let namibia = column("country", |row| ["NA", "DE"][row % 2].to_owned());
    assert_eq!(namibia.policy.missing, [""]);
}

#[test]
fn rare_and_identifying_values_are_not_shown() {
    let text = column("city", |row| if row < 30 { "Rome".into() } else { format!("Hamlet{row}") }).text;
    assert!(text.contains("\"Rome\" (30)") && !text.contains("Hamlet"), "{text}");
    let text = column("email", |_| "me@home".into()).text;
    assert!(!text.contains("me@home"), "{text}");
    let text = column("salary", |row| (91_000 + row).to_string()).text;
    assert!(!text.contains("91000") && !text.contains("91039"), "{text}");
}

#[test]
fn suggested_hierarchies_can_be_uncommented() {
    for (name, cell) in [
        ("age", (|row| (17 + row).to_string()) as fn(usize) -> String),
        ("zipcode", |row| (10_001 + row).to_string()),
        ("dob", |row| format!("19{:02}-0{}-11", 40 + row, 1 + row % 9)),
        ("birth weight", |row| format!("0.{row}")),
    ] {
        let found = column(name, cell);
        let text = found.text.replace("# hierarchy = {", "hierarchy = {");
        assert!(text != found.text, "{text}");
        let policy = Policy::parse(&text, None).unwrap();
        let table = run::read(found.file.path(), &policy, &Unwatched).unwrap();
        assert!(Problem::new(&table, &policy).is_ok(), "{text}");
    }
    assert!(column("age", |row| (17 + 2 * row).to_string()).text.contains("intervals = [5, 20]"));
    assert!(column("zip", |row| (10_001 + row).to_string()).text.contains("prefix = [4, 3, 0]"));
}

#[test]
fn small_tables_get_a_k_they_can_meet() {
    let names = ["age".to_owned()];
    assert_eq!(suggested(&names, &[]).unwrap().policy.privacy.k(), Some(1));
    let rows = vec![vec!["3".to_owned()]; 2];
    assert_eq!(suggested(&names, &rows).unwrap().policy.privacy.k(), Some(2));
}

fn cells() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,3}",
        "[a-c]",
        Just(String::new()),
        Just("?".to_owned()),
        Just("*".to_owned()),
        Just("NA".to_owned()),
        Just("1e300".to_owned()),
        Just("2020-02-29".to_owned()),
        "\\PC{0,8}",
    ]
}

fn column_names() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("age".to_owned()),
        Just("a.b".to_owned()),
        Just("say \"hi\"".to_owned()),
        Just("\\n]\n[x".to_owned()),
        Just("id".to_owned()),
        Just("salary".to_owned()),
        any::<String>(),
    ]
}

fn odd_tables() -> impl Strategy<Value = (Vec<String>, Vec<Vec<String>>)> {
    prop::collection::hash_set(column_names(), 1..6).prop_flat_map(|names| {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort();
        let rows = prop::collection::vec(prop::collection::vec(cells(), names.len()), 0..40);
        (Just(names), rows)
    })
}

proptest! {
    #[test]
    fn every_table_gets_a_policy_that_parses_and_runs((names, rows) in odd_tables()) {
        let found = match suggested(&names, &rows) {
            Ok(found) => found,
            // The reader may refuse a header; a policy that does not parse carries its text.
            Err(error) => {
                prop_assert!(!error.hint().unwrap_or_default().contains("[privacy]"), "{error}");
                return Ok(());
            }
        };
        let table = run::read(found.file.path(), &found.policy, &Unwatched).unwrap();
        let known: Vec<&String> = found.policy.attributes.keys().collect();
        prop_assert_eq!(known, table.names().iter().collect::<Vec<_>>());
        if !table.is_empty() {
            let problem = Problem::new(&table, &found.policy);
            prop_assert!(problem.is_ok(), "{:?}\n{}", problem.err(), found.text);
            let solved = run::solve(&problem.unwrap(), &found.policy, &Unwatched);
            prop_assert!(solved.is_ok(), "{:?}\n{}", solved.err(), found.text);
        }
    }
}
