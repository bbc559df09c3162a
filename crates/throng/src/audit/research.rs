//! The research value of a release, whatever method made it, measured from its cells (Morton 2012).
//!
//! An attribute is worth its weight, times how much of its detail is left, times the share of its data constraint rules that are
//! kept. Detail is Σ R⁰·N / Σ R·N over classes: N their records, R how many values the cell spans (numbers by their distance and one
//! step, categories by the leaves below their label), R⁰ what the records' own values span; a suppressed record counts at the
//! full range. That is the thesis's value of clusters; the value of a full-domain string, which `rv-…` methods raise, counts
//! labels of categories instead and stands in their own report.

use indexmap::IndexMap;

use super::{Cells, Classes, Measures};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::research::{Settings, Spans, detail};

/// Measures it; nothing where the ranges of classes are not known.
pub(super) fn measure(
    measures: &mut Measures,
    problem: &Problem,
    policy: &Policy,
    cells: &Cells<'_>,
    classes: &Classes,
) {
    if measures.loss_is_bound() || problem.is_empty() {
        return;
    }
    let (settings, spans) = (settings(policy), Spans::new(&problem.attributes));
    let of_attribute = |at: usize| {
        let attribute = &problem.attributes[at];
        let records = problem.code_counts(at);
        let raw: Vec<(u64, f64)> =
            (0..).zip(&records).map(|(code, count)| (*count, spans.span(at, code, code))).collect();
        let class = |class: usize| {
            let cell = cells.cell(at, classes.first_row(class));
            (classes.size(class) as u64, spans.of_penalty(at, cell.ncp))
        };
        let mut groups: Vec<(u64, f64)> = (0..classes.len()).map(class).collect();
        groups.push((measures.suppressed, spans.whole(at)));
        let rules = || measures.rules.iter().filter(|rule| rule.attribute == attribute.name);
        let kept = rules().filter(|rule| rule.kept).map(|rule| rule.importance).sum();
        let ratio = settings.ratio(kept, rules().map(|rule| rule.importance).sum());
        (attribute.name.clone(), settings.value(attribute.weight, detail(&raw, &groups), ratio))
    };
    let values: IndexMap<String, f64> = (0..problem.attributes.len()).map(of_attribute).collect();
    measures.research_value = Some(values.values().sum::<f64>()).filter(|value| value.is_finite());
    measures.research_value_per_attribute = values;
}

/// As the policy's method has them.
fn settings(policy: &Policy) -> Settings {
    let number = |key: &str| {
        let written = policy.method.options.get(key)?;
        written.as_float().or(written.as_integer().map(|number| number as f64))
    };
    let usual = Settings::default();
    Settings {
        base: number("base").filter(|base| *base >= 0.0).or(usual.base),
        importance: number("importance")
            .filter(|share| (0.0..=1.0).contains(share))
            .unwrap_or(usual.importance),
        given: Vec::new(),
    }
}
