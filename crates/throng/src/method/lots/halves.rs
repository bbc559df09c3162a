//! Equal halves of a set of records by their quasi-identifiers; sensitive values only say yes or no.

use super::Lots;
use super::deal::Sides;
use crate::loss::Extent;
use crate::parallel;
use crate::problem::Code;

/// Records in two halves.
struct Halved {
    loss: f64,
    one: Vec<u32>,
    other: Vec<u32>,
}

/// Sets of fewer records are not worth handing to other threads.
const PARALLEL_FROM: usize = 4096;

/// Sorting is stable: of equals the one by the first attribute comes first. Apart from what depends on the width of codes.
fn put_cheapest_first(all: &mut [Halved]) {
    all.sort_by(|a, b| a.loss.total_cmp(&b.loss));
}

impl<C: Code> Lots<'_, C> {
    /// Of the halves by rank along each attribute and along the line, those that lose least and may both be classes.
    pub(super) fn halves(&self, set: &[u32]) -> Option<Sides> {
        let tried = self.ways_to_try(set.len());
        let mut all = self.all_halves(set);
        put_cheapest_first(&mut all);
        all.into_iter()
            .take(tried)
            .find(|halved| self.holds(&halved.one) && self.holds(&halved.other))
            .map(|halved| (halved.one, halved.other))
    }

    /// How many ways to halve so many records may be tried. That a cheaper way was refused tells little about single
    /// records of a large set. Of a small one only the cheapest is tried: among four records, a second way to pair them
    /// would tell that two of the first way's pairs have equal values.
    pub(super) fn ways_to_try(&self, size: usize) -> usize {
        if size < 2 * self.many { 1 } else { usize::MAX }
    }

    fn all_halves(&self, set: &[u32]) -> Vec<Halved> {
        let extent = Extent::around(self.matrix, set);
        let mut ways: Vec<Option<usize>> = (0..self.kernel.attributes())
            .filter(|at| extent.low(*at) != extent.high(*at))
            .map(Some)
            .collect();
        ways.push(None);
        let halve = |way: Option<usize>| self.halve(set, way);
        match set.len() < PARALLEL_FROM {
            true => ways.into_iter().map(halve).collect(),
            false => parallel::map(ways, halve),
        }
    }

    /// The halves along an attribute, or along the line.
    fn halve(&self, set: &[u32], attribute: Option<usize>) -> Halved {
        let key = |record: u32| match attribute {
            Some(at) => self.matrix.get(record as usize, at).index() as u32,
            None => self.place[record as usize],
        };
        let mut ranked: Vec<(u32, u32, u32)> =
            set.iter().map(|record| (key(*record), self.drawn[*record as usize], *record)).collect();
        ranked.sort_unstable();
        let mut one: Vec<u32> = ranked.into_iter().map(|(_, _, record)| record).collect();
        let other = one.split_off(self.half(set.len()));
        Halved { loss: self.loss(&one) + self.loss(&other), one, other }
    }
}
