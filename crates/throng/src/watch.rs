//! Progress and cancellation, handed in by whoever runs the work.

use std::time::{Duration, Instant};

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
    /// By when a method that can stop at any time should be done, if somebody gave it a time.
    fn until(&self) -> Option<Instant> {
        None
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

/// The same watcher, who gives the work a time.
pub struct Timed<'a> {
    watch: &'a dyn Watch,
    until: Instant,
}

impl<'a> Timed<'a> {
    /// So many seconds from now, or less where there was less.
    pub fn seconds(watch: &'a dyn Watch, seconds: f64) -> Self {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        Timed { watch, until: watch.until().map_or(until, |known| known.min(until)) }
    }

    /// For work of so many records where so many are still to come: its share of the time that is left, if there is a limit.
    pub fn share(watch: &'a dyn Watch, records: usize, of: usize) -> Option<Self> {
        let left = watch.until()?.saturating_duration_since(Instant::now());
        Some(Timed {
            watch,
            until: Instant::now() + left.mul_f64(records as f64 / of.max(records).max(1) as f64),
        })
    }
}

impl Watch for Timed<'_> {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.watch.stage(name, total);
    }

    fn advance(&self, steps: u64) {
        self.watch.advance(steps);
    }

    fn note(&self, words: &str) {
        self.watch.note(words);
    }

    fn stopped(&self) -> bool {
        self.watch.stopped()
    }

    fn take_stop(&self) -> bool {
        self.watch.take_stop()
    }

    fn until(&self) -> Option<Instant> {
        Some(self.until)
    }
}

/// The same watcher over a part of the work: stages are told with the name of the part, and a wish to stop is for all of the work, so
/// that no method takes it for its own.
pub(crate) struct OfPart<'a> {
    watch: &'a dyn Watch,
    name: String,
}

impl<'a> OfPart<'a> {
    pub fn new(watch: &'a dyn Watch, name: String) -> Self {
        watch.stage(&name, None);
        OfPart { watch, name }
    }
}

impl Watch for OfPart<'_> {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.watch.stage(&format!("{}, {name}", self.name), total);
    }

    fn advance(&self, steps: u64) {
        self.watch.advance(steps);
    }

    fn note(&self, words: &str) {
        self.watch.note(words);
    }

    fn stopped(&self) -> bool {
        self.watch.stopped()
    }

    fn until(&self) -> Option<Instant> {
        self.watch.until()
    }
}
