//! Gradient-boosted trees: small regression trees, each of which mends what those before it got wrong.
//!
//! Friedman 2001, in the second-order form of Chen and Guestrin 2016: a leaf is worth −Σg / (Σh + λ), a split gains what its sides
//! score more than the whole. Numbers, the middles of ranges, are put into at most [`BINS`] bins of about equally many records;
//! categories are ordered by what the records of each are worth and cut in that order (Fisher 1958). With two classes there is one
//! tree for each round, with more one for each class. Nothing is drawn, so the outcome is the same every time.
//!
//! Cost: O(rounds × classes × depth × records × features).

use super::features::{Data, Values};
use crate::collections::cheapest_first;

/// Bins of a number.
const BINS: usize = 32;
const ROUNDS: usize = 60;
const DEPTH: usize = 4;
/// How much of what a tree says is taken.
const RATE: f64 = 0.1;
/// Keeps leaves of few records small.
const LAMBDA: f64 = 1.0;
/// A side of a split has at least so much curvature.
const LEAST: f64 = 1.0;

/// The classifier.
#[derive(Clone, Debug)]
pub struct Boosted {
    classes: usize,
    /// What is said of every record before any tree is asked; one number, or one for each class.
    base: Vec<f64>,
    borders: Vec<Vec<f64>>,
    /// Round by round a tree for each number.
    rounds: Vec<Vec<Node>>,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Leaf(f64),
    Split {
        feature: usize,
        /// For each bin whether its records go to the first side.
        first: Vec<bool>,
        sides: Box<(Node, Node)>,
    },
}

impl Boosted {
    /// Learns from some records.
    pub fn learn(data: &Data, records: &[u32]) -> Self {
        let outputs = if data.classes == 2 { 1 } else { data.classes };
        let mut sizes = vec![1.0; data.classes];
        records.iter().for_each(|record| sizes[data.labels[*record as usize] as usize] += 1.0);
        let all: f64 = sizes.iter().sum();
        let base = match data.classes {
            2 => vec![(sizes[1] / sizes[0]).ln()],
            _ => sizes.iter().map(|size| (size / all).ln()).collect(),
        };
        let borders: Vec<Vec<f64>> = data.features.iter().map(|own| borders(&own.values, records)).collect();
        let mut boosted = Boosted { classes: data.classes, base, borders, rounds: Vec::new() };
        let bins: Vec<Vec<u32>> =
            records.iter().map(|record| bins(&boosted.borders, data, *record)).collect();
        let counts = counts(data, &boosted.borders);
        let categories: Vec<bool> =
            data.features.iter().map(|own| matches!(own.values, Values::Categories { .. })).collect();
        let mut said: Vec<Vec<f64>> = vec![boosted.base.clone(); records.len()];
        for _ in 0..ROUNDS {
            let shares: Vec<Vec<f64>> = said.iter().map(|said| boosted.shares(said)).collect();
            let tree = |output: usize| {
                let slope = |at: usize| {
                    let class = if data.classes == 2 { 1 } else { output };
                    let share = shares[at][class];
                    let own = f64::from(u8::from(data.labels[records[at] as usize] as usize == class));
                    (share - own, (share * (1.0 - share)).max(1e-12))
                };
                let slopes: Vec<(f64, f64)> = (0..records.len()).map(slope).collect();
                let grower = Grower {
                    bins: &bins,
                    counts: &counts,
                    categories: &categories,
                    slopes: &slopes,
                    least: LEAST,
                };
                grower.grow((0..records.len() as u32).collect(), DEPTH)
            };
            let trees: Vec<Node> = (0..outputs).map(tree).collect();
            for (said, bins) in said.iter_mut().zip(&bins) {
                said.iter_mut().zip(&trees).for_each(|(said, tree)| *said += RATE * tree.worth(bins));
            }
            boosted.rounds.push(trees);
        }
        boosted
    }

