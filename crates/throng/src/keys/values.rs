//! Values that must be one of several words, or lie in a range.

use std::ops::RangeInclusive;

use toml::Spanned;

use super::source::Source;
use crate::error::{Error, ErrorCode, Result};
use crate::words::{alternatives, suggest};

/// One of several words.
pub(crate) fn choose<T: Copy>(
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
    let error = source.error(ErrorCode::BadValue, &written.span(), message, format!("not a known {key}"));
    Err(if hint.is_empty() { error } else { error.with_hint(hint) })
}

/// A number that has to lie in a range.
pub(crate) fn within(
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

pub(crate) fn above_zero(source: Source<'_>, key: &str, written: &Spanned<f64>) -> Result<f64> {
    within(source, key, written, "a number above 0", |value| value.is_finite() && value > 0.0)
}

/// Weights and importances beyond these would drown all others in rounding, or overflow the figures of a report.
const WEIGHTS: RangeInclusive<f64> = 1e-6..=1e6;
/// Weights and importances, in words.
pub(crate) const WEIGHT_EXPECTED: &str = "from 0.000001 to 1000000";

/// A weight or an importance.
pub(crate) fn weight(source: Source<'_>, key: &str, written: &Spanned<f64>) -> Result<f64> {
    let weight = above_zero(source, key, written)?;
    if is_weight(weight) {
        return Ok(weight);
    }
    let message = format!("{key} must be {WEIGHT_EXPECTED}, found {weight:e}");
    Err(source
        .error(ErrorCode::BadValue, &written.span(), message, "too near to 0, or too large")
        .with_hint("only how such numbers compare with each other counts; what is left out counts as 1"))
}

/// Whether a number may be a weight or an importance.
pub(crate) fn is_weight(value: f64) -> bool {
    WEIGHTS.contains(&value)
}

pub(crate) fn out_of_range(
    source: Source<'_>,
    key: &str,
    written: &Spanned<impl std::fmt::Display>,
    expected: &str,
) -> Error {
    let message = format!("{key} must be {expected}, found {}", written.get_ref());
    source.error(ErrorCode::BadValue, &written.span(), message, format!("expected {expected}"))
}
