//! A hierarchy for a category, proposed for a class: values whose records are of similar classes share a group.
//!
//! [`refine`](super) reaches as far down a hierarchy as is safe; groups that mix values of different classes are of no use to
//! it on the way. So groups are made from below: each time the two are joined with which least information about the class is
//! lost, n·H of both together minus that of each, of equal ones the first in the order of the domain. Levels are where the
//! number of groups has halved. Values that no record has, and missing ones, are left out.
//!
//! What comes out is a proposal to look at and to name: its groups follow from how classes are distributed in the table, so
//! publishing with it tells roughly which values are alike in that.
//!
//! Cost: O(m² · c) for each of m joins of values with c classes.

use super::benefit::{Benefit, Goal, entropy};
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::problem::Problem;
use crate::schema::Kind;
use crate::table::ANY;

/// More values than this are not grouped.
const MOST: usize = 1000;
/// Labels of groups that would be longer tell how many values there are instead.
const LONG: usize = 60;

/// The lines of a hierarchy file for an attribute: value, its groups from small to large, `*`.
pub fn propose(problem: &Problem, name: &str) -> Result<Vec<Vec<String>>> {
    let Some(at) = problem.attributes.iter().position(|own| own.name == name) else {
        let names: Vec<&str> = problem.attributes.iter().map(|own| own.name.as_str()).collect();
        return Err(Error::new(ErrorCode::UnknownAttribute, format!("\"{name}\" is not a quasi-identifier"))
            .with_hint(format!("the quasi-identifiers are {}", names.join(", "))));
    };
    if problem.labels.is_empty() {
        return Err(Error::new(ErrorCode::NoClass, "no attribute has the role \"class\"")
            .with_hint("write role = \"class\" in the section of the attribute that is to be predicted"));
    }
    let domain = &problem.attributes[at].domain;
    if domain.kind() == Kind::Numeric {
        return Err(Error::new(ErrorCode::BadUsage, format!("\"{name}\" is a number"))
            .for_attribute(name)
            .with_hint(
                "refine splits numbers where that tells most about the class; they need no hierarchy",
            ));
    }
    let benefit = Benefit::new(problem, Goal::Gain);
    let present = |code: &u32| Some(*code) != domain.missing() && benefit.records(at, *code, *code) > 0;
    let codes: Vec<u32> = (0..domain.len() as u32).filter(present).collect();
    if codes.len() > MOST {
        return Err(Error::new(
            ErrorCode::BadUsage,
            format!("\"{name}\" has {} values; {MOST} can be grouped", codes.len()),
        )
        .for_attribute(name)
        .with_hint("group them by hand, or by `prefix`, first"));
    }
    let groups =
        codes.iter().map(|code| Group { codes: vec![*code], counts: benefit.counts(at, *code, *code) });
    Ok(lines(&codes, &levels(groups.collect()), |code| domain.cell(code, code)))
}

/// Values that belong together, and how often each class occurs among their records.
#[derive(Clone)]
struct Group {
    codes: Vec<u32>,
    counts: Vec<u64>,
}

/// n·H: what the classes of some records hold in information.
fn held(counts: &[u64]) -> f64 {
    counts.iter().sum::<u64>() as f64 * entropy(counts)
}

/// The groups of each level, from small to large; neither single values nor all in one.
fn levels(mut groups: Vec<Group>) -> Vec<Vec<Group>> {
    let mut levels = Vec::new();
    let mut wanted = groups.len().div_ceil(2);
    while wanted > 1 {
        while groups.len() > wanted {
            let (one, other) = nearest(&groups);
            let taken = groups.remove(other);
            groups[one].codes.extend(taken.codes);
            groups[one].counts.iter_mut().zip(taken.counts).for_each(|(own, more)| *own += more);
        }
        levels.push(groups.clone());
        wanted = if wanted == 2 { 1 } else { wanted.div_ceil(2) };
    }
    levels
}

/// The two groups with which least is lost when they are joined, the first of equal ones.
fn nearest(groups: &[Group]) -> (usize, usize) {
    let (mut best, mut least) = ((0, 1), f64::INFINITY);
    for one in 0..groups.len() {
        for other in one + 1..groups.len() {
            let both = groups[one].counts.iter().zip(&groups[other].counts);
            let both: Vec<u64> = both.map(|(one, other)| one + other).collect();
            let lost = held(&both) - held(&groups[one].counts) - held(&groups[other].counts);
            if lost < least {
                (best, least) = ((one, other), lost);
            }
        }
    }
    best
}

fn lines(codes: &[u32], levels: &[Vec<Group>], cell: impl Fn(u32) -> String) -> Vec<Vec<String>> {
    let label = |group: &Group| {
        let mut codes = group.codes.clone();
        codes.sort_unstable();
        let values: Vec<String> = codes.iter().map(|code| cell(*code)).collect();
        let all = values.join(" | ");
        match values.len() {
            ..=2 => all,
            _ if all.chars().count() <= LONG => all,
            // The lowest value is in one group of each level only, and a larger group has more values.
            count => format!("{} | … ({count} values)", values[0]),
        }
    };
    let line = |code: &u32| {
        let groups = levels.iter().filter_map(|level| level.iter().find(|group| group.codes.contains(code)));
        [cell(*code)].into_iter().chain(groups.map(label)).chain([ANY.to_owned()]).collect()
    };
    // Values of a group together, as the leaves of a tree are.
    let mut order: Vec<u32> = codes.to_vec();
    let place = |code: &u32| -> Vec<usize> {
        let of_level =
            |level: &Vec<Group>| level.iter().position(|group| group.codes.contains(code)).unwrap_or(0);
        levels.iter().rev().map(of_level).collect()
    };
    order.arrange_by_cached_key(|code| (place(code), *code));
    order.iter().map(line).collect()
}

/// A hierarchy file of these lines.
pub fn hierarchy_file(lines: &[Vec<String>]) -> String {
    let cell = |cell: &String| match cell.contains([';', '"', '\n', '\r', ',']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    lines.iter().map(|line| line.iter().map(cell).collect::<Vec<_>>().join(";") + "\n").collect()
}
