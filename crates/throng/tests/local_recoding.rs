//! Bottom-up and top-down against plain versions of themselves that look at everything.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{cases, load};
use proptest::prelude::*;
use throng::evaluate::queries::answer::{Answerer, Spread};
use throng::evaluate::queries::draw::draw;
use throng::evaluate::queries::{Errors, Query};
use throng::loss::{Kernel, group_ncp};
use throng::method::bottom_up::{self, BottomUp, Finish, Merge};
use throng::method::local::halves::{Halving, Join};
use throng::method::local::pieces::{Cutter, Split};
use throng::method::local::random_order;
use throng::method::top_down::{self, TopDown};
use throng::method::{Method, Solution};
use throng::privacy::{Part, Tally};
use throng::problem::Problem;
use throng::watch::Unwatched;
use throng::with_matrix;

const REQUIREMENTS: [&str; 7] = [
    "k = 2",
    "k = 3",
    "k = 5",
    "k = 2\nl = 2",
    "k = 3\nl = 2\ndiversity = \"distinct\"",
    "k = 2\nt = 0.5",
    "l = 2\ndiversity = \"entropy\"",
];

fn holds(problem: &Problem, group: &[u32]) -> bool {
    let mut tally = Tally::for_problem(problem);
    group.iter().for_each(|record| tally.add_record(&problem.sensitive, *record));
    problem.requirement.holds(&tally)
}

/// Groups as sets: members ascending, groups by their first member.
fn as_sets(groups: impl IntoIterator<Item = Vec<u32>>) -> Vec<Vec<u32>> {
    let mut sets: Vec<Vec<u32>> = groups.into_iter().collect();
    sets.iter_mut().for_each(|group| group.sort_unstable());
    sets.sort();
    sets
}

fn solved(method: &dyn Method, problem: &Problem) -> Vec<Vec<u32>> {
    let solution = method.solve(problem, &Unwatched).unwrap();
    as_sets(solution.partition.groups().map(<[u32]>::to_vec))
}

fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    [a, b].concat()
}

/// The group of a list that costs least together with one of them; of equals the first.
fn plain_nearest(
    problem: &Problem,
    kernel: &Kernel,
    groups: &[Option<Vec<u32>>],
    own: usize,
) -> Option<(usize, f64)> {
    let group = groups[own].as_ref().unwrap();
    let mut best: Option<(usize, f64)> = None;
    for (other, members) in groups.iter().enumerate() {
        let Some(members) = members else { continue };
        let cost = group_ncp(problem, kernel, &union(group, members));
        if other != own && best.is_none_or(|(_, least)| cost < least) {
            best = Some((other, cost));
        }
    }
    best
}

/// The group of a list with which the loss of both grows least, loss being records times penalty; of equals the first.
fn plain_growth(
    problem: &Problem,
    kernel: &Kernel,
    groups: &[Option<Vec<u32>>],
    own: usize,
) -> Option<usize> {
    let group = groups[own].as_ref().unwrap();
    let own_penalty = group_ncp(problem, kernel, group);
    let mut best: Option<(usize, f64)> = None;
    for (other, members) in groups.iter().enumerate().filter(|(other, _)| *other != own) {
        let Some(members) = members else { continue };
        let together = group_ncp(problem, kernel, &union(group, members));
        let their_penalty = group_ncp(problem, kernel, members);
        let grows =
            group.len() as f64 * (together - own_penalty) + members.len() as f64 * (together - their_penalty);
        if best.is_none_or(|(_, least)| grows < least) {
            best = Some((other, grows));
        }
    }
    best.map(|(other, _)| other)
}

