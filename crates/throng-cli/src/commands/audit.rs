//! `throng audit`

use std::process::ExitCode;

use throng::{Result, report, run};

use super::{load_policy, on_threads};
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Audit) -> Result<ExitCode> {
    let (policy, _) = load_policy(&arguments.policy, &arguments.overrides)?;
    let progress = Progress::start(arguments.running.quiet)?;
    let findings = on_threads(&arguments.running, || {
        run::audit_files(&arguments.data, &arguments.release, &policy, &progress)
    })?;
    drop(progress);
    let measures = &findings.measures;
    if arguments.json {
        show::print(&report::json(measures)?)?;
    } else if !arguments.running.quiet {
        show::print(&report::measures_terminal(measures))?;
    }
    Ok(if measures.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
