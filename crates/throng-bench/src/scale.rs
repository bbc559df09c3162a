//! Tables in parts within a limit on memory, beside the same runs in memory: loss, seconds, processor seconds, peak memory as
//! the kernel tells it, scratch bytes.
//!
//! `-- scale` runs a table like Adult with eight quasi-identifiers and four columns passed through; `-- scale-quality` asks what
//! parts cost in loss.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use throng::policy::Policy;
use throng::run::{Anonymize, Memory};
use throng::watch::Unwatched;
use throng_bench::{Result, blow_up, peak_memory};

use crate::sweep::{repository, source};

const STAGES: [&str; 6] = ["read", "encode", "anonymize", "write", "audit", "total"];

/// How a run is to be done.
#[derive(Clone, Debug, Default)]
pub struct How {
    /// Bytes of memory; in memory if there is no limit.
    pub memory: Option<u64>,
    /// Parts of the first round.
    pub parts: Option<usize>,
}

/// The table like Adult, in memory and within a limit.
pub fn measure(rows: usize, memory: &str, method: &str, k: usize, skip_memory: bool) -> Result<()> {
    let folder = tempfile::tempdir_in(std::env::current_dir()?)?;
    let data = folder.path().join("table.csv");
    blow_up(&source(), rows, &data, 0.2, 1)?;
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, adult_policy(k, method)?)?;
    say!("{rows} rows, k = {k}, method {method}, {} bytes", std::fs::metadata(&data)?.len());
    heads();
    let limit = Memory::parse(memory)?;
    if !skip_memory {
        tell("in memory", &child(&data, &policy, &How::default())?);
    }
    tell(memory, &child(&data, &policy, &How { memory: Some(limit), parts: None })?);
    Ok(())
}

/// What parts cost: each task in memory, in 4 parts and in 16.
pub fn quality(only: &str, rows: usize) -> Result<()> {
    let folder = tempfile::tempdir_in(std::env::current_dir()?)?;
    let adult = folder.path().join("adult.csv");
    let census = repository().join("../shared/data/census9-like.csv.zst");
    for (name, privacy) in [
        ("census9-like", "k = 10"),
        ("census9-like", "k = 50"),
        ("census9-like", "k = 4\nl = 4"),
        ("adult", "k = 10"),
        ("adult", "k = 50"),
        ("adult", "k = 4\nl = 4"),
    ] {
        let task = format!("{name} {}", privacy.replace('\n', " "));
        if !task.starts_with(only) {
            continue;
        }
        let (data, text) = match name {
            "adult" => {
                if !adult.exists() {
                    blow_up(&source(), rows, &adult, 0.2, 1)?;
                }
                let text = adult_policy(10, "auto")?.replacen("k = 10", privacy, 1);
                (adult.clone(), if privacy.contains("l =") { with_occupation_sensitive(&text) } else { text })
            }
            _ if !census.exists() => {
                say!("SKIPPED {task}: there is no {}", census.display());
                continue;
            }
            _ => (census.clone(), census_policy(privacy)),
        };
        let policy = folder.path().join("policy.toml");
        std::fs::write(&policy, text)?;
        say!("{task}");
        heads();
        let whole = child(&data, &policy, &How::default())?;
        tell("in memory", &whole);
        for parts in [4, 16] {
            let own = child(&data, &policy, &How { memory: Some(8 << 30), parts: Some(parts) })?;
            tell(&format!("{parts} parts"), &own);
            let (own, whole) = (own["gcp"].as_f64().unwrap_or(0.0), whole["gcp"].as_f64().unwrap_or(0.0));
            say!("  {:+.2} %", 100.0 * (own / whole - 1.0));
        }
    }
    Ok(())
}

fn heads() {
    let stages: String = STAGES.iter().map(|stage| format!("{stage:>10}")).collect();
    let _ = (|| -> Result<()> {
        say!("{:<12}{stages}{:>10}{:>10}{:>10}{:>12}  parts", "", "cpu s", "peak MiB", "GCP", "scratch MiB");
        Ok(())
    })();
}

