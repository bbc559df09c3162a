//! The tables at hand and tables of random cells, and policies for them that an older program understands too: every column has a
//! role.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use throng::plan::target;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;
use throng_bench::Result;

use crate::sweep::repository;

pub const ADULT: [&str; 9] = [
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
/// Four numbers and five trees.
pub const MIXED: [&str; 9] = [
    "age",
    "education-num",
    "capital-gain",
    "hours-per-week",
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
];
pub const CENSUS: [&str; 9] =
    ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country", "Occupation", "Industry"];
pub const KDD: [&str; 20] = [
    "age",
    "class-of-worker",
    "education",
    "wage-per-hour",
    "marital-stat",
    "major-industry-code",
    "major-occupation-code",
    "race",
    "hispanic-origin",
    "sex",
    "member-of-a-labor-union",
    "full-or-part-time-employment-stat",
    "capital-gains",
    "capital-losses",
    "dividends-from-stocks",
    "tax-filer-stat",
    "country-of-birth-self",
    "citizenship",
    "weeks-worked-in-year",
    "year",
];
const NUMBERS: [&str; 11] = [
    "age",
    "Age",
    "education-num",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "wage-per-hour",
    "capital-gains",
    "capital-losses",
    "dividends-from-stocks",
    "weeks-worked-in-year",
];

/// A file of the tables at hand.
pub fn shared(name: &str) -> PathBuf {
    repository().join("../shared/data").join(name)
}

/// A table with quasi-identifiers and a requirement.
#[derive(Clone)]
pub struct Task {
    pub name: String,
    pub data: PathBuf,
    /// What is asked for, as in a policy.
    pub privacy: String,
    quasi: Vec<String>,
    sensitive: Option<String>,
    hierarchies: PathBuf,
}

impl Task {
    pub fn new(name: impl Into<String>, data: PathBuf, privacy: &str, quasi: &[&str]) -> Self {
        let quasi = quasi.iter().map(|&own| own.to_owned()).collect();
        let (name, privacy) = (name.into(), privacy.to_owned());
        Task { name, data, privacy, quasi, sensitive: None, hierarchies: PathBuf::new() }
    }

    /// Adult, nine attributes with the trees of ARX.
    pub fn adult(k: usize) -> Self {
        let data = shared("adult.train.complete.csv.zst");
        Task::new(format!("adult k = {k}"), data, &format!("k = {k}"), &ADULT)
            .with_hierarchies(shared("hierarchies/adult-arx"))
    }

    /// census9-like, seven attributes; Occupation may be asked about.
    pub fn census(privacy: &str) -> Self {
        let data = shared("census9-like.csv.zst");
        Task::new(format!("census9-like {}", privacy.replace('\n', ", ")), data, privacy, &CENSUS[..7])
            .with_hierarchies(shared("hierarchies/census9-like"))
    }

    pub fn with_hierarchies(self, folder: PathBuf) -> Self {
        Task { hierarchies: folder, ..self }
    }

    pub fn with_sensitive(self, name: &str) -> Self {
        Task { sensitive: Some(name.to_owned()), ..self }
    }

    /// The policy with further lines for the method; columns without a role are dropped as identifiers.
    pub fn text(&self, method: &str) -> Result<String> {
        let mut text = format!("[privacy]\n{}\n[method]\nseed = 1\n{method}\n", self.privacy);
        for column in columns(&self.data)? {
            let file = self.hierarchies.join(format!("{column}.csv"));
            let _ = writeln!(text, "[attribute.\"{column}\"]");
            if !self.quasi.contains(&column) {
                let sensitive = self.sensitive.as_ref() == Some(&column);
                text += if sensitive { "role = \"sensitive\"\n" } else { "role = \"identifier\"\n" };
                continue;
            }
            text += "role = \"quasi\"\n";
            let float = column.strip_prefix('x').is_some_and(|at| at.parse::<usize>().is_ok());
            if NUMBERS.contains(&column.as_str()) || float {
                text += "kind = \"numeric\"\n";
            } else if !self.hierarchies.as_os_str().is_empty() && file.exists() {
                let _ =
                    writeln!(text, "kind = \"categorical\"\nhierarchy = {:?}", file.display().to_string());
            } else {
                text += "kind = \"categorical\"\n";
            }
        }
        Ok(text)
    }

    pub fn policy(&self, method: &str) -> Result<Policy> {
        Ok(Policy::parse(&self.text(method)?, None)?)
    }

    pub fn problem(&self) -> Result<Problem> {
        let policy = self.policy("")?;
        Ok(Problem::new(&run::read(&self.data, &policy, &Unwatched)?, &policy)?)
    }

    /// The loss of a method on the problem of this task, and how many records it leaves out.
    pub fn solved(&self, problem: &Problem, method: &str) -> Result<(f64, usize)> {
        let solution = run::solve(problem, &self.policy(method)?, &Unwatched)?;
        Ok((target::gcp(problem, &solution), solution.suppressed.len()))
    }

    /// The loss that another `throng` reports.
    pub fn loss_of_program(&self, program: &Path, method: &str, threads: usize) -> Result<f64> {
        let folder = tempfile::tempdir()?;
        let [policy, release, report] =
            ["policy.toml", "release.csv", "report.json"].map(|name| folder.path().join(name));
        std::fs::write(&policy, self.text(method)?)?;
        let mut command = Command::new(program);
        command.arg("anonymize").arg(&self.data).arg("--policy").arg(&policy).arg("-o").arg(&release);
        command.arg("--report").arg(&report).args(["--threads", &threads.to_string()]);
        let output = command.output()?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {told}", program.display()).into());
        }
        let report: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
        let gcp = [&report["gcp"], &report["loss"]["gcp"]].into_iter().find_map(Value::as_f64);
        Ok(gcp.ok_or("the older program tells no loss")?)
    }
}

/// The columns of a table.
pub fn columns(data: &Path) -> Result<Vec<String>> {
    let file = std::fs::File::open(data)?;
    let packed = data.extension().is_some_and(|ending| ending == "zst");
    let input: Box<dyn std::io::Read> =
        if packed { Box::new(zstd::Decoder::new(file)?) } else { Box::new(file) };
    Ok(csv::Reader::from_reader(input).headers()?.iter().map(str::to_owned).collect())
}

/// What is in a table of random cells.
#[derive(Clone, Copy)]
pub enum Cells {
    /// Flat categories of two to six values.
    Flat,
    /// Numbers that are nearly normal, all different.
    Floats,
}

/// Writes a table of random cells and gives its task.
pub fn random(folder: &Path, columns: usize, rows: usize, cells: Cells, k: usize) -> Result<Task> {
    let (letter, what) = match cells {
        Cells::Flat => ("a", ""),
        Cells::Floats => ("x", " floats"),
    };
    let data = folder.join(format!("{letter}{columns}-{rows}.csv"));
    let names: Vec<String> = (0..columns).map(|at| format!("{letter}{at}")).collect();
    if !data.exists() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut text = names.join(",") + "\n";
        for _ in 0..rows {
            for at in 0..columns {
                let _ = match cells {
                    Cells::Flat => write!(text, "v{},", random.random_range(0..2 + at % 5)),
                    Cells::Floats => write!(text, "{:.9},", normal(&mut random)),
                };
            }
            text.pop();
            text.push('\n');
        }
        std::fs::write(&data, text)?;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(Task::new(format!("{rows} x {columns}{what} k = {k}"), data, &format!("k = {k}"), &names))
}

/// The sum of twelve draws is nearly normal.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
}
