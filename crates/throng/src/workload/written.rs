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
//! sum = "age"                                   # or average = "age"
//! where = { marital-status = "Married", illness = "flu" }
//! ```
//!
//! Queries may ask about every published column: quasi-identifiers, sensitive and class attributes, and, where a release is
//! evaluated, those that are passed through.
//!
//! How ranges, values and labels are written is for [`Condition`] to say.

use std::path::Path;

use toml::{Table, Value};

use super::{Aggregate, Column, Place, Query, draw};
use crate::condition::Condition;
use crate::data::Data;
use crate::error::{Error, ErrorCode, Result};
use crate::table::{Domain, Scale};
use crate::words::did_you_mean;

const KEYS: [&str; 4] = ["name", "sum", "average", "where"];

/// The queries of a file.
pub fn read_file(asked: &Asked<'_>, path: &Path) -> Result<Vec<Query>> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", path, &cause))?;
    read_text(asked, &text).map_err(|error| error.in_file(path))
}

/// The queries of the text of a file.
pub fn read_text(asked: &Asked<'_>, text: &str) -> Result<Vec<Query>> {
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
    read_value(asked, &written)
}

/// The queries of a list of tables.
pub fn read_value(asked: &Asked<'_>, written: &Value) -> Result<Vec<Query>> {
    let queries = written.as_array().filter(|queries| !queries.is_empty()).ok_or_else(|| {
        Error::new(ErrorCode::BadQueries, "there are no queries")
            .with_hint("write [[query]] with where = { age = [30, 39] } and the like")
    })?;
    let read = |(at, query): (usize, &Value)| {
        let table = query
            .as_table()
            .ok_or_else(|| Error::new(ErrorCode::BadQueries, format!("query {} is not a table", at + 1)))?;
        read_query(asked, table, at + 1)
    };
    queries.iter().enumerate().map(read).collect()
}

fn read_query(asked: &Asked<'_>, written: &Table, number: usize) -> Result<Query> {
    let within_query = |error: Error| error.preceded_by(format!("query {number}: "));
    let fail = |message: String| within_query(Error::new(ErrorCode::BadQueries, message));
    if let Some(unknown) = written.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(fail(format!("there is no key \"{unknown}\""))
            .with_hint(format!("the keys are {}", KEYS.join(", "))));
    }
    let numbers = |key: &str| match written.get(key) {
        None => Ok(None),
        Some(Value::String(name)) => asked.numeric(name).map(Some),
        Some(_) => Err(fail(format!("{key} must be the name of an attribute in quotes"))),
    };
    let aggregate = match (numbers("sum")?, numbers("average")?) {
        (None, None) => Aggregate::Count,
        (Some(place), None) => Aggregate::Sum(place),
        (None, Some(place)) => Aggregate::Average(place),
        (Some(_), Some(_)) => return Err(fail("it asks for a sum and for an average".to_owned())),
    };
    let mut conditions = vec![None; asked.data.attributes.len()];
    let mut further = Vec::new();
    match written.get("where") {
        None => {}
        Some(Value::Table(table)) => {
            for (name, value) in table {
                let place = asked.place(name)?;
                let condition = Condition::read(name, asked.domain(place), value).map_err(within_query)?;
                match place {
                    Place::Quasi(at) => conditions[at] = Some(condition),
                    Place::Further(at) => further.push((at, condition)),
                }
            }
        }
        Some(_) => return Err(fail("where must be a table such as { age = [30, 39] }".to_owned())),
    }
    let mut query = Query { name: String::new(), aggregate, conditions, further };
    query.name = match written.get("name") {
        Some(Value::String(name)) => name.clone(),
        Some(_) => return Err(fail("name must be a text in quotes".to_owned())),
        None => draw::in_words(asked.data, asked.further, &query),
    };
    Ok(query)
}

/// What queries may ask about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Quasi-identifiers.
    pub data: &'a Data,
    /// The columns beside them.
    pub further: &'a [Column<'a>],
}

impl Asked<'_> {
    /// The column of a name.
    pub fn place(&self, name: &str) -> Result<Place> {
        let quasi =
            self.data.attributes.iter().position(|attribute| attribute.name == name).map(Place::Quasi);
        let further = || self.further.iter().position(|own| own.name == name).map(Place::Further);
        quasi.or_else(further).ok_or_else(|| {
            let attributes = self.data.attributes.iter().map(|attribute| attribute.name.as_str());
            let names: Vec<&str> =
                attributes.chain(self.further.iter().map(|own| own.name.as_ref())).collect();
            let error = Error::new(
                ErrorCode::UnknownAttribute,
                format!("\"{name}\" is no column that queries may ask about"),
            );
            match did_you_mean(name, names.iter().copied()) {
                Some(guess) => error.with_hint(format!("did you mean \"{guess}\"?")),
                None => error.with_hint(format!("queries may use {}", names.join(", "))),
            }
        })
    }

    /// The column of a name, which must hold numbers.
    pub fn numeric(&self, name: &str) -> Result<Place> {
        let place = self.place(name)?;
        match self.domain(place).scale() {
            Scale::Numeric { .. } => Ok(place),
            Scale::Categorical(_) => Err(Error::new(
                ErrorCode::WrongKind,
                format!("\"{name}\" cannot be summed: it is not numeric"),
            )),
        }
    }

    /// The name of a column.
    pub fn name(&self, place: Place) -> &str {
        match place {
            Place::Quasi(at) => &self.data.attributes[at].name,
            Place::Further(at) => &self.further[at].name,
        }
    }

    /// The values of a column.
    pub fn domain(&self, place: Place) -> &Domain {
        match place {
            Place::Quasi(at) => &self.data.attributes[at].domain,
            Place::Further(at) => &self.further[at].domain,
        }
    }
}
