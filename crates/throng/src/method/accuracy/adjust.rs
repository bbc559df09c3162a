//! Neighbouring groups and what they exchange.

use super::Goal;
use crate::loss::{Extent, Kernel};
use crate::privacy::Histogram;
use crate::problem::{Code, Matrix, Problem};

/// A group that still changes.
pub(super) struct Group<C> {
    members: Vec<Member>,
    counts: Histogram,
    extent: Extent<C>,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    record: u32,
    value: u32,
    /// Whether it came from the group before; then it stays.
    moved: bool,
}

impl<C: Code> Group<C> {
    /// An empty group over so many values; `extent` is that of the record it begins with.
    pub fn new(extent: Extent<C>, values: usize) -> Self {
        Group { members: Vec::new(), counts: Histogram::new(values), extent }
    }

    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn records(&self) -> impl Iterator<Item = u32> {
        self.members.iter().map(|member| member.record)
    }

    pub fn add(&mut self, record: u32, value: u32, matrix: &Matrix<C>) {
        self.push(Member { record, value, moved: false }, matrix);
    }

    fn push(&mut self, member: Member, matrix: &Matrix<C>) {
        self.extent.grow(matrix.row(member.record as usize));
        self.counts.add(member.value);
        self.members.push(member);
    }

    /// Takes a member out; the order of the others does not matter.
    fn take(&mut self, at: usize, matrix: &Matrix<C>) -> Member {
        let member = self.members.swap_remove(at);
        self.counts.remove(member.value);
        let row = matrix.row(member.record as usize).as_flattened();
        let ends = self.extent.lows().as_flattened().iter().zip(self.extent.highs().as_flattened());
        // Only a record on the border may shrink the box.
        if row.iter().zip(ends).any(|(code, (low, high))| low != high && (code == low || code == high)) {
            let records: Vec<u32> = self.records().collect();
            self.extent = Extent::around(matrix, &records);
        }
        member
    }

    /// How often the most frequent value occurs.
    fn most(&self) -> u32 {
        self.counts.present().map(|(_, count)| count).max().unwrap_or(0)
    }

    /// As [`Self::most`], but without one record of a value.
    fn most_without(&self, value: u32) -> u32 {
        let less = |(own, count): (u32, u32)| count - u32::from(own == value);
        self.counts.present().map(less).max().unwrap_or(0)
    }
}

/// In which direction a value moves between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forwards,
    Backwards,
}

/// Two neighbouring groups.
pub(super) struct Pair<'a, C> {
    problem: &'a Problem,
    matrix: &'a Matrix<C>,
    kernel: &'a Kernel,
    goal: Goal,
    /// For each value the pair in which it moved last, and in which direction.
    moved: Vec<(u32, Direction)>,
    number: u32,
    scratch: Option<Extent<C>>,
}

impl<'a, C: Code> Pair<'a, C> {
    pub fn new(
        problem: &'a Problem,
        matrix: &'a Matrix<C>,
        kernel: &'a Kernel,
        goal: Goal,
        values: usize,
    ) -> Self {
        let moved = vec![(0, Direction::Forwards); values];
        Pair { problem, matrix, kernel, goal, moved, number: 0, scratch: None }
    }

    /// The penalty of a group's box with one more record, if that is within the limit.
    fn enlarged(&mut self, group: &Group<C>, record: u32) -> Option<f64> {
        let extent = self.scratch.get_or_insert_with(|| group.extent.clone());
        extent.clone_from(&group.extent);
        extent.grow(self.matrix.row(record as usize));
        self.problem.limits.allow(self.kernel, extent).then(|| self.kernel.ncp(extent))
    }

    /// Whether a group may grow by a record.
    pub fn fits(&mut self, group: &Group<C>, record: u32) -> bool {
        self.enlarged(group, record).is_some()
    }

    /// Moves records between two groups as long as that helps.
    pub fn adjust(&mut self, before: &mut Group<C>, after: &mut Group<C>) {
        self.number += 1;
        while self.move_one(before, after, Direction::Forwards)
            || self.move_one(after, before, Direction::Backwards)
        {}
    }

    /// Moves one record of a most frequent value, if that is allowed.
    fn move_one(&mut self, source: &mut Group<C>, target: &mut Group<C>, direction: Direction) -> bool {
        if source.len() < 2 {
            return false;
        }
        let most = source.most();
        let mut values: Vec<u32> =
            source.counts.present().filter(|(_, count)| *count == most).map(|(value, _)| value).collect();
        values.sort_unstable();
        for value in values {
            let (number, last) = self.moved[value as usize];
            if (number == self.number && last != direction) || !self.helps(source, target, value) {
                continue;
            }
            if let Some(at) = self.nearest(source, target, value, direction) {
                let member = source.take(at, self.matrix);
                target.push(Member { moved: direction == Direction::Forwards, ..member }, self.matrix);
                self.moved[value as usize] = (self.number, direction);
                return true;
            }
        }
        false
    }

    /// Whether the lower privacy of the two would not fall.
    fn helps(&self, source: &Group<C>, target: &Group<C>, value: u32) -> bool {
        let privacy = |group: &Group<C>| self.goal.privacy(group.len(), group.most());
        let now = privacy(source).min(privacy(target));
        let there = target.most().max(target.counts.count(value) + 1);
        let without = self.goal.privacy(source.len() - 1, source.most_without(value));
        without.min(self.goal.privacy(target.len() + 1, there)) >= now
    }

    /// The member of a value that enlarges another group least, if any may move there.
    fn nearest(
        &mut self,
        source: &Group<C>,
        target: &Group<C>,
        value: u32,
        direction: Direction,
    ) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (at, member) in source.members.iter().enumerate() {
            let stays = member.value != value || (member.moved && direction == Direction::Forwards);
            if stays {
                continue;
            }
            if let Some(loss) = self.enlarged(target, member.record)
                && best.is_none_or(|(least, _)| loss < least)
            {
                best = Some((loss, at));
            }
        }
        best.map(|(_, at)| at)
    }
}
