//! What becomes of groups within a limit: what may be left out, and what is refused.
//!
//! Privacy is that of the worst group, so that a few odd records decide about everybody's. Where the policy lets records be
//! suppressed, the most privacy p is looked for that can be had by leaving out no more: each group lets go of the fewest
//! records without which it reaches p. For k that is all of a group that is smaller; for l the surplus of values that occur
//! too often, or all of it where more than a limit is required. Groups that do not meet what is required go first. Boxes
//! only shrink, so the limit holds.

use super::Goal;
use crate::error::{Error, ErrorCode, Result};
use crate::method::{Fact, Partition, Solution};
use crate::privacy::{Judge, Part, ROUNDING};
use crate::problem::Problem;

/// A solution of the dual problem, if it meets what the policy requires as well.
pub(in crate::method) fn reached(problem: &Problem, goal: Goal, partition: &Partition) -> Result<Solution> {
    let (groups, suppressed) = left_out(problem, goal, partition);
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let partition = Partition::from_sizes(groups.concat(), sizes);
    let privacy = goal.of_partition(problem, &partition);
    let told = (privacy * 1000.0).floor() / 1000.0;
    let judge = Judge::new(problem);
    let mut room = judge.tally();
    if !partition.groups().all(|group| judge.holds_in(&mut room, group.iter().copied())) {
        let asked = problem.requirement.describe().join(" and ");
        return Err(Error::new(
            ErrorCode::LimitTooTight,
            format!("within the limit on the loss {} = {told} was reached, but not {asked}", goal.name()),
        )
        .with_hint("allow more loss, or require less privacy"));
    }
    if partition.is_empty() || (privacy <= 1.0 + ROUNDING && !more_required(problem)) {
        return Err(nothing_reached(goal));
    }
    let fact = Fact::ReachedWithinLimit { measure: goal.name().into(), value: told };
    Ok(Solution { suppressed, facts: vec![fact], ..Solution::from(partition) })
}

/// Whether anything is required of classes beside a limit on their loss.
fn more_required(problem: &Problem) -> bool {
    problem.requirement.parts().any(|part| part != Part::MaxLoss)
}

/// The privacy that a partition has once records are left out of it.
pub(super) fn privacy(problem: &Problem, goal: Goal, partition: &Partition) -> f64 {
    if problem.suppressible == 0 {
        return goal.of_partition(problem, partition);
    }
    let (groups, _) = left_out(problem, goal, partition);
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    goal.of_partition(problem, &Partition::from_sizes(groups.concat(), sizes))
}

fn nothing_reached(goal: Goal) -> Error {
    let what = match goal {
        Goal::Size => "some records stay by themselves (k = 1), so that publishing them would protect nobody",
        Goal::Diversity(_) => {
            "some classes have a single sensitive value (l = 1), so that publishing them would tell it"
        }
    };
    let hint = match goal {
        Goal::Size => {
            "allow more loss, let some records be left out with `suppress`, or ask for k and no limit"
        }
        Goal::Diversity(_) => {
            "allow more loss, let some records be left out with `suppress`, ask for k or l as well, or write \
             maximise = \"k\" under [method]"
        }
    };
    Error::new(ErrorCode::LimitTooTight, format!("within the limit on the loss {what}")).with_hint(hint)
}

/// The groups that stay, and the records that are left out, ascending.
fn left_out(problem: &Problem, goal: Goal, partition: &Partition) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut groups: Vec<Vec<u32>> = partition.groups().map(<[u32]>::to_vec).collect();
    if problem.suppressible == 0 {
        return (groups, Vec::new());
    }
    let judge = Judge::new(problem);
    let mut room = judge.tally();
    let mut left = problem.suppressible;
    let mut suppressed: Vec<u32> = Vec::new();
    let mut drop = |groups: &mut Vec<Vec<u32>>, left: &mut usize| {
        groups.retain(|group| {
            let stays = group.len() > *left || judge.holds_in(&mut room, group.iter().copied());
            if !stays {
                *left -= group.len();
                suppressed.extend(group);
            }
            stays
        });
    };
    drop(&mut groups, &mut left);
    let trimmed = Trimmed::new(problem, goal, &groups).most_private(left);
    for (group, keep) in groups.iter_mut().zip(trimmed) {
        let mut at = 0;
        group.retain(|record| {
            at += 1;
            if !keep[at - 1] {
                suppressed.push(*record);
            }
            keep[at - 1]
        });
    }
    groups.retain(|group| !group.is_empty());
    suppressed.sort_unstable();
    (groups, suppressed)
}

