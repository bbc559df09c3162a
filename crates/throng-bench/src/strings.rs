//! Research value at work: strings of the stand-in for death certificates, and clusters of Adult.

use std::collections::HashMap;
use std::io::Write;
use std::time::Instant;

use throng::method::Method;
use throng::method::cluster::{Cluster, Kind};
use throng::method::full_domain::goal::{Goal, Measure};
use throng::method::full_domain::lattice::Lattice;
use throng::method::full_domain::search::{Found, Known, Limits, Search};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::research::{Settings, level_values};
use throng::run;
use throng::watch::Unwatched;
use throng_bench::{Result, certificates, peak_memory};

use crate::sweep;

/// Strings that are counted by themselves, to extrapolate to all of them.
const SAMPLE: usize = 24;

/// Measures the search with proof, the search under a limit, and clustering.
pub fn run(k: usize, seconds: f64, cluster: bool) -> Result<()> {
    let mut out = std::io::stdout();
    proof(&mut out, k)?;
    limited(&mut out, k, seconds)?;
    if cluster { clusters(&mut out) } else { Ok(()) }
}

fn certificates_problem(attributes: usize, k: usize) -> Result<Problem> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("certificates.csv");
    certificates::write(attributes, certificates::RECORDS, 1, &data)?;
    let policy = Policy::parse(&certificates::policy(0..attributes, k, "name = \"rv-global\""), None)?;
    let table = run::read(&data, &policy, &Unwatched)?;
    Ok(Problem::new(&table, &policy)?)
}

fn search(problem: &Problem, seconds: Option<f64>) -> Result<(Found, f64, f64, usize)> {
    let start = Instant::now();
    let values = level_values(problem, &Settings::default())?;
    let lattice = Lattice::new(problem)?;
    let measure = Measure::new(Goal::ResearchValue, &lattice, &values);
    let limits = Limits { seconds, tests: None, cache: 256 << 20 };
    let found = Search::new(&lattice, &measure, limits, Known::default(), &Unwatched).run()?;
    Ok((found, start.elapsed().as_secs_f64(), lattice.strings(), lattice.rows()))
}

fn proof(out: &mut impl Write, k: usize) -> Result<()> {
    let problem = certificates_problem(24, k)?;
    let (found, seconds, strings, rows) = search(&problem, None)?;
    let best = found.best.as_ref().ok_or("no string is valid")?;
    writeln!(
        out,
        "24 attributes, {} records, k = {k}: {strings} strings after pruning, {rows} distinct rows",
        problem.len()
    )?;
    writeln!(
        out,
        "  rv-global: {seconds:.2} s, {} tests, {} nodes, research value {:.6}, proven: {}",
        found.tests, found.nodes, best.score, found.proven
    )?;
    let (hashed, refined) = one_by_one(&problem)?;
    let each = hashed.min(refined);
    writeln!(
        out,
        "  one group-by per string: {:.1} ms by hashing, {:.1} ms by refining (mean of {SAMPLE}), so {:.0} s for all \
         strings (extrapolated): {:.0} times as long",
        1e3 * hashed,
        1e3 * refined,
        each * strings,
        each * strings / seconds
    )?;
    Ok(())
}

