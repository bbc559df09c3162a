//! `peel`, and the improvement that every grouping method can have.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod common;

use common::{Loaded, cases, load};
use proptest::prelude::*;
use throng::loss::{Kernel, group_ncp};
use throng::method::Partition;
use throng::method::improve::{Effort, improve};
use throng::privacy::Tally;
use throng::run::solve;
use throng::watch::Unwatched;

fn loss(loaded: &Loaded, partition: &Partition) -> f64 {
    let kernel = Kernel::new(&loaded.problem.attributes);
    partition.groups().map(|group| group.len() as f64 * group_ncp(&loaded.problem, &kernel, group)).sum()
}

fn check_valid(loaded: &Loaded, partition: &Partition) {
    let mut seen = vec![0; loaded.problem.len()];
    for group in partition.groups() {
        let mut tally = Tally::for_problem(&loaded.problem);
        for &record in group {
            seen[record as usize] += 1;
            tally.add_record(&loaded.problem.sensitive, record);
        }
        assert!(loaded.problem.requirement.holds(&tally), "a group of {}", group.len());
    }
    assert!(seen.iter().all(|times| *times == 1), "{seen:?}");
}

/// The least loss of all partitions into groups of at least k: over all subsets, one record's group at a time.
fn least_loss(loaded: &Loaded, k: usize) -> f64 {
    let count = loaded.problem.len();
    let kernel = Kernel::new(&loaded.problem.attributes);
    let mut best = vec![f64::INFINITY; 1 << count];
    best[0] = 0.0;
    let cost: Vec<f64> = (0..1usize << count)
        .map(|set| {
            let group: Vec<u32> = (0..count as u32).filter(|at| set >> at & 1 == 1).collect();
            if group.len() < k {
                return f64::INFINITY;
            }
            group.len() as f64 * group_ncp(&loaded.problem, &kernel, &group)
        })
        .collect();
    for set in 1..1usize << count {
        let first = 1 << set.trailing_zeros();
        let mut part = set;
        while part > 0 {
            if part & first != 0 {
                best[set] = best[set].min(best[set & !part] + cost[part]);
            }
            part = (part - 1) & set;
        }
    }
    best[(1 << count) - 1]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn improvement_never_costs_and_keeps_the_requirement(case in cases(80), rounds in 0usize..4) {
        for privacy in ["k = 2", "k = 4", "k = 3\nl = 2", "k = 2\nt = 0.5"] {
            for method in ["mondrian", "mondrian-relaxed"] {
                let loaded = load(&case, privacy, method);
                let Ok(solution) = solve(&loaded.problem, &loaded.policy, &Unwatched) else { continue };
                let effort = Effort { rounds, until: None };
                let improved = improve(&loaded.problem, &solution.partition, effort, &Unwatched).unwrap();
                check_valid(&loaded, &improved);
                let (before, after) = (loss(&loaded, &solution.partition), loss(&loaded, &improved));
                prop_assert!(after <= before + 1e-9, "{before} became {after}");
            }
        }
    }

    #[test]
    fn peel_is_never_below_the_best_of_all_partitions(case in cases(9), k in 2usize..4) {
        prop_assume!(case.rows.len() >= k);
        let loaded = load(&case, &format!("k = {k}"), "peel");
        let partition = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap().partition;
        let (found, least) = (loss(&loaded, &partition), least_loss(&loaded, k));
        prop_assert!(found >= least - 1e-9, "{found} is below {least}");
    }
}

/// How far methods are from the best partition of small tables, on average. Fixed tables, so the figures are too.
#[test]
fn peel_is_nearer_to_the_best_partition_than_the_others() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, TestRunner};
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let methods = ["mondrian", "hilbert", "peel"];
    let (mut sums, mut worst, mut count) = ([0.0; 3], [1.0f64; 3], 0);
    for _ in 0..150 {
        let case = cases(10).new_tree(&mut runner).unwrap().current();
        if case.rows.len() < 4 {
            continue;
        }
        let least = least_loss(&load(&case, "k = 2", "peel"), 2);
        if least <= 1e-9 {
            continue;
        }
        count += 1;
        for (at, method) in methods.iter().enumerate() {
            let loaded = load(&case, "k = 2", method);
            let ratio =
                loss(&loaded, &solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap().partition) / least;
            sums[at] += ratio;
            worst[at] = worst[at].max(ratio);
        }
    }
    let means = sums.map(|sum| sum / f64::from(count));
    eprintln!(
        "ratio to the best partition on {count} tables ({methods:?}): mean {means:.3?}, worst {worst:.3?}"
    );
    assert!(count > 50);
    assert!(means[2] < means[0] && means[2] < means[1], "{means:?}");
}
