//! Leaving out what no class can take, for any method.
//!
//! Where records may be suppressed, a table that has no release as a whole may have one without some of its records. They
//! are left out before the method sees the table ([`Requirement::leave_out`]); what may be left out beyond them is for the
//! method to decide. Hard rules divide the table first: of a part that cannot meet the requirement, as few records as can be
//! are left out, and all of them where that does not help. Where people are counted nothing is left out here: a table that
//! has no release as a whole is refused.
//!
//! [`Requirement::leave_out`]: crate::privacy::Requirement::leave_out

use super::division::parts_of;
use super::{Fact, Method, Partition, Solution};
use crate::error::{Error, ErrorCode, Result};
use crate::problem::Problem;
use crate::watch::Watch;

/// A method that is given tables with a release only.
pub struct LeavingOut(pub Box<dyn Method>);

impl Method for LeavingOut {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let left_out = leave_out(problem)?;
        if left_out.is_empty() {
            return self.0.solve(problem, watch);
        }
        let is_left_out = |record: &u32| left_out.binary_search(record).is_ok();
        let kept: Vec<u32> = (0..problem.len() as u32).filter(|record| !is_left_out(record)).collect();
        let mut rest = problem.of_records(&kept);
        rest.suppressible = problem.suppressible - left_out.len();
        let mut solution = self.0.solve(&rest, watch)?;
        solution.facts.insert(0, Fact::LeftOut { records: left_out.len() });
        Ok(put_back(solution, &kept, left_out))
    }
}

/// The records that no class can take, ascending. An error if more would have to go than may be suppressed.
fn leave_out(problem: &Problem) -> Result<Vec<u32>> {
    // Who loses a record loses all of them: the fewest records would not be the fewest people.
    if problem.people.is_some() {
        return problem.requirement.leave_out(problem, 0);
    }
    if problem.suppressible == 0 || !problem.rules.any_hard() {
        return problem.requirement.leave_out(problem, problem.suppressible);
    }
    let mut left_out = Vec::new();
    for part in parts_of(problem, &problem.rules) {
        let own = problem.of_records(&part);
        match own.requirement.leave_out(&own, problem.suppressible) {
            Ok(lost) => left_out.extend(lost.into_iter().map(|record| part[record as usize])),
            // Whatever is wrong with it, the part cannot be published.
            Err(_) => left_out.extend(part),
        }
    }
    if left_out.len() == problem.len() {
        return Err(Error::new(
            ErrorCode::RulesInTheWay,
            "none of the parts of the table that hard rules keep apart can meet the requirement",
        )
        .with_hint("drop `hard` from a rule, or ask for less privacy"));
    }
    left_out.sort_unstable();
    // If they are too many, dividing the table says which rule stands in the way.
    Ok(if left_out.len() > problem.suppressible { Vec::new() } else { left_out })
}

/// A solution for some records as one for all of them, the others left out.
fn put_back(solution: Solution, kept: &[u32], mut left_out: Vec<u32>) -> Solution {
    let back = |record: &u32| kept[*record as usize];
    let Solution { partition, suppressed, recoding, facts } = solution;
    let sizes: Vec<usize> = partition.groups().map(<[u32]>::len).collect();
    let records: Vec<u32> = partition.groups().flatten().map(back).collect();
    left_out.extend(suppressed.iter().map(back));
    left_out.sort_unstable();
    Solution { partition: Partition::from_sizes(records, sizes), suppressed: left_out, recoding, facts }
}
