//! The recoding that a search ends with: the masked values of each attribute.

use super::state::{Shape, State};
use crate::collections::Arrange;

/// How one attribute is masked in the end: a tree of masked values, parents before children. Trees of intervals can be
/// as deep as there are numbers, so it is kept as a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masks {
    /// In which way.
    pub shape: Shape,
    /// The masked values; the first is the root. Where values are hidden, the others are those disclosed, in that
    /// order, and the root stands for the rest.
    pub values: Vec<Value>,
}

/// A masked value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// Lowest code it stands for.
    pub low: u32,
    /// Highest code it stands for.
    pub high: u32,
    /// What it was refined from.
    pub parent: Option<u32>,
    /// Whether it was refined itself, so that it is no longer published. One that was refined into some of its children is
    /// published for the rest.
    pub refined: bool,
}

impl Masks {
    /// The published values as ranges of codes, ascending and from the widest; without `*`, where it stands for what is
    /// hidden. A value that was refined into some of its children covers theirs, and stands for the rest.
    pub fn published(&self) -> Vec<(u32, u32)> {
        let hides = |at: usize| self.shape == Shape::Suppression && at == 0;
        let ends = self.values.iter().enumerate().filter(|(at, value)| !value.refined && !hides(*at));
        let mut ranges: Vec<(u32, u32)> = ends.map(|(_, value)| (value.low, value.high)).collect();
        ranges.arrange_by_key(|(low, high)| (*low, std::cmp::Reverse(*high)));
        ranges
    }

    /// The published values, and which of them tells each of so many codes; as many as there are values where none does.
    pub fn told(&self, codes: usize) -> (Vec<(u32, u32)>, Vec<usize>) {
        let published = self.published();
        let mut of_code = vec![published.len(); codes];
        // Narrower ones come later.
        for (number, (low, high)) in published.iter().enumerate() {
            of_code[*low as usize..=*high as usize].fill(number);
        }
        (published, of_code)
    }
}

pub(super) fn of(state: &State) -> Masks {
    let value = |at: u32, parent: Option<u32>| {
        let own = &state.values[at as usize];
        Value { low: own.low, high: own.high, parent, refined: own.refined }
    };
    let mut values = vec![value(0, None)];
    if state.shape == Shape::Suppression {
        values.extend(state.disclosed.iter().map(|code| value(1 + code, Some(0))));
        values[0].refined = !state.disclosed.is_empty();
    } else {
        // Where each listed value stands in the state.
        let mut origin = vec![0u32];
        let mut at = 0;
        while at < origin.len() {
            let own = &state.values[origin[at] as usize];
            let told = if own.refined { &own.children } else { &own.released };
            for &child in told {
                values.push(value(child, Some(at as u32)));
                origin.push(child);
            }
            at += 1;
        }
    }
    Masks { shape: state.shape, values }
}
