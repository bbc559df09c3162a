//! Joining neighbouring groups until a requirement holds that they do not meet alone.
//!
//! For sizes the best way to join is found as for single records ([`super::runs`]): `best(i)` over all ways to join the
//! first i groups. For other requirements groups are joined one by one until the requirement holds; it need not hold
//! any more with one further group, so the first time counts. What is left over at the end joins the groups before
//! it, one by one: all of them together meet the requirement, or no release would.

use super::diverse::Groups;
use crate::error::Result;
use crate::privacy::Judge;
use crate::watch::Watch;

/// Tells what the last of some groups costs, what the last two cost, and so on.
pub type StretchCosts<'a> = dyn Fn(&[&[u32]], &mut Vec<f64>) + 'a;

/// Joins neighbours into groups of at least `k` records with the least cost.
pub fn join_to_size(groups: Groups, k: usize, cost: &StretchCosts<'_>) -> Groups {
    let parts: Vec<&[u32]> = groups.iter().collect();
    let largest = groups.sizes.iter().copied().max().unwrap_or(0);
    let mut best = vec![f64::INFINITY; parts.len() + 1];
    let mut from = vec![0; parts.len() + 1];
    best[0] = 0.0;
    let mut costs = Vec::new();
    for end in 1..=parts.len() {
        // A longer stretch could be split into two that are large enough.
        let (mut start, mut size) = (end, 0);
        while start > 0 && size < 2 * k + largest {
            start -= 1;
            size += parts[start].len();
        }
        costs.clear();
        cost(&parts[start..end], &mut costs);
        let mut size = 0;
        for (cost, at) in costs.iter().zip((start..end).rev()) {
            size += parts[at].len();
            if size >= k && best[at] + cost < best[end] {
                (best[end], from[end]) = (best[at] + cost, at);
            }
        }
    }
    let mut sizes = Vec::new();
    let mut end = parts.len();
    while end > 0 {
        // With fewer than k records in all there is no cut; they are one group.
        let start = if best[end].is_finite() { from[end] } else { 0 };
        sizes.push(parts[start..end].iter().map(|part| part.len()).sum());
        end = start;
    }
    sizes.reverse();
    drop(parts);
    Groups { places: groups.places, sizes }
}

/// Joins neighbours until they may be classes; places are those of `order`.
pub fn join_until_it_holds(
    judge: &Judge<'_>,
    order: &[u32],
    groups: Groups,
    watch: &dyn Watch,
) -> Result<Groups> {
    let mut tally = judge.tally();
    let (mut sizes, mut size) = (Vec::new(), 0);
    for part in groups.iter() {
        part.iter().for_each(|place| judge.add(&mut tally, order[*place as usize]));
        size += part.len();
        if judge.allows(&tally) {
            watch.check()?;
            watch.advance(size as u64);
            sizes.push(size);
            size = 0;
            tally.clear();
        }
    }
    let mut rest = groups.places.len() - size;
    while size > 0 {
        let before = sizes.pop().unwrap_or(0);
        let own = rest - before..rest;
        groups.places[own].iter().for_each(|place| judge.add(&mut tally, order[*place as usize]));
        rest -= before;
        size += before;
        if rest == 0 || judge.allows(&tally) {
            sizes.push(size);
            break;
        }
    }
    Ok(Groups { places: groups.places, sizes })
}
