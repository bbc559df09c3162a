//! Horizontal bars, alone or grouped: one line of text per group, so long names stay readable.

use super::{Anchor, Area, COLOURS, Drawing, Scale, Svg, Unit, label_width};

/// One label with one bar per series.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// What the bars are about.
    pub(crate) label: String,
    /// One value per series.
    pub(crate) values: Vec<f64>,
}

/// What one bar of every group is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series<'a> {
    /// Its name, told on hovering where there are several.
    pub(crate) name: &'a str,
    /// Its place in the palette.
    pub(crate) colour: usize,
}

impl Series<'static> {
    /// A series that needs no name.
    pub(crate) const ONLY: Self = Series { name: "", colour: 0 };
}

const GAP: f64 = 8.0;
const TOP: f64 = 4.0;
const BELOW: f64 = 22.0;

/// Bars from left to right. With a single series each bar ends in its value.
pub(crate) fn horizontal_bars(
    title: &str,
    groups: &[Group],
    series: &[Series<'_>],
    unit: Unit,
    width: f64,
) -> Svg {
    let thickness = thickness(series.len());
    let row = thickness * series.len().max(1) as f64 + GAP;
    let scale = Scale::linear(groups.iter().flat_map(|group| group.values.iter().copied()), 5);
    let widest = groups.iter().map(|group| label_width(&group.label)).fold(0.0, f64::max);
    let left = (widest + 12.0).min(width * 0.42);
    let right = width - room_at_the_end(&scale, unit, series.len());
    let area = Area { left, top: TOP, right, bottom: TOP + row * groups.len() as f64 };
    let mut drawing = Drawing::new(width, area.bottom + BELOW);
    drawing.horizontal_axis(area, &scale, unit);
    for (at, group) in groups.iter().enumerate() {
        let top = area.top + row * at as f64 + GAP / 2.0;
        let middle = top + (row - GAP) / 2.0;
        drawing.text((left - 7.0, middle + 4.0), Anchor::End, &group.label, left - 8.0);
        draw_group(&mut drawing, group, series, &Look { area, scale: &scale, unit, top, thickness });
    }
    drawing.finish(title)
}

/// Room for the value behind the longest bar, or else for half of the last tick's label.
fn room_at_the_end(scale: &Scale, unit: Unit, series: usize) -> f64 {
    let last = scale.ticks().last().map_or(0.0, |tick| label_width(&unit.tick(*tick)));
    if series == 1 { 64.0 } else { last / 2.0 + 4.0 }
}

fn thickness(series: usize) -> f64 {
    match series {
        0 | 1 => 15.0,
        2 => 8.0,
        _ => 7.0,
    }
}

struct Look<'a> {
    area: Area,
    scale: &'a Scale,
    unit: Unit,
    top: f64,
    thickness: f64,
}

fn draw_group(drawing: &mut Drawing, group: &Group, series: &[Series<'_>], look: &Look<'_>) {
    let alone = series.len() == 1;
    for (at, (value, one)) in group.values.iter().zip(series).enumerate() {
        let y = look.top + look.thickness * at as f64;
        let length = look.scale.position(*value) * look.area.width();
        let told = look.unit.exact(*value);
        let name = if alone { String::new() } else { format!(", {}", one.name) };
        let size = (length, look.thickness - if alone { 0.0 } else { 1.0 });
        let tooltip = format!("{}{name}: {told}", group.label);
        drawing.bar(&format!("s{}", one.colour % COLOURS), (look.area.left, y), size, &tooltip);
        if alone {
            let end = (look.area.left + length + 5.0, y + look.thickness / 2.0 + 4.0);
            drawing.text(end, Anchor::Start, &told, 90.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(label: &str, values: &[f64]) -> Group {
        Group { label: label.to_owned(), values: values.to_vec() }
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let groups = [group("a", &[0.5]), group("b", &[0.25]), group("c", &[0.0])];
        let markup = horizontal_bars("t", &groups, &[Series::ONLY], Unit::Share, 400.0).into_markup();
        let widths: Vec<f64> = markup
            .split("<rect")
            .skip(1)
            .filter_map(|rect| rect.split("width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 3);
        assert!(widths[0] > 100.0);
        assert!((widths[0] - 2.0 * widths[1]).abs() < 0.2);
        assert_eq!(widths[2], 0.0);
    }

    #[test]
    fn long_labels_are_cut_but_told_in_full_on_hovering() {
        let label = "a very long name of an attribute that nobody could ever fit beside a bar";
        let markup =
            horizontal_bars("t", &[group(label, &[1.0])], &[Series::ONLY], Unit::Count, 300.0).into_markup();
        assert!(markup.contains(&format!("<title>{label}</title>")));
        assert!(markup.contains("a very long"));
        assert!(markup.contains('…'));
    }
}
