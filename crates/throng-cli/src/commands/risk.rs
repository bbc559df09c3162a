//! `throng risk`

use std::process::ExitCode;

use throng::as_is;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::risk::{self, Background, Risk};
use throng::watch::Watch;
use throng::{Result, report, run};

use super::on_threads;
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Risk) -> Result<ExitCode> {
    let policy = Policy::load(&arguments.policy)?;
    let progress = Progress::start(arguments.running.quiet)?;
    let risk = on_threads(&arguments.running, || measure(arguments, &policy, &progress))?;
    drop(progress);
    if arguments.json {
        show::print_json(&report::json(&risk)?)?;
    } else if !arguments.running.quiet {
        show::print(&report::risk_terminal(&risk))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(arguments: &args::Risk, policy: &Policy, watch: &dyn Watch) -> Result<Risk> {
    risk::check_fraction(arguments.fraction)?;
    let table = run::read(&arguments.data, policy, watch)?;
    let problem = Problem::new(&table, policy)?;
    let population = match &arguments.population {
        Some(path) => Some(risk::read_population(path, &problem, &policy.missing, watch)?),
        None => None,
    };
    let background = match (&population, arguments.fraction) {
        (Some(population), _) => Background::Population(population),
        (None, Some(fraction)) => Background::Fraction(fraction),
        (None, None) => Background::Itself,
    };
    let mut risk = risk::measure(&problem, &policy.missing, background, watch)?;
    risk.published_as_is = Some(as_is::of_table(&table, &problem, policy));
    risk.notes.extend(throng::policy::suggest::person::warning(&table, policy));
    Ok(risk)
}
