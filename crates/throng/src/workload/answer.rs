//! Answering queries from a table, and estimating their answers from a release.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::{Answered, Condition, Query};
use crate::classes::Classes;
use crate::data::{Attribute, Code, Data};
use crate::published::{Cell, Cells};
use crate::table::Scale;
use crate::with_matrix;

/// What a release says: classes of records, and the cell of each class in each attribute.
pub struct Spread {
    /// Records of each class.
    sizes: Vec<f64>,
    attributes: Vec<SpreadAttribute>,
}

struct SpreadAttribute {
    cells: Vec<Covered>,
    of_class: Vec<u32>,
    /// Whether all its numbers are whole.
    whole: bool,
}

/// What a cell covers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Covered {
    Numbers(f64, f64),
    /// `first .. end`.
    Leaves(u32, u32),
    /// A missing number.
    Nothing,
}

impl Spread {
    /// What the cells of a release of so many rows say.
    pub fn of_cells(data: &Data, cells: &Cells<'_>, rows: usize) -> Self {
        let numbers: Vec<&[u32]> = (0..data.attributes.len()).map(|at| cells.of_attribute(at).1).collect();
        let classes = Classes::group_numbers(&numbers, rows);
        let attribute = |at: usize| {
            let (cells, of_row) = cells.of_attribute(at);
            let numeric = matches!(data.attributes[at].domain.scale(), Scale::Numeric { .. });
            let covered = |cell: &Cell| match (numeric, cell.range) {
                (true, Some((low, high))) => Covered::Numbers(low, high),
                (true, None) => Covered::Nothing,
                (false, _) => Covered::Leaves(cell.leaves.0, cell.leaves.1),
            };
            SpreadAttribute {
                cells: cells.iter().map(covered).collect(),
                of_class: (0..classes.len()).map(|class| of_row[classes.first_row(class)]).collect(),
                whole: whole(&data.attributes[at]),
            }
        };
        Spread {
            sizes: (0..classes.len()).map(|class| classes.size(class) as f64).collect(),
            attributes: (0..data.attributes.len()).map(attribute).collect(),
        }
    }

    /// What cells would say that cover the codes `low ..= high` of each attribute, group by group.
    pub fn of_codes(data: &Data, sizes: Vec<f64>, ends: &[Vec<(u32, u32)>]) -> Self {
        let attribute = |(attribute, ends): (&Attribute, &Vec<(u32, u32)>)| SpreadAttribute {
            cells: ends.iter().map(|&(low, high)| covered(attribute, low, high)).collect(),
            of_class: (0..ends.len() as u32).collect(),
            whole: whole(attribute),
        };
        Spread { sizes, attributes: data.attributes.iter().zip(ends).map(attribute).collect() }
    }

    /// How many records a query matches, or what they sum up to, as far as the release tells. A sum of nothing is
    /// −0 in floating point, which nobody should read; adding 0 makes it 0.
    pub fn estimate(&self, query: &Query) -> f64 {
        let mut shares = self.sizes.clone();
        for (attribute, condition) in self.attributes.iter().zip(&query.conditions) {
            let Some(condition) = condition else { continue };
            let of_cell: Vec<f64> =
                attribute.cells.iter().map(|cell| cell.share(condition, attribute.whole)).collect();
            for (share, cell) in shares.iter_mut().zip(&attribute.of_class) {
                *share *= of_cell[*cell as usize];
            }
        }
        0.0 + match query.sum {
            None => shares.iter().sum::<f64>(),
            Some(at) => {
                let summed = &self.attributes[at];
                let condition = query.conditions[at].as_ref();
                let values =
                    summed.of_class.iter().map(|cell| summed.cells[*cell as usize].middle(condition));
                shares.iter().zip(values).map(|(share, value)| share * value).sum::<f64>()
            }
        }
    }
}

