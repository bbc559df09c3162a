//! What peel and its search reach: loss against seconds, with records left out, on tables that are hard or large, and how well a
//! limit on the time is kept. CPU seconds of whole runs in processes of their own; compare figures of one run only.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::plan::target;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::{Result, blow_up};

use crate::sweep::{self, repository};

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
const CENSUS: [&str; 9] =
    ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country", "Occupation", "Industry"];
/// Columns that are numbers.
const NUMBERS: [&str; 8] = [
    "age",
    "Age",
    "wage-per-hour",
    "capital-gains",
    "capital-losses",
    "dividends-from-stocks",
    "weeks-worked-in-year",
    "num-persons-worked-for-employer",
];
/// k, and the GCP that is asked for in one and in ten seconds.
const ASKED: [(usize, f64, f64); 5] = [
    (5, 0.0443, 0.0432),
    (10, 0.0693, 0.0685),
    (25, 0.1078, 0.1070),
    (50, 0.1419, 0.1413),
    (100, 0.1813, 0.1811),
];

/// Runs the parts whose name begins with `only`: seconds, left-out, hard, budget, large.
pub fn run(only: &str, most: usize, threads: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let wanted = |name: &str| name.starts_with(only);
    if wanted("seconds") {
        pool.install(against_seconds)?;
    }
    if wanted("left-out") {
        pool.install(left_out)?;
    }
    if wanted("hard") {
        hard(threads)?;
    }
    if wanted("budget") {
        pool.install(budget)?;
    }
    if wanted("large") {
        large(most, threads)?;
    }
    Ok(())
}

fn shared(name: &str) -> PathBuf {
    repository().join("../shared/data").join(name)
}

fn adult(more: &str) -> Result<(Policy, Problem)> {
    let text = policy("k = 5", &NINE, &shared("hierarchies/adult-arx"), more);
    let policy = Policy::parse(&text, None)?;
    let table = run::read(&shared("adult.train.complete.csv.zst"), &policy, &Unwatched)?;
    let problem = Problem::new(&table, &policy)?;
    Ok((policy, problem))
}

/// GCP and seconds.
fn solved(problem: &mut Problem, policy: &Policy) -> Result<(f64, f64, usize)> {
    problem.require(&policy.privacy);
    let start = Instant::now();
    let solution = run::solve(problem, policy, &Unwatched)?;
    Ok((target::gcp(problem, &solution), start.elapsed().as_secs_f64(), solution.suppressed.len()))
}

fn against_seconds() -> Result<()> {
    say!("adult, nine attributes: GCP by default and with seconds");
    let (_, mut problem) = adult("")?;
    for (k, one, ten) in ASKED {
        let mut line = format!("k = {k:>3}");
        for (seconds, asked) in [(None, None), (Some(1.0), Some(one)), (Some(10.0), Some(ten))] {
            let more = seconds.map_or(String::new(), |seconds| format!("seconds = {seconds:.1}\n"));
            let policy = policy("k = 5", &NINE, &shared("hierarchies/adult-arx"), &more);
            let policy = Policy::parse(&policy, None)?.with_k(k)?;
            let (gcp, took, _) = solved(&mut problem, &policy)?;
            let told = asked.map_or(String::new(), |asked| format!(", asked for {asked:.4}"));
            write!(line, "   {gcp:.5} in {took:.2} s{told}")?;
        }
        say!("{line}");
    }
    Ok(())
}

fn left_out() -> Result<()> {
    say!("adult, nine attributes: GCP where a share of the records may be left out, and how many are");
    for k in [5, 10, 50] {
        let mut line = format!("k = {k:>3}");
        for share in [0.0, 0.01, 0.05] {
            let text = policy(
                &format!("k = {k}\nsuppress = {share:.2}"),
                &NINE,
                &shared("hierarchies/adult-arx"),
                "",
            );
            let policy = Policy::parse(&text, None)?;
            let table = run::read(&shared("adult.train.complete.csv.zst"), &policy, &Unwatched)?;
            let mut problem = Problem::new(&table, &policy)?;
            let (gcp, took, lost) = solved(&mut problem, &policy)?;
            write!(line, "   {gcp:.5} without {lost} in {took:.2} s")?;
        }
        say!("{line}");
    }
    Ok(())
}

