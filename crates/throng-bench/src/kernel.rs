//! The penalty kernel against the definition written out, in every width.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use throng::loss::{Extent, Kernel};
use throng::policy::Policy;
use throng::problem::{Code, Matrix, Problem};
use throng::run;
use throng::table::Scale;
use throng::watch::Unwatched;
use throng_bench::{Result, blow_up};

use crate::sweep;

/// Records in a group.
const GROUP: usize = 20;

/// Measures growing and costing the boxes of consecutive groups of records.
pub fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("table.csv");
    blow_up(&sweep::source(), 200_000, &data, 0.2, 1)?;
    let policy = Policy::load(&sweep::repository().join("data/benchmark.toml"))?;
    let table = run::read(&data, &policy, &Unwatched)?;
    let problem = Problem::new(&table, &policy)?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "groups of {GROUP} records of {} attributes; nanoseconds per record, fastest of 5",
        problem.attributes.len()
    )?;
    let plain = fastest(|| plain(&problem));
    writeln!(out, "{:<28}{:>8.2}{:>8}", "the definition written out", plain.0, "1.0x")?;
    let report = |out: &mut std::io::Stdout, name: &str, (nanoseconds, sum): (f64, f64)| -> Result<()> {
        if (sum - plain.1).abs() > 1e-6 * plain.1 {
            return Err(format!("{name} finds {sum}, the definition {}", plain.1).into());
        }
        Ok(writeln!(out, "{name:<28}{nanoseconds:>8.2}{:>7.1}x", plain.0 / nanoseconds)?)
    };
    let kernel = Kernel::new(&problem.attributes);
    report(&mut out, "kernel, 8-bit codes", fastest(|| with_kernel(&widened::<u8>(&problem), &kernel)))?;
    report(&mut out, "kernel, 32-bit codes", fastest(|| with_kernel(&widened::<u32>(&problem), &kernel)))
}

/// The least nanoseconds per record of several runs, and the sum of penalties that they found.
fn fastest(work: impl Fn() -> (f64, f64)) -> (f64, f64) {
    (0..5).map(|_| work()).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, f64::NAN))
}

fn widened<C: Code>(problem: &Problem) -> Matrix<C> {
    let mut matrix = Matrix::zeros(problem.len(), problem.attributes.len());
    for record in 0..problem.len() {
        for at in 0..problem.attributes.len() {
            matrix.set(record, at, C::from_index(problem.records.code(record, at) as usize));
        }
    }
    matrix
}

fn with_kernel<C: Code>(matrix: &Matrix<C>, kernel: &Kernel) -> (f64, f64) {
    let start = Instant::now();
    let groups = black_box(matrix).data().chunks(GROUP * matrix.stride());
    let sum = groups.map(|rows| kernel.ncp(&Extent::of_rows(rows, matrix.stride()))).sum();
    (start.elapsed().as_nanos() as f64 / matrix.len() as f64, sum)
}

/// For every group and attribute: the values or leaves, their extremes or lowest common ancestor.
fn plain(problem: &Problem) -> (f64, f64) {
    let start = Instant::now();
    let records: Vec<usize> = (0..problem.len()).collect();
    let sum = black_box(&records)
        .chunks(GROUP)
        .map(|group| {
            let of = |at: usize| plain_penalty(problem, at, group) * problem.attributes[at].weight;
            (0..problem.attributes.len()).map(of).sum::<f64>()
        })
        .sum();
    (start.elapsed().as_nanos() as f64 / problem.len() as f64, sum)
}

fn plain_penalty(problem: &Problem, attribute: usize, group: &[usize]) -> f64 {
    let codes = || group.iter().map(|record| problem.records.code(*record, attribute) as usize);
    let (low, high) = (codes().min().unwrap_or(0), codes().max().unwrap_or(0));
    match problem.attributes[attribute].domain.scale() {
        Scale::Numeric { values, .. } => {
            let width = values.last().copied().unwrap_or(0.0) - values.first().copied().unwrap_or(0.0);
            if width > 0.0 { (values[high] - values[low]) / width } else { 0.0 }
        }
        Scale::Categorical(_) if low == high => 0.0,
        Scale::Categorical(tree) => {
            tree.leaves_under(tree.ancestor(low, high)).len() as f64 / tree.leaf_count() as f64
        }
    }
}
