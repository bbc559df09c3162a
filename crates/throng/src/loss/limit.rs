//! Limits: how much a class may lose at most, for the problem that asks for the most privacy within them.

use super::{Extent, Kernel};
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::problem::{Attribute, Code};
use crate::table::Scale;

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
    /// What a policy asks for.
    pub fn new(policy: &Policy, attributes: &[Attribute]) -> Result<Self> {
        let weight: f64 = attributes.iter().map(|attribute| attribute.weight).sum();
        let mut spans = Vec::new();
        for (name, most, place) in &policy.privacy.max_span {
            let found = attributes.iter().enumerate().find(|(_, attribute)| attribute.name == *name);
            let Some((at, attribute)) = found else { continue };
            let Scale::Numeric { values, .. } = attribute.domain.scale() else {
                let error = Error::input(format!(
                    "max_span limits ranges of numbers, but \"{name}\" holds categories"
                ))
                .for_attribute(name)
                .with_hint("limit its loss with max_loss, or write kind = \"numeric\" in its section");
                return Err(policy.point(error, place, "not a number"));
            };
            spans.push(Span { attribute: at, most: *most, values: values.clone() });
        }
        Ok(Limits { loss: policy.privacy.max_loss.map(|share| share * weight), spans })
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
