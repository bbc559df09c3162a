//! How quasi-identifiers are distributed before and after.

use super::{Bin, Cell, Cells, Distribution};
use crate::classes::Classes;
use crate::collections::Arrange;
use crate::parallel;
use crate::problem::{Attribute, Problem};
use crate::table::{Domain, Scale, Taxonomy};

/// More bins than this cannot be told apart in a small plot.
const MOST_BINS: usize = 24;

pub(super) fn distributions(problem: &Problem, cells: &Cells<'_>, classes: &Classes) -> Vec<Distribution> {
    parallel::map(0..problem.attributes.len(), |at| {
        let attribute = &problem.attributes[at];
        let cell = |class| (*cells.cell(at, classes.first_row(class)), classes.size(class) as f64);
        let before = code_counts(problem, at);
        let bins = bins(attribute, &before, (0..classes.len()).map(cell));
        Distribution { attribute: attribute.name.clone(), bins }
    })
}

fn code_counts(problem: &Problem, attribute: usize) -> Vec<f64> {
    problem.code_counts(attribute).into_iter().map(|count| count as f64).collect()
}

fn bins(attribute: &Attribute, before: &[f64], cells: impl Iterator<Item = (Cell, f64)>) -> Vec<Bin> {
    match attribute.domain.scale() {
        Scale::Numeric { values, .. } if !values.is_empty() => {
            numeric_bins(&attribute.domain, values, before, cells)
        }
        Scale::Numeric { .. } => vec![Bin {
            label: "(missing)".to_owned(),
            before: before.iter().sum(),
            after: cells.map(|(_, size)| size).sum(),
        }],
        Scale::Categorical(tree) => categorical_bins(tree, before, cells),
    }
}

fn numeric_bins(
    domain: &Domain,
    values: &[f64],
    before: &[f64],
    cells: impl Iterator<Item = (Cell, f64)>,
) -> Vec<Bin> {
    let whole = values.iter().all(|value| value.fract() == 0.0);
    // A whole number n covers n … n + 1, so that a single value has a width.
    let step = if whole { 1.0 } else { 0.0 };
    let (first, last) = (values[0], values[values.len() - 1] + step);
    let raw = (last - first) / MOST_BINS as f64;
    let width = if whole { raw.ceil().max(1.0) } else { raw };
    let count = if width > 0.0 { ((last - first) / width).ceil().max(1.0) as usize } else { 1 };
    let bin_of =
        |value: f64| if width > 0.0 { (((value - first) / width) as usize).min(count - 1) } else { 0 };
    let mut bins: Vec<Bin> = (0..count)
        .map(|bin| {
            let inside = |value: &&f64| bin_of(**value) == bin;
            let low = values.iter().position(|value| inside(&value)).map(|code| domain.label(code as u32));
            let high = values.iter().rposition(|value| inside(&value)).map(|code| domain.label(code as u32));
            let label = match (low, high) {
                (Some(low), Some(high)) if low != high => format!("{low} – {high}"),
                (Some(low), _) => low.to_owned(),
                _ => format!("{}", first + bin as f64 * width),
            };
            Bin { label, before: 0.0, after: 0.0 }
        })
        .collect();
    for (value, count) in values.iter().zip(before) {
        bins[bin_of(*value)].before += count;
    }
    let mut missing_after = 0.0;
    for (cell, size) in cells {
        match cell.shown() {
            None => missing_after += size,
            Some((low, high)) => {
                let (low, high) = (low.max(first), (high + step).min(last).max(low));
                for bin in bin_of(low)..=bin_of(high) {
                    let (from, to) = (first + bin as f64 * width, first + (bin + 1) as f64 * width);
                    let overlap = high.min(to) - low.max(from);
                    bins[bin].after +=
                        if high > low { size * (overlap / (high - low)).max(0.0) } else { size };
                }
            }
        }
    }
    if let Some(code) = domain.missing() {
        bins.push(Bin { label: "(missing)".to_owned(), before: before[code as usize], after: missing_after });
    }
    bins
}

fn categorical_bins(tree: &Taxonomy, before: &[f64], cells: impl Iterator<Item = (Cell, f64)>) -> Vec<Bin> {
    let mut after = vec![0.0; before.len()];
    // Spread over leaves through differences, so that wide cells cost no more than narrow ones.
    let mut steps = vec![0.0; before.len() + 1];
    for (cell, size) in cells {
        let (first, end) = cell.leaves;
        let share = size / f64::from((end - first).max(1));
        steps[first as usize] += share;
        steps[end as usize] -= share;
    }
    let mut level = 0.0;
    for (after, step) in after.iter_mut().zip(&steps) {
        level += step;
        *after = f64::max(level, 0.0);
    }
    let all = tree.leaf_labels().zip(before).zip(&after).map(|((label, before), after)| Bin {
        label: label.to_owned(),
        before: *before,
        after: *after,
    });
    keep_most_frequent(all.collect())
}

/// The most frequent values in their order, the others together.
fn keep_most_frequent(bins: Vec<Bin>) -> Vec<Bin> {
    if bins.len() <= MOST_BINS {
        return bins;
    }
    let mut ranked: Vec<usize> = (0..bins.len()).collect();
    ranked.arrange_by(|a, b| bins[*b].before.total_cmp(&bins[*a].before).then(a.cmp(b)));
    let others = ranked.split_off(MOST_BINS - 1);
    let sum = |of: fn(&Bin) -> f64| others.iter().map(|at| of(&bins[*at])).sum();
    let rest = Bin {
        label: format!("({} others)", others.len()),
        before: sum(|bin| bin.before),
        after: sum(|bin| bin.after),
    };
    ranked.sort_unstable();
    ranked.into_iter().map(|at| bins[at].clone()).chain(std::iter::once(rest)).collect()
}
