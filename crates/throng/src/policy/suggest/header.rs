//! Tables without a header: the first row, taken for names, is a record.
//!
//! It is one if its cells are of the kinds of the cells below (a number above numbers, a date above dates) or are among
//! them. A number column with a name that is no number proves a header, and so do names that count up (`0`, `1`, `2`, or
//! years).

use super::look::{Form, Values};
use crate::error::{Error, ErrorCode, Result};
use crate::table::{Table, value};

/// Refuses a table whose first row is a record.
pub(super) fn check(table: &Table, names: &[&str], columns: &[Values<'_>]) -> Result<()> {
    if table.dialect().is_none() || table.is_empty() {
        return Ok(());
    }
    let signs: Vec<Sign> = names.iter().zip(columns).map(|(name, values)| sign(name, values)).collect();
    let records = signs.iter().filter(|sign| **sign == Sign::Record).count();
    let numbers = signs.iter().zip(columns).any(|(sign, values)| *sign == Sign::Record && !values.is_text());
    let enough = numbers || 2 * records >= signs.len();
    if records == 0 || !enough || signs.contains(&Sign::Header) || count_up(table.names()) {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::NoHeader,
        "the table seems to have no header: its first line looks like a record",
    )
    .in_file(table.origin())
    .on_line(1)
    .with_hint(HINT))
}

/// What to do about it.
pub(super) const HINT: &str =
    "put a line with the names of the columns above it; names must not be among the values below them";

/// Whether a name could be a cell, so that it is worth looking at all values: a number or date, or one of its column.
pub(super) fn is_doubtful(table: &Table) -> bool {
    let doubtful = |(at, name): (usize, &String)| {
        let reads = value::number(name).is_some() || value::date(name).is_some();
        reads || table.values(at).contains(&name.as_str())
    };
    table.dialect().is_some() && table.names().iter().enumerate().any(doubtful)
}

/// What a name says about the row it stands in.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Header,
    Record,
    Neither,
}

fn sign(name: &str, values: &Values<'_>) -> Sign {
    let alike = values.spelling.as_ref().is_some_and(|spelling| spelling.read(name).is_some());
    match values.form {
        Form::Numbers | Form::Dates | Form::Times if alike => Sign::Record,
        Form::Numbers | Form::Dates | Form::Times if name.chars().any(char::is_alphabetic) => Sign::Header,
        Form::Text if values.distinct < values.cells && values.has(name) => Sign::Record,
        _ => Sign::Neither,
    }
}

/// Whether all names that are numbers follow each other.
fn count_up(names: &[String]) -> bool {
    let numbers: Vec<i64> = names.iter().filter_map(|name| value::whole(name)).collect();
    numbers.len() > 1 && numbers.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(1))
}
