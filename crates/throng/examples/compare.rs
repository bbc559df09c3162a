//! Several methods and several k side by side, to choose from.
//!
//! `cargo run --release -p throng --example compare`

#![allow(clippy::print_stdout)]

use throng::{Compare, Data, ErrorCode, Policy};

/// Runs the example.
pub fn main() -> throng::Result<()> {
    let people: String = (0..60).map(|at| format!("{},{}\n", 20 + at * 7 % 50, ["f", "m"][at % 2])).collect();
    let policy = Policy::builder().k(2).quasi("age").quasi("sex").seed(1).build()?;

    let compare = Compare::new(&policy).read(Data::csv(format!("age,sex\n{people}")));
    let comparison = compare.methods(["mondrian", "hilbert"]).k([2, 10, 99]).run()?;

    for run in &comparison.runs {
        match &run.report {
            Some(report) => println!("{} with k = {:?}: loss {:.3}", run.method, run.k, report.measures.gcp),
            None => println!("{} with k = {:?}: {:?}", run.method, run.k, run.refused),
        }
    }
    let refused: Vec<_> = comparison.runs.iter().filter_map(|run| run.code).collect();
    assert_eq!(refused, [ErrorCode::KExceedsTable; 2]);
    assert_eq!(comparison.runs.len(), 6);
    Ok(())
}
