//! Groups that change: their records, their boxes and what they cost.

use crate::loss::{Extent, Kernel};
use crate::privacy::Tally;
use crate::problem::{Code, LANES, Matrix, Problem};

/// What work on groups looks at.
pub(in crate::method) struct Work<'a, C> {
    pub problem: &'a Problem,
    pub matrix: &'a Matrix<C>,
    pub kernel: Kernel,
    /// No smaller group is allowed.
    pub smallest: usize,
    only_size: bool,
}

/// Records with the smallest box around them.
#[derive(Clone)]
pub(in crate::method) struct Group<C: Code> {
    pub records: Vec<u32>,
    pub extent: Extent<C>,
    /// Weighted penalty of the box.
    pub ncp: f64,
}

impl<C: Code> Group<C> {
    /// What the group costs: the penalty of its box for each of its records.
    pub fn loss(&self) -> f64 {
        self.ncp * self.records.len() as f64
    }
}

impl<'a, C: Code> Work<'a, C> {
    pub fn new(problem: &'a Problem, matrix: &'a Matrix<C>) -> Self {
        Work {
            problem,
            matrix,
            kernel: Kernel::new(&problem.attributes),
            smallest: problem.requirement.smallest_class(),
            only_size: problem.requirement.only_size(),
        }
    }

    /// Whether the size of a group decides alone whether it is allowed.
    pub fn only_size(&self) -> bool {
        self.only_size
    }

    /// The group of some records; there is at least one.
    pub fn group(&self, records: Vec<u32>) -> Group<C> {
        let extent = Extent::around(self.matrix, &records);
        let ncp = self.kernel.ncp(&extent);
        Group { records, extent, ncp }
    }

    /// Whether records may be a group.
    pub fn holds(&self, records: impl ExactSizeIterator<Item = u32>) -> bool {
        if records.len() < self.smallest {
            return false;
        }
        if self.only_size {
            return true;
        }
        let mut tally = Tally::for_problem(self.problem);
        records.for_each(|record| tally.add_record(&self.problem.sensitive, record));
        self.problem.requirement.holds(&tally)
    }

    /// Whether a group may lose one of its records.
    pub fn holds_without(&self, group: &Group<C>, record: u32) -> bool {
        if group.records.len() <= self.smallest {
            return false;
        }
        self.only_size || {
            let rest: Vec<u32> = group.records.iter().copied().filter(|one| *one != record).collect();
            self.holds(rest.into_iter())
        }
    }

    /// Whether a group may take a record in.
    pub fn holds_with(&self, group: &Group<C>, record: u32) -> bool {
        self.only_size || {
            let mut all = group.records.clone();
            all.push(record);
            self.holds(all.into_iter())
        }
    }

    /// Penalty of a group's box grown around a record.
    #[inline]
    pub fn ncp_with(&self, group: &Group<C>, record: u32) -> f64 {
        let row = self.matrix.row(record as usize);
        (0..self.kernel.attributes())
            .map(|at| {
                let code = row[at / LANES][at % LANES];
                let (low, high) = (group.extent.low(at).min(code), group.extent.high(at).max(code));
                self.kernel.penalty(at, low.index(), high.index())
            })
            .sum()
    }

    /// Penalty of a group's box without one of its records.
    pub fn ncp_without(&self, group: &Group<C>, record: u32) -> f64 {
        let row = self.matrix.row(record as usize);
        let inside = (0..self.kernel.attributes()).all(|at| {
            let (low, high, code) =
                (group.extent.low(at), group.extent.high(at), row[at / LANES][at % LANES]);
            low == high || (code != low && code != high)
        });
        if inside {
            return group.ncp;
        }
        let rest: Vec<u32> = group.records.iter().copied().filter(|one| *one != record).collect();
        if rest.is_empty() { 0.0 } else { self.kernel.ncp(&Extent::around(self.matrix, &rest)) }
    }

    /// What all records of a group and one more would pay more than now.
    #[inline]
    pub fn cost_of_joining(&self, group: &Group<C>, record: u32) -> f64 {
        let after = self.ncp_with(group, record);
        after * (group.records.len() + 1) as f64 - group.loss()
    }

    pub fn join(&self, group: &mut Group<C>, record: u32) {
        group.extent.grow(self.matrix.row(record as usize));
        group.records.push(record);
        group.ncp = self.kernel.ncp(&group.extent);
    }

    pub fn leave(&self, group: &mut Group<C>, record: u32) {
        group.records.retain(|one| *one != record);
        if !group.records.is_empty() {
            *group = self.group(std::mem::take(&mut group.records));
        }
    }
}
