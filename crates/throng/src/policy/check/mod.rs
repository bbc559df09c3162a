//! From what was written to what is proven valid.

use std::path::Path;

use indexmap::IndexMap;
use toml::Spanned;

use super::written::{Written, WrittenBound, WrittenMethod};
use super::{
    AttributePolicy, DEFAULT_METHOD, Incomplete, MethodChoice, Policy, Role, SeriesChoice, Unlisted,
};
use crate::bound::Effort;
use crate::error::{ErrorCode, Result};
use crate::keys::source::Source;
use crate::keys::{above_zero, choose, memory, out_of_range, within};
use crate::table::Expansion;

mod attribute;
mod privacy;

pub(super) use privacy::read as read_privacy;

const INCOMPLETE: &[(&str, Incomplete)] = &[("drop", Incomplete::Drop), ("keep", Incomplete::Keep)];

/// The attributes by name, in the order they were written.
type Attributes = IndexMap<String, AttributePolicy>;

/// Checks a written policy that was read from a source.
pub(super) fn check(written: Written<'_>, source: Source<'_>) -> Result<Policy> {
    let Source { text, path, .. } = source;
    let attributes = attribute::check_all(source, &written.attributes)?;
    let missing = match written.missing {
        Some(markers) => markers.into_inner().into_iter().map(Spanned::into_inner).collect(),
        None => vec![String::new()],
    };
    let incomplete = written.incomplete.as_ref().map(|value| choose(source, "incomplete", value, INCOMPLETE));
    let unlisted = written.unlisted.as_ref().map(|value| choose(source, "unlisted", value, Unlisted::NAMES));
    let privacy = privacy::check(source, &written.privacy, &attributes, &missing)?;
    let series = SeriesChoice::check(source, &written.series, &privacy)?;
    Ok(Policy {
        path: path.map(Path::to_owned),
        text: text.to_owned(),
        incomplete: incomplete.transpose()?.unwrap_or(Incomplete::Keep),
        unlisted: unlisted.transpose()?.unwrap_or(Unlisted::Refuse),
        strict: written.privacy.strict.as_ref().is_none_or(|strict| *strict.get_ref()),
        header: header(source, written.header)?,
        expansion: expansion(source, written.max_expansion)?,
        privacy,
        missing,
        method: method(source, written.method)?,
        attributes,
        evaluate: written.evaluate,
        effort: effort(source, &written.bound)?,
        found_k: None,
        series,
        memory: written.memory.map(|memory| memory_of(source, &memory)).transpose()?,
    })
}

/// The memory that a run may take.
fn memory_of(source: Source<'_>, written: &Spanned<String>) -> Result<u64> {
    memory(written.get_ref()).map_err(|error| {
        let hint = error.hint().unwrap_or_default().to_owned();
        source.error(ErrorCode::BadValue, &written.span(), error.message(), "here").with_hint(hint)
    })
}

/// Whether somebody looked at the first line and says that it names the columns.
fn header(source: Source<'_>, header: Option<Spanned<bool>>) -> Result<bool> {
    match header {
        Some(no) if !no.get_ref() => Err(source
            .error(
                ErrorCode::NoHeader,
                &no.span(),
                "tables without a header are not read",
                "says that there is none",
            )
            .with_hint("put a line with the names of the columns above the table, and leave this key out")),
        header => Ok(header.is_some()),
    }
}

/// How far files may expand.
fn expansion(source: Source<'_>, times: Option<Spanned<i64>>) -> Result<Expansion> {
    let Some(times) = times else { return Ok(Expansion::default()) };
    match u64::try_from(*times.get_ref()) {
        Ok(number) if number > 0 => Ok(Expansion { times: number, ..Expansion::default() }),
        _ => Err(out_of_range(source, "max_expansion", &times, "a whole number of at least 1")),
    }
}

/// How long to look for the lower bound.
fn effort(source: Source<'_>, written: &WrittenBound) -> Result<Effort> {
    match (&written.seconds, &written.passes) {
        (Some(_), Some(passes)) => {
            let message = "bound has both seconds and passes";
            let error = source.error(ErrorCode::UnknownKey, &passes.span(), message, "beside seconds");
            Err(error.with_hint("keep one of the two"))
        }
        (Some(seconds), None) => above_zero(source, "seconds", seconds).map(Effort::Seconds),
        (None, Some(passes)) => u32::try_from(*passes.get_ref())
            .map(Effort::Passes)
            .map_err(|_| out_of_range(source, "passes", passes, "a whole number of at least 0")),
        (None, None) => Ok(Effort::Usual),
    }
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

fn with_role(attributes: &Attributes, role: Role) -> impl Iterator<Item = &str> {
    attributes.iter().filter(move |(_, attribute)| attribute.role == role).map(|(name, _)| name.as_str())
}
