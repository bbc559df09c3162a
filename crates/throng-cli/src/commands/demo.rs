//! `throng demo`: the bundled sample of Adult, anonymized end to end.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use throng::policy::Policy;
use throng::release::{Output, publish_all};
use throng::run::Anonymize;
use throng::{Error, ErrorCode, Result, report};

use super::anonymize::fill_reports;
use super::on_threads;
use crate::args;
use crate::progress::Progress;
use crate::show;

const TABLE: &str = "adult-sample.csv";
const POLICY: &str = "adult.toml";
const RELEASE: &str = "release.csv";
const REPORTS: [&str; 2] = ["report.html", "report.json"];

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../data/", $name)))),*]
    };
}

/// What is written before the run: names below the folder, and contents.
static SAMPLE: &[(&str, &str)] = bundled![
    "adult-sample.csv",
    "adult.toml",
    "README.md",
    "hierarchies/education.csv",
    "hierarchies/marital-status.csv",
    "hierarchies/native-country.csv",
    "hierarchies/occupation.csv",
    "hierarchies/race.csv",
    "hierarchies/sex.csv",
    "hierarchies/workclass.csv",
];

const SEED: u64 = 1;

pub fn run(arguments: &args::Demo) -> Result<ExitCode> {
    let folder = &arguments.out;
    check_folder(folder)?;
    write_sample(folder)?;
    show::print(&format!("{}\n", introduction(folder)))?;
    // The same cells for everyone who tries it; the order of rows is nobody's.
    let policy = Policy::load(&folder.join(POLICY))?.with_seed(SEED);
    let run = Anonymize { hashes: true, ..Anonymize::new(folder.join(TABLE), folder.join(RELEASE), policy) };
    let mut files = run.files()?;
    let reports = REPORTS.iter().map(|name| files.create("the report", &folder.join(name)));
    let reports = reports.collect::<Result<Vec<_>>>()?;
    let progress = Progress::start(false)?;
    let prepared = on_threads(&args::Running::default(), || run.prepare(&progress))?;
    drop(progress);
    let reports = fill_reports(reports, &prepared.report)?;
    let told = prepared.publish_with(reports)?;
    show::print(&format!("{}\n{}", report::terminal(&told), next_steps(folder)))?;
    Ok(ExitCode::SUCCESS)
}

/// The demo replaces what a demo has written, and nothing else: in a folder that does not hold the sample as it is here, none
/// of its names may be taken.
fn check_folder(folder: &Path) -> Result<()> {
    let is_same = |(name, text): &(&str, &str)| {
        std::fs::read(folder.join(name)).is_ok_and(|found| found == text.as_bytes())
    };
    if SAMPLE.iter().all(is_same) {
        return Ok(());
    }
    let results = [RELEASE].into_iter().chain(REPORTS);
    let changed = SAMPLE.iter().filter(|file| !is_same(file)).map(|(name, _)| *name);
    let taken = changed.chain(results).map(|name| folder.join(name)).find(|path| path.exists());
    match taken {
        Some(path) => Err(Error::new(
            ErrorCode::WouldOverwrite,
            "the demo would overwrite a file that it did not write",
        )
        .in_file(path)
        .with_hint("choose another folder with --out DIR")),
        None => Ok(()),
    }
}

fn write_sample(folder: &Path) -> Result<()> {
    let below = folder.join("hierarchies");
    std::fs::create_dir_all(&below).map_err(|cause| {
        let error = Error::io(ErrorCode::CannotWrite, "create the folder", folder, &cause);
        if error.hint().is_some() { error } else { error.with_hint("choose another folder with --out DIR") }
    })?;
    let mut outputs = Vec::new();
    for (name, text) in SAMPLE {
        let mut output = Output::create(&folder.join(name))?;
        output.write_all(text.as_bytes())?;
        outputs.push(output);
    }
    publish_all(outputs)
}

fn introduction(folder: &Path) -> String {
    let shown = |name: &str| folder.join(name).display().to_string();
    format!(
        "Anonymizing 5,000 people of the 1994 US census (Adult; Becker and Kohavi 1996,\n\
         CC BY 4.0) so that everyone looks like at least 9 others.\n\n\
         Table    {}\n\
         Policy   {}\n",
        shown(TABLE),
        shown(POLICY)
    )
}

fn next_steps(folder: &Path) -> String {
    let shown = |name: &str| folder.join(name).display().to_string();
    let page = shareable(&folder.join(REPORTS[0]));
    format!(
        "Release  {}\n\
         Report   {page}\n\
         Figures  {}\n\n\
         Open the report in a browser. Then try it with a table of your own:\n\n  \
         throng init people.csv -o people.toml\n  \
         throng anonymize people.csv -p people.toml -o release.csv --report report.html\n",
        shown(RELEASE),
        shown(REPORTS[1])
    )
}

/// The whole path where it is known, so that terminals and browsers can open it from anywhere.
fn shareable(path: &Path) -> String {
    std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path)).display().to_string()
}
