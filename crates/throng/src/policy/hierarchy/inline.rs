//! Trees written in the policy itself: tables are groups, lists hold the values. A value that stands beside groups is an
//! empty table or an empty text, `Bachelors = {}` or `Bachelors = ""`. The reader of the policy has bounded the depth
//! already, so recursion is safe.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::Growing;
use crate::error::{Error, ErrorCode, Result};
use crate::keys::fields::{Item, in_order, mismatch};
use crate::keys::source::Source;
use crate::table::Tree;

/// Reads a tree.
pub(super) fn read(source: Source<'_>, item: &Item<'_>, table: &DeTable<'_>) -> Result<Tree> {
    let mut reader = Reader { source, growing: Growing::new(), groups: Vec::new() };
    reader.groups(table, &item.span())?;
    reader.growing.finish().map_err(|(error, span)| {
        let span = span.unwrap_or_else(|| item.span());
        source.point(error, &span, "does not fit what stands before")
    })
}

struct Reader<'a> {
    source: Source<'a>,
    growing: Growing<Range<usize>>,
    /// The groups around the place being read, outermost first.
    groups: Vec<String>,
}

impl Reader<'_> {
    fn groups(&mut self, table: &DeTable<'_>, span: &Range<usize>) -> Result<()> {
        if table.is_empty() {
            return Err(self.empty(span));
        }
        for (key, item) in in_order(table) {
            self.check_label(key.get_ref(), &key.span())?;
            self.groups.push(key.get_ref().to_string());
            match is_leaf(item) {
                true => self.value(key.span())?,
                false => self.group(item)?,
            }
            self.groups.pop();
        }
        Ok(())
    }

    fn group(&mut self, item: &Item<'_>) -> Result<()> {
        match item.get_ref() {
            DeValue::Table(table) => self.groups(table, &item.span()),
            DeValue::Array(leaves) if leaves.is_empty() => Err(self.empty(&item.span())),
            DeValue::Array(leaves) => leaves.iter().try_for_each(|leaf| self.leaf(leaf)),
            _ => Err(mismatch(self.source, item, &self.name(), "a list of values or a table of groups")
                .with_hint("a single value is a list too: [\"Italy\"]; a value beside groups is {} or \"\"")),
        }
    }

    fn leaf(&mut self, item: &Item<'_>) -> Result<()> {
        let label = match item.get_ref() {
            DeValue::String(label) => label.to_string(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            _ => {
                return Err(mismatch(self.source, item, "a value of the hierarchy", "a string or a number")
                    .with_hint("put values in quotes; groups stand in tables, not in lists"));
            }
        };
        self.check_label(&label, &item.span())?;
        self.push(label, item.span())
    }

    /// Takes what looked like the innermost group for a value.
    fn value(&mut self, span: Range<usize>) -> Result<()> {
        let label = self.groups.pop().unwrap_or_default();
        self.push(label.clone(), span)?;
        self.groups.push(label);
        Ok(())
    }

    /// Adds a value below the groups around it.
    fn push(&mut self, label: String, span: Range<usize>) -> Result<()> {
        let path = std::iter::once(label).chain(self.groups.iter().rev().cloned()).collect();
        self.growing.push(path, span.clone()).map_err(|error| {
            self.source.point(error, &span, "given before").with_hint("remove one of the two")
        })
    }

    fn check_label(&self, label: &str, span: &Range<usize>) -> Result<()> {
        if !label.trim().is_empty() {
            return Ok(());
        }
        let error = self.source.error(
            ErrorCode::BadHierarchy,
            span,
            "an empty label in the hierarchy",
            "expected a name",
        );
        Err(error.with_hint("give it a name, or remove it"))
    }

    fn empty(&self, span: &Range<usize>) -> Error {
        self.source
            .error(ErrorCode::BadHierarchy, span, format!("{} holds no value", self.name()), "empty")
            .with_hint("list its values, for example { Europe = [\"Italy\"], America = [\"US\"] }")
    }

    fn name(&self) -> String {
        match self.groups.last() {
            Some(group) => format!("the group \"{group}\""),
            None => "the hierarchy".to_owned(),
        }
    }
}

/// Whether what stands after a name says that the name is a value.
fn is_leaf(item: &Item<'_>) -> bool {
    match item.get_ref() {
        DeValue::Table(table) => table.is_empty(),
        DeValue::String(text) => text.is_empty(),
        _ => false,
    }
}
