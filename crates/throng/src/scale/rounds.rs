//! What is decided between rounds, from states that merge: how many parts, where they are cut, which are solved together.

use super::cuts::Cuts;
use super::known::{Known, PartCounts};
use super::sketch::TableSketch;
use super::solve::{Limit, RoundSample, sampled};
use crate::loss::Kernel;

/// The share of a round's records that goes on; `scale/NOTES.md` has figures.
pub const GOES_ON: f64 = 0.5;

/// The cuts of the first round, into parts of about so many records, but no more parts than `most`.
pub fn first_cuts(known: &Known, sketch: &TableSketch, capacity: u64, most: usize) -> Cuts {
    let parts = (sketch.rows.div_ceil(capacity.max(1)) as usize).clamp(1, most);
    match parts {
        1 => Cuts::none(),
        _ => Cuts::new(&sampled(known, sketch), &Kernel::new(&known.problem.attributes), parts, 0),
    }
}

/// The cuts of the round after this one, in which so many records are left.
pub fn next_cuts(
    known: &Known,
    sample: &RoundSample,
    limit: Limit,
    records: u64,
    capacity: u64,
    round: u32,
) -> Cuts {
    match records.div_ceil(capacity.max(1)) as usize {
        1 => Cuts::none(),
        parts => {
            let kernel = Kernel::new(&known.problem.attributes);
            Cuts::new(&sample.dearer(limit), &kernel, parts, round as usize + 1)
        }
    }
}

/// The parts that are solved together: those that cannot meet the requirement join their siblings. Empty ones are left out.
pub fn groups(known: &Known, cuts: &Cuts, counts: &[PartCounts]) -> Vec<Vec<usize>> {
    let of = |parts: &[u32]| {
        let mut all = PartCounts::new(known);
        parts.iter().for_each(|part| all.merge(&counts[*part as usize]));
        all
    };
    let stands = |parts: &[u32]| {
        let counts = of(parts);
        counts.rows == 0 || known.problem.requirement.holds(&known.tally(&counts))
    };
    let groups = cuts.joined(&stands).into_iter();
    groups
        .filter(|parts| of(parts).rows > 0)
        .map(|parts| parts.into_iter().map(|part| part as usize).collect())
        .collect()
}
