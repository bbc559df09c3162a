//! Reading the keys of one TOML table: unknown keys and wrong types are errors that say what was expected.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeInteger, DeString, DeTable, DeValue, ValueDeserializer};

use super::source::Source;
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::words::suggest;

/// A value with its place in the policy.
pub(crate) type Item<'i> = Spanned<DeValue<'i>>;

/// A list of values, each with its place.
pub(crate) type List<T> = Spanned<Vec<Spanned<T>>>;

/// One table of the policy, none of whose keys is unknown.
pub(crate) struct Fields<'t, 'i> {
    source: Source<'t>,
    table: &'t DeTable<'i>,
}

impl<'t, 'i> Fields<'t, 'i> {
    /// Opens a table that allows the keys in `known` only; `title` names it in messages.
    pub fn open(source: Source<'t>, table: &'t DeTable<'i>, title: &str, known: &[&str]) -> Result<Self> {
        for (key, _) in in_order(table) {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let hint = suggest(name, known, &format!("the keys of {title} are {}", known.join(", ")));
                let message = format!("unknown key \"{name}\" in {title}");
                return Err(source
                    .error(ErrorCode::UnknownKey, &key.span(), message, "not a known key")
                    .with_hint(hint));
            }
        }
        Ok(Fields { source, table })
    }

    /// Opens a value that has to be a table.
    pub fn open_item(source: Source<'t>, item: &'t Item<'i>, title: &str, known: &[&str]) -> Result<Self> {
        let table = as_table(source, item, title)?;
        Self::open(source, table, title, known)
    }

    /// The value of a key, whatever its type.
    pub fn item(&self, key: &str) -> Option<&'t Item<'i>> {
        self.table.get(key)
    }

    /// A string.
    pub fn string(&self, key: &str) -> Result<Option<Spanned<String>>> {
        self.typed(key, "a string", string)
    }

    /// A whole number.
    pub fn whole(&self, key: &str) -> Result<Option<Spanned<i64>>> {
        self.typed(key, "a whole number", whole)
    }

    /// Any number.
    pub fn number(&self, key: &str) -> Result<Option<Spanned<f64>>> {
        self.typed(key, "a number", number)
    }

    /// `true` or `false`.
    pub fn flag(&self, key: &str) -> Result<Option<Spanned<bool>>> {
        self.typed(key, "true or false", boolean)
    }

    /// A list of strings.
    pub fn strings(&self, key: &str) -> Result<Option<List<String>>> {
        self.list(key, "a list of strings", string)
    }

    /// The values of a list of any type; none when the key is absent.
    pub fn items(&self, key: &str, expected: &str) -> Result<&'t [Item<'i>]> {
        let Some(item) = self.item(key) else { return Ok(&[]) };
        match item.get_ref() {
            DeValue::Array(items) => Ok(items),
            _ => Err(mismatch(self.source, item, key, expected)),
        }
    }

    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<Spanned<T>>> {
        self.item(key).map(|item| read_item(self.source, item, key, expected, &read)).transpose()
    }

    fn list<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<List<T>>> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let items = self.items(key, expected)?;
        let values = items.iter().map(|item| read_item(self.source, item, key, expected, &read));
        Ok(Some(Spanned::new(item.span(), values.collect::<Result<_>>()?)))
    }
}

fn read_item<T>(
    source: Source<'_>,
    item: &Item<'_>,
    name: &str,
    expected: &str,
    read: impl Fn(&DeValue<'_>) -> Option<T>,
) -> Result<Spanned<T>> {
    match read(item.get_ref()) {
        Some(value) => Ok(Spanned::new(item.span(), value)),
        None => Err(mismatch(source, item, name, expected)),
    }
}

/// The entries of a table as they follow each other in the text; the parser sorts them by name.
pub(crate) fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Spanned<DeString<'i>>, &'t Item<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.arrange_by_key(|(key, _)| key.span().start);
    entries
}

/// The table in a value, or an error that names what was found instead.
pub(crate) fn as_table<'t, 'i>(
    source: Source<'_>,
    item: &'t Item<'i>,
    title: &str,
) -> Result<&'t DeTable<'i>> {
    item.get_ref().as_table().ok_or_else(|| mismatch(source, item, title, "a table"))
}

/// A value of the wrong type.
pub(crate) fn mismatch(source: Source<'_>, item: &Item<'_>, name: &str, expected: &str) -> Error {
    let message = format!("{name} must be {expected}, found {}", found(item.get_ref()));
    source.error(ErrorCode::WrongType, &item.span(), message, format!("expected {expected}"))
}

/// A whole number, if it is one and not out of range.
pub(crate) fn whole(value: &DeValue<'_>) -> Option<i64> {
    value.as_integer().and_then(parse_integer)
}

/// Any number.
pub(crate) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => parse_integer(integer).map(|integer| integer as f64),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

fn string(value: &DeValue<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn boolean(value: &DeValue<'_>) -> Option<bool> {
    value.as_bool()
}

fn parse_integer(integer: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => "a string".to_owned(),
        DeValue::Integer(integer) if parse_integer(integer).is_none() => {
            "a number that is too large".to_owned()
        }
        DeValue::Integer(integer) => format!("the number {integer}"),
        DeValue::Float(float) => format!("the number {float}"),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Where a key stands in a table, if it is there.
pub(crate) fn key_span(table: &DeTable<'_>, key: &str) -> Option<Range<usize>> {
    table.get_key_value(key).map(|(key, _)| key.span())
}

/// Any value as it was written.
pub(crate) fn value(source: Source<'_>, key: &str, item: &Item<'_>) -> Result<toml::Value> {
    toml::Value::deserialize(ValueDeserializer::from(item.clone())).map_err(|error| {
        let span = error.span().unwrap_or_else(|| item.span());
        source.error(
            ErrorCode::BadValue,
            &span,
            format!("the value of {key} cannot be read"),
            error.message(),
        )
    })
}
