//! Lines over an ordered axis, one per series.

use super::{
    Anchor, Area, COLOURS, Drawing, Scale, Svg, Unit, escape, label_width, marker, marker_end, room_for_ticks,
};

/// One series: a value per place on the horizontal axis, where there is one.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its name, told on hovering.
    pub(crate) name: String,
    /// Decides colour and marker; `None` draws the dashed line of a bound.
    pub(crate) series: Option<usize>,
    /// One value per place.
    pub(crate) values: Vec<Option<f64>>,
}

/// What a line chart shows.
#[derive(Clone, Debug)]
pub(crate) struct LineChart {
    /// Told to screen readers.
    pub(crate) title: String,
    /// Names the horizontal axis.
    pub(crate) across: String,
    /// The places on it, in order, equally far apart.
    pub(crate) places: Vec<String>,
    /// The series.
    pub(crate) lines: Vec<Line>,
    /// What the values are.
    pub(crate) unit: Unit,
    /// Whether equal distances are equal ratios.
    pub(crate) log: bool,
    /// Whether what lies below a bound is shaded, and points say what they stand for, so that one can be chosen.
    pub(crate) live: bool,
}

const TOP: f64 = 10.0;
const BELOW: f64 = 38.0;
const RIGHT: f64 = 14.0;

/// Draws a line chart. Values that cannot be placed (not finite, or not positive on a log scale) are left out.
pub(crate) fn line_chart(chart: &LineChart, size: (f64, f64)) -> Svg {
    let values = || chart.lines.iter().flat_map(|line| line.values.iter().copied().flatten());
    let scale = if chart.log { Scale::log(values()) } else { Scale::linear(values(), 6) };
    let left = room_for_ticks(&scale, chart.unit);
    let area = Area { left, top: TOP, right: size.0 - RIGHT, bottom: size.1 - BELOW };
    let mut drawing = Drawing::new(size.0, size.1);
    drawing.vertical_axis(area, &scale, chart.unit);
    draw_places(&mut drawing, chart, area);
    for line in &chart.lines {
        if chart.live && line.series.is_none() {
            shade_below(&mut drawing, chart, line, area, &scale);
        }
        draw_line(&mut drawing, chart, line, area, &scale);
    }
    drawing.finish(&chart.title)
}

/// Shades what lies below a line.
fn shade_below(drawing: &mut Drawing, chart: &LineChart, line: &Line, area: Area, scale: &Scale) {
    let values = line.values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?)));
    let corner = |(at, value): (usize, f64)| {
        (across(area, at, chart.places.len()), area.bottom - scale.position(value) * area.height())
    };
    let points: Vec<(f64, f64)> = values.filter(|(_, value)| value.is_finite()).map(corner).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    // The shade reaches from edge to edge where the bound is known at the ends.
    let ends = [(last.0 + 12.0).min(area.right), (first.0 - 12.0).max(area.left)];
    let below = [(ends[0], last.1), (ends[0], area.bottom), (ends[1], area.bottom), (ends[1], first.1)];
    let corners: Vec<String> = points.iter().chain(&below).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    drawing.mark(format_args!("<polygon class=\"unreachable\" points=\"{}\"/>", corners.join(" ")));
}

fn draw_places(drawing: &mut Drawing, chart: &LineChart, area: Area) {
    let mut free_from = f64::NEG_INFINITY;
    for (at, place) in chart.places.iter().enumerate() {
        let half = label_width(place) / 2.0;
        // A long label at the end would be cut off by the edge of the drawing.
        let x = across(area, at, chart.places.len()).min(area.right + RIGHT - half);
        if x - half >= free_from {
            drawing.text((x, area.bottom + 15.0), Anchor::Middle, place, 80.0);
            free_from = x + half + 6.0;
        }
    }
    let middle = area.left + area.width() / 2.0;
    drawing.text((middle, area.bottom + 32.0), Anchor::Middle, &chart.across, area.width());
}

/// Where a place lies; the first and last keep a little distance from the edges.
fn across(area: Area, at: usize, places: usize) -> f64 {
    let margin = 12.0;
    match places {
        0 | 1 => area.left + area.width() / 2.0,
        _ => area.left + margin + (area.width() - 2.0 * margin) * at as f64 / (places - 1) as f64,
    }
}

