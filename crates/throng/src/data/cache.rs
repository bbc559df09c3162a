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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_thing_is_made_once_for_each_type_and_name() {
        let cache = Cache::default();
        assert_eq!(*cache.get("a", || Ok(1u32)).unwrap(), 1);
        assert_eq!(*cache.get("a", || Ok(2u32)).unwrap(), 1);
        assert_eq!(*cache.get("b", || Ok(2u32)).unwrap(), 2);
        assert_eq!(*cache.get("a", || Ok("text")).unwrap(), "text");
    }

    #[test]
    fn a_copy_knows_what_was_found_and_finds_the_rest_by_itself() {
        let cache = Cache::default();
        cache.get("a", || Ok(1u32)).unwrap();
        let copy = cache.clone();
        copy.get("b", || Ok(2u32)).unwrap();
        assert_eq!(*copy.get("a", || Ok(3u32)).unwrap(), 1);
        assert_eq!(*cache.get("b", || Ok(3u32)).unwrap(), 3);
    }

    #[test]
    fn what_fails_is_tried_again() {
        let cache = Cache::default();
        assert!(cache.get::<u32>("a", || Err(Error::cancelled())).is_err());
        assert_eq!(*cache.get("a", || Ok(1u32)).unwrap(), 1);
    }
}
