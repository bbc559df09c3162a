//! One file per command. To add one: a file here, its arguments in `args.rs`, one line in [`run`].

mod anonymize;
mod apply;
mod audit;
mod certify;
mod compare;
mod demo;
mod evaluate;
mod hierarchy;
mod init;
mod methods;
mod pages;
mod risk;
mod simulate;
mod studio;

use std::process::ExitCode;

use throng::policy::Policy;
use throng::{Error, ErrorCode, Result};

use crate::args::{Arguments, Command, Overrides, Running};

/// Runs a command.
pub fn run(arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Anonymize(arguments) => anonymize::run(&arguments),
        Command::Apply(arguments) => apply::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments),
        Command::Certify(arguments) => certify::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Hierarchy(arguments) => hierarchy::run(&arguments),
        Command::Risk(arguments) => risk::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Studio(arguments) => studio::run(&arguments),
        Command::Methods(arguments) => methods::run(&arguments),
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { out } => pages::manual(out.as_deref()),
    }
}

/// Loads a policy and applies the flags that override it; also tells them, for the report.
fn load_policy(path: &std::path::Path, overrides: &Overrides) -> Result<(Policy, Vec<String>)> {
    let mut policy = Policy::load(path)?;
    let mut told = Vec::new();
    if let Some(method) = &overrides.method {
        policy = policy.with_method(method)?;
        told.push(format!("--method {method}"));
    }
    if let Some(k) = overrides.k {
        policy = policy.with_k(k)?;
        told.push(format!("--k {k}"));
    }
    if let Some(l) = overrides.l {
        policy = policy.with_l(l)?;
        told.push(format!("--l {l}"));
    }
    if let Some(seed) = overrides.seed {
        policy = policy.with_seed(seed);
        told.push(format!("--seed {seed}"));
    }
    Ok((policy, told))
}

/// More threads than any machine has cores only take memory, and starting them can take a machine down.
const MOST_THREADS: usize = 1024;

/// Runs work on as many threads as asked for.
fn on_threads<T: Send>(running: &Running, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if running.threads.is_some_and(|threads| !(1..=MOST_THREADS).contains(&threads)) {
        return Err(Error::new(ErrorCode::BadUsage, format!("--threads must be from 1 to {MOST_THREADS}"))
            .with_hint("leave it out to use all cores"));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(running.threads.unwrap_or(0))
        .build()
        .map_err(|cause| Error::new(ErrorCode::BadUsage, format!("cannot start the threads: {cause}")))?
        .install(work)
}
