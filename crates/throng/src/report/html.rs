//! A run's report as one page that needs nothing else: no network, no script, no other file.

use minijinja::{Value, context};

use super::charts::{ALONE, distribution_caption, distribution_chart, loss_chart, size_chart};
use super::figures::{Figure, class_words, further_figures, key_figures, sensitive_figures};
use super::number::{count, figure, seconds};
use super::page::{page_html, sections};
use super::summary::{
    Requirement, Verdict, formula_words, headline, many_unique, order_words, outlier_words, requirements,
    verdict, verdict_heading,
};
use super::svg::{Group, Series, Swatch, Unit, horizontal_bars, legend};
use super::template::{markup, render, render_page, style};
use super::text::quoted;
use super::{Provenance, Report};
use crate::audit::{Bin, Distribution, ExampleClass, SensitiveMeasure};
use crate::error::Result;

/// The report as one self-contained HTML page.
///
/// Everything that comes from the table or the policy is escaped; the page forbids itself to load anything.
pub fn html(report: &Report) -> Result<String> {
    if let Some(series) = report.series.as_ref().filter(|series| series.newcomers == 0) {
        return page_html(&series.page(report));
    }
    let body = Value::from_safe_string(release_fragment(report)?);
    let head =
        context! { title => title(&report.provenance), subtitle => subtitle(report), style => style() };
    render_page(
        include_str!("page.html"),
        context! { ..context! { body, seconds => time(report) }, ..head, ..repeated(report) },
    )
}

/// What a release achieves, as a piece of a page: all of the report but how it was made.
pub fn release_fragment(report: &Report) -> Result<String> {
    let sections = sections(&report.sections)?;
    render(
        include_str!("release.html"),
        context! { ..context! { sections }, ..told(report), ..drawn(report) },
    )
}

/// What is told in words and figures.
fn told(report: &Report) -> Value {
    let measures = &report.measures;
    let class = match verdict(measures) {
        Verdict::Met if many_unique(measures) => Verdict::Measured.class(),
        verdict => verdict.class(),
    };
    context! {
        verdict => context! { class => class, heading => heading(report) },
        headline => lead(report),
        violations => measures.violations.clone(),
        requirements => requirements(measures).iter().map(requirement).collect::<Vec<_>>(),
        sensitive => measures.sensitive.iter().map(sensitive).collect::<Vec<_>>(),
        figures => key_figures(measures).iter().map(figure_context).collect::<Vec<_>>(),
        further => further_figures(measures).iter().map(figure_context).collect::<Vec<_>>(),
        notes => notes(report),
        quasi => report.quasi.clone(),
        sensitive_names => report.sensitive_attributes.clone(),
        examples => report.examples.iter().map(example).collect::<Vec<_>>(),
    }
}

/// The heading of the page, and what it says first: of a later release of a series, that its figures are the newcomers'.
fn heading(report: &Report) -> String {
    let own = verdict_heading(&report.measures);
    match report.series.as_ref().filter(|series| series.release > 1) {
        Some(series) => format!("{}; newcomers: {own}", series.heading()),
        None => own,
    }
}

fn lead(report: &Report) -> String {
    let own = headline(&report.measures);
    match report.series.as_ref().filter(|series| series.release > 1) {
        Some(series) => format!("{} Of the newcomers: {own}", series.headline()),
        None => own,
    }
}

/// What is drawn.
fn drawn(report: &Report) -> Value {
    let measures = &report.measures;
    let meanings = [(Swatch::Bar(0), "before (the table)"), (Swatch::Bar(1), "after (the release)")];
    context! {
        loss_chart => loss_chart(measures).map(markup),
        size_chart => size_chart(measures).map(markup),
        size_words => sentence(&class_words(measures)),
        distribution_legend => markup(legend(&meanings)),
        distributions => report.distributions.iter().map(distribution).collect::<Vec<_>>(),
    }
}

/// What is needed to repeat the run.
fn repeated(report: &Report) -> Value {
    let provenance = &report.provenance;
    context! {
        provenance => facts(report),
        policy => provenance.policy.clone(),
        footer => format!("Made by {}.", program(provenance)),
    }
}

fn program(provenance: &Provenance) -> String {
    format!("throng {}", provenance.version).trim_end().to_owned()
}

fn title(provenance: &Provenance) -> String {
    match (provenance.data.as_str(), provenance.release.as_str()) {
        ("", "") => "Anonymized table".to_owned(),
        (data, "") => data.to_owned(),
        ("", release) => release.to_owned(),
        (data, release) => format!("{data} → {release}"),
    }
}