    /// How likely a record is of each class.
    pub fn scores(&self, data: &Data, record: u32) -> Vec<f64> {
        let bins = bins(&self.borders, data, record);
        let mut said = self.base.clone();
        for trees in &self.rounds {
            said.iter_mut().zip(trees).for_each(|(said, tree)| *said += RATE * tree.worth(&bins));
        }
        self.shares(&said)
    }

    fn shares(&self, said: &[f64]) -> Vec<f64> {
        match (said, self.classes) {
            ([one], 2) => {
                let share = 1.0 / (1.0 + (-one).exp());
                vec![1.0 - share, share]
            }
            _ => softmax(said),
        }
    }
}

/// The bin of a record in each feature.
pub(super) fn bins(borders: &[Vec<f64>], data: &Data, record: u32) -> Vec<u32> {
    let bin = |(own, borders): (&super::Feature, &Vec<f64>)| match &own.values {
        Values::Categories { of, .. } => of[record as usize],
        Values::Ranges { ends, .. } => {
            let value = super::bayes::middle(ends[record as usize]);
            borders.partition_point(|border| *border < value) as u32
        }
    };
    data.features.iter().zip(borders).map(bin).collect()
}

/// How many bins each feature has.
pub(super) fn counts(data: &Data, borders: &[Vec<f64>]) -> Vec<usize> {
    let count = |(own, borders): (&super::Feature, &Vec<f64>)| match &own.values {
        Values::Categories { count, .. } => *count,
        Values::Ranges { .. } => borders.len() + 1,
    };
    data.features.iter().zip(borders).map(count).collect()
}

/// Shares that are as likely as the exponents say.
pub(super) fn softmax(said: &[f64]) -> Vec<f64> {
    let most = said.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = said.iter().map(|own| (own - most).exp()).collect();
    let all: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / all).collect()
}

/// Where the bins of a number end: between neighbouring values, with about equally many records each.
pub(super) fn borders(values: &Values, records: &[u32]) -> Vec<f64> {
    let Values::Ranges { ends, .. } = values else { return Vec::new() };
    let mut own: Vec<f64> =
        records.iter().map(|record| super::bayes::middle(ends[*record as usize])).collect();
    own.sort_unstable_by(f64::total_cmp);
    let mut borders: Vec<f64> = (1..BINS)
        .filter_map(|bin| own.get(bin * own.len() / BINS).copied())
        .filter(|border| own.first().is_some_and(|first| border > first))
        .map(f64::next_down)
        .collect();
    borders.dedup();
    borders
}

impl Node {
    pub fn worth(&self, bins: &[u32]) -> f64 {
        match self {
            Node::Leaf(worth) => *worth,
            Node::Split { feature, first, sides } => {
                // A category that no record had goes with the second side.
                match first.get(bins[*feature] as usize).copied().unwrap_or(false) {
                    true => sides.0.worth(bins),
                    false => sides.1.worth(bins),
                }
            }
        }
    }
}

/// Grows one tree.
pub(super) struct Grower<'a> {
    /// Of each record the bin in each feature.
    pub bins: &'a [Vec<u32>],
    pub counts: &'a [usize],
    /// Which features are categories.
    pub categories: &'a [bool],
    /// Slope and curvature of the loss of each record.
    pub slopes: &'a [(f64, f64)],
    /// A side of a split has at least so much curvature.
    pub least: f64,
}

fn score((slope, curvature): (f64, f64)) -> f64 {
    slope * slope / (curvature + LAMBDA)
}

