//! Loss: what generalizing costs.

pub mod bound;
mod extent;
mod kernel;

pub use extent::Extent;
pub(crate) use extent::grow_lanes;
pub use kernel::Kernel;
