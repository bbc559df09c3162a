//! What of a policy a series must keep to, and which policies can have one at all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode, Result};
use crate::policy::{Policy, Role};
use crate::privacy::Part;
use crate::release::Publish;
use crate::schema::Tail;

/// The names of the columns that a series adds.
pub const CLASS: &str = "class";
/// How many people of the class are still in the table.
pub const PRESENT: &str = "present";

/// What k is called among what must stay.
const K: &str = "k under [privacy]";

/// What must stay as it was: by name, what a policy says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms(BTreeMap<String, String>);

impl Terms {
    /// The terms of a policy; an error if it cannot have a series.
    pub fn of(policy: &Policy, publish: Publish) -> Result<Self> {
        check(policy, publish)?;
        let mut terms = BTreeMap::new();
        for spec in policy.privacy.specs() {
            let keys: Vec<String> =
                spec.keys().iter().map(|(key, value)| format!("{key} = {value}")).collect();
            terms.insert(format!("{} under [privacy]", spec.key()), keys.join(", "));
        }
        for (name, attribute) in &policy.attributes {
            terms.insert(format!("the role of \"{name}\""), attribute.role.name().to_owned());
        }
        let present = if policy.series.present { "yes" } else { "no" };
        terms.insert("present under [series]".to_owned(), present.to_owned());
        let turnover = if policy.series.turnover { "yes" } else { "no" };
        terms.insert("turnover under [series]".to_owned(), turnover.to_owned());
        let how = if publish == Publish::Bounds { "bounds" } else { "cells" };
        terms.insert("--publish".to_owned(), how.to_owned());
        Ok(Terms(terms))
    }

    /// An error that names what changed, if anything did.
    pub fn check_same(&self, now: &Terms) -> Result<()> {
        let names = self.0.keys().chain(now.0.keys());
        for name in names {
            let (was, is) = (self.0.get(name), now.0.get(name));
            if was != is {
                let word = |value: Option<&String>| value.map_or("nothing", String::as_str).to_owned();
                let message = format!(
                    "{name} is not what it was in the releases before: {} then, {} now",
                    word(was),
                    word(is)
                );
                let hint = match name == K {
                    true => {
                        "write k as it was: what was published stays, so that k is that of the whole series. A larger k for those \
                         who come from now on is later_k under [series]"
                    }
                    false => {
                        "write it as it was; another requirement, other roles or other columns need a series of their own, of \
                         other people"
                    }
                };
                return Err(Error::new(ErrorCode::SeriesChanged, message).with_hint(hint));
            }
        }
        Ok(())
    }
}

/// The policy as methods see it: everybody has one record, so records are people.
pub fn alone(policy: &Policy) -> Policy {
    let mut alone = policy.clone();
    for attribute in alone.attributes.values_mut().filter(|attribute| attribute.role == Role::Person) {
        attribute.role = Role::Identifier;
    }
    alone
}

fn check(policy: &Policy, publish: Publish) -> Result<()> {
    let refuse = |message: String, hint: &str| Err(Error::new(ErrorCode::NoSeries, message).with_hint(hint));
    if !policy.counts_people() {
        return refuse(
            "a series must know people again, and the policy does not say whose each record is".to_owned(),
            "give the column that names a person, such as a patient number, role = \"person\"",
        );
    }
    if policy.number_column().is_some() {
        return refuse(
            "publish = \"number\" gives people new numbers in every release, which would not be word for word the same".to_owned(),
            "remove publish from the section of the person",
        );
    }
    if matches!(publish, Publish::Medians | Publish::Means) {
        return refuse(
            "a series cannot publish medians or means: nobody could tell from a later release what they stand for".to_owned(),
            "leave --publish midpoints out; --publish bounds tells both ends",
        );
    }
    if publish == Publish::Permutation {
        return refuse(
            "a series cannot be published by permutation".to_owned(),
            "leave --publish permutation out, and use another method than anatomy",
        );
    }
    if !policy.privacy.quasi_identifiers().is_empty() {
        return refuse(
            "a series tells the class of each row, which named quasi-identifiers need not protect".to_owned(),
            "ask for one k on all quasi-identifiers in place of [[privacy.quasi_identifiers]]",
        );
    }
    let parts = policy.privacy.parts();
    let target = policy.privacy.max_gcp().is_some() || policy.privacy.max_query_error().is_some();
    if target || parts.iter().any(|(part, _)| *part == Part::MaxLoss) {
        return refuse(
            "a series needs a requirement that stays the same; limits on the loss would be met anew by every release".to_owned(),
            "ask for k, and l if there is something sensitive, and leave limits on the loss out",
        );
    }
    if !parts.iter().any(|(part, _)| matches!(part, Part::K | Part::L)) {
        return refuse("a series needs k or l".to_owned(), "give k under [privacy]");
    }
    if let (true, Some((_, key))) =
        (policy.series.turnover, parts.iter().find(|(part, _)| matches!(part, Part::OwnK | Part::T)))
    {
        return refuse(
            format!("turnover divides classes by k and l alone, and the policy asks for {key}"),
            "remove turnover under [series]",
        );
    }
    for (name, attribute) in &policy.attributes {
        let tails = [&attribute.tails.top, &attribute.tails.bottom];
        if tails.iter().any(|tail| matches!(tail, Some(Tail::Auto))) {
            return Err(Error::new(
                ErrorCode::NoSeries,
                "a tail that every table sets anew would tell of those who came and left between two releases",
            )
            .for_attribute(name)
            .with_hint("write the number where the tail begins in place of \"auto\""));
        }
        if [CLASS, PRESENT].contains(&name.as_str())
            && !matches!(attribute.role, Role::Identifier | Role::Person)
        {
            return Err(Error::new(
                ErrorCode::DuplicateColumn,
                format!(
                    "the release would have two columns called \"{name}\": a series adds one of that name"
                ),
            )
            .for_attribute(name)
            .with_hint("rename the column of the table"));
        }
    }
    Ok(())
}
