//! Methods along a line, in one process: ratios against Mondrian, of l to k, over N, and over the number of sensitive
//! values. Seconds are those of the method alone, the fastest of several runs.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::{Result, blow_up};

use crate::sweep::repository;

const QUASI: [&str; 7] = ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country"];

/// A table on disk, read under one policy after the other.
struct Bench {
    data: PathBuf,
    repeat: usize,
}

/// Runs all of it.
pub fn run(most: usize, threads: usize, repeat: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| compare(most, repeat))
}

fn compare(most: usize, repeat: usize) -> Result<()> {
    let source = shared().join("census9-like.csv.zst");
    let folder = tempfile::tempdir()?;
    let runs = [
        ("mondrian k = 50", "name = \"mondrian\"", "k = 50", "Occupation"),
        ("hilbert-fast k = 50", "name = \"hilbert-fast\"", "k = 50", "Occupation"),
        ("hilbert k = 50", "name = \"hilbert\"", "k = 50", "Occupation"),
        ("hilbert k = 10", "name = \"hilbert\"", "k = 10", "Occupation"),
        ("hilbert l = 10", "name = \"hilbert\"", "l = 10", "Occupation"),
        ("hilbert l = 5, m = 50", "name = \"hilbert\"", "l = 5", "s50"),
        ("hilbert l = 5, m = 5,000", "name = \"hilbert\"", "l = 5", "s5000"),
        // The largest k: within so little loss some classes have one sensitive value, which is refused where l is looked for.
        ("accuracy E = 0.3, k", "name = \"accuracy\"\nmaximise = \"k\"", "max_loss = 0.3", "Occupation"),
    ];
    let mut before: Vec<Option<f64>> = vec![None; runs.len()];
    let mut rows = 100_000;
    while rows <= most {
        let plain = folder.path().join("plain.csv");
        blow_up(&source, rows, &plain, 0.2, 1)?;
        let data = folder.path().join("table.csv");
        with_values(&plain, &data)?;
        std::fs::remove_file(&plain)?;
        let bench = Bench { data, repeat };
        say!("{rows} rows x {} quasi-identifiers", QUASI.len());
        let mut seconds = Vec::new();
        for ((name, method, privacy, sensitive), before) in runs.iter().zip(&mut before) {
            let time = bench.fastest(method, privacy, sensitive)?;
            let growth = before.map_or(String::new(), |before| format!("{:>6.1}x", time / before));
            say!("  {name:<26}{time:>9.3} s{growth}");
            *before = Some(time);
            seconds.push(time);
        }
        say!("  hilbert-fast / mondrian      {:>6.2}", seconds[1] / seconds[0]);
        say!("  l = 10 / k = 10              {:>6.2}", seconds[4] / seconds[3]);
        say!("  m = 5,000 / m = 50           {:>6.2}", seconds[6] / seconds[5]);
        rows *= 10;
    }
    Ok(())
}

impl Bench {
    fn fastest(&self, method: &str, privacy: &str, sensitive: &str) -> Result<f64> {
        let mut text = format!("[privacy]\n{privacy}\n[method]\n{method}\nseed = 1\n");
        text += &format!("[attribute.{sensitive}]\nrole = \"sensitive\"\n");
        for name in QUASI {
            text += &format!("[attribute.{name}]\nrole = \"quasi\"\n");
            text += &match name {
                "Age" => "kind = \"numeric\"\n".to_owned(),
                name => {
                    let path = shared().join(format!("hierarchies/census9-like/{name}.csv"));
                    format!("hierarchy = {:?}\n", path.display().to_string())
                }
            };
        }
        let policy = Policy::parse(&text, None)?;
        let table = run::read(&self.data, &policy, &Unwatched)?;
        let problem = Problem::new(&table, &policy)?;
        let mut best = f64::INFINITY;
        for _ in 0..self.repeat.max(1) {
            // A copy knows of no line yet, so every run begins with the mapping.
            let fresh = problem.clone();
            let start = Instant::now();
            run::solve(&fresh, &policy, &Unwatched)?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok(best)
    }
}

/// Adds columns of 50 and of 5,000 random values.
fn with_values(source: &Path, target: &Path) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut output = BufWriter::with_capacity(1 << 20, std::fs::File::create(target)?);
    for (at, line) in BufReader::with_capacity(1 << 20, std::fs::File::open(source)?).lines().enumerate() {
        let line = line?;
        if at == 0 {
            writeln!(output, "{line},s50,s5000")?;
        } else {
            writeln!(output, "{line},v{},v{}", random.random_range(0..50), random.random_range(0..5000))?;
        }
    }
    Ok(output.flush()?)
}

fn shared() -> PathBuf {
    repository().join("../shared/data")
}
