//! The result: the release beside the table, what was lost, and what it is still good for.

use minijinja::{Value, context};
use throng::Result;
use throng::evaluate::STANDARD;
use throng::report::pieces::{count, percent, seconds, share};
use throng::report::release_fragment;

use super::{View, markup, render, work};
use crate::rows;
use crate::studio::{Evaluated, Made};
use crate::work::Kind;

/// The screen.
pub fn show(view: &View<'_>) -> Result<String> {
    let result = view.studio.result();
    let fragment = result.as_ref().map(|made| release_fragment(&made.kept.report)).transpose()?;
    let cells = result
        .as_ref()
        .and_then(|made| made.looked.as_ref())
        .map(|looked| rows::page(&view.opened, looked, view.at));
    let results = view.studio.results();
    let known = view.studio.evaluations();
    let task = |entry: &throng::evaluate::Entry| context! { name => entry.name, summary => entry.summary };
    render(
        "result.html",
        context! {
            made => result.is_some(),
            again => result.as_ref().is_some_and(|made| made.looked.is_none()),
            fragment => fragment.map(markup),
            cells,
            method => view.policy.method.name.clone(),
            seeded => view.policy.method.seed_given,
            work => work(view.studio.works.of(Kind::Result)),
            evaluating => work(view.studio.works.of(Kind::Evaluate)),
            tasks => STANDARD.iter().map(task).collect::<Vec<_>>(),
            evaluations => known.iter().map(|own| evaluated(own)).collect::<Vec<_>>(),
            several => results.len() > 1,
            results => results.iter().map(|made| beside(made, result.as_deref())).collect::<Vec<_>>(),
        },
    )
}

fn evaluated(own: &Evaluated) -> Value {
    context! { task => own.task.clone(), headline => own.headline.clone(), markup => markup(own.markup.clone()) }
}

/// A result in a few figures.
fn beside(made: &Made, here: Option<&Made>) -> Value {
    let (report, measures) = (&made.kept.report, &made.kept.report.measures);
    let l = measures.l.map_or_else(|| "–".to_owned(), |l| format!("{l:.2}"));
    context! {
        number => made.kept.number,
        here => here.is_some_and(|here| here.kept.number == made.kept.number),
        method => report.method.clone(),
        k => count(measures.k),
        asked => measures.k_required.map_or_else(|| "–".to_owned(), count),
        l,
        loss => percent(measures.gcp),
        gcp => share(measures.gcp),
        classes => count(measures.classes),
        suppressed => count(measures.suppressed),
        unique => percent(measures.published_as_is.unique_share),
        time => report.seconds.get("anonymize").map_or_else(|| "–".to_owned(), |time| seconds(*time)),
        width => format!("{:.1}", 100.0 * measures.gcp.clamp(0.0, 1.0)),
    }
}
