//! `throng certify`

use std::process::ExitCode;

use throng::bound::Checked;
use throng::{Result, report, run};

use super::{load_policy, on_threads};
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Certify) -> Result<ExitCode> {
    let (policy, _) = load_policy(&arguments.policy, &arguments.overrides)?;
    let progress = Progress::start(arguments.running.quiet)?;
    let (data, certificate) = (&arguments.data, &arguments.certificate);
    let checked =
        on_threads(&arguments.running, || run::certify_files(data, certificate, &policy, &progress))?;
    drop(progress);
    if arguments.json {
        show::print(&report::checked_json(checked)?)?;
    } else if !arguments.running.quiet {
        show::print(&report::checked_terminal(checked, run::certified_k(&policy)))?;
    }
    Ok(if matches!(checked, Checked::Proved(_)) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
