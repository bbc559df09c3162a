//! Privacy: what is asked for, and beside it what each choice costs.

use std::sync::Arc;

use minijinja::{Value, context};
use throng::method::Methods;
use throng::report::pieces::{self, count, percent, seconds};
use throng::report::{Block, Chart, ComparisonRun, Section, Series, Unit};
use throng::run::{Bounded, suitable_methods};
use throng::watch::Unwatched;
use throng::{Policy, Result, Role};

use super::{At, View, capital, markup, render, told, work};
use crate::studio::{Frontier, Studio};
use crate::work::Kind;

/// The k that the frontier is computed for unless others are asked for.
const KS: [usize; 6] = [2, 5, 10, 25, 50, 100];
/// The largest k of the slider.
const MOST_K: usize = 200;

/// The screen.
pub fn show(view: &View<'_>) -> Result<String> {
    let policy = &view.policy;
    let k = policy.privacy.k();
    let frontier = view.studio.frontier();
    let (suitable, left_out) = suitable_methods(&Methods::standard(), policy);
    let entry = |entry: &throng::method::Entry| {
        context! { name => entry.name, summary => entry.summary, here => entry.name == policy.method.name }
    };
    render(
        "privacy.html",
        context! {
            k => k.map_or(String::new(), |k| k.to_string()),
            most_k => MOST_K.min((view.opened.table.len() / 2).max(2)),
            fields => fields(view),
            sensitive => !view.columns(Role::Sensitive).is_empty(),
            methods => Methods::standard().iter().map(entry).collect::<Vec<_>>(),
            method => policy.method.name.clone(),
            compared => compared(view, &suitable, frontier.as_deref()),
            left_out => left_out.iter().map(|own| context! { method => own.method.clone(), reason => own.reason.clone() }).collect::<Vec<_>>(),
            ks => view.at.get("ks").cloned().unwrap_or_else(|| ks(view).iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
            several => several(view),
            quasi => view.columns(Role::Quasi).iter().map(|(at, name)| context! { at, name => *name }).collect::<Vec<_>>(),
            frontier => frontier.as_deref().map(|frontier| drawn(frontier, policy)),
            work => work(view.studio.works.of(Kind::Frontier)),
            after => after(view),
            has_class => !view.columns(Role::Class).is_empty(),
            also => frontier.as_deref().and_then(|own| own.errors.first()).map_or(String::new(), |own| own.task.clone()),
        },
    )
}

/// One key of `[privacy]` that can be set here.
fn field(
    text: &toml_edit::DocumentMut,
    key: &'static str,
    name: &'static str,
    help: &'static str,
    needs_sensitive: bool,
) -> Value {
    let value = text.get("privacy").and_then(|privacy| privacy.get(key)).and_then(toml_edit::Item::as_value);
    let shown = value.map_or(String::new(), |value| match value {
        toml_edit::Value::String(text) => text.value().clone(),
        other => other.clone().decorated("", "").to_string(),
    });
    context! { key, name, help, value => shown, needs_sensitive }
}

fn fields(view: &View<'_>) -> Vec<Value> {
    let text: toml_edit::DocumentMut = view.policy.text.parse().unwrap_or_default();
    vec![
        field(
            &text,
            "l",
            "l (diversity)",
            "No sensitive value is that of more than 1 in l records of a class.",
            true,
        ),
        field(
            &text,
            "t",
            "t (closeness), 0 to 1",
            "In every class sensitive values are about as frequent as in the table: at most t apart.",
            true,
        ),
        field(
            &text,
            "beta",
            "β (likeness)",
            "No sensitive value gains more than β times its share of the table.",
            true,
        ),
        field(
            &text,
            "suppress",
            "Suppression, 0 to below 1",
            "The share of records that may be left out.",
            false,
        ),
        field(
            &text,
            "max_gcp",
            "Target: loss at most, 0 to 1",
            "Instead of a fixed k: the largest k is looked for whose release loses no more.",
            false,
        ),
    ]
}

fn several(view: &View<'_>) -> Vec<Value> {
    let sets = view.policy.privacy.quasi_identifiers();
    sets.iter()
        .enumerate()
        .map(|(at, own)| context! { at, attributes => own.attributes.clone(), k => own.k })
        .collect()
}

fn ks(view: &View<'_>) -> Vec<usize> {
    let most = view.opened.table.len() / 2;
    let mut ks: Vec<usize> =
        KS.iter().copied().filter(|k| *k <= most.max(2)).chain(view.policy.privacy.k()).collect();
    ks.sort_unstable();
    ks.dedup();
    ks
}

/// The methods that can be compared; ticked are those that were, or fast ones and the policy's own.
fn compared(view: &View<'_>, suitable: &[&'static str], frontier: Option<&Frontier>) -> Vec<Value> {
    let ran: Vec<&str> =
        frontier.iter().flat_map(|own| own.comparison.runs.iter().map(|run| run.method.as_str())).collect();
    let own = view.policy.method.name.as_str();
    let usual = |name: &str| {
        name == own || name == "hilbert" || name == "mondrian" || own == "auto" && name == "peel"
    };
    let method = |name: &&'static str| {
        let ticked = if ran.is_empty() { usual(name) } else { ran.contains(name) };
        context! { name => *name, ticked }
    };
    suitable.iter().map(method).collect()
}