fn subtitle(report: &Report) -> String {
    let seed = format!("seed {}", report.seed);
    let parts = [report.method.clone(), seed, program(&report.provenance)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// The notes of a report, outliers first.
fn notes(report: &Report) -> Vec<String> {
    let outliers = report
        .measures
        .outliers
        .iter()
        .map(|outlier| sentence(&outlier_words(outlier, report.measures.exact_cells.is_some())));
    let formulas = report.measures.formulas.iter().map(|found| sentence(&formula_words(found)));
    outliers.chain(formulas).chain(report.notes.iter().cloned()).collect()
}

fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn requirement(one: &Requirement) -> Value {
    context! {
        name => one.name.clone(),
        meaning => one.meaning.clone(),
        asked => one.asked.clone().unwrap_or_else(|| "not asked".to_owned()),
        achieved => one.achieved.clone(),
        class => one.verdict.class(),
        mark => one.verdict.mark(),
    }
}

fn sensitive(measure: &SensitiveMeasure) -> Value {
    let [frequency, distinct, entropy, t] = sensitive_figures(measure);
    context! { attribute => measure.attribute.clone(), frequency, distinct, entropy, t }
}

fn figure_context(one: &Figure) -> Value {
    context! { name => one.name, value => one.value.clone(), meaning => one.meaning.clone() }
}

fn distribution(one: &Distribution) -> Value {
    let bin = |bin: &Bin| {
        context! { label => bin.label.clone(), before => figure(bin.before), after => figure(bin.after) }
    };
    context! {
        attribute => one.attribute.clone(),
        caption => distribution_caption(one),
        chart => markup(distribution_chart(one)),
        bins => one.bins.iter().map(bin).collect::<Vec<_>>(),
    }
}

fn example(class: &ExampleClass) -> Value {
    context! {
        size => count(class.size),
        cells => class.cells.clone(),
        sensitive => class.sensitive.iter().map(|values| value_counts(values)).collect::<Vec<_>>(),
    }
}

/// More sensitive values than these would hide the class they belong to.
const MOST_VALUES: usize = 6;

fn value_counts(values: &[(String, u64)]) -> String {
    let shown = values.iter().take(MOST_VALUES).map(|(value, times)| format!("{value} ({})", count(*times)));
    let mut parts: Vec<String> = shown.collect();
    if values.len() > MOST_VALUES {
        parts.push(format!("and {} more", count((values.len() - MOST_VALUES) as u64)));
    }
    parts.join(", ")
}

/// Name and value of everything that the result depends on.
fn facts(report: &Report) -> Vec<Value> {
    let provenance = &report.provenance;
    let hashed = |name: &str, hash: &str| match hash {
        "" => name.to_owned(),
        hash => format!("{name}\nBLAKE3 {hash}"),
    };
    let facts = [
        ("Program", program(provenance)),
        ("Table", hashed(&provenance.data, &provenance.data_hash)),
        ("Release", hashed(&provenance.release, &provenance.release_hash)),
        ("Method", report.method.clone()),
        ("Seed", report.seed.to_string()),
        ("Order of rows", order_words(report.order).to_owned()),
        ("Overrides", provenance.overrides.join(" ")),
        ("Command", command(report)),
    ];
    let told = facts.into_iter().filter(|(_, value)| !value.is_empty());
    told.map(|(name, value)| context! { name, value }).collect()
}

/// The command that repeats the run: what was given, and the seed where none was. A secret that was drawn is gone; with
/// another one, groups and cells are the same and the order of rows is not.
fn command(report: &Report) -> String {
    let given = &report.provenance.command;
    let has = |name: &str| given.iter().any(|word| word == name || word.starts_with(&format!("{name}=")));
    let mut words: Vec<String> = given.iter().map(|word| quoted(word)).collect();
    if given.first().is_some_and(|name| name == "anonymize") && !has("--seed") {
        words.extend(["--seed".to_owned(), report.seed.to_string()]);
    }
    if words.is_empty() { String::new() } else { format!("throng {}", words.join(" ")) }
}

fn time(report: &Report) -> Option<Value> {
    let stages = report.seconds.iter().filter(|(stage, _)| *stage != "total");
    let groups: Vec<Group> =
        stages.map(|(stage, time)| Group { label: stage.clone(), values: vec![*time] }).collect();
    let total = report.seconds.get("total").map(|total| format!("{} in all.", seconds(*total)));
    if groups.is_empty() && total.is_none() {
        return None;
    }
    let chart = (!groups.is_empty()).then(|| {
        markup(horizontal_bars("Seconds per stage", &groups, &[Series::ONLY], Unit::Seconds, ALONE))
    });
    Some(context! { words => total.unwrap_or_default(), chart })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_command_names_what_was_given_and_the_seed_once() {
        let mut report = samples::adult();
        let given = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        report.provenance.command =
            given(&["anonymize", "my data's.csv", "-p", "p.toml", "--secret", "a b", "--publish=bounds"]);
        assert_eq!(
            command(&report),
            "throng anonymize 'my data'\\''s.csv' -p p.toml --secret 'a b' --publish=bounds --seed 7"
        );
        for seed in [&["--seed", "7"][..], &["--seed=7"]] {
            report.provenance.command = [given(&["anonymize", "d.csv"]), given(seed)].concat();
            assert_eq!(command(&report).matches("--seed").count(), 1);
        }
        report.provenance.command = given(&["apply", "r.json", "d.csv", "-o", "x.csv", ""]);
        assert_eq!(command(&report), "throng apply r.json d.csv -o x.csv ''");
        report.provenance.command.clear();
        assert_eq!(command(&report), "");
    }

    #[test]
    fn many_sensitive_values_are_summed_up() {
        let values: Vec<(String, u64)> = (0..9).map(|at| (format!("v{at}"), 9 - at)).collect();
        assert_eq!(value_counts(&values), "v0 (9), v1 (8), v2 (7), v3 (6), v4 (5), v5 (4), and 3 more");
        assert_eq!(value_counts(&values[..1]), "v0 (9)");
    }
}
