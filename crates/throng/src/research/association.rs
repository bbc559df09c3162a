//! How much attributes tell of each other, and weights from it: `weight = "auto"`.
//!
//! |Pearson's r| for two numbers, the correlation ratio for a number and a category, Cramér's V for two categories. From the
//! latter two, what as many categories would explain by chance is taken off (ε² of Kelley 1935 in place of η², Bergsma's
//! correction of V): a category that nearly every record has for itself tells nothing of other records, whereas η would be
//! 1 with every number and its weight next to nothing. Records in which either is a missing number are left out. An attribute that little else tells of
//! weighs more: w ∝ 1 − mean association with the others (Morton 2012).

use crate::collections::Arrange;
use crate::data::{Attribute, Records};
use crate::parallel;
use crate::table::{Map, Scale};

/// Weights by association, with a sum of 1.
pub fn weights(attributes: &[Attribute], records: &Records) -> Vec<f64> {
    let matrix = matrix(attributes, records);
    let others = (attributes.len().max(2) - 1) as f64;
    let own = |row: &Vec<f64>| 1.0 - (row.iter().sum::<f64>() - 1.0) / others;
    // Attributes that all tell everything of each other would weigh nothing at all.
    let free: Vec<f64> = matrix.iter().map(|row| own(row).max(1e-6)).collect();
    let sum: f64 = free.iter().sum();
    free.into_iter().map(|free| free / sum).collect()
}

/// The association of every pair of attributes, 0 … 1.
pub fn matrix(attributes: &[Attribute], records: &Records) -> Vec<Vec<f64>> {
    let count = attributes.len();
    let columns: Vec<Vec<u32>> =
        (0..count).map(|at| (0..records.len()).map(|record| records.code(record, at)).collect()).collect();
    let pairs: Vec<(usize, usize)> =
        (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))).collect();
    let found: Vec<f64> = parallel::map(&pairs, |&(one, other)| {
        pair(&attributes[one], &columns[one], &attributes[other], &columns[other])
    });
    let mut matrix = vec![vec![0.0; count]; count];
    (0..count).for_each(|at| matrix[at][at] = 1.0);
    for ((one, other), found) in pairs.into_iter().zip(found) {
        matrix[one][other] = found;
        matrix[other][one] = found;
    }
    matrix
}

/// Pairs of attributes of which one tells nearly all of the other.
pub fn high(matrix: &[Vec<f64>], least: f64) -> Vec<(usize, usize, f64)> {
    let pairs = (0..matrix.len()).flat_map(|one| (one + 1..matrix.len()).map(move |other| (one, other)));
    pairs.map(|(one, other)| (one, other, matrix[one][other])).filter(|pair| pair.2 >= least).collect()
}

fn pair(one: &Attribute, ones: &[u32], other: &Attribute, others: &[u32]) -> f64 {
    match (one.domain.scale(), other.domain.scale()) {
        (Scale::Numeric { values: a, .. }, Scale::Numeric { values: b, .. }) => pearson(ones, a, others, b),
        (Scale::Numeric { values, .. }, Scale::Categorical(_)) => {
            correlation_ratio(ones, values, others, other.domain.len())
        }
        (Scale::Categorical(_), Scale::Numeric { values, .. }) => {
            correlation_ratio(others, values, ones, one.domain.len())
        }
        (Scale::Categorical(_), Scale::Categorical(_)) => {
            cramers_v(ones, one.domain.len(), others, other.domain.len())
        }
    }
}

/// Numbers scaled to 0 … 1, so that squares of large ones stay exact enough; none for a missing one.
fn scaled(values: &[f64], code: u32) -> Option<f64> {
    let (first, last) = (values.first()?, values.last()?);
    let value = values.get(code as usize)?;
    let width = last / 2.0 - first / 2.0;
    Some(if width > 0.0 { (value / 2.0 - first / 2.0) / width } else { 0.0 })
}

fn pearson(ones: &[u32], a: &[f64], others: &[u32], b: &[f64]) -> f64 {
    let pairs = || ones.iter().zip(others).filter_map(|(x, y)| Some((scaled(a, *x)?, scaled(b, *y)?)));
    let count = pairs().count() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = pairs().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs() {
        let (x, y) = (x - mean.0, y - mean.1);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    if xx > 0.0 && yy > 0.0 { (xy / (xx * yy).sqrt()).abs().min(1.0) } else { 0.0 }
}

/// √ε²: the variance between categories as a share of the variance, without what so many categories would explain by
/// chance.
fn correlation_ratio(numbers: &[u32], values: &[f64], categories: &[u32], count: usize) -> f64 {
    let mut of_category = vec![(0.0, 0.0); count];
    let (mut records, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for (number, category) in numbers.iter().zip(categories) {
        let Some(value) = scaled(values, *number) else { continue };
        let own = &mut of_category[*category as usize];
        *own = (own.0 + 1.0, own.1 + value);
        records += 1.0;
        sum += value;
        squares += value * value;
    }
    let total = squares - sum * sum / f64::max(records, 1.0);
    let between: f64 =
        of_category.iter().filter(|own| own.0 > 0.0).map(|(count, sum)| sum * sum / count).sum::<f64>()
            - sum * sum / f64::max(records, 1.0);
    let categories = of_category.iter().filter(|own| own.0 > 0.0).count() as f64;
    if total <= 1e-12 || records <= categories {
        return 0.0;
    }
    let unexplained = (1.0 - between / total).max(0.0);
    (1.0 - unexplained * (records - 1.0) / (records - categories)).clamp(0.0, 1.0).sqrt()
}

/// Bergsma's correction of Cramér's V.
fn cramers_v(ones: &[u32], one_count: usize, others: &[u32], other_count: usize) -> f64 {
    let records = ones.len() as f64;
    let mut joint: Map<(u32, u32), f64> = Map::default();
    let (mut row, mut column) = (vec![0.0; one_count], vec![0.0; other_count]);
    for (one, other) in ones.iter().zip(others) {
        *joint.entry((*one, *other)).or_default() += 1.0;
        row[*one as usize] += 1.0;
        column[*other as usize] += 1.0;
    }
    let mut joint: Vec<((u32, u32), f64)> = joint.into_iter().collect();
    joint.arrange_by_key(|(pair, _)| *pair);
    // χ²/n = Σ n_ij² / (n_i · n_j) − 1
    let phi: f64 =
        joint.iter().map(|((a, b), n)| n * n / (row[*a as usize] * column[*b as usize])).sum::<f64>() - 1.0;
    let occurring = |counts: &[f64]| counts.iter().filter(|count| **count > 0.0).count() as f64;
    let (r, c) = (occurring(&row), occurring(&column));
    if records < 2.0 || r < 2.0 || c < 2.0 {
        return 0.0;
    }
    let corrected = (phi - (r - 1.0) * (c - 1.0) / (records - 1.0)).max(0.0);
    let shrunk = |count: f64| count - (count - 1.0) * (count - 1.0) / (records - 1.0);
    let least = (shrunk(r) - 1.0).min(shrunk(c) - 1.0);
    if least > 0.0 { (corrected / least).sqrt().min(1.0) } else { 0.0 }
}
