//! How close to possible: loss, proved lower bound and gap against seconds, and what that costs, beside what was asked for.
//!
//! Parts of one run; every line ends with what was asked for and whether it was reached, and the last lines tell what was not.
//! Seconds are those of the clock, CPU seconds those of the processor on all threads, which is what to compare on a busy machine.

mod bound;
mod hard;
mod large;
mod loss;
mod tables;
mod tiny;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub use tables::{Task, columns, shared};
use throng_bench::Result;

/// What a run of the parts is given.
pub struct Setting<'a> {
    /// Parts, and tasks of them, whose name begins with this.
    pub only: &'a str,
    /// Rows of the largest table.
    pub most: usize,
    pub threads: usize,
    /// An older `throng`, with which losses are compared.
    pub older: Option<PathBuf>,
}

type Part = fn(&Setting, &mut Sheet) -> Result<()>;

const PARTS: &[(&str, Part)] = &[
    ("tiny", tiny::run),
    ("bound", bound::run),
    ("whole", bound::whole_runs),
    ("loss", loss::against_seconds),
    ("older", loss::against_older),
    ("tasks", loss::drawn),
    ("left-out", loss::left_out),
    ("t", loss::closeness),
    ("budget", loss::budget),
    ("hard", hard::run),
    ("growth", large::growth),
    ("large", large::run),
];

/// Runs the parts that are wanted.
pub fn run(setting: &Setting) -> Result<()> {
    let mut sheet = Sheet::default();
    for (name, part) in PARTS.iter().filter(|(name, _)| setting.wants_part(name)) {
        say!("\n{name}");
        part(setting, &mut sheet)?;
    }
    sheet.sum_up()
}

impl Setting<'_> {
    /// `--only` names a part, or a part and a task of it: `bound`, `bound adult k = 5`.
    fn wants_part(&self, part: &str) -> bool {
        let own = self.only.split_once(' ').map_or(self.only, |(part, _)| part);
        own.is_empty() || part == own
    }

    fn wants(&self, task: &str) -> bool {
        self.only.split_once(' ').is_none_or(|(_, own)| task.starts_with(own))
    }

    fn pool(&self) -> Result<rayon::ThreadPool> {
        Ok(rayon::ThreadPoolBuilder::new().num_threads(self.threads).build()?)
    }

    fn older(&self) -> Option<&Path> {
        self.older.as_deref()
    }
}

/// What was asked for and whether it was reached.
#[derive(Default)]
struct Sheet {
    met: usize,
    missed: Vec<String>,
}

impl Sheet {
    /// Prints a line with what was asked of one of its figures.
    fn at_most(&mut self, line: &str, (what, figure): (&str, f64), most: f64) -> Result<()> {
        self.tell(line, &format!("{what} at most {most:.5}"), figure <= most)
    }

    fn at_least(&mut self, line: &str, (what, figure): (&str, f64), least: f64) -> Result<()> {
        self.tell(line, &format!("{what} at least {least:.5}"), figure >= least)
    }

    fn tell(&mut self, line: &str, asked: &str, met: bool) -> Result<()> {
        say!("{line}   asked: {asked}: {}", if met { "met" } else { "MISSED" });
        if met {
            self.met += 1;
        } else {
            self.missed.push(format!("{line}   asked: {asked}"));
        }
        Ok(())
    }

    fn sum_up(&self) -> Result<()> {
        let mut text = format!("\n{} met, {} missed", self.met, self.missed.len());
        for line in &self.missed {
            let _ = write!(text, "\n  {line}");
        }
        say!("{text}");
        Ok(())
    }
}
