//! The `throng` command: arguments in, exit codes out. All work is done by the library.

mod args;
mod commands;
mod progress;
mod show;

use std::panic;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        // Readers of damaged files may panic, which the library catches; any other panic is told below.
        panic::set_hook(Box::new(|_| {}));
    }
    let outcome = panic::catch_unwind(|| commands::run(arguments)).unwrap_or_else(|_| {
        Err(throng::Error::bug("the work ended unexpectedly; with RUST_BACKTRACE=1 set it says where"))
    });
    match outcome {
        Ok(code) => code,
        Err(error) => {
            show::error(&error);
            show::exit_code(&error)
        }
    }
}