fn draw_line(drawing: &mut Drawing, chart: &LineChart, line: &Line, area: Area, scale: &Scale) {
    let placeable = |value: &f64| value.is_finite() && (!chart.log || *value > 0.0);
    let point = |(at, value): (usize, &Option<f64>)| {
        let value = value.filter(placeable)?;
        let y = area.bottom - scale.position(value) * area.height();
        Some((at, value, (across(area, at, chart.places.len()), y)))
    };
    let points: Vec<_> = line.values.iter().enumerate().filter_map(point).collect();
    draw_path(drawing, line, points.iter().map(|(_, _, at)| *at));
    for (place, value, at) in points {
        let place = chart.places.get(place).map_or("", String::as_str);
        let told = format!("{}, {} {place}: {}", line.name, chart.across, chart.unit.exact(value));
        match line.series {
            Some(series) => drawing.mark(format_args!(
                "{}{}<title>{}</title>{}{}",
                if chart.live { opened(&line.name, place) } else { String::new() },
                marker(series, at),
                escape(&told),
                marker_end(series),
                if chart.live { "</g>" } else { "" },
            )),
            None => drawing.bar("bound-point", (at.0 - 5.0, at.1 - 1.5), (10.0, 3.0), &told),
        }
    }
}

/// A group around a point that says what the point stands for.
fn opened(name: &str, place: &str) -> String {
    format!("<g class=\"point\" data-name=\"{}\" data-place=\"{}\">", escape(name), escape(place))
}

fn draw_path(drawing: &mut Drawing, line: &Line, points: impl Iterator<Item = (f64, f64)>) {
    let steps: Vec<String> = points.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    if steps.len() < 2 {
        return;
    }
    let class = line.series.map_or_else(|| "bound".to_owned(), stroke_class);
    drawing.mark(format_args!("<path class=\"{class}\" d=\"M{}\"/>", steps.join("L")));
}

/// The class of a series' line: after the colours are used up they start over, dashed.
pub(super) fn stroke_class(series: usize) -> String {
    match series / COLOURS {
        0 => format!("l{series}"),
        again => format!("l{} again{}", series % COLOURS, again.min(2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(log: bool, lines: Vec<Line>) -> LineChart {
        let places = ["2", "5", "10"].map(str::to_owned).to_vec();
        LineChart {
            title: "GCP".into(),
            across: "k".into(),
            places,
            lines,
            unit: Unit::Share,
            log,
            live: false,
        }
    }

    fn line(series: Option<usize>, values: [Option<f64>; 3]) -> Line {
        Line { name: "m".into(), series, values: values.to_vec() }
    }

    #[test]
    fn points_that_cannot_be_placed_are_left_out() {
        let lines = vec![line(Some(0), [Some(0.0), Some(0.1), Some(f64::NAN)])];
        let linear = line_chart(&chart(false, lines.clone()), (400.0, 200.0)).into_markup();
        assert_eq!(linear.matches("<circle").count(), 2);
        let log = line_chart(&chart(true, lines), (400.0, 200.0)).into_markup();
        assert_eq!(log.matches("<circle").count(), 1);
        assert!(!linear.contains("NaN") && !log.contains("NaN"));
    }

    #[test]
    fn a_live_chart_shades_what_is_below_a_bound_and_names_its_points() {
        let lines = vec![
            line(None, [Some(0.1), Some(0.2), None]),
            Line { name: "<m>".into(), ..line(Some(0), [Some(0.3), None, Some(0.4)]) },
        ];
        let still = line_chart(&chart(false, lines.clone()), (400.0, 200.0)).into_markup();
        assert!(!still.contains("unreachable") && !still.contains("data-name"));
        let live = line_chart(&LineChart { live: true, ..chart(false, lines) }, (400.0, 200.0)).into_markup();
        assert_eq!(live.matches("class=\"unreachable\"").count(), 1);
        assert!(live.contains("data-name=\"&lt;m&gt;\" data-place=\"10\""), "{live}");
        assert_eq!(live.matches("<g class=\"point\"").count(), live.matches("</g>").count());
    }

    #[test]
    fn a_bound_is_dashed_and_has_no_marker() {
        let lines = vec![line(None, [Some(0.1), Some(0.2), None])];
        let markup = line_chart(&chart(false, lines), (400.0, 200.0)).into_markup();
        assert!(markup.contains("class=\"bound\""));
        assert!(!markup.contains("<circle"));
    }

    #[test]
    fn no_two_of_the_first_nineteen_series_look_alike() {
        let look = |series: usize| {
            let marker = marker(series, (0.0, 0.0));
            format!("{} {marker}", stroke_class(series))
        };
        let looks: std::collections::BTreeSet<String> = (0..19).map(look).collect();
        assert_eq!(looks.len(), 19);
    }
}
