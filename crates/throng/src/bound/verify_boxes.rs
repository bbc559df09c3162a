//! Checks prices against every box of a table with at most one number, attribute by attribute.
//!
//! Points stand by falling price, and so does every part of them, so that the first K records of a list are its dearest. A list whose
//! dearest are paid no more than K times what has been chosen costs is done with, and so is the end of a list from which on nobody is paid
//! enough to be among them. Of trees every node is chosen, of the number every range: where it begins and where it ends are halved
//! in turn.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::space::{Caps, Space};
use crate::error::Result;
use crate::parallel;
use crate::watch::Watch;

/// Looks at points before it is given up: there are too many boxes.
const MOST_LOOKS: u64 = 3_000_000_000;
/// Parts of lists of at least so many points are looked at side by side.
const SIDE_BY_SIDE: usize = 500;

/// Codes from which to which a range begins, and from which to which it ends.
type Ends = ((u32, u32), (u32, u32));

struct Boxes<'a> {
    space: &'a Space,
    prices: &'a [i64],
    size: i64,
    trees: Vec<usize>,
    number: Option<usize>,
    looks: AtomicU64,
    watch: &'a dyn Watch,
}

/// Whether no box of points by falling price is paid too much; none if there are too many boxes, or something else than the number
/// of records is asked of classes.
pub(super) fn holds(space: &Space, prices: &[i64], watch: &dyn Watch) -> Result<Option<bool>> {
    let (numbers, trees): (Vec<usize>, Vec<usize>) =
        (0..space.width()).partition(|at| space.costs[*at].two_sided());
    let Some(size) = space.sizes.first().copied() else { return Ok(Some(true)) };
    let plain = space.caps == Caps::None && space.sizes.iter().all(|own| *own == size);
    if !plain || size < 2 || numbers.len() > 1 || trees.len() > 40 {
        return Ok(None);
    }
    let boxes = Boxes {
        space,
        prices,
        size: i64::from(size),
        trees,
        number: numbers.first().copied(),
        looks: AtomicU64::new(0),
        watch,
    };
    let all: Vec<u32> = (0..space.len() as u32).collect();
    boxes.holds(&all, 0, 0)
}

impl Boxes<'_> {
    /// Whether the boxes of a list hold whose first trees cost so much; none if the search is given up.
    fn holds(&self, list: &[u32], chosen: usize, cost: i64) -> Result<Option<bool>> {
        if self.looks.fetch_add(list.len() as u64, Ordering::Relaxed) > MOST_LOOKS {
            return Ok(None);
        }
        let list = self.open(list, cost);
        if list.is_empty() {
            return Ok(Some(true));
        }
        match (self.trees.get(chosen), self.number) {
            (Some(tree), _) => self.nodes_hold(list, *tree, chosen + 1, cost),
            (None, Some(number)) => {
                self.watch.check()?;
                let codes = list.iter().map(|point| self.space.row(*point)[number]);
                let all = (codes.clone().min().unwrap_or(0), codes.max().unwrap_or(0));
                Ok(Some(self.ranges_hold(list, number, (all, all), cost)))
            }
            // The list is paid too much, and it is a box.
            (None, None) => Ok(Some(false)),
        }
    }

    /// The points of a list of which a class might be paid too much at such a cost.
    fn open<'l>(&self, list: &'l [u32], cost: i64) -> &'l [u32] {
        let (mut left, mut sum, mut last) = (self.size, 0, 0);
        for point in list {
            let taken = left.min(i64::from(self.space.records[*point as usize]));
            last = self.prices[*point as usize];
            sum += taken * last;
            left -= taken;
            if left == 0 {
                break;
            }
        }
        if left > 0 || sum <= self.size * cost {
            return &[];
        }
        let others = sum - last;
        let end = list.partition_point(|point| {
            let price = self.prices[*point as usize];
            price >= last || others + price > self.size * cost
        });
        &list[..end]
    }

    /// Whether all nodes of a tree hold: each code by itself, and all that cost no more together than two of them.
    fn nodes_hold(&self, list: &[u32], tree: usize, chosen: usize, cost: i64) -> Result<Option<bool>> {
        let code = |point: &u32| self.space.row(*point)[tree];
        let mut codes: Vec<u32> = list.iter().map(code).collect();
        codes.sort_unstable();
        codes.dedup();
        let own = &self.space.costs[tree];
        let mut nodes: Vec<(u32, u32, u32)> = codes.iter().map(|code| (*code, *code, 0)).collect();
        // What a node costs two codes next to each other cost in it.
        for pair in codes.windows(2) {
            let (low, high) = (pair[0], pair[1]);
            let cost = own.between(low, high);
            let first = codes.partition_point(|code| *code < low && own.pair(*code, low) > cost);
            let end = codes.partition_point(|code| *code <= high || own.pair(*code, low) <= cost);
            nodes.push((codes[first], codes[end - 1], cost));
        }
        nodes.sort_unstable();
        nodes.dedup();
        let node_holds = |(low, high, more): (u32, u32, u32)| {
            let part: Vec<u32> =
                list.iter().filter(|point| (low..=high).contains(&code(point))).copied().collect();
            self.holds(&part, chosen, cost + i64::from(more))
        };
        if list.len() < SIDE_BY_SIDE {
            for node in nodes {
                match node_holds(node)? {
                    Some(true) => {}
                    other => return Ok(other),
                }
            }
            return Ok(Some(true));
        }
        let and = |one: Option<bool>, other: Option<bool>| match (one, other) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        let stopped = AtomicBool::new(false);
        let held = parallel::tasks(
            nodes,
            || (),
            |(), node| {
                if stopped.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                node_holds(node).inspect_err(|_| stopped.store(true, Ordering::Relaxed))
            },
        );
        held.into_iter().try_fold(Some(true), |all, held| Ok(and(all, held?)))
    }

    /// Whether all ranges of the number hold that begin and end between given codes.
    fn ranges_hold(&self, list: &[u32], number: usize, (begins, ends): Ends, cost: i64) -> bool {
        let code = |point: &u32| self.space.row(*point)[number];
        let least = if begins.1 < ends.0 { self.space.costs[number].between(begins.1, ends.0) } else { 0 };
        let inside: Vec<u32> =
            list.iter().filter(|point| (begins.0..=ends.1).contains(&code(point))).copied().collect();
        self.looks.fetch_add(inside.len() as u64, Ordering::Relaxed);
        let open = self.open(&inside, cost + i64::from(least));
        if open.is_empty() {
            return true;
        }
        if begins.0 == begins.1 && ends.0 == ends.1 {
            return false;
        }
        let halves =
            |(low, high): (u32, u32)| [(low, low + (high - low) / 2), (low + (high - low) / 2 + 1, high)];
        // A range does not end before it begins.
        let possible = |begins: (u32, u32), ends: (u32, u32)| begins.0 <= ends.1;
        if ends.1 - ends.0 > begins.1 - begins.0 {
            halves(ends)
                .into_iter()
                .all(|ends| !possible(begins, ends) || self.ranges_hold(open, number, (begins, ends), cost))
        } else {
            halves(begins)
                .into_iter()
                .all(|begins| !possible(begins, ends) || self.ranges_hold(open, number, (begins, ends), cost))
        }
    }
}
