//! The `throng` command: arguments in, exit codes out. All work is done by the library.
//!
//! It is a library itself so that it is compiled while machine code is made of the other: all that is left to do then is to link.

mod args;
mod commands;
mod progress;
mod show;

use std::panic;
use std::process::ExitCode;

use clap::Parser;

use show::Form;
use throng::words;

/// Does what the arguments of the process ask for.
pub fn run() -> ExitCode {
    let arguments = match args::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let form = arguments.command.error_form();
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
            show::error(&error, form);
            show::exit_code(&error)
        }
    }
}

/// Tells of wrong arguments; also prints help and version, which clap passes as errors.
fn usage(error: &clap::Error) -> ExitCode {
    let told = error.render().to_string();
    let text = args::error_form_of_words(std::env::args_os()) == Form::Text;
    if !error.use_stderr() || (text && !told.contains(words::steers)) {
        error.exit();
    }
    let error = show::usage_error(&told);
    show::error(&error, if text { Form::Text } else { Form::Json });
    show::exit_code(&error)
}
