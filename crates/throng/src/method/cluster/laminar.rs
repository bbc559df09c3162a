//! Ranges that never overlap in part: of two published ranges of a number, one holds the other or they do not meet.
//!
//! Where two ranges overlap in part, one of them is widened to hold the other: the one for which that costs less, records
//! times added width. Ranges only grow, so this ends; groups stay as they are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::problem::Problem;
use crate::research::Spans;
use crate::table::Scale;

/// Widens the boxes of groups of these sizes until no ranges of numbers overlap in part.
pub fn widen(problem: &Problem, boxes: &mut [Vec<(u32, u32)>], sizes: &[usize]) {
    let spans = Spans::new(&problem.attributes);
    for (at, ends) in boxes.iter_mut().enumerate() {
        let domain = &problem.attributes[at].domain;
        if let Scale::Numeric { .. } = domain.scale() {
            ends.iter_mut().for_each(|own| *own = domain.covered(own.0, own.1));
            laminar(ends, sizes, |low, high| spans.span(at, low, high));
        }
    }
}

/// Ranges by their lower end, wider ones first, with the groups that have them.
type Waiting = BTreeMap<(u32, Reverse<u32>), Vec<usize>>;

fn laminar(ends: &mut [(u32, u32)], sizes: &[usize], span: impl Fn(u32, u32) -> f64) {
    let mut waiting = Waiting::new();
    for (group, (low, high)) in ends.iter().enumerate() {
        waiting.entry((*low, Reverse(*high))).or_default().push(group);
    }
    // Ranges around the place we are at, each inside of the one below it; those that are done.
    let mut open: Vec<((u32, u32), Vec<usize>)> = Vec::new();
    let mut done: Vec<((u32, u32), Vec<usize>)> = Vec::new();
    while let Some(((low, Reverse(high)), groups)) = waiting.pop_first() {
        while open.last().is_some_and(|((_, end), _)| *end < low) {
            done.extend(open.pop());
        }
        match open.pop() {
            None => open.push(((low, high), groups)),
            Some((before, others)) if before.1 >= high => {
                open.push((before, others));
                open.push(((low, high), groups));
            }
            Some((before, others)) => {
                // The one before ends inside of this one.
                let both = (before.0.min(low), high);
                let cost = |ends: (u32, u32), groups: &[usize]| {
                    let records: usize = groups.iter().map(|group| sizes[*group]).sum();
                    records as f64 * (span(both.0, both.1) - span(ends.0, ends.1))
                };
                let (widened, kept, kept_ends) =
                    match before.0 == low || cost((low, high), &groups) <= cost(before, &others) {
                        true => (groups, others, before),
                        false => (others, groups, (low, high)),
                    };
                waiting.entry((both.0, Reverse(both.1))).or_default().extend(widened);
                waiting.entry((kept_ends.0, Reverse(kept_ends.1))).or_default().extend(kept);
            }
        }
    }
    for (own, groups) in done.into_iter().chain(open) {
        groups.into_iter().for_each(|group| ends[group] = own);
    }
}

#[cfg(test)]
mod tests {
    use super::laminar;

    #[test]
    fn ranges_hold_each_other_or_do_not_meet() {
        let mut state = 7u64;
        let mut next = |most: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % most
        };
        for _ in 0..500 {
            let count = next(12) as usize + 1;
            let before: Vec<(u32, u32)> = (0..count)
                .map(|_| {
                    let low = next(20) as u32;
                    (low, low + next(8) as u32)
                })
                .collect();
            let sizes: Vec<usize> = (0..count).map(|_| next(9) as usize + 1).collect();
            let mut ends = before.clone();
            laminar(&mut ends, &sizes, |low, high| f64::from(high - low + 1));
            for (a, own) in ends.iter().enumerate() {
                assert!(
                    own.0 <= before[a].0 && own.1 >= before[a].1,
                    "{own:?} does not hold {:?}",
                    before[a]
                );
                for other in &ends {
                    let apart = own.1 < other.0 || other.1 < own.0;
                    let inside = |a: &(u32, u32), b: &(u32, u32)| a.0 >= b.0 && a.1 <= b.1;
                    assert!(apart || inside(own, other) || inside(other, own), "{own:?} and {other:?}");
                }
            }
        }
    }
}
