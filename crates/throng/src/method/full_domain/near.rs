//! Strings near the one that is published: what another choice would cost.
//!
//! Looked at are the strings that raise one attribute by a level, that lower others as far as the requirement then allows, or both:
//! one attribute's detail traded for another's. They are not proved to be the next best, which would take a search of its own; whoever
//! wants one of them picks it with `string = [2, 0, 1]`. At most [`MOST_TESTS`] strings are tested, each at the cost of one grouping.

use super::goal::Measure;
use super::lattice::{Lattice, Levels};
use crate::collections::Arrange;
use crate::method::facts::NearString;
use crate::parallel;

/// So many are told.
const TOLD: usize = 10;
const MOST_TESTS: usize = 600;

/// The best of the strings near one, with their scores as the search has them; none of those in `known`.
pub(super) fn near(
    lattice: &Lattice<'_>,
    measure: &Measure<'_>,
    from: &[u8],
    known: &[&[u8]],
) -> Vec<NearString> {
    let strings = neighbours(lattice, from);
    let fresh = strings.into_iter().filter(|string| string != from && !known.contains(&&string[..]));
    let fresh: Vec<Levels> = fresh.take(MOST_TESTS).collect();
    let scored = |levels: Levels| {
        let groups = lattice.groups(&levels);
        if !lattice.verdict(&groups).valid {
            return None;
        }
        let failing = lattice.failing(&groups);
        let suppressed = failing.iter().map(|group| u64::from(groups.sizes[*group as usize])).sum();
        let classes = (groups.sizes.len() - failing.len()) as u64;
        Some(NearString { score: measure.score(&levels, &groups), levels, classes, suppressed })
    };
    let mut near: Vec<NearString> = parallel::map(fresh, scored).into_iter().flatten().collect();
    near.arrange_by(|one, other| other.score.total_cmp(&one.score).then(one.levels.cmp(&other.levels)));
    near.truncate(TOLD);
    near
}

/// One attribute a level up or none, another down by any number of levels or none; the smallest changes first.
fn neighbours(lattice: &Lattice<'_>, from: &[u8]) -> Vec<Levels> {
    let raised = (0..from.len()).filter(|at| from[*at] < lattice.attributes[*at].highest).map(|at| {
        let mut levels = from.to_vec();
        levels[at] += 1;
        (Some(at), levels)
    });
    let starts: Vec<(Option<usize>, Levels)> = std::iter::once((None, from.to_vec())).chain(raised).collect();
    let mut strings: Vec<(u8, Levels)> = Vec::new();
    for (raised, levels) in &starts {
        strings.push((0, levels.clone()));
        for at in (0..from.len()).filter(|at| Some(*at) != *raised) {
            for level in lattice.attributes[at].lowest..levels[at] {
                let mut lower = levels.clone();
                lower[at] = level;
                strings.push((levels[at] - level, lower));
            }
        }
    }
    strings.arrange_by_key(|(down, _)| *down);
    strings.into_iter().map(|(_, levels)| levels).collect()
}