fn drawn(frontier: &Frontier, policy: &Policy) -> Value {
    let drawn = pieces::frontier(&frontier.comparison);
    let point = |run: &ComparisonRun| {
        let measures = run.report.as_ref().map(|report| &report.measures);
        let bound = measures.and_then(|measures| measures.lower_bound.as_ref());
        context! {
            method => run.method.clone(),
            k => run.k,
            k_words => run.k.map_or_else(|| "policy".to_owned(), count),
            loss => measures.map(|measures| percent(measures.gcp)),
            classes => measures.map(|measures| count(measures.classes)),
            bound => bound.map(|bound| percent(bound.gcp)),
            estimated => bound.is_some_and(|bound| !bound.proved),
            time => run.report.as_ref().and_then(|report| report.seconds.get("anonymize")).map(|time| seconds(*time)),
            refused => run.refused.as_deref().map(capital),
            here => run.k == policy.privacy.k().map(|k| k as u64) && run.method == policy.method.name,
        }
    };
    let estimated = frontier.comparison.runs.iter().any(|run| {
        let measures = run.report.as_ref().map(|report| &report.measures);
        measures.and_then(|own| own.lower_bound.as_ref()).is_some_and(|bound| !bound.proved)
    });
    context! {
        picture => markup(drawn.picture),
        legend => markup(drawn.legend),
        headline => drawn.headline,
        points => frontier.comparison.runs.iter().map(point).collect::<Vec<_>>(),
        complete => frontier.complete,
        errors => errors(frontier).map(markup),
        estimated,
    }
}

