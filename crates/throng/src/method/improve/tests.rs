//! Fast paths of improvement against plain ones.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use super::group::{Group, Work};
use super::index::{Index, Scratch};
use super::{Effort, Partition, are_exchanged, improve};
use crate::policy::Policy;
use crate::problem::{Code, LANES, Problem};
use crate::watch::Unwatched;
use crate::{run, with_matrix};

/// A table with a number, a flat category and a tree.
fn problem(rows: u32) -> Problem {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("table.csv");
    let mut text = "number,flat,tree\n".to_owned();
    for row in 0..rows {
        let drawn = row.wrapping_mul(2_654_435_761) >> 8;
        let number = if drawn % 11 == 0 { String::new() } else { (drawn % 400).to_string() };
        writeln!(text, "{number},f{},t{}", drawn / 400 % 5, drawn / 2000 % 6).unwrap();
    }
    std::fs::write(&data, text).unwrap();
    let policy = "[privacy]\nk = 2\n[attribute.number]\nrole = \"quasi\"\nkind = \"numeric\"\n\
        [attribute.flat]\nrole = \"quasi\"\n[attribute.tree]\nrole = \"quasi\"\n\
        hierarchy = { low = [\"t0\", \"t1\", \"t2\"], high = [\"t3\", \"t4\", \"t5\"] }\n";
    let policy = Policy::parse(policy, None).unwrap();
    Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap()
}

#[test]
fn visits_find_what_a_scan_of_all_groups_finds() {
    let problem = problem(3000);
    with_matrix!(&problem.records, matrix => {
        let work = Work::new(&problem, matrix);
        let records: Vec<u32> = (0..3000).collect();
        let mut groups: Vec<_> = records.chunks(3).map(|records| work.group(records.to_vec())).collect();
        let mut index = Index::new(&problem.attributes, &groups);
        // Some groups change after the index was built.
        for at in (0..groups.len()).step_by(7) {
            work.join(&mut groups[at], (at as u32 * 13) % 3000);
            index.set(at, &groups[at]);
        }
        groups[5].records.clear();
        index.set(5, &groups[5]);
        let mut scratch = Scratch::default();
        for record in (0..3000).step_by(17) {
            let row = matrix.row(record);
            let mut found = Vec::new();
            index.visit(row, None, &mut scratch, |group| found.push(group));
            let outside = |group: &Group<_>| (0..3).filter(|&at| {
                let (low, high) = index.closure(at, group);
                let code = row[at / LANES][at % LANES].index();
                let bucket = |code| index.bucket(at, code);
                !(bucket(low)..=bucket(high)).contains(&bucket(code))
            }).count();
            let expected: Vec<usize> = (0..groups.len())
                .filter(|at| !groups[*at].records.is_empty() && outside(&groups[*at]) <= 1)
                .collect();
            found.retain(|at| !groups[*at].records.is_empty());
            assert_eq!(found, expected, "record {record}");
        }
    });
}

#[test]
fn penalties_without_a_record_by_ends_are_those_of_the_box_of_the_others() {
    let problem = problem(600);
    with_matrix!(&problem.records, matrix => {
        let work = Work::new(&problem, matrix);
        let records: Vec<u32> = (0..600).collect();
        for size in 2..9 {
            for records in records.chunks_exact(size) {
                let group = work.group(records.to_vec());
                let ends = work.ends(&group);
                for &record in records {
                    let others = records.iter().copied().filter(|one| *one != record).collect();
                    assert_eq!(work.ncp_by_ends(&ends, record), work.group(others).ncp);
                    assert_eq!(work.ncp_without(&group, record), work.ncp_by_ends(&ends, record));
                }
            }
        }
    });
}

/// Three numbers of which hardly two records share a value.
fn fine_numbers(rows: u64) -> Problem {
    let mut text = "a,b,c\n".to_owned();
    let mut state = 88_172_645_463_325_252u64;
    for _ in 0..rows {
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % 1_000_000
        };
        writeln!(text, "{},{},{}", draw(), draw(), draw()).unwrap();
    }
    let mut policy = "[privacy]\nk = 4\n".to_owned();
    for name in ["a", "b", "c"] {
        write!(policy, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"numeric\"\n").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("table.csv");
    std::fs::write(&data, text).unwrap();
    let policy = Policy::parse(&policy, None).unwrap();
    Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap()
}

/// The loss of a partition, from its boxes anew.
fn loss_of(problem: &Problem, partition: &Partition) -> f64 {
    with_matrix!(&problem.records, matrix => {
        let work = Work::new(problem, matrix);
        partition.groups().map(|records| work.group(records.to_vec()).loss()).sum()
    })
}

#[test]
fn exchanges_keep_every_record_in_a_class_and_save_on_any_number_of_threads() {
    let problem = fine_numbers(3001);
    assert!(are_exchanged(&problem));
    let records: Vec<u32> = (0..3001).collect();
    let sizes = std::iter::repeat_n(4, 749).chain([5]).collect::<Vec<usize>>();
    let start = Partition::from_sizes(records.clone(), sizes);
    let found = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let effort = Effort::new(0, Some(2), None);
        pool.install(|| improve(&problem, &start, effort, &Unwatched).unwrap())
    });
    let mut seen: Vec<u32> = found[0].groups().flat_map(|group| group.iter().copied()).collect();
    seen.sort_unstable();
    assert_eq!(seen, records);
    assert!(found[0].groups().all(|group| group.len() >= 4));
    // Neighbours in a table of random numbers have nothing in common.
    assert!(loss_of(&problem, &found[0]) < 0.3 * loss_of(&problem, &start));
    let groups = found.map(|partition| partition.groups().map(<[u32]>::to_vec).collect::<Vec<_>>());
    assert_eq!(groups[0], groups[1]);
}
