//! Ladders: the steps by which an attribute is generalized.

use crate::loss::Kernel;
use crate::problem::Attribute;
use crate::table::Scale;

/// The steps of one attribute, from exact to everything alike.
pub(super) struct Ladder {
    pub steps: Vec<Step>,
    /// Whether every cell of a step lies in one of the next.
    pub nested: bool,
}

/// One step: which codes it does not tell apart.
pub(super) struct Step {
    /// The cell of each code: the first code in it. Cells are stretches of neighbouring codes.
    pub cells: Vec<u32>,
    /// No cell with more than one value costs less, however few of its values occur.
    pub least: f64,
}

/// Numbers have no hierarchy: bands of these shares of their range take its place, each 1.4 times the one before.
const BANDS: [f64; 9] =
    [1.0 / 32.0, 1.0 / 22.6, 1.0 / 16.0, 1.0 / 11.3, 1.0 / 8.0, 1.0 / 5.7, 1.0 / 4.0, 1.0 / 2.8, 1.0 / 2.0];

impl Ladder {
    /// The ladder of an attribute.
    pub fn new(at: usize, attribute: &Attribute, kernel: &Kernel) -> Self {
        let mut maps = vec![(0..attribute.domain.len() as u32).collect::<Vec<u32>>()];
        let nested = match attribute.domain.scale() {
            Scale::Categorical(tree) => {
                for level in 1..=tree.height() {
                    let node = |leaf: usize| tree.leaves_under(tree.at_level(leaf, level)).start as u32;
                    maps.push((0..tree.leaf_count()).map(node).collect());
                }
                true
            }
            Scale::Numeric { values, .. } => {
                let missing = attribute.domain.missing().map(|_| values.len() as u32);
                maps.extend(
                    BANDS.iter().map(|share| bands(values, *share).into_iter().chain(missing).collect()),
                );
                maps.push(vec![0; attribute.domain.len()]);
                false
            }
        };
        maps.dedup();
        let least = |map: &[u32]| {
            let mut ends =
                map.iter().enumerate().zip(map.iter().skip(1)).filter(|((_, one), next)| one == next);
            let cheapest = ends.by_ref().map(|((low, _), _)| kernel.penalty(at, low, low + 1));
            cheapest.min_by(f64::total_cmp).unwrap_or(0.0)
        };
        let step = |cells: Vec<u32>| Step { least: if nested { least(&cells) } else { 0.0 }, cells };
        Ladder { steps: maps.into_iter().map(step).collect(), nested }
    }
}

/// The band of each value: the first value in it.
fn bands(values: &[f64], share: f64) -> Vec<u32> {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
    // Halved against overflow.
    let width = (last / 2.0 - first / 2.0) * share;
    // The last value closes the last band instead of opening one more.
    let most = (1.0 / share).ceil() - 1.0;
    let mut starts = Vec::with_capacity(values.len());
    let (mut band, mut start) = (0.0, 0);
    for (at, value) in (0..).zip(values) {
        let own = if width > 0.0 { ((value / 2.0 - first / 2.0) / width).floor().min(most) } else { 0.0 };
        if own != band {
            (band, start) = (own, at);
        }
        starts.push(start);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_equally_wide() {
        assert_eq!(bands(&[0.0, 1.0, 2.0, 5.0, 8.0], 0.5), [0, 0, 0, 3, 3]);
        assert_eq!(bands(&[3.0], 0.5), [0]);
        assert_eq!(bands(&[], 0.5), [0u32; 0]);
    }
}
