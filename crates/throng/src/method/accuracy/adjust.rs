//! What neighbouring groups exchange.

use super::group::Group;
use super::{Goal, Sorted};
use crate::problem::Code;

/// In which direction a value moves between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forwards,
    Backwards,
}

/// Neighbours along a line, pair after pair.
pub(super) struct Pairs<'a, C> {
    line: &'a Sorted<'a, C>,
    goal: Goal,
    /// The number of the pair, from 1 on.
    number: u32,
    /// For each value the pair in which it moved last, and in which direction.
    direction: Vec<(u32, Direction)>,
    /// For each place whether its record has moved; it does so once.
    pub moved: Vec<bool>,
    /// The values of a group, the most frequent first.
    values: Vec<u32>,
}

impl<'a, C: Code> Pairs<'a, C> {
    pub fn new(line: &'a Sorted<'a, C>, goal: Goal, values: usize) -> Self {
        Pairs {
            line,
            goal,
            number: 0,
            direction: vec![(0, Direction::Forwards); values],
            moved: vec![false; line.values.len()],
            values: Vec::new(),
        }
    }

    /// Moves records between two groups as long as that helps.
    pub fn adjust(&mut self, before: &mut Group<C>, after: &mut Group<C>) {
        self.number += 1;
        while self.move_one(before, after, Direction::Forwards)
            || self.move_one(after, before, Direction::Backwards)
        {}
    }

    /// Moves one record, of the most frequent value of which one may move and that helps.
    fn move_one(&mut self, source: &mut Group<C>, target: &mut Group<C>, direction: Direction) -> bool {
        if source.len() < 2 {
            return false;
        }
        let mut values = std::mem::take(&mut self.values);
        source.counts.by_frequency(&mut values);
        let moves = values.iter().any(|value| self.move_value(source, target, *value, direction));
        self.values = values;
        moves
    }

    /// Moves the record of a value that enlarges the other group least, if that is allowed.
    fn move_value(
        &mut self,
        source: &mut Group<C>,
        target: &mut Group<C>,
        value: u32,
        direction: Direction,
    ) -> bool {
        let (number, last) = self.direction[value as usize];
        if (number == self.number && last != direction) || !self.helps(source, target, value) {
            return false;
        }
        let found = source.pop_nearest(self.line, &self.moved, value, &target.around, self.number);
        let Some(place) = found else { return false };
        self.moved[place as usize] = true;
        source.release(self.line, place);
        target.receive(self.line, place);
        self.direction[value as usize] = (self.number, direction);
        true
    }

    /// Whether the lower privacy of the two would not fall if a record of a value moved.
    fn helps(&self, source: &Group<C>, target: &Group<C>, value: u32) -> bool {
        let privacy = |group: &Group<C>| self.goal.privacy(group.len(), group.counts.most());
        let now = privacy(source).min(privacy(target));
        let without = self.goal.privacy(source.len() - 1, source.counts.most_without(value));
        let with = self.goal.privacy(target.len() + 1, target.counts.most_with(value));
        without.min(with) >= now
    }
}
