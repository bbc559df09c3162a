//! Solutions: what a method finds.

use std::borrow::Cow;

use super::refine::Masks;
use super::{Fact, Partition};
use crate::loss::Extent;
use crate::parallel;
use crate::problem::{Code, Matrix, Problem};
use crate::table::Map;
use crate::with_matrix;

/// What a method finds: which records are published alike, and how.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// The published records in groups.
    pub partition: Partition,
    /// The records that are left out of the release, ascending.
    pub suppressed: Vec<u32>,
    /// How groups are published.
    pub recoding: Recoding,
    /// What a reader of the report should know; the report puts it into words.
    pub facts: Vec<Fact>,
}

/// How the groups of a solution are published.
#[derive(Clone, Debug, Default)]
pub enum Recoding {
    /// Each as the smallest box around it.
    #[default]
    Tight,
    /// As boxes that are at least as wide.
    Boxes(Boxes),
    /// As masked values: within a part of the records, equal values are published alike, so that other records can be
    /// masked in the same way. Ranges of numbers are told half-open, `[1-37)`.
    Masks {
        /// The box of each group.
        boxes: Boxes,
        /// What was learned; one part unless hard rules keep some apart.
        parts: Vec<MaskedPart>,
        /// The part of each group.
        part_of_group: Vec<u32>,
    },
    /// As cells that need not be those of boxes, attribute by attribute.
    Cells(Vec<GroupCells>),
}

/// The masks of some of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedPart {
    /// For each attribute the lowest and highest code of the part, where hard rules keep it apart from others.
    pub limits: Vec<Option<(u32, u32)>>,
    /// How each attribute is masked.
    pub masks: Vec<Masks>,
}

impl Recoding {
    /// The boxes that groups are published as; `None` where cells are given.
    pub fn boxes(&self, problem: &Problem, partition: &Partition) -> Option<Cow<'_, Boxes>> {
        match self {
            Recoding::Tight => Some(Cow::Owned(Boxes::around(problem, partition))),
            Recoding::Boxes(boxes) | Recoding::Masks { boxes, .. } => Some(Cow::Borrowed(boxes)),
            Recoding::Cells(_) => None,
        }
    }

    /// What was learned about masking other records.
    pub fn masks(&self) -> Option<&[MaskedPart]> {
        match self {
            Recoding::Masks { parts, .. } => Some(parts),
            Recoding::Tight | Recoding::Boxes(_) | Recoding::Cells(_) => None,
        }
    }
}

impl From<Partition> for Solution {
    fn from(partition: Partition) -> Self {
        Solution { partition, ..Solution::default() }
    }
}

impl Solution {
    /// A partition, and by what its records were put together.
    pub(super) fn grouped(partition: Partition, by: super::facts::Grouping) -> Self {
        Solution { facts: vec![Fact::Grouped { by }], ..partition.into() }
    }

    /// Takes note of records that were left out for the sake of the others; ascending.
    pub(super) fn leave_out(&mut self, lost: Vec<u32>) {
        if lost.is_empty() {
            return;
        }
        self.facts.push(Fact::LeftOutForOthers { records: lost.len() });
        self.suppressed.extend(lost);
        self.suppressed.sort_unstable();
    }

    /// Groups of records, each published as the smallest box around it.
    pub fn from_groups(groups: impl IntoIterator<Item = Vec<u32>>) -> Self {
        let groups: Vec<Vec<u32>> = groups.into_iter().filter(|group| !group.is_empty()).collect();
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        Partition::from_sizes(groups.concat(), sizes).into()
    }

    /// What was learned about masking records, where hard rules keep none apart.
    pub fn masks(&self) -> Option<&[Masks]> {
        match self.recoding.masks() {
            Some([part]) if part.limits.iter().all(Option::is_none) => Some(&part.masks),
            _ => None,
        }
    }
}

/// The boxes that groups are published as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boxes {
    /// For each attribute the lowest and highest code of each group's box. Two groups may share a box.
    pub ends: Vec<Vec<(u32, u32)>>,
}

/// The distinct cells of an attribute, and which of them each group has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCells {
    /// The cells.
    pub texts: Vec<String>,
    /// The cell of each group.
    pub of_group: Vec<u32>,
}

impl GroupCells {
    /// From a number per group; equal numbers have equal cells.
    pub fn new(numbers: impl Iterator<Item = u32>, text: impl Fn(u32) -> String) -> Self {
        let mut known: Map<u32, u32> = Map::default();
        let mut texts = Vec::new();
        let of_group = numbers
            .map(|number| {
                *known.entry(number).or_insert_with(|| {
                    texts.push(text(number));
                    texts.len() as u32 - 1
                })
            })
            .collect();
        GroupCells { texts, of_group }
    }

    /// The cells of some groups followed by those of others.
    pub(super) fn join(mut self, next: GroupCells) -> Self {
        let place = |text: String| match self.texts.iter().position(|own| *own == text) {
            Some(known) => known as u32,
            None => {
                self.texts.push(text);
                self.texts.len() as u32 - 1
            }
        };
        let places: Vec<u32> = next.texts.into_iter().map(place).collect();
        self.of_group.extend(next.of_group.into_iter().map(|cell| places[cell as usize]));
        self
    }
}

impl Boxes {
    /// The smallest box around every group.
    pub fn around(problem: &Problem, partition: &Partition) -> Self {
        let ends =
            with_matrix!(&problem.records, matrix => group_ends(matrix, partition, problem.attributes.len()));
        Boxes { ends }
    }
}

/// The lowest and highest code of every group, attribute by attribute.
fn group_ends<C: Code>(matrix: &Matrix<C>, partition: &Partition, attributes: usize) -> Vec<Vec<(u32, u32)>> {
    let extents: Vec<Extent<C>> =
        parallel::map(0..partition.len(), |at| Extent::around(matrix, partition.group(at)));
    let end = |code: C| code.index() as u32;
    parallel::map(0..attributes, |at| {
        extents.iter().map(|extent| (end(extent.low(at)), end(extent.high(at)))).collect()
    })
}
