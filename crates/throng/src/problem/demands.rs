//! What each record asks for itself: the k of a column, or of rules that pick records.

use std::sync::Arc;

use super::{Attribute, Counted, Records, column_codes};
use crate::condition::Condition;
use crate::error::{Error, Result};
use crate::policy::{OwnK, Policy};
use crate::table::{Domain, Table};

/// The columns that rules may ask about.
pub(super) struct Coded<'a> {
    pub attributes: &'a [Attribute],
    pub records: &'a Records,
    pub counted: &'a [&'a Counted],
}

/// The largest k that is asked for each record; one for which nothing is asked has 1.
pub(super) fn of_records(
    table: &Table,
    policy: &Policy,
    rows: Option<&[u32]>,
    coded: &Coded<'_>,
) -> Result<Option<Arc<[u32]>>> {
    let from_column = from_column(table, policy, rows)?;
    if policy.privacy.own_k.is_empty() {
        return Ok(from_column.map(Arc::from));
    }
    let mut demands = from_column.unwrap_or_else(|| vec![1; coded.records.len()]);
    for rule in &policy.privacy.own_k {
        let conditions = bind(policy, rule, coded)?;
        for (record, demand) in demands.iter_mut().enumerate() {
            if *demand < rule.k && conditions.iter().all(|(column, meets)| meets[column.code(record)]) {
                *demand = rule.k;
            }
        }
    }
    Ok(Some(demands.into()))
}

fn from_column(table: &Table, policy: &Policy, rows: Option<&[u32]>) -> Result<Option<Vec<u32>>> {
    let Some(name) = &policy.privacy.k_column else { return Ok(None) };
    let Some(column) = table.names().iter().position(|column| column == name) else { return Ok(None) };
    let read = |(entry, text): (usize, &&str)| {
        if text.is_empty() || policy.missing.iter().any(|marker| marker == text) {
            return Ok(1);
        }
        text.trim().parse::<u32>().ok().filter(|k| *k >= 1).ok_or_else(|| {
            let error = Error::input(format!("\"{}\" is not a k", crate::table::domain::shorten(text)))
                .with_hint("the column that k_column names holds whole numbers of at least 1, or nothing");
            table.error_at(column, entry as u32, error)
        })
    };
    let of_entry = table.values(column).iter().enumerate().map(read).collect::<Result<Vec<u32>>>()?;
    Ok(Some(column_codes(table, column, &of_entry, rows)))
}

/// Where the code of a record is found.
enum Column<'a> {
    Quasi(&'a Records, usize),
    Counted(&'a [u32]),
}

impl Column<'_> {
    fn code(&self, record: usize) -> usize {
        match self {
            Column::Quasi(records, at) => records.code(record, *at) as usize,
            Column::Counted(codes) => codes[record] as usize,
        }
    }
}

/// The columns of a rule, and for each which codes meet its condition.
fn bind<'a>(policy: &Policy, rule: &OwnK, coded: &Coded<'a>) -> Result<Vec<(Column<'a>, Vec<bool>)>> {
    let one = |(name, value, span): &(String, toml::Value, std::ops::Range<usize>)| {
        let (column, domain) = coded.find(name)?;
        let condition = Condition::read(name, domain, value)
            .map_err(|error| policy.point(error.for_attribute(name), span, "in this condition"));
        Some(condition.map(|condition| (column, condition.codes(domain))))
    };
    rule.conditions.iter().filter_map(one).collect()
}

impl<'a> Coded<'a> {
    fn find(&self, name: &str) -> Option<(Column<'a>, &'a Domain)> {
        let quasi = self.attributes.iter().enumerate().find(|(_, attribute)| attribute.name == name);
        let quasi = quasi.map(|(at, attribute)| (Column::Quasi(self.records, at), &attribute.domain));
        let counted = self.counted.iter().find(|counted| counted.name == name);
        quasi.or_else(|| counted.map(|counted| (Column::Counted(&counted.codes), &counted.domain)))
    }
}
