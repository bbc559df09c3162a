//! `throng simulate`

use std::process::ExitCode;

use throng::policy::Policy;
use throng::problem::Problem;
use throng::simulate::{self, Simulation};
use throng::watch::Watch;
use throng::{Error, ErrorCode, Result, report, run};

use super::on_threads;
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Simulate) -> Result<ExitCode> {
    let progress = Progress::start(arguments.running.quiet)?;
    let simulated = on_threads(&arguments.running, || {
        let simulation = Simulation {
            attributes: attributes(arguments, &progress)?,
            k: arguments.k,
            repetitions: arguments.repetitions,
            seed: arguments.seed,
        };
        simulation.run(arguments.records, arguments.needed, &progress)
    })?;
    drop(progress);
    if arguments.json {
        show::print_json(&report::json(&simulated)?)?;
    } else if !arguments.running.quiet {
        show::print(&simulate::terminal(&simulated, arguments.needed))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn attributes(arguments: &args::Simulate, watch: &dyn Watch) -> Result<Vec<Vec<f64>>> {
    if arguments.needed.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        return Err(Error::new(ErrorCode::BadUsage, "--needed must be a share above 0 and at most 1"));
    }
    if arguments.attributes.is_some_and(|count| !(1..=1000).contains(&count)) {
        return Err(Error::new(ErrorCode::BadUsage, "--attributes must be from 1 to 1000"));
    }
    match (&arguments.data, &arguments.policy) {
        (Some(data), Some(policy)) => {
            let policy = Policy::load(policy)?;
            let table = run::read(data, &policy, watch)?;
            Ok(simulate::marginals(&Problem::new(&table, &policy)?.data))
        }
        _ => match (arguments.attributes, arguments.values.as_slice()) {
            (None, []) => Err(Error::new(ErrorCode::BadUsage, "how many attributes?").with_hint(
                "give --attributes 7, --values 2,3,5, or --data and --policy for those of a table",
            )),
            (None, values) => simulate::uniform(values),
            (Some(count), []) => simulate::uniform(&vec![2; count]),
            (Some(count), [values]) => simulate::uniform(&vec![*values; count]),
            (Some(count), values) if values.len() == count => simulate::uniform(values),
            (Some(count), values) => Err(Error::new(
                ErrorCode::BadUsage,
                format!("--attributes is {count}, but --values gives {}", values.len()),
            )
            .with_hint("give one number of values for all attributes, or one for each")),
        },
    }
}
