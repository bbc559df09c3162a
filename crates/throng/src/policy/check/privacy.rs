//! Checks `[privacy]`.

use std::ops::Range;

use toml::Spanned;

use super::{Attributes, above_zero, choose, out_of_range, with_role, within};
use crate::error::{Error, Result};
use crate::policy::fields::List;
use crate::policy::source::{Source, suggest};
use crate::policy::written::{WrittenOwnK, WrittenPrivacy, WrittenQuasiIdentifier};
use crate::policy::{Diversity, OwnK, Privacy, QuasiIdentifier, Role};

/// What k may be.
pub(in crate::policy) const K_EXPECTED: &str = "a whole number of at least 1";

/// Its factor is read apart from the word.
const RECURSIVE: Diversity = Diversity::Recursive { c: 1.0 };

const DIVERSITIES: &[(&str, Diversity)] = &[
    ("frequency", Diversity::Frequency),
    ("distinct", Diversity::Distinct),
    ("entropy", Diversity::Entropy),
    ("recursive", RECURSIVE),
];

/// What l has to be and is not.
pub(in crate::policy) fn l_expected(l: f64, diversity: Diversity) -> Option<&'static str> {
    if !l.is_finite() || l < 1.0 {
        return Some("a number of at least 1");
    }
    match diversity {
        Diversity::Distinct if l.fract() != 0.0 => Some("a whole number with \"distinct\" diversity"),
        Diversity::Recursive { .. } if l.fract() != 0.0 => {
            Some("a whole number with \"recursive\" diversity")
        }
        _ => None,
    }
}

pub(super) fn check(
    source: Source<'_>,
    written: &WrittenPrivacy,
    attributes: &Attributes,
) -> Result<Privacy> {
    require_something(source, written)?;
    require_quasi(source, attributes)?;
    let diversity = diversity(source, written)?;
    let share = |key: &str, share: &Option<Spanned<f64>>| {
        let check =
            |share| within(source, key, share, "a number from 0 to 1", |share| (0.0..=1.0).contains(&share));
        share.as_ref().map(check).transpose()
    };
    let suppress = written.suppress.as_ref().map(|share| {
        within(source, "suppress", share, "a number from 0 to below 1", |share| (0.0..1.0).contains(&share))
    });
    let query_error = |error: &Spanned<f64>| above_zero(source, "max_query_error", error);
    let privacy = Privacy {
        k: written.k.as_ref().map(|k| positive(source, k)).transpose()?,
        k_column: written.k_column.as_ref().map(|column| k_column(source, column, attributes)).transpose()?,
        own_k: written.own_k.iter().map(|rule| own_k(source, rule, attributes)).collect::<Result<_>>()?,
        l: written.l.as_ref().map(|l| check_l(source, l, diversity)).transpose()?,
        diversity,
        t: share("t", &written.t)?,
        max_loss: share("max_loss", &written.max_loss)?,
        max_gcp: share("max_gcp", &written.max_gcp)?,
        max_query_error: written.max_query_error.as_ref().map(query_error).transpose()?,
        max_span: spans(source, &written.max_span, attributes)?,
        suppress_given: written.suppress.is_some(),
        suppress: suppress.transpose()?.unwrap_or(0.0),
        quasi_identifiers: quasi_identifiers(source, &written.quasi_identifiers, attributes)?,
        span: written.span.clone(),
    };
    for (key, value) in [("l", &written.l), ("t", &written.t)] {
        require_sensitive(source, key, value.as_ref(), attributes)?;
    }
    Ok(privacy)
}

fn require_something(source: Source<'_>, written: &WrittenPrivacy) -> Result<()> {
    let WrittenPrivacy { k, l, t, max_loss, max_gcp, max_query_error, quasi_identifiers, .. } = written;
    let numbers = [l, t, max_loss, max_gcp, max_query_error].iter().any(|number| number.is_some());
    let own = written.k_column.is_some() || !written.own_k.is_empty();
    let asked = k.is_some() || own || numbers || !written.max_span.is_empty();
    if asked || !quasi_identifiers.is_empty() {
        return Ok(());
    }
    Err(source.error(&written.span, "the policy asks for no privacy", "nothing is required here").with_hint(
        "give at least one of k, l, t, max_loss, max_span and quasi_identifiers in [privacy], for example k = 5",
    ))
}

