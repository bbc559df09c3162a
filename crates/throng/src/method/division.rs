//! Hard rules divide records into parts that no class may join ([`crate::rules`]).

use std::collections::BTreeMap;

use crate::error::{Error, ErrorCode, Result};
use crate::privacy::Judge;
use crate::problem::Problem;
use crate::rules::{BoundRule, Rules};

/// The records of a problem in parts that hard rules keep apart.
#[derive(Clone, Debug)]
pub struct Division {
    /// The parts that can be published, by their first record.
    pub parts: Vec<Vec<u32>>,
    /// The records of parts that cannot meet the requirement, where they may be suppressed; ascending.
    pub suppressed: Vec<u32>,
}

impl Division {
    /// Divides the records of a problem. An error says which rule stands in the way if a part cannot meet the
    /// requirement and has too many records to be suppressed.
    pub fn of(problem: &Problem) -> Result<Self> {
        let (parts, suppressed) = divide(problem, &problem.rules);
        if suppressed.len() > problem.suppressible {
            return Err(in_the_way(problem, suppressed.len()));
        }
        Ok(Division { parts, suppressed })
    }
}

fn divide(problem: &Problem, rules: &Rules) -> (Vec<Vec<u32>>, Vec<u32>) {
    let judge = Judge::new(problem);
    let parts = parts_of(problem, rules).into_iter();
    let (good, bad): (Vec<_>, Vec<_>) = parts.partition(|part| judge.holds(part.iter().copied()));
    let mut suppressed = bad.concat();
    suppressed.sort_unstable();
    (good, suppressed)
}

/// The records in parts that rules keep apart, by their first record; one part of all of them where no rule does.
pub(super) fn parts_of(problem: &Problem, rules: &Rules) -> Vec<Vec<u32>> {
    let divided: Vec<(usize, Vec<(u32, u32)>)> = problem
        .attributes
        .iter()
        .enumerate()
        .filter_map(|(at, attribute)| Some((at, rules.parts(at, &attribute.domain)?)))
        .collect();
    let mut place: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut key = Vec::with_capacity(divided.len());
    for record in 0..problem.len() {
        key.clear();
        key.extend(divided.iter().map(|(at, parts)| parts[problem.records.code(record, *at) as usize].0));
        let at = match place.get(&key) {
            Some(at) => *at,
            None => {
                place.insert(key.clone(), parts.len());
                parts.push(Vec::new());
                parts.len() - 1
            }
        };
        parts[at].push(record as u32);
    }
    parts
}

/// Which rule stands in the way: one without which it could be done, or all of them together.
fn in_the_way(problem: &Problem, short: usize) -> Error {
    let name = |rule: &BoundRule| format!("{} of \"{}\"", rule.text, problem.attributes[rule.attribute].name);
    let hard = || problem.rules.iter().enumerate().filter(|(_, rule)| rule.hard);
    let alone =
        hard().find(|(at, _)| divide(problem, &problem.rules.without(*at)).1.len() <= problem.suppressible);
    let who = match alone {
        Some((_, rule)) => format!("the hard rule {} stands", name(rule)),
        None => format!(
            "the hard rules {} stand together",
            hard().map(|(_, rule)| name(rule)).collect::<Vec<_>>().join(", ")
        ),
    };
    Error::new(ErrorCode::RulesInTheWay, format!(
        "{who} in the way: parts of the table with {short} records cannot meet the requirement on their own"
    ))
    .with_hint("drop `hard` from the rule, ask for less privacy, or allow `suppress` under [privacy]")
}