/// Seconds of counting one string by itself, in two ways: a hash table over whole rows, and attribute by attribute.
fn one_by_one(problem: &Problem) -> Result<(f64, f64)> {
    let lattice = Lattice::new(problem)?;
    let columns: Vec<Vec<u32>> = (0..problem.attributes.len())
        .map(|at| (0..problem.len()).map(|record| problem.records.code(record, at)).collect())
        .collect();
    let (mut hashed, mut refined) = (0.0, 0.0);
    for nth in 0..SAMPLE {
        // Strings spread over the lattice.
        let string: Vec<u8> = lattice
            .attributes
            .iter()
            .enumerate()
            .map(|(at, own)| {
                own.lowest
                    + ((nth * 31 + at * 17 + nth * at * 7) % usize::from(own.highest - own.lowest + 1)) as u8
            })
            .collect();
        let start = Instant::now();
        let maps: Vec<Vec<(u32, u32)>> = problem
            .attributes
            .iter()
            .zip(&string)
            .map(|(attribute, level)| attribute.domain.at_level(usize::from(*level)))
            .collect();
        let mut counts: HashMap<Vec<u16>, u32, fixed_hash::Fixed> = HashMap::default();
        for record in 0..problem.len() {
            let key: Vec<u16> =
                (0..columns.len()).map(|at| maps[at][columns[at][record] as usize].0 as u16).collect();
            *counts.entry(key).or_default() += 1;
        }
        let smallest = counts.values().min().copied();
        hashed += start.elapsed().as_secs_f64() / SAMPLE as f64;
        let start = Instant::now();
        let groups = lattice.groups(&string);
        refined += start.elapsed().as_secs_f64() / SAMPLE as f64;
        if smallest != groups.sizes.iter().min().copied() {
            return Err("the two ways of counting do not agree".into());
        }
    }
    Ok((hashed, refined))
}

/// A fast hasher for the baseline.
mod fixed_hash {
    use std::hash::{BuildHasher, Hasher};

    /// Always the same keys.
    #[derive(Clone, Default)]
    pub struct Fixed;

    impl BuildHasher for Fixed {
        type Hasher = Mix;
        fn build_hasher(&self) -> Mix {
            Mix(0)
        }
    }

    /// Multiplies and rotates.
    pub struct Mix(u64);

    impl Hasher for Mix {
        fn write(&mut self, bytes: &[u8]) {
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                self.write_u64(u64::from_le_bytes(word));
            }
        }
        fn write_u64(&mut self, word: u64) {
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        fn finish(&self) -> u64 {
            self.0 ^ self.0 >> 32
        }
    }
}

fn limited(out: &mut impl Write, k: usize, seconds: f64) -> Result<()> {
    let problem = certificates_problem(36, k)?;
    let (found, took, strings, rows) = search(&problem, Some(seconds))?;
    let best = found.best.as_ref().ok_or("no string is valid")?;
    writeln!(
        out,
        "36 attributes, {} records, k = {k}: {strings:.2e} strings after pruning, {rows} distinct rows",
        problem.len()
    )?;
    writeln!(
        out,
        "  rv-global limited to {seconds} s: {took:.2} s, {} tests, research value {:.6}, no string above {:.6}, \
         proven: {}; peak memory of this process {} MiB",
        found.tests,
        best.score,
        found.bound,
        found.proven,
        peak_memory().unwrap_or(0) >> 20
    )?;
    Ok(())
}

fn clusters(out: &mut impl Write) -> Result<()> {
    let policy = Policy::parse(
        &format!(
            "[privacy]\nk = 5\n{}",
            [
                "age",
                "education-num",
                "capital-gain",
                "sex",
                "race",
                "marital-status",
                "workclass",
                "hours-per-week"
            ]
            .map(|name| format!("[attribute.{name}]\nrole = \"quasi\"\n"))
            .concat()
        ),
        None,
    )?;
    let table = run::read(&sweep::source(), &policy, &Unwatched)?;
    let problem = Problem::new(&table, &policy)?;
    let method = Cluster { kind: Kind::Research, research: Settings::default(), overlap: true, plain: false };
    let timed = |method: &Cluster| -> Result<_> {
        let start = Instant::now();
        let solution = method.solve(&problem, &Unwatched)?;
        Ok((solution, start.elapsed().as_secs_f64()))
    };
    let (pruned, fast) = timed(&method)?;
    let (plain, slow) = timed(&Cluster { plain: true, ..method.clone() })?;
    if pruned.partition != plain.partition {
        return Err("pruned and plain clustering differ".into());
    }
    writeln!(
        out,
        "rv-cluster, Adult, {} records, 8 attributes, k = 5: {} clusters",
        problem.len(),
        pruned.partition.len()
    )?;
    writeln!(
        out,
        "  pruned search {fast:.2} s, all pairs {slow:.2} s: {:.1} times as long; same clusters",
        slow / fast
    )?;
    Ok(())
}
