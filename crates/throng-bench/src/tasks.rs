//! Tasks drawn at random, some attributes of a real table and some k, and `auto` and `peel` against the other grouping methods on
//! them.

use rand::seq::{IndexedRandom, index};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng_bench::Result;

use crate::close::{Task, columns, shared};

/// Tables, the folder of their hierarchies, and the columns that are never quasi-identifiers.
const TABLES: [(&str, &str, &[&str]); 5] = [
    ("adult.train.complete", "adult-arx-full", &["fnlwgt"]),
    ("census9-like", "census9-like", &[]),
    ("fars.subset", "fars.subset", &[]),
    ("cmc", "cmc", &[]),
    ("nursery", "", &[]),
];

/// The grouping methods that `auto` is compared with.
pub const METHODS: [&str; 8] =
    ["peel", "mondrian", "mondrian-relaxed", "hilbert", "hilbert-fast", "idistance", "top-down", "bottom-up"];

/// Draws so many tasks.
pub fn drawn(count: usize, seed: u64) -> Result<Vec<Task>> {
    if !shared("").exists() {
        return Err(format!("the tables are not at hand: {} does not exist", shared("").display()).into());
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut tasks = Vec::new();
    for at in 1..=count {
        let (name, hierarchies, left_out) = TABLES.choose(&mut random).copied().unwrap_or(TABLES[0]);
        let data = shared(&format!("{name}.csv.zst"));
        let mut columns = columns(&data)?;
        columns.retain(|column| !left_out.contains(&column.as_str()));
        let count = random.random_range(3..=columns.len().min(10));
        let mut chosen = index::sample(&mut random, columns.len(), count).into_vec();
        chosen.sort_unstable();
        let chosen: Vec<&str> = chosen.into_iter().map(|at| columns[at].as_str()).collect();
        let k = random.random_range(2..=100usize);
        let told = format!("{at}. {name}, k = {k}: {}", chosen.join(", "));
        let task = Task::new(told, data, &format!("k = {k}"), &chosen);
        tasks.push(match hierarchies {
            "" => task,
            folder => task.with_hierarchies(shared("hierarchies").join(folder)),
        });
    }
    Ok(tasks)
}

/// Runs so many tasks.
pub fn run(count: usize, seed: u64, threads: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| compare(count, seed))
}

fn compare(count: usize, seed: u64) -> Result<()> {
    let mut worse = 0;
    for task in drawn(count, seed)? {
        say!("{}", task.name);
        let problem = task.problem()?;
        let solved =
            |method: &str| -> Result<f64> { Ok(task.solved(&problem, &format!("name = {method:?}"))?.0) };
        let own = solved("auto")?;
        let others =
            METHODS.iter().map(|method| Ok((*method, solved(method)?))).collect::<Result<Vec<_>>>()?;
        let told: Vec<String> = others.iter().map(|(method, loss)| format!("{method} {loss:.4}")).collect();
        say!("   auto {own:.4}  {}", told.join("  "));
        if let Some((method, best)) = others.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
            let share = 100.0 * (own / best - 1.0);
            worse += usize::from(own > best + 1e-9);
            say!("   auto is {share:+.1} % of the best of all methods, {method}");
        }
    }
    say!("auto is worse than the best of all methods in {worse} of {count} tasks");
    Ok(())
}
