//! A stand-in for a county's death certificates: 36 attributes, 216,000 records, skewed, one to six levels.
//!
//! The certificates of Morton 2012 are not public. This table has attributes of the same names and about the same
//! shape, drawn at random from a seed: each has a number of values whose frequencies fall off like 1/rank^skew, so that
//! most have a long tail of rare ones. Some attributes follow one of six hidden traits of a person (years of birth and
//! death, neighbourhood, schooling, kind of death, family): with a given probability the value is the trait's own, so
//! that attributes of one trait tell of each other. Values are numbers of fixed length; levels drop their last digits.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Result;

/// Records of the table.
pub const RECORDS: usize = 216_000;

/// An attribute: name, number of values, digits, skew, hidden trait and how often the value is the trait's own.
type Attribute = (&'static str, u32, usize, f64, usize, f64);

/// The attributes; the first 24 are the smaller set.
pub const ATTRIBUTES: [Attribute; 36] = [
    ("race", 5, 1, 1.6, 2, 0.6),
    ("sex", 2, 1, 0.1, 5, 0.0),
    ("age-in-days", 400, 3, 0.5, 0, 0.8),
    ("college", 6, 1, 1.1, 3, 0.8),
    ("industry", 230, 3, 1.5, 3, 0.4),
    ("autopsy", 3, 1, 2.2, 4, 0.5),
    ("census-tract", 220, 3, 0.4, 2, 0.9),
    ("cause-of-death", 900, 3, 1.3, 4, 0.6),
    ("certifier-type", 5, 1, 2.0, 4, 0.5),
    ("citizenship", 4, 1, 3.0, 2, 0.2),
    ("city-of-birth", 400, 3, 1.6, 2, 0.3),
    ("date-of-birth", 105, 3, 0.3, 0, 0.9),
    ("date-of-death", 12, 2, 0.1, 1, 0.9),
    ("disposition-method", 6, 1, 1.8, 5, 0.3),
    ("education", 18, 2, 0.9, 3, 0.9),
    ("farm", 2, 1, 3.5, 2, 0.1),
    ("informant-relationship", 9, 1, 1.2, 5, 0.6),
    ("injury-am-pm", 3, 1, 2.8, 4, 0.6),
    ("injury-census", 200, 3, 2.4, 2, 0.3),
    ("injury-county-code", 92, 2, 3.0, 2, 0.2),
    ("injury-date", 12, 2, 3.0, 1, 0.2),
    ("manner-of-death", 7, 1, 2.6, 4, 0.7),
    ("marital-status", 6, 1, 1.0, 5, 0.7),
    ("military", 3, 1, 1.6, 5, 0.3),
    ("motor-vehicle-accident", 2, 1, 4.0, 4, 0.3),
    ("occupation-category", 24, 2, 1.0, 3, 0.6),
    ("occupation-code", 500, 3, 1.2, 3, 0.4),
    ("place-of-death-city", 40, 2, 2.2, 2, 0.4),
    ("place-of-death-code", 9, 1, 1.3, 4, 0.4),
    ("place-of-death-state", 51, 2, 4.5, 2, 0.1),
    ("place-of-death-zip", 60, 2, 1.2, 2, 0.7),
    ("pregnant", 4, 1, 3.2, 0, 0.3),
    ("state-of-birth", 55, 2, 1.9, 2, 0.3),
    ("zipcode", 90, 5, 0.8, 2, 0.9),
    ("injury-time", 25, 2, 3.2, 4, 0.3),
    ("time-of-death", 24, 2, 0.2, 4, 0.1),
];

/// Writes the first attributes of the table.
pub fn write(attributes: usize, records: usize, seed: u64, target: &Path) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let scales: Vec<Vec<f64>> =
        ATTRIBUTES.iter().map(|(_, values, _, skew, ..)| scale(*values, *skew)).collect();
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(target)?);
    let names: Vec<&str> = ATTRIBUTES[..attributes].iter().map(|attribute| attribute.0).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut line = String::new();
    for _ in 0..records {
        let traits: [f64; 6] = std::array::from_fn(|_| random.random::<f64>());
        line.clear();
        // All attributes are drawn, so that the first ones are the same whatever their number.
        for (at, (_, _, digits, _, hidden, follows)) in ATTRIBUTES.iter().enumerate() {
            let (own, coin) = (random.random::<f64>(), random.random::<f64>());
            let place = if coin < *follows { traits[*hidden] } else { own };
            let value = scales[at].partition_point(|end| *end <= place);
            if at < attributes {
                let _ = write!(line, "{}{:0digits$}", if at == 0 { "" } else { "," }, code(value, *digits));
            }
        }
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

/// Numbers of five digits are spread, so that their levels differ.
fn code(value: usize, digits: usize) -> usize {
    if digits == 5 { 46_000 + value * 37 % 3_000 } else { value }
}

fn scale(values: u32, skew: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=values).map(|rank| f64::from(rank).powf(-skew)).collect();
    let sum: f64 = weights.iter().sum();
    let mut end = 0.0;
    let mut ends: Vec<f64> = weights
        .iter()
        .map(|weight| {
            end += weight / sum;
            end
        })
        .collect();
    ends.pop();
    ends
}

/// A policy over some attributes: levels drop digits; weights fall from the first attribute to the last.
pub fn policy(attributes: impl IntoIterator<Item = usize>, k: usize, method: &str) -> String {
    let mut text = format!("[privacy]\nk = {k}\n[method]\n{method}\n");
    for at in attributes {
        let (name, _, digits, ..) = ATTRIBUTES[at];
        // No two attributes weigh the same, as an owner's own judgement would have it.
        let weight = 1.0 - at as f64 * 0.013;
        let _ = write!(
            text,
            "[attribute.{name}]\nrole = \"quasi\"\nkind = \"categorical\"\nweight = {weight:.3}\n"
        );
        if digits > 1 {
            let lengths: Vec<String> = (1..digits).rev().map(|length| length.to_string()).collect();
            let _ = writeln!(text, "hierarchy = {{ prefix = [{}] }}", lengths.join(", "));
        }
    }
    text
}
