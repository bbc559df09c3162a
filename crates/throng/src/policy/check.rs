//! From what was written to what is proven valid.

use std::path::Path;

use indexmap::IndexMap;
use toml::Spanned;

use super::source::{Source, alternatives, suggest};
use super::written::{Written, WrittenMethod};
use super::{AttributePolicy, DEFAULT_METHOD, Incomplete, MethodChoice, Policy, Role};
use crate::error::Result;

mod attribute;
mod privacy;

pub(super) use privacy::{K_EXPECTED, l_expected, needs_sensitive};

const INCOMPLETE: &[(&str, Incomplete)] = &[("drop", Incomplete::Drop), ("keep", Incomplete::Keep)];

/// The attributes by name, in the order they were written.
type Attributes = IndexMap<String, AttributePolicy>;

/// Checks a written policy; `text` and `path` are those it was read from.
pub(super) fn check(written: Written<'_>, text: &str, path: Option<&Path>) -> Result<Policy> {
    let source = Source { text, path };
    let attributes = attribute::check_all(source, &written.attributes)?;
    let incomplete = written.incomplete.as_ref().map(|value| choose(source, "incomplete", value, INCOMPLETE));
    Ok(Policy {
        path: path.map(Path::to_owned),
        text: text.to_owned(),
        missing: match written.missing {
            Some(markers) => markers.into_inner().into_iter().map(Spanned::into_inner).collect(),
            None => vec![String::new()],
        },
        incomplete: incomplete.transpose()?.unwrap_or(Incomplete::Keep),
        privacy: privacy::check(source, &written.privacy, &attributes)?,
        method: method(source, written.method)?,
        attributes,
        evaluate: written.evaluate,
    })
}

fn method(source: Source<'_>, written: WrittenMethod) -> Result<MethodChoice> {
    let seed_given = written.seed.is_some();
    let seed = written.seed.map_or(Ok(0), |seed| {
        u64::try_from(*seed.get_ref())
            .map_err(|_| out_of_range(source, "seed", &seed, "a whole number of at least 0"))
    });
    Ok(MethodChoice {
        seed: seed?,
        seed_given,
        replaced: false,
        span: written.name.as_ref().map(Spanned::span),
        name: written.name.map_or_else(|| DEFAULT_METHOD.to_owned(), Spanned::into_inner),
        options: written.options,
    })
}

/// One of several words.
fn choose<T: Copy>(
    source: Source<'_>,
    key: &str,
    written: &Spanned<String>,
    choices: &[(&str, T)],
) -> Result<T> {
    let word = written.get_ref();
    if let Some((_, choice)) = choices.iter().find(|(name, _)| name == word) {
        return Ok(*choice);
    }
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let message = format!("{key} must be {}, found \"{word}\"", alternatives(&names));
    let hint = suggest(word, &names, "");
    let error = source.error(&written.span(), message, format!("not a known {key}"));
    Err(if hint.is_empty() { error } else { error.with_hint(hint) })
}

/// A number that has to lie in a range.
fn within(
    source: Source<'_>,
    key: &str,
    written: &Spanned<f64>,
    expected: &str,
    allowed: impl Fn(f64) -> bool,
) -> Result<f64> {
    match *written.get_ref() {
        value if allowed(value) => Ok(value),
        _ => Err(out_of_range(source, key, written, expected)),
    }
}

fn above_zero(source: Source<'_>, key: &str, written: &Spanned<f64>) -> Result<f64> {
    within(source, key, written, "a number above 0", |value| value.is_finite() && value > 0.0)
}

fn out_of_range(
    source: Source<'_>,
    key: &str,
    written: &Spanned<impl std::fmt::Display>,
    expected: &str,
) -> crate::Error {
    let message = format!("{key} must be {expected}, found {}", written.get_ref());
    source.error(&written.span(), message, format!("expected {expected}"))
}

fn with_role(attributes: &Attributes, role: Role) -> impl Iterator<Item = &str> {
    attributes.iter().filter(move |(_, attribute)| attribute.role == role).map(|(name, _)| name.as_str())
}
