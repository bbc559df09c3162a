//! The groups of a bottom-up run.

use hashbrown::HashTable;

use super::Merge;
use crate::collections::sort_by_code;
use crate::loss::Kernel;
use crate::method::Partition;
use crate::method::local::BoxList;
use crate::method::local::index::{Mass, Measure};
use crate::method::local::pieces::Cutter;
use crate::parallel;
use crate::privacy::{Judge, Tally};
use crate::problem::{Code, Lanes, Matrix, Problem};

/// No record, no group, no time.
const NONE: u32 = u32::MAX;

/// Groups with ids 0, 1, 2, … and their boxes. Members are chained, so that merging costs nothing.
pub struct Pool<'a, C> {
    problem: &'a Problem,
    judge: &'a Judge<'a>,
    matrix: &'a Matrix<C>,
    kernel: &'a Kernel,
    /// The box of each group.
    pub boxes: BoxList<C>,
    first: Vec<u32>,
    last: Vec<u32>,
    next: Vec<u32>,
    /// The size of each group and what its box costs.
    mass: Vec<Mass>,
    met: Vec<bool>,
    /// When each group last took part in a merge of this round; `NONE` before.
    merged_at: Vec<u32>,
    gone: Vec<bool>,
    merges: u32,
    /// Room to count in.
    tally: Tally,
}

impl<'a, C: Code> Pool<'a, C> {
    fn new(problem: &'a Problem, judge: &'a Judge<'a>, matrix: &'a Matrix<C>, kernel: &'a Kernel) -> Self {
        Pool {
            problem,
            judge,
            matrix,
            kernel,
            boxes: BoxList::new(matrix.stride()),
            first: Vec::new(),
            last: Vec::new(),
            next: vec![NONE; problem.len()],
            mass: Vec::new(),
            met: Vec::new(),
            merged_at: Vec::new(),
            gone: Vec::new(),
            merges: 0,
            tally: judge.tally(),
        }
    }

    /// Equal records as groups, in the order of their first records.
    pub fn of_equal_records(
        problem: &'a Problem,
        judge: &'a Judge<'a>,
        matrix: &'a Matrix<C>,
        kernel: &'a Kernel,
    ) -> Self {
        let mut pool = Self::new(problem, judge, matrix, kernel);
        let mut known: HashTable<u32> = HashTable::new();
        for record in 0..problem.len() as u32 {
            let row = matrix.row(record as usize);
            let hash = hash(row);
            let equal = |id: &u32| matrix.row(pool.first[*id as usize] as usize) == row;
            match known.find(hash, equal).copied() {
                Some(id) => pool.append(id, record),
                None => {
                    let id = pool.push(record);
                    let first = |id: &u32| self::hash(matrix.row(pool.first[*id as usize] as usize));
                    known.insert_unique(hash, id, first);
                }
            }
        }
        for id in 0..pool.len() as u32 {
            pool.met[id as usize] = pool.meets(id);
            pool.price(id);
        }
        pool
    }

    fn push(&mut self, record: u32) -> u32 {
        let row = self.matrix.row(record as usize);
        self.boxes.push((row, row));
        self.first.push(record);
        self.last.push(record);
        self.mass.push(Mass { size: 1, penalty: 0.0 });
        self.met.push(false);
        self.merged_at.push(NONE);
        self.gone.push(false);
        self.first.len() as u32 - 1
    }

    fn append(&mut self, id: u32, record: u32) {
        let id = id as usize;
        self.next[self.last[id] as usize] = record;
        self.last[id] = record;
        self.mass[id].size += 1;
    }

    /// Notes what the box of a group costs.
    fn price(&mut self, id: u32) {
        let sides = self.boxes.get(id as usize);
        self.mass[id as usize].penalty = self.kernel.union_up_to(sides, sides, f64::INFINITY);
    }

    /// Number of groups, those that are gone included.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// The size of each group and what its box costs.
    pub fn masses(&self) -> &[Mass] {
        &self.mass
    }

    /// What a group compares when it looks for another.
    pub fn measure(&self, merge: Merge, id: u32) -> Measure {
        match merge {
            Merge::Union => Measure::Union,
            Merge::Growth => {
                let Mass { size, penalty } = self.mass[id as usize];
                Measure::Growth { size, penalty }
            }
        }
    }

    /// What another group costs one that looks.
    pub fn cost(&self, measure: Measure, id: u32, other: u32) -> f64 {
        let (own, other_box) = (self.boxes.get(id as usize), self.boxes.get(other as usize));
        measure.cost(self.kernel.union_up_to(own, other_box, f64::INFINITY), self.mass[other as usize])
    }

    /// Whether a group was merged into another one.
    pub fn gone(&self, id: u32) -> bool {
        self.gone[id as usize]
    }

    /// Whether a group is there and does not meet the requirement.
    pub fn waits(&self, id: u32) -> bool {
        !self.gone[id as usize] && !self.met[id as usize]
    }

