//! Charts as inline SVG, from building blocks of our own.
//!
//! A chart is a picture with a fixed view box that grows and shrinks with its column. Its colours are
//! classes (`s0` … `s7` for series, `grid`, `axis`, …) that the page's style sheet maps to variables, so
//! light, dark and print share one picture. Every mark has a `<title>`, which browsers show on hovering.

mod bars;
mod columns;
mod lines;
mod scale;
mod tree;

pub(super) use bars::{Group, Series, horizontal_bars};
pub(super) use columns::{Column, columns};
pub(super) use lines::{Line, LineChart, line_chart};
pub(super) use scale::Scale;
pub use scale::Unit;
pub(super) use tree::outline_tree;

use std::fmt::Write as _;

use super::text::{escape, shorten_name, width};

/// Finished markup: whatever it was made of has been escaped.
#[derive(Clone, Debug)]
pub(super) struct Svg(String);

impl Svg {
    /// The markup, to be placed in a page as it is.
    pub(super) fn into_markup(self) -> String {
        self.0
    }
}

/// How many series have a colour of their own; more start over with another marker and dash.
pub(super) const COLOURS: usize = 8;

/// How wide one character of a label is in the widest of the fonts that browsers choose.
const CHARACTER: f64 = 6.8;

/// How wide a label is, roughly: enough to keep labels apart.
fn label_width(text: &str) -> f64 {
    width(text) as f64 * CHARACTER
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// The part of a drawing between the axes.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn width(&self) -> f64 {
        (self.right - self.left).max(1.0)
    }

    fn height(&self) -> f64 {
        (self.bottom - self.top).max(1.0)
    }
}

/// A picture being drawn.
struct Drawing {
    size: (f64, f64),
    marks: String,
}

impl Drawing {
    fn new(width: f64, height: f64) -> Self {
        Drawing { size: (width, height), marks: String::new() }
    }

    /// A rectangle from its upper left corner, with what hovering tells.
    fn bar(&mut self, class: &str, corner: (f64, f64), size: (f64, f64), tooltip: &str) {
        let ((x, y), (width, height)) = (corner, size);
        let tooltip = escape(tooltip);
        self.mark(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{tooltip}</title></rect>",
            width.max(0.0),
            height.max(0.0),
        ));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.mark(format_args!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// A text cut to `most` units; the whole text is told on hovering when it was cut.
    fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, most: f64) {
        self.turned_text(at, anchor, text, most, 0.0);
    }

    fn class_text(&mut self, class: &str, at: (f64, f64), text: &str, most: f64) {
        if text.is_empty() {
            return;
        }
        self.mark(format_args!("<g class=\"{class}\">"));
        self.text(at, Anchor::Start, text, most);
        self.mark(format_args!("</g>"));
    }

    fn turned_text(&mut self, at: (f64, f64), anchor: Anchor, text: &str, most: f64, degrees: f64) {
        let (mut x, y) = at;
        let shown = shorten_name(text, (most / CHARACTER).floor().max(1.0) as usize);
        if anchor == Anchor::Middle && degrees == 0.0 {
            // Labels at the end of an axis stay inside the picture.
            x = x.min(self.size.0 - shown.chars().count() as f64 * CHARACTER / 2.0);
        }
        let anchor = anchor.name();
        let title = if shown == text { String::new() } else { format!("<title>{}</title>", escape(text)) };
        let turn = if degrees == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({degrees:.0} {x:.1} {y:.1})\"")
        };
        let shown = escape(&shown);
        self.mark(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{turn}>{shown}{title}</text>"
        ));
    }

    /// The vertical axis: a line and a label per tick.
    fn vertical_axis(&mut self, area: Area, scale: &Scale, unit: Unit) {
        for tick in scale.ticks() {
            let y = area.bottom - scale.position(tick) * area.height();
            self.line("grid", (area.left, y), (area.right, y));
            self.text((area.left - 6.0, y + 4.0), Anchor::End, &unit.tick(tick), area.left);
        }
        self.line("axis", (area.left, area.bottom), (area.right, area.bottom));
    }

    /// The horizontal axis of bars: a line per tick, as many labels as fit.
    fn horizontal_axis(&mut self, area: Area, scale: &Scale, unit: Unit) {
        let ticks = scale.ticks();
        let apart = area.width() / (ticks.len() - 1).max(1) as f64;
        let every = every_nth((room_for_ticks(scale, unit) + 2.0) / apart);
        for (at, tick) in ticks.into_iter().enumerate() {
            let x = area.left + scale.position(tick) * area.width();
            self.line("grid", (x, area.top), (x, area.bottom));
            if at.is_multiple_of(every) {
                self.text((x, area.bottom + 15.0), Anchor::Middle, &unit.tick(tick), 120.0);
            }
        }
        self.line("axis", (area.left, area.top), (area.left, area.bottom));
    }

    fn mark(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.marks.write_fmt(markup);
    }

    /// The picture under a title that screen readers tell.
    fn finish(self, title: &str) -> Svg {
        let ((width, height), title) = (self.size, escape(title));
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-label=\"{title}\"><title>{title}</title>{}</svg>",
            self.marks
        ))
    }
}

