//! People are left out whole.
//!
//! A method that suppresses records knows nothing of people. Who loses a record here loses all of them; a group that falls
//! short without them is left out too, with all records of its people, and so on. Where that is more than may be left out,
//! the method runs again and may leave nothing out.

use super::{Boxes, GroupCells, Method, Partition, Recoding, Solution};
use crate::error::Result;
use crate::privacy::Judge;
use crate::problem::{People, Problem};
use crate::watch::Watch;

/// A method that leaves people out whole or not at all.
pub struct WholePeople(pub Box<dyn Method>);

impl Method for WholePeople {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let solution = self.0.solve(problem, watch)?;
        let Some(people) = problem.people.as_ref().filter(|_| !solution.suppressed.is_empty()) else {
            return Ok(solution);
        };
        match without_their_people(problem, people, &solution) {
            Some(solution) => Ok(solution),
            None => {
                let mut all = problem.clone();
                all.suppressible = 0;
                self.0.solve(&all, watch)
            }
        }
    }
}

/// The solution without anyone who has a record left out; `None` if that is more than may be, or leaves nobody.
fn without_their_people(problem: &Problem, people: &People, solution: &Solution) -> Option<Solution> {
    let judge = Judge::new(problem);
    let mut out = vec![false; people.most()];
    solution.suppressed.iter().for_each(|record| out[people.of(*record) as usize] = true);
    let mut groups: Vec<Vec<u32>> = solution.partition.groups().map(<[u32]>::to_vec).collect();
    loop {
        groups.iter_mut().for_each(|group| group.retain(|record| !out[people.of(*record) as usize]));
        let kept: usize = groups.iter().map(Vec::len).sum();
        if kept == 0 || problem.len() - kept > problem.suppressible {
            return None;
        }
        let short = |group: &&Vec<u32>| !group.is_empty() && !judge.holds(group.iter().copied());
        let short: Vec<u32> = groups.iter().filter(short).flatten().copied().collect();
        if short.is_empty() {
            break;
        }
        short.iter().for_each(|record| out[people.of(*record) as usize] = true);
    }
    let left: Vec<usize> = (0..groups.len()).filter(|at| !groups[*at].is_empty()).collect();
    groups.retain(|group| !group.is_empty());
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let gone = |record: &u32| out[people.of(*record) as usize];
    Some(Solution {
        partition: Partition::from_sizes(groups.concat(), sizes),
        suppressed: (0..problem.len() as u32).filter(gone).collect(),
        recoding: solution.recoding.of_groups(&left),
        facts: solution.facts.clone(),
    })
}

impl Recoding {
    /// The same for some of the groups.
    fn of_groups(&self, groups: &[usize]) -> Self {
        let of_boxes = |boxes: &Boxes| Boxes {
            ends: boxes.ends.iter().map(|ends| groups.iter().map(|at| ends[*at]).collect()).collect(),
        };
        let of_cells = |cells: &GroupCells| GroupCells {
            texts: cells.texts.clone(),
            of_group: groups.iter().map(|at| cells.of_group[*at]).collect(),
        };
        match self {
            Recoding::Tight => Recoding::Tight,
            Recoding::Boxes(boxes) => Recoding::Boxes(of_boxes(boxes)),
            Recoding::Masks { boxes, parts, part_of_group } => Recoding::Masks {
                boxes: of_boxes(boxes),
                parts: parts.clone(),
                part_of_group: groups.iter().map(|at| part_of_group[*at]).collect(),
            },
            Recoding::Cells(cells) => Recoding::Cells(cells.iter().map(of_cells).collect()),
        }
    }
}
