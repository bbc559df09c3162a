//! `throng audit`

use std::process::ExitCode;

use throng::policy::Policy;
use throng::{Result, report, run};

use super::{load_policy, on_threads};
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Audit) -> Result<ExitCode> {
    let (policy, _) = load_policy(&arguments.policy, &arguments.overrides)?;
    let (Some(data), Some(release)) = (&arguments.data, &arguments.release) else {
        return series(policy, arguments);
    };
    let progress = Progress::start(arguments.running.quiet)?;
    let (findings, attacked) = on_threads(&arguments.running, || {
        let findings = run::audit_files(data, release, &policy, &progress)?;
        let attack = || run::attack_files(data, release, &policy, &progress);
        Ok((findings, arguments.attack.then(attack).transpose()?))
    })?;
    drop(progress);
    let (measures, attack) = (&findings.measures, attacked.as_ref());
    if arguments.json {
        show::print_json(&report::audit_json(&findings, attack)?)?;
    } else if !arguments.running.quiet {
        show::print(&report::audit_terminal(&findings))?;
        attack.map_or(Ok(()), |attack| show::print(&report::attack_terminal(attack)))?;
    }
    Ok(if measures.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Looks at releases that follow on each other.
fn series(policy: Policy, arguments: &args::Audit) -> Result<ExitCode> {
    let args::Audit { series: releases, ledger, tables, json, running, .. } = arguments;
    let audit = run::AuditSeries {
        releases: releases.clone(),
        policy,
        ledger: ledger.clone(),
        tables: tables.clone(),
    };
    let progress = Progress::start(running.quiet)?;
    let findings = on_threads(running, || audit.run(&progress))?;
    drop(progress);
    if *json {
        show::print_json(&report::json(&findings)?)?;
    } else if !running.quiet {
        show::print(&report::series_terminal(&findings))?;
    }
    Ok(if findings.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
