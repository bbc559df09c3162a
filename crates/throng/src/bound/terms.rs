//! What of a requirement the bound counts, and the records as it sees them.
//!
//! Every class of a release has at least K records. That, the K that single records ask for, a limit on how frequent a
//! sensitive value may be, and people in place of records are counted; what else a policy asks for can only make the least
//! possible loss larger, so a bound without it stays a bound.
//!
//! * l-diversity by frequency: of K records that stand for a class, at most ⌈K / l⌉ share a value.
//! * People: a class with K people that holds n records of one of them has at least n + K − 1 records, so of K records that
//!   stand for it at most ⌈K · n / (n + K − 1)⌉ are theirs, where n is how many they have in the table.
//! * Named quasi-identifiers: what classes of a part of the attributes lose on these alone is added up over parts that share
//!   no attribute. Each part is a [`Block`].

use super::costs::{Cost, rounded_down};
use super::space::{Caps, Space};
use crate::collections::Arrange;
use crate::privacy::{Part, Requirement};
use crate::problem::{Attribute, Problem};
use crate::table::Scale;

/// Trees with up to so many leaves get a table over all pairs.
const PAIRS_UP_TO: usize = 256;

/// Some attributes, and how many records share each combination of them as published.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Terms {
    pub attributes: Vec<usize>,
    pub size: u32,
}

/// The points of some attributes.
pub(super) struct Block {
    pub space: Space,
    /// The point of each record.
    pub point_of: Vec<u32>,
}

/// The ways to cut attributes into parts; what any of them proves holds.
pub(super) fn ways(problem: &Problem) -> Vec<Vec<Terms>> {
    let requirement = &problem.requirement;
    let size = fitted(requirement, requirement.smallest_combination());
    let all: Vec<usize> = (0..problem.attributes.len()).collect();
    let demanding =
        problem.demands.as_deref().is_some_and(|demands| demands.iter().any(|demand| *demand > 1));
    let counts = size > 1 || demanding;
    let whole = counts.then(|| vec![Terms { attributes: all.clone(), size: clamped(size) }]);
    let mut free = all;
    let mut parts = Vec::new();
    for (attributes, k) in named_above(problem, size) {
        let own: Vec<usize> = free.iter().copied().filter(|at| attributes.contains(at)).collect();
        free.retain(|at| !own.contains(at));
        if !own.is_empty() {
            parts.push(Terms { attributes: own, size: clamped(k) });
        }
    }
    if parts.is_empty() {
        return whole.into_iter().collect();
    }
    if counts && !free.is_empty() {
        parts.push(Terms { attributes: free, size: clamped(size) });
    }
    whole.into_iter().chain([parts]).collect()
}

/// Of a size that does not divide by a whole l, a cap is rounded up: then a smaller size whose cap is exact may say more.
fn fitted(requirement: &Requirement, size: usize) -> usize {
    let strictest = requirement.frequencies().iter().map(|(_, l)| *l).fold(1.0, f64::max);
    let l = strictest as usize;
    if strictest.fract() != 0.0 || l < 2 || size <= l || size.is_multiple_of(l) {
        return size;
    }
    let (smaller, cap) = (size / l * l, size.div_ceil(l));
    if size * size <= cap * l * smaller { smaller } else { size }
}

