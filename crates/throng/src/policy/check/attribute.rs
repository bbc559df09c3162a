//! Checks the `[attribute.NAME]` sections.

use std::ops::Range;

use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;
use toml::de::ValueDeserializer;

use super::{Attributes, choose};
use crate::error::{Error, Result};
use crate::keys::fields::{Item, List, as_table, in_order};
use crate::keys::source::Source;
use crate::keys::{WEIGHT_EXPECTED, is_weight, weight as weigh};
use crate::policy::hierarchy;
use crate::policy::written::{WrittenAttribute, WrittenRule};
use crate::policy::{Apart, AttributePolicy, Kind, Role, Rule};

const ROLES: &[(&str, Role)] = &[
    ("quasi", Role::Quasi),
    ("sensitive", Role::Sensitive),
    ("class", Role::Class),
    ("identifier", Role::Identifier),
    ("other", Role::Other),
];

const KINDS: &[(&str, Kind)] = &[("numeric", Kind::Numeric), ("categorical", Kind::Categorical)];

pub(super) fn check_all(source: Source<'_>, written: &[WrittenAttribute<'_>]) -> Result<Attributes> {
    let check_one = |written: &WrittenAttribute<'_>| {
        let name = written.name.get_ref();
        match check(source, written) {
            Ok(attribute) => Ok((name.clone(), attribute)),
            Err(error) => Err(error.for_attribute(name)),
        }
    };
    written.iter().map(check_one).collect()
}

fn check(source: Source<'_>, written: &WrittenAttribute<'_>) -> Result<AttributePolicy> {
    let role = written.role.as_ref().map(|role| choose(source, "role", role, ROLES)).transpose()?;
    let role = role.unwrap_or(Role::Other);
    let kind = written.kind.as_ref().map(|kind| choose(source, "kind", kind, KINDS)).transpose()?;
    reject_without_use(source, written, role)?;
    let weight = written.weight.as_ref().map(|weight| weigh(source, "weight", weight)).transpose()?;
    let hierarchy = written.hierarchy.as_ref();
    let rules = written.rules.iter().map(|written| rule(source, written, kind));
    Ok(AttributePolicy {
        role,
        kind,
        weight: weight.unwrap_or(1.0),
        leaf_weights: written
            .leaf_weights
            .as_ref()
            .map(|item| leaf_weights(source, item))
            .transpose()?
            .unwrap_or_default(),
        auto_weight: written.auto_weight.is_some(),
        hierarchy: hierarchy.map(|item| hierarchy::read(source, item)).transpose()?,
        rules: rules.collect::<Result<_>>()?,
        span: written.name.span(),
        hierarchy_span: hierarchy.map(Spanned::span),
    })
}

/// `{ leaf = weight, … }`, each above 0.
fn leaf_weights(source: Source<'_>, item: &Item<'_>) -> Result<IndexMap<String, f64>> {
    let above_zero = "numbers above 0, one for each leaf";
    let weight = |(name, item): (&Spanned<_>, &Item<'_>)| {
        let number = f64::deserialize(ValueDeserializer::from(item.clone()));
        let expected = match number.ok().filter(|number| number.is_finite() && *number > 0.0) {
            Some(number) if is_weight(number) => return Ok((String::from(name.get_ref() as &str), number)),
            Some(_) => format!("each {WEIGHT_EXPECTED}"),
            None => above_zero.to_owned(),
        };
        let message = format!("leaf_weights must be {expected}");
        Err(source.error(&item.span(), message, format!("expected {expected}")))
    };
    in_order(as_table(source, item, "leaf_weights")?).into_iter().map(weight).collect()
}

/// Settings that an attribute of this role would silently ignore.
fn reject_without_use(source: Source<'_>, written: &WrittenAttribute<'_>, role: Role) -> Result<()> {
    if role == Role::Quasi {
        return Ok(());
    }
    if let Some(span) = written.weight.as_ref().map(Spanned::span).or(written.auto_weight.clone()) {
        return Err(without_use(source, &span, "a weight makes sense", "\"quasi\""));
    }
    if let Some(weights) = &written.leaf_weights {
        return Err(without_use(source, &weights.span(), "leaf_weights make sense", "\"quasi\""));
    }
    if let Some(span) = &written.rules_span {
        return Err(without_use(source, span, "rules make sense", "\"quasi\""));
    }
    match &written.hierarchy {
        Some(item) if role != Role::Sensitive => {
            Err(without_use(source, &item.span(), "a hierarchy makes sense", "\"quasi\" or \"sensitive\""))
        }
        _ => Ok(()),
    }
}

fn without_use(source: Source<'_>, span: &Range<usize>, what_makes_sense: &str, roles: &str) -> Error {
    let message = format!("{what_makes_sense} only for an attribute with role {roles}");
    source.error(span, message, "has no use here").with_hint(format!("remove it, or write role = {roles}"))
}

fn rule(source: Source<'_>, written: &WrittenRule, kind: Option<Kind>) -> Result<Rule> {
    let apart = match (&written.cut, &written.apart) {
        (Some(cut), None) => check_cut(source, cut, kind)?,
        (None, Some(values)) => check_apart(source, values, kind)?,
        (Some(_), Some(_)) => {
            let message = "a rule has either cut or apart, not both";
            return Err(source.error(&written.span, message, "has both").with_hint("make two rules of it"));
        }
        (None, None) => {
            let hint = "write cut = [64, 65] to keep numbers apart, or apart = [\"A\", \"B\"] for two values";
            return Err(source
                .error(&written.span, "a rule needs cut or apart", "has neither")
                .with_hint(hint));
        }
    };
    let importance =
        written.importance.as_ref().map(|value| weigh(source, "importance", value)).transpose()?;
    Ok(Rule {
        apart,
        importance: importance.unwrap_or(1.0),
        hard: written.hard.as_ref().is_some_and(|hard| *hard.get_ref()),
        span: written.span.clone(),
    })
}

fn check_cut(source: Source<'_>, written: &List<f64>, kind: Option<Kind>) -> Result<Apart> {
    if kind == Some(Kind::Categorical) {
        let message = "cut is for numbers, but this attribute is categorical";
        return Err(source
            .error(&written.span(), message, "not for categories")
            .with_hint("use apart = […]"));
    }
    if let [low, high] = written.get_ref().as_slice() {
        let (low, high) = (*low.get_ref(), *high.get_ref());
        if low.is_finite() && high.is_finite() && low < high {
            return Ok(Apart::Cut(low, high));
        }
    }
    let message = "cut must be two numbers, the smaller one first";
    Err(source
        .error(&written.span(), message, "expected two increasing numbers")
        .with_hint("cut = [64, 65] keeps numbers up to 64 apart from numbers from 65 on"))
}

fn check_apart(source: Source<'_>, written: &List<String>, kind: Option<Kind>) -> Result<Apart> {
    if kind == Some(Kind::Numeric) {
        let message = "apart is for categories, but this attribute is numeric";
        return Err(source.error(&written.span(), message, "not for numbers").with_hint("use cut = […]"));
    }
    match written.get_ref().as_slice() {
        [one, other] if one.get_ref() != other.get_ref() => {
            Ok(Apart::Values(one.get_ref().clone(), other.get_ref().clone()))
        }
        _ => {
            let message = "apart must be two different values";
            Err(source.error(&written.span(), message, "expected two different strings"))
        }
    }
}
