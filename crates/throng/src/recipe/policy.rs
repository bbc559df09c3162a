//! The policy that other records are held to, checked as if it had been written.
//!
//! What a recipe says of an attribute is put into the words of a policy and read as one, so that a recipe may say what a policy
//! may say and nothing else. Errors name the place in the recipe.

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::levels::{Levels, named};
use super::{Ingredient, Recipe};
use crate::error::{Error, ErrorCode, Result};
use crate::keys::{WEIGHT_EXPECTED, is_weight};
use crate::policy::{
    Apart, AttributePolicy, Hierarchy, Incomplete, Kind, MethodChoice, Policy, Role, Unlisted,
};
use crate::table::Tree;

/// An error at a place of the recipe.
pub(super) fn wrong(place: &str, message: &str) -> Error {
    Error::new(ErrorCode::BadRecipe, format!("the recipe cannot be used: at {place}, {message}"))
        .of_value(place)
}

/// What was found wrong with words of a policy, at the place of the recipe that they come from.
fn found_wrong(place: &str, found: &Error) -> Error {
    wrong(place, found.message()).with_hint_if(found.hint())
}

impl Recipe {
    /// The policy for a table with some columns: what it does not have is left out.
    pub(crate) fn policy_for(&self, names: &[String]) -> Result<Policy> {
        let mut policy = self.policy()?;
        let lost =
            policy.person_columns().map(|(name, _)| name).find(|name| !names.iter().any(|own| own == name));
        if let Some(name) = lost {
            let message = format!("the column \"{name}\" is not there, which says whose record it is");
            return Err(Error::new(ErrorCode::UnknownColumn, message)
                .for_attribute(name)
                .with_hint("the requirement of the recipe counts people; give the table with that column"));
        }
        policy.attributes.retain(|name, _| names.contains(name));
        Ok(policy)
    }

    /// The policy that the outcome of masking other records is held to.
    pub fn policy(&self) -> Result<Policy> {
        let attribute = |(name, own): (&String, &Ingredient)| Ok((name.clone(), own.policy(name)?));
        let attributes: IndexMap<String, AttributePolicy> =
            self.attributes.iter().map(attribute).collect::<Result<_>>()?;
        let privacy = with_named_pairs(table_from_json(&self.privacy));
        let privacy = Policy::read_privacy(&privacy, &attributes, &self.missing)
            .map_err(|error| found_wrong("privacy", &error))?;
        Ok(Policy {
            path: None,
            text: String::new(),
            missing: self.missing.clone(),
            incomplete: if self.drop_incomplete { Incomplete::Drop } else { Incomplete::Keep },
            unlisted: self
                .unlisted
                .as_ref()
                .map_or(Ok(Unlisted::Refuse), |word| named(Unlisted::NAMES, word))
                .map_err(|error| found_wrong("unlisted", &error))?,
            strict: !self.lenient,
            header: self.header,
            expansion: Default::default(),
            privacy,
            method: MethodChoice {
                name: self.method.clone(),
                seed: 0,
                seed_given: false,
                options: toml::Table::new(),
                replaced: false,
                span: None,
            },
            attributes,
            series: Default::default(),
            evaluate: Default::default(),
            effort: Default::default(),
            found_k: None,
            memory: None,
        })
    }
}

impl Ingredient {
    /// What a policy would say of the attribute.
    fn policy(&self, name: &str) -> Result<AttributePolicy> {
        let place = format!("attributes.{name}");
        if !is_weight(self.weight) {
            let expected = if self.weight > 0.0 { WEIGHT_EXPECTED } else { "above 0" };
            let message = format!("weight must be {expected}");
            return Err(wrong(&format!("{place}.weight"), &message));
        }
        let text = self.as_policy(name).map_err(|cause| wrong(&place, &cause))?;
        let mut read = Policy::parse(&text, None).map_err(|error| found_wrong(&place, &error))?;
        let own = read.attributes.swap_remove(name);
        let mut own =
            own.ok_or_else(|| Error::bug("an attribute of a recipe that its policy does not have"))?;
        own.weight = self.weight;
        own.tails = self.tails(&place)?;
        own.kind = self.kind.as_deref().map(|kind| named(Kind::NAMES, kind)).transpose()?;
        let hierarchy = self.hierarchy.as_ref().map(Levels::hierarchy).transpose();
        own.hierarchy =
            hierarchy.map_err(|error| found_wrong(&format!("{place}.hierarchy"), &error))?.or(own.hierarchy);
        if own.hierarchy.is_none() {
            own.hierarchy = named_by_rules(&own)?;
        }
        Ok(own)
    }

