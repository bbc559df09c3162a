//! A decision tree in the manner of C4.5.
//!
//! Quinlan 1993. Splits are chosen by gain ratio among those of at least average gain; categories are split into one
//! branch per value, numbers in two, at the price of log₂(number of cuts)/n for having had the choice. At least two
//! branches hold two records. A subtree becomes a leaf where its estimated error is no higher: errors are the upper
//! limit of a binomial at confidence 0.25. Subtrees are not raised into their parent's place.
//!
//! Numbers that are known as ranges go to both sides of a cut, in proportion to the overlap.

use super::features::{Data, Feature, Values};

/// At least two branches hold so many records.
const FEWEST: f64 = 2.0;
/// More steps from the root than any useful tree has.
const DEEPEST: usize = 200;
/// Gains and errors this close are equal.
const CLOSE: f64 = 1e-3;
/// Normal deviate of confidence 0.25, squared.
const DEVIATE_SQUARED: f64 = 0.674_489_750_196_081_7 * 0.674_489_750_196_081_7;
/// What a leaf may be worse by in estimated errors.
const SLACK: f64 = 0.1;

/// A tree.
#[derive(Clone, Debug)]
pub struct Tree {
    root: Node,
}

#[derive(Clone, Debug)]
struct Node {
    /// Weight of each class.
    counts: Vec<f64>,
    split: Option<Box<Split>>,
}

#[derive(Clone, Debug)]
struct Split {
    feature: usize,
    /// Numbers up to it go left; `None` for categories.
    cut: Option<f64>,
    children: Vec<Node>,
}

/// A record, or the part of it that reaches a node.
type Item = (u32, f64);

impl Tree {
    /// Learns from some records.
    pub fn learn(data: &Data, records: &[u32]) -> Self {
        let items: Vec<Item> = records.iter().map(|record| (*record, 1.0)).collect();
        let mut root = Learner { data, all: items.len() as f64 }.grow(items, 0);
        prune(&mut root);
        Tree { root }
    }

    /// How likely a record is of each class: the shares of the leaves that it may be in.
    pub fn scores(&self, data: &Data, record: u32) -> Vec<f64> {
        let mut votes = vec![0.0; data.classes];
        vote(&self.root, data, record, 1.0, &mut votes);
        votes
    }

    /// The most likely class of a record.
    pub fn classify(&self, data: &Data, record: u32) -> u32 {
        largest(&self.scores(data, record))
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        leaves(&self.root)
    }
}

/// The attribute that would be asked first.
pub fn first_choice(data: &Data, records: &[u32], features: &[usize]) -> Option<usize> {
    let items: Vec<Item> = records.iter().map(|record| (*record, 1.0)).collect();
    let learner = Learner { data, all: items.len() as f64 };
    learner.choose(&items, &learner.counts(&items), features).map(|(feature, _)| feature)
}

fn leaves(node: &Node) -> usize {
    node.split.as_ref().map_or(1, |split| split.children.iter().map(leaves).sum())
}

pub(super) fn largest(votes: &[f64]) -> u32 {
    let mut best = 0;
    for (class, vote) in votes.iter().enumerate() {
        if *vote > votes[best] {
            best = class;
        }
    }
    best as u32
}

fn vote(node: &Node, data: &Data, record: u32, weight: f64, votes: &mut [f64]) {
    let spread = |votes: &mut [f64]| {
        let all: f64 = node.counts.iter().sum();
        for (vote, count) in votes.iter_mut().zip(&node.counts) {
            *vote += weight * count / all.max(f64::MIN_POSITIVE);
        }
    };
    let Some(split) = &node.split else { return spread(votes) };
    match (&data.features[split.feature].values, split.cut) {
        (Values::Ranges { ends, whole }, Some(cut)) => {
            let left = share_left(ends[record as usize], cut, *whole);
            for (child, share) in split.children.iter().zip([left, 1.0 - left]) {
                if share > 0.0 {
                    vote(child, data, record, weight * share, votes);
                }
            }
        }
        (Values::Categories { of, .. }, None) => match split.children.get(of[record as usize] as usize) {
            Some(child) => vote(child, data, record, weight, votes),
            None => spread(votes),
        },
        // Records that are described in another way than those learned from tell nothing here.
        _ => spread(votes),
    }
}

/// How much of a range lies at or below a cut.
pub(super) fn share_left((low, high): (f64, f64), cut: f64, whole: bool) -> f64 {
    if high <= cut {
        1.0
    } else if low > cut {
        0.0
    } else if whole {
        (cut.floor() - low + 1.0) / (high - low + 1.0)
    } else {
        (cut - low) / (high - low)
    }
}

