//! The loss: against seconds, against an older program, on tasks drawn at random, with records left out, under t; and whether limits
//! on the time are kept.

use std::time::Instant;

use throng::bound::{Effort, lower_bound};
use throng::plan::target;
use throng::run::{self, Anonymize};
use throng::watch::Unwatched;
use throng_bench::{Result, cpu_seconds};

use super::tables::{ADULT, Cells, KDD, Task, random, shared};
use super::{Setting, Sheet, large};
use crate::tasks;

/// k, and the GCP that is asked for in one and in ten seconds.
const ASKED: [(usize, f64, f64); 5] = [
    (5, 0.0443, 0.0432),
    (10, 0.0693, 0.0685),
    (25, 0.1078, 0.1070),
    (50, 0.1419, 0.1413),
    (100, 0.1813, 0.1811),
];
/// A limit on the time may be exceeded by a fifth and a second.
const OVER: (f64, f64) = (1.2, 1.0);
/// What is the same but for rounding.
const SAME: f64 = 1e-6;

/// GCP, seconds and CPU seconds of `auto`.
fn timed(task: &Task, seconds: Option<f64>) -> Result<(f64, f64, f64)> {
    let problem = task.problem()?;
    let method = seconds.map_or(String::new(), |seconds| format!("seconds = {seconds:.1}"));
    let (start, before) = (Instant::now(), cpu_seconds());
    let (gcp, _) = task.solved(&problem, &format!("name = \"auto\"\n{method}"))?;
    let used = cpu_seconds().zip(before).map_or(f64::NAN, |(after, before)| after - before);
    Ok((gcp, start.elapsed().as_secs_f64(), used))
}

pub fn against_seconds(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    say!("GCP on Adult, nine attributes: by default, with one second and with ten");
    let pool = setting.pool()?;
    for (k, one, ten) in ASKED {
        let task = Task::adult(k);
        if !setting.wants(&task.name) {
            continue;
        }
        for (seconds, asked) in [(None, one), (Some(1.0), one), (Some(10.0), ten)] {
            let (gcp, took, used) = pool.install(|| timed(&task, seconds))?;
            let given = seconds.map_or("default".to_owned(), |seconds| format!("{seconds} s"));
            let line = format!("{:<16}{given:>8}  {gcp:.5} in {took:.2} s, {used:.2} CPU s", task.name);
            sheet.at_most(&line, ("GCP", gcp), asked)?;
        }
    }
    Ok(())
}

pub fn against_older(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    let adult = || shared("adult.train.complete.csv.zst");
    let flat = |k: usize| Task::new(format!("flat adult k = {k}"), adult(), &format!("k = {k}"), &ADULT);
    let diverse = Task::census("l = 4").with_sensitive("Occupation");
    let tasks = [flat(5), flat(10), flat(50), diverse, Task::adult(5), Task::adult(50)];
    let pool = setting.pool()?;
    for task in tasks.iter().filter(|task| setting.wants(&task.name)) {
        let (gcp, took, used) = pool.install(|| timed(task, None))?;
        let line = format!("{:<24}{gcp:.5} in {took:.2} s, {used:.2} CPU s", task.name);
        match setting.older() {
            Some(older) => {
                let before = task.loss_of_program(older, "name = \"auto\"", setting.threads)?;
                sheet.at_most(&line, ("GCP, as before,", gcp), before + SAME)?;
            }
            None => say!("{line}   no older program to compare with"),
        }
    }
    Ok(())
}

/// `auto` against all grouping methods on ten tasks drawn at random.
pub fn drawn(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    let pool = setting.pool()?;
    for task in tasks::drawn(10, 1)?.iter().filter(|task| setting.wants(&task.name)) {
        let problem = task.problem()?;
        let solved = |method: &str| pool.install(|| task.solved(&problem, &format!("name = {method:?}")));
        let (own, _) = solved("auto")?;
        let mut others = Vec::new();
        for method in tasks::METHODS {
            others.push((method, solved(method)?.0));
        }
        let best = others.iter().min_by(|a, b| a.1.total_cmp(&b.1)).copied().unwrap_or(("none", own));
        let line = format!("{}\n   auto {own:.5}, best of all methods {} {:.5}", task.name, best.0, best.1);
        sheet.at_most(&line, ("GCP", own), best.1 + SAME)?;
        if let Some(older) = setting.older() {
            let before = task.loss_of_program(older, "name = \"auto\"", setting.threads)?;
            sheet.at_most(&format!("   auto {own:.5}, before {before:.5}"), ("GCP", own), before + SAME)?;
        }
    }
    Ok(())
}

pub fn left_out(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    say!(
        "GCP on Adult, nine attributes, where a share of the records may be left out: never more than without"
    );
    let pool = setting.pool()?;
    for k in [5, 10, 50] {
        let mut without = f64::INFINITY;
        for share in [0.0, 0.01, 0.05] {
            let mut task = Task::adult(k);
            task.privacy += &format!("\nsuppress = {share:.2}");
            let problem = task.problem()?;
            let (gcp, lost) = pool.install(|| task.solved(&problem, "name = \"auto\""))?;
            without = if share == 0.0 { gcp } else { without };
            let line = format!("{:<16}{:>4.0} %  {gcp:.5} without {lost} records", task.name, 100.0 * share);
            sheet.at_most(&line, ("GCP", gcp), without + SAME)?;
        }
    }
    Ok(())
}