fn plain_bottom_up(problem: &Problem, merge: Merge, split: Split) -> Vec<Vec<u32>> {
    let kernel = Kernel::new(&problem.attributes);
    let order = random_order(problem, 10);
    let rank = |record: &u32| order.iter().position(|other| other == record).unwrap();
    let judge = throng::privacy::Judge::new(problem);
    let smallest = judge.smallest();
    let cut = |groups: Vec<Vec<u32>>| -> Vec<Vec<u32>> {
        let halving = Halving { kernel: &kernel, rounds: 3, join: Join::Loss };
        let pieces = |mut group: Vec<u32>| {
            if group.len() < 2 * smallest {
                return vec![group];
            }
            group.sort_by_key(rank);
            with_matrix!(&problem.records, matrix => Cutter { judge: &judge, matrix, halving, split }.cut(group))
        };
        groups.into_iter().flat_map(pieces).collect()
    };
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let row = |record: u32| -> Vec<u32> {
        (0..problem.attributes.len()).map(|at| problem.records.code(record as usize, at)).collect()
    };
    for record in 0..problem.len() as u32 {
        match groups.iter_mut().find(|group| row(group[0]) == row(record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups = cut(groups);
    while groups.len() > 1 && groups.iter().any(|group| !holds(problem, group)) {
        let mut now: Vec<Option<Vec<u32>>> = groups.into_iter().map(Some).collect();
        let turns: Vec<bool> = now.iter().map(|group| !holds(problem, group.as_ref().unwrap())).collect();
        for at in 0..now.len() {
            if !turns[at] || now[at].as_ref().is_none_or(|group| holds(problem, group)) {
                continue;
            }
            // The last group of all has nobody to join.
            let target = match merge {
                Merge::Growth => plain_growth(problem, &kernel, &now, at),
                Merge::Union => plain_nearest(problem, &kernel, &now, at).map(|(target, _)| target),
            };
            let Some(target) = target else { break };
            let own = now[at].take().unwrap();
            now[target].as_mut().unwrap().extend(own);
        }
        groups = cut(now.into_iter().flatten().collect());
    }
    as_sets(groups)
}

fn penalty(problem: &Problem, kernel: &Kernel, group: &[u32]) -> f64 {
    group_ncp(problem, kernel, group)
}

fn loss(problem: &Problem, kernel: &Kernel, group: &[u32]) -> f64 {
    group.len() as f64 * penalty(problem, kernel, group)
}

/// Halves a set as the method's description says, record by record.
fn plain_halves(problem: &Problem, kernel: &Kernel, set: &[u32], join: Join) -> (Vec<u32>, Vec<u32>) {
    let (mut u, mut v, mut apart) = (set[0], set[0], -1.0);
    for _ in 0..3 {
        let mut furthest = (u, -1.0);
        for &record in set.iter().filter(|record| **record != u) {
            let cost = penalty(problem, kernel, &[u, record]);
            if cost > furthest.1 {
                furthest = (record, cost);
            }
        }
        if furthest.1 <= apart {
            break;
        }
        (v, u, apart) = (u, furthest.0, furthest.1);
    }
    let (mut first, mut second) = (vec![u], vec![v]);
    for &record in set.iter().filter(|record| **record != u && **record != v) {
        let cost = |group: &[u32]| {
            let (before, after) =
                (penalty(problem, kernel, group), penalty(problem, kernel, &union(group, &[record])));
            match join {
                Join::Loss if after == before => after,
                Join::Loss => (group.len() + 1) as f64 * after - group.len() as f64 * before,
                Join::Width => after - before,
                Join::Seed => penalty(problem, kernel, &[group[0], record]),
            }
        };
        let costs = (cost(&first), cost(&second));
        if costs.0 < costs.1 || (costs.0 == costs.1 && first.len() <= second.len()) {
            first.push(record);
        } else {
            second.push(record);
        }
    }
    let in_order = |group: &[u32]| set.iter().copied().filter(|record| group.contains(record)).collect();
    (in_order(&first), in_order(&second))
}

fn plain_divide(problem: &Problem, kernel: &Kernel, set: Vec<u32>, join: Join, out: &mut Vec<Vec<u32>>) {
    let smallest = problem.requirement.smallest_class();
    if set.len() < 2 * smallest || set.len() < 2 {
        return out.push(set);
    }
    let (first, second) = plain_halves(problem, kernel, &set, join);
    if !holds(problem, &first) && !holds(problem, &second) {
        return out.push(set);
    }
    for half in [first, second] {
        if holds(problem, &half) {
            plain_divide(problem, kernel, half, join, out);
        } else {
            out.push(half);
        }
    }
}

/// Takes records one by one, each time the one that costs least.
fn plain_taking(
    problem: &Problem,
    kernel: &Kernel,
    group: &[u32],
    giver: &[u32],
    count: usize,
) -> (Vec<u32>, f64) {
    let mut all = group.to_vec();
    let mut left = giver.to_vec();
    for _ in 0..count {
        let cost = |record: &u32| penalty(problem, kernel, &union(&all, &[*record]));
        let best = (0..left.len()).min_by(|a, b| cost(&left[*a]).total_cmp(&cost(&left[*b]))).unwrap();
        all.push(left.remove(best));
    }
    let cost = penalty(problem, kernel, &all);
    (all.split_off(group.len()), cost)
}

fn plain_top_down(problem: &Problem, join: Join) -> Vec<Vec<u32>> {
    let kernel = &Kernel::new(&problem.attributes);
    let smallest = problem.requirement.smallest_class();
    let mut parts = Vec::new();
    plain_divide(problem, kernel, random_order(problem, 11), join, &mut parts);
    let mut groups: Vec<Option<Vec<u32>>> = parts.into_iter().map(Some).collect();
    let bad = |groups: &[Option<Vec<u32>>], at: usize| {
        groups[at].as_ref().is_some_and(|group| !holds(problem, group))
    };
    while groups.iter().flatten().count() > 1 && (0..groups.len()).any(|at| bad(&groups, at)) {
        let turns: Vec<usize> = (0..groups.len()).filter(|at| bad(&groups, *at)).collect();
        for at in turns {
            if !bad(&groups, at) {
                continue;
            }
            let group = groups[at].clone().unwrap();
            let Some((nearest, cost)) = plain_nearest(problem, kernel, &groups, at) else { break };
            let target = groups[nearest].clone().unwrap();
            let merging = (group.len() + target.len()) as f64 * cost
                - loss(problem, kernel, &group)
                - loss(problem, kernel, &target);
            let mut best: Option<(usize, Vec<u32>, f64)> = None;
            if group.len() < smallest {
                for (other, giver) in groups.iter().enumerate().filter(|(other, _)| *other != at) {
                    let Some(giver) = giver else { continue };
                    if giver.len() < 2 * smallest - group.len() {
                        continue;
                    }
                    let (taken, cost) = plain_taking(problem, kernel, &group, giver, smallest - group.len());
                    let kept: Vec<u32> =
                        giver.iter().copied().filter(|record| !taken.contains(record)).collect();
                    let fine = holds(problem, &union(&group, &taken)) && holds(problem, &kept);
                    if fine && best.as_ref().is_none_or(|(_, _, least)| cost < *least) {
                        best = Some((other, taken, cost));
                    }
                }
            }
            let taking = best.map(|(other, taken, cost)| {
                let giver = groups[other].clone().unwrap();
                let kept: Vec<u32> = giver.iter().copied().filter(|record| !taken.contains(record)).collect();
                let adds = smallest as f64 * cost + loss(problem, kernel, &kept)
                    - loss(problem, kernel, &group)
                    - loss(problem, kernel, &giver);
                (other, taken, kept, adds)
            });
            match taking {
                Some((other, taken, kept, adds)) if adds <= merging => {
                    groups[at] = Some(union(&group, &taken));
                    groups[other] = Some(kept);
                }
                _ => {
                    groups[nearest] = Some(union(&target, &group));
                    groups[at] = None;
                }
            }
        }
    }
    as_sets(groups.into_iter().flatten())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, ..ProptestConfig::default() })]

    #[test]
    fn bottom_up_is_its_plain_version(case in cases(60), privacy in prop::sample::select(&REQUIREMENTS[..]), widest in any::<bool>(), literal in any::<bool>()) {
        let loaded = load(&case, privacy, "bottom-up");
        let problem = &loaded.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        let split = if widest { Split::Widest } else { Split::Seeds };
        let merge = if literal { Merge::Union } else { Merge::Growth };
        let plain = plain_bottom_up(problem, merge, split);
        for search in [bottom_up::Search::Index, bottom_up::Search::Scan] {
            prop_assert_eq!(&solved(&BottomUp { merge, split, finish: Finish::Nothing, rounds: 3, search }, problem), &plain);
        }
        if problem.requirement.only_size() {
            let k = problem.requirement.smallest_class();
            prop_assert!(plain.iter().all(|group| (k..2 * k).contains(&group.len())));
        }
    }

    #[test]
    fn moves_at_the_end_of_bottom_up_never_lose_more_and_keep_the_requirement(case in cases(60), privacy in prop::sample::select(&REQUIREMENTS[..]), literal in any::<bool>()) {
        let loaded = load(&case, privacy, "bottom-up");
        let problem = &loaded.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        let merge = if literal { Merge::Union } else { Merge::Growth };
        let of = |finish| {
            solved(&BottomUp { merge, split: Split::Seeds, finish, rounds: 3, search: bottom_up::Search::Index }, problem)
        };
        let (moved, plain) = (of(Finish::Moves), of(Finish::Nothing));
        let kernel = Kernel::new(&problem.attributes);
        let whole = |groups: &[Vec<u32>]| groups.iter().map(|group| loss(problem, &kernel, group)).sum::<f64>();
        prop_assert!(whole(&moved) <= whole(&plain) + 1e-9, "{} against {}", whole(&moved), whole(&plain));
        prop_assert!(moved.iter().all(|group| holds(problem, group)));
        if problem.requirement.smallest_of(Part::L).is_some_and(|least| least >= 2) {
            prop_assert_eq!(&moved, &plain, "nobody moves where sensitive values leave room");
        }
        let mut all = moved.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..problem.len() as u32).collect::<Vec<u32>>());
        if problem.requirement.only_size() {
            let k = problem.requirement.smallest_class();
            prop_assert!(moved.iter().all(|group| (k..2 * k).contains(&group.len())));
        }
    }

    #[test]
    fn top_down_is_its_plain_version(case in cases(60), privacy in prop::sample::select(&REQUIREMENTS[..]), join in prop::sample::select(vec![Join::Loss, Join::Loss, Join::Width, Join::Seed])) {
        let loaded = load(&case, privacy, "top-down");
        let problem = &loaded.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        let plain = plain_top_down(problem, join);
        for search in [top_down::Search::Index, top_down::Search::Scan] {
            prop_assert_eq!(&solved(&TopDown { rounds: 3, join, search }, problem), &plain);
        }
    }
}