fn bits(counts: &[f64]) -> f64 {
    let all: f64 = counts.iter().sum();
    counts.iter().filter(|count| **count > 0.0).map(|count| -count / all * (count / all).log2()).sum()
}

/// A split that could be made.
struct Candidate {
    gain: f64,
    /// Bits needed to tell the branches apart.
    info: f64,
    cut: Option<f64>,
    /// Whether it has so many branches that its gain says little.
    many: bool,
}

struct Learner<'a> {
    data: &'a Data,
    /// Number of records learned from.
    all: f64,
}

impl Learner<'_> {
    fn counts(&self, items: &[Item]) -> Vec<f64> {
        let mut counts = vec![0.0; self.data.classes];
        items
            .iter()
            .for_each(|(record, weight)| counts[self.data.labels[*record as usize] as usize] += weight);
        counts
    }

    fn grow(&self, items: Vec<Item>, depth: usize) -> Node {
        let counts = self.counts(&items);
        let all: f64 = counts.iter().sum();
        let most = counts.iter().copied().fold(0.0, f64::max);
        let leaf = |counts: Vec<f64>| Node { counts, split: None };
        if all < 2.0 * FEWEST || all - most < 1e-9 || depth >= DEEPEST {
            return leaf(counts);
        }
        let features: Vec<usize> = (0..self.data.features.len()).collect();
        let Some((feature, cut)) = self.choose(&items, &counts, &features) else { return leaf(counts) };
        let parts = self.part(&items, feature, cut);
        drop(items);
        let children: Vec<Node> = parts
            .into_iter()
            .map(|part| {
                let mut child = self.grow(part, depth + 1);
                if child.counts.iter().all(|count| *count == 0.0) {
                    // Nothing came here: what is known above is all there is, with no weight of its own.
                    child.counts = counts.iter().map(|count| count * 1e-9).collect();
                }
                child
            })
            .collect();
        let errors: f64 = children.iter().map(training_errors).sum();
        if errors >= all - most - CLOSE {
            return leaf(counts);
        }
        Node { counts, split: Some(Box::new(Split { feature, cut, children })) }
    }

    /// The best split: the highest gain ratio among those with at least average gain.
    fn choose(&self, items: &[Item], counts: &[f64], features: &[usize]) -> Option<(usize, Option<f64>)> {
        let candidates: Vec<(usize, Candidate)> = features
            .iter()
            .filter_map(|at| Some((*at, self.candidate(&self.data.features[*at], items, counts)?)))
            .collect();
        let counted = |own: &&(usize, Candidate)| !own.1.many || candidates.iter().all(|other| other.1.many);
        let gains: Vec<f64> = candidates.iter().filter(counted).map(|(_, own)| own.gain).collect();
        let average = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
        let mut best: Option<(f64, usize, Option<f64>)> = None;
        for (at, own) in &candidates {
            if own.gain < average - CLOSE || own.info <= CLOSE || own.gain <= 0.0 {
                continue;
            }
            let ratio = own.gain / own.info;
            if best.is_none_or(|(most, ..)| ratio > most) {
                best = Some((ratio, *at, own.cut));
            }
        }
        best.map(|(_, feature, cut)| (feature, cut))
    }

    fn candidate(&self, feature: &Feature, items: &[Item], counts: &[f64]) -> Option<Candidate> {
        match &feature.values {
            Values::Categories { of, count } => self.categories(of, *count, items, counts),
            Values::Ranges { ends, whole } => self.cuts(ends, *whole, items, counts),
        }
    }

    fn categories(&self, of: &[u32], count: usize, items: &[Item], counts: &[f64]) -> Option<Candidate> {
        let classes = self.data.classes;
        let mut table = vec![0.0; count * classes];
        for (record, weight) in items {
            let at = of[*record as usize] as usize * classes + self.data.labels[*record as usize] as usize;
            table[at] += weight;
        }
        let sizes: Vec<f64> = table.chunks(classes).map(|own| own.iter().sum()).collect();
        if sizes.iter().filter(|size| **size >= FEWEST).count() < 2 {
            return None;
        }
        let all: f64 = sizes.iter().sum();
        let rest: f64 = table.chunks(classes).zip(&sizes).map(|(own, size)| size / all * bits(own)).sum();
        let many = count as f64 >= 0.3 * self.all;
        Some(Candidate { gain: bits(counts) - rest, info: bits(&sizes), cut: None, many })
    }

    /// The best cut of numbers: one sweep over all cuts, in which ranges come in gradually.
    fn cuts(&self, ends: &[(f64, f64)], whole: bool, items: &[Item], counts: &[f64]) -> Option<Candidate> {
        let all: f64 = counts.iter().sum();
        let classes = self.data.classes;
        let end = |item: &Item| ends[item.0 as usize];
        let mut by_high: Vec<Item> = items.to_vec();
        by_high.sort_unstable_by(|one, other| end(one).1.total_cmp(&end(other).1).then(one.0.cmp(&other.0)));
        let mut by_low: Vec<Item> = items.iter().copied().filter(|item| end(item).0 < end(item).1).collect();
        by_low.sort_unstable_by(|one, other| end(one).0.total_cmp(&end(other).0).then(one.0.cmp(&other.0)));
        let mut cuts: Vec<f64> = by_high.iter().map(|item| end(item).1).collect();
        let before = f64::from(u8::from(whole));
        cuts.extend(by_low.iter().map(|item| end(item).0 - before));
        cuts.sort_unstable_by(f64::total_cmp);
        cuts.dedup();
        // A cut at the highest number cuts nothing.
        cuts.pop();
        let fewest = (0.1 * all / classes as f64).clamp(FEWEST, 25.0);
        // Of each class: what lies left for sure, and slope and start of what is coming in.
        let (mut sure, mut slope, mut start) = (vec![0.0; classes], vec![0.0; classes], vec![0.0; classes]);
        let ramp = |(low, high): (f64, f64), weight: f64| match whole {
            true => (weight / (high - low + 1.0), weight * (1.0 - low) / (high - low + 1.0)),
            false => (weight / (high - low), -weight * low / (high - low)),
        };
        let (mut highs, mut lows) = (by_high.iter().peekable(), by_low.iter().peekable());
        let (mut tries, mut best) = (0usize, None::<(f64, f64, f64)>);
        let mut left = vec![0.0; classes];
        let mut right = vec![0.0; classes];
        for cut in cuts {
            while let Some(item) = lows.next_if(|item| end(item).0 <= cut) {
                let class = self.data.labels[item.0 as usize] as usize;
                let (own_slope, own_start) = ramp(end(item), item.1);
                slope[class] += own_slope;
                start[class] += own_start;
            }
            while let Some(item) = highs.next_if(|item| end(item).1 <= cut) {
                let class = self.data.labels[item.0 as usize] as usize;
                sure[class] += item.1;
                if end(item).0 < end(item).1 {
                    let (own_slope, own_start) = ramp(end(item), item.1);
                    slope[class] -= own_slope;
                    start[class] -= own_start;
                }
            }
            for class in 0..classes {
                left[class] = (sure[class] + slope[class] * cut + start[class]).clamp(0.0, counts[class]);
                right[class] = counts[class] - left[class];
            }
            let (size, other) = (left.iter().sum::<f64>(), right.iter().sum::<f64>());
            if size < fewest || other < fewest {
                continue;
            }
            tries += 1;
            let rest = (size * bits(&left) + other * bits(&right)) / all;
            if best.is_none_or(|(least, ..)| rest < least - 1e-12) {
                best = Some((rest, cut, size));
            }
        }
        let (rest, cut, size) = best?;
        let gain = bits(counts) - rest - (tries as f64).log2() / all;
        Some(Candidate { gain, info: bits(&[size, all - size]), cut: Some(cut), many: false })
    }

    fn part(&self, items: &[Item], feature: usize, cut: Option<f64>) -> Vec<Vec<Item>> {
        match (&self.data.features[feature].values, cut) {
            (Values::Categories { of, count }, _) => {
                let mut parts = vec![Vec::new(); *count];
                items.iter().for_each(|item| parts[of[item.0 as usize] as usize].push(*item));
                parts
            }
            (Values::Ranges { ends, whole }, cut) => {
                let mut parts = vec![Vec::new(), Vec::new()];
                for &(record, weight) in items {
                    let share = cut.map_or(1.0, |cut| share_left(ends[record as usize], cut, *whole));
                    for (part, share) in parts.iter_mut().zip([share, 1.0 - share]) {
                        if weight * share > 1e-6 {
                            part.push((record, weight * share));
                        }
                    }
                }
                parts
            }
        }
    }
}

