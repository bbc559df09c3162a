//! Ranges that end at the value of a single record far from all others: the end tells that person's value, however many
//! records share the range.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Columns;
use crate::problem::Problem;
use crate::table::{Scale, Table};

/// A published end of ranges that is one record's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// The attribute.
    pub attribute: String,
    /// Its value.
    pub value: String,
    /// Which key would hide it: `top` or `bottom`.
    pub end: Cow<'static, str>,
}

/// The outliers that a release shows as ends of ranges, or as they are.
pub(super) fn measure(problem: &Problem, release: &Table, columns: &Columns) -> Vec<Outlier> {
    let attributes = (0..problem.attributes.len()).zip(&columns.of_attribute);
    attributes
        .flat_map(|(at, own)| {
            let shown = |found: &Outlier| own.iter().any(|column| shows(release, *column, found));
            outliers(problem, at).into_iter().filter(shown).collect::<Vec<_>>()
        })
        .collect()
}

fn shows(release: &Table, column: usize, found: &Outlier) -> bool {
    let (low, high) = (format!("[{}-", found.value), format!("-{}]", found.value));
    let ends = |text: &str| if found.end == "top" { text.ends_with(&high) } else { text.starts_with(&low) };
    release.values(column).iter().any(|text| *text == found.value || ends(text))
}

/// The least and the greatest number of an attribute, where only one record has it and it lies farther from the others than
/// they lie from each other.
fn outliers(problem: &Problem, at: usize) -> Vec<Outlier> {
    let attribute = &problem.attributes[at];
    let Scale::Numeric { values, .. } = attribute.domain.scale() else { return Vec::new() };
    let [first, second, .., before, last] = values[..] else { return Vec::new() };
    let alone = |code: usize| problem.code_counts(at)[code] == 1;
    let found = |code: usize, end| Outlier {
        attribute: attribute.name.clone(),
        value: attribute.domain.label(code as u32).to_owned(),
        end,
    };
    // Halved against overflow.
    let farther = |gap: (f64, f64), rest: (f64, f64)| gap.1 / 2.0 - gap.0 / 2.0 > rest.1 / 2.0 - rest.0 / 2.0;
    let bottom = farther((first, second), (second, last)) && alone(0);
    let top = farther((before, last), (first, before)) && alone(values.len() - 1);
    bottom
        .then(|| found(0, "bottom".into()))
        .into_iter()
        .chain(top.then(|| found(values.len() - 1, "top".into())))
        .collect()
}
