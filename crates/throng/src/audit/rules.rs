//! Which data constraint rules a release keeps.

use super::{Columns, Measures, RuleMeasure};
use crate::privacy::broken_classes;
use crate::published::Published;

/// Looks at the cells of every class. Where nobody can tell the ranges of classes, nobody can tell which rules are kept.
pub(super) fn measure(measures: &mut Measures, published: &Published<'_>, columns: &Columns) {
    let unknown = measures.midpoints.as_ref().is_some_and(|own| own.known_by == "bound");
    let sizes: Vec<usize> = published.rows_of_classes().collect();
    let tells = |attribute: usize| !(unknown && columns.middles[attribute].is_some());
    for rule in published.rules.iter().filter(|rule| tells(rule.attribute)) {
        let breaking = broken_classes(rule, published);
        measures.rules.push(RuleMeasure {
            attribute: published.data.attributes[rule.attribute].name.clone(),
            rule: rule.text.clone(),
            importance: rule.importance,
            hard: rule.hard,
            kept: breaking.is_empty(),
            broken_classes: breaking.len() as u64,
            broken_records: breaking.iter().map(|class| sizes[*class] as u64).sum(),
        });
    }
}
