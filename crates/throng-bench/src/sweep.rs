//! The sweep over N.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use throng::policy::Policy;
use throng::run::Anonymize;
use throng::watch::Unwatched;
use throng_bench::{Result, blow_up, copy_csv, cpu_seconds, peak_memory};

use crate::Arguments;

const STAGES: [&str; 5] = ["read", "encode", "anonymize", "write", "audit"];

/// Runs the sweep and prints it as it goes.
pub fn sweep(arguments: &Arguments) -> Result<()> {
    let source = source();
    let folder = tempfile::tempdir()?;
    let policy = repository().join("data/benchmark.toml");
    say!(
        "source {}, k = {}, {} threads, fastest of {}",
        source.display(),
        arguments.k,
        arguments.threads,
        arguments.repeat
    );
    let heads = STAGES.iter().map(|stage| format!("{stage:>9}")).collect::<String>();
    say!("{:>9}  {:<16}{heads}{:>9}{:>8}{:>9}{:>8}", "rows", "method", "total", "/copy", "MiB", "growth");
    let mut before: Vec<Option<f64>> = vec![None; arguments.methods.len()];
    let mut rows = 10_000;
    while rows <= arguments.most {
        let data = folder.path().join("table.csv");
        blow_up(&source, rows, &data, 0.2, 1)?;
        let target = folder.path().join("copy.csv");
        let release = folder.path().join("release.csv");
        let run = |method: &String| {
            let (k, threads) = (arguments.k.to_string(), arguments.threads.to_string());
            let parts = ["run".into(), data.clone(), policy.clone(), release.clone()];
            child(&[&parts[..], &[method.into(), k.into(), threads.into()]].concat(), &release)
        };
        // In turns, so that a busy machine slows all of them.
        let (mut copy, mut runs) = (Fastest::default(), vec![Fastest::default(); arguments.methods.len()]);
        for _ in 0..arguments.repeat.max(1) {
            copy.offer(child(&["copy".into(), data.clone(), target.clone()], &target)?);
            for (method, fastest) in arguments.methods.iter().zip(&mut runs) {
                fastest.offer(run(method)?);
            }
        }
        let copied = copy.seconds();
        say!("{rows:>9}  {:<16}{:>54.3}{:>8.2}", "copy (csv crate)", copied, 1.0);
        for ((method, before), run) in arguments.methods.iter().zip(&mut before).zip(&runs) {
            *before = Some(print_run(rows, method, run, copied, *before)?);
        }
        rows *= 10;
    }
    Ok(())
}

/// Prints a row and returns its total.
fn print_run(rows: usize, method: &str, run: &Fastest, copied: f64, before: Option<f64>) -> Result<f64> {
    let (run, total) = (&run.0, run.seconds());
    let stages: String =
        STAGES.iter().map(|stage| format!("{:>9.3}", run[*stage].as_f64().unwrap_or(0.0))).collect();
    let memory = run["memory"].as_f64().unwrap_or(f64::NAN) / f64::from(1 << 20);
    let growth = before.map_or(String::new(), |before| format!("{:.1}x", total / before));
    say!("{rows:>9}  {method:<16}{stages}{total:>9.3}{:>8.2}{memory:>9.0}{growth:>8}", total / copied);
    Ok(total)
}

/// What the fastest of several runs told.
#[derive(Clone, Default)]
struct Fastest(Value);

impl Fastest {
    fn seconds(&self) -> f64 {
        self.0["total"].as_f64().unwrap_or(f64::INFINITY)
    }

    fn offer(&mut self, told: Value) {
        let next = Fastest(told);
        if next.seconds() < self.seconds() {
            *self = next;
        }
    }
}

/// Runs a part in a process of its own; what an earlier one wrote is removed first, and what still waits to be written
/// to the disk is written, so that none pays for another.
fn child(arguments: &[PathBuf], target: &Path) -> Result<Value> {
    if target.exists() {
        std::fs::remove_file(target)?;
    }
    // Where there is no such command, the figures are only noisier.
    let _ = Command::new("sync").status();
    let output = Command::new(std::env::current_exe()?).args(arguments).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What one run in a process of its own told: seconds by stage, CPU seconds, memory and GCP.
pub fn measured(
    data: &Path,
    policy: &Path,
    release: &Path,
    method: &str,
    k: usize,
    threads: usize,
) -> Result<Value> {
    let parts = [PathBuf::from("run"), data.into(), policy.into(), release.into()];
    let (k, threads) = (k.to_string(), threads.to_string());
    child(&[&parts[..], &[method.into(), k.into(), threads.into()]].concat(), release)
}

/// One copy, told as JSON.
pub fn copy(data: &Path, target: &Path) -> Result<()> {
    let start = Instant::now();
    copy_csv(data, target)?;
    say!("{}", json!({ "total": start.elapsed().as_secs_f64() }));
    Ok(())
}

/// One run, told as JSON.
pub fn run(data: &Path, policy: &Path, release: &Path, method: &str, k: usize, threads: usize) -> Result<()> {
    let policy = Policy::load(policy)?.with_method(method)?.with_k(k)?;
    let run = Anonymize::new(data.to_owned(), release.to_owned(), policy);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let report = pool.install(|| run.run(&Unwatched))?;
    let mut told = json!(report.seconds);
    told["memory"] = json!(peak_memory());
    told["cpu"] = json!(cpu_seconds());
    told["gcp"] = json!(report.measures.gcp);
    say!("{told}");
    Ok(())
}

/// The folder of the repository.
pub fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The table that is blown up: all of Adult where it is at hand, else the bundled sample.
pub fn source() -> PathBuf {
    let full = repository().join("../shared/data/adult.train.complete.csv.zst");
    if full.exists() { full } else { repository().join("data/adult-sample.csv") }
}