    /// Number of groups that are not gone.
    pub fn left(&self) -> usize {
        self.len() - self.merges as usize
    }

    /// How many merges there were so far.
    pub fn stamp(&self) -> u32 {
        self.merges
    }

    /// Whether a group took part in a merge since.
    pub fn changed_since(&self, id: u32, stamp: u32) -> bool {
        let merged_at = self.merged_at[id as usize];
        merged_at != NONE && merged_at >= stamp
    }

    /// Whether a group does not meet the requirement.
    pub fn any_unmet(&self) -> bool {
        (0..self.len() as u32).any(|id| self.waits(id))
    }

    /// The groups that do not meet the requirement.
    pub fn unmet(&self) -> Vec<u32> {
        (0..self.len() as u32).filter(|id| !self.met[*id as usize]).collect()
    }

    /// How many records are in groups that meet the requirement.
    pub fn records_met(&self) -> u64 {
        self.met.iter().zip(&self.mass).filter(|(met, _)| **met).map(|(_, mass)| u64::from(mass.size)).sum()
    }

    /// Merges a group into another.
    pub fn merge(&mut self, id: u32, target: u32) {
        let (from, to) = (id as usize, target as usize);
        self.next[self.last[to] as usize] = self.first[from];
        self.last[to] = self.last[from];
        self.mass[to].size += self.mass[from].size;
        self.boxes.grow_around(to, from);
        self.price(target);
        self.gone[from] = true;
        self.merged_at[from] = self.merges;
        self.merged_at[to] = self.merges;
        self.merges += 1;
        self.met[to] = self.meets(target);
    }

    fn members(&self, id: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let mut at = self.first[id as usize];
        (0..self.mass[id as usize].size).map(move |_| {
            let record = at;
            at = self.next[at as usize];
            record
        })
    }

    fn meets(&mut self, id: u32) -> bool {
        let mut tally = std::mem::take(&mut self.tally);
        let holds = self.judge.holds_in(&mut tally, self.members(id));
        self.tally = tally;
        holds
    }

    /// Cuts groups that are too large and numbers all that are left again, pieces in the place of their group.
    pub fn cut(self, cutter: &Cutter<'_, C>, rank: &[u32]) -> Self {
        let largest = 2 * self.judge.smallest();
        let too_large = |id: &u32| !self.gone(*id) && self.mass[*id as usize].size as usize >= largest;
        let to_cut: Vec<u32> = (0..self.len() as u32).filter(too_large).collect();
        let pieces: Vec<Vec<Vec<u32>>> = parallel::map(to_cut, |id| {
            let mut records: Vec<u32> = self.members(id).collect();
            sort_by_code(&mut records, rank);
            cutter.cut(records)
        });
        let mut pieces = pieces.into_iter();
        let mut next = Self::new(self.problem, self.judge, self.matrix, self.kernel);
        for id in (0..self.len() as u32).filter(|id| !self.gone(*id)) {
            if too_large(&id) {
                for piece in pieces.next().unwrap_or_default() {
                    let new = next.add(piece.into_iter());
                    next.met[new as usize] = next.meets(new);
                }
            } else {
                let new = next.add(self.members(id));
                next.met[new as usize] = self.met[id as usize];
            }
        }
        next
    }

    /// Numbers the groups that are left again, in the same order, and so those of a list, of which others are left out.
    pub fn compacted(self, listed: &mut Vec<u32>) -> Self {
        let mut next = Self::new(self.problem, self.judge, self.matrix, self.kernel);
        let mut new_id = vec![NONE; self.len()];
        for id in (0..self.len() as u32).filter(|id| !self.gone(*id)) {
            let new = next.add(self.members(id));
            next.met[new as usize] = self.met[id as usize];
            new_id[id as usize] = new;
        }
        listed.retain(|id| !self.gone(*id));
        listed.iter_mut().for_each(|id| *id = new_id[*id as usize]);
        next
    }

    fn add(&mut self, mut records: impl Iterator<Item = u32>) -> u32 {
        let id = self.push(records.next().unwrap_or_default());
        for record in records {
            self.append(id, record);
            let row = self.matrix.row(record as usize);
            self.boxes.grow(id as usize, (row, row));
        }
        self.price(id);
        id
    }

    /// The groups that are left.
    pub fn into_partition(self) -> Partition {
        let mut order = Vec::with_capacity(self.problem.len());
        let mut sizes = Vec::with_capacity(self.len());
        for id in (0..self.len() as u32).filter(|id| !self.gone(*id)) {
            order.extend(self.members(id));
            sizes.push(self.mass[id as usize].size as usize);
        }
        Partition::from_sizes(order, sizes)
    }
}

/// A hash of a row; equal hashes are told apart by the rows.
fn hash<C: Code>(row: &[Lanes<C>]) -> u64 {
    let mix = |hash: u64, code: &C| {
        (hash ^ code.index() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    row.as_flattened().iter().fold(0x2545_f491_4f6c_dd1d, mix)
}