fn clamped(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Named quasi-identifiers that ask for more than all attributes together, the most demanding first.
fn named_above(problem: &Problem, size: usize) -> Vec<(Vec<usize>, usize)> {
    let place = |name: &String| problem.attributes.iter().position(|attribute| attribute.name == *name);
    let named =
        problem.requirement.quasi_identifiers().iter().filter(|own| own.attributes.is_some() && own.k > size);
    let mut named: Vec<(Vec<usize>, usize)> =
        named.map(|own| (own.names().iter().filter_map(place).collect(), own.k)).collect();
    named.arrange_by_key(|(_, k)| std::cmp::Reverse(*k));
    named
}

/// What the bound leaves out of a requirement, in the words of policies.
pub(super) fn left_out(requirement: &Requirement, has_people: bool) -> Vec<String> {
    let frequency = !requirement.frequencies().is_empty();
    let mut left: Vec<&str> = requirement
        .parts()
        .filter(|part| match part {
            Part::K | Part::People => false,
            Part::L => !frequency,
            Part::OwnK => frequency || has_people,
            Part::T | Part::MaxLoss | Part::HardRules => true,
        })
        .map(Part::name)
        .collect();
    left.dedup();
    left.into_iter().map(str::to_owned).collect()
}

impl Terms {
    /// The records of a problem as points of these attributes.
    pub fn block(&self, problem: &Problem) -> Block {
        let records = self.records(problem);
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        let key = |record: &u32| {
            let at = *record as usize;
            (records.row(*record), records.values[at], records.sizes[at])
        };
        order.arrange_by(|one, other| key(one).cmp(&key(other)).then(one.cmp(other)));
        let runs: Vec<&[u32]> = order.chunk_by(|one, other| key(one) == key(other)).collect();
        let first: Vec<u32> = runs.iter().map(|run| run[0]).collect();
        let mut space = records.reordered(&first);
        space.records = runs.iter().map(|run| run.len() as u32).collect();
        let mut point_of = vec![0; problem.len()];
        for (point, run) in runs.iter().enumerate() {
            run.iter().for_each(|record| point_of[*record as usize] = point as u32);
        }
        Block { space, point_of }
    }

    /// Each record for itself.
    pub fn records(&self, problem: &Problem) -> Space {
        let total = problem.total_weight();
        let cost = |at: &usize| cost_of(&problem.attributes[*at], total);
        let mut codes = Vec::with_capacity(problem.len() * self.attributes.len());
        for record in 0..problem.len() {
            codes.extend(self.attributes.iter().map(|at| problem.records.code(record, *at)));
        }
        let (values, caps) = self.caps(problem);
        let demands = problem.demands.as_deref().filter(|_| caps == Caps::None);
        let sizes = match demands {
            Some(demands) => demands.iter().map(|demand| (*demand).max(self.size)).collect(),
            None => vec![self.size; problem.len()],
        };
        let costs = self.attributes.iter().map(cost).collect();
        Space { costs, codes, records: vec![1; problem.len()], values, caps, sizes }
    }

    /// The value that each record counts for, and how many of a class may share one.
    fn caps(&self, problem: &Problem) -> (Vec<u32>, Caps) {
        let size = f64::from(self.size);
        if let Some(people) = &problem.people {
            let cap = |records: &u32| {
                let records = f64::from(*records);
                (size * records / (records + size - 1.0)).ceil() as u32
            };
            let caps = people.records_of_each().iter().map(cap).collect();
            return (people.of_records().to_vec(), Caps::Each(caps));
        }
        let frequencies = problem.requirement.frequencies();
        let strictest =
            frequencies.iter().max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)));
        match strictest {
            Some((attribute, l)) if *l > 1.0 => {
                let sensitive = &problem.sensitive[*attribute];
                // With room for the rounding that the audit allows; a whole l leaves no room between counts.
                let cap = if l.fract() == 0.0 { (size / l).ceil() } else { (size / l * (1.0 + 1e-6)).ceil() };
                (sensitive.codes.clone(), Caps::Each(vec![cap as u32; sensitive.domain.len()]))
            }
            _ => (vec![0; problem.len()], Caps::None),
        }
    }
}

/// What ranges of an attribute cost, as shares of all weights.
fn cost_of(attribute: &Attribute, total: f64) -> Cost {
    let weight = attribute.weight / total;
    match attribute.domain.scale() {
        Scale::Numeric { values, .. } => Cost::Number {
            places: places(values, weight),
            missing: attribute.domain.missing(),
            full: rounded_down(weight, 1),
        },
        Scale::Categorical(tree) => {
            let leaves = tree.leaf_count();
            let cost =
                |low: usize, high: usize| rounded_down(tree.share(tree.ancestor(low, high)) * weight, 1);
            if leaves <= PAIRS_UP_TO {
                let pair = |at: usize| (at / leaves, at % leaves);
                let both = |(one, other): (usize, usize)| {
                    if one == other { 0 } else { cost(one.min(other), one.max(other)) }
                };
                return Cost::Pairs {
                    values: leaves,
                    table: (0..leaves * leaves).map(|at| both(pair(at))).collect(),
                };
            }
            let levels = (leaves - 1).ilog2() as usize + 1;
            let row =
                |level: usize| (0..leaves - (1 << level)).map(|low| cost(low, low + (1 << level))).collect();
            Cost::Sparse { rows: (0..levels).map(row).collect() }
        }
    }
}

/// Where numbers lie between the first and the last.
fn places(values: &[f64], weight: f64) -> Vec<u32> {
    let first = values.first().copied().unwrap_or(0.0);
    // Halved, so that a domain from the least to the greatest double does not overflow.
    let from_first = |value: f64| value / 2.0 - first / 2.0;
    let width = values.last().map_or(0.0, |last| from_first(*last));
    let place = |value: &f64| if width > 0.0 { from_first(*value) / width * weight } else { 0.0 };
    values.iter().map(|value| rounded_down(place(value), 0)).collect()
}
