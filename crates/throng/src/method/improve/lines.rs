//! Groups that differ along one number only, cut anew in the best way.
//!
//! Peeling takes the cheapest windows of a number first and leaves stretches between them that no later window covers well.
//! Groups whose cells agree in all other attributes can be told apart along the number alone, so their records may be cut
//! anew: the best cut of a line into runs of at least k records is found by dynamic programming, each run having fewer than 2k
//! (a longer one can be halved at no loss). It is taken where it costs less than what was there. Only where the size of
//! classes is all that is asked.
//!
//! Cost: O(N·(k + log N + d)) for each number.

use super::SAVES;
use super::group::{Group, Work};
use super::index::closure;
use crate::collections::{Arrange, sort_by_key_and_id};
use crate::parallel;
use crate::problem::Code;
use crate::table::Scale;

/// Sets with more runs to compare are left as they are.
const MOST_RUNS: usize = 100_000_000;

/// Cuts groups that differ along one number anew, number by number.
pub(super) fn recut<C: Code>(work: &Work<'_, C>, mut groups: Vec<Group<C>>) -> Vec<Group<C>> {
    if !work.judge.count_decides() || work.judge.smallest() < 2 {
        return groups;
    }
    let attributes = &work.problem.attributes;
    let is_number = |at: &usize| matches!(attributes[*at].domain.scale(), Scale::Numeric { .. });
    for line in (0..attributes.len()).filter(is_number) {
        groups = recut_along(work, groups, line);
    }
    groups
}

fn recut_along<C: Code>(work: &Work<'_, C>, groups: Vec<Group<C>>, line: usize) -> Vec<Group<C>> {
    let attributes = &work.problem.attributes;
    // Groups that share a number by chance only cost a look: what is worse than before is not taken.
    let key = |group: &Group<C>| {
        let others = (0..attributes.len()).filter(|at| *at != line);
        others.fold(0u64, |key, at| {
            let (low, high) = closure(&attributes[at], at, group);
            let ends = (low as u64) << 32 | high as u64;
            (key.rotate_left(5) ^ ends).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    };
    let mut keyed: Vec<(u64, Group<C>)> = parallel::map(groups, |group| (key(&group), group));
    // Stable: those of one key stay in their order.
    keyed.arrange_by_key(|(key, _)| *key);
    let mut sets: Vec<Vec<Group<C>>> = Vec::new();
    let mut before = None;
    for (key, group) in keyed {
        match sets.last_mut().filter(|_| before == Some(key)) {
            Some(set) => set.push(group),
            None => sets.push(vec![group]),
        }
        before = Some(key);
    }
    parallel::map(sets, |set| recut_set(work, set, line)).into_iter().flatten().collect()
}

fn recut_set<C: Code>(work: &Work<'_, C>, set: Vec<Group<C>>, line: usize) -> Vec<Group<C>> {
    let now: f64 = set.iter().map(Group::loss).sum();
    let records: usize = set.iter().map(|group| group.records.len()).sum();
    if set.len() < 2 || now <= SAVES || records.saturating_mul(work.judge.smallest()) > MOST_RUNS {
        return set;
    }
    let code = |record: u32| work.matrix.get(record as usize, line).index();
    let mut records: Vec<u32> = set.iter().flat_map(|group| group.records.iter().copied()).collect();
    sort_by_key_and_id(&mut records, code);
    let codes: Vec<usize> = records.iter().map(|record| code(*record)).collect();
    let width = |first: usize, last: usize| work.kernel.penalty(line, codes[first], codes[last]);
    let mut from = 0;
    let runs = best_runs(records.len(), work.judge.smallest(), width).into_iter().map(|end| {
        let run = records[from..end].to_vec();
        from = end;
        work.group(run)
    });
    let anew: Vec<Group<C>> = runs.collect();
    let after: f64 = anew.iter().map(Group::loss).sum();
    if after < now - SAVES { anew } else { set }
}

/// Where the runs of the best cut end; a run costs its size times its width.
fn best_runs(count: usize, smallest: usize, width: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let mut best = vec![f64::INFINITY; count + 1];
    let mut start = vec![0; count + 1];
    best[0] = 0.0;
    for end in smallest..=count {
        for first in end.saturating_sub(2 * smallest - 1)..=end - smallest {
            let cost = best[first] + (end - first) as f64 * width(first, end - 1);
            if cost < best[end] {
                (best[end], start[end]) = (cost, first);
            }
        }
    }
    let mut ends = Vec::new();
    let mut end = count;
    while end > 0 {
        ends.push(end);
        end = start[end];
    }
    ends.reverse();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to cut, one after the other.
    fn least(values: &[f64], smallest: usize) -> f64 {
        if values.is_empty() {
            return 0.0;
        }
        let cost =
            |size: usize| size as f64 * (values[size - 1] - values[0]) + least(&values[size..], smallest);
        (smallest..=values.len()).map(cost).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn runs_are_the_best_of_all() {
        let mut state = 5u64;
        for case in 0..200 {
            let mut values: Vec<f64> = (0..4 + case % 9)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((state >> 40) % 30) as f64
                })
                .collect();
            values.sort_by(f64::total_cmp);
            for smallest in 1..4 {
                let width = |first: usize, last: usize| values[last] - values[first];
                let (mut from, mut found) = (0, 0.0);
                for end in best_runs(values.len(), smallest, width) {
                    assert!(end - from >= smallest);
                    found += (end - from) as f64 * width(from, end - 1);
                    from = end;
                }
                assert_eq!(from, values.len());
                assert!((found - least(&values, smallest)).abs() < 1e-9, "{values:?}, {smallest}");
            }
        }
    }
}
