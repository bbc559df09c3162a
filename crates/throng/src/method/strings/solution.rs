//! From the string that was found to what is published, and what the report says of it.

use super::goal::{GOALS, Goal, Measure};
use super::lattice::Lattice;
use super::search::{Found, Scored};
use super::{Strings, Way, nothing_valid};
use crate::error::Result;
use crate::method::{Boxes, Partition, Solution};
use crate::report::{Block, Section};

/// Publishes the best string.
pub fn solution(
    method: &Strings,
    lattice: &Lattice<'_>,
    measure: &Measure<'_>,
    found: &Found,
) -> Result<Solution> {
    let mut notes = Vec::new();
    let levels = match &found.best {
        Some(best) => best.levels.clone(),
        None if method.way == Way::Local => {
            notes.push(
                "The local search met no valid string, so every attribute is published at its coarsest level; \
                 rv-global finds the best one."
                    .to_owned(),
            );
            lattice.highest()
        }
        None => return Err(nothing_valid(lattice.problem)),
    };
    let groups = lattice.groups(&levels);
    if !lattice.verdict(&groups).valid {
        return Err(nothing_valid(lattice.problem));
    }
    if !found.proven && method.way != Way::Local {
        notes.push(format!(
            "The search was stopped: the string has {} {}, and no string has more than {}.",
            name(method.goal),
            number(method.goal, found.best.as_ref().map_or(f64::NAN, |best| best.score)),
            number(method.goal, found.bound)
        ));
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
        boxes: Some(Boxes { ends, half_open: false }),
        notes,
        sections: vec![section(method, lattice, measure, found, &levels)],
        ..Solution::default()
    })
}

fn name(goal: Goal) -> &'static str {
    match goal {
        Goal::ResearchValue => "research value",
        goal => GOALS.iter().find(|(_, own)| *own == goal).map_or("", |(name, _)| name),
    }
}

/// A score as people know it: losses are told without their sign.
fn number(goal: Goal, score: f64) -> String {
    let told = if goal == Goal::ResearchValue { score } else { -score };
    format!("{told:.6}")
}

fn section(
    method: &Strings,
    lattice: &Lattice<'_>,
    measure: &Measure<'_>,
    found: &Found,
    levels: &[u8],
) -> Section {
    let goal = name(method.goal);
    let mut blocks = Vec::new();
    if let Some(best) = &found.best {
        let proof = match (method.way, found.proven) {
            (Way::Local, _) => "It is the best of the few that the local search tests".to_owned(),
            (_, true) => "No valid string is better".to_owned(),
            (_, false) => format!("No valid string has more than {}", number(method.goal, found.bound)),
        };
        blocks.push(Block::Words(format!(
            "The string has {goal} {}. {proof}: of {} strings left after {} levels failed by themselves, {} tests of \
             groups decided.",
            number(method.goal, best.score),
            lattice.strings(),
            lattice.pruned,
            found.tests
        )));
    }
    blocks.push(levels_table(lattice, measure, levels));
    if found.equal.len() > 1 {
        blocks.push(Block::Words(format!(
            "{} strings are equally good; choose another one by giving levels their own research values.",
            found.equal.len()
        )));
        blocks.push(equal_table(lattice, &found.equal));
    }
    Section { heading: "Generalization string".to_owned(), blocks }
}

fn levels_table(lattice: &Lattice<'_>, measure: &Measure<'_>, levels: &[u8]) -> Block {
    let row = |(at, level): (usize, &u8)| {
        let own = &lattice.attributes[at];
        vec![
            lattice.problem.attributes[at].name.clone(),
            format!("{level} of {}", own.top),
            own.count(*level).to_string(),
            format!("{}–{}", own.lowest, own.highest),
            if measure.values.is_some() {
                format!("{:.6}", measure.value(at, *level))
            } else {
                String::new()
            },
        ]
    };
    Block::Table {
        head: ["attribute", "level", "groups", "levels tried", "value"].map(str::to_owned).to_vec(),
        rows: levels.iter().enumerate().map(row).collect(),
    }
}

fn equal_table(lattice: &Lattice<'_>, equal: &[Scored]) -> Block {
    let names: Vec<&str> = lattice.problem.attributes.iter().map(|own| own.name.as_str()).collect();
    let row = |scored: &Scored| {
        let levels: Vec<String> =
            names.iter().zip(&scored.levels).map(|(name, level)| format!("{name} {level}")).collect();
        vec![levels.join(", "), scored.tops.to_string()]
    };
    Block::Table {
        head: vec!["string".to_owned(), "attributes at the top level".to_owned()],
        rows: equal.iter().map(row).collect(),
    }
}
