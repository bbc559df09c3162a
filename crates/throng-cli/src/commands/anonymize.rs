//! `throng anonymize`

use std::path::Path;
use std::process::ExitCode;

use throng::release::{Order, Output, Publish};
use throng::report::{self, Report};
use throng::run;
use throng::{Error, Result};

use super::{load_policy, on_threads};
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Anonymize) -> Result<ExitCode> {
    arguments.report.iter().try_for_each(|path| check_ending(path))?;
    let (policy, overrides) = load_policy(&arguments.policy, &arguments.overrides)?;
    let run = run::Anonymize {
        data: arguments.data.clone(),
        release: arguments.output.clone(),
        policy,
        publish: match arguments.publish {
            args::Publish::Cells => Publish::Cells,
            args::Publish::Bounds => Publish::Bounds,
            args::Publish::Permutation => Publish::Permutation,
        },
        order: if arguments.keep_order { Order::Keep } else { Order::Shuffled },
        overrides,
        hashes: !arguments.report.is_empty(),
    };
    // Reports are opened first and written before the release has its name: a report that cannot be written must
    // not leave a release behind.
    let mut reports = arguments.report.iter().map(|path| Output::create(path)).collect::<Result<Vec<_>>>()?;
    let progress = Progress::start(arguments.running.quiet)?;
    let prepared = on_threads(&arguments.running, || run.prepare(&progress))?;
    drop(progress);
    for output in &mut reports {
        fill_report(output, &prepared.report)?;
    }
    let report = prepared.publish()?;
    reports.into_iter().try_for_each(Output::publish)?;
    if !arguments.running.quiet {
        // The release itself may go to standard output.
        show::note(report::terminal(&report).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

fn check_ending(path: &Path) -> Result<()> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json" | "html") => Ok(()),
        _ => Err(Error::input("a report must end in .json or .html").in_file(path)),
    }
}

/// Writes a report in the format its name tells.
pub fn write_report(mut output: Output, report: &Report) -> Result<()> {
    fill_report(&mut output, report)?;
    output.publish()
}

fn fill_report(output: &mut Output, report: &Report) -> Result<()> {
    let html = output.path().extension().is_some_and(|ending| ending == "html");
    let text = if html { report::html(report)? } else { report::json(report)? };
    output.write_all(text.as_bytes())
}
