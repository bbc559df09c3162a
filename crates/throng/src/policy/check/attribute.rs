//! Checks the `[attribute.NAME]` sections.

use std::ops::Range;

use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

use super::{Attributes, choose};
use crate::error::{Error, ErrorCode, Result};
use crate::keys::fields::{Item, List, as_table, in_order, number};
use crate::keys::source::Source;
use crate::keys::{WEIGHT_EXPECTED, is_weight, weight as weigh};
use crate::policy::hierarchy;
use crate::policy::written::{WrittenAttribute, WrittenRule};
use crate::policy::{Apart, AttributePolicy, Hierarchy, Kind, PersonChoice, Role, Rule};
use crate::schema::official::OLDEST;
use crate::schema::spelling::{Format, Measured, Spelling, time_of_day};
use crate::schema::{Tail, Tails};
use crate::table::{tails, value};

pub(super) fn check_all(source: Source<'_>, written: &[WrittenAttribute<'_>]) -> Result<Attributes> {
    let check_one = |written: &WrittenAttribute<'_>| {
        let name = written.name.get_ref();
        match check(source, written) {
            Ok(attribute) => Ok((name.clone(), attribute)),
            Err(error) => Err(error.for_attribute(name)),
        }
    };
    let attributes: Attributes = written.iter().map(check_one).collect::<Result<_>>()?;
    one_number(source, &attributes)?;
    Ok(attributes)
}

/// However many columns say whose record it is: a person has one number.
fn one_number(source: Source<'_>, attributes: &Attributes) -> Result<()> {
    let mut numbered = attributes.iter().filter(|(_, own)| own.person.number);
    let (Some((first, _)), Some((second, own))) = (numbered.next(), numbered.next()) else { return Ok(()) };
    let message = format!("\"{first}\" is published as the number of a person already");
    let error =
        source.error(ErrorCode::DuplicateKey, &own.span, message, "a second number of the same people");
    Err(error.for_attribute(second).with_hint("leave publish = \"number\" in one of the two sections"))
}

fn check(source: Source<'_>, written: &WrittenAttribute<'_>) -> Result<AttributePolicy> {
    let role = written.role.as_ref().map(|role| choose(source, "role", role, Role::NAMES)).transpose()?;
    let role = role.unwrap_or(Role::Other);
    let kind = written.kind.as_ref().map(|kind| choose(source, "kind", kind, Kind::NAMES)).transpose()?;
    reject_without_use(source, written, role)?;
    let weight = written.weight.as_ref().map(|weight| weigh(source, "weight", weight)).transpose()?;
    let hierarchy = written.hierarchy.as_ref();
    let grouped = hierarchy.map(|item| hierarchy::read(source, item)).transpose()?;
    let mut tails = both_tails(source, written, kind)?;
    let kind = official(source, written, (role, kind), grouped.as_ref(), &mut tails)?;
    let rules = written.rules.iter().map(|written| rule(source, written, kind));
    Ok(AttributePolicy {
        role,
        kind,
        spelling: spelling(source, written, kind)?,
        weight: weight.unwrap_or(1.0),
        leaf_weights: weights(source, "leaf_weights", "leaf", written.leaf_weights.as_ref())?,
        node_weights: weights(source, "node_weights", "node", written.node_weights.as_ref())?,
        auto_weight: written.auto_weight.is_some(),
        tails,
        confirmed: written.confirmed.as_ref().is_some_and(|confirmed| *confirmed.get_ref()),
        hierarchy: grouped,
        rules: rules.collect::<Result<_>>()?,
        person: person(source, written, role)?,
        span: written.name.span(),
        hierarchy_span: hierarchy.map(Spanned::span),
    })
}

