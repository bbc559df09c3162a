//! Changes to the text of a policy that keep its comments and order.

use throng::{Error, ErrorCode, Result};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// A policy as text that can be changed.
pub struct Text(DocumentMut);

/// One rule of an attribute.
#[derive(Clone, Debug)]
pub struct RuleText {
    /// What it keeps apart.
    pub apart: ApartText,
    /// How much it matters.
    pub importance: f64,
    /// Whether it must never be broken.
    pub hard: bool,
}

/// What a rule keeps apart.
#[derive(Clone, Debug)]
pub enum ApartText {
    /// Numbers up to the first and from the second on.
    Cut(f64, f64),
    /// Dates or times of day up to the first and from the second on.
    Moments(String, String),
    /// Two categories.
    Values(String, String),
}

impl Text {
    /// Takes a text that is valid TOML.
    pub fn parse(text: &str) -> Result<Self> {
        text.parse().map(Text).map_err(|_| {
            Error::new(ErrorCode::BadPolicySyntax, "the policy is not valid TOML")
                .with_hint("correct its text first")
        })
    }

    /// The text.
    pub fn finish(&self) -> String {
        self.0.to_string()
    }

    /// Sets or removes a key of `[attribute.NAME]`.
    pub fn attribute(&mut self, name: &str, key: &str, value: Option<Value>) -> Result<()> {
        set(section(self.0.as_table_mut(), &["attribute", name])?, key, value);
        Ok(())
    }

    /// Takes a key out of `[attribute.NAME]`.
    pub fn take(&mut self, name: &str, key: &str) -> Result<Option<Value>> {
        let section = section(self.0.as_table_mut(), &["attribute", name])?;
        Ok(section.remove(key).and_then(|item| item.into_value().ok()).map(|value| value.decorated("", "")))
    }

    /// Whether a key stands in `[attribute.NAME]`.
    pub fn has(&self, name: &str, key: &str) -> bool {
        let own = self.0.get("attribute").and_then(|all| all.get(name)).and_then(Item::as_table_like);
        own.is_some_and(|own| own.contains_key(key))
    }

    /// Sets or removes a key of `[privacy]`, `[method]` or `[data]`.
    pub fn key(&mut self, part: &str, key: &str, value: Option<Value>) -> Result<()> {
        set(section(self.0.as_table_mut(), &[part])?, key, value);
        Ok(())
    }

    /// Replaces the rules of an attribute.
    pub fn rules(&mut self, name: &str, rules: &[RuleText]) -> Result<()> {
        let array: Array = rules.iter().map(rule).collect();
        self.attribute(name, "rules", (!rules.is_empty()).then_some(Value::Array(array)))
    }

    /// Adds one of several quasi-identifiers.
    pub fn add_quasi_identifier(&mut self, attributes: &[String], k: i64) -> Result<()> {
        let privacy = section(self.0.as_table_mut(), &["privacy"])?;
        let mut table = Table::new();
        table
            .insert("attributes", Item::Value(Value::Array(attributes.iter().map(String::as_str).collect())));
        table.insert("k", Item::Value(k.into()));
        match privacy.get_mut("quasi_identifiers") {
            Some(Item::ArrayOfTables(list)) => list.push(table),
            Some(Item::Value(Value::Array(list))) => list.push(table.into_inline_table()),
            _ => {
                let mut list = ArrayOfTables::new();
                list.push(table);
                privacy.insert("quasi_identifiers", Item::ArrayOfTables(list));
            }
        }
        Ok(())
    }

    /// Removes one of several quasi-identifiers.
    pub fn remove_quasi_identifier(&mut self, at: usize) -> Result<()> {
        let privacy = section(self.0.as_table_mut(), &["privacy"])?;
        let left = match privacy.get_mut("quasi_identifiers") {
            Some(Item::ArrayOfTables(list)) if at < list.len() => {
                list.remove(at);
                list.len()
            }
            Some(Item::Value(Value::Array(list))) if at < list.len() => {
                list.remove(at);
                list.len()
            }
            _ => return Ok(()),
        };
        if left == 0 {
            privacy.remove("quasi_identifiers");
        }
        Ok(())
    }
}

