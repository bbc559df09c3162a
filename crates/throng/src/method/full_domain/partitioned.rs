//! Blocks of attributes first: a string is valid only if its part in each block is.
//!
//! Attributes are dealt to blocks, those with most levels first, so that a block has no more than so many strings. All
//! strings of a block are tested, coarse ones first: one with a failing coarser neighbour fails. The finest that pass
//! then bound the levels that the whole search tries.

use super::goal::Measure;
use super::lattice::{Groups, Lattice, Levels};
use super::search::Known;
use crate::collections::Arrange;
use crate::error::Result;
use crate::table::Map;
use crate::watch::Watch;

/// What blocks of at most `most` strings allow.
pub fn blocks(lattice: &Lattice<'_>, _measure: &Measure<'_>, most: u64, watch: &dyn Watch) -> Result<Known> {
    let mut known = Known::default();
    for attributes in deal(lattice, most) {
        watch.check()?;
        let finest = finest(lattice, &attributes, watch)?;
        known.blocks.push((attributes, finest));
    }
    Ok(known)
}

fn levels(lattice: &Lattice<'_>, at: usize) -> u64 {
    u64::from(lattice.attributes[at].highest - lattice.attributes[at].lowest) + 1
}

fn deal(lattice: &Lattice<'_>, most: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lattice.attributes.len()).filter(|at| levels(lattice, *at) > 1).collect();
    order.arrange_by_key(|at| (std::cmp::Reverse(levels(lattice, *at)), *at));
    let mut blocks: Vec<(u64, Vec<usize>)> = Vec::new();
    for at in order {
        let own = levels(lattice, at);
        match blocks.iter_mut().find(|(strings, _)| strings.saturating_mul(own) <= most) {
            Some((strings, block)) => {
                *strings *= own;
                block.push(at);
            }
            None => blocks.push((own, vec![at])),
        }
    }
    blocks.into_iter().map(|(_, block)| block).collect()
}

/// The finest strings of a block that pass: no finer neighbour does.
fn finest(lattice: &Lattice<'_>, block: &[usize], watch: &dyn Watch) -> Result<Vec<Levels>> {
    let mut strings = vec![Vec::new()];
    for at in block {
        let own = &lattice.attributes[*at];
        strings = strings
            .into_iter()
            .flat_map(|string: Levels| {
                (own.lowest..=own.highest).map(move |level| [&string[..], &[level]].concat())
            })
            .collect();
    }
    // Coarse strings first: their sum of levels is greater than that of any finer one.
    strings.arrange_by_cached_key(|string| {
        (std::cmp::Reverse(string.iter().map(|level| u32::from(*level)).sum::<u32>()), string.clone())
    });
    let mut passes: Map<Levels, bool> = Map::default();
    for string in &strings {
        watch.check()?;
        let hopeful =
            neighbours(lattice, block, string, 1).all(|coarser| passes.get(&coarser) != Some(&false));
        let passed = hopeful && lattice.verdict(&groups(lattice, block, string)).possible;
        passes.insert(string.clone(), passed);
    }
    let is_finest = |string: &&Levels| {
        passes[*string]
            && neighbours(lattice, block, string, -1).all(|finer| passes.get(&finer) != Some(&true))
    };
    Ok(strings.iter().filter(is_finest).cloned().collect())
}

fn groups(lattice: &Lattice<'_>, block: &[usize], string: &[u8]) -> Groups {
    block.iter().zip(string).fold(lattice.whole(), |groups, (at, level)| {
        match lattice.attributes[*at].count(*level) {
            1 => groups,
            _ => lattice.refine(&groups, *at, *level),
        }
    })
}

/// The strings that differ by one step in one attribute.
fn neighbours<'a>(
    lattice: &'a Lattice<'_>,
    block: &'a [usize],
    string: &'a [u8],
    step: i16,
) -> impl Iterator<Item = Levels> + 'a {
    block.iter().enumerate().filter_map(move |(place, at)| {
        let own = &lattice.attributes[*at];
        let level = u8::try_from(i16::from(string[place]) + step).ok()?;
        let mut next = string.to_vec();
        next[place] = level;
        (own.lowest..=own.highest).contains(&level).then_some(next)
    })
}
