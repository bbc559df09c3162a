//! Bins for class sizes, which may be ten different ones or reach from k to many thousands.

/// Classes whose sizes lie between two values, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeBin {
    /// The smallest size.
    pub(super) from: u64,
    /// The largest size.
    pub(super) to: u64,
    /// How many classes.
    pub(super) classes: u64,
    /// How many records in them.
    pub(super) records: u64,
}

/// More bins than this are hard to tell apart.
const MOST_BINS: usize = 30;

/// Steps per decade, from fine to coarse.
const SERIES: [&[f64]; 4] = [
    &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
    &[1.0, 1.5, 2.5, 4.0, 6.0],
    &[1.0, 2.0, 5.0],
    &[1.0],
];

/// Sorts class sizes (size, classes) into at most thirty bins: one per size when there are few, equal widths
/// while the largest is a few times the smallest, else bins that widen with the size.
pub(super) fn size_bins(class_sizes: &[(u64, u64)]) -> Vec<SizeBin> {
    let sizes = || class_sizes.iter().map(|(size, _)| *size);
    let (Some(least), Some(most)) = (sizes().min(), sizes().max()) else {
        return Vec::new();
    };
    let edges = edges(least, most);
    let mut bins: Vec<SizeBin> = edges
        .windows(2)
        .map(|pair| SizeBin { from: pair[0], to: pair[1] - 1, classes: 0, records: 0 })
        .collect();
    for (size, classes) in class_sizes {
        let at = edges.partition_point(|edge| edge <= size).saturating_sub(1);
        if let Some(bin) = bins.get_mut(at) {
            bin.classes += classes;
            bin.records = bin.records.saturating_add(size.saturating_mul(*classes));
        }
    }
    bins
}

/// Ascending lower edges, closed by one past the largest size.
fn edges(least: u64, most: u64) -> Vec<u64> {
    let end = most.saturating_add(1);
    let wide = most / least.max(1) >= 8;
    let mut edges = match end - least {
        span if span as usize <= MOST_BINS => (least..end).collect(),
        _ if wide => widening_edges(least, end),
        span => even_edges(least, end, span),
    };
    edges.push(end);
    edges
}

fn even_edges(least: u64, end: u64, span: u64) -> Vec<u64> {
    let width = span.div_ceil(MOST_BINS as u64);
    (least..end).step_by(usize::try_from(width).unwrap_or(usize::MAX)).collect()
}

fn widening_edges(least: u64, end: u64) -> Vec<u64> {
    let mut candidates = SERIES.iter().map(|steps| round_edges(steps, least, end));
    candidates.find(|edges| edges.len() <= MOST_BINS).unwrap_or_else(|| vec![least])
}

fn round_edges(steps: &[f64], least: u64, end: u64) -> Vec<u64> {
    let decades =
        (0..20).flat_map(|decade| steps.iter().map(move |step| (step * 10f64.powi(decade)).round() as u64));
    let inside = decades.filter(|edge| *edge > least && *edge < end);
    let mut edges: Vec<u64> = std::iter::once(least).chain(inside).collect();
    edges.dedup();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_sizes_have_a_bin_each() {
        let bins = size_bins(&[(10, 5), (12, 1)]);
        let told: Vec<_> = bins.iter().map(|bin| (bin.from, bin.to, bin.classes, bin.records)).collect();
        assert_eq!(told, [(10, 10, 5, 50), (11, 11, 0, 0), (12, 12, 1, 12)]);
    }

    #[test]
    fn far_apart_sizes_have_widening_bins_with_round_edges() {
        let bins = size_bins(&[(10, 100), (19, 40), (4_000, 1)]);
        let edges: Vec<u64> = bins.iter().map(|bin| bin.from).collect();
        assert_eq!(edges[..5], [10, 12, 15, 20, 25]);
        assert_eq!(bins.last().map(|bin| bin.to), Some(4_000));
    }

    #[test]
    fn no_class_needs_no_bin() {
        assert!(size_bins(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn every_class_is_in_exactly_one_of_at_most_thirty_bins(
            sizes in prop::collection::btree_map(0u64..200_000, 1u64..50, 1..100), scale in 1u64..1_000,
        ) {
            let sizes: Vec<(u64, u64)> = sizes.into_iter().map(|(size, classes)| (size * scale, classes)).collect();
            let bins = size_bins(&sizes);
            prop_assert!(bins.len() <= MOST_BINS);
            prop_assert!(bins.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
            for bin in &bins {
                let inside = sizes.iter().filter(|(size, _)| (bin.from..=bin.to).contains(size));
                prop_assert_eq!(bin.classes, inside.map(|(_, classes)| classes).sum::<u64>());
            }
            prop_assert_eq!(
                bins.iter().map(|bin| bin.records).sum::<u64>(),
                sizes.iter().map(|(size, classes)| size * classes).sum::<u64>()
            );
        }
    }
}
