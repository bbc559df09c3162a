//! A method of your own: it sorts records by their first quasi-identifier and cuts the order into classes.
//!
//! `cargo run --release -p throng --example own_method`

#![allow(clippy::print_stdout)]

use throng::extend::{Entry, Judge, Method, Part, Problem, Solution};
use throng::{Anonymize, Compare, Data, Policy, Registry, Result, Watch};

struct Sorted;

impl Method for Sorted {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        watch.stage("sorting", Some(problem.len() as u64));
        let mut records: Vec<u32> = (0..problem.len() as u32).collect();
        records.sort_by_key(|record| (problem.records.code(*record as usize, 0), *record));
        // A judge answers whether some records may be a class, whatever the policy asks for.
        let judge = Judge::new(problem);
        let mut groups: Vec<Vec<u32>> = vec![Vec::new()];
        for record in records {
            match groups.last_mut() {
                Some(last) if !judge.holds(last.iter().copied()) => last.push(record),
                _ => groups.push(vec![record]),
            }
        }
        // What is left over at the end joins the class before it.
        if groups.len() > 1 && !groups.last().is_some_and(|last| judge.holds(last.iter().copied())) {
            let left = groups.pop().unwrap_or_default();
            groups.iter_mut().last().into_iter().for_each(|last| last.extend(&left));
        }
        Ok(Solution::from_groups(groups))
    }
}

const SORTED: Entry =
    Entry::new("sorted", "sorts by the first quasi-identifier", &[Part::K, Part::L], |_, _| {
        Ok(Box::new(Sorted))
    });

/// Runs the example.
pub fn main() -> Result<()> {
    let people = Data::csv("age,sex\n31,f\n58,m\n34,f\n52,m\n36,f\n55,m\n57,f\n");
    let policy = Policy::builder().k(3).quasi("age").quasi("sex").build()?;
    let registry = Registry::default().with_method(SORTED);

    let run = Anonymize::new(&policy).read(people.clone()).registry(registry.clone()).method("sorted");
    let done = run.to_csv()?;
    println!("{}", done.release);
    assert_eq!((done.report.method.as_str(), done.report.measures.k), ("sorted", 3));

    let comparison =
        Compare::new(&policy).read(people).registry(registry).methods(["sorted", "mondrian"]).run()?;
    assert!(comparison.runs.iter().all(|run| run.report.is_some()));
    Ok(())
}
