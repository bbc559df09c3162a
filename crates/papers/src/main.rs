//! The papers' experiments, repeated with throng.
//!
//! `cargo run --release -p papers -- NAME` runs the experiments of one paper and writes `NAME.html`: the paper's
//! figures redrawn, and each of its claims with whether it held here. To add one: a module with an [`Entry`], and
//! one line in [`PAPERS`].

mod data;
mod fung2007;
mod ghinita2009;
mod morton2012;
mod why;
mod xu2006;

use std::path::PathBuf;

use clap::Parser;
use throng::report::{Page, json, page_html};
use throng::{Error, ErrorCode, Result};

/// All reproductions.
static PAPERS: &[Entry] = &[xu2006::XU2006, ghinita2009::GHINITA, fung2007::FUNG2007, morton2012::MORTON];

/// One paper.
struct Entry {
    /// Its name on the command line and of its page.
    name: &'static str,
    /// What it is.
    citation: &'static str,
    /// Runs its experiments.
    run: fn(&Setting) -> Result<Page>,
    /// Why some of its claims do not hold here.
    reasons: why::Reasons,
}

/// Repeat the experiments of a paper
#[derive(Debug, Parser)]
struct Arguments {
    /// The paper; without it they are listed
    name: Option<String>,
    /// The page to write; NAME.html by default. The figures go beside it as JSON
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Folder of the data sets
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"))]
    data: PathBuf,
    /// Fewer rows and repetitions, to see whether all of it runs
    #[arg(long)]
    quick: bool,
}

/// How experiments are run.
struct Setting {
    /// Folder of the data sets.
    data: PathBuf,
    /// Whether to take fewer rows and repetitions.
    quick: bool,
}

fn main() -> std::process::ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}"));
            std::process::ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let Some(name) = &arguments.name else {
        PAPERS.iter().for_each(|entry| say(&format!("{:<12} {}", entry.name, entry.citation)));
        return Ok(());
    };
    let entry = PAPERS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names: Vec<&str> = PAPERS.iter().map(|entry| entry.name).collect();
        Error::new(ErrorCode::BadUsage, format!("there is no paper \"{name}\""))
            .with_hint(format!("there are {}", names.join(", ")))
    })?;
    let setting = Setting { data: arguments.data.clone(), quick: arguments.quick };
    let mut page = (entry.run)(&setting)?;
    for told in why::explain(&mut page, entry.reasons) {
        say(&told);
    }
    let output = arguments.output.clone().unwrap_or_else(|| format!("{name}.html").into());
    write(&output, &page_html(&page)?)?;
    write(&output.with_extension("json"), &json(&page)?)?;
    say(&format!("Page   {}", output.display()));
    Ok(())
}

fn write(path: &std::path::Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))
}

/// Tells what is going on.
#[allow(clippy::print_stderr)]
fn say(text: &str) {
    eprintln!("{text}");
}
