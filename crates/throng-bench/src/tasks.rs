//! Peel against the other grouping methods on tasks drawn at random: some attributes of a real table, some k.

use std::path::{Path, PathBuf};

use rand::seq::{IndexedRandom, index};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::{Result, loss};

use crate::sweep::repository;

/// Tables, the folder of their hierarchies, and the columns that are never quasi-identifiers.
const TABLES: [(&str, &str, &[&str]); 5] = [
    ("adult.train.complete", "adult-arx-full", &["fnlwgt"]),
    ("census9-like", "census9-like", &[]),
    ("fars.subset", "fars.subset", &[]),
    ("cmc", "cmc", &[]),
    ("nursery", "", &[]),
];

const METHODS: [&str; 8] =
    ["peel", "mondrian", "mondrian-relaxed", "hilbert", "hilbert-fast", "idistance", "top-down", "bottom-up"];

/// Runs so many tasks.
pub fn run(tasks: usize, seed: u64, threads: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| compare(tasks, seed))
}

fn compare(tasks: usize, seed: u64) -> Result<()> {
    let folder = repository().join("../shared/data");
    if !folder.exists() {
        return Err(format!("the tables are not at hand: {} does not exist", folder.display()).into());
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut worse = 0;
    for task in 1..=tasks {
        let (name, hierarchies, left_out) = TABLES.choose(&mut random).copied().unwrap_or(TABLES[0]);
        let data = folder.join(format!("{name}.csv.zst"));
        let mut columns = columns(&data)?;
        columns.retain(|column| !left_out.contains(&column.as_str()));
        let count = random.random_range(3..=columns.len().min(10));
        let mut chosen = index::sample(&mut random, columns.len(), count).into_vec();
        chosen.sort_unstable();
        let chosen: Vec<&str> = chosen.into_iter().map(|at| columns[at].as_str()).collect();
        let k = random.random_range(2..=100usize);
        say!("{task}. {name}, k = {k}: {}", chosen.join(", "));
        let text = policy(k, &chosen, &folder.join("hierarchies").join(hierarchies), !hierarchies.is_empty());
        let policy = Policy::parse(&text, None)?;
        let problem = Problem::new(&run::read(&data, &policy, &Unwatched)?, &policy)?;
        let mut losses = Vec::new();
        for method in METHODS {
            let solution = run::solve(&problem, &policy.clone().with_method(method)?, &Unwatched)?;
            losses.push((method, loss(&problem, &solution.partition)));
        }
        let told: Vec<String> = losses.iter().map(|(method, loss)| format!("{method} {loss:.4}")).collect();
        say!("   {}", told.join("  "));
        let best = losses[1..].iter().min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((method, best)) = best {
            let share = 100.0 * (losses[0].1 / best - 1.0);
            worse += usize::from(losses[0].1 > best + 1e-9);
            say!("   peel is {share:+.1} % of the best other method, {method}");
        }
    }
    say!("peel is worse than the best of the others in {worse} of {tasks} tasks");
    Ok(())
}

fn columns(data: &Path) -> Result<Vec<String>> {
    let reader = zstd::Decoder::new(std::fs::File::open(data)?)?;
    Ok(csv::Reader::from_reader(reader).headers()?.iter().map(str::to_owned).collect())
}

/// Numbers stay numbers; categories have the hierarchy of their file where there is one.
fn policy(k: usize, columns: &[&str], hierarchies: &Path, has_hierarchies: bool) -> String {
    let mut text = format!("[privacy]\nk = {k}\n[method]\nseed = 1\n");
    for column in columns {
        let file: PathBuf = hierarchies.join(format!("{column}.csv"));
        let number = ["age", "Age", "hours-per-week", "capital-gain", "capital-loss", "education-num"]
            .contains(column);
        text += &format!("[attribute.\"{column}\"]\nrole = \"quasi\"\n");
        if number {
            text += "kind = \"numeric\"\n";
        } else if has_hierarchies && file.exists() {
            text += &format!("hierarchy = {:?}\n", file.display().to_string());
        }
    }
    text
}
