//! Which data constraint rules a release keeps.

use super::classes::Classes;
use super::{Cell, Cells, Measures, RuleMeasure};
use crate::problem::Problem;
use crate::rules::BoundRule;

/// Looks at the cells of every class; a broken hard rule is a violation.
pub(super) fn measure(measures: &mut Measures, problem: &Problem, cells: &Cells<'_>, classes: &Classes) {
    for rule in problem.rules.iter() {
        let breaking: Vec<usize> = (0..classes.len())
            .filter(|class| breaks(rule, cells.cell(rule.attribute, classes.first_row(*class))))
            .collect();
        let attribute = problem.attributes[rule.attribute].name.clone();
        if rule.hard && !breaking.is_empty() {
            measures.violations.push(format!(
                "the hard rule {} of {attribute} is broken in {} classes",
                rule.text,
                breaking.len()
            ));
        }
        measures.rules.push(RuleMeasure {
            attribute,
            rule: rule.text.clone(),
            importance: rule.importance,
            hard: rule.hard,
            kept: breaking.is_empty(),
            broken_classes: breaking.len() as u64,
            broken_records: breaking.iter().map(|class| classes.size(*class) as u64).sum(),
        });
    }
}

fn breaks(rule: &BoundRule, cell: &Cell) -> bool {
    match (cell.range, cell.leaves) {
        (Some(range), _) => rule.broken_by_numbers(range),
        (None, (first, end)) => first < end && rule.broken_by((first, end - 1)),
    }
}
