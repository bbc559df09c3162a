//! Dealing by lot: diverse classes that do not tell why their records were put together.
//!
//! Whoever knows a method and everyone's quasi-identifiers may learn more from *why* records were grouped than from the
//! classes themselves (minimality: Wong, Fu, Wang, Pei, VLDB 2007). A method that saves loss by looking at sensitive values
//! tells about them: a record that would be cheaper elsewhere but was not put there is mostly one whose value had no room.
//! The posterior within classes is uniform exactly when the chance of a partition does not change if sensitive values are
//! permuted within its classes. So here
//! 1. *blocks* are cut by quasi-identifiers alone; sensitive values only say yes or no to both sides of a cut;
//! 2. a large block is *dealt by lot* (`deal`): how many of each value go to a class is decided by counts, who they are by
//!    chance. A small block stays one class: dealing it would tell who kept it from being cut.
//!
//! What remains is "this block could not be cut", which fades with the number of classes per block ([`MANY`]). Low loss near
//! the largest feasible l *is* the leak: if one value makes up 1/l of all records, classes that tell nothing must spread over
//! the whole table.
//!
//! All lots come from the problem's secret: who could repeat them could undo them. `blind` makes better blocks in more
//! time, [`method::peel`](crate::method::peel) takes them.
//!
//! Cost: O(d·N·log² N) at worst; O(d·N·log N) as a rule.

pub(in crate::method) mod blind;
mod deal;
mod halves;

use rand::seq::SliceRandom;

use super::mondrian::{Categories, Cut, Mondrian, Ties};
use super::{AnyWidth, Partition};
use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::mapping::Line;
use crate::parallel;
use crate::privacy::{Judge, Part};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;

/// A block is dealt if it could be so many classes of the smallest size that l allows. Chosen on the tables of the study in
/// docs/diversity.md: with 1 or 2, single records still had a small lift.
pub const MANY: usize = 4;

/// The stream of the order in which ties are broken.
const ORDER_STREAM: u64 = 50;
/// The stream of the first block; each has its own, so that blocks can be dealt side by side.
const BLOCK_STREAMS: u64 = 1 << 32;

/// The fewest records that diversity allows in a class, where any is asked for.
pub fn smallest_diverse(problem: &Problem) -> Option<usize> {
    problem.requirement.smallest_of(Part::L).filter(|least| *least >= 2)
}

/// Blocks cut by quasi-identifiers, dealt by lot.
pub(in crate::method) fn solve<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    line: &Line,
    watch: &dyn Watch,
) -> Result<Partition> {
    let lots = Lots::new(problem, matrix, line);
    let cut = Mondrian { cut: Cut::Strict, ties: Ties::LeastEven, categories: Categories::Hierarchy };
    let blocks = cut.solve_rows(problem, matrix, watch)?;
    lots.deal_each(blocks.groups().map(<[u32]>::to_vec).collect(), watch)
}

/// What dealing looks at.
pub(in crate::method) struct Lots<'a, C> {
    problem: &'a Problem,
    matrix: &'a Matrix<C>,
    kernel: Kernel,
    judge: Judge<'a>,
    /// Where each record lies on the line, and in an order drawn by lot, which decides between equals: the order of the
    /// table may tell something.
    place: Vec<u32>,
    drawn: Vec<u32>,
    /// Classes are made of so many records, or a few more.
    unit: usize,
    /// Blocks of fewer records are not dealt.
    many: usize,
}

impl<'a, C: Code> Lots<'a, C> {
    pub fn new(problem: &'a Problem, matrix: &'a Matrix<C>, line: &Line) -> Self {
        let judge = Judge::new(problem);
        let least = smallest_diverse(problem).unwrap_or(1);
        let unit = match judge.frequency() {
            // Classes of other sizes would leave room for a value that no record can take.
            Some(_) => judge.smallest().next_multiple_of(least),
            None => judge.smallest(),
        };
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        order.shuffle(&mut problem.secret.stream(ORDER_STREAM));
        Lots {
            problem,
            matrix,
            kernel: Kernel::new(&problem.attributes),
            place: places(line.order()),
            drawn: places(&order),
            many: MANY * least,
            unit,
            judge,
        }
    }

    /// Deals each of some blocks that may be classes themselves.
    pub fn deal_each(&self, blocks: Vec<Vec<u32>>, watch: &dyn Watch) -> Result<Partition> {
        watch.stage("dealing", Some(self.problem.len() as u64));
        let deal = |(at, block): (usize, Vec<u32>)| {
            watch.check()?;
            let mut random = self.problem.secret.stream(BLOCK_STREAMS + at as u64);
            let size = block.len();
            let classes = self.deal(block, &mut random);
            watch.advance(size as u64);
            Ok(classes)
        };
        let classes: Vec<Vec<Vec<u32>>> = parallel::try_map(blocks.into_iter().enumerate(), deal)?;
        let sizes: Vec<usize> = classes.iter().flatten().map(Vec::len).collect();
        let records = classes.into_iter().flatten().flatten().collect();
        Ok(Partition::from_sizes(records, sizes))
    }

    /// What a class of these records loses.
    fn loss(&self, records: &[u32]) -> f64 {
        self.kernel.ncp(&Extent::around(self.matrix, records)) * records.len() as f64
    }

    fn holds(&self, records: &[u32]) -> bool {
        self.judge.holds(records.iter().copied())
    }

    /// How many of so many records make the first half: whole units, and as near to half of them as that allows.
    fn half(&self, size: usize) -> usize {
        size / self.unit / 2 * self.unit
    }
}

/// The place of each record in an order.
fn places(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    (0..).zip(order).for_each(|(place, record)| places[*record as usize] = place);
    places
}