/// t: what is lost and what is possible.
pub fn closeness(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    say!("t-closeness, k = 5: GCP of auto, mondrian and hilbert, and the bound of ten seconds");
    let pool = setting.pool()?;
    let census = |t: f64| Task::census(&format!("k = 5\nt = {t:.2}")).with_sensitive("Occupation");
    let adult = |t: f64| {
        let data = shared("adult.train.complete.csv.zst");
        Task::new(format!("adult, t = {t:.2} on occupation"), data, &format!("k = 5\nt = {t:.2}"), &WITHOUT)
            .with_hierarchies(shared("hierarchies/adult-arx"))
            .with_sensitive("occupation")
    };
    let tasks = [census(0.4), census(0.2), adult(0.4), adult(0.2)];
    for task in tasks.iter().filter(|task| setting.wants(&task.name)) {
        let problem = task.problem()?;
        let solved = |method: &str| pool.install(|| task.solved(&problem, &format!("name = {method:?}")));
        let before = cpu_seconds();
        let (own, _) = solved("auto")?;
        let used = cpu_seconds().zip(before).map_or(f64::NAN, |(after, before)| after - before);
        let (mondrian, hilbert) = (solved("mondrian")?.0, solved("hilbert")?.0);
        let proof = pool.install(|| lower_bound(&problem, Effort::Seconds(10.0), &Unwatched))?;
        let bound = proof.map_or(0.0, |proof| proof.bound.gcp);
        let line = format!(
            "{:<32}auto {own:.4} ({used:.1} CPU s), mondrian {mondrian:.4}, hilbert {hilbert:.4}, bound {bound:.4}: at most {:.1} % \
             could be saved",
            task.name,
            100.0 * (own - bound) / own
        );
        sheet.at_most(&line, ("GCP", own), mondrian.min(hilbert))?;
    }
    Ok(())
}

const WITHOUT: [&str; 8] =
    ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"];

/// Whether `seconds` are kept.
pub fn budget(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let kdd = shared("census-income-kdd.train.csv.zst");
    let cases = [
        Task::new("kdd, 20 attributes", kdd, "k = 5", &KDD),
        Task::census("k = 10"),
        Task::census("l = 3").with_sensitive("Occupation"),
        Task::census("k = 5\nt = 0.4").with_sensitive("Occupation"),
        random(folder.path(), 5, 100_000, Cells::Floats, 5)?,
        random(folder.path(), 60, 1_000, Cells::Flat, 5)?,
        random(folder.path(), 30, 100_000, Cells::Flat, 5)?,
    ];
    let pool = setting.pool()?;
    for task in cases.iter().filter(|task| setting.wants(&task.name)) {
        let problem = task.problem()?;
        for seconds in [1.0, 4.0, 10.0] {
            let policy = task.policy(&format!("name = \"auto\"\nseconds = {seconds:.1}"))?;
            let (start, before) = (Instant::now(), cpu_seconds());
            let solution = pool.install(|| run::solve(&problem, &policy, &Unwatched))?;
            let took = start.elapsed().as_secs_f64();
            let used = cpu_seconds().zip(before).map_or(f64::NAN, |(after, before)| after - before);
            let gcp = target::gcp(&problem, &solution);
            let line =
                format!("{:<26}{seconds:>5} s: took {took:.2} s, {used:.2} CPU s, GCP {gcp:.5}", task.name);
            sheet.at_most(&line, ("seconds", took), OVER.0 * seconds + OVER.1)?;
        }
    }
    say!("the same for method and lower bound together, in whole runs");
    let kdd = &cases[0];
    whole_runs(kdd, &[4.0, 10.0], setting, sheet)?;
    for rows in [1_000_000, 4_000_000].into_iter().filter(|rows| *rows <= setting.most) {
        whole_runs(&large::task(folder.path(), rows)?, &[5.0, 20.0, 80.0], setting, sheet)?;
    }
    Ok(())
}

/// Whether `--seconds` is kept; reading, encoding and writing are not part of it.
fn whole_runs(task: &Task, all: &[f64], setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    if !setting.wants(&task.name) {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let pool = setting.pool()?;
    for &seconds in all {
        let mut run = Anonymize::new(&task.data, folder.path().join("release.csv"), task.policy("")?);
        run.seconds = Some(seconds);
        let report = pool.install(|| run.run(&Unwatched))?;
        let took = report.seconds["anonymize"] + report.seconds["audit"];
        let bound = report.measures.lower_bound.as_ref();
        let (bound, how) =
            bound.map_or((0.0, "no"), |own| (own.gcp, if own.proved { "proved" } else { "estimated" }));
        let gcp = report.measures.gcp;
        let line = format!(
            "{:<26}{seconds:>5} s: took {took:.2} s, GCP {gcp:.5}, {how} bound {bound:.5}",
            task.name
        );
        sheet.at_most(&line, ("seconds", took), OVER.0 * seconds + OVER.1)?;
    }
    Ok(())
}