/// A column of demands tells who is worth hiding, so it must not be published.
fn k_column(source: Source<'_>, column: &Spanned<String>, attributes: &Attributes) -> Result<String> {
    let name = column.get_ref();
    match attributes.get(name).map(|attribute| attribute.role) {
        Some(Role::Identifier) => Ok(name.clone()),
        _ => {
            let message =
                format!("the column \"{name}\" would be published, and tell who asks for more privacy");
            let hint = format!("write role = \"identifier\" under [attribute.\"{name}\"]");
            Err(source.error(&column.span(), message, "not an identifier").with_hint(hint))
        }
    }
}

fn own_k(source: Source<'_>, written: &WrittenOwnK, attributes: &Attributes) -> Result<OwnK> {
    if written.conditions.is_empty() {
        let message = "a k of one's own without where: whose k is it?";
        return Err(source.error(&written.span, message, "where is missing here").with_hint(
            "add it, for example where = { age = [0, 17] }, or write k in [privacy] for everyone",
        ));
    }
    let Some(k) = &written.k else { return Err(missing_k(source, &written.span, "a k of one's own")) };
    let check = |(name, value): &(Spanned<String>, Spanned<toml::Value>)| {
        let label = name.get_ref();
        let role = attributes.get(label).map(|attribute| attribute.role);
        if matches!(role, Some(Role::Quasi | Role::Sensitive | Role::Class)) {
            return Ok((label.clone(), value.get_ref().clone(), value.span()));
        }
        let message =
            format!("the attribute \"{label}\" does not have the role \"quasi\", \"sensitive\" or \"class\"");
        let known: Vec<&str> = attributes.keys().map(String::as_str).collect();
        let hint = match role {
            Some(_) => {
                "name another attribute, or put each record's k into a column that k_column names".to_owned()
            }
            None => suggest(label, &known, &format!("\"{label}\" needs a section of its own with a role")),
        };
        Err(source.error(&name.span(), message, "cannot be asked about").with_hint(hint))
    };
    Ok(OwnK {
        conditions: written.conditions.iter().map(check).collect::<Result<_>>()?,
        k: u32::try_from(positive(source, k)?)
            .map_err(|_| out_of_range(source, "k", k, "a number of records"))?,
    })
}

fn missing_k(source: Source<'_>, span: &Range<usize>, of: &str) -> Error {
    source.error(span, format!("{of} without k"), "k is missing here").with_hint("add it, for example k = 5")
}

fn require_quasi(source: Source<'_>, attributes: &Attributes) -> Result<()> {
    if with_role(attributes, Role::Quasi).next().is_some() {
        return Ok(());
    }
    let message = "no attribute has the role \"quasi\", so there is nothing to generalize";
    Err(source.error(&source.end(), message, "the policy ends without one").with_hint(
        "write role = \"quasi\" in the [attribute.…] section of each column by which someone could be recognised",
    ))
}

fn require_sensitive(
    source: Source<'_>,
    key: &str,
    written: Option<&Spanned<f64>>,
    attributes: &Attributes,
) -> Result<()> {
    match written {
        Some(value) if with_role(attributes, Role::Sensitive).next().is_none() => {
            Err(source.point(needs_sensitive(key), &value.span(), "nothing to protect"))
        }
        _ => Ok(()),
    }
}

/// l or t without anything to apply it to.
pub(in crate::policy) fn needs_sensitive(key: &str) -> Error {
    Error::input(format!("{key} protects sensitive attributes, but no attribute has the role \"sensitive\""))
        .with_hint(format!(
            "write role = \"sensitive\" in the section of the attribute to protect, or leave out {key}"
        ))
}

fn diversity(source: Source<'_>, written: &WrittenPrivacy) -> Result<Diversity> {
    let chosen = match &written.diversity {
        Some(word) => choose(source, "diversity", word, DIVERSITIES)?,
        None => Diversity::Frequency,
    };
    match (chosen, &written.c, &written.diversity) {
        (Diversity::Recursive { .. }, Some(c), _) => {
            Ok(Diversity::Recursive { c: above_zero(source, "c", c)? })
        }
        (Diversity::Recursive { .. }, None, Some(word)) => Err(source
            .error(&word.span(), "\"recursive\" diversity needs a factor c", "c is missing")
            .with_hint("add it to [privacy], for example c = 2")),
        (_, Some(c), _) => Err(source
            .error(&c.span(), "c belongs to \"recursive\" diversity only", "has no meaning here")
            .with_hint("remove c, or write diversity = \"recursive\"")),
        _ => Ok(chosen),
    }
}

