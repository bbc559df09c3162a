//! How far each attribute is refined: its masked values, and what each could become.

use super::benefit::Benefit;
use crate::problem::Attribute;
use crate::table::Scale;

/// No masked value.
pub(super) const NONE: u32 = u32::MAX;

/// How an attribute is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// By the nodes of its taxonomy.
    Taxonomy,
    /// By hiding values one by one.
    Suppression,
    /// By intervals that are split as the search goes.
    Intervals,
}

impl Shape {
    /// How an attribute is masked.
    pub fn of(attribute: &Attribute) -> Self {
        match attribute.domain.scale() {
            Scale::Numeric { .. } => Shape::Intervals,
            Scale::Categorical(_) if attribute.has_hierarchy => Shape::Taxonomy,
            Scale::Categorical(_) => Shape::Suppression,
        }
    }
}

/// A masked value: what stands for a range of codes.
#[derive(Clone, Debug)]
pub(super) struct Masked {
    pub low: u32,
    pub high: u32,
    /// What it is refined into: other masked values, those without records left out.
    pub children: Vec<u32>,
    /// Whether it was refined.
    pub refined: bool,
    /// Children that are told by themselves, where it was refined into these only; it stands for the others.
    pub released: Vec<u32>,
    /// How many refinements of it may still be made.
    pub open: u32,
}

impl Masked {
    fn new(low: u32, high: u32) -> Self {
        Masked { low, high, children: Vec::new(), refined: false, released: Vec::new(), open: 0 }
    }

    /// The children that it still stands for.
    pub fn kept(&self) -> impl Iterator<Item = u32> + '_ {
        self.children.iter().copied().filter(|child| !self.released.contains(child))
    }
}

/// The state of one attribute.
///
/// Taxonomy: value i is node i. Suppression: value 0 is `*`, value 1 + c discloses code c. Intervals: value 0 is the
/// full range, children are added as splits are found.
pub(super) struct State {
    pub shape: Shape,
    pub values: Vec<Masked>,
    /// For each code which child of its current masked value it belongs to; the code itself while it is hidden.
    pub slot: Vec<u32>,
    /// One more than the largest slot there can be.
    pub slots: usize,
    /// Class counts of hidden values.
    pub hidden: Vec<u64>,
    /// Codes disclosed, in that order.
    pub disclosed: Vec<u32>,
    missing: Option<u32>,
}

impl State {
    pub fn new(at: usize, attribute: &Attribute, benefit: &Benefit) -> Self {
        let domain = &attribute.domain;
        let last = domain.len() as u32 - 1;
        let shape = Shape::of(attribute);
        let mut values = vec![Masked::new(0, last)];
        match (shape, domain.scale()) {
            (Shape::Taxonomy, Scale::Categorical(tree)) => {
                values = tree
                    .nodes()
                    .map(|node| {
                        let leaves = tree.leaves_under(node);
                        Masked::new(leaves.start as u32, leaves.end as u32 - 1)
                    })
                    .collect();
                for node in tree.nodes().skip(1) {
                    let Masked { low, high, .. } = values[node.0 as usize];
                    if let Some(parent) = tree.parent(node)
                        && benefit.records(at, low, high) > 0
                    {
                        values[parent.0 as usize].children.push(node.0);
                    }
                }
            }
            (Shape::Suppression, _) => {
                values.extend((0..=last).map(|code| Masked::new(code, code)));
            }
            _ => {}
        }
        let slots = match shape {
            Shape::Suppression => domain.len(),
            _ => values.iter().map(|value| value.children.len()).max().unwrap_or(0).max(2),
        };
        State {
            shape,
            values,
            slot: (0..=last).map(|code| if shape == Shape::Suppression { code } else { 0 }).collect(),
            slots,
            hidden: benefit.counts(at, 0, last),
            disclosed: Vec::new(),
            missing: domain.missing(),
        }
    }

    /// Finds what a value would be refined into, and the gain of that. `None` if it cannot or need not be refined.
    pub fn prepare(&mut self, at: usize, value: u32, benefit: &Benefit) -> Option<f64> {
        let Masked { low, high, .. } = self.values[value as usize];
        if !benefit.beneficial(&benefit.counts(at, low, high)) {
            return None;
        }
        if self.shape == Shape::Intervals {
            let split = match self.missing {
                // A missing number has no place among the others: it is parted from them first.
                Some(missing) if missing == high && low < high => {
                    let both = benefit.records(at, low, high - 1) > 0 && benefit.records(at, high, high) > 0;
                    both.then_some(missing)
                }
                _ => benefit.best_split(at, (low, high)),
            }?;
            for (low, high) in [(low, split - 1), (split, high)] {
                let child = self.values.len() as u32;
                self.values[value as usize].children.push(child);
                self.values.push(Masked::new(low, high));
            }
        }
        let children = self.values[value as usize].children.clone();
        let parts: Vec<(u32, u32)> = children
            .iter()
            .map(|child| (self.values[*child as usize].low, self.values[*child as usize].high))
            .collect();
        for (slot, (low, high)) in (0..).zip(&parts) {
            self.slot[*low as usize..=*high as usize].fill(slot);
        }
        (!parts.is_empty()).then(|| benefit.of_split(at, (low, high), &parts))
    }

    /// The hidden codes with records, where hiding is how the attribute is masked.
    pub fn hidden_codes(&self, at: usize, benefit: &Benefit) -> Vec<u32> {
        let hidden = |code: &u32| !self.disclosed.contains(code) && benefit.records(at, *code, *code) > 0;
        (0..self.slot.len() as u32).filter(hidden).collect()
    }

    /// Moves a value from the hidden ones to the disclosed ones.
    pub fn disclose(&mut self, at: usize, code: u32, benefit: &Benefit) {
        self.disclosed.push(code);
        for (hidden, own) in self.hidden.iter_mut().zip(benefit.counts(at, code, code)) {
            *hidden -= own;
        }
    }

    /// Where the refinement of a value of a taxonomy into one of its children and the rest is listed, behind those of all
    /// values as a whole.
    #[inline]
    pub fn place_of_child(&self, child: u32) -> u32 {
        self.values.len() as u32 + child
    }

    /// Class counts of what a value stands for: without the children that are told by themselves.
    pub fn rest(&self, at: usize, value: u32, benefit: &Benefit) -> Vec<u64> {
        let Masked { low, high, released, .. } = &self.values[value as usize];
        let mut counts = benefit.counts(at, *low, *high);
        for child in released {
            let own = &self.values[*child as usize];
            let own = benefit.counts(at, own.low, own.high);
            counts.iter_mut().zip(own).for_each(|(all, own)| *all -= own);
        }
        counts
    }

    /// Whether anything of the attribute is told.
    pub fn tells_any(&self) -> bool {
        let root = &self.values[0];
        root.refined || !root.released.is_empty() || !self.disclosed.is_empty()
    }

    /// The masked value of each code.
    pub fn shown(&self) -> Vec<u32> {
        let mut shown = vec![0; self.slot.len()];
        for code in &self.disclosed {
            shown[*code as usize] = 1 + code;
        }
        let mut left = vec![0];
        while let Some(at) = left.pop() {
            let value = &self.values[at as usize];
            if value.refined {
                left.extend(&value.children);
            } else if self.shape != Shape::Suppression {
                shown[value.low as usize..=value.high as usize].fill(at);
                // What is released is taken later, and takes its codes from the rest.
                left.extend(&value.released);
            }
        }
        shown
    }
}
