//! Limits: how much a class may lose at most, for the problem that asks for the most privacy within them.

use super::{Extent, Kernel};
use crate::data::Code;

/// What no class of a release may exceed.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The penalty of a class, weighted: the policy's share times the sum of the weights.
    loss: Option<f64>,
    spans: Vec<Span>,
}

/// How wide a number's range may be, in its own units.
#[derive(Clone, Debug)]
struct Span {
    attribute: usize,
    most: f64,
    values: Vec<f64>,
}

/// Room for rounding.
const SLACK: f64 = 1e-12;

impl Limits {
    /// Limits the weighted penalty of a class.
    pub fn limit_loss(&mut self, most: f64) {
        self.loss = Some(self.loss.map_or(most, |own| own.min(most)));
    }

    /// Limits the width of a number's range, in its own units. `values` are those of the attribute, ascending.
    pub fn limit_span(&mut self, attribute: usize, most: f64, values: &[f64]) {
        self.spans.push(Span { attribute, most, values: values.to_vec() });
    }

    /// The limit on the weighted penalty of a class, if there is one.
    pub fn loss(&self) -> Option<f64> {
        self.loss
    }

    /// The same limits, and a limit on the weighted penalty of a class as well.
    pub fn with_loss(&self, most: f64) -> Self {
        let mut limits = self.clone();
        limits.limit_loss(most);
        limits
    }

    /// A limit on the weighted penalty of a class alone.
    pub fn of_loss(most: f64) -> Self {
        Limits { loss: Some(most), spans: Vec::new() }
    }

    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.loss.is_none() && self.spans.is_empty()
    }

    /// Whether a box may be published.
    pub fn allow<C: Code>(&self, kernel: &Kernel, extent: &Extent<C>) -> bool {
        self.loss_within(kernel, extent).is_some()
    }

    /// The penalty of a box, if it may be published.
    pub fn loss_within<C: Code>(&self, kernel: &Kernel, extent: &Extent<C>) -> Option<f64> {
        let narrow = |span: &Span| {
            span.allows(extent.low(span.attribute).index(), extent.high(span.attribute).index())
        };
        if !self.spans.iter().all(narrow) {
            return None;
        }
        let loss = kernel.ncp(extent);
        self.loss.is_none_or(|most| loss <= most * (1.0 + SLACK) + SLACK).then_some(loss)
    }
}

impl Span {
    fn allows(&self, low: usize, high: usize) -> bool {
        // Missing comes after the last number; with numbers it makes a range of anything.
        low == high
            || self
                .values
                .get(high)
                .is_some_and(|value| value - self.values[low] <= self.most * (1.0 + SLACK))
    }
}
