//! `throng anonymize`

use std::path::Path;
use std::process::ExitCode;

use throng::plan::Registry;
use throng::release::{Order, Output, Publish};
use throng::report::{self, Report};
use throng::run;
use throng::secret::Secret;
use throng::{Error, ErrorCode, Result};

use super::{load_policy, on_threads};
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Anonymize) -> Result<ExitCode> {
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
        secret: arguments.secret.as_deref().map(Secret::read).transpose()?,
        registry: Registry::default(),
    };
    // Reports are opened first and written before the release has its name: a report that cannot be written must
    // not leave a release behind.
    let reports = open_reports(&arguments.report)?;
    let recipe = arguments.recipe.as_deref().map(Output::create).transpose()?;
    let progress = Progress::start(arguments.running.quiet)?;
    let prepared = on_threads(&arguments.running, || run.prepare(&progress))?;
    drop(progress);
    let recipe = match (recipe, &prepared.recipe) {
        (None, _) => None,
        (Some(mut output), Some(recipe)) => {
            output.write_all(recipe.to_json()?.as_bytes())?;
            Some(output)
        }
        (Some(_), None) => {
            return Err(Error::new(
                ErrorCode::NoMasks,
                "this method learns no masks that a recipe could hold",
            )
            .with_hint("leave --recipe out, or use --method refine"));
        }
    };
    publish(prepared, reports, arguments.running.quiet)?;
    recipe.map_or(Ok(()), Output::publish)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the reports, lets the release appear and tells what it achieves.
pub fn publish(prepared: run::Prepared, mut reports: Vec<Output>, quiet: bool) -> Result<()> {
    for output in &mut reports {
        fill_report(output, &prepared.report)?;
    }
    let report = prepared.publish()?;
    reports.into_iter().try_for_each(Output::publish)?;
    if !quiet {
        // The release itself may go to standard output.
        show::note(report::terminal(&report).trim_end());
    }
    Ok(())
}

/// Opens the reports: those that cannot be written should be known before the work.
pub fn open_reports(paths: &[std::path::PathBuf]) -> Result<Vec<Output>> {
    paths.iter().try_for_each(|path| check_ending(path))?;
    paths.iter().map(|path| Output::create(path)).collect()
}

fn check_ending(path: &Path) -> Result<()> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json" | "html") => Ok(()),
        _ => Err(Error::new(ErrorCode::BadFileEnding, "a report must end in .json or .html").in_file(path)),
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