proptest! {
    // Larger tables, in which the index is several levels deep and batches of searches go stale.
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_scan_finds(case in cases(1500), k in 2usize..12, diverse in any::<bool>(), literal in any::<bool>()) {
        let privacy = if diverse { format!("k = {k}\nl = 2") } else { format!("k = {k}") };
        let loaded = load(&case, &privacy, "bottom-up");
        let problem = &loaded.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        let merge = if literal { Merge::Union } else { Merge::Growth };
        let finish = Finish::Nothing;
        let bottom_up =
            |search| solved(&BottomUp { merge, split: Split::Seeds, finish, rounds: 3, search }, problem);
        prop_assert_eq!(bottom_up(bottom_up::Search::Index), bottom_up(bottom_up::Search::Scan));
        let top_down = |search| solved(&TopDown { rounds: 3, join: Join::Loss, search }, problem);
        prop_assert_eq!(top_down(top_down::Search::Index), top_down(top_down::Search::Scan));
    }
}

#[test]
fn bottom_up_finds_the_two_triples_of_example_1() {
    let vectors: serde_json::Value = serde_json::from_str(include_str!("vectors/ncp.json")).unwrap();
    let points = vectors["example1_points"].as_object().unwrap();
    let names: Vec<&String> = points.keys().collect();
    let rows: String = points.values().map(|point| format!("{},{}\n", point[0], point[1])).collect();
    let policy = "[privacy]\nk = 2\n[attribute.x]\nrole = \"quasi\"\n[attribute.y]\nrole = \"quasi\"\n";
    let problem = common::loaded(format!("x,y\n{rows}"), policy).problem;
    let example = &vectors["example1_uncertainty_is_sum_of_interval_widths"]["two_triples"]["groups"];
    let expected = as_sets(example.as_array().unwrap().iter().map(|group| {
        let place = |name: &serde_json::Value| {
            names.iter().position(|known| *known == name.as_str().unwrap()).unwrap()
        };
        group.as_array().unwrap().iter().map(|name| place(name) as u32).collect()
    }));
    for merge in [Merge::Growth, Merge::Union] {
        for finish in [Finish::Moves, Finish::Nothing] {
            let search = bottom_up::Search::Index;
            let method = BottomUp { merge, split: Split::Seeds, finish, rounds: 3, search };
            assert_eq!(solved(&method, &problem), expected, "{merge:?}, {finish:?}");
        }
    }
}

