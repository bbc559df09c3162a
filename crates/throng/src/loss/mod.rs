//! Loss: what generalizing costs.

mod exact_sum;
mod extent;
mod kernel;
mod limit;

pub use exact_sum::ExactSum;
pub use extent::Extent;
pub use kernel::{Kernel, PairTables};
pub use limit::Limits;

use crate::data::Data;
use crate::with_matrix;

/// Weighted penalty of a group of records.
pub fn group_ncp(data: &Data, kernel: &Kernel, group: &[u32]) -> f64 {
    with_matrix!(&data.records, matrix => kernel.ncp(&Extent::around(matrix, group)))
}
