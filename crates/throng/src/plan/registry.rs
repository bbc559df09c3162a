//! What this program can do, as a value: others may add to it.

use crate::evaluate::Tasks;
use crate::method::{Entry, Methods};

/// The methods and tasks that plans are made from.
///
/// ```
/// use throng::plan::Registry;
/// let registry = Registry::default();
/// assert!(registry.methods.find("mondrian").is_ok());
/// assert!(registry.tasks.find("queries").is_ok());
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Registry {
    /// The methods.
    pub methods: Methods,
    /// The tasks of an evaluation.
    pub tasks: Tasks,
}

impl Registry {
    /// With one more method, in place of one of the same name.
    #[must_use]
    pub fn with_method(mut self, entry: Entry) -> Self {
        self.methods = self.methods.with(entry);
        self
    }
}
