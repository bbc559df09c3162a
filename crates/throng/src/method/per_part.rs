//! Hard rules for any method: the parts that they keep apart are solved one by one.
//!
//! A part is a problem of its own over the same domains, so penalties mean the same in all of them. Boxes that a
//! method publishes wider than its groups are cut back to the part: they still cover their records and cannot break a
//! hard rule. What a method optimises it optimises within each part; as no class may join two parts, nothing is lost
//! for losses that add up over classes.

use super::{Boxes, Fact, MaskedPart, Method, Partition, Recoding, Solution};
use crate::error::{Error, Result};
use crate::method::division::Division;
use crate::problem::Problem;
use crate::watch::{Timed, Watch};

/// A method that keeps hard rules because it never sees records together that they keep apart.
pub struct PerPart(pub Box<dyn Method>);

impl Method for PerPart {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        if !problem.rules.any_hard() {
            return self.0.solve(problem, watch);
        }
        let division = Division::of(problem)?;
        let mut whole = Whole::new(problem, &division);
        let mut left = problem.suppressible - division.suppressed.len();
        let mut to_come: usize = division.parts.iter().map(Vec::len).sum();
        for part in &division.parts {
            let mut own = problem.of_records(part);
            // Parts take from one allowance in turn, in proportion to their size first.
            own.suppressible = left.min(part.len() * problem.suppressible / problem.len());
            let timed = Timed::share(watch, part.len(), to_come);
            let solution = self.0.solve(&own, timed.as_ref().map_or(watch, |timed| timed as &dyn Watch))?;
            to_come -= part.len();
            left -= solution.suppressed.len().min(left);
            whole.add(&own, part, solution)?;
        }
        Ok(whole.finish())
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
    /// Of the parts so far.
    recoding: Option<Recoding>,
    facts: Vec<Fact>,
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
            recoding: None,
            facts: Vec::new(),
        }
    }

    fn add(&mut self, own: &Problem, part: &[u32], solution: Solution) -> Result<()> {
        // No field may be forgotten: what a solution holds besides is told by the compiler.
        let Solution { partition, suppressed, recoding, facts } = solution;
        let back = |record: &u32| part[*record as usize];
        for group in partition.groups() {
            self.order.extend(group.iter().map(back));
            self.sizes.push(group.len());
        }
        self.suppressed.extend(suppressed.iter().map(back));
        let limits: Vec<Option<(u32, u32)>> = (0..self.limits.len())
            // All records of a part lie in one part of the domain.
            .map(|at| Some(self.limits[at].as_ref()?[own.records.code(0, at) as usize]))
            .collect();
        let cut = recoding.cut_to(&limits);
        self.recoding = Some(match self.recoding.take() {
            None => cut,
            Some(before) => before.join(cut)?,
        });
        facts.into_iter().for_each(|fact| fact.join(&mut self.facts));
        Ok(())
    }

    fn finish(mut self) -> Solution {
        self.suppressed.sort_unstable();
        debug_assert_eq!(self.order.len() + self.suppressed.len(), self.problem.len());
        Solution {
            partition: Partition::from_sizes(self.order, self.sizes),
            suppressed: self.suppressed,
            recoding: self.recoding.unwrap_or_default(),
            facts: self.facts,
        }
    }
}

impl Recoding {
    /// The same for records of a part of the domains: boxes do not reach beyond it.
    fn cut_to(self, limits: &[Option<(u32, u32)>]) -> Self {
        match self {
            // The smallest boxes and cells of values are within the part already.
            Recoding::Tight | Recoding::Cells(_) => self,
            Recoding::Boxes(boxes) => Recoding::Boxes(boxes.cut_to(limits)),
            Recoding::Masks { boxes, parts, part_of_group } => {
                let cut = |part: MaskedPart| MaskedPart { limits: limits.to_vec(), ..part };
                let parts = parts.into_iter().map(cut).collect();
                Recoding::Masks { boxes: boxes.cut_to(limits), parts, part_of_group }
            }
        }
    }

    /// The recoding of the groups of one part followed by those of another; both come from the same method.
    fn join(self, next: Recoding) -> Result<Self> {
        Ok(match (self, next) {
            (Recoding::Tight, Recoding::Tight) => Recoding::Tight,
            (Recoding::Boxes(one), Recoding::Boxes(next)) => Recoding::Boxes(one.join(next)),
            (
                Recoding::Masks { boxes, mut parts, mut part_of_group },
                Recoding::Masks { boxes: next, parts: next_parts, part_of_group: next_of_group },
            ) => {
                let from = parts.len() as u32;
                parts.extend(next_parts);
                part_of_group.extend(next_of_group.into_iter().map(|part| part + from));
                Recoding::Masks { boxes: boxes.join(next), parts, part_of_group }
            }
            (Recoding::Cells(one), Recoding::Cells(next)) => {
                Recoding::Cells(one.into_iter().zip(next).map(|(one, next)| one.join(next)).collect())
            }
            _ => return Err(Error::bug("a method recodes two parts of a table in different ways")),
        })
    }
}

impl Boxes {
    fn cut_to(mut self, limits: &[Option<(u32, u32)>]) -> Self {
        for (ends, limit) in self.ends.iter_mut().zip(limits) {
            if let Some((low, high)) = *limit {
                ends.iter_mut().for_each(|own| *own = (own.0.max(low), own.1.min(high)));
            }
        }
        self
    }

    fn join(mut self, next: Boxes) -> Self {
        self.ends.iter_mut().zip(next.ends).for_each(|(ends, next)| ends.extend(next));
        self
    }
}
