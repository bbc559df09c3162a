//! Groups that hold one by one and fall short as published, where people are counted.
//!
//! Groups with equal cells are one class to a reader. Counted over records such a union meets what its parts meet; counted
//! over people it need not, because two groups may share people ([`crate::privacy::Requirement::monotone`]). So for
//! requirements that are not monotone, groups with equal cells are joined here, and one that falls short joins the group
//! with which it costs least, until all hold: the table as a whole does. Groups whose cells are not those of the smallest
//! boxes are left as they are, for only the method knows what a union of them would be published as; where they fall short
//! that is an error.
//!
//! Cost: for each group that falls short a look at all others.

use super::{Method, Partition, Recoding, Solution};
use crate::error::{Error, ErrorCode, Result};
use crate::loss::{Extent, Kernel};
use crate::privacy::Judge;
use crate::problem::{Code, Matrix, Problem};
use crate::table::Map;
use crate::watch::Watch;
use crate::with_matrix;

/// A method whose groups hold as published.
pub struct Mended(pub Box<dyn Method>);

impl Method for Mended {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let solution = self.0.solve(problem, watch)?;
        if problem.people.is_none() || problem.requirement.monotone() {
            return Ok(solution);
        }
        let (judge, groups) = (Judge::new(problem), solution.partition.groups().map(<[u32]>::to_vec));
        let groups = join_equal(problem, &solution, groups.collect());
        if groups.iter().all(|group| judge.holds(group.iter().copied())) {
            return Ok(solution);
        }
        match solution.recoding {
            Recoding::Tight if !problem.rules.any_hard() => {
                let groups =
                    with_matrix!(&problem.records, matrix => mend(problem, matrix, &judge, groups, watch))?;
                let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
                let partition = Partition::from_sizes(groups.concat(), sizes);
                Ok(Solution { partition, ..solution })
            }
            _ => Err(cannot_mend()),
        }
    }
}

fn cannot_mend() -> Error {
    Error::new(
        ErrorCode::RequirementUnreachable,
        "with this method some classes share people, and fall short of the requirement together",
    )
    .with_hint("choose another method, for example mondrian, hilbert or peel, or ask for k alone")
}

/// Joins groups that are published with equal cells, in the order of the first of them.
fn join_equal(problem: &Problem, solution: &Solution, groups: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let partition = Partition::from_sizes(groups.concat(), sizes);
    let boxes = solution.recoding.boxes(problem, &partition);
    let cell = |at: usize, group: usize| match (&boxes, &solution.recoding) {
        (None, Recoding::Cells(cells)) => cells[at].texts[cells[at].of_group[group] as usize].clone(),
        (Some(boxes), _) => {
            let (low, high) = boxes.ends[at][group];
            problem.attributes[at].domain.cell(low, high)
        }
        (None, _) => String::new(),
    };
    let mut place: Map<Vec<String>, usize> = Map::default();
    let mut joined: Vec<Vec<u32>> = Vec::new();
    for (group, records) in groups.into_iter().enumerate() {
        let cells = (0..problem.attributes.len()).map(|at| cell(at, group)).collect();
        match place.get(&cells) {
            Some(own) => joined[*own].extend(records),
            None => {
                place.insert(cells, joined.len());
                joined.push(records);
            }
        }
    }
    joined
}

/// Joins groups until all hold; the records as a whole do.
pub(super) fn mend<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    judge: &Judge<'_>,
    mut groups: Vec<Vec<u32>>,
    watch: &dyn Watch,
) -> Result<Vec<Vec<u32>>> {
    let kernel = Kernel::new(&problem.attributes);
    let holds = |group: &Vec<u32>| judge.holds(group.iter().copied());
    loop {
        watch.check()?;
        let short: Vec<bool> = groups.iter().map(|group| !holds(group)).collect();
        if groups.len() == 1 || !short.contains(&true) {
            return Ok(groups);
        }
        let mut extents: Vec<Extent<C>> = groups.iter().map(|group| Extent::around(matrix, group)).collect();
        for at in (0..groups.len()).filter(|at| short[*at]) {
            if let Some(target) = nearest(&kernel, &groups, &extents, at).filter(|_| !holds(&groups[at])) {
                let records = std::mem::take(&mut groups[at]);
                groups[target].extend(records);
                let own = extents[at].clone();
                extents[target].merge(&own);
            }
        }
        groups.retain(|group| !group.is_empty());
        groups = join_equal(problem, &Solution::default(), groups);
    }
}

/// The group that another one joins with the least loss.
fn nearest<C: Code>(kernel: &Kernel, groups: &[Vec<u32>], extents: &[Extent<C>], at: usize) -> Option<usize> {
    let cost = |other: usize| {
        let mut extent = extents[at].clone();
        extent.merge(&extents[other]);
        let size = (groups[at].len() + groups[other].len()) as f64;
        (size * kernel.ncp(&extent) - groups[other].len() as f64 * kernel.ncp(&extents[other]), other)
    };
    let others = (0..groups.len()).filter(|other| *other != at && !groups[*other].is_empty());
    others.map(cost).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, other)| other)
}
