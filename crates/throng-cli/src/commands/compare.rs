//! `throng compare`

use std::path::Path;
use std::process::ExitCode;

use throng::plan::Registry;
use throng::policy::Policy;
use throng::release::{Files, publish_all};
use throng::run::Compare;
use throng::secret::Secret;
use throng::table::source::is_standard;
use throng::{Error, ErrorCode, Result, report};

use super::on_threads;
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Compare) -> Result<ExitCode> {
    check_page(&arguments.output)?;
    let compare = Compare {
        data: arguments.data.clone(),
        policy: Policy::load(&arguments.policy)?,
        methods: arguments.methods.clone(),
        ks: arguments.k.clone(),
        secret: arguments.secret.as_deref().map(Secret::read).transpose()?,
        queries: arguments.queries,
        registry: Registry::default(),
    };
    // Opened first: a page that cannot be written should be known before the work.
    let mut files = Files::default();
    files.read("the table", &arguments.data);
    files.read_policy(&compare.policy);
    if let Some(secret) = &arguments.secret {
        files.read("the secret", secret);
    }
    let mut page = files.create("the comparison", &arguments.output)?;
    let figures = arguments.json.as_deref().map(|path| files.create("the figures", path));
    let mut figures = figures.transpose()?;
    let progress = Progress::start(arguments.running.quiet)?;
    let comparison = on_threads(&arguments.running, || compare.run(&progress))?;
    drop(progress);
    page.write_all(report::compare_html(&comparison)?.as_bytes())?;
    if let Some(figures) = &mut figures {
        figures.write_all(report::json(&comparison)?.as_bytes())?;
    }
    publish_all([page].into_iter().chain(figures).collect())?;
    if !arguments.running.quiet {
        tell(arguments, report::compare_terminal(&comparison).trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check_page(path: &Path) -> Result<()> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => {
            Err(Error::new(ErrorCode::BadFileEnding, "the comparison is written as an HTML page")
                .in_file(path)
                .with_hint("name it .html; --json FILE writes the figures as JSON too"))
        }
        _ => Ok(()),
    }
}

/// Standard output may be taken by a file.
fn tell(arguments: &args::Compare, text: &str) -> Result<()> {
    let taken = is_standard(&arguments.output) || arguments.json.as_deref().is_some_and(is_standard);
    if taken {
        show::note(text);
        return Ok(());
    }
    show::print(&format!("{text}\n\nReport   {}\n", arguments.output.display()))
}
