//! Bottom-up and top-down against mondrian, against a plain scan, and over N; ratios of one run.

use std::time::Instant;

use throng::method::Method;
use throng::method::bottom_up::{self, BottomUp};
use throng::method::local::halves::Join;
use throng::method::local::pieces::Split;
use throng::method::mondrian::{Categories, Cut, Mondrian, Ties};
use throng::method::top_down::{self, TopDown};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::{Result, blow_up};

use crate::sweep;

const K: usize = 10;

/// Measures the anonymize step alone, fastest of several, on as many threads as asked for.
pub fn measure(threads: usize, repeat: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| measure_here(repeat.max(1)))
}

fn measure_here(repeat: usize) -> Result<()> {
    let indexed = BottomUp {
        merge: bottom_up::Merge::Growth,
        split: Split::Seeds,
        rounds: 3,
        search: bottom_up::Search::Index,
    };
    let scanning = BottomUp { search: bottom_up::Search::Scan, ..indexed };
    let top_down = TopDown { rounds: 3, join: Join::Loss, search: top_down::Search::Index };
    let mondrian = Mondrian { cut: Cut::Strict, ties: Ties::LeastEven, categories: Categories::Hierarchy };
    let adult = load(&sweep::source(), None)?;
    say!("{} records, k = {K}, fastest of {repeat}", adult.len());
    // In turns, so that a busy machine slows all of them.
    let methods: [&dyn Method; 3] = [&mondrian, &top_down, &indexed];
    let mut best = [f64::INFINITY; 3];
    for _ in 0..repeat {
        for (method, best) in methods.iter().zip(&mut best) {
            *best = best.min(seconds(*method, &adult)?);
        }
    }
    let [mondrian_seconds, top_down_seconds, bottom_up_seconds] = best;
    let scan_seconds = seconds(&scanning, &adult)?;
    say!("mondrian            {mondrian_seconds:>9.4} s");
    say!(
        "top-down            {top_down_seconds:>9.4} s {:>7.1}x mondrian",
        top_down_seconds / mondrian_seconds
    );
    say!(
        "bottom-up           {bottom_up_seconds:>9.4} s {:>7.1}x mondrian",
        bottom_up_seconds / mondrian_seconds
    );
    say!("bottom-up, scanning {scan_seconds:>9.4} s {:>7.1}x bottom-up", scan_seconds / bottom_up_seconds);
    let few = load(&sweep::source(), Some(30_000))?;
    let many = load(&sweep::source(), Some(300_000))?;
    for (name, method) in [("mondrian", methods[0]), ("top-down", methods[1]), ("bottom-up", methods[2])] {
        let fastest = |problem: &Problem| -> Result<f64> {
            (0..repeat.min(3)).try_fold(f64::INFINITY, |best: f64, _| Ok(best.min(seconds(method, problem)?)))
        };
        let (small, large) = (fastest(&few)?, fastest(&many)?);
        say!("{name:<10} 30,000 → 300,000 records: {small:.4} s → {large:.4} s, {:.1}x", large / small);
    }
    Ok(())
}

fn seconds(method: &dyn Method, problem: &Problem) -> Result<f64> {
    let start = Instant::now();
    std::hint::black_box(method.solve(problem, &Unwatched)?);
    Ok(start.elapsed().as_secs_f64())
}

/// The source as it is, or blown up to so many rows.
fn load(source: &std::path::Path, rows: Option<usize>) -> Result<Problem> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("table.csv");
    let data = match rows {
        None => source.to_owned(),
        Some(rows) => {
            blow_up(source, rows, &data, 0.2, 1)?;
            data
        }
    };
    let policy = Policy::load(&sweep::repository().join("data/benchmark.toml"))?.with_k(K)?;
    Ok(Problem::new(&run::read(&data, &policy, &Unwatched)?, &policy)?)
}
