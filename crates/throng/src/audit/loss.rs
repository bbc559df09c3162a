//! Loss from the published cells of every class.
//!
//! [`LossSums`] is a partial result: whoever cannot look at all classes at once sums the loss of some, merges the sums, and
//! finishes once. Numbers are summed exactly ([`ExactSum`]) and counts are whole, so the outcome is the same, to the last
//! digit, however the classes were dealt out and in whichever order the parts are merged. A class must be whole: the rows of
//! one belong to one part.

use serde::{Deserialize, Serialize};

use super::{Cell, Cells, Classes, Measures};
use crate::loss::ExactSum;
use crate::policy::Policy;
use crate::problem::Problem;

/// Sums over some classes of a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossSums {
    classes: u64,
    records: u64,
    /// Σ of squared sizes.
    squares: u128,
    /// Σ size · penalty, and the same for each attribute without its weight.
    ncp: ExactSum,
    of_attributes: Vec<ExactSum>,
    /// Σ penalty.
    penalties: ExactSum,
    /// Σ size · share of all combinations of values that a class may stand for.
    volume: ExactSum,
    /// The largest penalty, and the largest of size · penalty.
    most: f64,
    widest: f64,
    /// Widths of the ranges of a single numeric attribute: how many, their sum, and the largest.
    ranges: u64,
    widths: ExactSum,
    widest_range: f64,
}

/// The loss of a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Σ of penalties over all records; a suppressed one has all of them.
    pub ncp: f64,
    /// Its share of what is lost if nothing is told.
    pub gcp: f64,
    /// The same for each attribute, in the order of the problem.
    pub gcp_of_attributes: Vec<f64>,
    /// The largest penalty of a class, as a share of all weights.
    pub maximum_ncp: f64,
    /// Mean penalty of classes.
    pub average_ncp: f64,
    /// The largest of size · penalty.
    pub weighted_maximum_ncp: f64,
    /// Mean share of all combinations of values that a record may stand for.
    pub weighted_average_volume: f64,
    /// Σ of squared class sizes; suppressed records count with all records.
    pub discernibility: f64,
    /// Mean width of the ranges of a single numeric attribute, and the largest.
    pub ranges: Option<(f64, f64)>,
}

impl LossSums {
    /// Of no class yet, for problems with so many quasi-identifiers.
    pub fn new(attributes: usize) -> Self {
        LossSums {
            classes: 0,
            records: 0,
            squares: 0,
            ncp: ExactSum::default(),
            of_attributes: vec![ExactSum::default(); attributes],
            penalties: ExactSum::default(),
            volume: ExactSum::default(),
            most: 0.0,
            widest: 0.0,
            ranges: 0,
            widths: ExactSum::default(),
            widest_range: 0.0,
        }
    }

    /// Adds a class of so many records, given its cell of each quasi-identifier.
    pub fn add<'c>(&mut self, problem: &Problem, size: u64, cells: impl Iterator<Item = &'c Cell>) {
        let records = size as f64;
        let (mut penalty, mut share) = (0.0, 1.0);
        for ((attribute, sum), cell) in problem.attributes.iter().zip(&mut self.of_attributes).zip(cells) {
            sum.add(records * cell.ncp);
            penalty += attribute.weight * cell.ncp;
            share *= if cell.single { 1.0 / attribute.domain.len() as f64 } else { cell.ncp };
            if let (Some((low, high)), [_]) = (cell.range, &problem.attributes[..]) {
                self.ranges += 1;
                self.widths.add(high - low);
                self.widest_range = self.widest_range.max(high - low);
            }
        }
        self.classes += 1;
        self.records += size;
        self.squares += u128::from(size) * u128::from(size);
        self.ncp.add(records * penalty);
        self.penalties.add(penalty);
        self.volume.add(records * share);
        self.most = self.most.max(penalty);
        self.widest = self.widest.max(records * penalty);
    }

    /// Adds the classes of other sums.
    pub fn merge(&mut self, other: &Self) {
        self.classes += other.classes;
        self.records += other.records;
        self.squares += other.squares;
        self.ncp.merge(&other.ncp);
        self.of_attributes.iter_mut().zip(&other.of_attributes).for_each(|(own, other)| own.merge(other));
        self.penalties.merge(&other.penalties);
        self.volume.merge(&other.volume);
        self.most = self.most.max(other.most);
        self.widest = self.widest.max(other.widest);
        self.ranges += other.ranges;
        self.widths.merge(&other.widths);
        self.widest_range = self.widest_range.max(other.widest_range);
    }

    /// Records of the classes.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The loss of a release of these classes, in which so many records of the table are suppressed.
    pub fn finish(&self, problem: &Problem, suppressed: u64) -> Loss {
        let (suppressed, all) = (suppressed as f64, problem.whole_len().max(1) as f64);
        let classes = self.classes.max(1) as f64;
        let ncp = self.ncp.value() + suppressed * problem.total_weight();
        let of_attribute = |sum: &ExactSum| (sum.value() + suppressed) / all;
        let with_ranges = self.ranges > 0 && self.ranges == self.classes;
        Loss {
            ncp,
            gcp: ncp / (all * problem.total_weight()),
            gcp_of_attributes: self.of_attributes.iter().map(of_attribute).collect(),
            maximum_ncp: self.most / problem.total_weight(),
            average_ncp: self.penalties.value() / classes,
            weighted_maximum_ncp: self.widest,
            weighted_average_volume: self.volume.value() / self.records.max(1) as f64,
            discernibility: self.squares as f64 + suppressed * all,
            ranges: with_ranges.then(|| (self.widths.value() / self.ranges as f64, self.widest_range)),
        }
    }
}

/// Measures the loss of a release.
pub(super) fn measure(
    measures: &mut Measures,
    problem: &Problem,
    policy: &Policy,
    cells: &Cells<'_>,
    classes: &Classes,
) -> LossSums {
    let mut sums = LossSums::new(problem.attributes.len());
    for class in 0..classes.len() {
        let row = classes.first_row(class);
        let of_class = (0..problem.attributes.len()).map(|at| cells.cell(at, row));
        sums.add(problem, classes.size(class) as u64, of_class);
    }
    tell(measures, problem, policy, &sums);
    sums
}

/// Writes down what sums come to.
pub(super) fn tell(measures: &mut Measures, problem: &Problem, policy: &Policy, sums: &LossSums) {
    let loss = sums.finish(problem, measures.suppressed);
    let names = problem.attributes.iter().map(|attribute| attribute.name.clone());
    measures.gcp_per_attribute = names.zip(loss.gcp_of_attributes).collect();
    let coarsened = problem.attributes.iter().filter(|own| own.domain.has_tails() || own.domain.has_finest());
    measures.coarsened = coarsened.map(|attribute| attribute.name.clone()).collect();
    measures.ncp = loss.ncp;
    measures.gcp = loss.gcp;
    measures.maximum_ncp = loss.maximum_ncp;
    measures.average_ncp = loss.average_ncp;
    measures.weighted_maximum_ncp = loss.weighted_maximum_ncp;
    measures.weighted_average_volume = loss.weighted_average_volume;
    measures.discernibility = loss.discernibility;
    (measures.il1, measures.il_infinity) = loss.ranges.unzip();
    let k = policy.privacy.k().unwrap_or_else(|| problem.requirement.smallest_class());
    let published = measures.rows_published as f64;
    measures.c_avg = published / sums.classes.max(1) as f64 / k as f64;
}
