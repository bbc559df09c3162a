//! Vertical columns: histograms, and before beside after where there are many bins.

use super::{Anchor, Area, COLOURS, Drawing, Scale, Svg, Unit, every_nth, label_width, room_for_ticks};

/// One place on the horizontal axis with one column per series.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Told below the axis where there is room.
    pub(crate) label: String,
    /// One value per series.
    pub(crate) values: Vec<f64>,
    /// What hovering tells, one per series.
    pub(crate) tooltips: Vec<String>,
}

const TOP: f64 = 8.0;
const WIDEST_UPRIGHT: f64 = 45.0;
const LONGEST_LABEL: f64 = 82.0;
/// How much of a slanted label's length reaches to the left, and below.
const SLANT: f64 = 0.75;

/// Columns side by side.
pub(crate) fn columns(title: &str, columns: &[Column], unit: Unit, size: (f64, f64)) -> Svg {
    let scale = Scale::linear(columns.iter().flat_map(|column| column.values.iter().copied()), 5);
    let left = room_for_ticks(&scale, unit).max(room_for_slant(columns));
    let pitch = (size.0 - left - 6.0) / columns.len().max(1) as f64;
    let labels = Labels::new(columns, pitch);
    let area = Area { left, top: TOP, right: size.0 - 6.0, bottom: size.1 - labels.height };
    let mut drawing = Drawing::new(size.0, size.1);
    drawing.vertical_axis(area, &scale, unit);
    for (at, column) in columns.iter().enumerate() {
        let x = area.left + pitch * at as f64;
        draw_column(&mut drawing, column, area, &scale, (x, pitch));
        if at.is_multiple_of(labels.every) {
            labels.draw(&mut drawing, &column.label, (x + pitch / 2.0, area.bottom));
        }
    }
    drawing.finish(title)
}

fn draw_column(drawing: &mut Drawing, column: &Column, area: Area, scale: &Scale, (x, pitch): (f64, f64)) {
    let gap = (pitch * 0.2).min(4.0);
    let width = (pitch - gap) / column.values.len().max(1) as f64;
    for (series, value) in column.values.iter().enumerate() {
        let height = scale.position(*value) * area.height();
        // A column with anything in it must not vanish.
        let height = if *value > 0.0 { height.max(0.8) } else { height };
        let corner = (x + gap / 2.0 + width * series as f64, area.bottom - height);
        let tooltip = column.tooltips.get(series).map_or("", String::as_str);
        drawing.bar(&format!("s{}", series % COLOURS), corner, (width, height), tooltip);
    }
}

/// The room that the first label needs on its left when labels slant.
fn room_for_slant(columns: &[Column]) -> f64 {
    let slanted = columns.iter().any(|column| label_width(&column.label) > WIDEST_UPRIGHT);
    let first = columns.first().map_or(0.0, |column| label_width(&column.label));
    if slanted { first.min(LONGEST_LABEL) * SLANT } else { 0.0 }
}

/// How labels are laid out below the axis: as they are when they fit, else slanted, and only every n-th.
struct Labels {
    slanted: bool,
    every: usize,
    height: f64,
}

impl Labels {
    fn new(columns: &[Column], pitch: f64) -> Self {
        let widest = columns.iter().map(|column| label_width(&column.label)).fold(0.0, f64::max);
        let slanted = widest > WIDEST_UPRIGHT;
        let needed = if slanted { 14.0 } else { widest + 10.0 };
        let every = every_nth(needed / pitch.max(0.1));
        let height = if slanted { 14.0 + widest.min(LONGEST_LABEL) * SLANT } else { 22.0 };
        Labels { slanted, every, height }
    }

    fn draw(&self, drawing: &mut Drawing, label: &str, (x, bottom): (f64, f64)) {
        if self.slanted {
            drawing.turned_text((x + 3.0, bottom + 12.0), Anchor::End, label, LONGEST_LABEL, -45.0);
        } else if x + label_width(label) / 2.0 <= drawing.size.0 {
            drawing.text((x, bottom + 15.0), Anchor::Middle, label, LONGEST_LABEL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(count: usize, label: &str) -> Vec<Column> {
        (0..count)
            .map(|at| Column {
                label: format!("{label}{at}"),
                values: vec![at as f64],
                tooltips: vec![format!("tip {at}")],
            })
            .collect()
    }

    #[test]
    fn every_column_tells_its_value_even_where_its_label_has_no_room() {
        let markup = columns("t", &many(200, "n"), Unit::Count, (300.0, 150.0)).into_markup();
        assert_eq!(markup.matches("<rect").count(), 200);
        assert!(markup.contains("<title>tip 199</title>"));
        assert!(markup.matches("<text").count() < 30, "labels would overlap");
    }

    #[test]
    fn short_labels_stand_upright_and_long_ones_slant() {
        let size = (400.0, 150.0);
        assert!(!columns("t", &many(5, ""), Unit::Count, size).into_markup().contains("rotate"));
        assert!(
            columns("t", &many(5, "Holand-Netherlands"), Unit::Count, size).into_markup().contains("rotate")
        );
    }
}
