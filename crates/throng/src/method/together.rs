//! What does not change within a person is published alike in all their records.
//!
//! Records of a person lie in different classes, and what is the same in all of them, such as the year of birth, would be
//! generalized differently in each. Where a policy asks for `together`, people are grouped first, by what does not change
//! within any of them: those of a group get the same cells. Then the method divides the records of each group by all else.
//! Groups of people that fall short with all their records are joined before ([`super::mended`]), so that every group can
//! be one class if need be.
//!
//! This is for methods that publish the smallest boxes; one that recodes values alike everywhere does something else.
//! Cost: that of the method on the people, and on each of their groups.

use super::mended::mend;
use super::{Boxes, Method, Partition, Recoding, Solution};
use crate::error::{Error, ErrorCode, Result};
use crate::privacy::{Judge, KAnonymity, Requirement};
use crate::problem::{Code, Matrix, People, Problem};
use crate::watch::{Timed, Watch};
use crate::with_matrix;

/// A method that keeps what is the same in all records of a person the same.
pub struct Together(pub Box<dyn Method>);

impl Method for Together {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let Some(people) = problem.people.as_ref().filter(|_| problem.together) else {
            return self.0.solve(problem, watch);
        };
        if problem.rules.any_hard() {
            return Err(Error::new(ErrorCode::MethodDoesNotFit, "together cannot be kept beside hard rules")
                .with_hint("drop together from the person's section, or hard from the rules"));
        }
        let constant = constant_attributes(problem, people);
        if !constant.contains(&true) {
            return self.0.solve(problem, watch);
        }
        // Grouping people is half of the work.
        let timed = Timed::share(watch, 1, 2);
        let half = timed.as_ref().map_or(watch, |timed| timed as &dyn Watch);
        let groups = self.groups_of_people(problem, people, &constant, half)?;
        let mut whole = Whole::new(problem);
        let mut to_come = problem.len();
        for group in groups {
            let own = without(problem, &group, &constant);
            let timed = Timed::share(watch, group.len(), to_come);
            let solution = self.tight(&own, timed.as_ref().map_or(watch, |timed| timed as &dyn Watch))?;
            to_come -= group.len();
            whole.add(problem, &group, &solution, &constant);
        }
        Ok(whole.finish())
    }
}

impl Together {
    /// The records of groups of people, who are grouped by what does not change within any of them.
    fn groups_of_people(
        &self,
        problem: &Problem,
        people: &People,
        constant: &[bool],
        watch: &dyn Watch,
    ) -> Result<Vec<Vec<u32>>> {
        let changing: Vec<bool> = constant.iter().map(|constant| !constant).collect();
        let mut records_of: Vec<Vec<u32>> = vec![Vec::new(); people.most()];
        (0..problem.len() as u32).for_each(|record| records_of[people.of(record) as usize].push(record));
        records_of.retain(|records| !records.is_empty());
        let first: Vec<u32> = records_of.iter().map(|records| records[0]).collect();
        let mut each = without(problem, &first, &changing);
        // One record each: who has so many others is one of so many people.
        let k = problem.requirement.smallest_combination();
        each.requirement = Requirement::from_models(vec![Box::new(KAnonymity { k })]);
        (each.people, each.demands, each.together) = (None, None, false);
        each.sensitive.iter_mut().for_each(|counted| counted.people = None);
        let solution = self.tight(&each, watch)?;
        let records = |group: &[u32]| -> Vec<u32> {
            group.iter().flat_map(|person| records_of[*person as usize].iter().copied()).collect()
        };
        let groups: Vec<Vec<u32>> = solution.partition.groups().map(records).collect();
        let all: Vec<u32> = (0..problem.len() as u32).collect();
        let own = without(problem, &all, &changing);
        with_matrix!(&own.records, matrix => mend(&own, matrix, &Judge::new(problem), groups, watch))
    }

    fn tight(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let solution = self.0.solve(problem, watch)?;
        match solution.recoding {
            Recoding::Tight => Ok(solution),
            _ => Err(Error::new(ErrorCode::MethodDoesNotFit, "this method recodes values for all records at once, which together does not work with",
            )
            .with_hint("drop together: where equal values are recoded alike, they are alike in all records of a person \
                        too; or choose another method, for example mondrian, hilbert or peel")),
        }
    }
}

/// Which attributes do not change within any person.
fn constant_attributes(problem: &Problem, people: &People) -> Vec<bool> {
    let mut first: Vec<Option<usize>> = vec![None; people.most()];
    let mut constant = vec![true; problem.attributes.len()];
    for record in 0..problem.len() {
        let first = *first[people.of(record as u32) as usize].get_or_insert(record);
        for (at, constant) in constant.iter_mut().enumerate() {
            *constant &= problem.records.code(record, at) == problem.records.code(first, at);
        }
    }
    constant
}

/// Some records of a problem, all of them alike in some attributes.
fn without(problem: &Problem, records: &[u32], alike: &[bool]) -> Problem {
    let mut own = problem.of_records(records);
    own.together = false;
    with_matrix!(&mut own.records, matrix => level(matrix, alike));
    own
}

fn level<C: Code>(matrix: &mut Matrix<C>, alike: &[bool]) {
    for at in (0..alike.len()).filter(|at| alike[*at]) {
        (0..matrix.len()).for_each(|row| matrix.set(row, at, C::from_index(0)));
    }
}

/// The solutions of all groups of people, put together.
struct Whole {
    order: Vec<u32>,
    sizes: Vec<usize>,
    ends: Vec<Vec<(u32, u32)>>,
    facts: Vec<super::Fact>,
}

impl Whole {
    fn new(problem: &Problem) -> Self {
        let ends = vec![Vec::new(); problem.attributes.len()];
        Whole { order: Vec::with_capacity(problem.len()), sizes: Vec::new(), ends, facts: Vec::new() }
    }

    /// Takes the classes of a group in; what is constant has the box of the whole group.
    fn add(&mut self, problem: &Problem, group: &[u32], solution: &Solution, constant: &[bool]) {
        let all = Boxes::around(problem, &Partition::from_sizes(group.to_vec(), [group.len()]));
        let back =
            |records: &[u32]| records.iter().map(|record| group[*record as usize]).collect::<Vec<u32>>();
        for records in solution.partition.groups() {
            let records = back(records);
            let own = Boxes::around(problem, &Partition::from_sizes(records.clone(), [records.len()]));
            for (at, ends) in self.ends.iter_mut().enumerate() {
                ends.push(if constant[at] { all.ends[at][0] } else { own.ends[at][0] });
            }
            self.sizes.push(records.len());
            self.order.extend(records);
        }
        for fact in &solution.facts {
            if !self.facts.contains(fact) {
                self.facts.push(fact.clone());
            }
        }
    }

    fn finish(self) -> Solution {
        Solution {
            partition: Partition::from_sizes(self.order, self.sizes),
            suppressed: Vec::new(),
            recoding: Recoding::Boxes(Boxes { ends: self.ends }),
            facts: self.facts,
        }
    }
}
