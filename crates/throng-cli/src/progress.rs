//! Progress bars on a terminal, and Ctrl-C.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use throng::watch::Watch;
use throng::{Error, Result};

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Shows stages and rates on standard error when it is a terminal, and stops the work on Ctrl-C.
pub struct Progress {
    bar: Option<Mutex<ProgressBar>>,
}

impl Progress {
    /// Starts watching. With `quiet` nothing is shown; Ctrl-C works all the same.
    pub fn start(quiet: bool) -> Result<Self> {
        // The first Ctrl-C lets the work end cleanly; a second one does not wait for it.
        let handler = || {
            if STOPPED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        };
        // Handlers can be set once per process; commands that start twice keep the first.
        match ctrlc::set_handler(handler) {
            Ok(()) | Err(ctrlc::Error::MultipleHandlers) => {}
            Err(cause) => return Err(Error::bug(format!("cannot watch for Ctrl-C: {cause}"))),
        }
        let visible = !quiet && std::io::stderr().is_terminal();
        Ok(Progress { bar: visible.then(|| Mutex::new(ProgressBar::no_length())) })
    }

    fn with_bar(&self, act: impl FnOnce(&mut ProgressBar)) {
        if let Some(bar) = &self.bar
            && let Ok(mut bar) = bar.lock()
        {
            act(&mut bar);
        }
    }
}

impl Watch for Progress {
    fn stage(&self, name: &str, total: Option<u64>) {
        self.with_bar(|bar| {
            bar.finish_and_clear();
            let (template, length) = match (total, name) {
                (Some(_), name) if name.starts_with("reading") => {
                    ("{msg:12} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}", total)
                }
                (Some(_), _) => ("{msg:12} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}", total),
                (None, _) => ("{msg:12} {spinner} {elapsed}", None),
            };
            let fresh = match length {
                Some(length) => ProgressBar::new(length),
                None => ProgressBar::new_spinner(),
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                fresh.set_style(style);
            }
            fresh.set_message(name.to_owned());
            fresh.enable_steady_tick(Duration::from_millis(120));
            *bar = fresh;
        });
    }

    fn advance(&self, steps: u64) {
        self.with_bar(|bar| bar.inc(steps));
    }

    fn note(&self, words: &str) {
        self.with_bar(|bar| {
            let stage = bar.message().split(':').next().unwrap_or_default().to_owned();
            bar.set_message(format!("{stage}: {words}"));
        });
    }

    fn stopped(&self) -> bool {
        STOPPED.load(Ordering::Relaxed)
    }

    /// Takes the first Ctrl-C for itself: the next one stops what follows.
    fn take_stop(&self) -> bool {
        STOPPED.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.with_bar(|bar| bar.finish_and_clear());
    }
}
