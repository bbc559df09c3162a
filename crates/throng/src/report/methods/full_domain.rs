//! The string of a full-domain recoding.

use crate::method::facts::{EqualString, FullDomain, Level, NearString, Proof};
use crate::report::page::{Block, Section};

pub(super) fn notes(found: &FullDomain) -> Vec<String> {
    match (found.proof, found.score) {
        (Proof::NothingMet, _) => vec![
            "The local search met no valid string, so every attribute is published at its coarsest level; rv-global \
             finds the best one."
                .to_owned(),
        ],
        (Proof::Bounded, Some(score)) => vec![format!(
            "The search was stopped: the string has {} {score:.6}, and no string has more than {:.6}.",
            found.goal, found.bound
        )],
        _ => Vec::new(),
    }
}

/// The string and what it is worth, for a terminal.
pub(super) fn fields(found: &FullDomain) -> Vec<(&'static str, String)> {
    let level = |own: &Level| format!("{} {}\u{a0}of\u{a0}{}", own.attribute, own.level, own.top);
    let levels: Vec<String> = found.levels.iter().map(level).collect();
    let published = string(found.levels.iter().map(|own| own.level));
    let mut fields = vec![("String", format!("{published}: {}", levels.join(", ")))];
    if let Some(score) = found.score {
        fields.push(("Value", format!("{} {score:.6} by its levels. {}.", found.goal, proof(found))));
    }
    fields
}

fn proof(found: &FullDomain) -> String {
    match found.proof {
        Proof::OfTheTested | Proof::NothingMet => {
            "It is the best of the few that the local search tests".to_owned()
        }
        Proof::Picked => "It was picked; whether another one is better was not asked".to_owned(),
        Proof::Proved => "No valid string is better".to_owned(),
        Proof::Bounded => format!("No valid string has more than {:.6}", found.bound),
    }
}

pub(super) fn section(found: &FullDomain) -> Section {
    let mut blocks = Vec::new();
    if let Some(score) = found.score {
        let proof = proof(found);
        blocks.push(Block::Words(format!(
            "The string has {} {score:.6}. {proof}: of {} strings left after {} levels failed by themselves, {} tests of \
             groups decided.",
            found.goal, found.strings, found.pruned, found.tests
        )));
    }
    blocks.push(levels_table(&found.levels));
    if found.equal.len() > 1 {
        blocks.push(Block::Words(format!(
            "{} strings are equally good; string = [...] under [method] picks another one, a level for each attribute.",
            found.equal.len()
        )));
        blocks.push(equal_table(&found.levels, &found.equal));
    }
    if !found.near.is_empty() {
        blocks.push(Block::Words(format!(
            "Other strings that meet the requirement, of those that change one attribute or trade one attribute's detail for another's; \
             the published one is {}. To publish another, write it under [method] as string = [...].",
            string(found.levels.iter().map(|own| own.level))
        )));
        blocks.push(near_table(found));
    }
    Section { heading: "Generalization string".to_owned(), blocks }
}

fn levels_table(levels: &[Level]) -> Block {
    let row = |own: &Level| {
        vec![
            own.attribute.clone(),
            format!("{} of {}", own.level, own.top),
            own.groups.to_string(),
            format!("{}–{}", own.lowest, own.highest),
            own.value.map_or(String::new(), |value| format!("{value:.6}")),
        ]
    };
    Block::Table {
        head: ["attribute", "level", "groups", "levels tried", "value"].map(str::to_owned).to_vec(),
        rows: levels.iter().map(row).collect(),
    }
}

fn string(levels: impl Iterator<Item = u8>) -> String {
    format!("[{}]", levels.map(|level| level.to_string()).collect::<Vec<_>>().join(", "))
}

fn near_table(found: &FullDomain) -> Block {
    let changed = |own: &NearString| {
        let pairs = found.levels.iter().zip(&own.levels).filter(|(now, then)| now.level != **then);
        let words = pairs.map(|(now, then)| format!("{} {} → {then}", now.attribute, now.level));
        words.collect::<Vec<_>>().join(", ")
    };
    let row = |own: &NearString| {
        vec![
            string(own.levels.iter().copied()),
            changed(own),
            format!("{:.6}", own.score),
            own.classes.to_string(),
            own.suppressed.to_string(),
        ]
    };
    let head = ["string", "changes", found.goal.as_ref(), "classes", "suppressed"];
    Block::Table { head: head.map(str::to_owned).to_vec(), rows: found.near.iter().map(row).collect() }
}

fn equal_table(attributes: &[Level], equal: &[EqualString]) -> Block {
    let row = |own: &EqualString| {
        let pairs = attributes.iter().zip(&own.levels);
        let levels: Vec<String> = pairs.map(|(own, level)| format!("{} {level}", own.attribute)).collect();
        vec![levels.join(", "), own.tops.to_string()]
    };
    Block::Table {
        head: vec!["string".to_owned(), "attributes at the top level".to_owned()],
        rows: equal.iter().map(row).collect(),
    }
}
