//! Pieces of pages, for fronts that lay out pages of their own: one look and one wording with the reports.
//!
//! All of it is finished markup or plain words; whatever came from a table is escaped.

use minijinja::{Environment, UndefinedBehavior};

use super::compare::{self, Comparison};
use super::page::{Page, Section};
use super::svg::{Column, columns};
use super::template::{STYLE, format_harmless};
use super::text::escape;
use super::{Unit, page, risk};
use crate::error::Result;
use crate::risk::Risk;

pub use super::number::{count, counted, figure, percent, seconds, share};

/// The style sheet of every report.
pub const fn style() -> &'static str {
    STYLE
}

/// An environment for templates: names that are misspelt are errors, and texts are escaped and cannot turn the direction of
/// what follows them.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(format_harmless);
    environment
}

/// Loss over k for each method, with the lower bound and what no release can reach.
#[derive(Clone, Debug)]
pub struct Frontier {
    /// What the lines mean.
    pub legend: String,
    /// The chart. Each point is a group of the class `point` with `data-name`, the method, and `data-place`, the k.
    pub picture: String,
    /// Which method loses least for which k.
    pub headline: Vec<String>,
}

/// The frontier of a comparison.
pub fn frontier(comparison: &Comparison) -> Frontier {
    Frontier {
        legend: compare::line_legend(comparison).into_markup(),
        picture: compare::frontier(comparison).into_markup(),
        headline: compare::headline(comparison),
    }
}

/// How often each of some values occurs, as columns: label, count.
pub fn histogram(title: &str, bins: &[(String, u64)], size: (f64, f64)) -> String {
    let column = |(label, times): &(String, u64)| Column {
        label: label.clone(),
        values: vec![*times as f64],
        tooltips: vec![format!("{label}: {}", counted(*times, "record", "records"))],
    };
    let bars: Vec<Column> = bins.iter().map(column).collect();
    columns(title, &bars, Unit::Count, size).into_markup()
}

/// The same without axes, to stand in a table.
pub fn small_histogram(title: &str, bins: &[(String, u64)]) -> String {
    let most = bins.iter().map(|(_, times)| *times).max().unwrap_or(0).max(1) as f64;
    let wide = 120.0 / bins.len().max(1) as f64;
    let bar = |(at, (label, times)): (usize, &(String, u64))| {
        // A column with anything in it must not vanish.
        let height = if *times > 0 { (30.0 * *times as f64 / most).max(1.0) } else { 0.0 };
        format!(
            "<rect class=\"s0\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{}: {}</title></rect>",
            wide * at as f64,
            30.0 - height,
            (wide - 1.0).max(wide * 0.6),
            escape(label),
            counted(*times, "record", "records"),
        )
    };
    let bars: String = bins.iter().enumerate().map(bar).collect();
    let title = escape(title);
    format!(
        "<svg class=\"small\" viewBox=\"0 0 120 30\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>{bars}</svg>"
    )
}

/// The sections of a page as markup.
pub fn sections(sections: &[Section]) -> Result<String> {
    page::sections(sections).map(|markup| markup.to_string())
}

/// What a page says first, one sentence each, and its sections as markup.
pub fn page(page: &Page) -> Result<(Vec<String>, String)> {
    Ok((page.headline.clone(), sections(&page.sections)?))
}

/// How many people are unique in a table as it stands, in a sentence or two.
pub fn risk_headline(risk: &Risk) -> String {
    risk::headline(risk)
}