impl Grower<'_> {
    pub fn grow(&self, records: Vec<u32>, depth: usize) -> Node {
        let sum = self.sum(&records);
        let leaf = Node::Leaf(-sum.0 / (sum.1 + LAMBDA));
        if depth == 0 || records.len() < 2 {
            return leaf;
        }
        let splits = (0..self.counts.len()).filter_map(|feature| self.best_split(&records, feature, sum));
        let best = splits.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
        let Some((_, feature, first)) = best else { return leaf };
        let goes = |record: &u32| first[self.bins[*record as usize][feature] as usize];
        let (one, other): (Vec<u32>, Vec<u32>) = records.into_iter().partition(goes);
        let sides = Box::new((self.grow(one, depth - 1), self.grow(other, depth - 1)));
        Node::Split { feature, first, sides }
    }

    fn sum(&self, records: &[u32]) -> (f64, f64) {
        records.iter().fold((0.0, 0.0), |sum, record| add(sum, self.slopes[*record as usize]))
    }

    /// The gain of the best split by a feature, the feature, and which bins go to the first side.
    fn best_split(
        &self,
        records: &[u32],
        feature: usize,
        all: (f64, f64),
    ) -> Option<(f64, usize, Vec<bool>)> {
        let count = self.counts[feature];
        let mut sums = vec![(0.0, 0.0); count];
        for record in records {
            let own = &mut sums[self.bins[*record as usize][feature] as usize];
            *own = add(*own, self.slopes[*record as usize]);
        }
        // Categories by what their records are worth, numbers as they are.
        let mut order: Vec<usize> = (0..count).filter(|bin| sums[*bin].1 > 0.0).collect();
        if self.is_category(feature) {
            let worth = |bin: usize| sums[bin].0 / (sums[bin].1 + LAMBDA);
            let mut by_worth: Vec<(f64, usize)> = order.iter().map(|bin| (worth(*bin), *bin)).collect();
            cheapest_first(&mut by_worth);
            order = by_worth.into_iter().map(|(_, bin)| bin).collect();
        }
        let (mut left, mut best) = ((0.0, 0.0), None);
        for (cut, bin) in order.iter().enumerate().take(order.len().saturating_sub(1)) {
            left = add(left, sums[*bin]);
            let right = (all.0 - left.0, all.1 - left.1);
            if left.1 < self.least || right.1 < self.least {
                continue;
            }
            let gain = score(left) + score(right) - score(all);
            if gain > 1e-9 && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, cut));
            }
        }
        let (gain, cut) = best?;
        let mut first = vec![false; count];
        order[..=cut].iter().for_each(|bin| first[*bin] = true);
        Some((gain, feature, first))
    }

    fn is_category(&self, feature: usize) -> bool {
        self.categories[feature]
    }
}

fn add(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0 + other.0, one.1 + other.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::classify::Feature;

    fn data(features: Vec<Values>, labels: Vec<u32>, classes: usize) -> Data {
        let named = |(at, values): (usize, Values)| Feature { name: format!("f{at}"), quasi: true, values };
        Data { features: features.into_iter().enumerate().map(named).collect(), labels, classes }
    }

    fn wrong(data: &Data) -> usize {
        let records: Vec<u32> = (0..data.labels.len() as u32).collect();
        let model = Boosted::learn(data, &records);
        let told = |record: &u32| {
            let scores = model.scores(data, *record);
            assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0) as u32
        };
        records.iter().filter(|record| told(record) != data.labels[**record as usize]).count()
    }

    #[test]
    fn what_needs_two_attributes_together_is_learned() {
        // Neither attribute tells anything by itself.
        let number = |at: usize| (at * 37 % 100) as f64;
        let labels: Vec<u32> = (0..200).map(|at| u32::from((number(at) < 50.0) != (at % 2 == 0))).collect();
        let ends =
            (0..200).map(|at| (number(at), number(at) + if at % 3 == 0 { 0.5 } else { 0.0 })).collect();
        let sides = (0..200).map(|at| at as u32 % 2).collect();
        let both = vec![Values::Ranges { ends, whole: false }, Values::Categories { of: sides, count: 2 }];
        // A greedy tree needs some first gain, which 200 records of chance give it.
        assert!(wrong(&data(both, labels, 2)) <= 10);
    }

    #[test]
    fn three_classes_of_many_categories_are_told_apart() {
        let of: Vec<u32> = (0..300).map(|at| at * 7 % 40).collect();
        let labels: Vec<u32> = of.iter().map(|category| category % 3).collect();
        assert_eq!(wrong(&data(vec![Values::Categories { of, count: 40 }], labels, 3)), 0);
    }
}
