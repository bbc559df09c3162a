//! A limit on the loss of every class beside k, l or t, for methods that look for the least loss.
//!
//! A method that knows no limits is run as it is; if all its classes are within the limit, that is the release. If it left
//! records out, it is run again without: the allowance is for those who fit nowhere. Classes that exceed the limit are taken apart:
//! their records are grouped anew along the curve, each group ending as soon as it meets the requirement and before it exceeds
//! the limit, and what is left over joins whichever class can take it within the limit at the least loss. Then records move to
//! classes where they cost less, within the limit (`improve`). What fits nowhere is left out, if the policy lets so many
//! records be; else nothing is published. So every class meets both; not that no other
//! partition loses less, nor that one is found wherever there is one. `accuracy` looks for the most privacy within a limit
//! instead.
//!
//! Cost: that of the method, for each record that is left over a look at all classes, and rounds of moves.

use super::facts::Grouping;
use super::improve::{self, Effort, ROUNDS};
use super::{Fact, Method, Partition, Recoding, Solution, lots};
use crate::error::{Error, ErrorCode, Result};
use crate::loss::{Extent, Kernel, Limits};
use crate::mapping;
use crate::privacy::Judge;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// A method whose classes are kept within the limits of a problem.
pub struct WithinLimits(pub Box<dyn Method>);

impl Method for WithinLimits {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        if problem.limits.is_empty() {
            return self.0.solve(problem, watch);
        }
        let mut free = problem.clone();
        free.limits = Limits::default();
        let solution = self.0.solve(&free, watch)?;
        if !matches!(solution.recoding, Recoding::Tight) {
            return Err(Error::bug("a method that publishes boxes of its own was to be kept within limits"));
        }
        with_matrix!(&problem.records, matrix => {
            let keeping = Keeping { problem, matrix, kernel: Kernel::new(&problem.attributes), judge: Judge::new(problem) };
            if keeping.exceeding(&solution.partition).is_empty() {
                return Ok(solution);
            }
            let solution = if solution.suppressed.is_empty() {
                solution
            } else {
                // Whoever fits nowhere needs the allowance.
                free.suppressible = 0;
                self.0.solve(&free, watch)?
            };
            let line = problem.line(&mapping::HILBERT, watch)?;
            keeping.keep(solution, line.order(), watch)
        })
    }
}

struct Keeping<'a, C> {
    problem: &'a Problem,
    matrix: &'a Matrix<C>,
    kernel: Kernel,
    judge: Judge<'a>,
}

/// A class, and the box around it.
struct Class<C> {
    records: Vec<u32>,
    extent: Extent<C>,
}

impl<C: Code> Keeping<'_, C> {
    /// The numbers of the groups that exceed the limit, ascending.
    fn exceeding(&self, partition: &Partition) -> Vec<usize> {
        let exceeds = |group: &[u32]| !self.allowed(&Extent::around(self.matrix, group));
        partition.groups().enumerate().filter(|(_, group)| exceeds(group)).map(|(at, _)| at).collect()
    }

    fn keep(&self, solution: Solution, order: &[u32], watch: &dyn Watch) -> Result<Solution> {
        let (mut classes, mut exceeds) = (Vec::new(), vec![false; self.problem.len()]);
        let wide = self.exceeding(&solution.partition);
        for (at, group) in solution.partition.groups().enumerate() {
            if wide.binary_search(&at).is_ok() {
                group.iter().for_each(|record| exceeds[*record as usize] = true);
            } else {
                classes.push(Class { records: group.to_vec(), extent: Extent::around(self.matrix, group) });
            }
        }
        let loose: Vec<u32> = order.iter().copied().filter(|record| exceeds[*record as usize]).collect();
        if loose.is_empty() {
            return Ok(solution);
        }
        let left = self.regroup(&loose, &mut classes);
        let mut out = Vec::new();
        for record in left {
            watch.check()?;
            if !self.join(record, &mut classes) {
                out.push(record);
            }
        }
        let allowed = self.problem.suppressible.saturating_sub(solution.suppressed.len());
        if out.len() > allowed || classes.is_empty() {
            return Err(self.too_tight(out.len()));
        }
        let mut suppressed = [solution.suppressed, out].concat();
        suppressed.sort_unstable();
        let sizes: Vec<usize> = classes.iter().map(|class| class.records.len()).collect();
        let records = classes.into_iter().flat_map(|class| class.records).collect();
        let mut facts = solution.facts;
        if lots::smallest_diverse(self.problem).is_some() {
            // Classes were made anew as far as sensitive values leave room: that tells of them.
            facts.retain(|fact| !matches!(fact, Fact::Grouped { .. }));
            facts.push(Fact::Grouped { by: Grouping::Costs });
        }
        let partition = Partition::from_sizes(records, sizes);
        let effort = Effort::new(ROUNDS, Some(0), watch.until());
        Ok(Solution {
            partition: improve::moved(self.problem, &partition, effort, watch)?,
            suppressed,
            recoding: Recoding::Tight,
            facts,
        })
    }

    fn allowed(&self, extent: &Extent<C>) -> bool {
        self.problem.limits.allow(&self.kernel, extent)
    }

    /// Makes classes of records in the order of the curve; gives back what is in none.
    fn regroup(&self, order: &[u32], classes: &mut Vec<Class<C>>) -> Vec<u32> {
        let mut left = Vec::new();
        let mut open: Option<Class<C>> = None;
        for &record in order {
            let row = self.matrix.row(record as usize);
            if let Some(class) = &mut open {
                let mut grown = class.extent.clone();
                grown.grow(row);
                if self.allowed(&grown) {
                    class.records.push(record);
                    class.extent = grown;
                } else {
                    left.append(&mut class.records);
                    open = None;
                }
            }
            let class = open.get_or_insert_with(|| Class { records: vec![record], extent: Extent::of(row) });
            if self.judge.holds(class.records.iter().copied()) {
                classes.extend(open.take());
            }
        }
        left.extend(open.into_iter().flat_map(|class| class.records));
        left
    }

    /// Lets a record join the class that takes it at the least loss, of equals the first; tells whether one does.
    fn join(&self, record: u32, classes: &mut [Class<C>]) -> bool {
        let row = self.matrix.row(record as usize);
        let mut best: Option<(f64, usize)> = None;
        for (at, class) in classes.iter().enumerate() {
            let mut grown = class.extent.clone();
            grown.grow(row);
            let Some(penalty) = self.problem.limits.loss_within(&self.kernel, &grown) else { continue };
            let size = class.records.len() as f64;
            let grows = (size + 1.0) * penalty - size * self.kernel.ncp(&class.extent);
            if best.is_none_or(|(least, _)| grows < least) && self.judge.holds_with(&class.records, record) {
                best = Some((grows, at));
            }
        }
        let Some((_, at)) = best else { return false };
        classes[at].records.push(record);
        classes[at].extent.grow(row);
        true
    }

    fn too_tight(&self, records: usize) -> Error {
        let asked = self.problem.requirement.describe().join(" and ");
        let (who, fit) = if records == 1 { ("record", "fits") } else { ("records", "fit") };
        Error::new(
            ErrorCode::LimitTooTight,
            format!("{records} {who} {fit} into no class with {asked} that stays within the limit on the loss"),
        )
        .with_hint(
            "allow more loss, require less privacy, or let such records be left out with `suppress`; the method accuracy \
             looks for the most privacy within the limit",
        )
    }
}
