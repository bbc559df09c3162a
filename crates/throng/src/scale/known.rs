//! What all parts share: domains, weights, requirement and counts of the whole table.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cuts::Sampled;
use super::sketch::TableSketch;
use crate::bind::{self, Stranger};
use crate::data::{Cache, Data, Records, Whole};
use crate::policy::{Incomplete, Policy};
use crate::privacy::{Requirement, Tally};
use crate::problem::{Problem, Protected};

/// A table of which no part is at hand yet.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its problem, without records.
    pub problem: Problem,
    /// Names of its columns.
    pub names: Vec<String>,
    /// The columns that are looked at, in the order of the table.
    pub coded: Vec<Coded>,
    /// Whether rows with a missing cell that is looked at are dropped.
    pub drops: bool,
}

/// A column that is looked at.
#[derive(Clone, Debug)]
pub struct Coded {
    /// Its place in the table.
    pub column: usize,
    /// What it is in the problem.
    pub kind: CodedKind,
    /// Its distinct values, sorted. The number of a value is its place here.
    pub values: Vec<String>,
    /// The code of each value.
    pub codes: Vec<u32>,
    /// Whether a value stands for a missing one.
    pub missing: Vec<bool>,
    /// Number of codes.
    pub domain: usize,
}

/// What a column is in a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodedKind {
    /// The nth quasi-identifier.
    Quasi(usize),
    /// The nth sensitive attribute.
    Sensitive(usize),
    /// The nth label to predict.
    Label(usize),
}

/// How many rows a part has, and how often it has each code of each sensitive attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartCounts {
    /// Number of rows.
    pub rows: u64,
    /// For each sensitive attribute the count of each code.
    pub sensitive: Vec<Vec<u64>>,
}

impl PartCounts {
    /// Of no rows.
    pub fn new(known: &Known) -> Self {
        let sensitive = known.problem.sensitive.iter().map(|own| vec![0; own.domain.len()]).collect();
        PartCounts { rows: 0, sensitive }
    }

    /// Takes other rows in.
    pub fn merge(&mut self, other: &PartCounts) {
        self.rows += other.rows;
        for (own, other) in self.sensitive.iter_mut().zip(&other.sensitive) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
    }
}

/// How often each code of each coded column occurs, in some rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of rows.
    pub rows: u64,
    /// For each coded column the count of each code.
    pub of_codes: Vec<Vec<u64>>,
}

impl Counts {
    /// Of no rows.
    pub fn new(known: &Known) -> Self {
        Counts { rows: 0, of_codes: known.coded.iter().map(|own| vec![0; own.domain]).collect() }
    }

    /// Takes other rows in.
    pub fn merge(&mut self, other: &Counts) {
        self.rows += other.rows;
        for (own, other) in self.of_codes.iter_mut().zip(&other.of_codes) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
    }
}

impl Known {
    /// What a sketch tells under a policy.
    pub(crate) fn new(sketch: &TableSketch, policy: &Policy) -> Result<Self, Box<Stranger>> {
        let (mut problem, codes) =
            bind::of_sketches(&sketch.names, policy, |column| sketch.column(column).cloned())?;
        let coded = codes.into_iter().map(|(column, codes)| {
            let kind = kind_of(&problem, column);
            let domain = match kind {
                CodedKind::Quasi(at) => &problem.attributes[at].domain,
                CodedKind::Sensitive(at) => &problem.sensitive[at].domain,
                CodedKind::Label(at) => &problem.labels[at].domain,
            };
            let values = sketch.column(column).into_iter().flat_map(crate::table::Sketch::values);
            Coded {
                column,
                kind,
                values: values.map(|(text, _)| text.to_owned()).collect(),
                missing: codes.iter().map(|code| domain.missing() == Some(*code)).collect(),
                codes,
                domain: domain.len(),
            }
        });
        let coded = coded.collect();
        let drops = policy.incomplete == Incomplete::Drop;
        // Enough to find cuts by; what depends on the counts of the whole table comes with these.
        problem.requirement = Requirement::new(&policy.privacy, &problem.data.sensitive);
        Ok(Known { coded, names: sketch.names.clone(), drops, problem })
    }

