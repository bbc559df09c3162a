//! A comparison as one self-contained page.

use minijinja::{Value, context};

use super::super::number::{NONE, count, counted, percent, share};
use super::super::summary::verdict;
use super::super::template::{markup, render_page, style};
use super::super::text::listing;
use super::charts::{line_legend, loss_chart, metric_charts, several_k};
use super::{Comparison, ComparisonRun, LeftOut, Metric, k_words};
use crate::error::Result;

/// The comparison as one self-contained HTML page.
pub fn compare_html(comparison: &Comparison) -> Result<String> {
    render_page(include_str!("../compare.html"), context! { ..told(comparison), ..drawn(comparison) })
}

fn told(comparison: &Comparison) -> Value {
    let refused = comparison.runs.iter().filter(|run| run.report.is_none());
    context! {
        title => if comparison.data.is_empty() { "Methods compared" } else { comparison.data.as_str() },
        subtitle => subtitle(comparison),
        headline => headline(comparison),
        metrics => comparison.metrics().into_iter().map(Metric::name).collect::<Vec<_>>(),
        ks => comparison.ks().into_iter().map(|k| k_rows(comparison, k)).collect::<Vec<_>>(),
        refused => refused.map(refusal).collect::<Vec<_>>(),
        left_out => comparison.left_out.iter().map(left_out).collect::<Vec<_>>(),
        options => comparison.left_out_options().into_iter().map(options).collect::<Vec<_>>(),
        policy => comparison.policy.clone(),
        footer => format!("Made by {}.", format!("throng {}", comparison.version).trim_end()),
        style => style(),
    }
}

fn drawn(comparison: &Comparison) -> Value {
    let charts = metric_charts(comparison).into_iter().map(|chart| {
        context! { heading => chart.heading, words => chart.words, picture => markup(chart.picture) }
    });
    let loss = loss_chart(comparison).map(|chart| {
        context! { words => chart.words, legend => markup(chart.legend), picture => markup(chart.picture) }
    });
    context! {
        charts => charts.collect::<Vec<_>>(),
        legend => several_k(comparison).then(|| markup(line_legend(comparison))),
        loss,
    }
}

fn subtitle(comparison: &Comparison) -> String {
    [
        counted(comparison.rows, "record", "records"),
        counted(comparison.quasi.len() as u64, "quasi-identifier", "quasi-identifiers"),
        counted(comparison.methods().len() as u64, "method", "methods"),
        counted(comparison.runs.len() as u64, "run", "runs"),
    ]
    .join(" · ")
}

/// Which method loses least for which k, one sentence per method; where they looked for the k within a limit on the loss, which found
/// the largest.
pub(in crate::report) fn headline(comparison: &Comparison) -> Vec<String> {
    comparison.methods().into_iter().filter_map(|method| victories(comparison, method)).collect()
}

fn victories(comparison: &Comparison, method: &str) -> Option<String> {
    if comparison.finds_k() {
        let mut runs = comparison.runs.iter().filter(|run| run.method == method);
        let run = runs.find(|run| Metric::K.is_best(comparison, run))?;
        let (k, kept) = (Metric::K.told(run), percent(1.0 - Metric::Gcp.of(run)?));
        return Some(format!(
            "{method} hides each record among the most others within the limit on the loss: k = {k}, keeping {kept} of the detail."
        ));
    }
    let best = |k: &Option<u64>| {
        let run = comparison.run(method, *k)?;
        let kept = 1.0 - Metric::Gcp.of(run)?;
        Metric::Gcp.is_best(comparison, run).then(|| (*k, percent(kept)))
    };
    let (ks, kept): (Vec<_>, Vec<_>) = comparison.ks().iter().filter_map(best).unzip();
    let named: Vec<String> = ks.iter().flatten().map(|k| count(*k)).collect();
    let with = if named.is_empty() { k_words(None) } else { format!("k = {}", listing(&named)) };
    let kept = match kept.as_slice() {
        [] => return None,
        [only] => only.clone(),
        [first, .., last] => format!("from {first} to {last}"),
    };
    Some(format!("{method} keeps the most detail with {with}: {kept}."))
}

fn k_rows(comparison: &Comparison, k: Option<u64>) -> Value {
    let runs = comparison.runs_with(k).filter(|run| run.report.is_some());
    context! {
        name => k_words(k),
        bound => comparison.bound(k).map(share),
        rows => runs.map(|run| row(comparison, run)).collect::<Vec<_>>(),
    }
}

fn row(comparison: &Comparison, run: &ComparisonRun) -> Value {
    let cell =
        |metric: &Metric| context! { text => metric.told(run), best => metric.is_best(comparison, run) };
    let measures = run.measures();
    let verdict = measures.map(verdict);
    context! {
        method => run.method.clone(),
        cells => comparison.metrics().iter().map(cell).collect::<Vec<_>>(),
        k => measures.map_or_else(|| NONE.to_owned(), |measures| count(measures.k)),
        gap => measures.and_then(|measures| measures.gap).map_or_else(|| NONE.to_owned(), percent),
        suppressed => measures.map_or_else(|| NONE.to_owned(), |measures| count(measures.suppressed)),
        class => verdict.map_or("measured", |verdict| verdict.class()),
        mark => verdict.map_or(NONE, |verdict| verdict.mark()),
    }
}

fn refusal(run: &ComparisonRun) -> Value {
    let reason = run.refused.clone().unwrap_or_else(|| "no reason was given".to_owned());
    context! { method => run.method.clone(), k => k_words(run.k), reason }
}

fn options((method, names): (&str, String)) -> Value {
    context! { method => method, names }
}

fn left_out(own: &LeftOut) -> Value {
    context! { method => own.method.clone(), reason => own.reason.clone() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_page_tells_winners_bounds_and_refusals() {
        let page = compare_html(&samples::comparison()).unwrap();
        for told in [
            "hilbert keeps the most detail with k = 5, 10 and 25: from ",
            "class=\"bound\"",
            "Log scale",
            "too many records",
            "it publishes no cells",
        ] {
            assert!(page.contains(told), "{told} is missing");
        }
    }

    #[test]
    fn a_single_k_is_drawn_as_bars() {
        let mut comparison = samples::comparison();
        comparison.runs.retain(|run| run.k == Some(10));
        let page = compare_html(&comparison).unwrap();
        assert!(!page.contains("<circle") && page.contains("<rect class=\"s0\""));
    }

    #[test]
    fn comparisons_without_runs_or_figures_can_be_told() {
        let mut comparison = samples::comparison();
        comparison.runs.retain(|run| run.report.is_none());
        assert!(compare_html(&comparison).unwrap().contains("too many records"));
        comparison.runs.clear();
        comparison.quasi.clear();
        assert!(!compare_html(&comparison).unwrap().contains("<figure"));
    }
}