/// A part of the text, made if it is not there.
fn section<'a>(root: &'a mut Table, path: &[&str]) -> Result<&'a mut dyn TableLike> {
    let mut table: &mut dyn TableLike = root;
    for (depth, name) in path.iter().enumerate() {
        let new = || {
            let mut table = Table::new();
            table.set_implicit(depth + 1 < path.len());
            Item::Table(table)
        };
        let item = table.entry(name).or_insert_with(new);
        table = item.as_table_like_mut().ok_or_else(|| {
            Error::new(ErrorCode::WrongType, format!("{name} is not a section of the policy"))
                .with_hint("correct its text first")
        })?;
    }
    Ok(table)
}

/// Sets or removes a key; what stands around its old value, such as a comment, stays.
fn set(table: &mut dyn TableLike, key: &str, value: Option<Value>) {
    let Some(mut value) = value else {
        table.remove(key);
        return;
    };
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => {
            table.insert(key, Item::Value(value));
        }
    }
}

fn rule(rule: &RuleText) -> Value {
    let mut table = InlineTable::new();
    match &rule.apart {
        ApartText::Cut(low, high) => {
            table.insert("cut", Value::Array([*low, *high].map(number).into_iter().collect()))
        }
        ApartText::Moments(low, high) => {
            table.insert("cut", Value::Array([low.as_str(), high.as_str()].into_iter().collect()))
        }
        ApartText::Values(one, other) => {
            table.insert("apart", Value::Array([one.as_str(), other.as_str()].into_iter().collect()))
        }
    };
    table.insert("importance", number(rule.importance));
    if rule.hard {
        table.insert("hard", true.into());
    }
    Value::InlineTable(table)
}

/// A number as people write it: whole where it is.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { (value as i64).into() } else { value.into() }
}

/// What somebody typed for a key: a number where it reads as one, nothing where it is empty.
pub fn typed(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let whole = text.parse::<i64>().ok().map(Value::from);
    let broken = || text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Value::from);
    Some(whole.or_else(broken).unwrap_or_else(|| text.into()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const POLICY: &str = "# ours\n[privacy]\nk = 5   # agreed in May\n\n[attribute.age]\n# known to neighbours\nrole = \"quasi\"\n";

    fn changed(change: impl FnOnce(&mut Text)) -> String {
        let mut text = Text::parse(POLICY).unwrap();
        change(&mut text);
        let text = text.finish();
        assert!(throng::Policy::parse(&text, None).is_ok(), "{text}");
        text
    }

    #[test]
    fn comments_and_order_stay() {
        assert_eq!(changed(|_| {}), POLICY);
        let text = changed(|text| text.key("privacy", "k", typed("10")).unwrap());
        assert_eq!(text, POLICY.replace("k = 5", "k = 10"));
        let text = changed(|text| text.attribute("age", "weight", typed("0.5")).unwrap());
        assert_eq!(text, format!("{POLICY}weight = 0.5\n"));
    }

    #[test]
    fn sections_are_made_where_there_are_none_and_names_are_quoted() {
        let text = changed(|text| text.attribute("date of \"birth\"", "role", typed("identifier")).unwrap());
        assert!(text.starts_with(POLICY) && text.contains("role = \"identifier\""), "{text}");
        let policy = throng::Policy::parse(&text, None).unwrap();
        assert!(policy.attributes.contains_key("date of \"birth\""));
    }

    #[test]
    fn rules_and_several_quasi_identifiers_come_and_go() {
        let rules = [
            RuleText { apart: ApartText::Cut(64.0, 65.0), importance: 25.0, hard: false },
            RuleText { apart: ApartText::Cut(17.5, 18.0), importance: 1.0, hard: true },
        ];
        let text = changed(|text| text.rules("age", &rules).unwrap());
        assert!(text.contains("rules = [{ cut = [64, 65], importance = 25 }, { cut = [17.5, 18], importance = 1, hard = true }]"), "{text}");
        let text = changed(|text| {
            text.rules("age", &rules).unwrap();
            text.rules("age", &[]).unwrap();
            text.add_quasi_identifier(&["age".to_owned()], 4).unwrap();
            text.add_quasi_identifier(&["age".to_owned()], 8).unwrap();
            text.remove_quasi_identifier(0).unwrap();
        });
        assert_eq!(text.matches("quasi_identifiers").count(), 1, "{text}");
        assert!(text.contains("k = 8") && !text.contains("rules"), "{text}");
    }
}
