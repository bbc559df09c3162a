//! What was measured of the parts of a release, put together.
//!
//! Rows are dealt to parts by their published cells, so that every class is whole in one part. Then all that an audit measures
//! is a minimum, a maximum or a sum over classes, and the parts merge to what the whole gives: loss by [`LossSums`], counts by
//! adding them. What a column shows by itself is not a matter of classes; whoever has looked at all rows knows it and sets it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::loss::{self, LossSums};
use super::{ExampleClass, Findings, Measures, SensitiveMeasure};
use crate::collections::Arrange;
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::privacy::{Achieved, Bound, Figure};
use crate::problem::Problem;

/// What was measured of a part of a release.
#[derive(Serialize, Deserialize)]
pub(crate) struct PartFindings {
    /// As if the part were the release.
    pub findings: Findings,
    /// The loss of its classes.
    pub sums: LossSums,
    /// Its rows.
    pub rows: u64,
}

const EXAMPLES: usize = 10;

/// The findings of a release from those of its parts.
pub(crate) fn merged(problem: &Problem, policy: &Policy, parts: Vec<PartFindings>) -> Result<Findings> {
    let mut parts = parts.into_iter();
    let Some(mut whole) = parts.next() else { return Err(Error::bug("a release without parts")) };
    for part in parts {
        whole.merge(part, problem.whole_len() as f64);
    }
    let PartFindings { mut findings, sums, .. } = whole;
    loss::tell(&mut findings.measures, problem, policy, &sums);
    let all = findings.measures.rows_published.max(1) as f64;
    findings.measures.published_as_is.unique_share =
        findings.measures.published_as_is.unique_rows as f64 / all;
    findings.examples = spread(findings.examples);
    Ok(findings)
}

impl PartFindings {
    fn merge(&mut self, other: PartFindings, records: f64) {
        self.sums.merge(&other.sums);
        let rows = (self.rows, other.rows);
        let Findings { measures, distributions, examples, .. } = &mut self.findings;
        merge_measures(measures, other.findings.measures, rows, records);
        for (own, other) in distributions.iter_mut().zip(other.findings.distributions) {
            own.bins.iter_mut().zip(other.bins).for_each(|(own, other)| own.after += other.after);
        }
        examples.extend(other.findings.examples);
        self.rows += other.rows;
    }
}

fn merge_measures(own: &mut Measures, other: Measures, rows: (u64, u64), records: f64) {
    own.k = own.k.min(other.k);
    own.classes += other.classes;
    own.class_sizes = merge_sizes(&own.class_sizes, &other.class_sizes);
    let suppressed = own.suppressed as f64;
    if let (Some(metric), Some(more)) = (&mut own.classification_metric, other.classification_metric) {
        // Both are whole numbers over the number of records, and both have the suppressed ones.
        *metric = ((*metric * records).round() + (more * records).round() - suppressed) / records;
    }
    for (own, other) in own.sensitive.iter_mut().zip(other.sensitive) {
        merge_sensitive(own, &other, rows);
    }
    for (own, other) in own.requirements.iter_mut().zip(other.requirements) {
        merge_achieved(own, other);
    }
    for key in ["l", "t"] {
        let reached = own.reached(key);
        match key {
            "l" if own.l.is_some() => own.l = reached,
            "t" if own.t.is_some() => own.t = reached,
            _ => {}
        }
    }
    for (own, other) in own.rules.iter_mut().zip(other.rules) {
        own.kept &= other.kept;
        own.broken_classes += other.broken_classes;
        own.broken_records += other.broken_records;
    }
    let as_is = &mut own.published_as_is;
    as_is.unique_rows += other.published_as_is.unique_rows;
    let all = (rows.0 + rows.1).max(1) as f64;
    for (own, other) in as_is.columns.iter_mut().zip(other.published_as_is.columns) {
        let alone = own.unique_share_with_quasi * rows.0 as f64;
        let more = other.unique_share_with_quasi * rows.1 as f64;
        own.unique_share_with_quasi = (alone.round() + more.round()) / all;
    }
    for found in other.outliers {
        if !own.outliers.contains(&found) {
            own.outliers.push(found);
        }
    }
    for found in other.formulas {
        match own.formulas.iter_mut().find(|known| known.column == found.column) {
            Some(known) => known.cells += found.cells,
            None => own.formulas.push(found),
        }
    }
    for violation in other.violations {
        if !own.violations.contains(&violation) {
            own.violations.push(violation);
        }
    }
}

fn merge_sizes(one: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    one.iter().chain(other).for_each(|(size, count)| *sizes.entry(*size).or_default() += count);
    sizes.into_iter().collect()
}

fn merge_sensitive(own: &mut SensitiveMeasure, other: &SensitiveMeasure, rows: (u64, u64)) {
    own.l_frequency = own.l_frequency.min(other.l_frequency);
    own.l_distinct = own.l_distinct.min(other.l_distinct);
    own.l_entropy = own.l_entropy.min(other.l_entropy);
    own.t = own.t.max(other.t);
    let told = (own.told_share * rows.0 as f64).round() + (other.told_share * rows.1 as f64).round();
    own.told_share = told / (rows.0 + rows.1).max(1) as f64;
}

/// The worse of two figures, and all that does not hold.
fn merge_achieved(own: &mut Achieved, other: Achieved) {
    let worse = |one: Figure, other: Figure| match (own.bound, one.value().total_cmp(&other.value())) {
        (Bound::AtLeast, std::cmp::Ordering::Greater) | (Bound::AtMost, std::cmp::Ordering::Less) => other,
        _ => one,
    };
    own.reached = match (own.reached, other.reached) {
        (Some(one), Some(other)) => Some(worse(one, other)),
        _ => None,
    };
    own.holds = match (own.holds, other.holds) {
        (Some(one), Some(other)) => Some(one && other),
        (one, other) => one.or(other),
    };
    own.violations.extend(other.violations);
}

/// Ten examples, from the smallest to the largest.
fn spread(mut examples: Vec<ExampleClass>) -> Vec<ExampleClass> {
    examples.arrange_by(|one, other| (one.size, &one.cells).cmp(&(other.size, &other.cells)));
    let count = EXAMPLES.min(examples.len());
    let last = examples.len().saturating_sub(1);
    (0..count).map(|nth| examples[nth * last / (count - 1).max(1)].clone()).collect()
}