    /// Sets the counts of the whole table, and with them what is required of its classes.
    pub fn set_counts(&mut self, counts: &Counts, dropped: u64, policy: &Policy) {
        let of = |kind: CodedKind| -> Vec<u64> {
            let own = self.coded.iter().position(|coded| coded.kind == kind);
            own.map_or_else(Vec::new, |at| counts.of_codes[at].clone())
        };
        let quasi = (0..self.problem.attributes.len()).map(|at| of(CodedKind::Quasi(at))).collect();
        let sensitive: Vec<Vec<u64>> =
            (0..self.problem.sensitive.len()).map(|at| of(CodedKind::Sensitive(at))).collect();
        let labels: Vec<Vec<u64>> =
            (0..self.problem.labels.len()).map(|at| of(CodedKind::Label(at))).collect();
        let data = &mut self.problem.data;
        data.whole = Some(Arc::new(Whole {
            records: counts.rows as usize,
            round: counts.rows as usize,
            counts: quasi,
        }));
        data.dropped = dropped as usize;
        let set = |own: &mut Protected, counts: Vec<u64>| own.whole = Some(counts.into());
        data.sensitive.iter_mut().zip(sensitive).for_each(|(own, counts)| set(own, counts));
        data.labels.iter_mut().zip(labels).for_each(|(own, counts)| set(own, counts));
        self.problem.requirement = Requirement::new(&policy.privacy, &self.problem.data.sensitive);
    }

    /// The tally of some rows.
    pub fn tally(&self, counts: &PartCounts) -> Tally {
        Tally::of_counts(&self.problem.data, counts.rows, counts.sensitive.iter().map(Vec::as_slice))
    }

    /// The share that is asked for of the diversity that some sampled records could have; 0 where none is asked for.
    pub fn asked(&self, records: &[&Sampled]) -> f64 {
        let mut counts = PartCounts::new(self);
        for record in records {
            counts.rows += record.weight;
            let own = counts.sensitive.iter_mut().zip(&record.sensitive);
            own.for_each(|(counts, code)| counts[*code as usize] += record.weight);
        }
        let margin = self.problem.requirement.diversity_of(&self.tally(&counts));
        margin.filter(|margin| margin.asked > 1.0).map_or(0.0, |margin| margin.share())
    }

    /// The problem of some records of the table, given the codes of each coded column.
    pub fn problem_of(&self, records: Records, codes: Vec<Vec<u32>>) -> Problem {
        let mut data = Data { records, cache: Cache::default(), rows: None, ..self.problem.data.clone() };
        for (own, codes) in self.coded.iter().zip(codes) {
            match own.kind {
                CodedKind::Quasi(_) => {}
                CodedKind::Sensitive(at) => data.sensitive[at].codes = codes,
                CodedKind::Label(at) => data.labels[at].codes = codes,
            }
        }
        Problem { data, ..self.problem.clone() }
    }

    /// The coded column of each quasi-identifier.
    pub fn quasi(&self) -> Vec<usize> {
        let place = |at: usize| self.coded.iter().position(|own| own.kind == CodedKind::Quasi(at));
        (0..self.problem.attributes.len()).filter_map(place).collect()
    }
}

fn kind_of(problem: &Problem, column: usize) -> CodedKind {
    let of = |all: &[Protected]| all.iter().position(|own| own.column == column);
    let quasi = problem.attributes.iter().position(|own| own.column == column);
    match (quasi, of(&problem.sensitive), of(&problem.labels)) {
        (Some(at), ..) => CodedKind::Quasi(at),
        (None, Some(at), _) => CodedKind::Sensitive(at),
        (None, None, at) => CodedKind::Label(at.unwrap_or(0)),
    }
}
