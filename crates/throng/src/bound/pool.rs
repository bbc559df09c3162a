//! Classes that were paid too much once: between passes prices are raised and lowered again by these alone.

use super::anchor::{Cut, share};
use super::space::Space;

/// Sweeps in which a cut lowered nothing, after which it is forgotten.
const IDLE: u16 = 400;

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
        for &at in order {
            let at = at as usize;
            // Prices have risen by no more than the step, and fallen perhaps.
            self.rooms[at] -= step * i64::from(self.sizes[at]);
            if self.rooms[at] >= 0 {
                self.idle[at] = self.idle[at].saturating_add(1);
                continue;
            }
            let members = self.members(at);
            looks += members.len();
            let sum: i64 =
                members.iter().map(|(point, count)| prices[*point as usize] * i64::from(*count)).sum();
            let over = sum - self.limits[at];
            if over > 0 {
                share(members, over, |point| f64::from(space.records[point as usize]), free, prices);
                self.idle[at] = 0;
                self.rooms[at] = 0;
            } else {
                self.idle[at] = self.idle[at].saturating_add(1);
                self.rooms[at] = -over;
            }
        }
        looks as u64 / 8
    }

    /// Forgets cuts that lowered nothing for long.
    pub fn prune(&mut self) {
        let mut kept = Pool::default();
        for at in (0..self.len()).filter(|at| self.idle[*at] < IDLE) {
            kept.add(self.members(at), self.limits[at], self.idle[at]);
        }
        *self = kept;
    }
}
