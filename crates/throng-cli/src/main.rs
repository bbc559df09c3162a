//! The `throng` command: arguments in, exit codes out. All work is done by the library.

mod args;
mod commands;
mod progress;
mod show;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    match commands::run(arguments) {
        Ok(code) => code,
        Err(error) => {
            show::error(&error);
            show::exit_code(&error)
        }
    }
}
