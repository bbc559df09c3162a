//! Refinement at scale: its time against that of reading the same CSV, its growth with N, and several
//! quasi-identifiers. Tables are Adult blown up as in Fung et al. 2007, all 14 attributes, k = 50.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use throng::method::refine::{Outcome, Refine};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::watch::Unwatched;
use throng_bench::{Result, vary};

use crate::sweep::{repository, source};

const ATTRIBUTES: [(&str, bool); 14] = [
    ("age", true),
    ("workclass", false),
    ("fnlwgt", true),
    ("education", false),
    ("education-num", true),
    ("marital-status", false),
    ("occupation", false),
    ("relationship", false),
    ("race", false),
    ("sex", false),
    ("capital-gain", true),
    ("capital-loss", true),
    ("hours-per-week", true),
    ("native-country", false),
];

macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write;
        writeln!(std::io::stdout(), $($part)*)?
    }};
}

/// A policy over all attributes; hierarchies are those bundled with the project, others have none.
fn policy(privacy: &str) -> Result<Policy> {
    let mut text = format!(
        "[privacy]\n{privacy}\n[method]\nname = \"refine\"\n[attribute.salary-class]\nrole = \"class\"\n"
    );
    for (name, numeric) in ATTRIBUTES {
        let kind = if numeric { "numeric" } else { "categorical" };
        write!(text, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"{kind}\"\n")?;
        let hierarchy = repository().join(format!("data/hierarchies/{name}.csv"));
        if !numeric && hierarchy.exists() {
            writeln!(text, "hierarchy = {:?}", hierarchy.display().to_string())?;
        }
    }
    Ok(Policy::parse(&text, None)?)
}

/// So many quasi-identifiers of seven attributes each, every one shifted against the one before.
fn several(count: usize) -> String {
    let one = |nth: usize| {
        let names: Vec<&str> = (0..7).map(|at| ATTRIBUTES[(nth * 3 + at) % 14].0).collect();
        format!("{{ attributes = {names:?}, k = 50 }}")
    };
    format!("quasi_identifiers = [{}]", (0..count).map(one).collect::<Vec<_>>().join(", "))
}

struct Times {
    read: f64,
    refine: f64,
    outcome: Outcome,
}

/// The fastest of several runs of each stage.
fn measure(data: &Path, policy: &Policy, repeat: usize) -> Result<Times> {
    let mut best: Option<Times> = None;
    for _ in 0..repeat.max(1) {
        let start = Instant::now();
        let table = throng::run::read(data, policy, &Unwatched)?;
        let read = start.elapsed().as_secs_f64();
        let problem = Problem::new(&table, policy)?;
        let start = Instant::now();
        let outcome = Refine::default().search(&problem, &Unwatched)?;
        let refine = start.elapsed().as_secs_f64();
        best = Some(match best {
            None => Times { read, refine, outcome },
            Some(before) => Times { read: read.min(before.read), refine: refine.min(before.refine), outcome },
        });
    }
    best.ok_or_else(|| "nothing was measured".into())
}

/// Runs the benchmark.
pub fn run(most: usize, threads: usize, repeat: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("table.csv");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    say!("source {}, all 14 attributes, k = 50, {threads} threads, fastest of {repeat}", source().display());
    say!(
        "{:>9}  {:<28}{:>8}{:>9}{:>8}{:>8}{:>8}{:>8}",
        "rows",
        "quasi-identifiers",
        "read",
        "refine",
        "/read",
        "growth",
        "steps",
        "leaves"
    );
    let mut before: Option<f64> = None;
    let mut rows = 100_000.min(most);
    while rows <= most {
        vary(&source(), rows, &data, ATTRIBUTES.len(), 7)?;
        let mut single = None;
        let requirements = std::iter::once(("one of 14".to_owned(), "k = 50".to_owned()))
            .chain([1, 2, 4, 8].map(|count| (format!("{count} of 7"), several(count))));
        for (name, privacy) in requirements {
            let policy = policy(&privacy)?;
            let times = pool.install(|| measure(&data, &policy, repeat))?;
            let growth = match (&single, before) {
                (None, Some(before)) => format!("{:.1}", times.refine / before),
                _ => String::new(),
            };
            say!(
                "{rows:>9}  {name:<28}{:>8.3}{:>9.3}{:>8.2}{growth:>8}{:>8}{:>8}",
                times.read,
                times.refine,
                times.refine / times.read,
                times.outcome.trace.len(),
                times.outcome.partition.len()
            );
            single.get_or_insert(times.refine);
        }
        before = single;
        rows *= 10;
    }
    Ok(())
}
