//! This program against an older one: both `throng` commands run in turns on the same tables, so that a busy machine slows
//! both, and stages are compared by their fastest runs.
//!
//! Both do the same work: only what the older one understands is asked for, and where the newer one does more by default (a search
//! after `peel`, more reference points, a proof in place of an estimate of the lower bound) it is told to do what the older one does. What
//! is published as it is was not counted before, so the columns beside the quasi-identifiers are left out, but for one case that
//! tells what counting costs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use throng_bench::{Result, blow_up};

use crate::sweep::source;

/// A run of both programs: a name, rows, the method's section, what is asked for, and what only the newer program is told: keys of the
/// method, then other sections.
struct Case {
    name: &'static str,
    rows: usize,
    method: &'static str,
    privacy: &'static str,
    newer: &'static str,
}

/// Fast methods had an estimate of the lower bound and still have one; others have a proof by now, which is left out.
const NO_PROOF: &str = "[report]\nbound = { passes = 0 }\n";
const COUNTED: &str = "columns passed through";

const CASES: &[Case] = &[
    case("sweep: mondrian", 1_000_000, "name = \"mondrian\"", "k = 50", ""),
    case("sweep: hilbert", 1_000_000, "name = \"hilbert\"", "k = 50", ""),
    case("sweep: hilbert-fast", 1_000_000, "name = \"hilbert-fast\"", "k = 50", ""),
    case("peel", 30_000, "name = \"peel\"", "k = 10", "search = 0\n"),
    case("peel, large", 300_000, "name = \"peel\"", "k = 10", "search = 0\n"),
    case("line: idistance", 300_000, "name = \"idistance\"", "k = 10", "points = 512\n"),
    case("line: accuracy", 100_000, "name = \"accuracy\"", "max_loss = 1.0", "tries = \"one\"\n"),
    case("local recoding: top-down", 30_000, "name = \"top-down\"", "k = 10", ""),
    case("local recoding: bottom-up", 30_000, "name = \"bottom-up\"", "k = 10", AS_IN_THE_PAPER),
    case("strings: rv-global", 30_000, "name = \"rv-global\"", "k = 10\nsuppress = 0.05", ""),
    case("strings: rv-cluster", 5_000, "name = \"rv-cluster\"", "k = 5", ""),
    case("refine", 300_000, "name = \"refine\"", "k = 50", "children = \"all\"\n"),
    case(COUNTED, 1_000_000, "name = \"mondrian\"", "k = 50", ""),
];

const AS_IN_THE_PAPER: &str = "merge = \"union\"\nfinish = \"nothing\"\n";

const fn case(
    name: &'static str,
    rows: usize,
    method: &'static str,
    privacy: &'static str,
    newer: &'static str,
) -> Case {
    Case { name, rows, method, privacy, newer }
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
        let policies = [("older.toml", false), ("newer.toml", true)].map(|(name, is_newer)| {
            let policy = folder.path().join(name);
            std::fs::write(&policy, policy_of(case, is_newer)).map(|()| policy)
        });
        let [of_older, of_newer] = policies;
        let programs = [(older, of_older?), (newer, of_newer?)];
        let mut fastest = [Value::Null, Value::Null];
        for _ in 0..repeat {
            for ((program, policy), fastest) in programs.iter().zip(&mut fastest) {
                let told = seconds(program, &data, policy, threads)?;
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

fn policy_of(case: &Case, is_newer: bool) -> String {
    let hierarchies = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/hierarchies"));
    let mut text = format!("[privacy]\n{}\n[method]\n{}\nseed = 7\n", case.privacy, case.method);
    if is_newer {
        text += case.newer;
        text += if case.rows < 1_000_000 { NO_PROOF } else { "" };
    }
    text += "[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n";
    for name in ["workclass", "education", "marital-status", "race", "sex", "native-country"] {
        text += &with_hierarchy(&hierarchies, name);
    }
    text += &match case.privacy.starts_with("max_loss") {
        // The most privacy within a limit on the loss: l of a sensitive attribute.
        true => with_role("occupation", "sensitive"),
        false => with_hierarchy(&hierarchies, "occupation"),
    };
    let other = if case.name == COUNTED { "other" } else { "identifier" };
    for name in ["fnlwgt", "education-num", "relationship", "capital-gain", "capital-loss", "hours-per-week"]
    {
        text += &with_role(name, if name == "fnlwgt" { "identifier" } else { other });
    }
    text + &with_role("salary-class", "class")
}

fn with_hierarchy(folder: &Path, name: &str) -> String {
    let file = folder.join(name).with_extension("csv");
    format!("[attribute.{name}]\nrole = \"quasi\"\nhierarchy = '{}'\n", file.display())
}

fn with_role(name: &str, role: &str) -> String {
    format!("[attribute.{name}]\nrole = \"{role}\"\n")
}
