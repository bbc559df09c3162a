//! Several quasi-identifiers, each with a k of its own (Fung, Wang, Yu 2007).
//!
//! A class with as many records as the largest k keeps all of them safe, because each combination of a named
//! quasi-identifier is at least as frequent as the classes it is made of. Methods that keep each of them safe by itself
//! lose less; they ask [`super::Requirement::quasi_identifiers`].

use std::sync::Arc;

use toml::{Table, Value};

use super::{Achieved, Figure, Kind, Linkable, Part, Spec, spec};
use crate::error::Result;
use crate::keys::fields::{Fields, Item, List};
use crate::keys::{Keys, missing_k, positive};
use crate::published::Published;

const KEY: &str = "quasi_identifiers";

/// The key `quasi_identifiers`.
pub const KIND: Kind = Kind { key: KEY, keys: &[KEY], read, unasked: spec::nothing };

/// Named sets of attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiIdentifiers {
    /// Each of them.
    pub each: Vec<QuasiIdentifier>,
}

/// A named set of attributes with its own k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiIdentifier {
    /// The attributes.
    pub attributes: Vec<String>,
    /// How many records must share each combination.
    pub k: usize,
}

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let each = keys.tables(KEY)?.iter().map(|item| read_one(keys, item)).collect::<Result<Vec<_>>>()?;
    Ok((!each.is_empty()).then(|| Arc::new(QuasiIdentifiers { each }) as Arc<dyn Spec>))
}

fn read_one(keys: &Keys<'_, '_>, item: &Item<'_>) -> Result<QuasiIdentifier> {
    let fields = Fields::open_item(keys.source, item, "[[privacy.quasi_identifiers]]", &["attributes", "k"])?;
    let names = fields.strings("attributes")?.ok_or_else(|| {
        keys.mistake(&item.span(), "a quasi-identifier without attributes", "attributes is missing here")
            .with_hint("add it, for example attributes = [\"age\", \"sex\"]")
    })?;
    let k = fields.whole("k")?.ok_or_else(|| missing_k(keys.source, &item.span(), "a quasi-identifier"))?;
    Ok(QuasiIdentifier { attributes: names_of(keys, &names)?, k: positive(keys.source, "k", &k)? })
}

fn names_of(keys: &Keys<'_, '_>, written: &List<String>) -> Result<Vec<String>> {
    if written.get_ref().is_empty() {
        let message = "a quasi-identifier needs at least one attribute";
        return Err(keys.mistake(&written.span(), message, "this list is empty"));
    }
    let mut names: Vec<String> = Vec::new();
    for name in written.get_ref() {
        let label = name.get_ref();
        if names.contains(label) {
            let message = format!("the attribute \"{label}\" stands in this quasi-identifier twice");
            let error = keys.mistake(&name.span(), message, "given before");
            return Err(error.with_hint("remove one of the two"));
        }
        keys.require_quasi(name)?;
        names.push(label.clone());
    }
    Ok(names)
}

impl Spec for QuasiIdentifiers {
    fn key(&self) -> &'static str {
        KEY
    }

    fn part(&self) -> Part {
        Part::K
    }

    fn keys(&self) -> Table {
        let one = |own: &QuasiIdentifier| {
            let names = own.attributes.iter().cloned().map(Value::String).collect();
            let entries = [("attributes", Value::Array(names)), ("k", Value::from(own.k as i64))];
            Value::Table(entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
        };
        Table::from_iter([(KEY.to_owned(), Value::Array(self.each.iter().map(one).collect()))])
    }

    fn attributes(&self) -> Option<Vec<&str>> {
        Some(self.each.iter().flat_map(|own| &own.attributes).map(String::as_str).collect())
    }

    fn linkable(&self) -> Vec<Linkable> {
        let one = |own: &QuasiIdentifier| Linkable { attributes: Some(own.attributes.clone()), k: own.k };
        self.each.iter().map(one).collect()
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let one = |own: &QuasiIdentifier| {
            let (k, names) = (published.smallest_on(&own.attributes), own.attributes.join(", "));
            let violation =
                (k < own.k).then(|| format!("k = {} is required on {names}, only {k} is reached", own.k));
            let whom = published.counted();
            Achieved::at_least(
                KEY,
                "k",
                format!("the fewest {whom} that share these attributes as published"),
            )
            .of(&own.attributes)
            .reached(Figure::Count(k as u64))
            .asked(Figure::Count(own.k as u64), violation.into_iter().collect())
        };
        Ok(self.each.iter().map(one).collect())
    }
}
