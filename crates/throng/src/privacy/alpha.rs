//! (α, k)-anonymity: a sensitive value that would harm is never the value of more than a share α of a class.
//!
//! Wong, Li, Fu and Wang, "(α, k)-Anonymity: An Enhanced k-Anonymity Model for Privacy Preserving Data Publishing", KDD 2006.
//! Their simple form protects named values (`alpha_values`): where "flu" harms nobody and "HIV" does, only the second
//! needs to be hidden among others. Without names every value is protected, their general form; that is l-diversity by
//! frequency with l = 1/α. k is asked for beside it, as always. Where people are counted, a share is one of people.
//!
//! Monotone: the share in a union of classes lies between their shares. Cost: the values that occur in a class.

use std::sync::Arc;

use super::{About, Achieved, Histogram, Keeping, Kind, Model, Part, Place, ROUNDING, Spec, Tally, spec};
use crate::data::{Data, Joined, Protected};
use crate::error::{Error, ErrorCode, Result};
use crate::keys::{Keys, within};
use crate::loss::Limits;
use crate::published::Published;
use crate::words::shorten;

/// The keys `alpha` and `alpha_values`.
pub const KIND: Kind = Kind { key: "alpha", keys: &["alpha", "alpha_values"], read, unasked: spec::nothing };

/// (α, k)-anonymity as a policy asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaSpec {
    /// The greatest share, above 0 and at most 1.
    pub alpha: f64,
    /// The values that are protected, with where they are named; none for all.
    pub values: Vec<(String, Place)>,
}

/// No class has a protected value of one sensitive attribute too often.
#[derive(Clone, Debug)]
pub struct Alpha {
    alpha: f64,
    attribute: usize,
    /// Whether each value is protected.
    protected: Vec<bool>,
}

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    keys.require_beside("alpha_values", KIND.key, "alpha = 0.2")?;
    keys.require_sensitive(KIND.key)?;
    let Some(written) = keys.number(KIND.key)? else { return Ok(None) };
    let expected = "a number above 0 and at most 1";
    let alpha = within(keys.source, KIND.key, &written, expected, |share| share > 0.0 && share <= 1.0)?;
    let named = keys.fields.strings("alpha_values")?.map(toml::Spanned::into_inner).unwrap_or_default();
    let values = named.into_iter().map(|name| (name.get_ref().clone(), Some(name.span()))).collect();
    Ok(Some(Arc::new(AlphaSpec { alpha, values })))
}

impl Alpha {
    /// The model for a sensitive attribute.
    pub fn new(spec: &AlphaSpec, attribute: usize, counted: &Protected) -> Self {
        let mut protected = vec![spec.values.is_empty(); counted.domain.len()];
        for code in spec.values.iter().filter_map(|(name, _)| counted.domain.code(name)) {
            protected[code as usize] = true;
        }
        Alpha { alpha: spec.alpha, attribute, protected }
    }

    /// The most frequent protected value and its share of a class.
    fn most(&self, counts: &Histogram) -> Option<(u32, f64)> {
        let protected = counts.present().filter(|(value, _)| self.protected[*value as usize]);
        let (value, count) = protected.max_by_key(|(_, count)| *count)?;
        Some((value, f64::from(count) / counts.people() as f64))
    }

    /// How many records of each value to leave out, the fewest that leave none too frequent; `None` if more than so many. What
    /// must go makes the rest smaller, so that more may have to go.
    fn fewest(&self, counts: &Histogram, allowance: usize) -> Option<Vec<usize>> {
        let all = counts.total() as usize;
        let mut lost = 0;
        loop {
            let most = ((all - lost) as f64 * self.alpha * (1.0 + ROUNDING)) as usize;
            let mut to_lose = vec![0; self.protected.len()];
            for (value, count) in counts.present().filter(|(value, _)| self.protected[*value as usize]) {
                to_lose[value as usize] = (count as usize).saturating_sub(most);
            }
            let more = to_lose.iter().sum();
            if more > allowance || more == all {
                return None;
            }
            if more == lost {
                return Some(to_lose);
            }
            lost = more;
        }
    }

    /// The share of the most frequent protected value in a class.
    pub fn share(&self, counts: &Histogram) -> f64 {
        self.most(counts).map_or(0.0, |(_, share)| share)
    }
}