/// What else was asked for, over k.
fn errors(frontier: &Frontier) -> Option<String> {
    let task = frontier.errors.first()?.task.clone();
    let mut ks: Vec<usize> = frontier.errors.iter().map(|own| own.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let mut methods: Vec<&str> = Vec::new();
    for own in &frontier.errors {
        if !methods.contains(&own.method.as_str()) {
            methods.push(&own.method);
        }
    }
    let value = |method: &str, k: usize| {
        frontier.errors.iter().find(|own| own.method == method && own.k == k).map(|own| own.error)
    };
    let series = |method: &&str| Series {
        name: (*method).to_owned(),
        values: ks.iter().map(|k| value(method, *k)).collect(),
    };
    let (title, words) = match task.as_str() {
        "classify" => (
            "Classification error over k",
            "Share of records that a decision tree gets wrong when it learns from the release.",
        ),
        _ => ("Query error over k", "Mean relative error of random COUNT queries answered from the release."),
    };
    let chart = Chart {
        title: title.to_owned(),
        words: words.to_owned(),
        across: "k".to_owned(),
        places: ks.iter().map(|k| count(*k as u64)).collect(),
        series: methods.iter().map(series).collect(),
        unit: Unit::Share,
        log: false,
    };
    let section = Section { heading: title.to_owned(), blocks: vec![Block::Lines(chart)] };
    pieces::sections(&[section]).ok()
}

/// What somebody could do with the release, by what the policy asks for.
fn after(view: &View<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    let named = view.policy.privacy.quasi_identifiers().iter().map(|own| own.k).min();
    match (view.policy.privacy.k(), named) {
        (Some(k), _) => sentences.push(format!(
            "By the quasi-identifiers every published record looks like at least {} others: whoever knows them all finds a person's record with a chance of 1 in {} at best.",
            count(k.saturating_sub(1) as u64),
            count(k as u64)
        )),
        (None, Some(k)) => sentences.push(format!("By each of the named sets of attributes a record looks like at least {} others.", count(k.saturating_sub(1) as u64))),
        (None, None) => sentences.push("The policy fixes no k: the report says what was reached.".to_owned()),
    }
    let sensitive = view.columns(Role::Sensitive);
    let protects = ["l", "t", "beta", "delta", "alpha"].iter().any(|key| written(view, key));
    if !sensitive.is_empty() && !protects {
        let names: Vec<&str> = sensitive.iter().map(|(_, name)| *name).collect();
        sentences.push(format!(
            "Nothing is asked about {}: if all records of a class have the same value, it is known of each of them. Set l or t.",
            names.join(", ")
        ));
    }
    let as_is: Vec<&str> = [Role::Other, Role::Class]
        .iter()
        .flat_map(|role| view.columns(*role))
        .map(|(_, name)| name)
        .collect();
    if !as_is.is_empty() {
        sentences.push(format!(
            "Published as it is: {}. Whoever knows a value there learns more than the classes tell.",
            as_is.join(", ")
        ));
    }
    sentences
}

fn written(view: &View<'_>, key: &str) -> bool {
    let text: toml_edit::DocumentMut = view.policy.text.parse().unwrap_or_default();
    text.get("privacy").is_some_and(|privacy| privacy.get(key).is_some())
}

/// What a k would lose, by a fast method.
pub fn loss(studio: &Arc<Studio>, at: &At) -> String {
    let context = match try_k(studio, at) {
        Ok(told) => told,
        Err(error) => {
            context! { error => told(&error), k => "", method => "", own => "", loss => (), bound => (), refused => () }
        }
    };
    render("loss.html", context).unwrap_or_else(|error| super::refusal(error.message()))
}

fn try_k(studio: &Arc<Studio>, at: &At) -> Result<Value> {
    let policy = studio.project(|project| project.policy())?;
    let k = at.get("k").and_then(|k| k.parse().ok()).unwrap_or(0);
    let (suitable, _) = suitable_methods(&Methods::standard(), &policy);
    let quick = ["hilbert", "mondrian"].into_iter().find(|name| suitable.contains(name));
    let own = policy.method.name.clone();
    let trial = policy.clone().with_k(k)?.with_method(quick.unwrap_or(&own))?;
    let run =
        studio.try_out(&policy, &Unwatched, |trials| trials.run(&trial, Bounded::IfKnown, &Unwatched))?;
    let measures = run.report.as_ref().map(|report| &report.measures);
    let known = studio.frontier().and_then(|frontier| {
        let bounds = frontier.comparison.runs.iter().filter(|run| run.k == Some(k as u64));
        let mut bounds = bounds.filter_map(|run| run.report.as_ref()?.measures.lower_bound.clone());
        bounds.next()
    });
    Ok(context! {
        error => (),
        k => count(k as u64),
        method => run.method.clone(),
        own,
        loss => measures.map(|measures| percent(measures.gcp)),
        bound => known.filter(|bound| bound.proved).map(|bound| percent(bound.gcp)),
        refused => run.refused.as_deref().map(capital),
    })
}
