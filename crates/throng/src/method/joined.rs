//! Near records together, and then improved: for tables with several numbers of which hardly two records share a value.
//!
//! No cell of one number holds a class there, and what [`super::peel`] takes out first is cheap in one number by chance. Groups
//! that join their nearest ([`super::bottom_up`]) lose less to begin with, and the search goes on from them better. That takes
//! longer than N, so that large tables begin with the best cut of the Hilbert curve ([`super::ordered`]); `peel/NOTES.md` has the
//! figures.

use super::bottom_up::{BOTTOM_UP, BottomUp, Finish, Merge, Search};
use super::improve::{self, Effort, ROUNDS};
use super::local::pieces::Split;
use super::ordered::{Cost, Dealing, HILBERT, Ordered};
use super::{Method, Solution, local};
use crate::error::Result;
use crate::mapping;
use crate::problem::Problem;
use crate::watch::{Timed, Watch};

/// Up to so many records join their nearest.
const FEW: usize = 10_000;

/// The method.
pub(super) struct Joined {
    /// Seconds that it may take.
    pub seconds: Option<f64>,
}

/// Whether a table is one for it.
pub(super) fn suits(problem: &Problem) -> bool {
    improve::has_fine_numbers(problem)
}

/// The name of what it begins with.
pub(super) fn name(problem: &Problem) -> &'static str {
    if problem.len() <= FEW { BOTTOM_UP.name } else { HILBERT.name }
}

impl Method for Joined {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let timed = self.seconds.map(|seconds| Timed::seconds(watch, seconds));
        let watch = timed.as_ref().map_or(watch, |timed| timed as &dyn Watch);
        let solution = if problem.len() <= FEW {
            nearest().solve(problem, watch)
        } else {
            along_curve().solve(problem, watch)
        }?;
        // Where records are exchanged, what moves find the search finds faster; small tables have time for both.
        let rounds = if problem.len() > FEW && improve::are_exchanged(problem) { 0 } else { ROUNDS };
        let effort = Effort::new(rounds, None, watch.until());
        improve::improved(problem, solution, effort, watch)
    }
}

/// Without its own moves: the improvement has them.
fn nearest() -> BottomUp {
    let (merge, split) = (Merge::default(), Split::default());
    BottomUp { merge, split, finish: Finish::Nothing, rounds: local::ROUNDS, search: Search::Index }
}

fn along_curve() -> Ordered {
    Ordered { mapping: mapping::HILBERT, points: None, cost: Cost::Box, dealing: Dealing::Lots }
}