/// Adult with age and education-num numeric; with hierarchies, work-class and marital-status have three levels as in the
/// paper, else all categories are flat.
fn adult(data: &std::path::Path, hierarchies: bool) -> (throng::policy::Policy, Problem) {
    let mut text = "[privacy]\nk = 10\n[method]\nname = \"top-down\"\nseed = 1\n".to_owned();
    for name in ["age", "education-num"] {
        text += &format!("[attribute.{name}]\nrole = \"quasi\"\nkind = \"numeric\"\n");
    }
    for name in ["workclass", "marital-status", "occupation", "race", "sex", "native-country"] {
        text += &format!("[attribute.{name}]\nrole = \"quasi\"\nkind = \"categorical\"\n");
        if hierarchies {
            let file = data.join(format!("hierarchies/adult-xu/{name}.csv"));
            text += &format!("hierarchy = '{}'\n", file.display());
        }
    }
    let policy = throng::policy::Policy::parse(&text, None).unwrap();
    let table = throng::run::read(&data.join("adult.train.complete.csv.zst"), &policy, &Unwatched).unwrap();
    let problem = Problem::new(&table, &policy).unwrap();
    (policy, problem)
}

#[test]
fn top_down_keeps_the_loss_on_flat_adult_low() {
    let Some(data) = common::shared_data() else { return };
    let (policy, mut problem) = adult(&data, false);
    for (k, most) in [(5, 0.097), (10, 0.155), (50, 0.34), (100, 0.45)] {
        let policy = policy.clone().with_k(k).unwrap();
        problem.require(&policy.privacy);
        let solution = throng::run::solve(&problem, &policy, &Unwatched).unwrap();
        assert!(solution.partition.groups().all(|group| group.len() >= k));
        let gcp = throng::plan::target::gcp(&problem, &solution);
        assert!(gcp <= most, "k = {k}: {gcp}");
    }
}

