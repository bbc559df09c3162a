//! Which data constraint rules a release keeps.

use super::{Measures, RuleMeasure};
use crate::privacy::broken_classes;
use crate::published::Published;

/// Looks at the cells of every class.
pub(super) fn measure(measures: &mut Measures, published: &Published<'_>) {
    let sizes: Vec<usize> = published.rows_of_classes().collect();
    for rule in published.rules.iter() {
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
