//! What a refinement gains: information about the class, or less loss where there is no class.
//!
//! Both depend on the records of the refined value alone, not on how other attributes are masked. So the counts of
//! classes per value, taken once, answer every question about gains, and records are never looked at again for them.

use crate::loss::Kernel;
use crate::parallel;
use crate::problem::{Code, Problem, Protected};
use crate::with_matrix;

/// Gains below this are rounding.
const NOTHING: f64 = 1e-12;

/// What decides which refinement comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// Information gain per anonymity lost.
    Score,
    /// Information gain alone.
    Gain,
    /// Loss avoided per anonymity lost; needs no class.
    Loss,
}

/// Entropy of class counts in bits.
pub fn entropy(counts: &[u64]) -> f64 {
    let total: u64 = counts.iter().sum();
    let total = total as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = *count as f64 / total;
            -share * share.log2()
        })
        .sum()
}

/// How much splitting a set of records by class counts lowers its entropy.
pub fn information_gain<'a>(whole: &[u64], parts: impl Iterator<Item = &'a [u64]>) -> f64 {
    let total: u64 = whole.iter().sum();
    let rest: f64 =
        parts.map(|part| part.iter().sum::<u64>() as f64 / total.max(1) as f64 * entropy(part)).sum();
    let gain = entropy(whole) - rest;
    if gain < NOTHING { 0.0 } else { gain }
}

/// Class counts of all codes below each code of an attribute.
struct Prefix {
    below: Vec<u64>,
}

/// Measures gains.
pub(super) struct Benefit {
    pub goal: Goal,
    /// Number of classes; 1 without a class.
    classes: usize,
    kernel: Kernel,
    attributes: Vec<Prefix>,
}

impl Benefit {
    pub fn new(problem: &Problem, goal: Goal) -> Self {
        let class = problem.labels.first().filter(|_| goal != Goal::Loss);
        let classes = class.map_or(1, |class| class.domain.len());
        let attributes = class_counts(problem, class, classes);
        Benefit { goal, classes, kernel: Kernel::new(&problem.attributes), attributes }
    }

    /// Class counts of the records with codes `low ..= high`.
    pub fn counts(&self, attribute: usize, low: u32, high: u32) -> Vec<u64> {
        let below = &self.attributes[attribute].below;
        let at = |code: u32| &below[code as usize * self.classes..][..self.classes];
        at(high + 1).iter().zip(at(low)).map(|(end, start)| end - start).collect()
    }

    /// Number of records with codes `low ..= high`.
    pub fn records(&self, attribute: usize, low: u32, high: u32) -> u64 {
        self.counts(attribute, low, high).iter().sum()
    }

    /// Whether refining records with these class counts can help: they are of more than one class, or there is none.
    pub fn beneficial(&self, counts: &[u64]) -> bool {
        self.goal == Goal::Loss || counts.iter().filter(|count| **count > 0).count() > 1
    }

    /// The gain of splitting the codes `low ..= high` into ranges.
    pub fn of_split(&self, attribute: usize, (low, high): (u32, u32), parts: &[(u32, u32)]) -> f64 {
        if self.goal == Goal::Loss {
            let loss = |(low, high): (u32, u32)| {
                let penalty = self.kernel.penalty(attribute, low as usize, high as usize);
                self.records(attribute, low, high) as f64 * penalty
            };
            return loss((low, high)) - parts.iter().map(|part| loss(*part)).sum::<f64>();
        }
        let parts: Vec<Vec<u64>> =
            parts.iter().map(|(low, high)| self.counts(attribute, *low, *high)).collect();
        information_gain(&self.counts(attribute, low, high), parts.iter().map(Vec::as_slice))
    }

    /// The gain of disclosing a value of an attribute, given the class counts of all that are hidden.
    pub fn of_disclosure(&self, attribute: usize, code: u32, hidden: &[u64]) -> f64 {
        let own = self.counts(attribute, code, code);
        if self.goal == Goal::Loss {
            let values = self.attributes[attribute].below.len() / self.classes - 1;
            return own.iter().sum::<u64>() as f64 * self.kernel.penalty(attribute, 0, values - 1);
        }
        let rest: Vec<u64> = hidden.iter().zip(&own).map(|(all, own)| all - own).collect();
        information_gain(hidden, [own.as_slice(), rest.as_slice()].into_iter())
    }

