//! Solutions: what a method finds.

use super::Partition;
use super::refine::Masks;
use crate::report::Section;
use crate::table::Map;

/// What a method finds: which records are published alike, and how.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// The published records in groups.
    pub partition: Partition,
    /// The records that are left out of the release, ascending.
    pub suppressed: Vec<u32>,
    /// How groups are published, where that is wider than the smallest box around each.
    pub boxes: Option<Boxes>,
    /// The cells of groups, attribute by attribute, where they are not those of boxes.
    pub cells: Option<Vec<GroupCells>>,
    /// How each attribute is masked, where equal values are published alike: a recoding that other records can be
    /// masked with.
    pub masks: Option<Vec<Masks>>,
    /// What a reader of the report should know, one sentence each.
    pub notes: Vec<String>,
    /// Parts of the report that only this method has.
    pub sections: Vec<Section>,
}

impl From<Partition> for Solution {
    fn from(partition: Partition) -> Self {
        Solution { partition, ..Solution::default() }
    }
}

/// The boxes that groups are published as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// For each attribute the lowest and highest code of each group's box. Two groups may share a box.
    pub ends: Vec<Vec<(u32, u32)>>,
    /// Whether ranges of numbers are told half-open, `[1-37)`: up to the number that follows the highest one.
    pub half_open: bool,
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
}
