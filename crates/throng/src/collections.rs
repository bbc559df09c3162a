//! Collections that the rest shares.

/// A hash map whose order never reaches a result.
pub(crate) type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;
