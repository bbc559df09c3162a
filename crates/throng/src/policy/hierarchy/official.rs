//! Groups of regulators: `{ safe_harbor = "zip" }`, `{ ema = "age" }` and their further keys.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::super::Hierarchy;
use super::file;
use crate::error::{Error, ErrorCode, Result};
use crate::keys::fields::{Fields, Item, key_span, value};
use crate::keys::source::Source;
use crate::schema::Official;
use crate::schema::official::{FEW_PEOPLE, three_digits};

/// A file of how many people live where, in place of a list of areas.
const POPULATION: &str = "population";

/// The groups of a regulator; none when the table is anything else.
pub(super) fn read(source: Source<'_>, item: &Item<'_>, table: &DeTable<'_>) -> Result<Option<Hierarchy>> {
    let named = |key: &&str| {
        let word = table.get(*key).and_then(|item| item.get_ref().as_str());
        word.is_some_and(|word| !word.is_empty())
    };
    let Some(builder) = Official::KEYS.iter().find(|key| named(key)) else { return Ok(None) };
    let known: Vec<&str> = Official::ALL_KEYS.into_iter().chain([POPULATION]).collect();
    let title = format!("a hierarchy with {builder}");
    Fields::open(source, table, &title, &known)?;
    let mut keys = toml::Table::new();
    for (key, own) in table.iter().filter(|(key, _)| key.get_ref() != POPULATION) {
        keys.insert(key.get_ref().to_string(), value(source, key.get_ref(), own)?);
    }
    if let Some(file) = table.get(POPULATION) {
        if let Some(key) = ["restricted", "kept"].into_iter().find(|key| keys.contains_key(*key)) {
            let message = format!("population and {key} say in two ways which areas are told");
            return Err(at(source, item, table, key, message));
        }
        let areas = populous(source, file)?;
        keys.insert("kept".to_owned(), areas.into());
    }
    match Official::read(&keys) {
        Ok(own) => Ok(Some(Hierarchy::Official(own))),
        Err(("kept", _)) if table.contains_key(POPULATION) => {
            let message = "population has no use in this builder".to_owned();
            Err(at(source, item, table, POPULATION, message))
        }
        Err((key, message)) => Err(at(source, item, table, key, message)),
    }
}

/// An error at the value of a key, or at the whole table where the key is wanting.
fn at(source: Source<'_>, item: &Item<'_>, table: &DeTable<'_>, key: &str, message: String) -> Error {
    let span = table.get(key).map(Item::span).or_else(|| key_span(table, key)).unwrap_or_else(|| item.span());
    let example = match key {
        "as_of" => "{ safe_harbor = \"birth\", as_of = \"2026-12-31\" }",
        "ema" => "{ ema = \"age\" }",
        _ => "{ safe_harbor = \"zip\" }",
    };
    source
        .error(ErrorCode::BadHierarchy, &span, message, "not this")
        .with_hint(format!("for example hierarchy = {example}"))
}

/// The three-digit areas that more people live in than may be told apart. An area that the file does not have is none.
fn populous(source: Source<'_>, item: &Item<'_>) -> Result<Vec<String>> {
    let DeValue::String(name) = item.get_ref() else {
        return Err(crate::keys::fields::mismatch(source, item, POPULATION, "the name of a file"));
    };
    let (path, bytes) = file::bytes(source, item, name)?;
    people_by_area(&bytes).map_err(|error| error.in_file(&path))
}

/// Adds up `area;people`, areas with three or five digits; a first line that names columns is passed over.
fn people_by_area(bytes: &[u8]) -> Result<Vec<String>> {
    let mut people: BTreeMap<String, u64> = BTreeMap::new();
    for (at, record) in file::records(bytes)?.enumerate() {
        let record = record?;
        let cells: Vec<&str> = record.cells.iter().map(|cell| cell.trim()).collect();
        let read = match cells[..] {
            [area, count] => three_digits(area).zip(count.parse::<u64>().ok()),
            _ => None,
        };
        match read {
            Some((area, count)) => {
                let own = people.entry(area.to_owned()).or_default();
                *own = own.saturating_add(count);
            }
            None if at == 0 && cells.len() == 2 && cells[1].parse::<f64>().is_err() => {}
            None => {
                return Err(Error::new(ErrorCode::BadHierarchy, "this line is not an area and its people")
                    .on_line(record.line)
                    .with_hint("write a ZIP code of three or five digits and a whole number: 53711;24000"));
            }
        }
    }
    let areas: Vec<String> =
        people.into_iter().filter(|(_, count)| *count > FEW_PEOPLE).map(|(area, _)| area).collect();
    match areas.is_empty() {
        true => Err(Error::new(ErrorCode::BadHierarchy, "no area of this file has more than 20,000 people")
            .with_hint("one line per ZIP code of three or five digits: 53711;24000")),
        false => Ok(areas),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn people_of_an_area_are_added_up() {
        let file = b"zip,people\n53701,15000\n53711,5001\n10201,20000\n059,20001\n";
        assert_eq!(people_by_area(file).unwrap(), ["059", "537"]);
        for wrong in [&b"53701;many\n"[..], b"5370;12\n", b"53701\n", b"", b"53701;1\nx;y\n", b"537;20000\n"]
        {
            assert!(people_by_area(wrong).is_err(), "{wrong:?}");
        }
    }
}
