//! What a series of releases loses and costs: Adult, a share of it exchanged at every release, beside independent releases.
//!
//! The first table is the training file of Adult; at each release the same share of its people leaves, drawn at random,
//! and as many come from the test file. Loss is over the people in the table. CPU seconds are those of the process.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use throng::policy::Policy;
use throng::run::{Anonymize, AuditSeries, Series};
use throng::watch::Unwatched;
use throng_bench::Result;

use crate::sweep::repository;

const QUASI: [&str; 8] =
    ["age", "hours-per-week", "workclass", "education", "marital-status", "race", "sex", "native-country"];
const NUMBERS: [&str; 2] = ["age", "hours-per-week"];

/// What to measure.
pub struct Setting {
    /// Required k.
    pub k: Vec<usize>,
    /// Required l, if any.
    pub l: Option<f64>,
    /// The share of people who leave at each release.
    pub churn: f64,
    /// Number of releases.
    pub releases: usize,
    /// The seed of leaving and coming.
    pub seed: u64,
    /// Further keys of `[series]`.
    pub more: String,
}

/// Measures every k.
pub fn run(setting: &Setting, threads: usize) -> Result<()> {
    let shared = repository().join("../shared/data");
    if !shared.exists() {
        return Err(format!("{} is not there", shared.display()).into());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let (header, old) = people(&shared.join("adult.train.complete.csv.zst"))?;
    let (_, new) = people(&shared.join("adult.test.complete.csv.zst"))?;
    let folder = tempfile::tempdir()?;
    let tables = tables(folder.path(), &header, &old, &new, setting)?;
    say!(
        "{:<10}{:>9}{:>9}{:>9}{:>9}{:>10}{:>9}{:>9}{:>9}",
        "k, release",
        "rows",
        "stale %",
        "loss",
        "alone",
        "newcomers",
        "first",
        "CPU s",
        "alone s"
    );
    setting.k.iter().try_for_each(|k| pool.install(|| measure(*k, setting, &tables, folder.path())))
}

fn measure(k: usize, setting: &Setting, tables: &[PathBuf], folder: &Path) -> Result<()> {
    let policy = Policy::parse(&policy(k, setting), None)?;
    let (mut releases, ledger): (Vec<PathBuf>, PathBuf) = (Vec::new(), folder.join(format!("ledger-{k}")));
    for (at, table) in tables.iter().enumerate() {
        let single = Anonymize::new(table, folder.join("alone.csv"), policy.clone());
        let start = cpu();
        let alone = single.run(&Unwatched)?;
        let alone_seconds = cpu() - start;
        let release = folder.join(format!("r{k}-{}.csv", at + 1));
        let series = Series {
            anonymize: Anonymize::new(table, release.clone(), policy.clone()),
            ledger: ledger.clone(),
            after: releases.last().cloned(),
            erase: None,
            replace: false,
        };
        let start = cpu();
        let report = series.run(&Unwatched)?;
        let seconds = cpu() - start;
        let figures = report.series.ok_or("no figures of the series")?;
        let later = || figures.by_entry.iter().filter(|entered| entered.release > 1);
        let present: u64 = later().map(|entered| entered.present).sum();
        let lost: f64 = later().map(|entered| entered.gcp * entered.present as f64).sum();
        let first = figures.by_entry.first().map_or(0.0, |entered| entered.gcp);
        say!(
            "{k:<5}{:<5}{:>9}{:>9.1}{:>9.4}{:>9.4}{:>10.4}{first:>9.4}{seconds:>9.2}{alone_seconds:>9.2}",
            at + 1,
            figures.rows,
            100.0 * figures.stale_share,
            figures.gcp,
            alone.measures.gcp,
            if present > 0 { lost / present as f64 } else { f64::NAN },
        );
        releases.push(release);
    }
    let audit = AuditSeries { releases, policy, ledger: Some(ledger), tables: tables.to_vec() };
    let findings = audit.run(&Unwatched)?;
    let verdict = if findings.holds() { "holds" } else { "DOES NOT HOLD" };
    say!("{k:<5}audit with ledger and tables: {verdict} {}", findings.violations.join("; "));
    Ok(())
}

/// Seconds of CPU that this process has used, where the system tells it.
fn cpu() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}

fn people(path: &Path) -> Result<(String, Vec<String>)> {
    let text = zstd::decode_all(std::fs::File::open(path)?)?;
    let text = String::from_utf8(text)?;
    let mut lines = text.lines().map(str::to_owned);
    let header = lines.next().ok_or("an empty table")?;
    Ok((header, lines.filter(|line| !line.is_empty()).collect()))
}

/// The tables of all releases, everybody with a number.
fn tables(
    folder: &Path,
    header: &str,
    old: &[String],
    new: &[String],
    setting: &Setting,
) -> Result<Vec<PathBuf>> {
    let mut random = ChaCha8Rng::seed_from_u64(setting.seed);
    let mut here: Vec<(usize, &String)> = old.iter().enumerate().collect();
    let mut coming: Vec<(usize, &String)> = (old.len()..).zip(new).collect();
    coming.shuffle(&mut random);
    let leaving = (setting.churn * old.len() as f64).round() as usize;
    let mut tables = Vec::new();
    for number in 1..=setting.releases {
        if number > 1 {
            here.shuffle(&mut random);
            here.truncate(here.len() - leaving);
            here.extend(coming.drain(..leaving.min(coming.len())));
            here.sort_unstable();
        }
        let mut text = format!("person,{header}\n");
        here.iter().try_for_each(|(person, line)| writeln!(text, "{person},{line}"))?;
        let path = folder.join(format!("t{number}.csv"));
        std::fs::write(&path, text)?;
        tables.push(path);
    }
    Ok(tables)
}

fn policy(k: usize, setting: &Setting) -> String {
    let trees = repository().join("../shared/data/hierarchies/adult-arx");
    let l = setting.l.map_or_else(String::new, |l| format!("l = {l}\n"));
    let mut text = format!(
        "[data]\nunlisted = \"drop\"\n[privacy]\nk = {k}\n{l}[method]\nname = \"peel\"\nseed = 1\n[report]\nbound = {{ passes = 1 }}\n\
         [series]\n{}\n[attribute.person]\nrole = \"person\"\n[attribute.occupation]\nrole = \"sensitive\"\n",
        setting.more
    );
    for column in QUASI {
        let numeric = NUMBERS.contains(&column);
        let kind = if numeric { "numeric" } else { "categorical" };
        let _ = write!(text, "[attribute.{column}]\nrole = \"quasi\"\nkind = \"{kind}\"\n");
        let file = trees.join(format!("{column}.csv"));
        if !numeric && file.exists() {
            let _ = writeln!(text, "hierarchy = {:?}", file.display().to_string());
        }
    }
    text
}
