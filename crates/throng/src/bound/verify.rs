//! Checks prices against every class that there could be, apart from how they were found.
//!
//! Nothing is shared with the search but what classes cost and how large they are. Points stand in a row, the most
//! demanding and then the dearest first. For each, all classes of which it is the first are looked at: a class reaches so far from
//! it on each side (a tree has one, a number two), and sets of classes are cut in two, within a reach and beyond it, until
//! either a class is found that is paid more than it costs, or none can be. Every pair of points is compared; that takes
//! time with the square of their number. Tables with at most one number are checked box by box (`verify_boxes`), unless there are too many.

use super::costs::Cost;
use super::space::{Caps, Space};
use super::verify_boxes;
use crate::collections::Arrange;
use crate::error::Result;
use crate::parallel;
use crate::watch::Watch;

/// Taken off a range of numbers: a unit for places that are rounded down, and one for floating point.
const ROUNDED: u32 = 2;

/// Different records with their prices.
struct Points {
    space: Space,
    prices: Vec<i64>,
}

/// Another record as seen from the first of a class.
struct Other {
    price: i64,
    records: u32,
    value: u32,
    reach: Vec<u32>,
}

/// Whether no class of records, each for itself in `space`, is paid more than it costs.
pub(super) fn holds(space: &Space, prices: &[i64], watch: &dyn Watch) -> Result<bool> {
    let points = Points::new(space, prices);
    if let Some(held) = verify_boxes::holds(&points.space, &points.prices, watch)? {
        return Ok(held);
    }
    let held = parallel::try_map(0..points.prices.len(), |first| {
        watch.check()?;
        Ok(points.holds_from(first))
    });
    Ok(held?.into_iter().all(|held| held))
}

impl Points {
    fn new(space: &Space, prices: &[i64]) -> Self {
        let mut order: Vec<u32> = (0..space.len() as u32).collect();
        let key = |record: &u32| {
            let at = *record as usize;
            (std::cmp::Reverse((space.sizes[at], prices[at])), space.values[at], space.row(*record))
        };
        order.arrange_by(|one, other| key(one).cmp(&key(other)));
        let runs: Vec<&[u32]> = order.chunk_by(|one, other| key(one) == key(other)).collect();
        let firsts: Vec<u32> = runs.iter().map(|run| run[0]).collect();
        let mut points = space.reordered(&firsts);
        points.records = runs.iter().map(|run| run.len() as u32).collect();
        let prices = firsts.iter().map(|record| prices[*record as usize]).collect();
        Points { space: points, prices }
    }

    /// Whether no class is paid too much whose first point is this one.
    fn holds_from(&self, first: usize) -> bool {
        let size = i64::from(self.space.sizes[first]);
        let dearest = self.prices[first..].iter().copied().max().unwrap_or(0);
        let most = self.prices[first] + (size - 1) * dearest;
        let mut others = Vec::new();
        for other in first..self.prices.len() {
            let records = self.space.records[other] - u32::from(other == first);
            if records > 0 && size * i64::from(self.space.apart(first as u32, other as u32)) < most {
                others.push(Other {
                    price: self.prices[other],
                    records,
                    value: self.space.values[other],
                    reach: self.reach(first, other),
                });
            }
        }
        let sides = self.reach(first, first).len();
        let all: Vec<usize> = (0..others.len()).collect();
        let mut open = vec![(all, vec![0; sides])];
        while let Some((among, floor)) = open.pop() {
            let Some(worst) = self.worst(first, &others, &among, &floor) else { continue };
            let mut reach = vec![0; sides];
            for at in &worst {
                reach.iter_mut().zip(&others[*at].reach).for_each(|(most, own)| *most = (*most).max(*own));
            }
            if self.is_paid_too_much(first, &others, &among, &reach) {
                return false;
            }
            let widest =
                (0..sides).max_by_key(|side| reach[*side] - floor[*side].min(reach[*side])).unwrap_or(0);
            let within = floor[widest] + ((u64::from(reach[widest] - floor[widest]) * 7) / 10) as u32;
            let (near, far): (Vec<usize>, Vec<usize>) =
                among.iter().partition(|at| others[**at].reach[widest] <= within);
            let mut beyond = floor.clone();
            beyond[widest] = far.iter().map(|at| others[*at].reach[widest]).min().unwrap_or(u32::MAX);
            open.extend([(among, beyond), (near, floor)]);
        }
        true
    }

