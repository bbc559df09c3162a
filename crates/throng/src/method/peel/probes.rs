//! Probes: coarse strings that tell of many finer ones that there is nothing to find.
//!
//! Where no combination under a string has enough open records, no finer string has one either, and never will,
//! because open records only become fewer. One look at a coarse string so saves a look at each of the finer ones.

use super::ladder::{Ladder, Turn};
use crate::table::Map;

pub(super) struct Probes {
    /// The attributes with the most steps, most first: their steps are taken to the top.
    widest: Vec<usize>,
    tops: Vec<u8>,
    known: Map<Vec<u8>, Known>,
}

#[derive(Clone, Copy)]
enum Known {
    Exhausted,
    /// There was something to find while so many rows were open.
    AliveAt(usize),
}

/// How many attributes are taken to the top, one after the other.
const DEPTH: usize = 3;

impl Probes {
    pub fn new(ladders: &[Ladder]) -> Self {
        let mut widest: Vec<usize> = (0..ladders.len()).collect();
        widest.sort_by_key(|at| (std::cmp::Reverse(ladders[*at].steps.len()), *at));
        widest.truncate(DEPTH.min(ladders.len().saturating_sub(1)));
        let top = |ladder: &Ladder| (ladder.steps.len() - 1).min(usize::from(u8::MAX) - 1) as u8;
        Probes { widest, tops: ladders.iter().map(top).collect(), known: Map::default() }
    }

    /// The coarse strings that speak for a string, the finest first.
    fn of<'a>(&'a self, steps: &[u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
        let mut steps = steps.to_vec();
        self.widest.iter().map(move |at| {
            steps[*at] = self.tops[*at];
            steps.clone()
        })
    }

    /// Whether a string is known to have nothing.
    pub fn is_exhausted(&self, steps: &[u8]) -> bool {
        self.of(steps).any(|probe| matches!(self.known.get(&probe), Some(Known::Exhausted)))
    }

    /// The probes that are worth a look before some turns.
    pub fn missing(&self, turns: &[Turn], open: usize) -> Vec<Vec<u8>> {
        let stale = |probe: &Vec<u8>| match self.known.get(probe) {
            None => true,
            Some(Known::Exhausted) => false,
            // Much fewer rows are open since: it may be exhausted by now.
            Some(Known::AliveAt(before)) => open * 10 < before * 7,
        };
        let undecided = turns.iter().filter(|turn| !self.is_exhausted(&turn.steps));
        let mut probes: Vec<Vec<u8>> =
            undecided.flat_map(|turn| self.of(&turn.steps)).filter(stale).collect();
        probes.sort_unstable();
        probes.dedup();
        probes
    }

    /// Takes note of what probes found while so many rows were open.
    pub fn learn(&mut self, found: impl Iterator<Item = (Vec<u8>, bool)>, open: usize) {
        for (probe, exhausted) in found {
            self.known.insert(probe, if exhausted { Known::Exhausted } else { Known::AliveAt(open) });
        }
    }
}
