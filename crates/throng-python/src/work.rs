//! Work on threads of its own.
//!
//! The calling thread lets the interpreter go and looks every few milliseconds whether the work is done, whether somebody
//! pressed Ctrl-C and what there is to tell of the progress. The work itself never touches Python, so nothing that Python does
//! can block it; and as it owns all that it needs, a call that is interrupted need not wait for it: it is told to stop,
//! given [`PATIENCE`], and ends by itself at its next look around if that was not enough. Threads are started anew in
//! every call, so that a process that forks finds none missing.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use throng::{Error, ErrorCode, Result, Watch};

use crate::errors::raised;

/// How often the calling thread looks around.
pub const LOOK: Duration = Duration::from_millis(40);
/// How long a call that is interrupted waits for its work.
const PATIENCE: Duration = Duration::from_millis(300);
/// More threads than any machine has cores only take memory.
const MOST_THREADS: usize = 1024;

/// What the work tells, for whoever asks.
#[derive(Default)]
pub struct Watched {
    stop: AtomicBool,
    done: AtomicU64,
    /// The stages that began since somebody asked.
    stages: Mutex<Vec<(String, Option<u64>)>>,
}

impl Watch for Watched {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.done.store(0, Ordering::Relaxed);
        if let Ok(mut stages) = self.stages.lock() {
            stages.push((name.to_owned(), total));
        }
    }

    fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A callable that is told of stages and steps.
struct Listener<'py> {
    call: Option<Bound<'py, PyAny>>,
    stage: Option<(String, Option<u64>)>,
}

impl Listener<'_> {
    fn tell(&mut self, watched: &Watched) -> PyResult<()> {
        let Some(call) = &self.call else { return Ok(()) };
        let begun = watched.stages.lock().map(|mut stages| std::mem::take(&mut *stages)).unwrap_or_default();
        for (name, total) in begun {
            call.call1((&name, 0, total))?;
            self.stage = Some((name, total));
        }
        match &self.stage {
            Some((name, total)) => {
                call.call1((name, watched.done.load(Ordering::Relaxed), *total)).map(|_| ())
            }
            None => Ok(()),
        }
    }
}

/// Runs work on so many threads (all cores if 0) and waits for it, so that Ctrl-C works.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&Watched) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let watched = Arc::new(Watched::default());
    let own = watched.clone();
    let (sender, receiver) = sync_channel(1);
    let body = move || {
        // Whoever waited may be gone.
        let _ = sender.send(guarded(|| on_threads(threads, || work(&own))));
    };
    std::thread::Builder::new()
        .name("throng".to_owned())
        .spawn(body)
        .map_err(|cause| raised(&cannot_start(&cause)))?;
    let mut listener = Listener { call: progress, stage: None };
    // Only one thread ever waits; the lock is for the compiler.
    let receiver = Mutex::new(receiver);
    let wait = |time: Duration| match receiver.lock() {
        Ok(receiver) => receiver.recv_timeout(time),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    };
    loop {
        match py.detach(|| wait(LOOK)) {
            Ok(outcome) => {
                listener.tell(&watched)?;
                return outcome.map_err(|error| raised(&error));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(raised(&Error::bug("the work ended without a word")));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals().and_then(|()| listener.tell(&watched)) {
                    watched.stop.store(true, Ordering::Relaxed);
                    let _ = py.detach(|| wait(PATIENCE));
                    return Err(interrupt);
                }
            }
        }
    }
}

fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if threads.is_some_and(|threads| !(1..=MOST_THREADS).contains(&threads)) {
        return Err(Error::new(
            ErrorCode::BadUsage,
            format!("the argument threads: it must be from 1 to {MOST_THREADS}"),
        )
        .with_hint("leave it out to use all cores"));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|cause| cannot_start(&cause))?
        .install(work)
}

fn cannot_start(cause: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorCode::BadUsage, format!("cannot start the threads: {cause}"))
        .with_hint("ask for fewer with threads=1")
}

/// A mistake of ours must not take the interpreter with it.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(bug(payload.as_ref())))
}

fn bug(payload: &(dyn Any + Send)) -> Error {
    let words = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let words = words.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    let place = PANICKED.lock().ok().and_then(|mut place| place.take());
    Error::bug(format!("{words} ({})", place.as_deref().unwrap_or("somewhere")))
}

/// Where the last panic was.
static PANICKED: Mutex<Option<String>> = Mutex::new(None);

/// Panics are told as exceptions, not on standard error. The hook is that of this module's copy of Rust alone.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if let (Some(at), Ok(mut place)) = (panic.location(), PANICKED.lock()) {
            *place = Some(format!("{}:{}", at.file(), at.line()));
        }
    }));
}
