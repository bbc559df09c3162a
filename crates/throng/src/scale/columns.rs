//! The columns that a release has, and what its cells say.

use arrow_schema::{DataType, Schema};

use super::known::{CodedKind, Known};
use super::rows::Layout;
use crate::policy::{Policy, Role};
use crate::table::types;

/// A column of a release.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// The cells of classes, of a quasi-identifier.
    Classes(usize),
    /// The values of a coded column.
    Values(usize),
    /// Passed through: its place in batches, and its type.
    Text(usize, DataType),
}

/// The columns of a release in the order of the table.
pub fn columns(
    known: &Known,
    layout: &Layout,
    policy: &Policy,
    schema: Option<&Schema>,
) -> Vec<(String, Column)> {
    let mut columns = Vec::new();
    for (column, name) in known.names.iter().enumerate() {
        let coded = known.coded.iter().position(|own| own.column == column);
        let passed = layout.passed.iter().position(|(_, own)| *own == column);
        let content = match (coded.map(|at| (at, known.coded[at].kind)), passed) {
            (Some((_, CodedKind::Quasi(attribute))), _) => Column::Classes(attribute),
            (Some((at, CodedKind::Sensitive(_) | CodedKind::Label(_))), _) => Column::Values(at),
            (None, Some(at)) => {
                let own = schema.map(|schema| types::published(schema.field(column).data_type()));
                Column::Text(layout.coded + 1 + at, own.unwrap_or(DataType::Utf8))
            }
            (None, None) => continue,
        };
        debug_assert!(!matches!(policy.role(name), Role::Identifier));
        columns.push((name.clone(), content));
    }
    columns
}

/// What is published of each value of a column: its own spelling, but for what lies in a tail.
pub fn shown(known: &Known, coded: usize) -> Vec<String> {
    let own = &known.coded[coded];
    let domain = match own.kind {
        CodedKind::Sensitive(at) => &known.problem.sensitive[at].domain,
        CodedKind::Label(at) => &known.problem.labels[at].domain,
        CodedKind::Quasi(at) => &known.problem.attributes[at].domain,
    };
    let text = |(text, code): (&String, &u32)| match domain.is_tail(*code) {
        true => domain.label(*code).to_owned(),
        false => text.clone(),
    };
    own.values.iter().zip(&own.codes).map(text).collect()
}
