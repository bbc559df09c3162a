//! Refinement at scale: its time against that of reading the same CSV, its growth with N, and several
//! quasi-identifiers. Tables are Adult blown up as in Fung et al. 2007, all 14 attributes, k = 50.
//!
//! Several quasi-identifiers allow other refinements than one does, and more of them. So their time is compared with that of
//! one twice: for the whole search, and for one that ends after as many refinements as that for one makes.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use throng::method::refine::{Limits, Outcome, Refine};
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
    /// Of a search that ends after so many refinements as were asked for.
    begun: f64,
    outcome: Outcome,
}

/// The fastest of several runs of each stage; `most` refinements are made in those that end early.
fn measure(data: &Path, policy: &Policy, repeat: usize, most: Option<usize>) -> Result<Times> {
    let mut best: Option<Times> = None;
    for _ in 0..repeat.max(1) {
        let start = Instant::now();
        let table = throng::run::read(data, policy, &Unwatched)?;
        let read = start.elapsed().as_secs_f64();
        let problem = Problem::new(&table, policy)?;
        let (refine, outcome) = search(&problem, Refine::default())?;
        let limits = most.map(|most| Limits { iterations: most as u64, ..Limits::default() });
        let begun = match limits {
            None => refine,
            Some(limits) => search(&problem, Refine { limits, ..Refine::default() })?.0,
        };
        let before = best.map_or([f64::INFINITY; 3], |best| [best.read, best.refine, best.begun]);
        let [read, refine, begun] = [read.min(before[0]), refine.min(before[1]), begun.min(before[2])];
        best = Some(Times { read, refine, begun, outcome });
    }
    best.ok_or_else(|| "nothing was measured".into())
}

fn search(problem: &Problem, method: Refine) -> Result<(f64, Outcome)> {
    let start = Instant::now();
    let outcome = method.search(problem, &Unwatched)?;
    Ok((start.elapsed().as_secs_f64(), outcome))
}

/// Runs the benchmark.
pub fn run(most: usize, threads: usize, repeat: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("table.csv");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    say!("source {}, all 14 attributes, k = 50, {threads} threads, fastest of {repeat}", source().display());
    say!(
        "/one: against 1 of 7; begun: the same for a search that ends after as many refinements as that of 1 of 7 makes"
    );
    say!(
        "{:>9}  {:<18}{:>8}{:>9}{:>8}{:>8}{:>7}{:>7}{:>8}{:>9}",
        "rows",
        "quasi-identifiers",
        "read",
        "refine",
        "/read",
        "growth",
        "/one",
        "begun",
        "steps",
        "classes"
    );
    let mut before: Option<f64> = None;
    let mut rows = 100_000.min(most);
    while rows <= most {
        vary(&source(), rows, &data, ATTRIBUTES.len(), 7)?;
        let policy_of_all = policy("k = 50")?;
        let whole = pool.install(|| measure(&data, &policy_of_all, repeat, None))?;
        let growth = before.map(|before| format!("{:.1}", whole.refine / before)).unwrap_or_default();
        tell(rows, "one of 14", &whole, &growth, None)?;
        let mut one: Option<Times> = None;
        for count in [1, 2, 4, 8] {
            let policy = policy(&several(count))?;
            let steps = one.as_ref().map(|one| one.outcome.trace.len());
            let times = pool.install(|| measure(&data, &policy, repeat, steps))?;
            tell(rows, &format!("{count} of 7"), &times, "", one.as_ref())?;
            one.get_or_insert(times);
        }
        before = Some(whole.refine);
        rows *= 10;
    }
    Ok(())
}

/// One line, compared with the times of one quasi-identifier where there are any.
fn tell(rows: usize, name: &str, times: &Times, growth: &str, one: Option<&Times>) -> Result<()> {
    let against = |time: f64| one.map(|one| format!("{:.1}", time / one.refine)).unwrap_or_default();
    say!(
        "{rows:>9}  {name:<18}{:>8.3}{:>9.3}{:>8.2}{growth:>8}{:>7}{:>7}{:>8}{:>9}",
        times.read,
        times.refine,
        times.refine / times.read,
        against(times.refine),
        against(times.begun),
        times.outcome.trace.len(),
        times.outcome.partition.len()
    );
    Ok(())
}
