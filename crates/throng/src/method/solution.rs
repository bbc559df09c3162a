//! Solutions: what a method finds.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Partition;
use super::refine::Masks;
use crate::loss::Extent;
use crate::problem::{Code, Matrix, Problem};
use crate::report::Section;
use crate::table::Map;
use crate::with_matrix;

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
impl Boxes {
    /// The smallest box around every group.
    pub fn around(problem: &Problem, partition: &Partition) -> Self {
        let ends =
            with_matrix!(&problem.records, matrix => group_ends(matrix, partition, problem.attributes.len()));
        Boxes { ends, half_open: false }
    }
}

/// The lowest and highest code of every group, attribute by attribute.
fn group_ends<C: Code>(matrix: &Matrix<C>, partition: &Partition, attributes: usize) -> Vec<Vec<(u32, u32)>> {
    let extents: Vec<Extent<C>> =
        (0..partition.len()).into_par_iter().map(|at| Extent::around(matrix, partition.group(at))).collect();
    let end = |code: C| code.index() as u32;
    (0..attributes)
        .into_par_iter()
        .map(|at| extents.iter().map(|extent| (end(extent.low(at)), end(extent.high(at)))).collect())
        .collect()
}
