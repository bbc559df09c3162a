//! Naive Bayes: attributes are taken to be independent given the class.
//!
//! Categories are counted, with one added to each (Laplace). Numbers follow a normal distribution per class, estimated
//! from the middles of ranges.

use super::features::{Data, Values};

/// The classifier.
#[derive(Clone, Debug)]
pub struct Bayes {
    /// Log of the share of each class.
    prior: Vec<f64>,
    features: Vec<Likelihood>,
}

#[derive(Clone, Debug)]
enum Likelihood {
    /// Log of the share of each category, class by class.
    Categories { logs: Vec<f64>, count: usize },
    /// Mean and standard deviation of each class.
    Normal(Vec<(f64, f64)>),
}

pub(super) fn middle((low, high): (f64, f64)) -> f64 {
    low / 2.0 + high / 2.0
}

impl Bayes {
    /// Learns from some records.
    pub fn learn(data: &Data, records: &[u32]) -> Self {
        let mut sizes = vec![0.0; data.classes];
        records.iter().for_each(|record| sizes[data.labels[*record as usize] as usize] += 1.0);
        let all = records.len() as f64 + data.classes as f64;
        let features = data
            .features
            .iter()
            .map(|feature| match &feature.values {
                Values::Categories { of, count } => categories(data, records, of, *count, &sizes),
                Values::Ranges { ends, .. } => normal(data, records, ends, &sizes),
            })
            .collect();
        Bayes { prior: sizes.iter().map(|size| ((size + 1.0) / all).ln()).collect(), features }
    }

    /// How likely a record is of each class.
    pub fn scores(&self, data: &Data, record: u32) -> Vec<f64> {
        super::boosted::softmax(&self.logs(data, record))
    }

    /// The most likely class of a record.
    pub fn classify(&self, data: &Data, record: u32) -> u32 {
        let logs = self.logs(data, record);
        let best =
            logs.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1).then(other.0.cmp(&one.0)));
        best.map_or(0, |(class, _)| class as u32)
    }

    fn logs(&self, data: &Data, record: u32) -> Vec<f64> {
        let mut logs = self.prior.clone();
        for (feature, likelihood) in data.features.iter().zip(&self.features) {
            match (&feature.values, likelihood) {
                (Values::Categories { of, .. }, Likelihood::Categories { logs: own, count }) => {
                    let category = of[record as usize] as usize;
                    for (class, log) in logs.iter_mut().enumerate().filter(|_| category < *count) {
                        *log += own[class * count + category];
                    }
                }
                (Values::Ranges { ends, .. }, Likelihood::Normal(own)) => {
                    let value = middle(ends[record as usize]);
                    for (log, (mean, deviation)) in logs.iter_mut().zip(own) {
                        let off = (value - mean) / deviation;
                        *log -= off * off / 2.0 + deviation.ln();
                    }
                }
                // Described in another way than what was learned from: tells nothing.
                _ => {}
            }
        }
        logs
    }
}

fn categories(data: &Data, records: &[u32], of: &[u32], count: usize, sizes: &[f64]) -> Likelihood {
    let mut table = vec![1.0; count * data.classes];
    for record in records {
        let class = data.labels[*record as usize] as usize;
        table[class * count + of[*record as usize] as usize] += 1.0;
    }
    let logs =
        table.iter().enumerate().map(|(at, own)| (own / (sizes[at / count.max(1)] + count as f64)).ln());
    Likelihood::Categories { logs: logs.collect(), count }
}

fn normal(data: &Data, records: &[u32], ends: &[(f64, f64)], sizes: &[f64]) -> Likelihood {
    let mut sums = vec![(0.0, 0.0); data.classes];
    let each = || {
        records.iter().map(|record| (data.labels[*record as usize] as usize, middle(ends[*record as usize])))
    };
    each().for_each(|(class, value)| sums[class].0 += value);
    for (sum, size) in sums.iter_mut().zip(sizes) {
        sum.0 /= size.max(1.0);
    }
    each().for_each(|(class, value)| sums[class].1 += (value - sums[class].0).powi(2));
    // A class with one value only must not rule everything else out: a sixth of the mean gap is the least deviation.
    let mut values: Vec<f64> = each().map(|(_, value)| value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let gap = match values[..] {
        [first, .., last] => (last - first) / (values.len() - 1) as f64,
        _ => 1.0,
    };
    let least = (gap / 6.0).max(1e-9);
    let own = sums
        .iter()
        .zip(sizes)
        .map(|((mean, squares), size)| (*mean, (squares / (size - 1.0).max(1.0)).sqrt().max(least)));
    Likelihood::Normal(own.collect())
}
