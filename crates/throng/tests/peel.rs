//! `peel`, and the improvement that every grouping method can have.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod common;

use common::{Loaded, cases, load};
use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use throng::loss::{Kernel, group_ncp};
use throng::method::Partition;
use throng::method::improve::{Effort, Search, improve};
use throng::policy::Policy;
use throng::privacy::{Judge, Tally};
use throng::problem::{People, Problem};
use throng::run::{self, solve};
use throng::watch::{Unwatched, Watch};

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
                let effort = Effort { rounds, search: Search::Rounds(rounds), until: None };
                let improved = improve(&loaded.problem, &solution.partition, effort, &Unwatched).unwrap();
                check_valid(&loaded, &improved);
                let (before, after) = (loss(&loaded, &solution.partition), loss(&loaded, &improved));
                prop_assert!(after <= before + 1e-9, "{before} became {after}");
            }
        }
    }

    #[test]
    fn search_keeps_wishes_and_people_apart_and_never_costs(case in cases(60), k in 2usize..4) {
        let mut loaded = load(&case, &format!("k = {k}"), "mondrian");
        let count = loaded.problem.len() as u32;
        prop_assume!(count >= 12);
        for people in [false, true] {
            if people {
                // Three records each.
                loaded.problem.data.people = Some(People::new((0..count).map(|record| record / 3).collect::<Vec<_>>()));
                loaded.problem.data.demands = None;
            } else {
                loaded.problem.data.demands = Some((0..count).map(|record| 1 + record % 5).collect());
            }
            let privacy = loaded.policy.privacy.clone();
            loaded.problem.require(&privacy);
            let all = Partition::from_sizes((0..count).collect(), [count as usize]);
            let parts = Partition::from_sizes((0..count).collect(), [count as usize / 2, count as usize - count as usize / 2]);
            let holds = |partition: &Partition| partition.groups().all(|group| {
                Judge::new(&loaded.problem).holds(group.iter().copied())
            });
            let start = if holds(&parts) { parts } else { all };
            prop_assume!(holds(&start));
            let effort = Effort::new(0, Some(3), None);
            let improved = improve(&loaded.problem, &start, effort, &Unwatched).unwrap();
            check_valid(&loaded, &improved);
            prop_assert!(loss(&loaded, &improved) <= loss(&loaded, &start) + 1e-9);
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

/// A table of several blocks: two numbers and three categories that have to do with each other.
fn large(rows: u32, privacy: &str, search: usize) -> Loaded {
    let mut text = "a,b,c,d,e,s\n".to_owned();
    let mut state = 7u64;
    for _ in 0..rows {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (x, y) = ((state >> 33) % 60, (state >> 45) % 7);
        let (c, d, e) = (x / 12 + y % 2, (state >> 50) % 4, (state >> 54) % 3 + x / 30);
        writeln!(text, "{x},{},c{c},d{d},e{e},s{}", x / 3 + 5 * y, (state >> 57) % 9).unwrap();
    }
    let mut policy =
        format!("[privacy]\n{privacy}\n[method]\nname = \"peel\"\nseed = 1\nsearch = {search}\n");
    for name in ["a", "b", "c", "d", "e"] {
        let kind = if ["a", "b"].contains(&name) { "numeric" } else { "categorical" };
        write!(policy, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"{kind}\"\n").unwrap();
    }
    policy += "[attribute.s]\nrole = \"sensitive\"\n";
    common::loaded(text, &policy)
}

#[test]
fn search_finds_the_same_groups_on_any_number_of_threads_and_again() {
    for privacy in ["k = 4", "k = 30", "k = 4\nl = 3", "k = 4\nt = 0.6"] {
        let loaded = large(3000, privacy, 3);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap().partition)
        };
        let (one, two) = (on(1), on(2));
        check_valid(&loaded, &one);
        assert_eq!(one, two, "{privacy}");
        assert_eq!(two, on(2), "{privacy}");
    }
}

#[test]
fn search_finds_what_moves_do_not() {
    for privacy in ["k = 4", "k = 30", "k = 4\nl = 3"] {
        let [before, after] = [0, 3].map(|search| {
            let loaded = large(3000, privacy, search);
            loss(&loaded, &solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap().partition)
        });
        assert!(after < 0.999 * before, "{privacy}: {before} became {after}");
    }
}

#[test]
fn a_time_limit_is_kept() {
    let loaded = large(3000, "k = 4", 0);
    let start = std::time::Instant::now();
    let until = Some(start + std::time::Duration::from_millis(300));
    let all = Partition::from_sizes((0..3000).collect(), [100; 30]);
    let improved = improve(&loaded.problem, &all, Effort::new(0, None, until), &Unwatched).unwrap();
    check_valid(&loaded, &improved);
    assert!(loss(&loaded, &improved) < loss(&loaded, &all));
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
}

/// Who asks to stop once gets the best so far.
#[test]
fn a_wish_to_stop_ends_the_search_with_what_it_has() {
    struct StopsOnce(std::sync::atomic::AtomicBool);
    impl Watch for StopsOnce {
        fn take_stop(&self) -> bool {
            self.0.swap(false, std::sync::atomic::Ordering::SeqCst)
        }
    }
    let loaded = large(1500, "k = 4", 0);
    let start = Partition::from_sizes((0..1500).collect(), [50; 30]);
    let run = |rounds, stop| {
        let watch = StopsOnce(std::sync::atomic::AtomicBool::new(stop));
        improve(&loaded.problem, &start, Effort::new(0, Some(rounds), None), &watch).unwrap()
    };
    let stopped = run(4, true);
    check_valid(&loaded, &stopped);
    let (first, last) = (loss(&loaded, &stopped), loss(&loaded, &run(4, false)));
    assert!(last < first && first <= loss(&loaded, &start), "{first} and {last}");
}

