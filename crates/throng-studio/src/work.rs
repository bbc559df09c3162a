//! Long work in the background: it tells how far it is, and can be stopped.
//!
//! There is one piece of work of each kind; starting another one of a kind stops the first. Whoever wants to know how things
//! stand listens to a counter that moves with every change, and then looks.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::Serialize;
use throng::{Error, Fault, Result, Watch};

/// The kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Reading a table.
    Open,
    /// Comparing methods and k.
    Frontier,
    /// Making a release to look at.
    Result,
    /// Asking what a release is good for.
    Evaluate,
    /// Writing a release.
    Publish,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Open, Kind::Frontier, Kind::Result, Kind::Evaluate, Kind::Publish];

    /// Its name in pages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Open => "open",
            Kind::Frontier => "frontier",
            Kind::Result => "result",
            Kind::Evaluate => "evaluate",
            Kind::Publish => "publish",
        }
    }
}

/// How a piece of work stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It goes on.
    Running,
    /// It is done.
    Done,
    /// It failed.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl State {
    /// Its name in pages.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Stopped => "stopped",
        }
    }
}

/// What is told of a piece of work.
#[derive(Clone, Debug, Serialize)]
pub struct Told {
    /// What it is.
    pub kind: Kind,
    /// How it stands.
    pub state: State,
    /// What it does now.
    pub stage: String,
    /// Steps of the stage that are done.
    pub done: u64,
    /// All steps of the stage, where that is known.
    pub total: Option<u64>,
    /// What else to say.
    pub note: String,
    /// Seconds since it began.
    pub seconds: f64,
    /// Why it failed.
    #[serde(skip)]
    pub error: Option<Error>,
}

/// A piece of work.
pub struct Work {
    begun: Instant,
    stop: AtomicBool,
    told: Mutex<Told>,
    moved: Arc<Moved>,
}

/// A counter that moves whenever there is something new to see.
pub struct Moved(tokio::sync::watch::Sender<u64>);

impl Moved {
    /// Says that there is something new.
    pub fn tell(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    /// Listens.
    pub fn listen(&self) -> tokio::sync::watch::Receiver<u64> {
        self.0.subscribe()
    }
}

/// All work.
pub struct Works {
    all: Mutex<BTreeMap<Kind, Arc<Work>>>,
    moved: Arc<Moved>,
}

/// A lock that nobody can leave broken: what it guards is replaced, never half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Works {
    /// No work yet.
    pub fn new() -> Self {
        Works { all: Mutex::default(), moved: Arc::new(Moved(tokio::sync::watch::Sender::new(0))) }
    }

    /// What moves whenever there is something new to see.
    pub fn moved(&self) -> &Arc<Moved> {
        &self.moved
    }

    /// Starts a piece of work, and stops one of its kind that goes on.
    pub fn start(&self, kind: Kind, run: impl FnOnce(&Work) -> Result<()> + Send + 'static) {
        self.stop(kind);
        let told = Told {
            kind,
            state: State::Running,
            stage: String::new(),
            done: 0,
            total: None,
            note: String::new(),
            seconds: 0.0,
            error: None,
        };
        let work = Arc::new(Work {
            begun: Instant::now(),
            stop: AtomicBool::new(false),
            told: Mutex::new(told),
            moved: self.moved.clone(),
        });
        lock(&self.all).insert(kind, work.clone());
        self.moved.tell();
        std::thread::spawn(move || {
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| run(&work)));
            work.end(outcome.unwrap_or_else(|_| Err(Error::bug("the work ended unexpectedly"))));
        });
    }

    /// Asks a piece of work to stop.
    pub fn stop(&self, kind: Kind) {
        if let Some(work) = lock(&self.all).get(&kind) {
            work.stop.store(true, Ordering::Relaxed);
        }
    }

    /// How the work of a kind stands.
    pub fn of(&self, kind: Kind) -> Option<Told> {
        lock(&self.all).get(&kind).map(|work| work.told())
    }

    /// How everything stands.
    pub fn all(&self) -> Vec<Told> {
        lock(&self.all).values().map(|work| work.told()).collect()
    }
}

impl Work {
    /// Says that there is something new to see.
    pub fn tell(&self) {
        self.moved.tell();
    }

    fn told(&self) -> Told {
        let told = lock(&self.told).clone();
        match told.state {
            State::Running => Told { seconds: self.begun.elapsed().as_secs_f64(), ..told },
            _ => told,
        }
    }

    fn end(&self, outcome: Result<()>) {
        let state = match &outcome {
            Ok(()) => State::Done,
            Err(error) if error.fault() == Fault::Cancelled => State::Stopped,
            Err(_) => State::Failed,
        };
        let mut told = lock(&self.told);
        (told.state, told.error) = (state, outcome.err());
        told.seconds = self.begun.elapsed().as_secs_f64();
        drop(told);
        self.moved.tell();
    }

    fn change(&self, change: impl FnOnce(&mut Told)) {
        change(&mut lock(&self.told));
        self.moved.tell();
    }
}

impl Watch for Work {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.change(|told| {
            (told.stage, told.total, told.done) = (name.to_owned(), total, 0);
            told.note.clear();
        });
    }

    fn advance(&self, steps: u64) {
        self.change(|told| told.done += steps);
    }

    fn note(&self, words: &str) {
        self.change(|told| words.clone_into(&mut told.note));
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Watches for a newer question: work for an old one stops by itself.
pub struct Newest<'a> {
    /// What was asked last.
    pub asked: &'a Mutex<String>,
    /// What is worked on.
    pub own: &'a str,
}

impl Watch for Newest<'_> {
    fn stopped(&self) -> bool {
        *lock(self.asked) != self.own
    }
}

/// The least time between two messages to a browser.
pub const BREATH: Duration = Duration::from_millis(120);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn wait(works: &Works, kind: Kind) -> Told {
        for _ in 0..500 {
            match works.of(kind) {
                Some(told) if told.state != State::Running => return told,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        panic!("the work does not end");
    }

    #[test]
    fn work_that_is_stopped_ends_and_says_so() {
        let works = Works::new();
        works.start(Kind::Frontier, |work| {
            loop {
                work.check()?;
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        works.stop(Kind::Frontier);
        assert_eq!(wait(&works, Kind::Frontier).state, State::Stopped);
    }

    #[test]
    fn a_panic_is_told_and_takes_nothing_down() {
        let works = Works::new();
        works.start(Kind::Result, |_| panic!("a cell of the table"));
        let told = wait(&works, Kind::Result);
        assert_eq!(told.state, State::Failed);
        assert!(!told.error.unwrap().message().contains("cell"), "nothing of the table is told");
    }
}
