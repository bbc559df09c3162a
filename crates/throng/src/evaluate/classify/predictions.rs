//! What a classifier said of records, and how good that is.

use std::collections::BTreeMap;

use super::Confusion;

/// What was said of records whose class is known.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// How often records of each class were put into each class.
    pub confusion: Confusion,
    /// The class of each record, and how likely it was said to be of each class.
    pub scored: Vec<(u32, Vec<f64>)>,
}

impl Predictions {
    /// Of no record yet.
    pub fn new(classes: usize) -> Self {
        Predictions { confusion: Confusion::new(classes), scored: Vec::new() }
    }

    /// With those of other records.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.confusion = self.confusion.add(&other.confusion);
        self.scored.extend(other.scored);
        self
    }

    /// Share of records put into the wrong class.
    pub fn error(&self) -> f64 {
        self.confusion.error()
    }

    /// The area under the ROC curve: how likely a record of a class is ranked before one of another, ties counting half; the mean
    /// over classes that some but not all records have. `None` without such a class.
    pub fn auc(&self) -> Option<f64> {
        let classes = self.confusion.counts.len();
        // With two classes the second mirrors the first.
        let asked = if classes == 2 { 1..2 } else { 0..classes };
        mean(asked.filter_map(|class| self.auc_of(class)))
    }

    fn auc_of(&self, class: usize) -> Option<f64> {
        // Records with the same score share a rank: how many of the class have it, and how many others.
        let mut ranks: BTreeMap<Score, (f64, f64)> = BTreeMap::new();
        for (own, scores) in &self.scored {
            let (inside, outside) = ranks.entry(Score(scores[class])).or_default();
            *if *own as usize == class { inside } else { outside } += 1.0;
        }
        let (mut below, mut won, mut inside) = (0.0, 0.0, 0.0);
        for (own, others) in ranks.values() {
            won += own * (below + others / 2.0);
            below += others;
            inside += own;
        }
        (inside > 0.0 && below > 0.0).then(|| won / (inside * below))
    }

    /// Of each class the harmonic mean of precision and recall; `None` if no record has it or is put into it.
    pub fn f1(&self) -> Vec<Option<f64>> {
        let counts = &self.confusion.counts;
        let of = |class: usize| {
            let right = counts[class][class] as f64;
            let own: u64 = counts[class].iter().sum();
            let told: u64 = counts.iter().map(|told| told[class]).sum();
            (own + told > 0).then(|| 2.0 * right / (own + told) as f64)
        };
        (0..counts.len()).map(of).collect()
    }

    /// The mean of these.
    pub fn macro_f1(&self) -> Option<f64> {
        mean(self.f1().into_iter().flatten())
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// A score in an order of its own.
#[derive(Clone, Copy, PartialEq)]
struct Score(f64);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_area_is_what_comparing_all_pairs_gives(
            scored in prop::collection::vec((0u32..3, prop::collection::vec(0u8..5, 3)), 1..40),
        ) {
            let mut own = Predictions::new(3);
            own.scored = scored
                .iter()
                .map(|(class, scores)| (*class, scores.iter().map(|score| f64::from(*score)).collect()))
                .collect();
            let pairs = |class: usize| {
                let inside: Vec<u8> = scored.iter().filter(|one| one.0 as usize == class).map(|one| one.1[class]).collect();
                let others: Vec<u8> = scored.iter().filter(|one| one.0 as usize != class).map(|one| one.1[class]).collect();
                let won: f64 = inside.iter().flat_map(|one| others.iter().map(move |other| match one.cmp(other) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                })).sum();
                (!inside.is_empty() && !others.is_empty()).then(|| won / (inside.len() * others.len()) as f64)
            };
            let plain: Vec<f64> = (0..3).filter_map(pairs).collect();
            let plain = (!plain.is_empty()).then(|| plain.iter().sum::<f64>() / plain.len() as f64);
            prop_assert_eq!(own.auc().is_some(), plain.is_some());
            prop_assert!((own.auc().unwrap_or(0.0) - plain.unwrap_or(0.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn f1_weighs_what_was_found_against_what_was_told() {
        let mut own = Predictions::new(2);
        own.confusion.counts = vec![vec![8, 2], vec![4, 6]];
        assert_eq!(own.f1(), [Some(16.0 / 22.0), Some(12.0 / 18.0)]);
        assert_eq!(Predictions::new(2).macro_f1(), None);
    }
}
