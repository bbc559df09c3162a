//! Cutting a group into as many pieces as its size allows.

use super::BoxList;
use super::halves::{Halving, Room};
use super::take::Taker;
use crate::loss::Kernel;
use crate::privacy::Judge;
use crate::problem::{Code, LANES, Matrix};

/// How a group that is too large is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Split {
    /// By two seeds that are far apart.
    #[default]
    Seeds,
    /// Along its widest attribute, into pieces of equal size.
    Widest,
}

impl Split {
    /// Their names as options.
    pub const CHOICES: &'static [(&'static str, Split)] =
        &[("seeds", Split::Seeds), ("widest", Split::Widest)];
}

/// Cuts groups of a problem.
pub struct Cutter<'a, C> {
    /// Which records may be a group.
    pub judge: &'a Judge<'a>,
    /// The records of the problem.
    pub matrix: &'a Matrix<C>,
    /// How sets are halved.
    pub halving: Halving<'a>,
    /// How groups are cut.
    pub split: Split,
}

impl<C: Code> Cutter<'_, C> {
    /// Cuts records, in a random order, into ⌊n/k⌋ pieces of at least k, k being the smallest class of the requirement.
    /// A set stays whole if a part of it would not meet the requirement.
    pub fn cut(&self, records: Vec<u32>) -> Vec<Vec<u32>> {
        let k = self.judge.smallest();
        let mut pieces = Vec::new();
        let mut waiting = vec![records];
        while let Some(records) = waiting.pop() {
            if records.len() < 2 * k {
                pieces.push(records);
                continue;
            }
            let (first, second) = match self.split {
                Split::Seeds => self.by_seeds(&records, k),
                Split::Widest => self.by_width(&records, k),
            };
            if [&first, &second].iter().all(|side| self.judge.holds(side.iter().copied())) {
                waiting.extend([second, first]);
            } else {
                pieces.push(records);
            }
        }
        pieces
    }

    fn by_seeds(&self, records: &[u32], k: usize) -> (Vec<u32>, Vec<u32>) {
        let rows = self.matrix.gather(records);
        let mut room = Room::default();
        self.halving.halve(rows.data(), rows.stride(), &mut room);
        let side = |wanted: bool| {
            let of_side = records.iter().zip(&room.goes_first).filter(|(_, first)| **first == wanted);
            of_side.map(|(record, _)| *record).collect::<Vec<u32>>()
        };
        self.even_out(side(true), side(false), k)
    }

    /// Moves records so that both sides have at least k and together can be cut into as many pieces as the whole.
    fn even_out(&self, mut first: Vec<u32>, mut second: Vec<u32>, k: usize) -> (Vec<u32>, Vec<u32>) {
        let missing = |side: &[u32]| match side.len() {
            size if size < k => k - size,
            size => (k - size % k) % k,
        };
        let lost = (first.len() + second.len()) / k - first.len() / k - second.len() / k;
        if lost == 0 && first.len() >= k && second.len() >= k {
            return (first, second);
        }
        let takes_first = match (first.len() < k, second.len() < k) {
            (true, _) => true,
            (_, true) => false,
            _ => missing(&first) <= missing(&second),
        };
        let (taker, giver) = if takes_first { (&mut first, &mut second) } else { (&mut second, &mut first) };
        let mut around = BoxList::new(self.matrix.stride());
        around.push_around(taker.iter().map(|record| self.matrix.row(*record as usize)));
        let row = |place: usize| self.matrix.row(giver[place] as usize);
        let kernel: &Kernel = self.halving.kernel;
        let mut found = Taker::default();
        let (sides, count) = (around.get(0), missing(taker));
        if found.take_nearest(kernel, sides, row, giver.len(), count, f64::INFINITY).is_some() {
            let mut taken = vec![false; giver.len()];
            found.taken().iter().for_each(|place| taken[*place] = true);
            taker.extend(giver.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(record, _)| *record));
            let mut place = 0;
            giver.retain(|_| {
                place += 1;
                !taken[place - 1]
            });
        }
        (first, second)
    }

    /// Sorts by the widest attribute and cuts near the middle, where the pieces of both sides come out even.
    fn by_width(&self, records: &[u32], k: usize) -> (Vec<u32>, Vec<u32>) {
        let mut around = BoxList::new(self.matrix.stride());
        around.push_around(records.iter().map(|record| self.matrix.row(*record as usize)));
        let (low, high) = around.get(0);
        let kernel = self.halving.kernel;
        let width = |at: &usize| {
            let end = |lanes: &[[C; LANES]]| lanes[at / LANES][at % LANES].index();
            kernel.penalty(*at, end(low), end(high))
        };
        let widest = (0..kernel.attributes()).rev().max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(0);
        let code = |record: &u32| self.matrix.get(*record as usize, widest).index();
        let mut places: Vec<(usize, u32)> = records.iter().map(code).zip(0..).collect();
        places.sort_unstable();
        let mut sorted: Vec<u32> = places.iter().map(|(_, place)| records[*place as usize]).collect();
        let pieces = records.len() / k;
        let second = sorted.split_off(records.len() * (pieces / 2) / pieces);
        (sorted, second)
    }
}
