//! The charts of a release's page.

use super::number::{count, counted, figure, percent};
use super::sizes::{SizeBin, size_bins};
use super::svg::{Column, Group, Series, Svg, Unit, columns, horizontal_bars};
use crate::audit::{Bin, Distribution, Measures};

/// The width of charts that stand two in a row, in units about as large as a pixel.
pub(super) const WIDE: f64 = 500.0;
/// The width of charts that stand alone.
pub(super) const ALONE: f64 = 560.0;
/// The width of charts that stand three in a row.
const NARROW: f64 = 330.0;

/// The mean penalty of each quasi-identifier.
pub(super) fn loss_chart(measures: &Measures) -> Option<Svg> {
    let bars = measures.gcp_per_attribute.iter();
    let groups: Vec<Group> =
        bars.map(|(name, loss)| Group { label: name.clone(), values: vec![*loss] }).collect();
    (!groups.is_empty())
        .then(|| horizontal_bars("Loss per attribute", &groups, &[Series::ONLY], Unit::Share, WIDE))
}

/// How many classes there are of each size.
pub(super) fn size_chart(measures: &Measures) -> Option<Svg> {
    let bins = size_bins(&measures.class_sizes);
    let bars: Vec<Column> = bins.iter().map(size_column).collect();
    (!bars.is_empty()).then(|| columns("Number of classes by size", &bars, Unit::Count, (WIDE, 270.0)))
}

fn size_column(bin: &SizeBin) -> Column {
    let label =
        if bin.from == bin.to { count(bin.from) } else { format!("{}–{}", count(bin.from), count(bin.to)) };
    let classes = counted(bin.classes, "class", "classes");
    let records = counted(bin.records, "record", "records");
    let tooltip = format!("Size {label}: {classes}, {records}");
    Column { label, values: vec![bin.classes as f64], tooltips: vec![tooltip] }
}

const BEFORE_AND_AFTER: [Series<'static>; 2] =
    [Series { name: "before", colour: 0 }, Series { name: "after", colour: 1 }];

/// More bins than this would make a chart of horizontal bars too tall for its row.
const MOST_BARS: usize = 14;

/// One quasi-identifier before and after: bars with whole labels while there are few, else columns.
pub(super) fn distribution_chart(distribution: &Distribution) -> Svg {
    let title = format!("{} before and after", distribution.attribute);
    if distribution.bins.len() <= MOST_BARS {
        let group = |bin: &Bin| Group { label: bin.label.clone(), values: vec![bin.before, bin.after] };
        let groups: Vec<Group> = distribution.bins.iter().map(group).collect();
        return horizontal_bars(&title, &groups, &BEFORE_AND_AFTER, Unit::Count, NARROW);
    }
    let bars: Vec<Column> = distribution.bins.iter().map(before_and_after).collect();
    columns(&title, &bars, Unit::Count, (NARROW, 230.0))
}

fn before_and_after(bin: &Bin) -> Column {
    let tooltip = |when: &str, value: f64| format!("{}, {when}: {}", bin.label, figure(value));
    Column {
        label: bin.label.clone(),
        values: vec![bin.before, bin.after],
        tooltips: vec![tooltip("before", bin.before), tooltip("after", bin.after)],
    }
}

/// How far a distribution moved: the share of records that would have to change their value.
pub(super) fn shift(distribution: &Distribution) -> Option<f64> {
    let total = |of: fn(&Bin) -> f64| distribution.bins.iter().map(of).sum::<f64>();
    let (before, after) = (total(|bin| bin.before), total(|bin| bin.after));
    let moved = |bin: &Bin| (bin.before / before - bin.after / after).abs();
    let shift = distribution.bins.iter().map(moved).sum::<f64>() / 2.0;
    (before > 0.0 && after > 0.0 && shift.is_finite()).then_some(shift)
}

/// What stands above the chart of a quasi-identifier.
pub(super) fn distribution_caption(distribution: &Distribution) -> String {
    let values = counted(distribution.bins.len() as u64, "value or range", "values or ranges");
    match shift(distribution) {
        Some(shift) => format!("{values}, shifted by {}", percent(shift)),
        None => values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(pairs: &[(f64, f64)]) -> Distribution {
        let bin = |(at, (before, after)): (usize, &(f64, f64))| Bin {
            label: format!("v{at}"),
            before: *before,
            after: *after,
        };
        Distribution { attribute: "a".into(), bins: pairs.iter().enumerate().map(bin).collect() }
    }

    #[test]
    fn the_shift_is_the_share_of_records_that_moved() {
        assert_eq!(shift(&distribution(&[(50.0, 25.0), (50.0, 75.0)])), Some(0.25));
        assert_eq!(shift(&distribution(&[(50.0, 5.0), (50.0, 5.0)])), Some(0.0));
        assert_eq!(shift(&distribution(&[(0.0, 0.0)])), None);
        assert_eq!(shift(&distribution(&[(10.0, 0.0)])), None);
    }

    #[test]
    fn many_bins_become_columns_and_few_become_bars_with_labels() {
        let few = distribution_chart(&distribution(&[(1.0, 2.0); 5])).into_markup();
        assert_eq!(few.matches(">v").count() - few.matches("<title>v").count(), 5, "each bar has its label");
        let many = distribution_chart(&distribution(&[(1.0, 2.0); 40])).into_markup();
        assert!(many.contains("viewBox=\"0 0 330 230\""));
    }
}
