//! Hard rules for any method: the parts that they keep apart are solved one by one.
//!
//! A part is a problem of its own over the same domains, so penalties mean the same in all of them. Boxes that a
//! method publishes wider than its groups are cut back to the part: they still cover their records and cannot break a
//! hard rule. What a method optimises it optimises within each part; as no class may join two parts, nothing is lost
//! for losses that add up over classes.

use super::{Boxes, Method, Partition, Solution};
use crate::error::Result;
use crate::privacy::Part;
use crate::problem::Problem;
use crate::rules::Division;
use crate::watch::Watch;

/// A method that keeps hard rules because it never sees records that they keep apart together.
pub struct Divided(pub Box<dyn Method>);

impl Method for Divided {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        if !problem.rules.any_hard() {
            return self.0.solve(problem, watch);
        }
        let division = Division::of(problem)?;
        let mut whole = Whole::new(problem, &division);
        let mut left = problem.suppressible - division.suppressed.len();
        for part in &division.parts {
            let mut own = problem.of_records(part);
            // Parts take from one allowance in turn, in proportion to their size first.
            own.suppressible = left.min(part.len() * problem.suppressible / problem.len());
            let solution = self.0.solve(&own, watch)?;
            left -= solution.suppressed.len().min(left);
            whole.add(&own, part, solution);
        }
        Ok(whole.finish())
    }

    fn needs(&self) -> &'static [Part] {
        self.0.needs()
    }

    fn permutes(&self) -> bool {
        self.0.permutes()
    }
}

/// The solutions of parts, put together.
struct Whole<'a> {
    problem: &'a Problem,
    /// The part of the domain of each code, for attributes that hard rules divide.
    limits: Vec<Option<Vec<(u32, u32)>>>,
    order: Vec<u32>,
    sizes: Vec<usize>,
    suppressed: Vec<u32>,
    boxes: Vec<Vec<(u32, u32)>>,
    half_open: bool,
    any_boxes: bool,
    rest: Solution,
}

impl<'a> Whole<'a> {
    fn new(problem: &'a Problem, division: &Division) -> Self {
        let attributes = problem.attributes.iter().enumerate();
        Whole {
            problem,
            limits: attributes.map(|(at, own)| problem.rules.parts(at, &own.domain)).collect(),
            order: Vec::with_capacity(problem.len()),
            sizes: Vec::new(),
            suppressed: division.suppressed.clone(),
            boxes: vec![Vec::new(); problem.attributes.len()],
            half_open: false,
            any_boxes: false,
            rest: Solution::default(),
        }
    }

    fn add(&mut self, own: &Problem, part: &[u32], solution: Solution) {
        let back = |record: &u32| part[*record as usize];
        for group in solution.partition.groups() {
            self.order.extend(group.iter().map(back));
            self.sizes.push(group.len());
        }
        self.suppressed.extend(solution.suppressed.iter().map(back));
        self.any_boxes |= solution.boxes.is_some();
        self.half_open |= solution.boxes.as_ref().is_some_and(|boxes| boxes.half_open);
        let ends = match solution.boxes {
            Some(boxes) => boxes.ends,
            None => Boxes::around(own, &solution.partition).ends,
        };
        for (at, ends) in ends.into_iter().enumerate() {
            let limit = |own_ends: (u32, u32)| match &self.limits[at] {
                None => own_ends,
                // All records of a part lie in one part of the domain.
                Some(limits) => {
                    let (low, high) = limits[own.records.code(0, at) as usize];
                    (own_ends.0.max(low), own_ends.1.min(high))
                }
            };
            self.boxes[at].extend(ends.into_iter().map(limit));
        }
        for note in solution.notes {
            if !self.rest.notes.contains(&note) {
                self.rest.notes.push(note);
            }
        }
        self.rest.sections.extend(solution.sections);
    }

    fn finish(mut self) -> Solution {
        self.suppressed.sort_unstable();
        debug_assert_eq!(self.order.len() + self.suppressed.len(), self.problem.len());
        Solution {
            partition: Partition::from_sizes(self.order, self.sizes),
            suppressed: self.suppressed,
            boxes: self.any_boxes.then_some(Boxes { ends: self.boxes, half_open: self.half_open }),
            ..self.rest
        }
    }
}