/// What groups of a regulator make of an attribute: its kind, and the age from which on all are one group.
fn official(
    source: Source<'_>,
    written: &WrittenAttribute<'_>,
    (role, kind): (Role, Option<Kind>),
    hierarchy: Option<&Hierarchy>,
    tails: &mut Tails,
) -> Result<Option<Kind>> {
    let (Some(Hierarchy::Official(own)), Some(item)) = (hierarchy, &written.hierarchy) else {
        return Ok(kind);
    };
    let refuse = |code, message: &str, hint: &str| {
        Err(source.error(code, &item.span(), message, "not here").with_hint(hint))
    };
    let limits = own.has_finest() || own.is_numeric();
    match kind {
        _ if limits && role != Role::Quasi => refuse(
            ErrorCode::BadHierarchy,
            "what Safe Harbor forbids would be published: only quasi-identifiers are generalized",
            "write role = \"quasi\"",
        ),
        Some(Kind::Categorical) if own.is_numeric() => refuse(
            ErrorCode::WrongKind,
            "ages under Safe Harbor are numbers, but this attribute is categorical",
            "leave kind out",
        ),
        Some(Kind::Numeric) if own.has_finest() => refuse(
            ErrorCode::WrongKind,
            "ranges of exact values would tell more than Safe Harbor allows, but this attribute is numeric",
            "leave kind out",
        ),
        _ if own.is_numeric() => {
            let oldest = OLDEST.to_string();
            match (&tails.top, &written.top) {
                (Some(Tail::At { number, measured: Measured::Numbers, .. }), _)
                    if *number <= OLDEST as f64 => {}
                (Some(_), Some(top)) => {
                    let message = "Safe Harbor wants all ages from 90 on in one group";
                    let error = source.error(ErrorCode::BadValue, &top.span(), message, "not above 90");
                    return Err(error.with_hint("leave top out, or write a number up to 90"));
                }
                _ => tails.top = tails::at(&oldest),
            }
            if let Some(Tail::At { number, .. }) = &tails.bottom
                && *number >= OLDEST as f64
            {
                return refuse(ErrorCode::BadValue, "bottom must be below 90", "write a smaller one");
            }
            Ok(Some(Kind::Numeric))
        }
        _ => Ok(kind),
    }
}

/// `top` and `bottom`: a number, a date, or `"auto"`.
fn both_tails(source: Source<'_>, written: &WrittenAttribute<'_>, kind: Option<Kind>) -> Result<Tails> {
    let tail = |key: &str, item: &Item<'_>| {
        let text = match item.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().replace('_', ""),
            DeValue::Float(number) => number.as_str().replace('_', ""),
            DeValue::Datetime(date) => date.to_string(),
            _ => String::new(),
        };
        let found = if text == "auto" { Some(Tail::Auto) } else { tails::at(&text) };
        found.ok_or_else(|| {
            let message = format!(
                "{key} must be a number, a date like \"2024-02-29\", a time like \"08:30\", or \"auto\""
            );
            source.error(
                ErrorCode::BadValue,
                &item.span(),
                message,
                "expected a number, a date, a time or \"auto\"",
            )
        })
    };
    let top = written.top.as_ref().map(|item| tail("top", item)).transpose()?;
    let bottom = written.bottom.as_ref().map(|item| tail("bottom", item)).transpose()?;
    let first = written.top.as_ref().or(written.bottom.as_ref());
    match (&bottom, &top, first) {
        (_, _, Some(item)) if kind == Some(Kind::Categorical) => {
            let message = "top and bottom are for numbers and dates, but this attribute is categorical";
            Err(source
                .error(ErrorCode::WrongKind, &item.span(), message, "not for categories")
                .with_hint("leave them out"))
        }
        (Some(Tail::At { number: low, .. }), Some(Tail::At { number: high, .. }), Some(item))
            if low >= high =>
        {
            Err(source.error(
                ErrorCode::BadValue,
                &item.span(),
                "bottom must be below top",
                "not above bottom",
            ))
        }
        _ => Ok(Tails { bottom, top }),
    }
}

/// What a column with the role `person` is used for.
fn person(source: Source<'_>, written: &WrittenAttribute<'_>, role: Role) -> Result<PersonChoice> {
    let spans = [written.publish.as_ref().map(Spanned::span), written.together.as_ref().map(Spanned::span)];
    for (span, what) in spans.into_iter().zip(["publish makes sense", "together makes sense"]) {
        if let Some(span) = span.filter(|_| role != Role::Person) {
            return Err(without_use(source, &span, what, "\"person\""));
        }
    }
    let number = written.publish.as_ref().map(|word| choose(source, "publish", word, &[("number", true)]));
    Ok(PersonChoice {
        number: number.transpose()?.unwrap_or(false),
        together: written.together.as_ref().is_some_and(|together| *together.get_ref()),
    })
}

