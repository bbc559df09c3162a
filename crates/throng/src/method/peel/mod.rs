//! Peel: the cheapest classes first.
//!
//! Methods that cut or cluster spread a group over all attributes at once; the cheapest groups keep most attributes
//! exact and generalize a few. So we look at generalizations (one step of a ladder per attribute) from the cheapest
//! to the dearest, group the records that are still open by their generalized values, and take every group out that
//! meets the requirement and whose own box is cheap enough for its turn. What is left at the end is cut into groups
//! of its own, or joins the group where it adds least. Then the groups are improved.
//!
//! `NOTES.md` beside this file tells what was tried and what it gave.

mod ladder;
mod open;
mod probes;

use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::improve::{Effort, Group, ROUNDS, Work, cut, improve_groups, into_partition};
use super::{Entry, Method, Options, Solution};
use crate::error::Result;
use crate::privacy::Part;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;
use ladder::{Ladder, Turn, Turns, code_counts};
use open::{Candidate, OpenRecords};
use probes::Probes;

/// The registry's entry.
pub const PEEL: Entry = Entry {
    name: "peel",
    summary: "takes the cheapest classes out first, then moves records where they cost less; little loss, more time",
    citation: "throng",
    guarantee: "every class meets the requirement; no bound on the loss",
    takes: &[Part::K, Part::L, Part::T],
    configure,
};

fn configure(options: &mut Options<'_>) -> Result<Box<dyn Method>> {
    let rounds = options.whole("rounds", 0, ROUNDS as u64)? as usize;
    let effort = options.whole("effort", 1, EFFORT)? as usize;
    let seconds = options.number("seconds", "a number above 0", |seconds| seconds > 0.0 && seconds < 1e9)?;
    Ok(Box::new(Peel { rounds, effort, seconds }))
}

/// Times that each record is looked at while peeling, at most, on average.
const EFFORT: u64 = 4000;

/// Peel.
#[derive(Clone, Copy, Debug)]
pub struct Peel {
    /// Rounds of improvement at most.
    pub rounds: usize,
    /// Times that each record is looked at while peeling, at most, on average.
    pub effort: usize,
    /// Seconds after which no more is peeled or improved. What comes out then depends on the machine.
    pub seconds: Option<f64>,
}

impl Method for Peel {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        with_matrix!(&problem.records, matrix => self.solve_matrix(problem, matrix, watch))
    }
}

/// Turns that are counted side by side. Fixed, so that the outcome does not depend on the number of threads.
const TURNS_AT_A_TIME: usize = 64;

/// A group is taken when its own penalty is at most this share of the cost of the turn at hand: what is found early
/// and dear may still find something better.
const CHEAP: f64 = 0.7;

/// Groups that cost more than this many times their turn are not kept: coarser turns find better ones.
const DEAR: f64 = 2.0;

impl Peel {
    fn solve_matrix<C: Code>(
        &self,
        problem: &Problem,
        matrix: &Matrix<C>,
        watch: &dyn Watch,
    ) -> Result<Solution> {
        let until = self.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let effort = Effort { rounds: self.rounds, until };
        let work = Work::new(problem, matrix);
        watch.stage("peeling", Some(problem.len() as u64));
        let mut groups = Vec::new();
        let rest = self.peel(&work, &mut groups, effort, watch)?;
        place_rest(&work, rest, &mut groups);
        let groups = improve_groups(&work, groups, effort, watch)?;
        Ok(into_partition(groups).into())
    }

    /// Takes groups out while there is something to take; gives back the records that are left.
    fn peel<C: Code>(
        &self,
        work: &Work<'_, C>,
        groups: &mut Vec<Group<C>>,
        effort: Effort,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>> {
        let ladders: Vec<Ladder> = work
            .problem
            .attributes
            .par_iter()
            .enumerate()
            .map(|(at, attribute)| {
                Ladder::new(at, attribute, &work.kernel, &code_counts(work.matrix, attribute, at))
            })
            .collect();
        let mut peeling = Peeling {
            work,
            probes: Probes::new(&ladders),
            ladders: &ladders,
            open: OpenRecords::new(work),
            waiting: BinaryHeap::new(),
            waiting_rows: 0,
            looks_left: self.effort.saturating_mul(work.matrix.len()),
        };
        let mut turns = Turns::new(&ladders);
        // The exact records come first, alone.
        let mut batch: Vec<Turn> = turns.by_ref().take(1).collect();
        while let Some(last) = batch.last() {
            watch.check()?;
            let (limit, before) = (last.cost * CHEAP, peeling.open.records());
            let out_of_time = effort.until.is_some_and(|until| Instant::now() >= until);
            if before < work.smallest || out_of_time || !peeling.look(batch) {
                break;
            }
            peeling.take_up_to(limit, groups);
            watch.advance((before - peeling.open.records()) as u64);
            batch = turns.by_ref().take(TURNS_AT_A_TIME).collect();
        }
        peeling.take_up_to(f64::INFINITY, groups);
        Ok(peeling.open.into_records())
    }
}

/// Peeling under way.
struct Peeling<'a, C: Code> {
    work: &'a Work<'a, C>,
    ladders: &'a [Ladder],
    probes: Probes,
    open: OpenRecords<C>,
    /// Groups that were found but cost too much for now.
    waiting: BinaryHeap<Candidate>,
    waiting_rows: usize,
    /// How many more times a row may be looked at.
    looks_left: usize,
}

