//! Large tables: census9-like blown up, nine attributes, k = 5.

use std::path::Path;

use throng_bench::{Result, blow_up};

use super::tables::{CENSUS, Task, shared};
use super::{Setting, Sheet};
use crate::sweep;

/// Of the better of mondrian and hilbert, `auto` may lose so much and take so many times as long.
const OF_THEIR_LOSS: f64 = 0.6;
const TIMES: f64 = 4.0;
const MOST_MEMORY: f64 = 6.0 * 1024.0;
/// Ten times the records may take so many times as long.
const GROWTH: f64 = 13.0;

/// The table with so many rows.
pub fn task(folder: &Path, rows: usize) -> Result<Task> {
    let data = folder.join("table.csv");
    blow_up(&shared("census9-like.csv.zst"), rows, &data, 0.2, 1)?;
    Ok(Task::new(format!("{rows} rows"), data, "k = 5", &CENSUS)
        .with_hierarchies(shared("hierarchies/census9-like")))
}

struct Measured {
    seconds: f64,
    cpu: f64,
    gcp: f64,
    memory: f64,
}

fn measured(task: &Task, method: (&str, &str), setting: &Setting, folder: &Path) -> Result<Measured> {
    let (policy, release) = (folder.join("policy.toml"), folder.join("release.csv"));
    let (name, options) = method;
    std::fs::write(&policy, task.text(&format!("name = {name:?}\n{options}"))?)?;
    let told = sweep::measured(&task.data, &policy, &release, name, 5, setting.threads)?;
    let of = |key: &str| told[key].as_f64().unwrap_or(f64::NAN);
    let memory = of("memory") / f64::from(1 << 20);
    Ok(Measured { seconds: of("total"), cpu: of("cpu"), gcp: of("gcp"), memory })
}

pub fn run(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for rows in [4_000_000, 10_000_000].into_iter().filter(|rows| *rows <= setting.most) {
        if !setting.wants(&format!("{rows} rows")) {
            continue;
        }
        let task = task(folder.path(), rows)?;
        let mut others = Vec::new();
        for name in ["mondrian", "hilbert"] {
            let own = measured(&task, (name, ""), setting, folder.path())?;
            say!(
                "{rows:>9} {name:<9}{:>8.1} s{:>8.1} CPU s{:>9.5}{:>7.0} MiB",
                own.seconds,
                own.cpu,
                own.gcp,
                own.memory
            );
            others.push(own);
        }
        let own = measured(&task, ("auto", ""), setting, folder.path())?;
        let line = format!(
            "{rows:>9} auto     {:>8.1} s{:>8.1} CPU s{:>9.5}{:>7.0} MiB",
            own.seconds, own.cpu, own.gcp, own.memory
        );
        let Some(better) = others.iter().min_by(|a, b| a.gcp.total_cmp(&b.gcp)) else { continue };
        sheet.at_most(&line, ("GCP", own.gcp), OF_THEIR_LOSS * better.gcp)?;
        sheet.at_most(&line, ("CPU s", own.cpu), TIMES * better.cpu)?;
        sheet.at_most(&line, ("MiB", own.memory), MOST_MEMORY)?;
    }
    Ok(())
}

/// Peel with one round of search over tables of ten times as many records each.
pub fn growth(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut before: Option<f64> = None;
    for rows in [100_000, 1_000_000, 10_000_000].into_iter().filter(|rows| *rows <= setting.most) {
        let task = task(folder.path(), rows)?;
        let own = measured(&task, ("peel", "search = 1\neffort = 300"), setting, folder.path())?;
        let line = format!(
            "{rows:>9} rows: {:.1} s, {:.1} CPU s, {:.5}, {:.0} MiB",
            own.seconds, own.cpu, own.gcp, own.memory
        );
        match before {
            None => say!("{line}"),
            Some(before) => sheet.at_most(&line, ("growth", own.cpu / before), GROWTH)?,
        }
        before = Some(own.cpu);
    }
    Ok(())
}