/// Groups of which records may be left out.
struct Trimmed<'a> {
    goal: Goal,
    /// Whether a group goes as a whole or not at all.
    whole: bool,
    groups: &'a [Vec<u32>],
    /// The value of each record, group by group, and how often each occurs in its group, the most frequent first.
    values: Vec<Vec<u32>>,
    counts: Vec<Vec<u32>>,
}

impl<'a> Trimmed<'a> {
    fn new(problem: &Problem, goal: Goal, groups: &'a [Vec<u32>]) -> Self {
        let (values, _) = goal.values(problem);
        let of_group = |group: &Vec<u32>| group.iter().map(|record| values[*record as usize]).collect();
        let values: Vec<Vec<u32>> = groups.iter().map(of_group).collect();
        let counts = values.iter().map(|values| counts(values)).collect();
        let whole = goal == Goal::Size || more_required(problem);
        Trimmed { goal, whole, groups, values, counts }
    }

    /// Which records of each group stay, so that privacy is highest with at most so many left out.
    fn most_private(&self, most: usize) -> Vec<Vec<bool>> {
        let mut candidates: Vec<f64> = self.reachable();
        candidates.sort_unstable_by(f64::total_cmp);
        candidates.dedup();
        let lost = |privacy: f64| -> usize { (0..self.groups.len()).map(|at| self.lost(at, privacy)).sum() };
        // What must go grows with the privacy, and not all records may go.
        let fits = |privacy: &f64| {
            let lost = lost(*privacy);
            lost <= most && lost < self.groups.iter().map(Vec::len).sum()
        };
        let enough = candidates.partition_point(fits);
        let privacy = enough.checked_sub(1).map_or(0.0, |at| candidates[at]);
        (0..self.groups.len()).map(|at| self.stays(at, privacy)).collect()
    }

    /// The privacies that groups can have when records of theirs are left out.
    fn reachable(&self) -> Vec<f64> {
        if self.whole {
            return (0..self.groups.len()).map(|at| self.privacy(at)).collect();
        }
        let of_group = |counts: &Vec<u32>| {
            let most = counts.first().copied().unwrap_or(0);
            (1..=most).map(|cap| kept(counts, cap) as f64 / f64::from(cap)).collect::<Vec<f64>>()
        };
        self.counts.iter().flat_map(of_group).collect()
    }

    fn privacy(&self, at: usize) -> f64 {
        self.goal.privacy(self.groups[at].len(), self.counts[at].first().copied().unwrap_or(0))
    }

    /// The most that a value may occur in a group for a privacy, as many as possible; `None` if the group must go.
    fn cap(&self, at: usize, privacy: f64) -> Option<u32> {
        if self.whole {
            return (self.privacy(at) >= privacy).then_some(u32::MAX);
        }
        let counts = &self.counts[at];
        let reaches = |cap: &u32| kept(counts, *cap) as f64 >= privacy * f64::from(*cap) * (1.0 - ROUNDING);
        (1..=counts.first().copied().unwrap_or(0)).rev().find(reaches)
    }

    fn lost(&self, at: usize, privacy: f64) -> usize {
        let size = self.groups[at].len();
        self.cap(at, privacy).map_or(size, |cap| size - kept(&self.counts[at], cap))
    }

    fn stays(&self, at: usize, privacy: f64) -> Vec<bool> {
        let values = &self.values[at];
        let Some(cap) = self.cap(at, privacy) else { return vec![false; values.len()] };
        let mut sorted: Vec<(u32, u32)> = values.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let mut stays = vec![false; values.len()];
        for run in sorted.chunk_by(|a, b| a.0 == b.0) {
            run.iter().take(cap as usize).for_each(|(_, place)| stays[*place as usize] = true);
        }
        stays
    }
}

/// How many records stay if each value may occur so often.
fn kept(counts: &[u32], cap: u32) -> usize {
    counts.iter().map(|count| (*count).min(cap) as usize).sum()
}

/// How often each value occurs, the most frequent first.
fn counts(values: &[u32]) -> Vec<u32> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let mut counts: Vec<u32> = sorted.chunk_by(|a, b| a == b).map(|run| run.len() as u32).collect();
    counts.sort_unstable();
    counts.reverse();
    counts
}
