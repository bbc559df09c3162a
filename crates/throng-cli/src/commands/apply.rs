//! `throng apply`

use std::process::ExitCode;

use throng::Result;
use throng::plan::Unmet;
use throng::recipe::Recipe;
use throng::release::{Files, Order, Publish};
use throng::run::Apply;
use throng::secret::Secret;

use super::anonymize::{formulas, open_reports, publish};
use super::on_threads;
use crate::args;
use crate::progress::Progress;

pub fn run(arguments: &args::Apply) -> Result<ExitCode> {
    let apply = Apply {
        recipe: Recipe::load(&arguments.recipe)?,
        data: arguments.data.clone(),
        release: arguments.output.clone(),
        order: if arguments.keep_order { Order::Keep } else { Order::Shuffled },
        unmet: match arguments.unmet {
            args::Unmet::Refuse => Unmet::Refuse,
            args::Unmet::Suppress => Unmet::Suppress,
            args::Unmet::Publish => Unmet::Publish,
        },
        hashes: !arguments.report.is_empty(),
        secret: arguments.secret.as_deref().map(Secret::read).transpose()?,
        formulas: formulas(arguments.escape_formulas),
        publish: match arguments.publish {
            args::Masked::Cells => Publish::Cells,
            args::Masked::Bounds => Publish::Bounds,
        },
    };
    let mut files = Files::default();
    files.read("the recipe", &arguments.recipe);
    files.read("the table", &arguments.data);
    if let Some(secret) = &arguments.secret {
        files.read("the secret", secret);
    }
    files.claim("the release", &arguments.output)?;
    let reports = open_reports(&mut files, &arguments.report)?;
    let progress = Progress::start(arguments.running.quiet)?;
    let prepared = on_threads(&arguments.running, || apply.prepare(&progress))?;
    drop(progress);
    publish(prepared, reports, Vec::new(), arguments.running.quiet)?;
    Ok(ExitCode::SUCCESS)
}
