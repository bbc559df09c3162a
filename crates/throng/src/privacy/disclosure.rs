//! δ-disclosure privacy: every sensitive value is about as frequent in every class as in the table.
//!
//! Brickell and Shmatikov, "The Cost of Privacy", KDD 2008. With p the share of a value in the table and q its share in a
//! class, |ln(q / p)| < δ for every value and class. Logarithms are natural. As in the paper that includes values which a
//! class does not have: ln 0 is infinite, so every class must hold every value of the table. (Some programs leave
//! absent values out; then two classes that hold need not hold together, and a class without a value tells that nobody
//! in it has it.)
//!
//! Monotone: q must lie between p·e⁻ᵟ and p·eᵟ, and the share in a union of classes lies between their shares. The
//! table itself has distance 0, so the requirement can always be met. e to a decimal number is irrational, so no class
//! lies exactly on the border, and < and ≤ are the same.
//!
//! Cost: the values that occur in a class.

use std::sync::Arc;

use super::{About, Achieved, Histogram, Kind, Model, Part, Spec, Tally, spec};
use crate::data::{Data, Protected};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::published::Published;

/// The key `delta`.
pub const KIND: Kind = Kind { key: "delta", keys: &["delta"], read, unasked: spec::nothing };

/// δ-disclosure privacy as a policy asks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisclosureSpec {
    /// How far the logarithm of a value's share may be from that in the table, above 0.
    pub delta: f64,
}

/// Every class shows every value of one sensitive attribute about as often as the table does.
#[derive(Clone, Debug)]
pub struct Disclosure {
    delta: f64,
    attribute: usize,
    /// Share of each value in the table.
    table: Vec<f64>,
    /// Number of values that the table has.
    values: usize,
}

/// Room for rounding: the table itself has distance 0.
const SLACK: f64 = 1e-12;

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let delta = keys.above_zero("delta")?;
    keys.require_sensitive("delta")?;
    Ok(delta.map(|delta| Arc::new(DisclosureSpec { delta }) as Arc<dyn Spec>))
}

impl Disclosure {
    /// The model for a sensitive attribute.
    pub fn new(spec: DisclosureSpec, attribute: usize, counted: &Protected) -> Self {
        let table = counted.shares();
        let values = table.iter().filter(|share| **share > 0.0).count();
        Disclosure { delta: spec.delta, attribute, table, values }
    }

    /// The greatest |ln(q / p)| of a value; infinite if one is absent.
    pub fn distance(&self, counts: &Histogram) -> f64 {
        if counts.present().len() < self.values {
            return f64::INFINITY;
        }
        let total = counts.total() as f64;
        let distance =
            |(value, count): (u32, u32)| (f64::from(count) / total / self.table[value as usize]).ln().abs();
        counts.present().map(distance).fold(0.0, f64::max)
    }
}

impl Model for Disclosure {
    fn describe(&self) -> String {
        format!("{}-disclosure privacy", self.delta)
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn monotone(&self) -> bool {
        true
    }

    /// Every value must be there, and one record of the rarest is a share of 1/n.
    fn smallest_class(&self) -> usize {
        let rarest = self.table.iter().copied().filter(|share| *share > 0.0).fold(1.0, f64::min);
        let least = (-self.delta).exp() / rarest;
        self.values.max((least * (1.0 - SLACK) - SLACK).ceil() as usize).max(1)
    }

    fn holds(&self, tally: &Tally) -> bool {
        self.distance(tally.histogram(self.attribute)) <= self.delta + SLACK
    }

    fn explain(&self, whole: &Tally, data: &Data) -> Error {
        // The whole table has the shares of the table, so this cannot happen; say so rather than panic.
        let distance = self.distance(whole.histogram(self.attribute));
        Error::bug(format!("the table has distance {distance} to itself"))
            .for_attribute(&data.sensitive[self.attribute].name)
    }
}

impl Spec for DisclosureSpec {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn keys(&self) -> toml::Table {
        toml::Table::from_iter([("delta".to_owned(), toml::Value::Float(self.delta))])
    }

    fn protects_sensitive(&self) -> bool {
        true
    }

    fn models(&self, sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
        let model = |(at, counted)| Arc::new(Disclosure::new(*self, at, counted)) as Arc<dyn Model>;
        sensitive.iter().enumerate().map(model).collect()
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let sensitive = published.data.sensitive.iter();
        let models: Vec<Disclosure> = sensitive.map(|counted| Disclosure::new(*self, 0, counted)).collect();
        let farthest = published.farthest(|at, counts| models[at].distance(counts));
        let meaning =
            "how far the share of a sensitive value in a class is from that in the table, as a logarithm";
        let achieved = Achieved::at_most(KIND.key, "δ-disclosure privacy", meaning).about(About::Shares);
        Ok(achieved.farthest(&farthest, Some(self.delta)).into_iter().collect())
    }
}
