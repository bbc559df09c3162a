//! Pages made of building blocks: words, tables, charts, trees and claims.
//!
//! Methods add [`Section`]s to a run's report; evaluations and reproductions are [`Page`]s of their own. All of it
//! serializes to JSON, so that the figures behind a picture are never only a picture.

use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use super::charts::{ALONE, WIDE};
use super::svg::{
    self, Group, Line, LineChart, Swatch, Unit, horizontal_bars, legend, line_chart, outline_tree,
};
use super::template::{markup, render, render_page, style};
use crate::error::Result;

/// A page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Page {
    /// What kind of page it is; stands small above the title.
    pub over: String,
    /// Its title.
    pub title: String,
    /// Stands below the title.
    pub subtitle: String,
    /// Whether it tells of a table that is not public, and says so.
    #[serde(default)]
    pub private: bool,
    /// What a reader should take away, one sentence each.
    pub headline: Vec<String>,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What it holds.
    pub blocks: Vec<Block>,
}

/// One thing in a section.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// A paragraph.
    Words(String),
    /// A table: headings and rows of as many cells. Cells that read as figures are set to the right.
    Table {
        /// The headings.
        head: Vec<String>,
        /// The cells, row by row.
        rows: Vec<Vec<String>>,
    },
    /// Lines over an ordered axis.
    Lines(Chart),
    /// Bars: a group per place, a bar per series.
    Bars(Chart),
    /// A tree.
    Tree(Node),
    /// What somebody said, and whether it held here.
    Claims(Vec<Claim>),
}

/// A chart: one value per place and series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// What to know to read it.
    pub words: String,
    /// Names the horizontal axis.
    pub across: String,
    /// The places on it, in order.
    pub places: Vec<String>,
    /// The series.
    pub series: Vec<Series>,
    /// What the values are.
    pub unit: Unit,
    /// Whether equal distances are equal ratios; bars never are.
    pub log: bool,
}

/// One series of a chart.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// One value per place, where there is one.
    pub values: Vec<Option<f64>>,
}

/// A node of a tree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Node {
    /// Its name.
    pub label: String,
    /// What else to tell of it.
    pub detail: String,
    /// The nodes below it.
    pub children: Vec<Node>,
}

/// Something said elsewhere, tested here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// What was said.
    pub text: String,
    /// Whether it held.
    pub verdict: Verdict,
    /// The figures that show it.
    pub evidence: String,
}

/// Whether a claim held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everywhere it was tested.
    Held,
    /// In some places only.
    Partly,
    /// Nowhere, or not where it matters.
    Failed,
}

impl Verdict {
    /// From how many of the tests of a claim went well.
    pub fn of(well: usize, tests: usize) -> Self {
        match well {
            _ if well == tests && tests > 0 => Verdict::Held,
            0 => Verdict::Failed,
            _ => Verdict::Partly,
        }
    }

    pub(super) fn mark(self) -> &'static str {
        match self {
            Verdict::Held => "✓ held",
            Verdict::Partly => "◐ held in part",
            Verdict::Failed => "✗ did not hold",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Verdict::Held => "met",
            Verdict::Partly => "measured",
            Verdict::Failed => "not-met",
        }
    }
}

/// A page as one self-contained HTML file. All texts are escaped.
pub fn page_html(page: &Page) -> Result<String> {
    render_page(
        include_str!("blocks_page.html"),
        context! {
            over => page.over.clone(),
            private => page.private,
            title => page.title.clone(),
            subtitle => page.subtitle.clone(),
            headline => page.headline.clone(),
            sections => sections(&page.sections)?,
            footer => format!("Made by throng {}.", env!("CARGO_PKG_VERSION")),
            style => style(),
        },
    )
}

/// Sections as markup, to be placed in a page as they are.
pub(super) fn sections(sections: &[Section]) -> Result<Value> {
    let told = |section: &Section| context! { heading => section.heading.clone(), blocks => blocks(section) };
    let sections: Vec<Value> = sections.iter().map(told).collect();
    render(include_str!("blocks.html"), context! { sections }).map(Value::from_safe_string)
}

/// The blocks of a section; line charts that follow each other stand side by side.
fn blocks(section: &Section) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut beside = Vec::new();
    for block in &section.blocks {
        if let Block::Lines(chart) = block {
            beside.push(lines(chart));
            continue;
        }
        if !beside.is_empty() {
            blocks.push(context! { charts => std::mem::take(&mut beside) });
        }
        blocks.push(match block {
            Block::Words(words) => context! { words => words.clone() },
            Block::Table { head, rows } => table(head, rows),
            Block::Lines(chart) | Block::Bars(chart) => bars(chart),
            Block::Tree(root) => context! { picture => markup(outline_tree(root)) },
            Block::Claims(claims) => context! { claims => claims.iter().map(claim).collect::<Vec<_>>() },
        });
    }
    if !beside.is_empty() {
        blocks.push(context! { charts => beside });
    }
    blocks
}

