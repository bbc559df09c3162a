//! Taking the records of a group that are nearest to another.

use super::halves::inside;
use super::{BoxList, Sides};
use crate::loss::Kernel;
use crate::problem::{Code, Lanes};

/// Records taken one after the other, each time the one that lets the box around all of them grow least; of equals
/// the first. Stops and returns `None` as soon as the box costs more than `limit`.
///
/// `rows` are those of the giving group. Returns their places in the order they were taken, and what the box costs.
pub fn nearest<'a, C: Code>(
    kernel: &Kernel,
    taker: Sides<'_, C>,
    rows: &(impl ExactSizeIterator<Item = &'a [Lanes<C>]> + Clone),
    count: usize,
    limit: f64,
) -> Option<(Vec<usize>, f64)> {
    let mut around = BoxList::new(taker.0.len());
    around.push(taker);
    let mut left = vec![true; rows.len()];
    let mut taken = Vec::with_capacity(count);
    let mut penalty = kernel.union_up_to(taker, taker, f64::INFINITY);
    while taken.len() < count {
        let mut best: Option<(f64, usize, &[Lanes<C>])> = None;
        for (place, row) in rows.clone().enumerate() {
            if !left[place] {
                continue;
            }
            let (low, high) = around.get(0);
            let most = best.map_or(limit, |(penalty, ..)| penalty);
            let grown = match inside(low, high, row) {
                true => penalty,
                false => kernel.union_up_to((low, high), (row, row), most),
            };
            if grown <= penalty {
                // Costs nothing, so it comes before all that cost something.
                around.grow(0, (row, row));
                left[place] = false;
                taken.push(place);
                if taken.len() == count {
                    break;
                }
            } else if grown <= limit && best.is_none_or(|(penalty, ..)| grown < penalty) {
                best = Some((grown, place, row));
            }
        }
        if taken.len() == count {
            break;
        }
        let (grown, place, row) = best?;
        left[place] = false;
        taken.push(place);
        around.grow(0, (row, row));
        penalty = grown;
    }
    (penalty <= limit).then_some((taken, penalty))
}