/// How many places one label takes, given how many it fills.
fn every_nth(places: f64) -> usize {
    places.ceil().clamp(1.0, 1e6) as usize
}

/// The room that the labels of a vertical axis need.
fn room_for_ticks(scale: &Scale, unit: Unit) -> f64 {
    let widest = scale.ticks().into_iter().map(|tick| label_width(&unit.tick(tick))).fold(0.0, f64::max);
    widest + 10.0
}

/// The marker of a series, centred on a point. Shapes differ so that colour is not the only difference.
fn marker(series: usize, (x, y): (f64, f64)) -> String {
    let class = format!("s{}", series % COLOURS);
    match (series + series / COLOURS) % 4 {
        0 => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.6\">"),
        1 => format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"6.6\" height=\"6.6\">",
            x - 3.3,
            y - 3.3
        ),
        2 => polygon(&class, (x, y), &[(0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)]),
        _ => polygon(&class, (x, y), &[(0.0, -4.8), (4.8, 0.0), (0.0, 4.8), (-4.8, 0.0)]),
    }
}

fn polygon(class: &str, (x, y): (f64, f64), corners: &[(f64, f64)]) -> String {
    let points: Vec<String> = corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
    format!("<polygon class=\"{class}\" points=\"{}\">", points.join(" "))
}

/// The element that [`marker`] opened.
fn marker_end(series: usize) -> &'static str {
    match (series + series / COLOURS) % 4 {
        0 => "</circle>",
        1 => "</rect>",
        _ => "</polygon>",
    }
}

/// What stands for a series in a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swatch {
    /// A filled square, for bars.
    Bar(usize),
    /// A line with its marker.
    Line(usize),
    /// The dashed line of a bound.
    Bound,
}

/// A list of what the colours mean. It wraps like text, which text in a picture would not.
pub(super) fn legend(entries: &[(Swatch, &str)]) -> Svg {
    let items: String = entries
        .iter()
        .map(|(swatch, name)| format!("<li>{}<span>{}</span></li>", swatch_markup(*swatch), escape(name)))
        .collect();
    Svg(format!("<ul class=\"legend\">{items}</ul>"))
}

fn swatch_markup(swatch: Swatch) -> String {
    let inner = match swatch {
        Swatch::Bar(series) => {
            format!("<rect class=\"s{}\" x=\"6\" y=\"2\" width=\"12\" height=\"12\"/>", series % COLOURS)
        }
        Swatch::Line(series) => format!(
            "<path class=\"{}\" d=\"M0 8H24\"/>{}{}",
            lines::stroke_class(series),
            marker(series, (12.0, 8.0)),
            marker_end(series)
        ),
        Swatch::Bound => "<path class=\"bound\" d=\"M0 8H24\"/>".to_owned(),
    };
    format!("<svg class=\"swatch\" viewBox=\"0 0 24 16\" aria-hidden=\"true\">{inner}</svg>")
}