/// A table of random cells.
fn table(columns: usize, rows: usize, cell: impl Fn(&mut ChaCha8Rng, usize) -> String) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let names: Vec<String> = (0..columns).map(|at| format!("x{at}")).collect();
    let mut text = names.join(",") + "\n";
    for _ in 0..rows {
        let cells: Vec<String> = (0..columns).map(|at| cell(&mut random, at)).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// The sum of twelve draws is nearly normal.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}

fn hard(threads: usize) -> Result<()> {
    say!("hard tables, k = 5: CPU seconds of the whole run and GCP; asked for 3 x mondrian + 2 s");
    let folder = tempfile::tempdir()?;
    let tables = [
        ("1,000 x 60", 60, 1_000, false),
        ("5,000 x 5 floats", 5, 5_000, true),
        ("100,000 x 5 floats", 5, 100_000, true),
        ("100,000 x 30", 30, 100_000, false),
    ];
    for (name, columns, rows, floats) in tables {
        let data = folder.path().join("table.csv");
        std::fs::write(
            &data,
            table(columns, rows, |random, at| match floats {
                true => format!("{:.9}", normal(random)),
                false => format!("v{}", random.random_range(0..2 + at % 5)),
            }),
        )?;
        let kind = if floats { "numeric" } else { "categorical" };
        let mut text = "[privacy]\nk = 5\nstrict = false\n[method]\nseed = 1\n".to_owned();
        for at in 0..columns {
            write!(text, "[attribute.x{at}]\nrole = \"quasi\"\nkind = \"{kind}\"\n")?;
        }
        let path = folder.path().join("policy.toml");
        std::fs::write(&path, text)?;
        compare(name, (&data, &path), folder.path(), &["mondrian", "auto"], threads)?;
    }
    Ok(())
}

/// One line for each method.
fn compare(
    name: &str,
    (data, policy): (&Path, &Path),
    folder: &Path,
    methods: &[&str],
    threads: usize,
) -> Result<()> {
    let release = folder.join("release.csv");
    for method in methods {
        let told = sweep::measured(data, policy, &release, method, 5, threads)?;
        let of = |key: &str| told[key].as_f64().unwrap_or(f64::NAN);
        say!(
            "{name:<22}{method:<10}{:>9.2} CPU s{:>9.2} s, anonymize {:>8.2} s{:>10.5}{:>8.0} MiB",
            of("cpu"),
            of("total"),
            of("anonymize"),
            of("gcp"),
            of("memory") / f64::from(1 << 20)
        );
    }
    Ok(())
}

fn large(most: usize, threads: usize) -> Result<()> {
    say!("census9-like blown up, nine attributes, k = 5");
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("policy.toml");
    std::fs::write(&path, policy("k = 5\nstrict = false", &CENSUS, &shared("hierarchies/census9-like"), ""))?;
    for rows in [100_000, 1_000_000, 4_000_000, 10_000_000].into_iter().filter(|rows| *rows <= most) {
        let data = folder.path().join("table.csv");
        blow_up(&shared("census9-like.csv.zst"), rows, &data, 0.2, 1)?;
        let name = format!("{rows} rows");
        compare(&name, (&data, &path), folder.path(), &["mondrian", "hilbert", "auto"], threads)?;
    }
    Ok(())
}

fn budget() -> Result<()> {
    say!("auto with `seconds`: what it took");
    let kdd = shared("census-income-kdd.train.csv.zst");
    let header = "age,class-of-worker,education,wage-per-hour,marital-stat,major-industry-code,major-occupation-code,race,\
                  hispanic-origin,sex,member-of-a-labor-union,full-or-part-time-employment-stat,capital-gains,capital-losses,\
                  dividends-from-stocks,tax-filer-stat,country-of-birth-self,citizenship,weeks-worked-in-year,year";
    let twenty: Vec<&str> = header.split(',').map(str::trim).collect();
    let census = shared("census9-like.csv.zst");
    let trees = shared("hierarchies/census9-like");
    let sensitive = "[attribute.Occupation]\nrole = \"sensitive\"\n";
    let folder = tempfile::tempdir()?;
    let floats = folder.path().join("floats.csv");
    std::fs::write(&floats, table(5, 100_000, |random, _| format!("{:.9}", normal(random))))?;
    let nowhere = Path::new("");
    let cases = [
        ("kdd, 20 attributes", &kdd, policy("k = 5\nstrict = false", &twenty, nowhere, "")),
        ("census, k = 10", &census, policy("k = 10", &CENSUS[..7], &trees, "")),
        ("census, l = 3", &census, policy("l = 3", &CENSUS[..7], &trees, sensitive)),
        ("census, t = 0.4", &census, policy("k = 5\nt = 0.4", &CENSUS[..7], &trees, sensitive)),
        ("100,000 x 5 floats", &floats, policy("k = 5", &["x0", "x1", "x2", "x3", "x4"], nowhere, "")),
    ];
    for (name, data, text) in cases {
        let mut line = format!("{name:<22}");
        for seconds in [None, Some(1.0), Some(4.0), Some(10.0)] {
            let more = seconds.map_or(String::new(), |seconds| format!("seconds = {seconds:.1}\n"));
            let text = text.replace("seed = 1\n", &format!("seed = 1\n{more}"));
            let policy = Policy::parse(&format!("[data]\nunlisted = \"drop\"\n{text}"), None)?;
            let table = run::read(data, &policy, &Unwatched)?;
            let mut problem = Problem::new(&table, &policy)?;
            let (gcp, took, _) = solved(&mut problem, &policy)?;
            write!(
                line,
                "   {}: {took:.2} s, {gcp:.5}",
                seconds.map_or("default".into(), |own| own.to_string())
            )?;
        }
        say!("{line}");
    }
    Ok(())
}

fn policy(privacy: &str, columns: &[&str], hierarchies: &Path, more: &str) -> String {
    let mut text = format!("[privacy]\n{privacy}\n[method]\nseed = 1\n{more}");
    for column in columns {
        let file = hierarchies.join(format!("{column}.csv"));
        let number = NUMBERS.contains(column) || column.starts_with('x');
        let kind = if number { "numeric" } else { "categorical" };
        text += &format!("[attribute.\"{column}\"]\nrole = \"quasi\"\nkind = \"{kind}\"\n");
        if !number && file.exists() {
            text += &format!("hierarchy = {:?}\n", file.display().to_string());
        }
    }
    text
}