    /// The gain of telling a child of a value by itself, given the class counts of all that the value stands for. The rest
    /// is told as the value, as before.
    pub fn of_release(&self, attribute: usize, value: (u32, u32), child: (u32, u32), rest: &[u64]) -> f64 {
        let own = self.counts(attribute, child.0, child.1);
        if self.goal == Goal::Loss {
            let penalty =
                |(low, high): (u32, u32)| self.kernel.penalty(attribute, low as usize, high as usize);
            return own.iter().sum::<u64>() as f64 * (penalty(value) - penalty(child));
        }
        let others: Vec<u64> = rest.iter().zip(&own).map(|(all, own)| all - own).collect();
        information_gain(rest, [own.as_slice(), others.as_slice()].into_iter())
    }

    /// Where to split a range of codes in two: the first code of the right part with the highest gain, and of several
    /// the lowest. `None` if all records have one code.
    pub fn best_split(&self, attribute: usize, (low, high): (u32, u32)) -> Option<u32> {
        // A split before a code without records is the same as one before the next that has some.
        let has_records = |code: &u32| self.records(attribute, *code, *code) > 0;
        let splits: Vec<(u32, f64)> = (low..=high)
            .filter(has_records)
            .skip(1)
            .map(|code| (code, self.of_cut(attribute, (low, high), code)))
            .collect();
        let most = splits.iter().map(|(_, gain)| *gain).reduce(f64::max)?;
        let enough = most - NOTHING * most.abs().max(1.0);
        splits.into_iter().find(|(_, gain)| *gain >= enough).map(|(code, _)| code)
    }

    /// The gain of splitting a range in two, up to what is the same for all cuts of the range.
    fn of_cut(&self, attribute: usize, (low, high): (u32, u32), code: u32) -> f64 {
        if self.goal == Goal::Loss {
            return self.of_split(attribute, (low, high), &[(low, code - 1), (code, high)]);
        }
        let below = &self.attributes[attribute].below;
        let at = |code: u32| &below[code as usize * self.classes..][..self.classes];
        let (start, middle, end) = (at(low), at(code), at(high + 1));
        // n · entropy is n log n − Σ c log c.
        let weigh = |count: u64| if count == 0 { 0.0 } else { count as f64 * (count as f64).log2() };
        let (mut left, mut right, mut sum) = (0, 0, 0.0);
        for class in 0..self.classes {
            let (own_left, own_right) = (middle[class] - start[class], end[class] - middle[class]);
            left += own_left;
            right += own_right;
            sum += weigh(own_left) + weigh(own_right);
        }
        (sum - weigh(left) - weigh(right)) / (left + right) as f64
    }
}

/// Counts classes per code for all attributes in one pass.
fn class_counts(problem: &Problem, class: Option<&Protected>, classes: usize) -> Vec<Prefix> {
    let mut starts = vec![0];
    for attribute in &problem.attributes {
        starts.push(starts[starts.len() - 1] + (attribute.domain.len() + 1) * classes);
    }
    let (width, all) = (problem.attributes.len(), starts[problem.attributes.len()]);
    let records = problem.len();
    let batch = (records / 64).max(1 << 14);
    let parts = with_matrix!(&problem.records, matrix => {
        let count = |counts: &mut Vec<u32>, nth: usize| {
            for record in nth * batch..((nth + 1) * batch).min(records) {
                let class = class.map_or(0, |class| class.codes[record] as usize);
                let (row, starts) = (&matrix.row(record).as_flattened()[..width], &starts[..width]);
                for at in 0..width {
                    counts[starts[at] + (row[at].index() + 1) * classes + class] += 1;
                }
            }
        };
        parallel::parts(records.div_ceil(batch), || vec![0u32; all], count)
    });
    let mut counts = vec![0u32; all];
    for part in parts {
        for at in 0..all {
            counts[at] += part[at];
        }
    }
    let prefix = |own: &[u32]| {
        let mut below: Vec<u64> = own.iter().map(|count| u64::from(*count)).collect();
        for at in classes..below.len() {
            below[at] += below[at - classes];
        }
        Prefix { below }
    };
    starts.windows(2).map(|ends| prefix(&counts[ends[0]..ends[1]])).collect()
}