/// `format = "%d.%m.%Y"` for dates, `decimal = ","` for numbers.
fn spelling(
    source: Source<'_>,
    written: &WrittenAttribute<'_>,
    kind: Option<Kind>,
) -> Result<Option<Spelling>> {
    let Some(key) = written.format.as_ref().or(written.decimal.as_ref()) else { return Ok(None) };
    let refuse = |message: &str, hint: &str| {
        Err(source.error(ErrorCode::BadValue, &key.span(), message, "not this").with_hint(hint))
    };
    if kind == Some(Kind::Categorical) {
        return refuse(
            "format and decimal are for numbers and dates, but this attribute is categorical",
            "leave it out",
        );
    }
    match (&written.format, &written.decimal) {
        (Some(_), Some(_)) => {
            refuse("format is for dates and decimal for numbers, not both", "keep one of the two")
        }
        (Some(format), _) => match Format::new(format.get_ref()) {
            Ok(format) => Ok(Some(Spelling::Format(format))),
            Err(message) => {
                refuse(&message, "write it like format = \"%d.%m.%Y\", \"%m/%d/%Y %H:%M\" or \"%H:%M\"")
            }
        },
        (_, Some(decimal)) if decimal.get_ref() == "," => Ok(Some(Spelling::Comma)),
        (_, Some(decimal)) if decimal.get_ref() == "." => Ok(Some(Spelling::Grouped)),
        _ => refuse("decimal is a comma or a point", "write decimal = \",\" or decimal = \".\""),
    }
}

/// `{ leaf = weight, … }`, each above 0, and the same for inner nodes.
fn weights(
    source: Source<'_>,
    key: &str,
    of: &str,
    item: Option<&Item<'_>>,
) -> Result<IndexMap<String, f64>> {
    let Some(item) = item else { return Ok(IndexMap::new()) };
    let above_zero = format!("numbers above 0, one for each {of}");
    let weight = |(name, item): (&Spanned<_>, &Item<'_>)| {
        let number = f64::deserialize(ValueDeserializer::from(item.clone()));
        let expected = match number.ok().filter(|number| number.is_finite() && *number > 0.0) {
            Some(number) if is_weight(number) => return Ok((String::from(name.get_ref() as &str), number)),
            Some(_) => format!("numbers {WEIGHT_EXPECTED}, one for each {of}"),
            None => above_zero.clone(),
        };
        let message = format!("{key} must be {expected}");
        Err(source.error(ErrorCode::BadValue, &item.span(), message, format!("expected {expected}")))
    };
    in_order(as_table(source, item, key)?).into_iter().map(weight).collect()
}

