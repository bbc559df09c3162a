//! Checks `[privacy]`: each kind of requirement reads its own keys.

use std::sync::Arc;

use toml::de::DeTable;

use super::{Attributes, with_role, within};
use crate::error::{ErrorCode, Result};
use crate::keys::Keys;
use crate::keys::fields::Fields;
use crate::keys::source::Source;
use crate::policy::Role;
use crate::policy::written::{WrittenPrivacy, privacy_keys};
use crate::privacy::{HardRules, Privacy};

pub(super) fn check(
    source: Source<'_>,
    written: &WrittenPrivacy<'_>,
    attributes: &Attributes,
    missing: &[String],
) -> Result<Privacy> {
    let mut privacy = read(source, &written.keys, attributes, missing)?;
    if !privacy.asks() {
        return Err(nothing_asked(source, written));
    }
    require_quasi(source, attributes)?;
    let suppress = written.suppress.as_ref().map(|share| {
        within(source, "suppress", share, "a number from 0 to below 1", |share| (0.0..1.0).contains(&share))
    });
    privacy.suppress_given = suppress.is_some();
    privacy.suppress = suppress.transpose()?.unwrap_or(0.0);
    privacy.span = written.span.clone();
    Ok(privacy)
}

/// What the keys of `[privacy]` and the rules of attributes ask for.
pub(in crate::policy) fn read(
    source: Source<'_>,
    keys: &DeTable<'_>,
    attributes: &Attributes,
    missing: &[String],
) -> Result<Privacy> {
    let fields = Fields::open(source, keys, "[privacy]", &privacy_keys())?;
    let roles: Vec<(&str, Role)> =
        attributes.iter().map(|(name, attribute)| (name.as_str(), attribute.role)).collect();
    let mut privacy = Privacy::read(&Keys { fields, source, roles: &roles, missing })?;
    if attributes.values().flat_map(|attribute| &attribute.rules).any(|rule| rule.hard) {
        privacy.set(Arc::new(HardRules));
    }
    Ok(privacy)
}

fn nothing_asked(source: Source<'_>, written: &WrittenPrivacy<'_>) -> crate::Error {
    let keys: Vec<&str> =
        crate::privacy::KINDS.iter().filter(|kind| !kind.keys.is_empty()).map(|kind| kind.key).collect();
    source
        .error(
            ErrorCode::NothingRequired,
            &written.span,
            "the policy asks for no privacy",
            "nothing is required here",
        )
        .with_hint(format!("give at least one of {} in [privacy], for example k = 5", keys.join(", ")))
}

fn require_quasi(source: Source<'_>, attributes: &Attributes) -> Result<()> {
    if with_role(attributes, Role::Quasi).next().is_some() {
        return Ok(());
    }
    let message = "no attribute has the role \"quasi\", so there is nothing to generalize";
    Err(source.error(ErrorCode::NoQuasi, &source.end(), message, "the policy ends without one").with_hint(
        "write role = \"quasi\" in the [attribute.…] section of each column by which someone could be recognised",
    ))
}
