//! The table: its columns, what each of them is, and who can be found by them.

use std::sync::Arc;

use minijinja::{Value, context};
use throng::policy::{AttributePolicy, Policy};
use throng::report::pieces::{self, count, percent};
use throng::{Error, Fault, Kind, Result, Role};

use super::{At, capital, markup, render, told, work};
use crate::opened::Opened;
use crate::studio::{Studio, TableRisk};
use crate::work;

/// The screen.
pub fn show(studio: &Arc<Studio>, at: &At) -> Result<String> {
    let opened = studio.opened();
    let policy = studio.project(|project| project.policy());
    let tables = studio.folder.tables();
    let files: Vec<Value> = tables
        .iter()
        .map(|(name, bytes)| {
            let here = opened.as_ref().is_some_and(|opened| opened.name == *name);
            context! { name => name.clone(), size => size(*bytes), here }
        })
        .collect();
    let columns = opened.as_ref().map(|opened| columns(opened, policy.as_ref().ok()));
    let error = policy.as_ref().err().filter(|_| opened.is_some());
    let mismatch = opened
        .as_ref()
        .zip(policy.as_ref().ok())
        .and_then(|(opened, policy)| policy.check_columns(opened.table.names()).err());
    render(
        "table.html",
        context! {
            files,
            name => opened.as_ref().map(|opened| opened.name.clone()),
            rows => opened.as_ref().map(|opened| count(opened.table.len() as u64)),
            columns,
            roles => roles(),
            error => error.or(mismatch.as_ref()).map(told),
            mismatch => mismatch.is_some(),
            work => work(studio.works.of(work::Kind::Open)),
            load => opened.is_some() && policy.is_ok() && mismatch.is_none(),
            only => at.get("only").cloned().unwrap_or_default(),
        },
    )
}

/// The roles, with what each means.
fn roles() -> Vec<Value> {
    let meanings = [
        (Role::Quasi, "others may know it about a person: generalized"),
        (Role::Sensitive, "must not be learned about a person: published, protected by l and t"),
        (Role::Class, "what recipients want to predict: published as it is"),
        (Role::Identifier, "names a person: never published"),
        (
            Role::Person,
            "whose record it is, where one person has several: people are counted; never published",
        ),
        (Role::Other, "published as it is"),
    ];
    meanings.map(|(role, meaning)| context! { name => role.name(), meaning }).to_vec()
}

fn columns(opened: &Opened, policy: Option<&Policy>) -> Vec<Value> {
    let column = |(at, name): (usize, &String)| {
        let own = policy.and_then(|policy| policy.attributes.get(name));
        let guessed = &opened.suggestion.columns[at];
        let kind = match guessed.kind {
            Kind::Numeric if guessed.dates => "dates",
            Kind::Numeric => "numbers",
            _ => "categories",
        };
        context! {
            at,
            name => name.clone(),
            role => own.map_or("", |own| own.role.name()),
            listed => own.is_some(),
            kind => own.and_then(|own| own.kind).map_or("", Kind::name),
            guessed_kind => kind,
            weight => own.map_or(String::new(), weight),
            quasi => own.is_some_and(|own| own.role == Role::Quasi),
            distinct => count(guessed.distinct),
            missing => if guessed.missing > 0 { count(guessed.missing) } else { String::new() },
            missing_share => percent(guessed.missing as f64 / opened.table.len().max(1) as f64),
            picture => markup(pieces::small_histogram(&format!("How often values of {name} occur"), &opened.bins[at])),
            guess => guessed.role.name(),
            differs => own.is_some_and(|own| own.role != guessed.role),
            why => capital(guessed.why),
            check => guessed.check,
            warnings => warnings(opened, at, own),
            confirmed => own.is_some_and(|own| own.confirmed),
            confirmable => own.is_some_and(|own| matches!(own.role, Role::Other | Role::Class | Role::Sensitive)) && looks_identifying(opened, at),
        }
    };
    opened.table.names().iter().enumerate().map(column).collect()
}

fn weight(own: &AttributePolicy) -> String {
    match own.auto_weight {
        true => "auto".to_owned(),
        false if own.weight == 1.0 => String::new(),
        false => own.weight.to_string(),
    }
}

/// Whether what was guessed is that it names people.
fn looks_identifying(opened: &Opened, at: usize) -> bool {
    opened.suggestion.columns[at].role == Role::Identifier
}

/// What to look at twice.
fn warnings(opened: &Opened, at: usize, own: Option<&AttributePolicy>) -> Vec<String> {
    let guessed = &opened.suggestion.columns[at];
    let cells = (opened.table.len() as u64).saturating_sub(guessed.missing);
    let mut warnings = Vec::new();
    let Some(own) = own else {
        return vec!["The policy does not mention this column: choose a role.".to_owned()];
    };
    let published = matches!(own.role, Role::Other | Role::Class | Role::Sensitive);
    if published && cells >= 20 && guessed.distinct * 10 > cells * 9 {
        warnings.push(format!(
            "Nearly unique: {} values in {} cells would be published as they are.",
            count(guessed.distinct),
            count(cells)
        ));
    }
    if published && looks_identifying(opened, at) {
        warnings.push("Looks like an identifier and would be published as it is.".to_owned());
    }
    if published && guessed.dates {
        warnings.push("Dates are known to others; published as they are they find people.".to_owned());
    }
    warnings
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=999 => format!("{bytes} bytes"),
        1_000..=999_999 => format!("{:.0} kB", bytes as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The risk of the table as it stands, or why there is none.
pub fn risk(studio: &Studio) -> String {
    let context = match studio.risk() {
        Ok(risk) => known(&risk),
        Err(error) if error.fault() == Fault::Cancelled => {
            context! { newer => true, error => (), risk => () }
        }
        Err(error) => unknown(&error),
    };
    render("risk.html", context).unwrap_or_else(|error| super::refusal(error.message()))
}

fn unknown(error: &Error) -> Value {
    context! { newer => false, error => told(error), risk => () }
}

fn known(found: &TableRisk) -> Value {
    let risk = &found.risk;
    let share = risk.people.as_ref().map_or(risk.unique_share, |people| people.unique_share);
    let combinations: Vec<Value> = risk
        .combinations
        .iter()
        .map(|one| {
            context! {
                names => one.attributes.clone(),
                unique => count(one.unique_records),
                share => percent(one.unique_share),
                width => format!("{:.1}", 100.0 * one.unique_share),
            }
        })
        .collect();
    let again: Vec<String> = found
        .again
        .iter()
        .map(|one| {
            format!(
                "\"{}\" says again what \"{}\" hides: each of its values goes with one value there.",
                one.column, one.hidden
            )
        })
        .collect();
    context! {
        newer => false,
        error => (),
        risk => context! {
            share => percent(share),
            width => format!("{:.1}", 100.0 * share),
            people => risk.people.is_some(),
            headline => pieces::risk_headline(risk),
            combinations,
            again,
            as_is => as_is(risk),
            notes => risk.notes.iter().map(|note| capital(note)).collect::<Vec<_>>(),
            highest => percent(risk.prosecutor.highest),
            average => percent(risk.prosecutor.average),
        },
    }
}

fn as_is(risk: &throng::RiskReport) -> Vec<Value> {
    let columns = risk.published_as_is.iter().flat_map(|own| &own.columns);
    columns
        .map(|own| {
            context! {
                name => own.name.clone(),
                role => own.role.to_string(),
                share => percent(own.unique_share_with_quasi),
                looks => own.looks.iter().map(|looks| looks.words()).collect::<Vec<_>>(),
            }
        })
        .collect()
}
