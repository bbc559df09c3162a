//! Loss: what generalizing costs.

pub mod bound;
mod extent;
mod kernel;

pub use extent::Extent;
pub use kernel::Kernel;