    /// As a policy with this attribute and another one. Trees are left out: those of a recipe are read on their own.
    fn as_policy(&self, name: &str) -> Result<String, String> {
        let mut keys = toml::Table::new();
        let mut put = |key: &str, value: toml::Value| keys.insert(key.to_owned(), value);
        put("role", toml::Value::String(self.role.clone()));
        // Dates that a hierarchy makes categories of may be spelt in a way of their own.
        let builder = self.hierarchy.as_ref().and_then(Levels::builder);
        let spelt = builder.is_some() && (self.format.is_some() || self.decimal.is_some());
        if let Some(kind) = self.kind.as_ref().filter(|kind| !(spelt && *kind == "categorical")) {
            put("kind", toml::Value::String(kind.clone()));
        }
        for (key, text) in [("format", &self.format), ("decimal", &self.decimal)] {
            text.iter().for_each(|text| drop(put(key, toml::Value::String(text.clone()))));
        }
        if let Some(publish) = &self.publish {
            put("publish", toml::Value::String(publish.clone()));
        }
        if self.together {
            put("together", toml::Value::Boolean(true));
        }
        if self.confirmed {
            put("confirmed", toml::Value::Boolean(true));
        }
        for (key, weights) in [("leaf_weights", &self.leaf_weights), ("node_weights", &self.node_weights)] {
            if self.role == "quasi" && !weights.is_empty() {
                let weights = weights.iter().map(|(name, own)| (name.clone(), toml::Value::Float(*own)));
                put(key, toml::Value::Table(weights.collect()));
            }
        }
        if !self.rules.is_empty() {
            put("rules", toml::Value::Array(self.rules.iter().filter_map(from_json).collect()));
        }
        if let Some(builder) = builder {
            put("hierarchy", toml::Value::Table(builder));
        }
        let other = if name == "a" { "b" } else { "a" };
        let quasi = toml::Table::from_iter([("role".to_owned(), toml::Value::String("quasi".to_owned()))]);
        let table = |entries: Vec<(String, toml::Value)>| toml::Value::Table(entries.into_iter().collect());
        let attributes =
            vec![(other.to_owned(), toml::Value::Table(quasi)), (name.to_owned(), toml::Value::Table(keys))];
        let privacy = table(vec![("k".to_owned(), toml::Value::Integer(1))]);
        let whole = table(vec![("privacy".to_owned(), privacy), ("attribute".to_owned(), table(attributes))]);
        toml::to_string(&whole).map_err(|cause| cause.to_string())
    }
}

/// Values that rules name have to be there for rules to hold, also where none of the records has them.
fn named_by_rules(own: &AttributePolicy) -> Result<Option<Hierarchy>> {
    if own.role != Role::Quasi || own.kind != Some(Kind::Categorical) {
        return Ok(None);
    }
    let mut tree = Tree::default();
    for rule in &own.rules {
        let Apart::Values(one, other) = &rule.apart else { continue };
        for value in [one, other] {
            if !tree.contains(value) {
                tree.push(vec![value.clone()])?;
            }
        }
    }
    Ok((!tree.is_empty()).then_some(Hierarchy::Tree(tree)))
}

/// A value of a policy as JSON.
pub(super) fn to_json(value: toml::Value) -> Json {
    match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => Json::from(number),
        toml::Value::Float(number) => Json::from(number),
        toml::Value::Boolean(flag) => Json::Bool(flag),
        toml::Value::Datetime(date) => Json::String(date.to_string()),
        toml::Value::Array(values) => values.into_iter().map(to_json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, to_json(value))).collect(),
    }
}

/// JSON as a value of a policy; `null` stands for what is not there.
fn from_json(value: &Json) -> Option<toml::Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => toml::Value::Boolean(*flag),
        Json::String(text) => toml::Value::String(text.clone()),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => toml::Value::Integer(whole),
            None => toml::Value::Float(number.as_f64()?),
        },
        Json::Array(values) => toml::Value::Array(values.iter().filter_map(from_json).collect()),
        Json::Object(table) => toml::Value::Table(table_from_json(table)),
    })
}

fn table_from_json(table: &serde_json::Map<String, Json>) -> toml::Table {
    table.iter().filter_map(|(key, value)| Some((key.clone(), from_json(value)?))).collect()
}

/// Recipes once told a named quasi-identifier as a pair of its attributes and its k.
fn with_named_pairs(mut table: toml::Table) -> toml::Table {
    let named = table.get_mut("quasi_identifiers").and_then(toml::Value::as_array_mut);
    for own in named.into_iter().flatten() {
        if let toml::Value::Array(pair) = own
            && let [attributes, k] = &pair[..]
        {
            let entries = [("attributes", attributes.clone()), ("k", k.clone())];
            *own =
                toml::Value::Table(entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect());
        }
    }
    table
}
