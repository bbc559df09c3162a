//! Groups that change: their records, their boxes and what they cost.

use crate::loss::{Extent, Kernel};
use crate::privacy::Judge;
use crate::problem::{Code, LANES, Matrix, Problem};

/// What work on groups looks at.
pub(in crate::method) struct Work<'a, C> {
    pub problem: &'a Problem,
    pub matrix: &'a Matrix<C>,
    pub kernel: Kernel,
    /// Which records may be a group.
    pub judge: Judge<'a>,
}

/// The ends of a group's codes of one attribute, and what they are without one of the records that has them.
pub(in crate::method) struct Ends {
    low: usize,
    low_without: usize,
    high: usize,
    high_without: usize,
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
        Work { problem, matrix, kernel: Kernel::new(&problem.attributes), judge: Judge::new(problem) }
    }

    /// The group of some records; there is at least one.
    pub fn group(&self, records: Vec<u32>) -> Group<C> {
        let extent = Extent::around(self.matrix, &records);
        let ncp = self.kernel.ncp(&extent);
        Group { records, extent, ncp }
    }

    /// Whether a group stays within the limits of the problem.
    #[inline]
    pub fn allows(&self, group: &Group<C>) -> bool {
        self.problem.limits.is_empty() || self.problem.limits.allow(&self.kernel, &group.extent)
    }

    /// The same of a group with one record more.
    #[inline]
    pub fn allows_with(&self, group: &Group<C>, record: u32) -> bool {
        self.problem.limits.is_empty() || {
            let mut extent = group.extent.clone();
            extent.grow(self.matrix.row(record as usize));
            self.problem.limits.allow(&self.kernel, &extent)
        }
    }

    /// Penalty of a group's box grown around a record. Given up once it is above `limit`; what is returned then is
    /// above it too.
    #[inline]
    pub fn ncp_up_to(&self, group: &Group<C>, record: u32, limit: f64) -> f64 {
        let row = self.matrix.row(record as usize);
        self.kernel.union_up_to((row, row), (group.extent.lows(), group.extent.highs()), limit)
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

    /// The ends of a group of at least two records, to ask for its penalty without each of them.
    pub fn ends(&self, group: &Group<C>) -> Vec<Ends> {
        let of = |at: usize| {
            let (low, high) = (group.extent.low(at), group.extent.high(at));
            let mut ends = Ends { low: 0, low_without: 0, high: 0, high_without: 0 };
            let (mut lows, mut highs, mut above, mut below) = (0, 0, high, low);
            if low != high {
                for record in &group.records {
                    let code = self.matrix.get(*record as usize, at);
                    lows += usize::from(code == low);
                    highs += usize::from(code == high);
                    above = if code > low { above.min(code) } else { above };
                    below = if code < high { below.max(code) } else { below };
                }
            }
            (ends.low, ends.high) = (low.index(), high.index());
            ends.low_without = if lows == 1 { above.index() } else { low.index() };
            ends.high_without = if highs == 1 { below.index() } else { high.index() };
            ends
        };
        (0..self.kernel.attributes()).map(of).collect()
    }

    /// Penalty of a group's box without one of its records, by the ends of the group.
    pub fn ncp_by_ends(&self, ends: &[Ends], record: u32) -> f64 {
        let row = self.matrix.row(record as usize).as_flattened();
        let mut sum = 0.0;
        for at in 0..ends.len() {
            let (ends, code) = (&ends[at], row[at].index());
            let low = if code == ends.low { ends.low_without } else { ends.low };
            let high = if code == ends.high { ends.high_without } else { ends.high };
            sum += self.kernel.penalty(at, low, high);
        }
        sum
    }

    /// What all records of a group and one more would pay more than now.
    #[inline]
    pub fn cost_of_joining(&self, group: &Group<C>, record: u32) -> f64 {
        let after = self.ncp_up_to(group, record, f64::INFINITY);
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
