//! The charts of a comparison.

use super::super::charts::{ALONE, WIDE};
use super::super::number::count;
use super::super::svg::{
    Group, Line, LineChart, Series, Svg, Swatch, Unit, horizontal_bars, legend, line_chart,
};
use super::{Comparison, Metric, k_words};
use crate::audit::Measures;
use crate::collections::Arrange;

/// One chart with its heading.
pub(super) struct Chart {
    pub(super) heading: &'static str,
    pub(super) words: &'static str,
    pub(super) picture: Svg,
}

struct Plan {
    metric: Metric,
    heading: &'static str,
    words: &'static str,
    unit: Unit,
    log: bool,
}

const PLANS: [Plan; 4] = [
    Plan {
        metric: Metric::Gcp,
        heading: "Loss (GCP)",
        words: "Lower keeps more detail.",
        unit: Unit::Share,
        log: false,
    },
    Plan {
        metric: Metric::Seconds,
        heading: "Time to anonymize",
        words: "Lower is faster.",
        unit: Unit::Seconds,
        log: true,
    },
    Plan {
        metric: Metric::Classes,
        heading: "Classes",
        words: "More classes tell more records apart.",
        unit: Unit::Count,
        log: false,
    },
    Plan {
        metric: Metric::Discernibility,
        heading: "Discernibility",
        words: "Lower tells records better apart.",
        unit: Unit::Count,
        log: true,
    },
];

/// A chart per metric: lines over k, or bars where there is only one k. None without any figure.
pub(super) fn metric_charts(comparison: &Comparison) -> Vec<Chart> {
    let told = |plan: &&Plan| comparison.runs.iter().any(|run| plan.metric.of(run).is_some());
    let draw = |plan: &Plan| Chart {
        heading: plan.heading,
        words: if plan.log && several_k(comparison) { log_words(plan) } else { plan.words },
        picture: draw(comparison, plan),
    };
    PLANS.iter().filter(told).map(draw).collect()
}

fn log_words(plan: &Plan) -> &'static str {
    match plan.metric {
        Metric::Seconds => "Lower is faster. Log scale.",
        _ => "Lower tells records better apart. Log scale.",
    }
}

/// Whether there is more than one k, so that lines make sense.
pub(super) fn several_k(comparison: &Comparison) -> bool {
    comparison.ks().len() > 1
}

fn draw(comparison: &Comparison, plan: &Plan) -> Svg {
    if several_k(comparison) { lines(comparison, plan) } else { bars(comparison, plan) }
}

fn lines(comparison: &Comparison, plan: &Plan) -> Svg {
    line_chart(&line_plan(comparison, plan, false), (WIDE, 290.0))
}

/// Loss over k, what no release can reach shaded; each point says which method and k it stands for.
pub(in crate::report) fn frontier(comparison: &Comparison) -> Svg {
    line_chart(&line_plan(comparison, &PLANS[0], true), (640.0, 340.0))
}

fn line_plan(comparison: &Comparison, plan: &Plan, live: bool) -> LineChart {
    let ks = comparison.ks();
    let line = |(series, method): (usize, &&str)| Line {
        name: (*method).to_owned(),
        series: Some(series),
        values: ks.iter().map(|k| plan.metric.of(comparison.run(method, *k)?)).collect(),
    };
    let mut lines: Vec<Line> = comparison.methods().iter().enumerate().map(line).collect();
    if plan.metric == Metric::Gcp && has_bound(comparison) {
        let values = ks.iter().map(|k| comparison.bound(*k)).collect();
        lines.push(Line { name: BOUND.to_owned(), series: None, values });
    }
    LineChart {
        title: format!("{} over k", plan.heading),
        across: "k".to_owned(),
        places: ks.iter().map(|k| k.map_or_else(|| "policy".to_owned(), count)).collect(),
        lines,
        unit: plan.unit,
        log: plan.log,
        live,
    }
}

fn bars(comparison: &Comparison, plan: &Plan) -> Svg {
    let group = |run: &super::ComparisonRun| {
        Some(Group { label: run.method.clone(), values: vec![plan.metric.of(run)?] })
    };
    let mut groups: Vec<Group> = comparison.runs.iter().filter_map(group).collect();
    if plan.metric == Metric::Gcp {
        let bound = comparison.ks().first().and_then(|k| comparison.bound(*k));
        groups.extend(bound.map(|bound| Group { label: BOUND.to_owned(), values: vec![bound] }));
    }
    horizontal_bars(plan.heading, &groups, &[Series::ONLY], plan.unit, WIDE)
}

const BOUND: &str = "lower bound";

fn has_bound(comparison: &Comparison) -> bool {
    comparison.ks().iter().any(|k| comparison.bound(*k).is_some())
}

/// What the lines mean.
pub(in crate::report) fn line_legend(comparison: &Comparison) -> Svg {
    let methods = comparison.methods();
    let mut entries: Vec<(Swatch, &str)> =
        methods.iter().enumerate().map(|(at, method)| (Swatch::Line(at), *method)).collect();
    if has_bound(comparison) {
        entries.push((Swatch::Bound, "lower bound: no generalization can lose less"));
    }
    legend(&entries)
}

/// More methods than these cannot be told apart in grouped bars.
const MOST_METHODS: usize = 6;

/// Loss per attribute at the smallest k.
pub(super) struct LossChart {
    pub(super) words: String,
    pub(super) legend: Svg,
    pub(super) picture: Svg,
}

/// Loss per attribute for each method at the smallest k, the methods with the least loss if there are many.
pub(super) fn loss_chart(comparison: &Comparison) -> Option<LossChart> {
    let k = comparison.ks().into_iter().find(|k| comparison.runs_with(*k).any(|run| run.report.is_some()))?;
    let runs = least_lossy(comparison, k);
    let series: Vec<Series<'_>> = runs.iter().map(|(series, _)| *series).collect();
    let group = |attribute: &String| Group {
        label: attribute.clone(),
        values: runs.iter().map(|(_, measures)| attribute_loss(measures, attribute)).collect(),
    };
    let groups: Vec<Group> = comparison.quasi.iter().map(group).collect();
    let entries: Vec<(Swatch, &str)> = series.iter().map(|one| (Swatch::Bar(one.colour), one.name)).collect();
    let all = comparison.runs_with(k).filter(|run| run.report.is_some()).count();
    let only = if all > runs.len() {
        format!(" The {} methods with the least loss.", runs.len())
    } else {
        String::new()
    };
    (!groups.is_empty() && !runs.is_empty()).then(|| LossChart {
        words: format!("At {}.{only}", k_words(k)),
        legend: legend(&entries),
        picture: horizontal_bars("Loss per attribute", &groups, &series, Unit::Share, ALONE),
    })
}

/// The runs of a k that lose least, in the order and colours of the methods.
fn least_lossy(comparison: &Comparison, k: Option<u64>) -> Vec<(Series<'_>, &Measures)> {
    let run = |(colour, name)| {
        let measures = comparison.run(name, k)?.measures()?;
        Some((Series { name, colour }, measures))
    };
    let mut runs: Vec<_> = comparison.methods().into_iter().enumerate().filter_map(run).collect();
    runs.arrange_by(|(_, a), (_, b)| a.gcp.total_cmp(&b.gcp));
    runs.truncate(MOST_METHODS);
    runs.arrange_by_key(|(series, _)| series.colour);
    runs
}

fn attribute_loss(measures: &Measures, attribute: &str) -> f64 {
    measures.gcp_per_attribute.get(attribute).copied().unwrap_or(0.0)
}