fn table(head: &[String], rows: &[Vec<String>]) -> Value {
    let is_figure = |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    let classes: Vec<&str> = (0..head.len())
        .map(|at| {
            let mut cells =
                rows.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_empty()).peekable();
            if cells.peek().is_some() && cells.all(is_figure) { "number" } else { "" }
        })
        .collect();
    let cells = |texts: &[String]| {
        let cell = |(text, class): (&String, &&str)| context! { text => text.clone(), class => *class };
        texts.iter().zip(&classes).map(cell).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<Value>> = rows.iter().map(|row| cells(row)).collect();
    context! { table => context! { head => cells(head), rows } }
}

fn claim(claim: &Claim) -> Value {
    context! {
        text => claim.text.clone(),
        evidence => claim.evidence.clone(),
        class => claim.verdict.class(),
        mark => claim.verdict.mark(),
    }
}

fn lines(chart: &Chart) -> Value {
    let line = |(at, series): (usize, &Series)| Line {
        name: series.name.clone(),
        series: Some(at),
        values: series.values.clone(),
    };
    let drawn = LineChart {
        title: chart.title.clone(),
        across: chart.across.clone(),
        places: chart.places.clone(),
        lines: chart.series.iter().enumerate().map(line).collect(),
        unit: chart.unit,
        log: chart.log,
        live: false,
    };
    figure(chart, Swatch::Line, line_chart(&drawn, (WIDE, 290.0)))
}

fn bars(chart: &Chart) -> Value {
    let group = |(at, place): (usize, &String)| Group {
        label: place.clone(),
        values: chart
            .series
            .iter()
            .map(|series| series.values.get(at).copied().flatten().unwrap_or(0.0))
            .collect(),
    };
    let groups: Vec<Group> = chart.places.iter().enumerate().map(group).collect();
    let series: Vec<svg::Series<'_>> =
        (0..).zip(&chart.series).map(|(colour, series)| svg::Series { name: &series.name, colour }).collect();
    let picture = horizontal_bars(&chart.title, &groups, &series, chart.unit, ALONE);
    context! { chart => figure(chart, Swatch::Bar, picture) }
}

fn figure(chart: &Chart, swatch: fn(usize) -> Swatch, picture: svg::Svg) -> Value {
    let entries: Vec<(Swatch, &str)> =
        chart.series.iter().enumerate().map(|(at, series)| (swatch(at), series.name.as_str())).collect();
    let words = match chart.log {
        true => format!("{} Log scale.", chart.words),
        false => chart.words.clone(),
    };
    context! {
        heading => chart.title.clone(),
        words => words.trim().to_owned(),
        legend => (entries.len() > 1).then(|| markup(legend(&entries))),
        picture => markup(picture),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn chart(log: bool) -> Chart {
        let series = |name: &str| Series { name: name.into(), values: vec![Some(1.0), None, Some(3.0)] };
        Chart {
            title: "Error <over> k".into(),
            words: "Lower is better.".into(),
            across: "k".into(),
            places: ["5", "10", "25"].map(String::from).to_vec(),
            series: vec![series("one"), series("two")],
            unit: Unit::Count,
            log,
        }
    }

    #[test]
    fn every_block_is_told_and_escaped() {
        let leaf = |label: &str| Node { label: label.into(), ..Node::default() };
        let page = Page {
            title: "A & B".into(),
            headline: vec!["It works.".into()],
            sections: vec![Section {
                heading: "All".into(),
                blocks: vec![
                    Block::Words("<b>".into()),
                    Block::Table { head: vec!["x".into()], rows: vec![vec!["1.5".into()]] },
                    Block::Lines(chart(true)),
                    Block::Lines(chart(false)),
                    Block::Bars(chart(false)),
                    Block::Tree(Node {
                        label: "root".into(),
                        detail: "7".into(),
                        children: vec![leaf("<l>")],
                    }),
                    Block::Claims(vec![Claim {
                        text: "it is so".into(),
                        verdict: Verdict::of(1, 2),
                        evidence: "1 of 2".into(),
                    }]),
                ],
            }],
            ..Page::default()
        };
        let text = page_html(&page).unwrap();
        for told in [
            "A &amp; B",
            "It works.",
            "&lt;b&gt;",
            "1.5",
            "Log scale",
            "root",
            "&lt;l&gt;",
            "it is so",
            "held in part",
        ] {
            assert!(text.contains(told), "{told} is missing");
        }
        assert!(!text.contains("<over>") && !text.contains("<l>"));
        assert_eq!(text.matches("charts wide").count(), 1, "lines stand side by side");
        assert!(super::super::json(&page).unwrap().contains("\"claims\""));
    }

    #[test]
    fn a_page_without_anything_is_still_a_page() {
        assert!(page_html(&Page::default()).unwrap().contains("</html>"));
    }
}
