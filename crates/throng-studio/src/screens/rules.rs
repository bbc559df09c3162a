//! Rules: cuts on a histogram and pairs of categories that are kept apart.

use minijinja::{Value, context};
use throng::policy::{Apart, Rule};
use throng::report::pieces;
use throng::{Error, ErrorCode, Kind, Result, Role};

use super::{View, markup, render};
use crate::opened::{bins, short};
use crate::screens::hierarchies::grove;

/// Columns of the histogram.
const BINS: usize = 36;
/// Values and labels that are offered.
const MOST_OFFERED: usize = 400;

/// The screen.
pub fn show(view: &View<'_>) -> Result<String> {
    let choices = view.columns(Role::Quasi);
    let Some(column) = view.chosen(&choices) else {
        return Err(Error::new(ErrorCode::NoQuasi, "no column is a quasi-identifier")
            .with_hint("choose roles on the screen \"Table\""));
    };
    let name = view.opened.column(column)?;
    let own = &view.policy.attributes[name];
    let kind = kind(view, column);
    let numeric = kind == Kind::Numeric;
    let values = view.opened.table.values(column);
    let counted = bins(&values, &view.opened.counts[column], kind, BINS);
    let rules: Vec<Value> = own.rules.iter().enumerate().map(rule).collect();
    render(
        "rules.html",
        context! {
            choices => choices.iter().map(|(at, name)| {
                let rules = view.policy.attributes.get(*name).map_or(0, |own| own.rules.len());
                context! { at, name => *name, here => *at == column, rules }
            }).collect::<Vec<_>>(),
            column,
            name,
            numeric,
            dates => view.opened.suggestion.columns[column].dates,
            rules,
            picture => markup(pieces::histogram(&format!("How often values of {name} occur"), &counted, (760.0, 240.0))),
            offered => if numeric { Vec::new() } else { offered(view, column) },
            steered => steered(&view.policy.method.name),
        },
    )
}

/// Whether the attribute is one of numbers under the policy.
pub fn kind(view: &View<'_>, column: usize) -> Kind {
    let name = &view.opened.table.names()[column];
    let own = view.policy.attributes.get(name);
    match own.and_then(|own| own.kind) {
        Some(kind) => kind,
        None if own.is_some_and(|own| own.hierarchy.is_some()) => Kind::Categorical,
        None => view.opened.suggestion.columns[column].kind,
    }
}

/// Soft rules steer the methods that optimise research value.
fn steered(method: &str) -> bool {
    method.starts_with("rv-")
}

fn rule((at, rule): (usize, &Rule)) -> Value {
    let words = match &rule.apart {
        Apart::Cut(low, high) => format!("up to {low} | from {high} on"),
        Apart::Moments(low, high) => format!("up to {} | from {} on", short(low), short(high)),
        Apart::Values(one, other) => format!("{} | {}", short(one), short(other)),
    };
    context! { at, words, importance => rule.importance, hard => rule.hard }
}

/// The values and labels that can be kept apart, by number of their node.
fn offered(view: &View<'_>, column: usize) -> Vec<Value> {
    let Ok((grove, _)) = grove(&view.opened, &view.policy, column) else { return Vec::new() };
    let all: usize = grove.0.iter().map(crate::trees::Node::size).sum();
    let node = |number: usize| {
        let node = grove.node(number)?;
        Some(context! { number, label => short(&node.label), group => !node.is_value })
    };
    (0..all.min(MOST_OFFERED)).filter_map(node).collect()
}
