//! Whose the rows of a table are, as tags.

use std::path::Path;

use super::key::{Key, Tag};
use crate::collections::Map;
use crate::error::{Error, ErrorCode, Result};
use crate::policy::{Incomplete, Policy};
use crate::table::Table;
use crate::words::shorten;

/// The people of a table, each with one row.
#[derive(Clone, Debug)]
pub struct Members {
    /// The tag of each row; `None` where the policy drops rows that do not say whose they are.
    pub of_row: Vec<Option<Tag>>,
}

impl Members {
    /// Reads them; an error if somebody has several rows.
    pub fn of(table: &Table, policy: &Policy, key: &Key) -> Result<Self> {
        let columns: Vec<(Vec<&str>, &[u32])> = policy
            .person_columns()
            .filter_map(|(name, _)| table.names().iter().position(|own| own == name))
            .map(|column| (table.values(column), table.numbers(column)))
            .collect();
        let missing = |text: &str| policy.missing.iter().any(|marker| marker == text);
        let mut of_row = Vec::with_capacity(table.len());
        let mut seen: Map<Tag, u32> = Map::default();
        for row in 0..table.len() {
            let names: Vec<&str> =
                columns.iter().map(|(values, of_row)| values[of_row[row] as usize]).collect();
            let nobody = |text: &&str| text.trim().is_empty() || missing(text) || missing(text.trim());
            if names.iter().any(nobody) {
                if policy.incomplete == Incomplete::Keep {
                    return Err(Error::new(ErrorCode::NoPerson, "a record does not say whose it is")
                        .in_file(table.origin())
                        .on_line(table.line_of(row))
                        .with_hint(
                            "fill it in, or leave such rows out with incomplete = \"drop\" under [data]",
                        ));
                }
                of_row.push(None);
                continue;
            }
            let tag = key.tag(names.iter().map(|name| name.trim()));
            if let Some(first) = seen.insert(tag, row as u32) {
                return Err(Error::new(
                    ErrorCode::PersonTwice,
                    format!(
                        "a person has two records, the other one on line {}",
                        table.line_of(first as usize)
                    ),
                )
                .in_file(table.origin())
                .on_line(table.line_of(row))
                .with_hint("in a series everybody has one record: join them, or leave all but one out"));
            }
            of_row.push(Some(tag));
        }
        Ok(Members { of_row })
    }

    /// All tags, in the order of the rows.
    pub fn tags(&self) -> impl Iterator<Item = &Tag> {
        self.of_row.iter().flatten()
    }
}

/// The people in a file: one per line; several columns that name a person together are written one after the other, with a tab
/// between.
pub fn read_people(path: &Path, policy: &Policy, key: &Key) -> Result<Vec<(Tag, u64, String)>> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read the people to erase", path, &cause))?;
    let columns = policy.person_columns().count();
    let mut people = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let names: Vec<&str> =
            if columns == 1 { vec![text.trim()] } else { text.split('\t').map(str::trim).collect() };
        if names.len() != columns {
            return Err(Error::new(
                ErrorCode::UnknownPerson,
                format!("{columns} columns name a person, and this line has {}", names.len()),
            )
            .in_file(path)
            .on_line(line)
            .with_hint("write them in the order of the policy, with a tab between"));
        }
        people.push((key.tag(names), line, shorten(text)));
    }
    Ok(people)
}
