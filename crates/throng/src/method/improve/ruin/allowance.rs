//! How many records may be left out, and what it counts to leave one out.
//!
//! A record that is left out counts as fully lost. Where more would save than may go, whoever goes takes the place of another;
//! so it counts more than that, by about what the last of those that may go saves. That is estimated at the start, from what
//! each group would save without its odd one, and falls while there is room.

use super::super::group::{Group, Work};
use super::super::spare::Held;
use super::draws::Draws;
use crate::collections::greatest_first;
use crate::parallel;
use crate::problem::Code;

/// How far the extra cost falls after a round that left room.
const FALL: f64 = 0.6;
/// When so much of the search is done and there is still room, nothing is added any more.
const LATE: f64 = 0.7;
/// There is room while less than this share is used.
const USED: f64 = 0.95;

pub(super) struct Allowance {
    most: usize,
    weight: f64,
    extra: f64,
}

impl Allowance {
    pub fn new<C: Code>(work: &Work<'_, C>, held: &Held<C>, most: usize) -> Self {
        let (weight, left) = (work.problem.total_weight(), most - held.lost.len().min(most));
        let extra = if left == 0 { 0.0 } else { extra(work, &held.groups, left) };
        Allowance { most, weight, extra }
    }

    /// What it counts to leave a record out.
    pub fn fine(&self) -> f64 {
        if self.most == 0 { f64::INFINITY } else { self.weight + self.extra }
    }

    /// Takes note of a round.
    pub fn after(&mut self, lost: usize, done: f64) {
        if (lost as f64) < USED * self.most as f64 {
            self.extra *= if done > LATE { 0.0 } else { FALL };
        }
    }

    /// How many more records each block may leave out where so many are, in proportion to what its groups lose.
    pub fn shares(&self, lost: usize, losses: &[f64], draws: &mut Draws) -> Vec<usize> {
        let left = self.most - lost.min(self.most);
        if left == 0 {
            return vec![0; losses.len()];
        }
        let all: f64 = losses.iter().sum();
        let (first, mut sum, mut given) = (draws.unit(), 0.0, 0);
        let share = |loss: &f64| {
            sum += loss;
            // A sum of parts may be a little above the whole.
            let up_to = ((sum / all).min(1.0) * left as f64 + first) as usize;
            let share = up_to.min(left) - given;
            given += share;
            share
        };
        losses.iter().map(share).collect()
    }
}

/// What the last of so many groups would save without its odd one, beyond what that one counts; at least nothing.
fn extra<C: Code>(work: &Work<'_, C>, groups: &[Group<C>], most: usize) -> f64 {
    let saves = |group: &Group<C>| {
        let others = group.records.len().saturating_sub(1) as f64;
        let without = |record: &u32| work.ncp_without(group, *record);
        let least = group.records.iter().map(without).min_by(f64::total_cmp).unwrap_or(0.0);
        group.loss() - others * least - work.problem.total_weight()
    };
    let worth_it = |group: &Group<C>| group.loss() > work.problem.total_weight();
    let of_group = |at: usize| worth_it(&groups[at]).then(|| saves(&groups[at]));
    let mut saved: Vec<f64> = parallel::fill(groups.len(), 1, of_group).into_iter().flatten().collect();
    greatest_first(&mut saved);
    saved.get(most - 1).copied().unwrap_or(0.0).max(0.0)
}