/// The error of a workload on groups as they would be published.
fn mean_error(problem: &Problem, solution: &Solution, queries: &[Query]) -> f64 {
    let spread = Spread::of_solution(problem, solution);
    Errors::of(&Answerer::new(problem).answer(queries, &spread)).mean.unwrap()
}

#[test]
fn on_adult_bottom_up_loses_about_what_top_down_does_and_both_less_than_the_papers_multidim() {
    let Some(data) = common::shared_data() else { return };
    let (policy, mut problem) = adult(&data, true);
    let all: Vec<usize> = (0..problem.attributes.len()).collect();
    let workloads = [draw(&problem, &all, None, 500, 1), draw(&problem, &all[1..], Some(0), 500, 1)];
    // MultiDim takes a category for a number and cuts at the median.
    let as_numbers: toml::Table = "categories = \"numbers\"\nties = \"table\"".parse().unwrap();
    for k in [5, 10, 25, 50, 100] {
        let mut solved = |method: &str, options: toml::Table| {
            let mut policy = policy.clone().with_method(method).unwrap().with_k(k).unwrap();
            policy.method.options.extend(options);
            problem.require(&policy.privacy);
            let solution = throng::run::solve(&problem, &policy, &Unwatched).unwrap();
            let sizes: Vec<usize> = solution.partition.groups().map(<[u32]>::len).collect();
            let errors = workloads.each_ref().map(|queries| mean_error(&problem, &solution, queries));
            (throng::plan::target::gcp(&problem, &solution), sizes, errors)
        };
        let (relaxed, ..) = solved("mondrian-relaxed", toml::Table::new());
        let (multidim, _, errors_of_multidim) = solved("mondrian", as_numbers.clone());
        let (bottom_up, sizes, errors) = solved("bottom-up", toml::Table::new());
        let (top_down, ..) = solved("top-down", toml::Table::new());
        assert!(bottom_up < relaxed && top_down < relaxed, "k = {k}: {bottom_up}, {top_down}, {relaxed}");
        assert!(bottom_up < multidim && top_down < multidim, "k = {k}: {bottom_up}, {top_down}, {multidim}");
        assert!(bottom_up <= 1.1 * top_down, "k = {k}: {bottom_up}, {top_down}");
        assert!(sizes.iter().all(|size| (k..2 * k).contains(size)), "k = {k}");
        // COUNT, then SUM.
        for (own, theirs) in errors.iter().zip(errors_of_multidim) {
            assert!(*own < theirs, "k = {k}: {errors:?}, {errors_of_multidim:?}");
        }
    }
}
