//! Answering queries from a table, and estimating their answers from a release.

use super::{Aggregate, Answered, Column, Condition, Place, Query};
use crate::classes::Classes;
use crate::data::{Attribute, Code, Data};
use crate::parallel;
use crate::published::{Cell, Cells};
use crate::table::Scale;
use crate::with_matrix;

/// What a release says: classes of records, and the cell of each class in each attribute.
pub struct Spread {
    /// Records of each class.
    sizes: Vec<f64>,
    attributes: Vec<SpreadAttribute>,
    /// The class of each row.
    class_of_row: Vec<u32>,
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
            let covered = |cell: &Cell| match (numeric, cell.shown()) {
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
            class_of_row: classes.of_rows(),
        }
    }

    /// What cells would say that cover the codes `low ..= high` of each attribute, group by group.
    pub fn of_codes(data: &Data, sizes: Vec<f64>, ends: &[Vec<(u32, u32)>]) -> Self {
        let attribute = |(attribute, ends): (&Attribute, &Vec<(u32, u32)>)| SpreadAttribute {
            cells: ends.iter().map(|&(low, high)| covered(attribute, low, high)).collect(),
            of_class: (0..ends.len() as u32).collect(),
            whole: whole(attribute),
        };
        let attributes = data.attributes.iter().zip(ends).map(attribute).collect();
        Spread { sizes, attributes, class_of_row: Vec::new() }
    }

    /// The same with the class of each row, for queries on further columns.
    #[must_use]
    pub fn with_rows(self, class_of_row: Vec<u32>) -> Self {
        Spread { class_of_row, ..self }
    }

    /// What a query's answer is as far as the release tells: how many records match, what they sum up to, or their mean.
    pub fn estimate(&self, query: &Query, further: &[Column<'_>]) -> f64 {
        match query.aggregate {
            Aggregate::Count => self.total(query, further, Of::Record),
            Aggregate::Sum(place) => self.total(query, further, Of::Number(place)),
            Aggregate::Average(place) => {
                let count = self.total(query, further, Of::Presence(place));
                let sum = self.total(query, further, Of::Number(place));
                if count > 0.0 { sum / count } else { 0.0 }
            }
        }
    }

    /// Sums something up over the records that match. A sum of nothing is −0 in floating point, which nobody should read;
    /// adding 0 makes it 0.
    fn total(&self, query: &Query, further: &[Column<'_>], of: Of) -> f64 {
        let by_row = !query.further.is_empty() || matches!(of.place(), Some(Place::Further(_)));
        let mut shares = if by_row { vec![1.0; self.sizes.len()] } else { self.sizes.clone() };
        for (attribute, condition) in self.attributes.iter().zip(&query.conditions) {
            let Some(condition) = condition else { continue };
            let of_cell: Vec<f64> =
                attribute.cells.iter().map(|cell| cell.share(condition, attribute.whole)).collect();
            for (share, cell) in shares.iter_mut().zip(&attribute.of_class) {
                *share *= of_cell[*cell as usize];
            }
        }
        if let Some(Place::Quasi(at)) = of.place() {
            let (summed, condition) = (&self.attributes[at], query.conditions[at].as_ref());
            for (share, cell) in shares.iter_mut().zip(&summed.of_class) {
                *share *= of.of_cell(summed.cells[*cell as usize], condition);
            }
        }
        0.0 + match by_row {
            false => shares.iter().sum::<f64>(),
            true => {
                let weights = self.weights_of_rows(query, further, of);
                let rows = self.class_of_row.iter().zip(&weights);
                rows.map(|(class, weight)| shares[*class as usize] * weight).sum::<f64>()
            }
        }
    }

    /// What each row counts by its further columns.
    fn weights_of_rows(&self, query: &Query, further: &[Column<'_>], of: Of) -> Vec<f64> {
        let mut weights = vec![1.0; self.class_of_row.len()];
        for (at, own) in further.iter().enumerate() {
            let condition =
                query.further.iter().find(|(place, _)| *place == at).map(|(_, condition)| condition);
            let summed = of.place() == Some(Place::Further(at));
            if condition.is_none() && !summed {
                continue;
            }
            let meets = own.meets(condition);
            // A condition on the column that is summed says which of its values count.
            let of_code = |code: u32| match (meets[code as usize], summed) {
                (false, _) => 0.0,
                (true, false) => 1.0,
                (true, true) => of.of_number(own.number(code)),
            };
            let own = own.over_rows(weights.len(), of_code);
            weights.iter_mut().zip(own).for_each(|(weight, own)| *weight *= own);
        }
        weights
    }
}

/// What is summed up over records.
#[derive(Clone, Copy)]
enum Of {
    /// One for each.
    Record,
    /// The number that it has in a column; nothing where it is missing.
    Number(Place),
    /// One for each that has a number there.
    Presence(Place),
}

impl Of {
    fn place(self) -> Option<Place> {
        match self {
            Of::Record => None,
            Of::Number(place) | Of::Presence(place) => Some(place),
        }
    }

    fn of_number(self, number: Option<f64>) -> f64 {
        match (self, number) {
            (Of::Record, _) | (Of::Presence(_), Some(_)) => 1.0,
            (Of::Number(_), Some(number)) => number,
            (Of::Number(_) | Of::Presence(_), None) => 0.0,
        }
    }

    fn of_cell(self, cell: Covered, condition: Option<&Condition>) -> f64 {
        match (self, cell) {
            (Of::Number(_), _) => cell.middle(condition),
            (_, Covered::Nothing) => 0.0,
            _ => 1.0,
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
                } else if high <= low {
                    1.0
                } else if whole {
                    ((last.floor() - first.ceil() + 1.0) / (high - low + 1.0)).max(0.0)
                } else {
                    (last - first) / (high - low)
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
    further: &'a [Column<'a>],
}

impl<'a> Answerer<'a> {
    /// For queries on quasi-identifiers alone.
    pub fn new(data: &'a Data) -> Self {
        Answerer { data, further: &[] }
    }

    /// For queries on these columns too.
    pub fn with(data: &'a Data, further: &'a [Column<'a>]) -> Self {
        Answerer { data, further }
    }

    /// Answers queries and estimates their answers.
    pub fn answer(&self, queries: &[Query], spread: &Spread) -> Vec<Answered> {
        parallel::map(queries, |query| {
            let (exact, estimate) = (self.exact(query), spread.estimate(query, self.further));
            let error = (exact != 0.0).then(|| ((estimate - exact) / exact).abs());
            Answered { name: query.name.clone(), exact, estimate, error }
        })
    }

    /// How many records a query matches, what they sum up to, or their mean.
    pub fn exact(&self, query: &Query) -> f64 {
        match query.aggregate {
            Aggregate::Count => self.total(query, Of::Record),
            Aggregate::Sum(place) => self.total(query, Of::Number(place)),
            Aggregate::Average(place) => {
                let count = self.total(query, Of::Presence(place));
                if count > 0.0 { self.total(query, Of::Number(place)) / count } else { 0.0 }
            }
        }
    }

    /// How many records a query looks at.
    pub fn matching(&self, query: &Query) -> f64 {
        self.total(query, Of::Record)
    }

    fn total(&self, query: &Query, of: Of) -> f64 {
        let conditions = query.conditions.iter().enumerate();
        let allowed: Vec<(usize, Vec<bool>)> = conditions
            .filter_map(|(at, condition)| {
                Some((at, condition.as_ref()?.codes(&self.data.attributes[at].domain)))
            })
            .collect();
        let further: Vec<(&[u32], Vec<bool>)> = query
            .further
            .iter()
            .map(|(at, condition)| {
                (&self.further[*at].of_record[..], self.further[*at].meets(Some(condition)))
            })
            .collect();
        with_matrix!(&self.data.records, matrix => {
            let matches = |record: &usize| {
                allowed.iter().all(|(at, allowed)| allowed[matrix.get(*record, *at).index()])
                    && further.iter().all(|(codes, meets)| meets[codes[*record] as usize])
            };
            let value = |record: usize| match of.place() {
                None => 1.0,
                Some(Place::Quasi(at)) => {
                    of.of_number(number(self.data.attributes[at].domain.scale(), matrix.get(record, at).index()))
                }
                Some(Place::Further(at)) => {
                    of.of_number(self.further[at].number(self.further[at].of_record[record]))
                }
            };
            // Not −0 for no record at all.
            0.0 + (0..matrix.len()).filter(matches).map(value).sum::<f64>()
        })
    }
}

/// The number of a code, unless it is missing.
fn number(scale: &Scale, code: usize) -> Option<f64> {
    match scale {
        Scale::Numeric { values, .. } => values.get(code).copied(),
        Scale::Categorical(_) => None,
    }
}
