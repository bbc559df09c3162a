//! Several quasi-identifiers, each with a k of its own (Fung, Wang, Yu 2007).
//!
//! A class with as many records as the largest k keeps all of them safe, because each combination of a named
//! quasi-identifier is at least as frequent as the classes it is made of. Methods that keep each of them safe by itself
//! lose less; they ask [`super::Requirement::quasi_identifiers`].

use std::sync::Arc;

use toml::{Table, Value};

use super::{Achieved, Figure, Kind, Part, Spec, spec};
use crate::error::{ErrorCode, Result};
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

/// Attributes whose published combinations must be shared by at least k records each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiIdentifier {
    /// The names of the attributes; `None` for all that are generalized together.
    pub attributes: Option<Vec<String>>,
    /// How many records must share each combination.
    pub k: usize,
}

impl QuasiIdentifier {
    /// All attributes that are generalized, together.
    pub fn of_all(k: usize) -> Self {
        QuasiIdentifier { attributes: None, k }
    }

    /// Some attributes by name.
    pub fn named(attributes: Vec<String>, k: usize) -> Self {
        QuasiIdentifier { attributes: Some(attributes), k }
    }

    /// The names of its attributes; none if it is about all of them.
    pub fn names(&self) -> &[String] {
        self.attributes.as_deref().unwrap_or_default()
    }
}

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let each = keys.tables(KEY)?.iter().map(|item| read_one(keys, item)).collect::<Result<Vec<_>>>()?;
    Ok((!each.is_empty()).then(|| Arc::new(QuasiIdentifiers { each }) as Arc<dyn Spec>))
}

fn read_one(keys: &Keys<'_, '_>, item: &Item<'_>) -> Result<QuasiIdentifier> {
    let fields = Fields::open_item(keys.source, item, "[[privacy.quasi_identifiers]]", &["attributes", "k"])?;
    let names = fields.strings("attributes")?.ok_or_else(|| {
        keys.mistake(
            ErrorCode::MissingKey,
            &item.span(),
            "a quasi-identifier without attributes",
            "attributes is missing here",
        )
        .with_hint("add it, for example attributes = [\"age\", \"sex\"]")
    })?;
    let k = fields.whole("k")?.ok_or_else(|| missing_k(keys.source, &item.span(), "a quasi-identifier"))?;
    Ok(QuasiIdentifier::named(names_of(keys, &names)?, positive(keys.source, "k", &k)?))
}

fn names_of(keys: &Keys<'_, '_>, written: &List<String>) -> Result<Vec<String>> {
    if written.get_ref().is_empty() {
        let message = "a quasi-identifier needs at least one attribute";
        return Err(keys.mistake(ErrorCode::BadValue, &written.span(), message, "this list is empty"));
    }
    let mut names: Vec<String> = Vec::new();
    for name in written.get_ref() {
        let label = name.get_ref();
        if names.contains(label) {
            let message = format!("the attribute \"{label}\" stands in this quasi-identifier twice");
            let error = keys.mistake(ErrorCode::DuplicateKey, &name.span(), message, "given before");
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
            let names = own.names().iter().cloned().map(Value::String).collect();
            let entries = [("attributes", Value::Array(names)), ("k", Value::from(own.k as i64))];
            Value::Table(entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
        };
        Table::from_iter([(KEY.to_owned(), Value::Array(self.each.iter().map(one).collect()))])
    }

    fn attributes(&self) -> Option<Vec<&str>> {
        Some(self.each.iter().flat_map(QuasiIdentifier::names).map(String::as_str).collect())
    }

    fn linkable(&self) -> Vec<QuasiIdentifier> {
        self.each.clone()
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let one = |own: &QuasiIdentifier| {
            let (k, names) = (published.smallest_on(own.names()), own.names().join(", "));
            let violation =
                (k < own.k).then(|| format!("k = {} is required on {names}, only {k} is reached", own.k));
            let meaning =
                format!("the fewest {} that share these attributes as published", published.counted());
            Achieved::at_least(KEY, "k", meaning)
                .of(own.names())
                .reached(Figure::Count(k as u64))
                .asked(Figure::Count(own.k as u64), violation.into_iter().collect())
        };
        Ok(self.each.iter().map(one).collect())
    }
}