/// A policy: numbers, and categories with the hierarchies of a folder or without any.
fn policy(
    privacy: &str,
    numbers: &[&str],
    categories: &[&str],
    hierarchies: Option<&Path>,
    more: &str,
) -> Policy {
    let mut text = format!("[privacy]\n{privacy}\n[method]\nname = \"peel\"\nseed = 1\n{more}");
    for name in numbers {
        write!(text, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"numeric\"\n").unwrap();
    }
    for name in categories {
        write!(text, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"categorical\"\n").unwrap();
        if let Some(folder) = hierarchies {
            writeln!(text, "hierarchy = '{}'", folder.join(format!("{name}.csv")).display()).unwrap();
        }
    }
    Policy::parse(&text, None).unwrap()
}

fn problem(data: &Path, policy: &Policy) -> Problem {
    Problem::new(&run::read(data, policy, &Unwatched).unwrap(), policy).unwrap()
}

fn gcp_of(problem: &Problem, policy: &Policy, method: &str) -> f64 {
    let policy = policy.clone().with_method(method).unwrap();
    let solution = solve(problem, &policy, &Unwatched).unwrap();
    throng::plan::target::gcp(problem, &solution)
}

/// Checks that peel loses at most so much with each k.
fn check_losses(data: &Path, policy: &Policy, most: &[(usize, f64)]) {
    let mut problem = problem(data, policy);
    for (k, most) in most {
        let policy = policy.clone().with_k(*k).unwrap();
        problem.require(&policy.privacy);
        let gcp = gcp_of(&problem, &policy, "peel");
        eprintln!("k = {k}: {gcp:.5}, asked for {most}");
        assert!(gcp <= *most, "k = {k}: {gcp}");
    }
}

const CENSUS: [&str; 6] = ["Gender", "Education", "Marital", "Race", "Work-class", "Country"];

#[test]
fn peel_keeps_the_loss_on_adult_low() {
    let Some(data) = common::shared_data() else { return };
    let categories = [
        "education",
        "marital-status",
        "native-country",
        "occupation",
        "race",
        "salary-class",
        "sex",
        "workclass",
    ];
    let policy = policy("k = 5", &["age"], &categories, Some(&data.join("hierarchies/adult-arx")), "");
    let most = [(5, 0.049), (10, 0.076), (25, 0.116), (50, 0.154), (100, 0.197)];
    check_losses(&data.join("adult.train.complete.csv.zst"), &policy, &most);
}

#[test]
fn peel_keeps_the_loss_on_the_census_low() {
    let Some(data) = common::shared_data() else { return };
    let policy = policy("k = 5", &["Age"], &CENSUS, Some(&data.join("hierarchies/census9-like")), "");
    let most = [(5, 0.0108), (10, 0.0190), (25, 0.0340), (50, 0.0493), (100, 0.0695)];
    check_losses(&data.join("census9-like.csv.zst"), &policy, &most);
}

#[test]
fn peel_keeps_the_loss_on_flat_adult_low() {
    let Some(data) = common::shared_data() else { return };
    let categories = ["workclass", "marital-status", "occupation", "race", "sex", "native-country"];
    let policy = policy("k = 5", &["age", "education-num"], &categories, None, "");
    let most = [(5, 0.080), (10, 0.130), (50, 0.28), (100, 0.35)];
    check_losses(&data.join("adult.train.complete.csv.zst"), &policy, &most);
}

#[test]
fn peel_loses_far_less_than_others_with_diverse_classes() {
    let Some(data) = common::shared_data() else { return };
    let sensitive = "[attribute.Occupation]\nrole = \"sensitive\"\n";
    let policy = policy("l = 4", &["Age"], &CENSUS, Some(&data.join("hierarchies/census9-like")), sensitive);
    let problem = problem(&data.join("census9-like.csv.zst"), &policy);
    let others = ["mondrian", "hilbert", "idistance"].map(|method| gcp_of(&problem, &policy, method));
    let best = others.into_iter().fold(f64::INFINITY, f64::min);
    let peel = gcp_of(&problem, &policy, "peel");
    eprintln!("peel {peel:.5}, the best of the others {best:.5}");
    assert!(peel <= 0.7 * best, "{peel} and {best}");
}

/// Many quasi-identifiers with deep hierarchies: next to nothing of the lattice can be visited.
#[test]
fn peel_copes_with_twenty_quasi_identifiers() {
    let names: Vec<String> = (0..20).map(|at| format!("q{at}")).collect();
    let mut text = names.join(",") + "\n";
    let mut state = 1u64;
    for _ in 0..1500 {
        let cells = names.iter().map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Skewed, so that some values are frequent.
            ((state >> 33) % 64).min((state >> 45) % 64).to_string()
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    let mut policy = "[privacy]\nk = 5\n[method]\nname = \"peel\"\nseed = 1\n".to_owned();
    for name in &names {
        write!(policy, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"categorical\"\nhierarchy = {{ intervals = [2, 4, 8, 16, 32] }}\n").unwrap();
    }
    let Loaded { problem, policy, .. } = common::loaded(text, &policy);
    let peel = gcp_of(&problem, &policy, "peel");
    let policy = policy.with_method("mondrian").unwrap();
    let mondrian = gcp_of(&problem, &policy, "mondrian");
    eprintln!("peel {peel:.4}, mondrian {mondrian:.4}");
    assert!(peel < mondrian, "{peel} and {mondrian}");
}
