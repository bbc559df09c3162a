//! Peel against mondrian at several k, over N, and its memory. Ratios of one run.

use std::path::Path;
use std::time::Instant;

use throng::method::Method;
use throng::method::improve::ROUNDS;
use throng::method::mondrian::{Categories, Cut, Mondrian, Ties};
use throng::method::peel::{EFFORT, Peel};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::{Result, blow_up, loss, peak_memory};

use crate::sweep;

const PEEL: Peel = Peel { rounds: ROUNDS, search: None, effort: EFFORT, seconds: None, blind: false };

/// Measures the anonymize step alone, fastest of several, on as many threads as asked for.
pub fn measure(most: usize, threads: usize, repeat: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| measure_here(most, repeat.max(1)))
}

fn measure_here(most: usize, repeat: usize) -> Result<()> {
    let mondrian = Mondrian { cut: Cut::Strict, ties: Ties::LeastEven, categories: Categories::Hierarchy };
    // Nine quasi-identifiers: the eight of the other benchmarks, and the salary class.
    let path = sweep::repository().join("data/benchmark.toml");
    let text = std::fs::read_to_string(&path)? + "[attribute.salary-class]\nrole = \"quasi\"\n";
    let policy = Policy::parse(&text, Some(&path))?;
    let source = sweep::source();
    let table = run::read(&source, &policy, &Unwatched)?;
    say!("{} records, fastest of {repeat}", table.len());
    say!("{:>5}{:>12}{:>10}{:>8}{:>12}{:>10}", "k", "mondrian", "peel", "times", "mondrian", "peel");
    for k in [5, 10, 25, 50, 100] {
        let problem = Problem::new(&table, &policy.clone().with_k(k)?)?;
        // In turns, so that a busy machine slows both.
        let (mut plain, mut best) = (f64::INFINITY, f64::INFINITY);
        let mut losses = (0.0, 0.0);
        for _ in 0..repeat {
            let (seconds, loss) = solve(&mondrian, &problem)?;
            (plain, losses.0) = (plain.min(seconds), loss);
            let (seconds, loss) = solve(&PEEL, &problem)?;
            (best, losses.1) = (best.min(seconds), loss);
        }
        let times = best / plain;
        say!("{k:>5}{plain:>10.4} s{best:>8.3} s{times:>8.1}{:>12.4}{:>10.4}", losses.0, losses.1);
    }
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("table.csv");
    let mut before: Option<f64> = None;
    let mut rows = 10_000;
    while rows <= most.min(1_000_000) {
        let seconds = blown_up(&source, rows, &data, &policy)?;
        let growth = before.map_or(String::new(), |before| format!("{:>7.1}x", seconds / before));
        say!(
            "{rows:>9} rows, k = 50 {seconds:>9.3} s{growth}   peak {:>6} MiB",
            peak_memory().unwrap_or(0) >> 20
        );
        before = Some(seconds);
        rows *= 10;
    }
    Ok(())
}

fn blown_up(source: &Path, rows: usize, data: &Path, policy: &Policy) -> Result<f64> {
    blow_up(source, rows, data, 0.2, 1)?;
    let policy = policy.clone().with_k(50)?;
    let problem = Problem::new(&run::read(data, &policy, &Unwatched)?, &policy)?;
    Ok(solve(&PEEL, &problem)?.0)
}

/// Seconds, and the loss.
fn solve(method: &dyn Method, problem: &Problem) -> Result<(f64, f64)> {
    let start = Instant::now();
    let solution = method.solve(problem, &Unwatched)?;
    Ok((start.elapsed().as_secs_f64(), loss(problem, &solution.partition)))
}
