//! Progress and cancellation, handed in by whoever runs the work.

use crate::error::{Error, Result};

/// Someone who watches long work and may stop it.
///
/// ```
/// use throng::{Anonymize, Data, ErrorCode, Policy, Watch};
/// struct Impatient;
/// impl Watch for Impatient {
///     fn stopped(&self) -> bool {
///         true
///     }
/// }
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let run = Anonymize::new(&policy).read(Data::csv("age\n31\n34\n")).watch(&Impatient);
/// assert_eq!(run.to_csv().unwrap_err().code(), ErrorCode::Cancelled);
/// # Ok::<(), throng::Error>(())
/// ```
pub trait Watch: Sync {
    /// A new stage begins; `total` is its number of steps when known.
    fn stage(&self, _name: &str, _total: Option<u64>) {}
    /// So many more steps of the stage are done.
    fn advance(&self, _steps: u64) {}
    /// Something to show beside the stage, such as a figure that is falling.
    fn note(&self, _words: &str) {}
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
///
/// ```
/// use throng::{Unwatched, Watch};
/// assert!(!Unwatched.stopped());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
