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
        self.idle.push(idle);
    }

    fn members(&self, at: usize) -> &[(u32, u32)] {
        let end = self.starts.get(at + 1).map_or(self.members.len(), |end| *end as usize);
        &self.members[self.starts[at] as usize..end]
    }

    /// Lowers the members of every cut that gets too much, in the given order; returns the steps that took.
    pub fn sweep(&mut self, space: &Space, order: &[u32], free: bool, prices: &mut [i64]) -> u64 {
        for &at in order {
            let at = at as usize;
            let members = self.members(at);
            let sum: i64 =
                members.iter().map(|(point, count)| prices[*point as usize] * i64::from(*count)).sum();
            let over = sum - self.limits[at];
            if over > 0 {
                share(members, over, |point| f64::from(space.records[point as usize]), free, prices);
                self.idle[at] = 0;
            } else {
                self.idle[at] = self.idle[at].saturating_add(1);
            }
        }
        (self.members.len() / 8) as u64
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
