//! The best way to cut several queues of records into groups, by dynamic programming over end boundaries.
//!
//! A *boundary* says how many records of each queue belong to the groups so far. A group lies between two boundaries:
//! it takes consecutive records of each queue, any number of them. `best(a)` is the best over all earlier boundaries b
//! of `best(b)` combined with what the group between b and a is worth.

use crate::error::{Error, ErrorCode, Result};
use crate::loss::Extent;
use crate::method::Partition;
use crate::problem::{Code, Matrix};
use crate::watch::Watch;

/// Groups that are looked at, at most.
pub const MOST_GROUPS: f64 = 1_048_576.0;

/// How the worths of groups make up that of a partition; the least is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Their sum.
    Sum,
    /// The greatest of them.
    Greatest,
}

/// Records in queues.
pub struct Queues<'a, C> {
    matrix: &'a Matrix<C>,
    queues: Vec<Vec<u32>>,
    /// No group takes more records of one queue.
    pub most_of_each: usize,
    /// No group has more records.
    pub largest: usize,
}

type Worth<'j, C> = dyn FnMut(&[u32], &Extent<C>) -> Option<f64> + 'j;
type Allow<'j, C> = dyn Fn(&Extent<C>) -> bool + 'j;

impl<'a, C: Code> Queues<'a, C> {
    /// One queue per value, each in the order given.
    pub fn new(matrix: &'a Matrix<C>, order: &[u32], values: &[u32], domain: usize) -> Self {
        let mut queues = vec![Vec::new(); domain];
        order.iter().for_each(|record| queues[values[*record as usize] as usize].push(*record));
        queues.retain(|queue| !queue.is_empty());
        Queues { matrix, queues, most_of_each: usize::MAX, largest: usize::MAX }
    }

    /// How many groups there are to look at.
    fn groups(&self) -> f64 {
        let of_queue = |queue: &Vec<u32>| -> f64 {
            (0..=queue.len()).map(|end| (end.min(self.most_of_each) + 1) as f64).sum()
        };
        self.queues.iter().map(of_queue).product()
    }

    /// The partition with the least worth. `allow` tells whether a box, and so every smaller one, may occur; `worth`
    /// what a group is worth, or that it may not be.
    pub fn best(
        &self,
        combine: Combine,
        allow: &Allow<'_, C>,
        worth: &mut Worth<'_, C>,
        watch: &dyn Watch,
    ) -> Result<Partition> {
        if self.groups() > MOST_GROUPS {
            return Err(Error::new(ErrorCode::TableTooLarge, format!(
                "the table is too large for an exact answer: {:.1e} possible groups, at most {MOST_GROUPS} are looked at",
                self.groups()
            ))
            .with_hint("take fewer records or sensitive values, or a method such as hilbert or accuracy"));
        }
        let strides: Vec<usize> = self
            .queues
            .iter()
            .scan(1, |stride, queue| {
                let own = *stride;
                *stride *= queue.len() + 1;
                Some(own)
            })
            .collect();
        let boundaries: usize = self.queues.iter().map(|queue| queue.len() + 1).product();
        let start = if combine == Combine::Sum { 0.0 } else { f64::NEG_INFINITY };
        let mut search = Search {
            queues: self,
            strides,
            combine,
            allow,
            worth,
            best: vec![f64::INFINITY; boundaries],
            from: vec![0; boundaries],
            group: Vec::new(),
        };
        search.best[0] = start;
        for boundary in 1..boundaries {
            if boundary.is_multiple_of(1024) {
                watch.check()?;
            }
            search.extend(boundary, boundary, 0, None);
        }
        search.partition()
    }
}

struct Search<'s, 'a, 'j, C> {
    queues: &'s Queues<'a, C>,
    strides: Vec<usize>,
    combine: Combine,
    allow: &'s Allow<'j, C>,
    worth: &'s mut Worth<'j, C>,
    best: Vec<f64>,
    from: Vec<usize>,
    group: Vec<u32>,
}

impl<C: Code> Search<'_, '_, '_, C> {
    /// How many records of a queue lie before a boundary.
    fn taken(&self, boundary: usize, queue: usize) -> usize {
        boundary / self.strides[queue] % (self.queues.queues[queue].len() + 1)
    }

    /// Tries all groups that end at a boundary, given what they take of the queues before `queue`; `before` is the
    /// boundary they begin at as far as that says.
    fn extend(&mut self, boundary: usize, before: usize, queue: usize, extent: Option<&Extent<C>>) {
        if queue == self.strides.len() {
            self.consider(boundary, before, extent);
            return;
        }
        self.extend(boundary, before, queue + 1, extent);
        let taken = self.taken(boundary, queue);
        let most = taken.min(self.queues.most_of_each).min(self.queues.largest - self.group.len());
        let size = self.group.len();
        let mut own = extent.cloned();
        for count in 1..=most {
            let record = self.queues.queues[queue][taken - count];
            let row = self.queues.matrix.row(record as usize);
            let grown = match own.take() {
                None => Extent::of(row),
                Some(mut extent) => {
                    extent.grow(row);
                    extent
                }
            };
            if !(self.allow)(&grown) {
                break;
            }
            self.group.push(record);
            self.extend(boundary, before - count * self.strides[queue], queue + 1, Some(&grown));
            own = Some(grown);
        }
        self.group.truncate(size);
    }

    fn consider(&mut self, boundary: usize, before: usize, extent: Option<&Extent<C>>) {
        let Some(extent) = extent else { return };
        let so_far = self.best[before];
        if so_far == f64::INFINITY || (self.combine == Combine::Sum && so_far >= self.best[boundary]) {
            return;
        }
        if let Some(worth) = (self.worth)(&self.group, extent) {
            let total = match self.combine {
                Combine::Sum => so_far + worth,
                Combine::Greatest => so_far.max(worth),
            };
            if total < self.best[boundary] {
                (self.best[boundary], self.from[boundary]) = (total, before);
            }
        }
    }

    fn partition(&self) -> Result<Partition> {
        let mut boundary = self.best.len() - 1;
        if self.best[boundary] == f64::INFINITY {
            return Err(Error::new(
                ErrorCode::RequirementUnreachable,
                "no partition along the curve meets the requirement",
            ));
        }
        let (mut records, mut sizes) = (Vec::new(), Vec::new());
        while boundary > 0 {
            let before = self.from[boundary];
            let start = records.len();
            for (at, queue) in self.queues.queues.iter().enumerate() {
                records.extend_from_slice(&queue[self.taken(before, at)..self.taken(boundary, at)]);
            }
            sizes.push(records.len() - start);
            boundary = before;
        }
        Ok(Partition::from_sizes(records, sizes))
    }
}