impl<C: Code> Peeling<'_, C> {
    /// Looks for groups under some strings. Tells whether the effort allowed it.
    fn look(&mut self, mut batch: Vec<Turn>) -> bool {
        let probes = self.probes.missing(&batch, self.open.len());
        let exhausted: Vec<bool> =
            probes.par_iter().map(|steps| self.open.is_exhausted(self.work, self.ladders, steps)).collect();
        let probed = probes.len();
        self.probes.learn(probes.into_iter().zip(exhausted), self.open.len());
        batch.retain(|turn| !self.probes.is_exhausted(&turn.steps));
        let looks = (batch.len() + probed) * self.open.len();
        if looks > self.looks_left {
            return false;
        }
        self.looks_left -= looks;
        let found: Vec<Vec<Candidate>> = batch
            .par_iter()
            .map(|turn| self.open.find(self.work, self.ladders, &turn.steps, turn.cost * DEAR + TINY))
            .collect();
        for candidate in found.into_iter().flatten() {
            // What waits is bounded; coarser strings find what could not wait.
            if self.waiting_rows < MOST_WAITING * self.work.matrix.len() {
                self.waiting_rows += candidate.rows.len();
                self.waiting.push(candidate);
            }
        }
        true
    }

    /// Takes the groups that cost at most `limit`, the cheapest first.
    fn take_up_to(&mut self, limit: f64, groups: &mut Vec<Group<C>>) {
        while self.waiting.peek().is_some_and(|candidate| candidate.ncp <= limit + TINY) {
            let Some(candidate) = self.waiting.pop() else { break };
            let (rows, ncp) = (candidate.rows.len(), candidate.ncp);
            self.waiting_rows -= rows;
            let Some(candidate) = self.open.still_open(self.work, candidate) else { continue };
            // It lost records, so it may cost less: others may be cheaper still, but none was before.
            if candidate.ncp > ncp {
                self.waiting_rows += candidate.rows.len();
                self.waiting.push(candidate);
            } else if let Some(records) = self.open.take(self.work, &candidate) {
                cut(self.work, records, groups);
            }
        }
        self.open.close();
    }
}

/// Rounding.
const TINY: f64 = 1e-9;
/// Rows that may wait, for each record.
const MOST_WAITING: usize = 16;

/// Finds a place for the records that are left: groups of their own where they meet the requirement together, else
/// the group where each adds least.
fn place_rest<C: Code>(work: &Work<'_, C>, rest: Vec<u32>, groups: &mut Vec<Group<C>>) {
    if rest.is_empty() {
        return;
    }
    if rest.len() >= 2 * work.smallest && work.holds(rest.iter().copied()) || groups.is_empty() {
        return cut(work, rest, groups);
    }
    let mut homeless = Vec::new();
    for record in rest {
        let cost = |at: usize| (work.cost_of_joining(&groups[at], record), at);
        let mut order: Vec<(f64, usize)> = (0..groups.len()).into_par_iter().map(cost).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        match order.into_iter().find(|(_, at)| work.holds_with(&groups[*at], record)) {
            Some((_, at)) => work.join(&mut groups[at], record),
            None => homeless.push(record),
        }
    }
    merge_until_valid(work, homeless, groups);
}

/// Records that no group may take one by one: they form a group that takes whole groups in until it is valid, the
/// cheapest first. The table as a whole is valid, so it ends.
fn merge_until_valid<C: Code>(work: &Work<'_, C>, records: Vec<u32>, groups: &mut Vec<Group<C>>) {
    if records.is_empty() {
        return;
    }
    let mut merged = work.group(records);
    while !work.holds(merged.records.iter().copied()) && !groups.is_empty() {
        let cost = |at: usize| {
            let mut extent = merged.extent.clone();
            extent.merge(&groups[at].extent);
            let size = merged.records.len() + groups[at].records.len();
            (work.kernel.ncp(&extent) * size as f64 - groups[at].loss(), at)
        };
        let cheapest = (0..groups.len()).map(cost).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((_, at)) = cheapest else { break };
        let mut records = merged.records;
        records.extend(groups.swap_remove(at).records);
        merged = work.group(records);
    }
    groups.push(merged);
}
