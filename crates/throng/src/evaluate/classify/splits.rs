//! Which records are learned from and which are classified.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// How records are split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plan {
    /// Every record is classified once, by what was learned from the other parts.
    Folds(usize),
    /// A random share is classified.
    Share(f64),
    /// The records after the first so many are classified.
    First(usize),
}

/// Records to learn from and records to classify.
pub struct Split {
    /// To learn from.
    pub train: Vec<u32>,
    /// To classify.
    pub test: Vec<u32>,
}

impl Plan {
    /// Splits `count` records.
    pub fn splits(self, count: usize, seed: u64) -> Vec<Split> {
        let mut order: Vec<u32> = (0..count as u32).collect();
        if !matches!(self, Plan::First(_)) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(30);
            order.shuffle(&mut random);
        }
        match self {
            Plan::Folds(folds) => {
                let folds = folds.min(count).max(2);
                let in_fold = |fold: usize, same: bool| {
                    let mut records: Vec<u32> =
                        (0..count).filter(|at| (at % folds == fold) == same).map(|at| order[at]).collect();
                    records.sort_unstable();
                    records
                };
                (0..folds)
                    .map(|fold| Split { train: in_fold(fold, false), test: in_fold(fold, true) })
                    .collect()
            }
            Plan::Share(share) => {
                let tested =
                    ((count as f64 * share).round() as usize).clamp(1, count.saturating_sub(1).max(1));
                let train = order.split_off(tested.min(order.len()));
                vec![Split { train, test: order }]
            }
            Plan::First(first) => {
                let test = order.split_off(first.min(order.len()));
                vec![Split { train: order, test }]
            }
        }
    }

    /// In words.
    pub fn describe(self) -> String {
        match self {
            Plan::Folds(folds) => format!("{folds}-fold cross-validation"),
            Plan::Share(share) => format!("a random {:.1} % of the records is classified", share * 100.0),
            Plan::First(first) => {
                format!("learned from the first {first} records, the others are classified")
            }
        }
    }
}
