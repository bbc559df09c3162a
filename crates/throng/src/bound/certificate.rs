//! Prices as a file: the proof of a bound, for whoever has the table.
//!
//! JSON: what the prices are for (a fingerprint of all that the proof looks at), in which unit, and for each part of the
//! attributes one whole number per record, in the order of the table. A seal over all of it tells damaged files.

use serde::{Deserialize, Serialize};

use super::costs::{Cost, ONE};
use super::space::{Caps, Space};
use super::terms::Terms;
use super::{verify, worth};
use crate::error::{Error, ErrorCode, Result};
use crate::problem::Problem;
use crate::watch::Watch;

const FORMAT: u32 = 1;

/// Prices of records that prove a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of this format.
    throng_certificate: u32,
    /// What a record loses of which nothing is told, in the unit of prices.
    unit: u32,
    /// Of all that the proof looks at: codes, costs, sizes of classes, how many records may be left out.
    fingerprint: String,
    /// Parts of the attributes, each with the prices of all records.
    parts: Vec<PricedPart>,
    /// Over all the rest.
    seal: String,
}

/// The prices of some attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PricedPart {
    attributes: Vec<String>,
    /// How many records a class has at least.
    size: u32,
    prices: Vec<i64>,
}

/// What a certificate turned out to be worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Checked {
    /// No release under the policy has a lower GCP.
    Proved(f64),
    /// Some class would be paid more than it costs: the prices prove nothing.
    NotAProof,
}

impl Certificate {
    pub(super) fn new(problem: &Problem, priced: Vec<(Terms, Vec<i64>)>) -> Self {
        let terms: Vec<&Terms> = priced.iter().map(|(terms, _)| terms).collect();
        let fingerprint = fingerprint(problem, &terms);
        let part = |(terms, prices): (Terms, Vec<i64>)| PricedPart {
            attributes: terms.attributes.iter().map(|at| problem.attributes[*at].name.clone()).collect(),
            size: terms.size,
            prices,
        };
        let parts = priced.into_iter().map(part).collect();
        let mut own =
            Certificate { throng_certificate: FORMAT, unit: ONE, fingerprint, parts, seal: String::new() };
        own.seal = own.sealed();
        own
    }

    /// The text of a file.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string(self)
            .map_err(|cause| Error::bug(format!("a certificate cannot be written as JSON: {cause}")))?;
        Ok(text + "\n")
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self> {
        let own: Certificate = serde_json::from_str(text).map_err(|cause| {
            broken(&format!("this is not a certificate: line {}, column {}", cause.line(), cause.column()))
        })?;
        if own.throng_certificate != FORMAT || own.unit != ONE {
            return Err(broken("this certificate is of another version")
                .with_hint("write it anew with `throng anonymize --certificate`"));
        }
        if own.seal != own.sealed() {
            return Err(broken("this certificate was changed after it was written"));
        }
        Ok(own)
    }

    fn sealed(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.fingerprint.as_bytes());
        for part in &self.parts {
            part.attributes.iter().for_each(|name| text(&mut hasher, name));
            hasher.update(&part.size.to_le_bytes());
            hasher.update(&(part.prices.len() as u64).to_le_bytes());
            for price in &part.prices {
                hasher.update(&price.to_le_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Checks it against a table under a policy: every class that there could be.
    pub fn check(&self, problem: &Problem, watch: &dyn Watch) -> Result<Checked> {
        let foreign = || {
            Error::new(
                ErrorCode::NotThisCertificate,
                "this certificate is for another table or another policy",
            )
            .with_hint("use the table, the policy and the options that it was written with")
        };
        let terms: Vec<Terms> = self
            .parts
            .iter()
            .map(|part| terms_of(problem, part))
            .collect::<Option<_>>()
            .ok_or_else(foreign)?;
        let known = super::terms::ways(problem);
        let fits = known.contains(&terms) && self.parts.iter().all(|part| part.prices.len() == problem.len());
        if !fits || self.fingerprint != fingerprint(problem, &terms.iter().collect::<Vec<_>>()) {
            return Err(foreign());
        }
        // Far more than a class could be paid, and far from what sums cannot hold.
        let too_large = |price: &i64| price.unsigned_abs() > 1 << 44;
        for (part, terms) in self.parts.iter().zip(&terms) {
            if part.prices.iter().any(too_large)
                || !verify::holds(&terms.records(problem), &part.prices, watch)?
            {
                return Ok(Checked::NotAProof);
            }
        }
        let prices = self.parts.iter().map(|part| part.prices.clone());
        let priced: Vec<(Terms, Vec<i64>)> = terms.into_iter().zip(prices).collect();
        Ok(Checked::Proved(worth(problem, &priced)))
    }
}

fn broken(message: &str) -> Error {
    Error::new(ErrorCode::BadCertificate, message.to_owned())
        .with_hint("ask for the file again, or write it anew")
}

fn terms_of(problem: &Problem, part: &PricedPart) -> Option<Terms> {
    let place = |name: &String| problem.attributes.iter().position(|attribute| attribute.name == *name);
    let attributes = part.attributes.iter().map(place).collect::<Option<_>>()?;
    Some(Terms { attributes, size: part.size })
}

/// A hash of all that the proof looks at.
fn fingerprint(problem: &Problem, terms: &[&Terms]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(problem.suppressible as u64).to_le_bytes());
    for terms in terms {
        terms.attributes.iter().for_each(|at| text(&mut hasher, &problem.attributes[*at].name));
        hash_space(&mut hasher, &terms.records(problem));
    }
    hasher.finalize().to_hex().to_string()
}

fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn numbers(hasher: &mut blake3::Hasher, numbers: &[u32]) {
    hasher.update(&(numbers.len() as u64).to_le_bytes());
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
}

fn hash_space(hasher: &mut blake3::Hasher, space: &Space) {
    for cost in &space.costs {
        match cost {
            Cost::Number { places, missing, full } => {
                numbers(hasher, places);
                numbers(hasher, &[missing.unwrap_or(u32::MAX), *full]);
            }
            Cost::Pairs { table, .. } => numbers(hasher, table),
            Cost::Sparse { rows } => rows.iter().for_each(|row| numbers(hasher, row)),
        }
    }
    [&space.codes, &space.values, &space.sizes].iter().for_each(|column| numbers(hasher, column));
    if let Caps::Each(caps) = &space.caps {
        numbers(hasher, caps);
    }
}