impl Model for Alpha {
    fn describe(&self) -> String {
        format!("no protected value in more than {} of a class", self.alpha)
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn monotone(&self) -> bool {
        true
    }

    /// A class without protected values may be as small as it likes, unless all values are protected.
    fn smallest_class(&self) -> usize {
        match self.protected.iter().all(|one| *one) {
            true => (1.0 / self.alpha * (1.0 - ROUNDING)).ceil().max(1.0) as usize,
            false => 1,
        }
    }

    fn holds(&self, tally: &Tally) -> bool {
        self.share(tally.histogram(self.attribute)) <= self.alpha * (1.0 + ROUNDING)
    }

    /// Those of protected values that are too frequent, in the order in which records are best left out.
    fn fewest_to_lose(&self, keeping: &Keeping<'_>) -> Option<Vec<u32>> {
        let tally = keeping.tally();
        let mut to_lose = self.fewest(tally.histogram(self.attribute), keeping.allowance)?;
        let codes = &keeping.data.sensitive[self.attribute].codes;
        let goes = |record: &u32| {
            let left = &mut to_lose[codes[*record as usize] as usize];
            let goes = *left > 0;
            *left -= usize::from(goes);
            goes
        };
        Some(keeping.records.iter().copied().filter(goes).collect())
    }

    fn explain_within(&self, whole: &Tally, data: &Data, allowance: usize) -> Error {
        let within = format!(", and leaving out {allowance} records does not help");
        let hint = "raise `suppress` under [privacy], or ask for a greater alpha";
        self.explain(whole, data).followed_by(within).with_hint(hint)
    }

    fn explain(&self, whole: &Tally, data: &Data) -> Error {
        let (counted, counts) = (&data.sensitive[self.attribute], whole.histogram(self.attribute));
        let (value, share) = self.most(counts).unwrap_or((0, 0.0));
        let message = format!(
            "alpha = {} cannot be met by any release of this table: the value \"{}\" makes up {:.1} % of it",
            self.alpha,
            shorten(counted.domain.label(value)),
            100.0 * share
        );
        Error::new(ErrorCode::DiversityUnreachable, message)
            .for_attribute(&counted.name)
            .with_hint(format!("the smallest possible alpha is {:.3}", (share * 1000.0).ceil() / 1000.0))
    }
}

impl Spec for AlphaSpec {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn keys(&self) -> toml::Table {
        let mut keys = toml::Table::from_iter([("alpha".to_owned(), toml::Value::Float(self.alpha))]);
        if !self.values.is_empty() {
            let names = self.values.iter().map(|(name, _)| toml::Value::String(name.clone()));
            keys.insert("alpha_values".to_owned(), toml::Value::Array(names.collect()));
        }
        keys
    }

    fn protects_sensitive(&self) -> bool {
        true
    }

    fn models(&self, sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
        let model = |(at, counted)| Arc::new(Alpha::new(self, at, counted)) as Arc<dyn Model>;
        sensitive.iter().enumerate().map(model).collect()
    }

    /// A value with a slip of the pen would protect nobody, so every one must be found somewhere.
    fn limit(&self, _limits: &mut Limits, joined: &Joined<'_>) -> Result<()> {
        let known = |name: &str| joined.protected.iter().any(|own| own.domain.code(name).is_some());
        match self.values.iter().find(|(name, _)| !known(name)) {
            None => Ok(()),
            Some((name, place)) => {
                let message = format!("no sensitive attribute has the value \"{}\"", shorten(name));
                let error = Error::new(ErrorCode::UnknownValue, message)
                    .with_hint("alpha_values lists values as the table spells them");
                Err(joined.point(error, place, "not a value of the table"))
            }
        }
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let sensitive = published.data.sensitive.iter();
        let models: Vec<Alpha> = sensitive.map(|counted| Alpha::new(self, 0, counted)).collect();
        let farthest = published.farthest(|at, counts| models[at].share(counts));
        let meaning = match self.values.is_empty() {
            true => "the greatest share of a class that has the same sensitive value",
            false => "the greatest share of a class that has one of the protected values",
        };
        let achieved = Achieved::at_most(KIND.key, "(α, k)-anonymity", meaning).about(About::Shares);
        Ok(achieved.farthest(&farthest, Some(self.alpha)).into_iter().collect())
    }
}
