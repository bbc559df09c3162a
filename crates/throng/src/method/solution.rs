//! Solutions: what a method finds.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Partition;
use crate::loss::Extent;
use crate::problem::{Code, Matrix, Problem};
use crate::report::Section;
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