    /// How far a point reaches from the first, side by side; of numbers the distance itself, which is rounded down only when
    /// both sides are known. A missing number counts as above any other, as far as costs everything.
    fn reach(&self, first: usize, other: usize) -> Vec<u32> {
        let mut reach = Vec::new();
        let codes = self.space.row(first as u32).iter().zip(self.space.row(other as u32));
        for (cost, (own, code)) in self.space.costs.iter().zip(codes) {
            match cost {
                Cost::Number { places, missing, full } => {
                    let is_missing = |code: &u32| Some(*code) == *missing;
                    let place = |code: &u32| places[*code as usize];
                    reach.extend(match (is_missing(own), is_missing(code)) {
                        (true, true) => [0, 0],
                        (false, false) => {
                            [place(code).saturating_sub(place(own)), place(own).saturating_sub(place(code))]
                        }
                        _ => [full + ROUNDED, 0],
                    });
                }
                Cost::Pairs { .. } | Cost::Sparse { .. } => reach.push(cost.pair(*own, *code)),
            }
        }
        reach
    }

    /// What a class costs that reaches so far, times its size.
    fn cost(&self, first: usize, reach: &[u32]) -> i64 {
        let (mut sum, mut at) = (0, 0);
        for cost in &self.space.costs {
            match cost {
                Cost::Number { full, .. } => {
                    let both = u64::from(reach[at]) + u64::from(reach[at + 1]);
                    sum += both.saturating_sub(u64::from(ROUNDED)).min(u64::from(*full));
                    at += 2;
                }
                Cost::Pairs { .. } | Cost::Sparse { .. } => {
                    sum += u64::from(reach[at]);
                    at += 1;
                }
            }
        }
        sum as i64 * i64::from(self.space.sizes[first])
    }

    /// The dearest of some others that may share a class with the first, and what they are paid; none if they are too few.
    fn dearest(&self, first: usize, others: &[Other], sorted: &[usize]) -> Option<(i64, Vec<usize>)> {
        let mut left = self.space.sizes[first] - 1;
        let mut of_value: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
        of_value.insert(self.space.values[first], 1);
        let (mut sum, mut taken) = (0, Vec::new());
        for at in sorted {
            let other = &others[*at];
            let room = match self.space.caps {
                Caps::None => left,
                Caps::Each(_) => {
                    let used = of_value.get(&other.value).copied().unwrap_or(0);
                    left.min(self.space.cap(other.value).saturating_sub(used))
                }
            };
            let count = other.records.min(room);
            if count > 0 {
                sum += other.price * i64::from(count);
                *of_value.entry(other.value).or_insert(0) += count;
                left -= count;
                taken.push(*at);
            }
            if left == 0 {
                break;
            }
        }
        (left == 0).then_some((sum, taken))
    }

    /// Members of a class among some that might be paid too much, were it as cheap as its furthest member alone; none if
    /// there is no such class.
    fn worst(&self, first: usize, others: &[Other], among: &[usize], floor: &[u32]) -> Option<Vec<usize>> {
        let above = |at: &usize| {
            let reach: Vec<u32> =
                others[*at].reach.iter().zip(floor).map(|(own, least)| *own.max(least)).collect();
            self.cost(first, &reach)
        };
        let mut by_cost: Vec<(i64, usize)> = among.iter().map(|at| (above(at), *at)).collect();
        by_cost.sort_unstable();
        let base = self.cost(first, floor);
        let mut seen: Vec<usize> = Vec::new();
        let mut worst: Option<(i64, Vec<usize>)> = None;
        if self.space.sizes[first] == 1 {
            return (self.prices[first] > base).then(Vec::new);
        }
        for run in by_cost.chunk_by(|one, other| one.0 == other.0) {
            for (_, at) in run {
                let place = seen.partition_point(|other| others[*other].price >= others[*at].price);
                seen.insert(place, *at);
            }
            if let Some((sum, taken)) = self.dearest(first, others, &seen) {
                let over = self.prices[first] + sum - run[0].0.max(base);
                if over > worst.as_ref().map_or(0, |(most, _)| *most) {
                    worst = Some((over, taken));
                }
            }
        }
        worst.map(|(_, taken)| taken)
    }

    fn is_paid_too_much(&self, first: usize, others: &[Other], among: &[usize], reach: &[u32]) -> bool {
        let inside = |at: &&usize| others[**at].reach.iter().zip(reach).all(|(own, most)| own <= most);
        let mut inside: Vec<usize> = among.iter().filter(inside).copied().collect();
        inside.sort_by_key(|at| std::cmp::Reverse(others[*at].price));
        let limit = self.cost(first, reach);
        self.dearest(first, others, &inside).is_some_and(|(sum, _)| self.prices[first] + sum > limit)
    }
}
