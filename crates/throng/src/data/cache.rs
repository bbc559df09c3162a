//! What was found from data once and is kept beside it, by type and name, so that data need not know what others derive
//! from it.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;

type Found = BTreeMap<(TypeId, &'static str), Arc<dyn Any + Send + Sync>>;

/// Things that follow from data. A copy knows what its original had found, and finds the rest by itself.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Found>);

impl Cache {
    /// The thing of a name, made when first asked for. Where several threads make it at once, the first to end gives it.
    pub fn get<T: Any + Send + Sync>(
        &self,
        name: &'static str,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let key = (TypeId::of::<T>(), name);
        let found = self.found().get(&key).cloned();
        if let Some(known) = found.and_then(|known| known.downcast().ok()) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        let kept = Arc::clone(self.found().entry(key).or_insert_with(|| Arc::clone(&made) as _));
        Ok(kept.downcast().unwrap_or(made))
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        // A thread that panicked while it held the lock has at most failed to add something.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        Cache(Mutex::new(self.found().clone()))
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Cache({})", self.found().len())
    }
}
