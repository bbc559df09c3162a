//! Conditions on one attribute, as people write them: in queries, and in rules that pick records.
//!
//! A number or date stands for itself, two of them for all between; a text is a value or the label of a node of the
//! hierarchy, several texts are alternatives.

use toml::Value;

use crate::error::{Error, ErrorCode, Result};
use crate::table::{Domain, Scale, Taxonomy};
use crate::words::did_you_mean;

/// What an attribute must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A number in a closed range.
    Between(f64, f64),
    /// One of some leaves: ranges `first .. end`, ascending, apart from each other.
    Leaves(Vec<(u32, u32)>),
}

impl Condition {
    /// Reads what was written for an attribute of this name and domain.
    pub fn read(name: &str, domain: &Domain, written: &Value) -> Result<Self> {
        let several = match written {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        match domain.scale() {
            Scale::Numeric { .. } => numbers(name, domain, several),
            Scale::Categorical(tree) => leaves(name, tree, several),
        }
    }

    /// For each code of a domain whether it meets the condition.
    pub fn codes(&self, domain: &Domain) -> Vec<bool> {
        let meets = |code: usize| match (self, domain.scale()) {
            (Condition::Between(low, high), Scale::Numeric { values, .. }) => {
                values.get(code).is_some_and(|value| low <= value && value <= high)
            }
            (Condition::Leaves(ranges), Scale::Categorical(_)) => {
                ranges.iter().any(|&(first, end)| (first as usize..end as usize).contains(&code))
            }
            _ => false,
        };
        (0..domain.len()).map(meets).collect()
    }
}

fn numbers(name: &str, domain: &Domain, written: &[Value]) -> Result<Condition> {
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::String(text) => domain.read(text),
        Value::Datetime(date) => domain.read(&date.to_string()),
        _ => None,
    };
    let ends: Option<Vec<f64>> = written.iter().map(number).collect();
    match ends.as_deref() {
        Some([one]) => Ok(Condition::Between(*one, *one)),
        Some([low, high]) if low <= high => Ok(Condition::Between(*low, *high)),
        Some([_, _]) => {
            Err(Error::new(ErrorCode::BadValue, format!("the range of \"{name}\" ends before it begins")))
        }
        _ => Err(Error::new(ErrorCode::BadValue, format!("\"{name}\" is numeric"))
            .with_hint("give one number or date, or the two ends of a range: [30, 39]")),
    }
}

fn leaves(name: &str, tree: &Taxonomy, written: &[Value]) -> Result<Condition> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for value in written {
        let Value::String(text) = value else {
            return Err(Error::new(ErrorCode::BadValue, format!("\"{name}\" has categories"))
                .with_hint("give values or labels of its hierarchy in quotes"));
        };
        let named = tree.nodes().filter(|node| tree.label(*node) == text);
        let widest = named.max_by_key(|node| tree.leaves_under(*node).len()).ok_or_else(|| {
            let labels: Vec<&str> = tree.nodes().map(|node| tree.label(node)).collect();
            let error = Error::new(
                ErrorCode::UnknownValue,
                format!("\"{text}\" is no value of \"{name}\" and no node of its hierarchy"),
            );
            match did_you_mean(text, labels.iter().copied()) {
                Some(guess) => error.with_hint(format!("did you mean \"{guess}\"?")),
                None => error.with_hint("it must occur in the table or in the hierarchy"),
            }
        })?;
        let leaves = tree.leaves_under(widest);
        ranges.push((leaves.start as u32, leaves.end as u32));
    }
    ranges.sort_unstable();
    // Alternatives may overlap, as a node and a leaf below it do.
    let mut apart: Vec<(u32, u32)> = Vec::new();
    for (first, end) in ranges {
        match apart.last_mut() {
            Some(last) if first <= last.1 => last.1 = last.1.max(end),
            _ => apart.push((first, end)),
        }
    }
    Ok(Condition::Leaves(apart))
}
