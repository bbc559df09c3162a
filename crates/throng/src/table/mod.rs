//! Tables: reading them into codes over domains.

mod taxonomy;

pub use taxonomy::{ANY, NodeId, Taxonomy, Tree};

/// A hash map whose order never reaches a result.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;
