//! This program against an older one: both `throng` commands run in turns on the same tables, so that a busy machine slows
//! both, and stages are compared by their fastest runs.
//!
//! Only what both understand is asked for, so every column has a role and no key is newer than the older program.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use throng_bench::{Result, blow_up};

use crate::sweep::source;

/// A run of both programs: a name, rows, the method's section, what is asked for.
struct Case {
    name: &'static str,
    rows: usize,
    method: &'static str,
    privacy: &'static str,
}

const CASES: &[Case] = &[
    case("sweep: mondrian", 1_000_000, "name = \"mondrian\"", "k = 50"),
    case("sweep: hilbert", 1_000_000, "name = \"hilbert\"", "k = 50"),
    case("sweep: hilbert-fast", 1_000_000, "name = \"hilbert-fast\"", "k = 50"),
    case("peel", 30_000, "name = \"peel\"", "k = 10"),
    case("peel, large", 300_000, "name = \"peel\"", "k = 10"),
    case("line: idistance", 300_000, "name = \"idistance\"", "k = 10"),
    case("line: accuracy", 100_000, "name = \"accuracy\"", "max_loss = 0.3"),
    case("local recoding: top-down", 30_000, "name = \"top-down\"", "k = 10"),
    case("local recoding: bottom-up", 30_000, "name = \"bottom-up\"", "k = 10"),
    case("strings: rv-global", 30_000, "name = \"rv-global\"", "k = 10\nsuppress = 0.05"),
    case("strings: rv-cluster", 5_000, "name = \"rv-cluster\"", "k = 5"),
    case("refine", 300_000, "name = \"refine\"", "k = 50"),
];

const fn case(name: &'static str, rows: usize, method: &'static str, privacy: &'static str) -> Case {
    Case { name, rows, method, privacy }
}

const STAGES: [&str; 5] = ["read", "encode", "anonymize", "write", "audit"];

/// Measures all cases whose name begins with `only`.
pub fn run(older: &Path, newer: &Path, only: &str, threads: usize, repeat: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    say!("ratio of newer to older, fastest of {repeat} runs each, in turns; below 1 is faster");
    let stages: String = STAGES.iter().map(|stage| format!("{stage:>11}")).collect();
    say!("{:<28}{:>9}{stages}{:>11}{:>12}", "", "rows", "total", "older, s");
    for case in CASES.iter().filter(|case| case.name.starts_with(only)) {
        let data = folder.path().join("table.csv");
        blow_up(&source(), case.rows, &data, 0.1, 7)?;
        let policy = folder.path().join("policy.toml");
        std::fs::write(&policy, policy_of(case))?;
        let mut fastest = [Value::Null, Value::Null];
        for _ in 0..repeat {
            for (program, fastest) in [older, newer].into_iter().zip(&mut fastest) {
                let told = seconds(program, &data, &policy, threads)?;
                keep_least(fastest, &told);
            }
        }
        print(case, &fastest)?;
    }
    Ok(())
}

fn print(case: &Case, [older, newer]: &[Value; 2]) -> Result<()> {
    let ratio = |stage: &str| match (older[stage].as_f64(), newer[stage].as_f64()) {
        (Some(older), Some(newer)) if older > 0.0 => format!("{:>11.3}", newer / older),
        _ => format!("{:>11}", "–"),
    };
    let stages: String = STAGES.iter().map(|stage| ratio(stage)).collect();
    let total = older["total"].as_f64().unwrap_or(f64::NAN);
    say!("{:<28}{:>9}{stages}{}{total:>12.3}", case.name, case.rows, ratio("total"));
    Ok(())
}

/// The least seconds of every stage.
fn keep_least(fastest: &mut Value, told: &Value) {
    match (fastest.as_object_mut(), told.as_object()) {
        (Some(fastest), Some(told)) => {
            for (stage, seconds) in told {
                let least = fastest.get(stage).and_then(Value::as_f64).unwrap_or(f64::INFINITY);
                if seconds.as_f64().is_some_and(|seconds| seconds < least) {
                    fastest.insert(stage.clone(), seconds.clone());
                }
            }
        }
        _ => *fastest = told.clone(),
    }
}

/// One run of a program: what its report tells of time.
fn seconds(program: &Path, data: &Path, policy: &Path, threads: usize) -> Result<Value> {
    let (release, report) = (data.with_file_name("release.csv"), data.with_file_name("report.json"));
    for file in [&release, &report] {
        if file.exists() {
            std::fs::remove_file(file)?;
        }
    }
    let _ = Command::new("sync").status();
    let mut command = Command::new(program);
    command.arg("anonymize").arg(data).arg("--policy").arg(policy).arg("-o").arg(&release);
    command.arg("--report").arg(&report).args(["--threads", &threads.to_string()]);
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr)).into());
    }
    let report: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
    Ok(report["seconds"].clone())
}

fn policy_of(case: &Case) -> String {
    let hierarchies = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/hierarchies"));
    let mut text = format!("[privacy]\n{}\n[method]\n{}\nseed = 7\n", case.privacy, case.method);
    text += "[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n";
    for name in ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"] {
        let file = hierarchies.join(name).with_extension("csv");
        text += &format!("[attribute.{name}]\nrole = \"quasi\"\nhierarchy = '{}'\n", file.display());
    }
    for (name, role) in [
        ("fnlwgt", "identifier"),
        ("education-num", "other"),
        ("relationship", "other"),
        ("capital-gain", "other"),
        ("capital-loss", "other"),
        ("hours-per-week", "other"),
        ("salary-class", "class"),
    ] {
        text += &format!("[attribute.{name}]\nrole = \"{role}\"\n");
    }
    text
}
