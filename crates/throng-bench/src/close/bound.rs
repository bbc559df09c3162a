//! How close to possible: loss, proved lower bound and gap, against seconds, on the tables at hand.
//!
//! Seconds are those of the clock, which is what a bound is given; beside them those of the processor, which is what to compare on a busy
//! machine. Of a table, the bound of the usual effort comes first.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::bound::{Effort, lower_bound};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::{Result, cpu_seconds, loss};

use crate::sweep::repository;

const NINE: [&str; 9] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary-class",
];
const MIXED: [&str; 9] = [
    "age",
    "education-num",
    "capital-gain",
    "hours-per-week",
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
];
const CENSUS: [&str; 7] = ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country"];
const NUMBERS: [&str; 5] = ["age", "Age", "education-num", "capital-gain", "hours-per-week"];

/// A table with attributes and a requirement; the seconds that its bound is looked for.
struct Task {
    name: String,
    data: std::path::PathBuf,
    policy: Policy,
    seconds: Vec<f64>,
}

/// Runs the tasks whose name begins with `only`.
pub fn run(only: &str, threads: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let folder = tempfile::tempdir()?;
    let tasks = tasks(folder.path())?;
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
    let chosen = tasks.iter().filter(|task| task.name.starts_with(only));
    pool.install(|| chosen.into_iter().try_for_each(measure))
}

fn measure(task: &Task) -> Result<()> {
    let problem = Problem::new(&run::read(&task.data, &task.policy, &Unwatched)?, &task.policy)?;
    let solution = run::solve(&problem, &task.policy.clone().with_method("peel")?, &Unwatched)?;
    let loss = loss(&problem, &solution.partition);
    let timed = task.seconds.iter().map(|seconds| Effort::Seconds(*seconds));
    for effort in [Effort::Usual].into_iter().chain(timed) {
        let (start, before) = (Instant::now(), cpu_seconds());
        let Some(proof) = lower_bound(&problem, effort, &Unwatched)? else { continue };
        let (seconds, gcp) = (start.elapsed().as_secs_f64(), proof.bound.gcp);
        let used = cpu_seconds().zip(before).map_or(f64::NAN, |(after, before)| after - before);
        say!(
            "{:<28}{:>9}{loss:>9.5}{seconds:>10.2}{used:>8.1}{gcp:>10.5}{:>7.1} %{:>7.1} %{}",
            task.name,
            problem.len(),
            100.0 * gcp / loss,
            100.0 * (loss - gcp) / loss,
            if proof.bound.proved { "" } else { "  estimated" }
        );
    }
    Ok(())
}

fn tasks(folder: &Path) -> Result<Vec<Task>> {
    let shared = repository().join("../shared/data");
    let mut tasks = Vec::new();
    let mut add = |name: String, data: &Path, text: &str, seconds: &[f64]| -> Result<()> {
        let policy = Policy::parse(text, None)?;
        tasks.push(Task { name, data: data.to_owned(), policy, seconds: seconds.to_vec() });
        Ok(())
    };
    if shared.exists() {
        let (adult, trees) =
            (shared.join("adult.train.complete.csv.zst"), shared.join("hierarchies/adult-arx"));
        for k in [5, 10, 25, 50, 100] {
            let text = policy(&format!("k = {k}"), &NINE, &trees, "");
            add(format!("adult k = {k}"), &adult, &text, &[3.0, 10.0])?;
        }
        let text = policy("k = 5", &MIXED, &trees, "");
        add("four numbers k = 5".to_owned(), &adult, &text, &[15.0])?;
        let (census, trees) = (shared.join("census9-like.csv.zst"), shared.join("hierarchies/census9-like"));
        for k in [5, 10, 25, 50, 100] {
            add(
                format!("census9-like k = {k}"),
                &census,
                &policy(&format!("k = {k}"), &CENSUS, &trees, ""),
                &[10.0],
            )?;
        }
        let secret = "[attribute.Occupation]\nrole = \"sensitive\"\n";
        add(
            "census9-like l = 4".to_owned(),
            &census,
            &policy("l = 4", &CENSUS, &trees, secret),
            &[12.0, 120.0],
        )?;
    }
    let (wide, floats) = (folder.join("wide.csv"), folder.join("floats.csv"));
    let wide_names: Vec<String> = (0..60).map(|at| format!("a{at}")).collect();
    std::fs::write(
        &wide,
        table(&wide_names, 1_000, |random, at| format!("v{}", random.random_range(0..2 + at % 5))),
    )?;
    let float_names: Vec<String> = (0..5).map(|at| format!("x{at}")).collect();
    // The sum of twelve draws is nearly normal.
    let normal = |random: &mut ChaCha8Rng| (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0;
    std::fs::write(&floats, table(&float_names, 5_000, |random, _| format!("{:.9}", normal(random))))?;
    let nowhere = Path::new("");
    let names = |names: &[String]| names.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    for (name, data, columns, seconds) in [
        ("1,000 x 60", &wide, names(&wide_names), 8.0),
        ("5,000 x 5 floats", &floats, names(&float_names), 10.0),
    ] {
        let columns: Vec<&str> = columns.split(' ').collect();
        for k in [5, 10] {
            add(
                format!("{name} k = {k}"),
                data,
                &policy(&format!("k = {k}"), &columns, nowhere, ""),
                &[seconds],
            )?;
        }
    }
    Ok(tasks)
}

fn table(names: &[String], rows: usize, cell: impl Fn(&mut ChaCha8Rng, usize) -> String) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut text = names.join(",") + "\n";
    for _ in 0..rows {
        let cells: Vec<String> = (0..names.len()).map(|at| cell(&mut random, at)).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

fn policy(privacy: &str, columns: &[&str], hierarchies: &Path, more: &str) -> String {
    let mut text = format!("[data]\nunlisted = \"drop\"\n[privacy]\n{privacy}\n[method]\nseed = 1\n{more}");
    for column in columns {
        let file = hierarchies.join(format!("{column}.csv"));
        let kind =
            if NUMBERS.contains(column) || column.starts_with('x') { "numeric" } else { "categorical" };
        let _ = write!(text, "[attribute.\"{column}\"]\nrole = \"quasi\"\nkind = \"{kind}\"\n");
        if kind == "categorical" && file.exists() {
            let _ = writeln!(text, "hierarchy = {:?}", file.display().to_string());
        }
    }
    text
}