fn size_and_errors(node: &Node) -> (f64, f64) {
    let all: f64 = node.counts.iter().sum();
    (all, all - node.counts.iter().copied().fold(0.0, f64::max))
}

fn training_errors(node: &Node) -> f64 {
    match &node.split {
        None => size_and_errors(node).1,
        Some(split) => split.children.iter().map(training_errors).sum(),
    }
}

/// Turns subtrees into leaves where that is estimated to err no more; gives back the estimate.
fn prune(node: &mut Node) -> f64 {
    let (all, errors) = size_and_errors(node);
    let as_leaf = errors + further_errors(all, errors);
    let Some(split) = &mut node.split else { return as_leaf };
    let as_tree: f64 = split.children.iter_mut().map(prune).sum();
    if as_leaf <= as_tree + SLACK {
        node.split = None;
        return as_leaf;
    }
    as_tree
}

/// How many more errors to expect beyond those seen: the upper limit at confidence 0.25.
fn further_errors(all: f64, errors: f64) -> f64 {
    if all <= 0.0 {
        0.0
    } else if errors < 1e-6 {
        all * (1.0 - (0.25f64.ln() / all).exp())
    } else if errors < 0.9999 {
        let none = all * (1.0 - (0.25f64.ln() / all).exp());
        none + errors * (further_errors(all, 1.0) - none)
    } else if errors + 0.5 >= all {
        0.67 * (all - errors)
    } else {
        let seen = errors + 0.5;
        let spread = (DEVIATE_SQUARED * (seen * (1.0 - seen / all) + DEVIATE_SQUARED / 4.0)).sqrt();
        all * (seen + DEVIATE_SQUARED / 2.0 + spread) / (all + DEVIATE_SQUARED) - errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(values: Values) -> Feature {
        Feature { name: "x".into(), quasi: true, values }
    }

    fn data(values: Values, labels: Vec<u32>) -> Data {
        Data { features: vec![feature(values)], labels, classes: 2 }
    }

    fn points(values: &[f64]) -> Values {
        Values::Ranges { ends: values.iter().map(|value| (*value, *value)).collect(), whole: true }
    }

    fn all(data: &Data) -> Vec<u32> {
        (0..data.labels.len() as u32).collect()
    }

    #[test]
    fn a_clean_cut_is_found() {
        let data = data(points(&[1.0, 2.0, 3.0, 10.0, 11.0, 12.0]), vec![0, 0, 0, 1, 1, 1]);
        let tree = Tree::learn(&data, &all(&data));
        assert_eq!(tree.leaves(), 2);
        assert!(
            all(&data).into_iter().all(|record| tree.classify(&data, record) == data.labels[record as usize])
        );
    }

    #[test]
    fn noise_is_pruned_away() {
        let data = data(points(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), vec![0, 1, 0, 0, 1, 0, 0, 0]);
        assert_eq!(Tree::learn(&data, &all(&data)).leaves(), 1);
    }

    #[test]
    fn categories_have_a_branch_each() {
        let of = vec![0, 0, 0, 1, 1, 1, 2, 2, 2];
        let data = data(Values::Categories { of, count: 4 }, vec![0, 0, 0, 1, 1, 1, 0, 0, 0]);
        let tree = Tree::learn(&data, &all(&data));
        assert_eq!(tree.leaves(), 4);
        assert_eq!(tree.classify(&data, 4), 1);
    }

    #[test]
    fn ranges_go_to_both_sides_in_proportion() {
        assert_eq!(share_left((1.0, 4.0), 2.0, true), 0.5);
        assert_eq!(share_left((1.0, 4.0), 2.5, false), 0.5);
        assert_eq!(share_left((1.0, 4.0), 4.0, true), 1.0);
        assert_eq!(share_left((5.0, 5.0), 4.0, true), 0.0);
        let ends = vec![(1.0, 3.0), (1.0, 3.0), (2.0, 9.0), (7.0, 9.0), (7.0, 9.0), (7.0, 9.0)];
        let data = data(Values::Ranges { ends, whole: true }, vec![0, 0, 0, 1, 1, 1]);
        let tree = Tree::learn(&data, &all(&data));
        assert_eq!((tree.classify(&data, 0), tree.classify(&data, 5)), (0, 1));
    }

    #[test]
    fn estimated_errors_are_upper_limits() {
        // Of n records without an error, the limit p has (1 − p)^n = 0.25.
        let limit = further_errors(10.0, 0.0) / 10.0;
        assert!(((1.0 - limit).powi(10) - 0.25).abs() < 1e-12);
        assert!(further_errors(100.0, 10.0) > 0.0 && further_errors(100.0, 10.0) < 10.0);
    }
}
