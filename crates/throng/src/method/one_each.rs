//! People of whom each has one record are records.
//!
//! Counted over people, what is asked of values is not sure to hold for the union of two classes that meet it, for they may share
//! people. So methods that count people have to look twice, and lose more. Where nobody has a second record there is
//! nobody to share, and the same classes are allowed either way: the method may count records.
//!
//! Cost: a copy of the problem.

use super::{Method, Solution};
use crate::error::Result;
use crate::problem::{People, Problem};
use crate::watch::Watch;

/// A method that counts records where that is the same as counting people.
pub struct OneEach(pub Box<dyn Method>);

impl Method for OneEach {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let once = |people: &People| people.records_of_each().iter().all(|records| *records <= 1);
        // Their number alone grows with a class in any case, and a copy would gain nothing.
        match !problem.requirement.monotone() && problem.people.as_ref().is_some_and(once) {
            true => self.0.solve(&of_records(problem), watch),
            false => self.0.solve(problem, watch),
        }
    }
}

fn of_records(problem: &Problem) -> Problem {
    let mut own = problem.clone();
    own.requirement = own.requirement.counting(None);
    (own.data.people, own.data.together) = (None, false);
    own.data.sensitive.iter_mut().for_each(|counted| counted.people = None);
    own
}
