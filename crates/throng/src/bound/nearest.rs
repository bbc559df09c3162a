//! What the nearest others of a point cost with it.

use super::dearest::{Dearest, Offer};
use super::index::Index;
use super::space::Space;

/// The nearest others of a point.
#[derive(Default)]
pub(super) struct Nearest {
    dearest: Dearest,
}

impl Nearest {
    /// What a point costs with the furthest of as many of its nearest as its class needs, and what the box of all of them
    /// costs; and the steps that took. Where values have caps, the nearest are those that its class may have: whichever class
    /// the point is in holds so many within the caps, and the furthest of these lies no nearer.
    pub fn box_around(&mut self, space: &Space, index: &Index, point: u32, values: usize) -> (i64, i64, u64) {
        let room = space.sizes[point as usize] as usize - 1;
        let row = space.row(point);
        let value = |point: u32| space.values[point as usize];
        // The dearest by −cost are the nearest.
        self.dearest.begin(room, space.capped().then(|| (value(point), values)));
        let mut looks = 0;
        let dearest = &mut self.dearest;
        let nodes = index.nearest(space, row, |points| {
            looks += u64::from(points.end - points.start);
            for other in points {
                let records = space.records[other as usize] - u32::from(other == point);
                let cost = space.apart(point, other);
                if records > 0 {
                    let (price, value) = (-i64::from(cost), value(other));
                    let offer = Offer { price, candidate: other, records, value, cap: space.cap(value) };
                    dearest.add(offer, &space.values);
                }
            }
            dearest.limit()
        });
        let mut ends: Vec<(u32, u32)> = row.iter().map(|code| (*code, *code)).collect();
        for other in dearest.candidates() {
            let codes = space.row(other);
            for at in 0..ends.len() {
                let (low, high) = ends[at];
                ends[at] = (low.min(codes[at]), high.max(codes[at]));
            }
        }
        let cost =
            space.costs.iter().zip(&ends).map(|(cost, (low, high))| i64::from(cost.between(*low, *high)));
        let furthest = if dearest.full() && room > 0 { i64::from(dearest.limit()) } else { 0 };
        (furthest, cost.sum(), (nodes + looks) * (8 + space.width() as u64) / 32)
    }
}
