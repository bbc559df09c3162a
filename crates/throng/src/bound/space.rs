//! Records as the bound sees them: equal ones are one point, with what boxes around them cost.

use super::costs::Cost;
use crate::collections::Arrange;

/// How many of a class may share a value; the value is a sensitive one, or the person whose record it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Caps {
    /// As many as like.
    None,
    /// Of so many records that make up a class at least, at most so many of each value.
    Each(Vec<u32>),
}

/// Different records, how often they occur, and what is asked of their classes.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub costs: Vec<Cost>,
    /// The codes of each point, attribute by attribute.
    pub codes: Vec<u32>,
    /// How many records each point is.
    pub records: Vec<u32>,
    /// The value that each point counts for, where values have caps.
    pub values: Vec<u32>,
    pub caps: Caps,
    /// How many records the class of each point has at least.
    pub sizes: Vec<u32>,
}

impl Space {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.costs.len()
    }

    /// The codes of a point.
    #[inline(always)]
    pub fn row(&self, point: u32) -> &[u32] {
        let width = self.width();
        &self.codes[point as usize * width..(point as usize + 1) * width]
    }

    /// How many records there are.
    pub fn all(&self) -> u64 {
        self.records.iter().map(|records| u64::from(*records)).sum()
    }

    /// How many of a value a class may have, of those that its size asks for.
    #[inline(always)]
    pub fn cap(&self, value: u32) -> u32 {
        match &self.caps {
            Caps::None => u32::MAX,
            Caps::Each(caps) => caps[value as usize],
        }
    }

    /// How many values there are.
    pub fn value_count(&self) -> usize {
        self.values.iter().max().map_or(0, |most| *most as usize + 1)
    }

    /// Whether values have caps.
    pub fn capped(&self) -> bool {
        self.caps != Caps::None
    }

    /// What the box of two points costs.
    pub fn apart(&self, one: u32, other: u32) -> u32 {
        let (one, other) = (self.row(one), self.row(other));
        let mut sum = 0;
        for at in 0..self.costs.len() {
            sum += self.costs[at].pair(one[at], other[at]);
        }
        sum
    }

    /// The same with attributes in another order, those first on which points differ most: sums are then given up early.
    pub fn dearest_first(&self) -> Self {
        let (points, step) = (self.len() as u32, self.len() as u32 / 500 + 1);
        let pairs = || {
            (0..points)
                .step_by(step as usize)
                .map(|one| (one, (one.wrapping_mul(7).wrapping_add(points / 2)) % points))
        };
        let apart = |at: usize| -> u64 {
            let cost = |(one, other): (u32, u32)| {
                u64::from(self.costs[at].pair(self.row(one)[at], self.row(other)[at]))
            };
            pairs().map(cost).sum()
        };
        let mut order: Vec<(u64, usize)> = (0..self.width()).map(|at| (apart(at), at)).collect();
        order.arrange_by_key(|(apart, at)| (std::cmp::Reverse(*apart), *at));
        let codes = (0..points).flat_map(|point| order.iter().map(move |(_, at)| self.row(point)[*at]));
        Space {
            costs: order.iter().map(|(_, at)| self.costs[*at].clone()).collect(),
            codes: codes.collect(),
            ..self.clone()
        }
    }

    /// The points in another order.
    pub fn reordered(&self, order: &[u32]) -> Self {
        let of = |column: &[u32]| order.iter().map(|point| column[*point as usize]).collect();
        Space {
            costs: self.costs.clone(),
            codes: order.iter().flat_map(|point| self.row(*point).iter().copied()).collect(),
            records: of(&self.records),
            values: of(&self.values),
            caps: self.caps.clone(),
            sizes: of(&self.sizes),
        }
    }
}