fn covered(attribute: &Attribute, low: u32, high: u32) -> Covered {
    match attribute.domain.scale() {
        Scale::Categorical(tree) => {
            let leaves = tree.leaves_under(tree.ancestor(low as usize, high as usize));
            Covered::Leaves(leaves.start as u32, leaves.end as u32)
        }
        Scale::Numeric { values, .. } => {
            let missing = attribute.domain.missing();
            match (Some(low) == missing, Some(high) == missing) {
                (true, _) => Covered::Nothing,
                // Mixed with numbers it is published as `*`, which says nothing of its ends.
                (false, true) => Covered::Numbers(values[0], values[values.len() - 1]),
                (false, false) => Covered::Numbers(values[low as usize], values[high as usize]),
            }
        }
    }
}

impl Covered {
    /// Which share of a record in this cell meets a condition.
    fn share(self, condition: &Condition, whole: bool) -> f64 {
        match (self, condition) {
            (Covered::Numbers(low, high), Condition::Between(from, to)) => {
                let (first, last) = (low.max(*from), high.min(*to));
                if first > last {
                    0.0
                } else if whole {
                    ((last.floor() - first.ceil() + 1.0) / (high - low + 1.0)).max(0.0)
                } else if high > low {
                    (last - first) / (high - low)
                } else {
                    1.0
                }
            }
            (Covered::Leaves(first, end), Condition::Leaves(ranges)) => {
                let common =
                    |&(from, to): &(u32, u32)| f64::from(to.min(end).saturating_sub(from.max(first)));
                ranges.iter().map(common).sum::<f64>() / f64::from((end - first).max(1))
            }
            _ => 0.0,
        }
    }

    /// The mean number in this cell, of those that meet a condition.
    fn middle(self, condition: Option<&Condition>) -> f64 {
        match (self, condition) {
            (Covered::Numbers(low, high), Some(Condition::Between(from, to))) => {
                (low.max(*from) + high.min(*to)) / 2.0
            }
            (Covered::Numbers(low, high), _) => f64::midpoint(low, high),
            _ => 0.0,
        }
    }
}

fn whole(attribute: &Attribute) -> bool {
    match attribute.domain.scale() {
        Scale::Numeric { values, .. } => is_whole(values),
        Scale::Categorical(_) => false,
    }
}

pub(super) fn is_whole(values: &[f64]) -> bool {
    values.iter().all(|value| value.fract() == 0.0)
}

/// Answers queries from the records of a problem.
pub struct Answerer<'a> {
    data: &'a Data,
}

impl<'a> Answerer<'a> {
    /// For a problem.
    pub fn new(data: &'a Data) -> Self {
        Answerer { data }
    }

    /// Answers queries and estimates their answers.
    pub fn answer(&self, queries: &[Query], spread: &Spread) -> Vec<Answered> {
        queries
            .par_iter()
            .map(|query| {
                let (exact, estimate) = (self.exact(query), spread.estimate(query));
                let error = (exact != 0.0).then(|| ((estimate - exact) / exact).abs());
                Answered { name: query.name.clone(), exact, estimate, error }
            })
            .collect()
    }

    /// How many records a query matches, or what they sum up to.
    pub fn exact(&self, query: &Query) -> f64 {
        let conditions = query.conditions.iter().enumerate();
        let allowed: Vec<(usize, Vec<bool>)> = conditions
            .filter_map(|(at, condition)| {
                Some((at, condition.as_ref()?.codes(&self.data.attributes[at].domain)))
            })
            .collect();
        let numbers = query.sum.map(|at| (at, self.data.attributes[at].domain.scale()));
        with_matrix!(&self.data.records, matrix => {
            let matches = |record: &usize| allowed.iter().all(|(at, allowed)| allowed[matrix.get(*record, *at).index()]);
            let matching = (0..matrix.len()).filter(matches);
            match numbers {
                None => matching.count() as f64,
                // Not −0 for no record at all.
                Some((at, scale)) => 0.0 + matching.map(|record| number(scale, matrix.get(record, at).index())).sum::<f64>(),
            }
        })
    }
}

/// The number of a code; a missing one adds nothing.
fn number(scale: &Scale, code: usize) -> f64 {
    match scale {
        Scale::Numeric { values, .. } => values.get(code).copied().unwrap_or(0.0),
        Scale::Categorical(_) => 0.0,
    }
}