/// Settings that an attribute of this role would silently ignore.
fn reject_without_use(source: Source<'_>, written: &WrittenAttribute<'_>, role: Role) -> Result<()> {
    if let (Some(confirmed), Role::Identifier) = (&written.confirmed, role) {
        let roles = "\"other\", \"class\" or \"sensitive\"";
        return Err(without_use(source, &confirmed.span(), "confirmed makes sense", roles));
    }
    if role == Role::Quasi {
        return Ok(());
    }
    if let Some(span) = written.weight.as_ref().map(Spanned::span).or(written.auto_weight.clone()) {
        return Err(without_use(source, &span, "a weight makes sense", "\"quasi\""));
    }
    for (key, weights) in [("leaf_weights", &written.leaf_weights), ("node_weights", &written.node_weights)] {
        if let Some(weights) = weights {
            return Err(without_use(source, &weights.span(), &format!("{key} make sense"), "\"quasi\""));
        }
    }
    if let Some(tail) = written.top.as_ref().or(written.bottom.as_ref()) {
        return Err(without_use(source, &tail.span(), "top and bottom make sense", "\"quasi\""));
    }
    if let Some(span) = &written.rules_span {
        return Err(without_use(source, span, "rules make sense", "\"quasi\""));
    }
    if let Some(key) =
        written.format.as_ref().or(written.decimal.as_ref()).filter(|_| role != Role::Sensitive)
    {
        let what = "format and decimal make sense";
        return Err(without_use(source, &key.span(), what, "\"quasi\" or \"sensitive\""));
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
    source
        .error(ErrorCode::UnknownKey, span, message, "has no use here")
        .with_hint(format!("remove it, or write role = {roles}"))
}

fn rule(source: Source<'_>, written: &WrittenRule<'_>, kind: Option<Kind>) -> Result<Rule> {
    let apart = match (&written.cut, &written.apart) {
        (Some(cut), None) => check_cut(source, cut, kind)?,
        (None, Some(values)) => check_apart(source, values, kind)?,
        (Some(_), Some(_)) => {
            let message = "a rule has either cut or apart, not both";
            return Err(source
                .error(ErrorCode::BadRule, &written.span, message, "has both")
                .with_hint("make two rules of it"));
        }
        (None, None) => {
            let hint = "write cut = [64, 65] to keep numbers apart, or apart = [\"A\", \"B\"] for two values";
            return Err(source
                .error(ErrorCode::BadRule, &written.span, "a rule needs cut or apart", "has neither")
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

fn check_cut(source: Source<'_>, written: &Item<'_>, kind: Option<Kind>) -> Result<Apart> {
    if kind == Some(Kind::Categorical) {
        let message = "cut is for numbers, but this attribute is categorical";
        return Err(source
            .error(ErrorCode::WrongKind, &written.span(), message, "not for categories")
            .with_hint("use apart = […]"));
    }
    let ends = written.get_ref().as_array().map_or(&[][..], |ends| ends);
    let texts: Vec<Option<String>> = ends.iter().map(moment).collect();
    if let [Some(low), Some(high)] = &texts[..] {
        return moments(source, written, low, high);
    }
    let numbers: Vec<f64> = ends.iter().filter_map(|end| number(end.get_ref())).collect();
    if let [low, high] = numbers[..]
        && low.is_finite()
        && high.is_finite()
        && low < high
    {
        return Ok(Apart::Cut(low, high));
    }
    let message = "cut must be two numbers, the smaller one first";
    Err(source
        .error(ErrorCode::BadRule, &written.span(), message, "expected two increasing numbers")
        .with_hint("cut = [64, 65] keeps numbers up to 64 apart from numbers from 65 on"))
}

/// A date or time of day as text.
fn moment(item: &Item<'_>) -> Option<String> {
    match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Datetime(moment) => Some(moment.to_string()),
        _ => None,
    }
}

/// A cut between two dates or times of day, which a policy spells as ISO does.
fn moments(source: Source<'_>, written: &Item<'_>, low: &str, high: &str) -> Result<Apart> {
    let dates = value::date(low).zip(value::date(high));
    match dates.or_else(|| time_of_day(low).zip(time_of_day(high))) {
        Some((first, second)) if first < second => Ok(Apart::Moments(low.to_owned(), high.to_owned())),
        _ => {
            let message = "cut must be two dates, or two times of day, the earlier one first";
            Err(source.error(ErrorCode::BadRule, &written.span(), message, "expected two of them").with_hint(
                "write dates like \"2024-02-29\" and times like \"08:30\", however the table spells them",
            ))
        }
    }
}

fn check_apart(source: Source<'_>, written: &List<String>, kind: Option<Kind>) -> Result<Apart> {
    if kind == Some(Kind::Numeric) {
        let message = "apart is for categories, but this attribute is numeric";
        return Err(source
            .error(ErrorCode::WrongKind, &written.span(), message, "not for numbers")
            .with_hint("use cut = […]"));
    }
    match written.get_ref().as_slice() {
        [one, other] if one.get_ref() != other.get_ref() => {
            Ok(Apart::Values(one.get_ref().clone(), other.get_ref().clone()))
        }
        _ => {
            let message = "apart must be two different values";
            Err(source.error(ErrorCode::BadRule, &written.span(), message, "expected two different strings"))
        }
    }
}
