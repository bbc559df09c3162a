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
//! How ranges, values and labels are written is for [`Condition`] to say.

use std::path::Path;

use toml::{Table, Value};

use super::{Query, draw};
use crate::condition::Condition;
use crate::error::{Error, ErrorCode, Result};
use crate::problem::Problem;
use crate::table::Scale;
use crate::words::did_you_mean;

const KEYS: [&str; 3] = ["name", "sum", "where"];

/// The queries of a file.
pub fn read_file(problem: &Problem, path: &Path) -> Result<Vec<Query>> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", path, &cause))?;
    read_text(problem, &text).map_err(|error| error.in_file(path))
}

/// The queries of the text of a file.
pub fn read_text(problem: &Problem, text: &str) -> Result<Vec<Query>> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() as u64 + 1);
        Error::new(ErrorCode::BadQueries, format!("the queries are not TOML: {}", error.message()))
            .on_line(line)
    })?;
    if let Some(unknown) = table.keys().find(|key| *key != "query") {
        return Err(Error::new(
            ErrorCode::BadQueries,
            format!("there is no key \"{unknown}\" in a file of queries"),
        )
        .with_hint("begin each query with [[query]]"));
    }
    let written = table.get("query").cloned().unwrap_or(Value::Array(Vec::new()));
    read_value(problem, &written)
}

/// The queries of a list of tables.
pub fn read_value(problem: &Problem, written: &Value) -> Result<Vec<Query>> {
    let queries = written.as_array().filter(|queries| !queries.is_empty()).ok_or_else(|| {
        Error::new(ErrorCode::BadQueries, "there are no queries")
            .with_hint("write [[query]] with where = { age = [30, 39] } and the like")
    })?;
    let read = |(at, query): (usize, &Value)| {
        let table = query
            .as_table()
            .ok_or_else(|| Error::new(ErrorCode::BadQueries, format!("query {} is not a table", at + 1)))?;
        read_query(problem, table, at + 1)
    };
    queries.iter().enumerate().map(read).collect()
}

fn read_query(problem: &Problem, written: &Table, number: usize) -> Result<Query> {
    let within_query = |error: Error| error.preceded_by(format!("query {number}: "));
    let fail = |message: String| within_query(Error::new(ErrorCode::BadQueries, message));
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
                let domain = &problem.attributes[at].domain;
                conditions[at] = Some(Condition::read(name, domain, value).map_err(within_query)?);
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

/// The place of a quasi-identifier.
pub fn attribute(problem: &Problem, name: &str) -> Result<usize> {
    problem.attributes.iter().position(|attribute| attribute.name == name).ok_or_else(|| {
        let names: Vec<&str> = problem.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        let error = Error::new(
            ErrorCode::UnknownAttribute,
            format!("\"{name}\" is not a quasi-identifier of the policy"),
        );
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
            Err(Error::new(ErrorCode::WrongKind, format!("\"{name}\" cannot be summed: it is not numeric")))
        }
    }
}
