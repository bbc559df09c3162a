//! A comparison in at most 80 columns of plain text.

use super::super::number::{count, share};
use super::super::terminal::{COLUMNS, Side, finished, table};
use super::super::text::{listing, shorten, width, wrap};
use super::page::headline;
use super::{Comparison, ComparisonRun, Metric, k_words, keeps_its_promise};

/// The comparison in plain text: a table for each k, with `*` at the best figures.
pub fn compare_terminal(comparison: &Comparison) -> String {
    let rows = format!("{} records, {} quasi-identifiers", count(comparison.rows), comparison.quasi.len());
    let mut lines = vec![shorten(&format!("{}: {rows}", comparison.data), COLUMNS)];
    let metrics = shown(comparison);
    for k in comparison.ks() {
        lines.push(String::new());
        lines.extend(k_table(comparison, k, &metrics));
    }
    lines.push(String::new());
    lines.extend(without_room(comparison, &metrics));
    for sentence in headline(comparison) {
        lines.extend(wrap(&sentence, COLUMNS));
    }
    if !comparison.left_out.is_empty() {
        lines.push(String::new());
        lines.push("Left out; --methods runs what it names:".to_owned());
        for own in &comparison.left_out {
            let told = format!("{}: {}", own.method, own.reason);
            lines.extend(wrap(&told, COLUMNS - 2).into_iter().map(|line| format!("  {line}")));
        }
    }
    lines.extend(left_out_options(comparison));
    finished(&lines)
}

fn left_out_options(comparison: &Comparison) -> Vec<String> {
    let told = comparison.left_out_options();
    let mut lines = Vec::new();
    if !told.is_empty() {
        lines.push(String::new());
        lines.push("Options of [method] that do not apply and were left out:".to_owned());
    }
    for (method, options) in told {
        let told = format!("{method}: {options}");
        lines.extend(wrap(&told, COLUMNS - 2).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

/// What goes first where names of methods and figures do not fit on a line; the page tells all of it.
const DISPENSABLE: [Metric; 2] = [Metric::Discernibility, Metric::CAvg];

/// The figures that fit beside the names of methods.
fn shown(comparison: &Comparison) -> Vec<Metric> {
    let mut metrics = comparison.metrics();
    if comparison.finds_k() {
        metrics.insert(0, Metric::K);
    }
    for metric in DISPENSABLE {
        if needed(comparison, &metrics) > COLUMNS {
            metrics.retain(|own| *own != metric);
        }
    }
    metrics
}

/// How wide the tables would be.
fn needed(comparison: &Comparison, metrics: &[Metric]) -> usize {
    let runs = comparison.runs.iter().filter(|run| run.report.is_some());
    let rows: Vec<Vec<String>> =
        std::iter::once(heading(metrics)).chain(runs.map(|run| row(comparison, run, metrics))).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    (0..=metrics.len()).map(|column| 2 + widest(column)).sum()
}

fn without_room(comparison: &Comparison, metrics: &[Metric]) -> Vec<String> {
    let all = comparison.metrics();
    let names: Vec<String> =
        all.iter().filter(|own| !metrics.contains(own)).map(|own| own.name().to_owned()).collect();
    match names.is_empty() {
        true => Vec::new(),
        false => {
            wrap(&format!("There is no room here for {}; the page has it all.", listing(&names)), COLUMNS)
        }
    }
}

fn k_table(comparison: &Comparison, k: Option<u64>, metrics: &[Metric]) -> Vec<String> {
    let bound = comparison.bound(k).map_or(String::new(), |bound| format!(" (lower bound {})", share(bound)));
    let mut lines = vec![format!("{}{bound}", k_words(k))];
    let mut rows = vec![heading(metrics)];
    let ran = comparison.runs_with(k).filter(|run| run.report.is_some());
    rows.extend(ran.map(|run| row(comparison, run, metrics)));
    if rows.len() > 1 {
        let sides: Vec<Side> =
            std::iter::once(Side::Left).chain(metrics.iter().map(|_| Side::Right)).collect();
        lines.extend(table(&rows, &sides));
    }
    for run in comparison.runs_with(k).filter(|run| run.report.is_none()) {
        let reason = run.refused.as_deref().unwrap_or("no reason was given");
        let told = format!("{} did not run: {reason}", run.method);
        lines.extend(wrap(&told, COLUMNS - 2).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

fn heading(metrics: &[Metric]) -> Vec<String> {
    let names = metrics.iter().map(|metric| format!("{} ", metric.name()));
    std::iter::once("method".to_owned()).chain(names).collect()
}

fn row(comparison: &Comparison, run: &ComparisonRun, metrics: &[Metric]) -> Vec<String> {
    let name = if keeps_its_promise(run) { run.method.clone() } else { format!("✗ {}", run.method) };
    let cell = |metric: &Metric| {
        let mark = if metric.is_best(comparison, run) { "*" } else { " " };
        metric.told(run) + mark
    };
    std::iter::once(name).chain(metrics.iter().map(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn methods_keep_their_names_however_many_figures_there_are() {
        let mut comparison = samples::comparison();
        let name = "rv-cluster-suppress";
        for run in &mut comparison.runs {
            run.method = name.into();
            run.query_error = Some(12.345);
            if let Some(report) = run.report.as_mut() {
                report.measures.research_value = Some(1.234);
            }
        }
        let text = compare_terminal(&comparison);
        let told = text.lines().filter(|line| line.trim_start().starts_with(name)).count();
        assert!(told >= comparison.ks().len(), "{text}");
        assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        assert!(text.contains("no room here for Discernibility"), "{text}");
        assert!(text.contains("Value") && text.contains("Query error"), "{text}");
    }

    #[test]
    fn the_best_figures_carry_a_star_and_failures_a_cross() {
        let mut comparison = samples::comparison();
        let text = compare_terminal(&comparison);
        let line = |text: &str, method: &str| -> String {
            text.lines().find(|line| line.trim_start().starts_with(method)).unwrap_or_default().to_owned()
        };
        assert!(line(&text, "hilbert").contains('*'), "{text}");
        assert!(line(&text, "exact did not run").contains("too many records"), "{text}");
        assert!(line(&text, "anatomy").contains("it publishes no cells"), "{text}");
        for report in comparison.runs.iter_mut().filter_map(|run| run.report.as_mut()) {
            report.measures.violations.push("k does not hold".into());
        }
        let text = compare_terminal(&comparison);
        assert!(!text.contains('*') && text.contains("✗ hilbert"), "{text}");
    }
}
