//! One-dimensional mapping: order the records along a Hilbert curve, then cut the order into runs.
//!
//! Ghinita et al. 2009, sections 3 and 6. The cut is optimal over the order: among all ways to cut it into runs
//! of k … 2k − 1 records, the one with the least loss. `hilbert` measures a run by the penalty of its box in
//! all dimensions, `hilbert-fast` by how far it reaches along the curve.
//!
//! Cost: O(d·b·N) for the keys, O(N log N) to sort them, O(k·d·N) or O(k·N) to cut.

pub mod runs;

use super::{Entry, Method, Options, Partition, Solution};
use crate::curve::{Curve, Keys};
use crate::error::Result;
use crate::loss::Kernel;
use crate::privacy::Part;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// The registry entry of `hilbert`.
pub const HILBERT: Entry = Entry {
    name: "hilbert",
    summary: "orders records along a Hilbert curve and cuts the order with the least loss",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    guarantee: "classes of k to 2k - 1 records (equal cells aside); the best of all cuts of the order",
    takes: &[Part::K],
    configure: |_: &mut Options<'_>| Ok(Box::new(Hilbert { cost: Cost::Box })),
};

/// The registry entry of `hilbert-fast`.
pub const HILBERT_FAST: Entry = Entry {
    name: "hilbert-fast",
    summary: "as hilbert, but measures runs along the curve only; faster for large k",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    guarantee: "classes of k to 2k - 1 records (equal cells aside)",
    takes: &[Part::K],
    configure: |_: &mut Options<'_>| Ok(Box::new(Hilbert { cost: Cost::Curve })),
};

/// How a run is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// By the penalty of its box.
    Box,
    /// By its extent along the curve.
    Curve,
}

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Hilbert {
    /// How runs are measured.
    pub cost: Cost,
}

impl Method for Hilbert {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        with_matrix!(&problem.records, matrix => self.solve_matrix(problem, matrix, watch))
            .map(Solution::from)
    }
}

impl Hilbert {
    fn solve_matrix<C: Code>(
        &self,
        problem: &Problem,
        matrix: &Matrix<C>,
        watch: &dyn Watch,
    ) -> Result<Partition> {
        watch.stage("ordering", None);
        let order = problem.curve_order();
        watch.check()?;
        watch.stage("cutting", Some(problem.len() as u64));
        let k = problem.requirement.smallest_class();
        let sizes = match self.cost {
            Cost::Box => {
                let sorted = matrix.gather(order);
                let kernel = Kernel::new(&problem.attributes);
                runs::cut(order.len(), k, watch, &runs::BoxCosts { sorted: &sorted, kernel: &kernel, k })?
            }
            Cost::Curve => {
                let keys = Curve::of(&problem.attributes).keys(matrix).gather(order);
                runs::cut(order.len(), k, watch, &CurveCosts { keys: &keys, k })?
            }
        };
        Ok(Partition::from_sizes(order.to_vec(), sizes))
    }
}

/// How far runs reach along the curve.
struct CurveCosts<'a> {
    keys: &'a Keys,
    k: usize,
}

impl runs::Costs for CurveCosts<'_> {
    type Scratch = ();

    fn scratch(&self) {}

    fn fill(&self, end: usize, costs: &mut [f64], (): &mut ()) {
        for (cost, size) in costs.iter_mut().zip(self.k..=end) {
            *cost = self.keys.distance(end - size, end - 1);
        }
    }
}
