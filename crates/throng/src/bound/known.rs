//! Boxes in which a class was paid too much once. Between passes other records of such a box become its dearest: of the classes that a late
//! pass finds most lie in boxes that were known before, so that they are looked at again now and then, which takes far less than a pass.

use std::collections::HashSet;

use super::anchor::{Cut, share};
use super::index::Index;
use super::pool::Pool;
use super::space::Space;
use super::top::Top;
use crate::parallel;

/// Boxes of more points take too long to look at again.
const MOST_POINTS: usize = 5_000;
/// So many boxes are looked at side by side.
const BATCH: usize = 1_024;
/// So often a box is lowered at a time: others of its records may be the dearest then.
const ROUNDS: usize = 3;

/// Lowest and highest codes, attribute by attribute.
type Ends = Vec<(u32, u32)>;

#[derive(Default)]
pub(super) struct Known {
    seen: HashSet<Ends>,
    starts: Vec<usize>,
    points: Vec<u32>,
    limits: Vec<i64>,
    /// How much more than they get the dearest may get at least; a box with room need not be looked at.
    rooms: Vec<i64>,
}

impl Known {
    /// Keeps the boxes of cuts, as far as they are new; returns the steps that took.
    pub fn learn(&mut self, cuts: &[Cut], space: &Space, index: &Index, prices: &[i64]) -> u64 {
        let found = parallel::map(cuts, |cut| {
            let members: Vec<u32> = cut.members.iter().map(|(point, _)| *point).collect();
            let ends = ends_of(space, &members);
            let (mut points, looks) = index.inside(space, &ends);
            if points.len() > MOST_POINTS {
                points = Vec::new();
            }
            // From the dearest on few others find a place among these.
            points.sort_unstable_by_key(|point| (std::cmp::Reverse(prices[*point as usize]), *point));
            (cut, ends, points, looks)
        });
        let mut looks = 0;
        for (cut, ends, points, own_looks) in found {
            looks += own_looks;
            if !points.is_empty() && self.seen.insert(ends_of(space, &points)) {
                let cost = space.costs.iter().zip(&ends).map(|(cost, (low, high))| cost.between(*low, *high));
                let size: u32 = cut.members.iter().map(|(_, count)| count).sum();
                self.limits.push(i64::from(size) * cost.map(i64::from).sum::<i64>());
                self.rooms.push(0);
                self.starts.push(self.points.len());
                self.points.extend(points);
            }
        }
        looks * (8 + space.width() as u64) / 32
    }

    fn points(&self, at: usize) -> &[u32] {
        let end = self.starts.get(at + 1).copied().unwrap_or(self.points.len());
        &self.points[self.starts[at]..end]
    }

    /// Lowers the dearest of boxes that get too much, and keeps them as cuts. Prices rose by no more than `rise` since the last time; they
    /// only fall meanwhile, so that a box with room before its batch has room when it is its turn. Returns the steps that took.
    pub fn look_again(&mut self, space: &Space, rise: i64, pool: &mut Pool, prices: &mut [i64]) -> u64 {
        let size = space.sizes.first().copied().unwrap_or(0);
        let mut top = Top::new(size);
        let mut looks = 0;
        self.rooms.iter_mut().for_each(|room| *room -= rise * i64::from(size));
        let open: Vec<usize> = (0..self.rooms.len()).filter(|at| self.rooms[*at] < 0).collect();
        for batch in open.chunks(BATCH) {
            let rooms: Vec<i64> =
                parallel::map_with(batch, || Top::new(size), |top, at| self.room(*at, space, prices, top));
            for (at, room) in batch.iter().zip(rooms) {
                looks += self.points(*at).len();
                self.rooms[*at] = room;
                for _ in 0..ROUNDS {
                    if self.rooms[*at] >= 0 {
                        break;
                    }
                    self.rooms[*at] = self.room(*at, space, prices, &mut top);
                    self.lower(*at, space, &top, pool, prices);
                    looks += self.points(*at).len();
                }
            }
        }
        self.rooms.iter_mut().for_each(|room| *room = (*room).max(0));
        looks as u64 / 4
    }

    /// How much more the dearest of a box may get; they are in `top` then.
    fn room(&self, at: usize, space: &Space, prices: &[i64], top: &mut Top) -> i64 {
        top.clear();
        for &point in self.points(at) {
            top.add(prices[point as usize], point, space.records[point as usize]);
        }
        top.sum().map_or(i64::MAX, |sum| self.limits[at] - sum)
    }

    fn lower(&self, at: usize, space: &Space, dearest: &Top, pool: &mut Pool, prices: &mut [i64]) {
        if self.rooms[at] < 0 {
            let members = dearest.members();
            share(&members, -self.rooms[at], |point| space.records[point as usize], false, prices);
            pool.push(&Cut { members, limit: self.limits[at] });
        }
    }
}

fn ends_of(space: &Space, points: &[u32]) -> Ends {
    let of = |at: usize| {
        let codes = points.iter().map(|point| space.row(*point)[at]);
        (codes.clone().min().unwrap_or(0), codes.max().unwrap_or(0))
    };
    (0..space.width()).map(of).collect()
}
