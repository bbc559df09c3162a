//! Logistic regression: a weighted sum of the attributes for each class.
//!
//! Categories are columns of their own, numbers (the middles of ranges) are taken from their mean in units of their deviation.
//! Weights are kept small by [`RIDGE`]. Nesterov's method (1983) with the step that the largest curvature allows finds them;
//! nothing is drawn, so the outcome is the same every time.
//!
//! Cost: O(steps × classes × records × features).

use super::features::{Data, Values};

const STEPS: usize = 200;
/// The penalty on squared weights, per record.
const RIDGE: f64 = 1e-3;

/// The classifier.
#[derive(Clone, Debug)]
pub struct Logistic {
    classes: usize,
    /// Where the weights of each feature begin; the last is their number.
    starts: Vec<usize>,
    /// Mean and deviation of numbers.
    scales: Vec<(f64, f64)>,
    /// Class by class: a weight for everything, then those of each feature.
    weights: Vec<f64>,
}

impl Logistic {
    /// Learns from some records.
    pub fn learn(data: &Data, records: &[u32]) -> Self {
        let mut starts = vec![1];
        for own in &data.features {
            let width = match &own.values {
                Values::Categories { count, .. } => *count,
                Values::Ranges { .. } => 1,
            };
            starts.push(starts[starts.len() - 1] + width);
        }
        let scales = data.features.iter().map(|own| scale(&own.values, records)).collect();
        let weights = vec![0.0; data.classes * starts[starts.len() - 1]];
        let mut model = Logistic { classes: data.classes, starts, scales, weights };
        let rows: Vec<Vec<(usize, f64)>> = records.iter().map(|record| model.row(data, *record)).collect();
        let squares: f64 =
            rows.iter().map(|row| row.iter().map(|(_, value)| value * value).sum::<f64>()).sum();
        let step = 1.0 / (0.5 * squares / records.len().max(1) as f64 + RIDGE);
        let labels: Vec<usize> =
            records.iter().map(|record| data.labels[*record as usize] as usize).collect();
        let (mut before, mut momentum) = (model.weights.clone(), 1.0f64);
        for _ in 0..STEPS {
            let slope = model.slope(&rows, &labels);
            let after: Vec<f64> =
                model.weights.iter().zip(&slope).map(|(weight, slope)| weight - step * slope).collect();
            let next = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
            let further = (momentum - 1.0) / next;
            model.weights =
                after.iter().zip(&before).map(|(after, before)| after + further * (after - before)).collect();
            (before, momentum) = (after, next);
        }
        model.weights = before;
        model
    }

    /// How likely a record is of each class.
    pub fn scores(&self, data: &Data, record: u32) -> Vec<f64> {
        self.shares(&self.row(data, record))
    }

    fn width(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    fn shares(&self, row: &[(usize, f64)]) -> Vec<f64> {
        let said = |class: usize| {
            let own = &self.weights[class * self.width()..];
            row.iter().map(|(at, value)| own[*at] * value).sum::<f64>()
        };
        super::boosted::softmax(&(0..self.classes).map(said).collect::<Vec<f64>>())
    }

    /// What of a record is not 0.
    fn row(&self, data: &Data, record: u32) -> Vec<(usize, f64)> {
        let value = |(at, own): (usize, &super::Feature)| match &own.values {
            Values::Categories { of, .. } => (self.starts[at] + of[record as usize] as usize, 1.0),
            Values::Ranges { ends, .. } => {
                let (mean, deviation) = self.scales[at];
                (self.starts[at], (super::bayes::middle(ends[record as usize]) - mean) / deviation)
            }
        };
        std::iter::once((0, 1.0)).chain(data.features.iter().enumerate().map(value)).collect()
    }

    /// The slope of the mean loss.
    fn slope(&self, rows: &[Vec<(usize, f64)>], labels: &[usize]) -> Vec<f64> {
        let (width, all) = (self.width(), rows.len().max(1) as f64);
        let mut slope: Vec<f64> = self.weights.iter().map(|weight| RIDGE * weight).collect();
        for (row, label) in rows.iter().zip(labels) {
            for (class, share) in self.shares(row).into_iter().enumerate() {
                let off = (share - f64::from(u8::from(class == *label))) / all;
                row.iter().for_each(|(at, value)| slope[class * width + at] += off * value);
            }
        }
        slope
    }
}

/// Mean and deviation of a number; a constant one is left as it is.
fn scale(values: &Values, records: &[u32]) -> (f64, f64) {
    let Values::Ranges { ends, .. } = values else { return (0.0, 1.0) };
    let own = || records.iter().map(|record| super::bayes::middle(ends[*record as usize]));
    let all = records.len().max(1) as f64;
    let mean = own().map(|value| value / all).sum::<f64>();
    let deviation = own().map(|value| (value - mean).powi(2) / all).sum::<f64>().sqrt();
    (mean, if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::classify::Feature;

    fn learned(features: Vec<Values>, labels: Vec<u32>, classes: usize) -> (Data, Logistic, Vec<u32>) {
        let named = |(at, values): (usize, Values)| Feature { name: format!("f{at}"), quasi: true, values };
        let features = features.into_iter().enumerate().map(named).collect();
        let data = Data { features, labels, classes };
        let records: Vec<u32> = (0..data.labels.len() as u32).collect();
        let model = Logistic::learn(&data, &records);
        (data, model, records)
    }

    #[test]
    fn nothing_is_left_to_gain() {
        let ends = (0..120).map(|at| (f64::from(at), f64::from(at + at % 5))).collect();
        let of = (0..120).map(|at| at * 5 % 4).collect();
        let labels =
            (0..120u32).map(|at| u32::from(at + at * 13 % 40 > 70) + u32::from(at * 5 % 4 == 1)).collect();
        let all = vec![Values::Ranges { ends, whole: true }, Values::Categories { of, count: 4 }];
        let (data, model, records) = learned(all, labels, 3);
        let rows: Vec<Vec<(usize, f64)>> = records.iter().map(|record| model.row(&data, *record)).collect();
        let labels: Vec<usize> = data.labels.iter().map(|label| *label as usize).collect();
        let steepest =
            model.slope(&rows, &labels).into_iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
        assert!(steepest < 2e-3, "{steepest}");
        for record in records {
            assert!((model.scores(&data, record).iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_threshold_is_found() {
        let ends = (0..100).map(|at| (f64::from(at), f64::from(at))).collect();
        let labels = (0..100).map(|at| u32::from(at >= 40)).collect();
        let (data, model, records) = learned(vec![Values::Ranges { ends, whole: true }], labels, 2);
        let wrong = records.iter().filter(|at| (model.scores(&data, **at)[1] > 0.5) != (**at >= 40)).count();
        assert!(wrong <= 4, "{wrong}");
    }
}
