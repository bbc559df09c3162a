//! Taking the records of a group that are nearest to another.

use super::Sides;
use super::growing::Growing;
use crate::loss::Kernel;
use crate::problem::{Code, Lanes};

/// Takes records, and keeps its memory from one time to the next.
#[derive(Clone, Debug, Default)]
pub struct Taker<C> {
    around: Growing<C>,
    /// Places that may still be taken, and the least that the box costs with each.
    left: Vec<(usize, f64)>,
    taken: Vec<usize>,
}

impl<C: Code> Taker<C> {
    /// Takes records one after the other for a box, each time the one that lets the box around all of them grow least;
    /// of equals the first. Stops as soon as it is clear that the box would cost more than `limit`. The records are those
    /// at places below `len`; returns what the box costs.
    ///
    /// Boxes only grow, so what a record cost before is the least it can cost: most need not be asked again.
    pub fn take_nearest<'a>(
        &mut self,
        kernel: &Kernel,
        sides: Sides<'_, C>,
        row: impl Fn(usize) -> &'a [Lanes<C>],
        len: usize,
        count: usize,
        limit: f64,
    ) -> Option<f64> {
        self.around.begin(kernel, sides);
        self.taken.clear();
        self.left.clear();
        self.left.extend((0..len).map(|place| (place, 0.0)));
        while self.taken.len() < count {
            let nearest = self.look(kernel, &row, count, limit);
            if self.taken.len() == count {
                break;
            }
            if self.left.len() < count - self.taken.len() {
                return None;
            }
            let (at, place) = nearest?;
            self.around.ask(kernel, row(place));
            self.around.accept(row(place));
            self.taken.push(place);
            self.left.remove(at);
        }
        (self.around.penalty() <= limit).then(|| self.around.penalty())
    }

    /// The places that were taken, in that order.
    pub fn taken(&self) -> &[usize] {
        &self.taken
    }

    /// Takes what costs nothing, drops what costs more than the limit, and finds the nearest of the others.
    fn look<'a>(
        &mut self,
        kernel: &Kernel,
        row: &impl Fn(usize) -> &'a [Lanes<C>],
        count: usize,
        limit: f64,
    ) -> Option<(usize, usize)> {
        let penalty = self.around.penalty();
        let (mut least, mut nearest) = (f64::INFINITY, None);
        let mut kept = 0;
        for at in 0..self.left.len() {
            let (place, mut grown) = self.left[at];
            if grown < least {
                grown = self.around.ask(kernel, row(place));
            }
            if grown <= penalty {
                // Costs nothing, so it comes before all that cost something.
                self.around.accept(row(place));
                self.taken.push(place);
                if self.taken.len() == count {
                    return None;
                }
            } else if grown <= limit {
                if grown < least {
                    (least, nearest) = (grown, Some((kept, place)));
                }
                self.left[kept] = (place, grown);
                kept += 1;
            }
        }
        self.left.truncate(kept);
        nearest
    }
}
