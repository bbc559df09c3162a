//! `throng apply`

use std::process::ExitCode;

use throng::Result;
use throng::apply::{Apply, Unmet};
use throng::recipe::Recipe;
use throng::release::Order;

use super::anonymize::{open_reports, publish};
use super::{draw_seed, on_threads};
use crate::args;
use crate::progress::Progress;

pub fn run(arguments: &args::Apply) -> Result<ExitCode> {
    let apply = Apply {
        recipe: Recipe::load(&arguments.recipe)?,
        data: arguments.data.clone(),
        release: arguments.output.clone(),
        order: if arguments.keep_order { Order::Keep } else { Order::Shuffled },
        seed: arguments.seed.unwrap_or_else(draw_seed),
        unmet: match arguments.unmet {
            args::Unmet::Refuse => Unmet::Refuse,
            args::Unmet::Suppress => Unmet::Suppress,
            args::Unmet::Publish => Unmet::Publish,
        },
        hashes: !arguments.report.is_empty(),
    };
    let reports = open_reports(&arguments.report)?;
    let progress = Progress::start(arguments.running.quiet)?;
    let prepared = on_threads(&arguments.running, || apply.prepare(&progress))?;
    drop(progress);
    publish(prepared, reports, arguments.running.quiet)?;
    Ok(ExitCode::SUCCESS)
}