fn check_l(source: Source<'_>, written: &Spanned<f64>, diversity: Diversity) -> Result<f64> {
    match l_expected(*written.get_ref(), diversity) {
        Some(expected) => Err(out_of_range(source, "l", written, expected)),
        None => Ok(*written.get_ref()),
    }
}

fn positive(source: Source<'_>, k: &Spanned<i64>) -> Result<usize> {
    match usize::try_from(*k.get_ref()) {
        Ok(k) if k >= 1 => Ok(k),
        _ => Err(out_of_range(source, "k", k, K_EXPECTED)),
    }
}

fn spans(
    source: Source<'_>,
    written: &[(Spanned<String>, Spanned<f64>)],
    attributes: &Attributes,
) -> Result<Vec<(String, f64, Range<usize>)>> {
    let check = |(name, width): &(Spanned<String>, Spanned<f64>)| {
        if attributes.get(name.get_ref()).is_none_or(|attribute| attribute.role != Role::Quasi) {
            return Err(not_quasi(source, name, attributes));
        }
        let expected = "a number of at least 0";
        let most = within(source, name.get_ref(), width, expected, |most| most.is_finite() && most >= 0.0)?;
        Ok((name.get_ref().clone(), most, name.span()))
    };
    written.iter().map(check).collect()
}

fn quasi_identifiers(
    source: Source<'_>,
    written: &[WrittenQuasiIdentifier],
    attributes: &Attributes,
) -> Result<Vec<QuasiIdentifier>> {
    written.iter().map(|written| quasi_identifier(source, written, attributes)).collect()
}

fn quasi_identifier(
    source: Source<'_>,
    written: &WrittenQuasiIdentifier,
    attributes: &Attributes,
) -> Result<QuasiIdentifier> {
    let names = written.attributes.as_ref().ok_or_else(|| {
        source
            .error(&written.span, "a quasi-identifier without attributes", "attributes is missing here")
            .with_hint("add it, for example attributes = [\"age\", \"sex\"]")
    })?;
    let k = written.k.as_ref().ok_or_else(|| missing_k(source, &written.span, "a quasi-identifier"))?;
    Ok(QuasiIdentifier {
        attributes: quasi_names(source, names, attributes)?,
        k: positive(source, k)?,
        span: written.span.clone(),
    })
}

fn quasi_names(source: Source<'_>, written: &List<String>, attributes: &Attributes) -> Result<Vec<String>> {
    if written.get_ref().is_empty() {
        let message = "a quasi-identifier needs at least one attribute";
        return Err(source.error(&written.span(), message, "this list is empty"));
    }
    let mut names: Vec<String> = Vec::new();
    for name in written.get_ref() {
        let label = name.get_ref();
        if names.contains(label) {
            let message = format!("the attribute \"{label}\" stands in this quasi-identifier twice");
            return Err(source
                .error(&name.span(), message, "given before")
                .with_hint("remove one of the two"));
        }
        if attributes.get(label).is_none_or(|attribute| attribute.role != Role::Quasi) {
            return Err(not_quasi(source, name, attributes));
        }
        names.push(label.clone());
    }
    Ok(names)
}

fn not_quasi(source: Source<'_>, name: &Spanned<String>, attributes: &Attributes) -> Error {
    let label = name.get_ref();
    let message = format!("the attribute \"{label}\" does not have the role \"quasi\" in this policy");
    let hint = if attributes.contains_key(label) {
        format!("write role = \"quasi\" in its section, or remove \"{label}\" here")
    } else {
        let quasi: Vec<&str> = with_role(attributes, Role::Quasi).collect();
        suggest(label, &quasi, &format!("\"{label}\" needs a section of its own with role = \"quasi\""))
    };
    source.error(&name.span(), message, "not a quasi-identifying attribute").with_hint(hint)
}
