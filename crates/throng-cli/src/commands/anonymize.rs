//! `throng anonymize`

use std::path::Path;
use std::process::ExitCode;

use throng::bound::Effort;
use throng::formula::Formulas;
use throng::plan::Registry;
use throng::release::{Files, Order, Output, Publish};
use throng::report::{self, Report};
use throng::run::{self, Memory};
use throng::secret::Secret;
use throng::{Error, ErrorCode, Result};

use super::{load_policy, on_threads};
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Anonymize) -> Result<ExitCode> {
    let (mut policy, mut overrides) = load_policy(&arguments.policy, &arguments.overrides)?;
    if let Some(passes) = arguments.effort {
        policy.effort = Effort::Passes(passes);
        overrides.push(format!("--effort {passes}"));
    }
    if let Some(seconds) = arguments.seconds {
        overrides.push(format!("--seconds {seconds}"));
    }
    let run = run::Anonymize {
        data: arguments.data.first().cloned().unwrap_or_default(),
        more: arguments.data.iter().skip(1).cloned().collect(),
        memory: memory(arguments)?,
        release: arguments.output.clone(),
        policy,
        publish: publish_as(arguments.publish, arguments.midpoint)?,
        order: if arguments.keep_order { Order::Keep } else { Order::Shuffled },
        overrides,
        hashes: !arguments.report.is_empty(),
        secret: arguments.secret.as_deref().map(Secret::read).transpose()?,
        formulas: formulas(arguments.escape_formulas),
        seconds: arguments.seconds,
        proves: arguments.certificate.is_some(),
        registry: Registry::default(),
    };
    if run.runs_in_parts() {
        refuse_in_parts(arguments)?;
    }
    if let Some(ledger) = &arguments.series.ledger {
        return in_series(run, ledger, arguments);
    }
    // Everything that is written is opened first, and appears together in the end: a report that cannot be written must
    // not leave a release behind.
    let mut files = run.files()?;
    if let Some(secret) = &arguments.secret {
        files.read_too("the secret", secret)?;
    }
    let reports = open_reports(&mut files, &arguments.report)?;
    let recipe = arguments.recipe.as_deref().map(|path| files.create("the recipe", path)).transpose()?;
    let certificate =
        arguments.certificate.as_deref().map(|path| files.create("the certificate", path)).transpose()?;
    let progress = Progress::start(arguments.running.quiet)?;
    let prepared = on_threads(&arguments.running, || run.prepare(&progress))?;
    drop(progress);
    let recipe = recipe.map(|output| fill_recipe(output, &prepared)).transpose()?;
    let certificate = certificate.map(|output| fill_certificate(output, &prepared)).transpose()?;
    publish(prepared, reports, recipe.into_iter().chain(certificate).collect(), arguments.running.quiet)?;
    Ok(ExitCode::SUCCESS)
}

/// The same for a release that a ledger knows of.
fn in_series(run: run::Anonymize, ledger: &Path, arguments: &args::Anonymize) -> Result<ExitCode> {
    let args::Series { after, erase, replace, .. } = arguments.series.clone();
    let run = run::Series { anonymize: run, ledger: ledger.to_owned(), after, erase, replace };
    let mut files = run.files()?;
    if let Some(secret) = &arguments.secret {
        files.read_too("the secret", secret)?;
    }
    let reports = open_reports(&mut files, &arguments.report)?;
    let progress = Progress::start(arguments.running.quiet)?;
    let prepared = on_threads(&arguments.running, || run.prepare(&progress))?;
    drop(progress);
    publish(prepared, reports, Vec::new(), arguments.running.quiet)?;
    Ok(ExitCode::SUCCESS)
}

/// What needs the whole table in memory.
fn refuse_in_parts(arguments: &args::Anonymize) -> Result<()> {
    let refused = |option: &str, why: &str| {
        Err(Error::new(ErrorCode::BadUsage, format!("{option} needs the whole table in memory: {why}"))
            .with_hint(format!("leave {option} out, or --memory, --scratch and further files")))
    };
    if arguments.recipe.is_some() {
        return refused("--recipe", "a recipe recodes all of it alike");
    }
    if arguments.series.ledger.is_some() {
        return refused("--ledger", "a series of releases is looked at over all records");
    }
    if arguments.certificate.is_some() {
        return refused("--certificate", "the lower bound is proved over all records");
    }
    match arguments.effort {
        Some(_) => refused("--effort", "the lower bound is looked for over all records"),
        None => Ok(()),
    }
}

