//! Running a method on a table and measuring what it found.

use std::path::{Path, PathBuf};
use std::time::Instant;

use throng::evaluate::cube::divergence::View;
use throng::loss::{Extent, Kernel};
use throng::method::Partition;
use throng::method::accuracy::Goal;
use throng::policy::Policy;
use throng::problem::{Code, Matrix, Problem};
use throng::table::Table;
use throng::watch::Unwatched;
use throng::{Error, ErrorCode, Result, run, with_matrix};

use crate::Setting;

/// The quasi-identifiers in the order of the paper's table II; fewer of them are the first of these.
pub const QUASI: [&str; 7] = ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country"];
const ALL: &str = "census9-like.csv.zst";

/// A table with what its policy says of columns.
pub struct Data {
    path: PathBuf,
    attributes: String,
    /// Keeps a table that was made for the experiment.
    _folder: Option<tempfile::TempDir>,
}

/// What a run found.
pub struct Found {
    pub partition: Partition,
    pub seconds: f64,
    pub gcp: f64,
    pub weighted_maximum: f64,
    pub average: f64,
    pub volume: f64,
}

impl Data {
    /// The census table with some of its quasi-identifiers and rows; all rows when `rows` is `None`.
    pub fn census(setting: &Setting, quasi: &[&str], rows: Option<usize>) -> Result<Self> {
        let mut attributes = "[attribute.Occupation]\nrole = \"sensitive\"\n".to_owned();
        for name in quasi {
            attributes += &format!("[attribute.{name}]\nrole = \"quasi\"\n");
            attributes += &match *name {
                "Age" => "kind = \"numeric\"\n".to_owned(),
                name => setting.hierarchy("census9-like", name)?,
            };
        }
        let path = setting.file(ALL)?;
        let rows = rows.or(setting.quick.then_some(10_000));
        match rows {
            None => Ok(Data { path, attributes, _folder: None }),
            Some(rows) => {
                let (folder, path) = some_rows(&path, rows)?;
                Ok(Data { path, attributes, _folder: Some(folder) })
            }
        }
    }

    /// A table in a folder of its own.
    pub fn made(folder: tempfile::TempDir, path: PathBuf, attributes: String) -> Self {
        Data { path, attributes, _folder: Some(folder) }
    }

    /// The problem under a requirement.
    pub fn problem(&self, privacy: &str, method: &str) -> Result<(Problem, Policy)> {
        // The paper's own rule, which throng leaves only on request.
        let named = |name: &str| method.contains(&format!("name = \"{name}"));
        let searched = named("accuracy-search") && !method.contains("over =");
        let along_a_line = named("hilbert") || named("idistance") || searched;
        let literal = if along_a_line { "dealing = \"literal\"\n" } else { "" };
        let text =
            format!("[privacy]\n{privacy}\n[method]\nseed = 1\n{method}\n{literal}{}", self.attributes);
        let policy = Policy::parse(&text, None)?;
        let table = self.table(&policy)?;
        Ok((Problem::new(&table, &policy)?, policy))
    }

    fn table(&self, policy: &Policy) -> Result<Table> {
        run::read(&self.path, policy, &Unwatched)
    }

    /// Runs a method, given as the keys of `[method]`.
    pub fn run(&self, privacy: &str, method: &str) -> Result<(Problem, Found)> {
        let (problem, policy) = self.problem(privacy, method)?;
        let start = Instant::now();
        let partition = run::solve(&problem, &policy, &Unwatched)?.partition;
        let seconds = start.elapsed().as_secs_f64();
        let found = with_matrix!(&problem.records, matrix => measure(&problem, matrix, partition, seconds));
        Ok((problem, found))
    }
}

impl Found {
    /// The lowest diversity of its groups.
    pub fn diversity(&self, problem: &Problem) -> f64 {
        Goal::Diversity(0).of_partition(problem, &self.partition)
    }

    /// How recipients see it, generalized or permuted.
    pub fn view(&self, problem: &Problem, permuted: bool) -> View {
        match permuted {
            true => View::permuted(problem, &self.partition),
            false => View::generalized(problem, &self.partition),
        }
    }
}

/// Rows drawn at random, in their order, from a compressed table.
fn some_rows(path: &Path, rows: usize) -> Result<(tempfile::TempDir, PathBuf)> {
    use std::io::{BufRead, BufReader, Write};
    let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotRead, "read", path, &cause);
    let file = std::fs::File::open(path).map_err(fail)?;
    let lines = BufReader::new(zstd::Decoder::new(file).map_err(fail)?).lines();
    let lines: Vec<String> = lines.collect::<std::io::Result<_>>().map_err(fail)?;
    let Some((header, records)) = lines.split_first() else {
        return Err(Error::new(ErrorCode::EmptyTable, "the table is empty").in_file(path));
    };
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let folder = tempfile::tempdir().map_err(fail)?;
    let target = folder.path().join("rows.csv");
    let mut text = format!("{header}\n");
    let (mut left, mut wanted) = (records.len() as u64, rows.min(records.len()) as u64);
    for record in records {
        // Each of what is left is as likely to be drawn.
        if next() % left < wanted {
            text += record;
            text.push('\n');
            wanted -= 1;
        }
        left -= 1;
    }
    let mut output = std::fs::File::create(&target).map_err(fail)?;
    output.write_all(text.as_bytes()).map_err(fail)?;
    Ok((folder, target))
}

fn measure<C: Code>(problem: &Problem, matrix: &Matrix<C>, partition: Partition, seconds: f64) -> Found {
    let kernel = Kernel::new(&problem.attributes);
    let (mut sum, mut widest, mut penalties, mut volume) = (0.0, 0.0f64, 0.0, 0.0);
    let mut each = vec![0.0; problem.attributes.len()];
    for group in partition.groups() {
        let extent = Extent::around(matrix, group);
        kernel.each(&extent, &mut each);
        let (size, penalty) = (group.len() as f64, each.iter().sum::<f64>());
        let share = |(at, penalty): (usize, &f64)| match extent.low(at) == extent.high(at) {
            true => 1.0 / problem.attributes[at].domain.len() as f64,
            false => penalty / problem.attributes[at].weight,
        };
        sum += size * penalty;
        widest = widest.max(size * penalty);
        penalties += penalty;
        volume += size * each.iter().enumerate().map(share).product::<f64>();
    }
    let records = problem.len() as f64;
    Found {
        seconds,
        gcp: sum / records / problem.total_weight(),
        weighted_maximum: widest,
        average: penalties / partition.len().max(1) as f64,
        volume: volume / records,
        partition,
    }
}
