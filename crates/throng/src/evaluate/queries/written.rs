//! Queries that somebody wrote down.
//!
//! A file, or the key `queries` of `[evaluate.queries]` in a policy:
//!
//! ```toml
//! [[query]]
//! name = "women in their thirties"
//! where = { age = [30, 39], sex = "Female", workclass = ["Private", "Government"] }
//!
//! [[query]]
//! sum = "age"
//! where = { marital-status = "Married" }
//! ```
//!
//! A number or date stands for itself, two of them for all between; a text is a value or the label of a node of the
//! hierarchy, several texts are alternatives.

use std::path::Path;

use toml::{Table, Value};

use super::{Condition, Query, draw};
use crate::error::{Error, Result, did_you_mean};
use crate::problem::{Attribute, Problem};
use crate::table::{Scale, Taxonomy};

const KEYS: [&str; 3] = ["name", "sum", "where"];

/// The queries of a file.
pub fn read_file(problem: &Problem, path: &Path) -> Result<Vec<Query>> {
    let text = std::fs::read_to_string(path).map_err(|cause| Error::io("read", path, &cause))?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() as u64 + 1);
        Error::input(format!("the queries are not TOML: {}", error.message())).in_file(path).on_line(line)
    })?;
    if let Some(unknown) = table.keys().find(|key| *key != "query") {
        return Err(Error::input(format!("there is no key \"{unknown}\" in a file of queries"))
            .in_file(path)
            .with_hint("begin each query with [[query]]"));
    }
    let written = table.get("query").cloned().unwrap_or(Value::Array(Vec::new()));
    read_value(problem, &written).map_err(|error| error.in_file(path))
}

/// The queries of a list of tables.
pub fn read_value(problem: &Problem, written: &Value) -> Result<Vec<Query>> {
    let queries = written.as_array().filter(|queries| !queries.is_empty()).ok_or_else(|| {
        Error::input("there are no queries")
            .with_hint("write [[query]] with where = { age = [30, 39] } and the like")
    })?;
    let read = |(at, query): (usize, &Value)| {
        let table =
            query.as_table().ok_or_else(|| Error::input(format!("query {} is not a table", at + 1)))?;
        read_query(problem, table, at + 1)
    };
    queries.iter().enumerate().map(read).collect()
}

fn read_query(problem: &Problem, written: &Table, number: usize) -> Result<Query> {
    let fail = |message: String| Error::input(format!("query {number}: {message}"));
    if let Some(unknown) = written.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(fail(format!("there is no key \"{unknown}\""))
            .with_hint(format!("the keys are {}", KEYS.join(", "))));
    }
    let sum = match written.get("sum") {
        None => None,
        Some(Value::String(name)) => summed(problem, Some(name))?,
        Some(_) => return Err(fail("sum must be the name of an attribute in quotes".to_owned())),
    };
    let mut conditions = vec![None; problem.attributes.len()];
    match written.get("where") {
        None => {}
        Some(Value::Table(table)) => {
            for (name, value) in table {
                let at = attribute(problem, name)?;
                conditions[at] = Some(condition(&problem.attributes[at], value).map_err(|error| {
                    fail(error.message().to_owned()).with_hint(error.hint().unwrap_or_default())
                })?);
            }
        }
        Some(_) => return Err(fail("where must be a table such as { age = [30, 39] }".to_owned())),
    }
    let name = match written.get("name") {
        Some(Value::String(name)) => name.clone(),
        Some(_) => return Err(fail("name must be a text in quotes".to_owned())),
        None => draw::in_words(problem, sum, &conditions),
    };
    Ok(Query { name, sum, conditions })
}

fn condition(attribute: &Attribute, written: &Value) -> Result<Condition> {
    let several = match written {
        Value::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    match attribute.domain.scale() {
        Scale::Numeric { .. } => numbers(attribute, several),
        Scale::Categorical(tree) => leaves(attribute, tree, several),
    }
}

fn numbers(attribute: &Attribute, written: &[Value]) -> Result<Condition> {
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::String(text) => attribute.domain.read(text),
        Value::Datetime(date) => attribute.domain.read(&date.to_string()),
        _ => None,
    };
    let ends: Option<Vec<f64>> = written.iter().map(number).collect();
    match ends.as_deref() {
        Some([one]) => Ok(Condition::Between(*one, *one)),
        Some([low, high]) if low <= high => Ok(Condition::Between(*low, *high)),
        Some([_, _]) => {
            Err(Error::input(format!("the range of \"{}\" ends before it begins", attribute.name)))
        }
        _ => Err(Error::input(format!("\"{}\" is numeric", attribute.name))
            .with_hint("give one number or date, or the two ends of a range: [30, 39]")),
    }
}

fn leaves(attribute: &Attribute, tree: &Taxonomy, written: &[Value]) -> Result<Condition> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for value in written {
        let Value::String(text) = value else {
            return Err(Error::input(format!("\"{}\" has categories", attribute.name))
                .with_hint("give values or labels of its hierarchy in quotes"));
        };
        let named = tree.nodes().filter(|node| tree.label(*node) == text);
        let widest = named.max_by_key(|node| tree.leaves_under(*node).len()).ok_or_else(|| {
            let labels: Vec<&str> = tree.nodes().map(|node| tree.label(node)).collect();
            let error = Error::input(format!(
                "\"{text}\" is no value of \"{}\" and no node of its hierarchy",
                attribute.name
            ));
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

/// The place of a quasi-identifier.
pub fn attribute(problem: &Problem, name: &str) -> Result<usize> {
    problem.attributes.iter().position(|attribute| attribute.name == name).ok_or_else(|| {
        let names: Vec<&str> = problem.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        let error = Error::input(format!("\"{name}\" is not a quasi-identifier of the policy"));
        match did_you_mean(name, names.iter().copied()) {
            Some(guess) => error.with_hint(format!("did you mean \"{guess}\"?")),
            None => error.with_hint(format!("queries may use {}", names.join(", "))),
        }
    })
}

/// The attribute to sum: the named one, which must be numeric, or the first numeric one.
pub fn summed(problem: &Problem, name: Option<&str>) -> Result<Option<usize>> {
    let numeric = |at: &usize| matches!(problem.attributes[*at].domain.scale(), Scale::Numeric { .. });
    match name {
        None => Ok((0..problem.attributes.len()).find(numeric)),
        Some(name) => {
            let at = attribute(problem, name)?;
            if numeric(&at) {
                return Ok(Some(at));
            }
            Err(Error::input(format!("\"{name}\" cannot be summed: it is not numeric")))
        }
    }
}