fn tell(name: &str, told: &Value) {
    let number = |key: &str| told[key].as_f64().unwrap_or(f64::NAN);
    let stages: String = STAGES.iter().map(|stage| format!("{:>10.2}", number(stage))).collect();
    let _ = (|| -> Result<()> {
        say!(
            "{name:<12}{stages}{:>10.1}{:>10.0}{:>10.5}{:>12.0}  {}",
            number("cpu"),
            number("memory") / f64::from(1 << 20),
            number("gcp"),
            told["parts"]["scratch_bytes"].as_f64().unwrap_or(0.0) / f64::from(1 << 20),
            told["parts"]["parts"]
        );
        Ok(())
    })();
}

fn child(data: &Path, policy: &Path, how: &How) -> Result<Value> {
    let number = |value: Option<u64>| value.unwrap_or(0).to_string();
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("scale-run").arg(data).arg(policy);
    command.arg(number(how.memory)).arg(number(how.parts.map(|parts| parts as u64)));
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// One run, told as JSON.
pub fn run(data: &Path, policy: &Path, memory: u64, parts: usize) -> Result<()> {
    let folder = tempfile::tempdir_in(policy.parent().unwrap_or(Path::new(".")))?;
    let release: PathBuf = folder.path().join("release.csv");
    let mut run = Anonymize::new(data, release, Policy::load(policy)?);
    run.policy.effort = throng::bound::Effort::Passes(1);
    if memory > 0 {
        run.memory = Some(Memory { parts: (parts > 0).then_some(parts), ..Memory::of(memory) });
    }
    let report = run.run(&Unwatched)?;
    let mut told = json!(report.seconds);
    told["memory"] = json!(peak_memory());
    told["cpu"] = json!(processor_seconds());
    told["gcp"] = json!(report.measures.gcp);
    told["parts"] = json!(report.parts);
    say!("{told}");
    Ok(())
}

/// Processor seconds of this process, in all threads.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

/// The eight quasi-identifiers of the benchmark, and four other columns.
fn adult_policy(k: usize, method: &str) -> Result<String> {
    let folder = repository().join("data/hierarchies");
    let text = std::fs::read_to_string(repository().join("data/benchmark.toml"))?;
    let text = text
        .replace("\"hierarchies/", &format!("\"{}/", folder.display()))
        .replace("k = 50", &format!("k = {k}"));
    let dropped: String = ["fnlwgt", "education-num", "relationship"]
        .iter()
        .map(|name| format!("[attribute.{name}]\nrole = \"identifier\"\n"))
        .collect();
    Ok(format!("{text}\n{dropped}[method]\nname = \"{method}\"\nseed = 1\n"))
}

/// The same with seven quasi-identifiers: none of Adult's other columns has enough values for an l of 4.
fn with_occupation_sensitive(policy: &str) -> String {
    let tree = repository().join("data/hierarchies/occupation.csv");
    let quasi = format!("role = \"quasi\"\nhierarchy = \"{}\"", tree.display());
    policy.replace(&quasi, "role = \"sensitive\"")
}

fn census_policy(privacy: &str) -> String {
    let quasi: String = ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country"]
        .iter()
        .map(|name| format!("[attribute.{name}]\nrole = \"quasi\"\n"))
        .collect();
    let trees = repository().join("../shared/data/hierarchies/census9-like");
    let quasi = ["Education", "Marital", "Race", "Work-class", "Country"].iter().fold(quasi, |text, name| {
        let file = trees.join(format!("{name}.csv"));
        let section = format!("[attribute.{name}]\nrole = \"quasi\"\n");
        match file.exists() {
            true => text.replace(&section, &format!("{section}hierarchy = \"{}\"\n", file.display())),
            false => text,
        }
    });
    format!(
        "[data]\nunlisted = \"drop\"\n[privacy]\n{privacy}\n[method]\nseed = 1\n{quasi}[attribute.Occupation]\nrole = \"sensitive\"\n"
    )
}
