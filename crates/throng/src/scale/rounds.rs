//! What is decided between rounds, from states that merge: how many parts, where they are cut, which are solved together.

use super::cuts::{Cuts, Cutting, Sampled};
use super::known::{Known, PartCounts};
use super::sketch::TableSketch;
use super::solve::{GainCounts, Limit, RoundSample, sampled};
use crate::loss::Kernel;

/// The share of a round's records that goes on; `scale/NOTES.md` has figures.
const GOES_ON: f64 = 0.5;
/// The share of the diversity that is feasible which may be asked of those who go on, or so many times what is asked of all.
const MOST_ASKED: f64 = 0.75;
const LESS_ROOM: f64 = 1.1;
/// There may be twice as many parts as were meant, up to so many in all.
const MOST_PARTS: usize = 400;

/// The cuts of the first round, into parts of about so many records.
pub fn first_cuts(known: &Known, sketch: &TableSketch, capacity: u64) -> Cuts {
    match sketch.rows.div_ceil(capacity.max(1)) as usize {
        0 | 1 => Cuts::none(),
        parts => cut(known, &sampled(known, sketch), &Cuts::none(), parts),
    }
}

/// A round that was solved.
pub struct Round<'a> {
    /// How it was cut.
    pub cuts: &'a Cuts,
    /// Number of parts that were solved.
    pub parts: usize,
    /// What records might gain in another round.
    pub gains: &'a GainCounts,
    /// Some of its records.
    pub sample: &'a RoundSample,
}

/// What a class of a round may gain to be kept, and how those who go on are cut, into parts of about so many records. None go on
/// after a round of one part, and none if they had hardly any room to be diverse: then classes are dear because of frequent values, not
/// because of cuts, and would come out dearer.
pub fn next(known: &Known, round: &Round<'_>, capacity: u64) -> (Limit, Option<Cuts>) {
    let (limit, records) = round.gains.limit(GOES_ON);
    if round.parts <= 1 || records == 0 {
        return (Limit::NONE, None);
    }
    let sample = round.sample.going_on(limit);
    let cuts = match records.div_ceil(capacity.max(1)) as usize {
        1 => Cuts::none(),
        parts => cut(known, &sample, round.cuts, parts),
    };
    let mut parts = vec![Vec::new(); cuts.parts()];
    sample.iter().for_each(|own| parts[cuts.part(|at| own.codes[at]) as usize].push(own));
    let all = round.sample.all();
    let most = (LESS_ROOM * known.asked(&all.iter().collect::<Vec<_>>())).max(MOST_ASKED);
    match parts.iter().all(|part| known.asked(part) <= most) {
        true => (limit, Some(cuts)),
        false => (Limit::NONE, None),
    }
}

fn cut(known: &Known, sample: &[Sampled], before: &Cuts, parts: usize) -> Cuts {
    let asked = |records: &[&Sampled]| known.asked(records);
    let kernel = Kernel::new(&known.problem.attributes);
    let more = parts.min(MOST_PARTS.saturating_sub(parts));
    Cuts::new(sample, &Cutting { kernel: &kernel, before, more, asked: &asked }, parts)
}

/// The parts that are solved together. Those that cannot meet the requirement join their siblings, however large these are. Those that
/// have no margin for diversity where all of the parts have one do so as long as there is memory for so many records. Empty
/// ones are left out.
pub fn groups(known: &Known, cuts: &Cuts, counts: &[PartCounts], most: u64) -> Vec<Vec<usize>> {
    let of = |parts: &[u32]| {
        let mut all = PartCounts::new(known);
        parts.iter().for_each(|part| all.merge(&counts[*part as usize]));
        all
    };
    let requirement = &known.problem.requirement;
    let is_narrow = |counts: &PartCounts| {
        requirement.diversity_of(&known.tally(counts)).is_some_and(|margin| margin.is_narrow())
    };
    let whole: Vec<u32> = (0..counts.len() as u32).collect();
    let may_have_room = !is_narrow(&of(&whole));
    let joins = |parts: &[u32], all: &[u32]| {
        let own = of(parts);
        let wants_room = || may_have_room && of(all).rows <= most && is_narrow(&own);
        own.rows > 0 && (!requirement.holds(&known.tally(&own)) || wants_room())
    };
    let groups = cuts.joined(&joins).into_iter();
    groups
        .filter(|parts| of(parts).rows > 0)
        .map(|parts| parts.into_iter().map(|part| part as usize).collect())
        .collect()
}