/// The limit on memory, if one was given, or anything that belongs to one.
fn memory(arguments: &args::Anonymize) -> Result<Option<Memory>> {
    let bytes = arguments.memory.as_deref().map(Memory::parse).transpose()?;
    let asked = bytes.is_some() || arguments.scratch.is_some() || arguments.parts.is_some();
    let parts = arguments.parts.map(|parts| parts as usize);
    Ok(asked.then(|| Memory { bytes, scratch: arguments.scratch.clone(), parts }))
}

/// How quasi-identifiers are written.
fn publish_as(publish: args::Publish, midpoint: Option<args::Midpoint>) -> Result<Publish> {
    Ok(match (publish, midpoint) {
        (args::Publish::Midpoints, Some(args::Midpoint::Mean)) => Publish::Means,
        (args::Publish::Midpoints, Some(args::Midpoint::Median) | None) => Publish::Medians,
        (_, Some(_)) => {
            return Err(Error::new(
                ErrorCode::BadUsage,
                "--midpoint says nothing without --publish midpoints",
            )
            .with_hint("write --publish midpoints too, or leave --midpoint out"));
        }
        (args::Publish::Cells, None) => Publish::Cells,
        (args::Publish::Bounds, None) => Publish::Bounds,
        (args::Publish::Permutation, None) => Publish::Permutation,
    })
}

/// What becomes of cells that a spreadsheet would run.
pub fn formulas(escape: bool) -> Formulas {
    if escape { Formulas::Escape } else { Formulas::Keep }
}

fn fill_recipe(mut output: Output, prepared: &run::Prepared) -> Result<Output> {
    let Some(recipe) = &prepared.recipe else {
        return Err(Error::new(ErrorCode::NoMasks, "this method learns no masks that a recipe could hold")
            .with_hint("leave --recipe out, or use --method refine"));
    };
    output.write_all(recipe.to_json()?.as_bytes())?;
    Ok(output)
}

fn fill_certificate(mut output: Output, prepared: &run::Prepared) -> Result<Output> {
    let Some(certificate) = &prepared.certificate else {
        return Err(Error::new(ErrorCode::NoProof, "there is no proved lower bound that a certificate could hold")
            .with_hint(
                "leave --certificate out; or ask for k or l, do not publish by permutation, and use --effort 1 with a large table, or in place of 0",
            ));
    };
    output.write_all(certificate.to_json()?.as_bytes())?;
    Ok(output)
}

/// Writes the reports, lets the release appear with all that belongs to it and tells what it achieves.
pub fn publish(
    mut prepared: run::Prepared,
    reports: Vec<Output>,
    others: Vec<Output>,
    quiet: bool,
) -> Result<()> {
    prepared.report.provenance.command = given();
    let reports = fill_reports(reports, &prepared.report)?;
    let report = prepared.publish_with(reports.into_iter().chain(others).collect())?;
    if !quiet {
        // The release itself may go to standard output.
        show::note(report::terminal(&report).trim_end());
    }
    Ok(())
}

/// The arguments of this process, so that a report can name them.
fn given() -> Vec<String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Opens the reports: those that cannot be written should be known before the work.
pub fn open_reports(files: &mut Files, paths: &[std::path::PathBuf]) -> Result<Vec<Output>> {
    paths.iter().try_for_each(|path| check_ending(path))?;
    paths.iter().map(|path| files.create("the report", path)).collect()
}

fn check_ending(path: &Path) -> Result<()> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json" | "html") => Ok(()),
        _ => Err(Error::new(ErrorCode::BadFileEnding, "a report must end in .json or .html").in_file(path)),
    }
}

/// Writes reports in the formats that their names tell.
pub fn fill_reports(mut outputs: Vec<Output>, report: &Report) -> Result<Vec<Output>> {
    for output in &mut outputs {
        let html = output.path().extension().is_some_and(|ending| ending == "html");
        let text = if html { report::html(report)? } else { report::json(report)? };
        output.write_all(text.as_bytes())?;
    }
    Ok(outputs)
}
