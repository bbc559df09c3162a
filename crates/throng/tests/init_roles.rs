//! What `init` makes of columns as people name and fill them, in six languages: `init_roles/columns.txt`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::collections::BTreeMap;

use throng::format::CSV;
use throng::policy::suggest::suggest;
use throng::policy::{Policy, Role};
use throng::table::{Reading, Storage, Table};
use throng::watch::Unwatched;

const ROWS: usize = 40;

struct Case {
    name: String,
    role: String,
    values: Vec<String>,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("init_roles/columns.txt").lines();
    lines
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let [name, role, values] = line.split(" | ").collect::<Vec<_>>().try_into().expect(line);
            let values = values.split(';').map(str::to_owned).collect();
            Case { name: name.to_owned(), role: role.to_owned(), values }
        })
        .collect()
}

/// The role that a column gets in a table with one other column. Numbers recur after so many rows.
fn role_of(case: &Case, different: usize) -> &'static str {
    let mut text = format!("\"{}\",filler\n", case.name);
    for row in 0..ROWS {
        let cell = case.values[row % case.values.len()].replace('%', &(row % different).to_string());
        text += &format!("\"{}\",x\n", cell.replace('"', "\"\""));
    }
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let table = Table::read_from(&CSV, text.as_bytes(), &Reading::new(&plan, &Unwatched)).unwrap();
    let suggestion = suggest(&table).unwrap();
    // A column that says whose a record is is not published either.
    match Policy::parse(&suggestion.text, None).unwrap().role(&case.name) {
        Role::Person => Role::Identifier.name(),
        role => role.name(),
    }
}

#[test]
fn columns_get_the_role_that_a_careful_steward_would_give_them() {
    let cases = cases();
    assert!(cases.len() >= 300, "{}", cases.len());
    let mut found: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let role = role_of(case, ROWS);
        assert_ne!(role, "other", "{} would be published as it is", case.name);
        let (right, all) = found.entry(&case.role).or_default();
        *all += 1;
        match role == case.role {
            true => *right += 1,
            false => wrong.push(format!("{}: {role} instead of {}", case.name, case.role)),
        }
    }
    // Seen with --nocapture: what to teach the lexicon next.
    eprintln!("{}", wrong.join("\n"));
    for (role, least) in [("identifier", 0.95), ("quasi", 0.9), ("sensitive", 0.9)] {
        let (right, all) = found[role];
        assert!(
            right as f64 >= least * all as f64,
            "{right} of {all} of role {role} found:\n{}",
            wrong.join("\n")
        );
    }
}

/// Where values recur, as with several records of a person, only names and the form of values are left to tell.
#[test]
fn identifiers_that_recur_are_found_by_their_names_and_forms() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.role == "identifier").collect();
    let recurring = |case: &&Case| case.values.iter().any(|value| value.contains('%'));
    let mut missed = Vec::new();
    for case in cases.iter().filter(recurring) {
        match role_of(case, 13) {
            "identifier" => {}
            role => missed.push(format!("{}: {role}", case.name)),
        }
    }
    let all = cases.iter().filter(recurring).count();
    assert!(missed.len() * 20 <= all, "{} of {all}:\n{}", missed.len(), missed.join("\n"));
}
