//! The outcome of a search as a solution, and the facts of it.

use super::{Anonymity, First, Goal, Masks, Outcome, Shape, Value, Way};
use crate::method::facts::{MaskTree, MaskedValue, Refinement, StayedMasked};
use crate::method::{Fact, MaskedPart, Recoding, Solution};
use crate::problem::{Attribute, Code, Problem};
use crate::table::ANY;
use crate::with_matrix;

impl Outcome {
    /// As a solution; `follow` are the quasi-identifiers that follow from another one.
    pub(super) fn into_solution(
        self,
        problem: &Problem,
        goal: Goal,
        follow: Vec<(String, String)>,
    ) -> Solution {
        let attributes = problem.attributes.iter().zip(&self.masks);
        let facts = Refinement {
            goal,
            end: self.end,
            quasi_identifiers: self.qids.iter().map(|qid| qid.describe(problem)).collect(),
            follow,
            masks: (0..).zip(attributes.clone()).map(|(at, own)| tree(problem, at, own)).collect(),
            masked_by_missing: attributes
                .filter(masked_by_missing)
                .map(|(own, _)| own.name.clone())
                .collect(),
            class_of_several: (problem.labels.len() > 1 && goal != Goal::Loss)
                .then(|| problem.labels[0].name.clone()),
            stayed: self
                .stayed
                .iter()
                .map(|(at, why)| StayedMasked { attribute: problem.attributes[*at].name.clone(), why: *why })
                .collect(),
            tried: self.tried.iter().map(|(way, error)| (way.describe(), *error)).collect(),
            steps: self.trace,
        };
        let part = MaskedPart { limits: vec![None; problem.attributes.len()], masks: self.masks };
        let part_of_group = vec![0; self.partition.len()];
        Solution {
            partition: self.partition,
            suppressed: Vec::new(),
            recoding: Recoding::Masks { boxes: self.boxes, parts: vec![part], part_of_group },
            facts: vec![Fact::Refinement(facts)],
        }
    }
}

impl Way {
    /// In words.
    pub fn describe(self) -> String {
        let begins = match self.first {
            First::Each => "each quasi-identifier by itself",
            First::Union => "their union first",
        };
        match self.anonymity {
            Anonymity::Records => begins.to_owned(),
            Anonymity::Share => format!("{begins}, anonymity lost as a share"),
        }
    }
}

fn masked_by_missing((attribute, masks): &(&Attribute, &Masks)) -> bool {
    masks.shape == Shape::Intervals && attribute.domain.missing().is_some() && !masks.values[0].refined
}

fn tree(problem: &Problem, at: usize, (attribute, masks): (&Attribute, &Masks)) -> MaskTree {
    let mut below = vec![0u64; attribute.domain.len() + 1];
    with_matrix!(&problem.records, matrix => {
        (0..problem.len()).for_each(|record| below[matrix.get(record, at).index() + 1] += 1);
    });
    for code in 1..below.len() {
        below[code] += below[code - 1];
    }
    let records = |value: &Value| below[value.high as usize + 1] - below[value.low as usize];
    let masked = |value: &Value| MaskedValue {
        label: attribute.domain.half_open_cell(value.low, value.high),
        records: records(value),
        parent: value.parent,
        rest: false,
    };
    let mut values: Vec<MaskedValue> = masks.values.iter().map(masked).collect();
    if masks.shape == Shape::Suppression && masks.values.len() > 1 {
        let hidden = problem.len() as u64 - masks.values[1..].iter().map(records).sum::<u64>();
        if hidden > 0 {
            values.push(MaskedValue { label: ANY.to_owned(), records: hidden, parent: Some(0), rest: false });
        }
    }
    values.extend(rests(masks, &values));
    MaskTree { attribute: attribute.name.clone(), values }
}

/// What is left under the name of values that were refined into some of their children.
fn rests(masks: &Masks, told: &[MaskedValue]) -> Vec<MaskedValue> {
    let rest = |at: usize| {
        let children = || told.iter().filter(|own| own.parent == Some(at as u32));
        let partly =
            masks.shape == Shape::Taxonomy && !masks.values[at].refined && children().next().is_some();
        let records = told[at].records - children().map(|own| own.records).sum::<u64>();
        let label = || told[at].label.clone();
        partly.then(|| MaskedValue { label: label(), records, parent: Some(at as u32), rest: true })
    };
    (0..masks.values.len()).filter_map(rest).collect()
}
