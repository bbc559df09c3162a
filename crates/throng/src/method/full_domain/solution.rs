//! From the string that was found to what is published, and the facts of it.

use super::goal::{GOALS, Goal, Measure};
use super::lattice::Lattice;
use super::near::near;
use super::search::Found;
use super::{FullDomainSearch, Way, nothing_valid};
use crate::error::Result;
use crate::method::facts::{EqualString, FullDomain, Level, NearString, Proof};
use crate::method::{Boxes, Fact, Partition, Recoding, Solution};

/// Publishes the best string.
pub fn solution(
    method: &FullDomainSearch,
    lattice: &Lattice<'_>,
    measure: &Measure<'_>,
    found: &Found,
) -> Result<Solution> {
    let levels = match &found.best {
        Some(best) => best.levels.clone(),
        None if method.way == Way::Local => lattice.highest(),
        None => return Err(nothing_valid(lattice.problem)),
    };
    let groups = lattice.groups(&levels);
    if !lattice.verdict(&groups).valid {
        return Err(nothing_valid(lattice.problem));
    }
    let failing = lattice.failing(&groups);
    let mut suppressed = Vec::new();
    let (mut order, mut sizes, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (at, rows) in lattice.rows_of(&groups).iter().enumerate() {
        let records = rows.iter().flat_map(|row| lattice.records(*row)).copied();
        if failing.binary_search(&(at as u32)).is_ok() {
            suppressed.extend(records);
        } else {
            let from = order.len();
            order.extend(records);
            order[from..].sort_unstable();
            sizes.push(order.len() - from);
            kept.push(groups.first[at]);
        }
    }
    suppressed.sort_unstable();
    let ends = (0..levels.len())
        .map(|at| kept.iter().map(|row| lattice.published(at, levels[at], *row)).collect())
        .collect();
    Ok(Solution {
        partition: Partition::from_sizes(order, sizes),
        suppressed,
        recoding: Recoding::Boxes(Boxes { ends }),
        facts: vec![Fact::FullDomain(facts(method, lattice, measure, found, &levels))],
    })
}

/// What a search found, for the report.
fn facts(
    method: &FullDomainSearch,
    lattice: &Lattice<'_>,
    measure: &Measure<'_>,
    found: &Found,
    levels: &[u8],
) -> FullDomain {
    let level = |(at, level): (usize, &u8)| {
        let own = &lattice.attributes[at];
        Level {
            attribute: lattice.problem.attributes[at].name.clone(),
            level: *level,
            top: own.top,
            groups: own.count(*level),
            lowest: own.lowest,
            highest: own.highest,
            value: measure.values.is_some().then(|| measure.value(at, *level)),
        }
    };
    FullDomain {
        goal: name(method.goal).into(),
        score: found.best.as_ref().map(|best| told(method.goal, best.score)),
        bound: told(method.goal, found.bound),
        proof: match (method.way, found.proven) {
            _ if method.picked.is_some() => Proof::Picked,
            (Way::Local, _) if found.best.is_none() => Proof::NothingMet,
            (Way::Local, _) => Proof::OfTheTested,
            (_, true) => Proof::Proved,
            (_, false) => Proof::Bounded,
        },
        levels: levels.iter().enumerate().map(level).collect(),
        strings: lattice.strings(),
        pruned: lattice.pruned,
        tests: found.tests,
        equal: found
            .equal
            .iter()
            .map(|own| EqualString { levels: own.levels.to_vec(), tops: own.tops })
            .collect(),
        near: near_strings(method, lattice, measure, found, levels),
    }
}

/// What other choices would cost; not asked under a limit on the search.
fn near_strings(
    method: &FullDomainSearch,
    lattice: &Lattice<'_>,
    measure: &Measure<'_>,
    found: &Found,
    levels: &[u8],
) -> Vec<NearString> {
    if method.limits.seconds.is_some() || method.limits.tests.is_some() {
        return Vec::new();
    }
    let known: Vec<&[u8]> = found.equal.iter().map(|own| &own.levels[..]).collect();
    let near = near(lattice, measure, levels, &known).into_iter();
    near.map(|own| NearString { score: told(method.goal, own.score), ..own }).collect()
}

fn name(goal: Goal) -> &'static str {
    match goal {
        Goal::ResearchValue => "research value",
        goal => GOALS.iter().find(|(_, own)| *own == goal).map_or("", |(name, _)| name),
    }
}

/// A score as people know it: losses are told without their sign.
fn told(goal: Goal, score: f64) -> f64 {
    if goal == Goal::ResearchValue { score } else { -score }
}
