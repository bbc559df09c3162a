//! Classes that were paid too much once: between passes prices are raised and lowered again by these alone.

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::anchor::{Cut, share};
use super::space::Space;

/// So many cuts are looked at side by side, each thread so many at least.
const BATCH: usize = 8_192;
const EACH: usize = 512;

#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    starts: Vec<u32>,
    members: Vec<(u32, u32)>,
    limits: Vec<i64>,
    /// How much more than they get the members may get at least; a cut with room need not be looked at.
    rooms: Vec<i64>,
    sizes: Vec<u32>,
    idle: Vec<u16>,
}

impl Pool {
    pub fn len(&self) -> usize {
        self.limits.len()
    }

    pub fn push(&mut self, cut: &Cut) {
        self.add(&cut.members, cut.limit, 0);
    }

    fn add(&mut self, members: &[(u32, u32)], limit: i64, idle: u16) {
        self.starts.push(self.members.len() as u32);
        self.members.extend_from_slice(members);
        self.limits.push(limit);
        self.rooms.push(0);
        self.sizes.push(members.iter().map(|(_, count)| count).sum());
        self.idle.push(idle);
    }

    fn members(&self, at: usize) -> &[(u32, u32)] {
        let end = self.starts.get(at + 1).map_or(self.members.len(), |end| *end as usize);
        &self.members[self.starts[at] as usize..end]
    }

    /// Raises all prices by a step, up to `most`, and lowers the members of every cut that then gets too much, in the given order;
    /// returns the steps that took.
    pub fn sweep(
        &mut self,
        space: &Space,
        order: &[u32],
        (step, most): (i64, i64),
        free: bool,
        prices: &mut [i64],
    ) -> u64 {
        prices.iter_mut().for_each(|price| *price = (*price + step).min(most));
        let mut looks = prices.len() + order.len();
        for batch in order.chunks(BATCH) {
            // Prices only fall from here on: what has room now has room when it is its turn.
            let rooms: Vec<i64> = batch
                .par_chunks(1)
                .with_min_len(EACH)
                .map(|at| self.room_after(at[0] as usize, step, prices))
                .collect();
            for (at, room) in batch.iter().zip(rooms) {
                let at = *at as usize;
                looks += if self.rooms[at] < step * i64::from(self.sizes[at]) {
                    self.members(at).len()
                } else {
                    0
                };
                let over = if room < 0 { -self.room(at, prices) } else { 0 };
                if over > 0 {
                    share(self.members(at), over, |point| space.records[point as usize], free, prices);
                    self.idle[at] = 0;
                } else {
                    self.idle[at] = self.idle[at].saturating_add(1);
                }
                self.rooms[at] = room.max(0);
            }
        }
        looks as u64 / 8
    }

    /// At most what room there is when prices have risen by no more than a step, and fallen perhaps.
    fn room_after(&self, at: usize, step: i64, prices: &[i64]) -> i64 {
        let left = self.rooms[at] - step * i64::from(self.sizes[at]);
        if left >= 0 { left } else { self.room(at, prices) }
    }

    /// How much more than they get the members may get.
    fn room(&self, at: usize, prices: &[i64]) -> i64 {
        let each = self.members(at).iter().map(|(point, count)| prices[*point as usize] * i64::from(*count));
        self.limits[at] - each.sum::<i64>()
    }

    /// Forgets cuts that lowered nothing for so many sweeps.
    pub fn prune(&mut self, idle: u16) {
        let mut kept = Pool::default();
        for at in (0..self.len()).filter(|at| self.idle[*at] < idle) {
            kept.add(self.members(at), self.limits[at], self.idle[at]);
        }
        *self = kept;
    }
}
