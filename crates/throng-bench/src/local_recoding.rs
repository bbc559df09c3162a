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
        finish: bottom_up::Finish::Moves,
        rounds: 3,
        search: bottom_up::Search::Index,
    };
    // The paper's end, so that the searches are what differs.
    let merging = BottomUp { finish: bottom_up::Finish::Nothing, ..indexed };
    let scanning = BottomUp { search: bottom_up::Search::Scan, ..merging };
    let top_down = TopDown { rounds: 3, join: Join::Loss, search: top_down::Search::Index };
    let mondrian = Mondrian { cut: Cut::Strict, ties: Ties::LeastEven, categories: Categories::Hierarchy };
    let adult = load(&sweep::source(), None)?;
    say!("{} records, k = {K}, fastest of {repeat}", adult.len());
    // In turns, so that a busy machine slows all of them.
    let methods: [(&str, &dyn Method); 4] = [
        ("mondrian", &mondrian),
        ("top-down", &top_down),
        ("bottom-up", &indexed),
        ("bottom-up, no moves", &merging),
    ];
    let mut best = [f64::INFINITY; 4];
    for _ in 0..repeat {
        for ((_, method), best) in methods.iter().zip(&mut best) {
            *best = best.min(seconds(*method, &adult)?);
        }
    }
    for ((name, _), own) in methods.iter().zip(best) {
        say!("{name:<20}{own:>9.4} s {:>7.1}x mondrian", own / best[0]);
    }
    let scan = seconds(&scanning, &adult)?;
    say!("{:<20}{scan:>9.4} s {:>7.1}x the same with an index", "the same, scanning", scan / best[3]);
    let few = load(&sweep::source(), Some(30_000))?;
    let many = load(&sweep::source(), Some(300_000))?;
    for (name, method) in methods {
        let fastest = |problem: &Problem| -> Result<f64> {
            (0..repeat.min(3)).try_fold(f64::INFINITY, |best: f64, _| Ok(best.min(seconds(method, problem)?)))
        };
        let (small, large) = (fastest(&few)?, fastest(&many)?);
        say!("{name:<20} 30,000 → 300,000 records: {small:.4} s → {large:.4} s, {:.1}x", large / small);
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
