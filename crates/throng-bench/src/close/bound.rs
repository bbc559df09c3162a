//! The bound: by default and with seconds, against the loss of `auto`; and whole runs with seconds, which method and bound share.

use std::time::Instant;

use throng::bound::{Effort, lower_bound};
use throng::run::Anonymize;
use throng::watch::Unwatched;
use throng_bench::{Result, cpu_seconds};

use super::tables::{ADULT, Cells, MIXED, Task, random, shared};
use super::{Setting, Sheet};

/// What is asked of a bound, as a share of the loss.
enum Asked {
    /// This share at most may be missing.
    Gap(f64),
    /// It is this share at least.
    Share(f64),
    Nothing,
}

/// Of the usual effort on Adult and census.
const BY_DEFAULT: Asked = Asked::Share(0.75);

struct Row {
    task: Task,
    by_default: Asked,
    seconds: f64,
    asked: Asked,
}

pub fn run(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    say!(
        "{:<28}{:>9}{:>9}{:>10}{:>8}{:>10}{:>9}{:>9}",
        "task",
        "records",
        "loss",
        "seconds",
        "CPU s",
        "bound",
        "of loss",
        "gap"
    );
    let folder = tempfile::tempdir()?;
    let pool = setting.pool()?;
    for row in rows(folder.path())?.iter().filter(|row| setting.wants(&row.task.name)) {
        pool.install(|| measure(row, sheet))?;
    }
    Ok(())
}

fn measure(row: &Row, sheet: &mut Sheet) -> Result<()> {
    let problem = row.task.problem()?;
    let (loss, _) = row.task.solved(&problem, "name = \"auto\"")?;
    for (effort, asked) in [(Effort::Usual, &row.by_default), (Effort::Seconds(row.seconds), &row.asked)] {
        let (start, before) = (Instant::now(), cpu_seconds());
        let Some(proof) = lower_bound(&problem, effort, &Unwatched)? else { continue };
        let (seconds, gcp) = (start.elapsed().as_secs_f64(), proof.bound.gcp);
        let used = cpu_seconds().zip(before).map_or(f64::NAN, |(after, before)| after - before);
        let (share, gap) = (gcp / loss, (loss - gcp) / loss);
        let line = format!(
            "{:<28}{:>9}{loss:>9.5}{seconds:>10.2}{used:>8.1}{gcp:>10.5}{:>7.1} %{:>7.1} %{}",
            row.task.name,
            problem.len(),
            100.0 * share,
            100.0 * gap,
            if proof.bound.proved { "" } else { "  estimated" }
        );
        tell(sheet, &line, asked, share)?;
    }
    Ok(())
}

fn tell(sheet: &mut Sheet, line: &str, asked: &Asked, share: f64) -> Result<()> {
    match asked {
        Asked::Gap(most) => sheet.at_most(line, ("gap", 1.0 - share), *most),
        Asked::Share(least) => sheet.at_least(line, ("share", share), *least),
        Asked::Nothing => {
            say!("{line}");
            Ok(())
        }
    }
}

/// k, and the gap that is asked for with ten seconds on Adult.
const ADULT_GAPS: [(usize, f64); 5] = [(5, 0.12), (10, 0.11), (25, 0.095), (50, 0.08), (100, 0.07)];

fn rows(folder: &std::path::Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut add = |task: Task, by_default: Asked, seconds: f64, asked: Asked| {
        rows.push(Row { task, by_default, seconds, asked });
    };
    if shared("").exists() {
        for (k, gap) in ADULT_GAPS {
            add(Task::adult(k), BY_DEFAULT, 10.0, Asked::Gap(gap));
        }
        for k in [5, 10, 25, 50, 100] {
            add(Task::census(&format!("k = {k}")), BY_DEFAULT, 10.0, Asked::Gap(0.13));
        }
        let mixed = Task::new("four numbers k = 5", shared("adult.train.complete.csv.zst"), "k = 5", &MIXED);
        let mixed = mixed.with_hierarchies(shared("hierarchies/adult-arx"));
        add(mixed, Asked::Nothing, 15.0, Asked::Share(0.79));
        let flat = Task::new("flat adult k = 5", shared("adult.train.complete.csv.zst"), "k = 5", &ADULT);
        add(flat, Asked::Nothing, 10.0, Asked::Nothing);
        let diverse = Task::census("l = 4").with_sensitive("Occupation");
        add(diverse, Asked::Nothing, 120.0, Asked::Share(0.5));
    }
    for (k, asked) in [(5, Asked::Share(0.7)), (10, Asked::Nothing)] {
        add(random(folder, 60, 1_000, Cells::Flat, k)?, Asked::Nothing, 8.0, asked);
    }
    for (k, asked) in [(5, Asked::Share(0.8)), (10, Asked::Nothing)] {
        add(random(folder, 5, 5_000, Cells::Floats, k)?, Asked::Nothing, 10.0, asked);
    }
    Ok(rows)
}

/// Whole runs of ten seconds: what comes out of sharing them.
pub fn whole_runs(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let pool = setting.pool()?;
    let adult = ADULT_GAPS.map(|(k, gap)| (Task::adult(k), gap));
    let census = [5, 50].map(|k| (Task::census(&format!("k = {k}")), 0.13));
    for (task, gap) in adult.into_iter().chain(census).filter(|(task, _)| setting.wants(&task.name)) {
        let mut run = Anonymize::new(&task.data, folder.path().join("release.csv"), task.policy("")?);
        run.seconds = Some(10.0);
        let before = cpu_seconds();
        let report = pool.install(|| run.run(&Unwatched))?;
        let used = cpu_seconds().zip(before).map_or(f64::NAN, |(after, before)| after - before);
        let Some(bound) = &report.measures.lower_bound else { continue };
        let (loss, bound) = (report.measures.gcp, bound.gcp);
        let line = format!(
            "{:<28}{loss:>9.5}{:>9.2} s{used:>8.1} CPU s, bound {bound:.5}, gap {:.1} %",
            task.name,
            report.seconds["total"],
            100.0 * (loss - bound) / loss
        );
        sheet.at_most(&line, ("gap", (loss - bound) / loss), gap)?;
    }
    Ok(())
}
