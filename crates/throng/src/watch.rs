//! Progress and cancellation, handed in by whoever runs the work.

use crate::error::{Error, Result};

/// Someone who watches long work and may stop it.
pub trait Watch: Sync {
    /// A new stage begins; `total` is its number of steps when known.
    fn stage(&self, _name: &str, _total: Option<u64>) {}
    /// So many more steps of the stage are done.
    fn advance(&self, _steps: u64) {}
    /// Whether the work should stop.
    fn stopped(&self) -> bool {
        false
    }
    /// Takes the wish, if there is one, that a method that can stop at any time gives back what it has. It is then
    /// fulfilled: asked again, nobody wishes it any more, and the work that follows goes on.
    fn take_stop(&self) -> bool {
        false
    }
    /// An error once the work should stop, to be used with `?`.
    fn check(&self) -> Result<()> {
        if self.stopped() { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
