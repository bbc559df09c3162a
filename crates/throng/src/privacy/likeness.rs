//! β-likeness: no class may raise the odds of a sensitive value by much, measured against how rare the value is.
//!
//! Cao and Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012. With p the share of a value in
//! the table and q its share in a class, the *basic* form asks (q − p) / p ≤ β for every value that became more frequent;
//! the *enhanced* form, which is the default, asks (q − p) / p ≤ min(β, −ln p), so that frequent values are limited too
//! where β alone would let them fill a class. Values that became less frequent do not matter.
//!
//! Monotone: every value has an upper limit on its share that depends on the table alone, and the share in a union of
//! classes lies between their shares. The table itself has no gain, so the requirement can always be met.
//!
//! Cost: the values that occur in a class.

use std::sync::Arc;

use toml::{Table, Value};

use super::{About, Achieved, Histogram, Kind, Model, Part, Spec, Tally, spec};
use crate::data::{Data, Protected};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::published::Published;

/// The keys `beta` and `likeness`.
pub const KIND: Kind = Kind { key: "beta", keys: &["beta", "likeness"], read, unasked: spec::nothing };

const FORMS: &[(&str, Form)] = &[("enhanced", Form::Enhanced), ("basic", Form::Basic)];

/// The forms of β-likeness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The gain is limited by β and by −ln p.
    #[default]
    Enhanced,
    /// The gain is limited by β alone.
    Basic,
}

/// β-likeness as a policy asks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikenessSpec {
    /// How much more frequent a value may be in a class than in the table, above 0.
    pub beta: f64,
    /// In which form.
    pub form: Form,
}

/// Every class is like the table in one sensitive attribute.
#[derive(Clone, Debug)]
pub struct Likeness {
    beta: f64,
    form: Form,
    attribute: usize,
    /// Share of each value in the table.
    table: Vec<f64>,
}

/// Room for rounding: the table itself gains nothing.
const SLACK: f64 = 1e-12;

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let beta = keys.above_zero("beta")?;
    keys.require_sensitive("beta")?;
    keys.require_beside("likeness", "beta", "beta = 2")?;
    let form = keys.choose("likeness", FORMS)?.unwrap_or_default();
    Ok(beta.map(|beta| Arc::new(LikenessSpec { beta, form }) as Arc<dyn Spec>))
}

impl Form {
    /// Its name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Form::Enhanced => "enhanced",
            Form::Basic => "basic",
        }
    }

    /// What a value of this share in the table may gain, whatever β.
    fn most(self, share: f64) -> f64 {
        match self {
            Form::Enhanced => -share.ln(),
            Form::Basic => f64::INFINITY,
        }
    }
}

impl Likeness {
    /// The model for a sensitive attribute.
    pub fn new(spec: LikenessSpec, attribute: usize, counted: &Protected) -> Self {
        Likeness { beta: spec.beta, form: spec.form, attribute, table: counted.shares() }
    }

    /// The smallest β that a class keeps: the greatest gain of a value; infinite if no β allows it in this form.
    pub fn gain(&self, counts: &Histogram) -> f64 {
        let total = counts.total() as f64;
        let gain = |(value, count): (u32, u32)| {
            let share = self.table[value as usize];
            let gain = (f64::from(count) / total - share) / share;
            if gain <= self.form.most(share) + SLACK { gain } else { f64::INFINITY }
        };
        counts.present().map(gain).fold(0.0, f64::max)
    }
}

impl Model for Likeness {
    fn describe(&self) -> String {
        format!("{}-likeness ({})", self.beta, self.form.name())
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn monotone(&self) -> bool {
        true
    }

    /// One record is a share of 1/n, which no value may exceed.
    fn smallest_class(&self) -> usize {
        let limit = |share: f64| share * (1.0 + self.beta.min(self.form.most(share)));
        let most =
            self.table.iter().filter(|share| **share > 0.0).map(|share| limit(*share)).fold(0.0, f64::max);
        if most > 0.0 { ((1.0 - SLACK) / most - SLACK).ceil().max(1.0) as usize } else { 1 }
    }

    fn holds(&self, tally: &Tally) -> bool {
        self.gain(tally.histogram(self.attribute)) <= self.beta + SLACK
    }

    fn explain(&self, whole: &Tally, data: &Data) -> Error {
        // The whole table gains nothing over itself, so this cannot happen; say so rather than panic.
        let gain = self.gain(whole.histogram(self.attribute));
        Error::bug(format!("the table gains {gain} over itself"))
            .for_attribute(&data.sensitive[self.attribute].name)
    }
}

impl Spec for LikenessSpec {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn keys(&self) -> Table {
        let form = Value::String(self.form.name().to_owned());
        Table::from_iter([("beta".to_owned(), Value::Float(self.beta)), ("likeness".to_owned(), form)])
    }

    fn protects_sensitive(&self) -> bool {
        true
    }

    fn models(&self, sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
        let model = |(at, counted)| Arc::new(Likeness::new(*self, at, counted)) as Arc<dyn Model>;
        sensitive.iter().enumerate().map(model).collect()
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let sensitive = published.data.sensitive.iter();
        let models: Vec<Likeness> = sensitive.map(|counted| Likeness::new(*self, 0, counted)).collect();
        let farthest = published.farthest(|at, counts| models[at].gain(counts));
        let name = format!("β-likeness ({})", self.form.name());
        let meaning = "how much more frequent a sensitive value is in a class than in the table, as a share";
        Ok(Achieved::at_most(KIND.key, name, meaning)
            .about(About::Shares)
            .farthest(&farthest, Some(self.beta))
            .into_iter()
            .collect())
    }
}
