//! The columns beside the quasi-identifiers that a release publishes, in codes of the table.

use std::borrow::Cow;

use crate::audit::{codes_of, permutation};
use crate::collections::Map;
use crate::error::Result;
use crate::evaluate::{Study, read_all};
use crate::policy::{Kind, Role};
use crate::problem::{Problem, Protected};
use crate::table::Table;
use crate::table::domain::{Encoding, encode_categorical, encode_numeric, guess_kind};
use crate::watch::Unwatched;
use crate::workload::{Column, Told};

/// Sensitive and class attributes, and what is passed through.
pub(super) fn published<'a>(study: &'a Study<'_>) -> Result<Vec<Column<'a>>> {
    let (problem, release) = (study.problem, study.release);
    let mut columns = sensitive(problem, release, study.sensitive)?;
    for own in problem.labels.iter().filter(|own| release.names().contains(&own.name)) {
        columns.push(Column::of(own, Told::Rows(codes_of(own, release)?.into())));
    }
    columns.extend(passed_through(study)?);
    Ok(columns)
}

/// Sensitive attributes, of rows or of groups.
pub(super) fn sensitive<'a>(
    problem: &'a Problem,
    release: &Table,
    apart: Option<&Table>,
) -> Result<Vec<Column<'a>>> {
    if let Some(groups) = permutation::groups(problem, release, apart)? {
        let told = Told::Groups(release.numbers(groups.column).to_vec(), groups.of_group);
        return Ok(problem.sensitive.first().map(|own| Column::of(own, told)).into_iter().collect());
    }
    let rows = |own: &'a Protected| Ok(Column::of(own, Told::Rows(codes_of(own, release)?.into())));
    problem.sensitive.iter().map(rows).collect()
}

/// Columns with the role `other` that table and release both have.
fn passed_through(study: &Study<'_>) -> Result<Vec<Column<'static>>> {
    let (problem, policy, release) = (study.problem, study.policy, study.release);
    let coded = |name: &String| {
        problem.attributes.iter().any(|own| own.name == *name)
            || problem.sensitive.iter().chain(&problem.labels).any(|own| own.name == *name)
    };
    let other = |name: &&String| !coded(name) && matches!(policy.role(name), Role::Other);
    let names: Vec<&String> = release.names().iter().filter(other).collect();
    let names: Vec<&String> = names.into_iter().filter(|name| study.table.names().contains(name)).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let table = read_all(study.open, policy, &Unwatched)?;
    Ok(names.into_iter().filter_map(|name| column(study, &table, name)).collect())
}

/// A column with one code for each text of table and release.
fn column(study: &Study<'_>, table: &Table, name: &str) -> Option<Column<'static>> {
    let at = |names: &[String]| names.iter().position(|own| own == name);
    let (own, published) = (at(table.names())?, at(study.release.names())?);
    let mut numbers: Map<&str, u32> = Map::default();
    let mut texts: Vec<&str> = Vec::new();
    let mut number = |text| {
        *numbers.entry(text).or_insert_with(|| {
            texts.push(text);
            texts.len() as u32 - 1
        })
    };
    let of_table: Vec<u32> = table.values(own).into_iter().map(&mut number).collect();
    let of_release: Vec<u32> = study.release.values(published).into_iter().map(&mut number).collect();
    let is_missing = |text: &&str| study.policy.missing.iter().any(|marker| marker == text);
    let missing: Vec<bool> = texts.iter().map(is_missing).collect();
    let encoded: Encoding = match guess_kind(texts.iter().copied().filter(|text| !is_missing(text))) {
        Kind::Numeric => encode_numeric(&texts, &missing).ok()?,
        Kind::Categorical => encode_categorical(&texts, &missing, None).ok()?,
    };
    let code = |entry: u32| encoded.codes[entry as usize];
    let records = 0..study.problem.len() as u32;
    let of_record = records.map(|record| {
        let row = study.problem.row(record);
        code(of_table[table.numbers(own)[row] as usize])
    });
    let of_row = study.release.numbers(published).iter().map(|entry| code(of_release[*entry as usize]));
    Some(Column {
        name: Cow::Owned(name.to_owned()),
        of_record: of_record.collect::<Vec<_>>().into(),
        told: Told::Rows(of_row.collect::<Vec<_>>().into()),
        domain: Cow::Owned(encoded.domain),
    })
}
