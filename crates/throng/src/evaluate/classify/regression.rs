//! Regression trees: what a number is, told by the means of leaves.
//!
//! A single tree, or boosted ones that each mend what those before left over (Friedman 2001, squared error). They grow as those of
//! [`super::Boosted`] do; a leaf is worth the mean of what is left over, shrunk as if one more record had nothing left. Nothing is
//! drawn, so the outcome is the same every time.
//!
//! Cost: O(trees × depth × records × features).

use super::boosted::{Grower, Node, bins, borders, counts};
use super::features::{Data, Values};

/// How a regression learns.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// How many trees follow each other.
    pub trees: usize,
    /// Splits above a leaf at most.
    pub depth: usize,
    /// How much of what a tree says is taken.
    pub rate: f64,
    /// Records of a leaf at least.
    pub least: f64,
}

impl Growth {
    /// One tree.
    pub const TREE: Growth = Growth { trees: 1, depth: 8, rate: 1.0, least: 20.0 };
    /// Boosted trees.
    pub const BOOSTED: Growth = Growth { trees: 80, depth: 4, rate: 0.1, least: 5.0 };
}

/// The learner.
#[derive(Clone, Debug)]
pub struct Regression {
    mean: f64,
    rate: f64,
    borders: Vec<Vec<f64>>,
    trees: Vec<Node>,
}

impl Regression {
    /// Learns the numbers of some records.
    pub fn learn(data: &Data, numbers: &[f64], records: &[u32], growth: Growth) -> Self {
        let all = records.len().max(1) as f64;
        let mean = records.iter().map(|record| numbers[*record as usize] / all).sum();
        let borders: Vec<Vec<f64>> = data.features.iter().map(|own| borders(&own.values, records)).collect();
        let mut told = Regression { mean, rate: growth.rate, borders, trees: Vec::new() };
        let bins: Vec<Vec<u32>> = records.iter().map(|record| bins(&told.borders, data, *record)).collect();
        let counts = counts(data, &told.borders);
        let categories: Vec<bool> =
            data.features.iter().map(|own| matches!(own.values, Values::Categories { .. })).collect();
        let mut left: Vec<f64> = records.iter().map(|record| mean - numbers[*record as usize]).collect();
        for _ in 0..growth.trees {
            let slopes: Vec<(f64, f64)> = left.iter().map(|left| (*left, 1.0)).collect();
            let grower = Grower {
                bins: &bins,
                counts: &counts,
                categories: &categories,
                slopes: &slopes,
                least: growth.least,
            };
            let tree = grower.grow((0..records.len() as u32).collect(), growth.depth);
            left.iter_mut().zip(&bins).for_each(|(left, bins)| *left += growth.rate * tree.worth(bins));
            told.trees.push(tree);
        }
        told
    }

    /// What the number of a record is, as far as it was learned.
    pub fn told(&self, data: &Data, record: u32) -> f64 {
        let bins = bins(&self.borders, data, record);
        self.mean + self.trees.iter().map(|tree| self.rate * tree.worth(&bins)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::classify::Feature;

    fn data(features: Vec<Values>) -> Data {
        let named = |(at, values): (usize, Values)| Feature { name: format!("f{at}"), quasi: true, values };
        Data {
            features: features.into_iter().enumerate().map(named).collect(),
            labels: Vec::new(),
            classes: 0,
        }
    }

    /// The mean of a leaf by hand: one split, between two groups that differ.
    #[test]
    fn a_tree_tells_the_shrunk_means_of_its_leaves() {
        let of: Vec<u32> = (0..100).map(|at| at % 2).collect();
        let numbers: Vec<f64> = of.iter().map(|side| if *side == 0 { 10.0 } else { 30.0 }).collect();
        let data = data(vec![Values::Categories { of, count: 2 }]);
        let records: Vec<u32> = (0..100).collect();
        let tree = Regression::learn(&data, &numbers, &records, Growth::TREE);
        // 20 − 10 × 50 / 51 and 20 + 10 × 50 / 51.
        assert!((tree.told(&data, 0) - (20.0 - 500.0 / 51.0)).abs() < 1e-9);
        assert!((tree.told(&data, 1) - (20.0 + 500.0 / 51.0)).abs() < 1e-9);
    }

    #[test]
    fn boosted_trees_follow_a_curve() {
        let ends: Vec<(f64, f64)> = (0..400).map(|at| (f64::from(at), f64::from(at) + 1.0)).collect();
        let numbers: Vec<f64> = ends.iter().map(|(low, _)| (low / 60.0).sin() * 50.0).collect();
        let data = data(vec![Values::Ranges { ends, whole: true }]);
        let records: Vec<u32> = (0..400).collect();
        let told = Regression::learn(&data, &numbers, &records, Growth::BOOSTED);
        let off = |record: &u32| (told.told(&data, *record) - numbers[*record as usize]).abs();
        assert!(records.iter().map(off).sum::<f64>() / 400.0 < 3.0);
    }

    #[test]
    fn without_features_everybody_is_average() {
        let told = Regression::learn(&data(Vec::new()), &[1.0, 2.0, 6.0], &[0, 1, 2], Growth::BOOSTED);
        assert!((told.told(&data(Vec::new()), 0) - 3.0).abs() < 1e-12);
    }
}
