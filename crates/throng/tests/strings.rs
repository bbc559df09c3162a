//! Generalization strings against the plain definition: every string of the lattice, one group-by each.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;

use common::{Case, Loaded, cases, load};
use proptest::prelude::*;
use throng::method::facts::Proof;
use throng::method::full_domain::goal::{GOALS, Goal};
use throng::method::full_domain::{self, FullDomainSearch, Way};
use throng::method::{Fact, Method, Options, Solution};
use throng::policy::Policy;
use throng::privacy::Tally;
use throng::problem::Problem;
use throng::research::{Settings, level_values};
use throng::watch::Unwatched;
use throng::{loss::Kernel, run};

const REQUIREMENTS: &[&str] = &[
    "k = 2",
    "k = 3\nsuppress = 0.2",
    "k = 5",
    "l = 2",
    "k = 2\nl = 2\nsuppress = 0.15",
    "k = 2\nt = 0.4",
    "k = 3\nl = 2\ndiversity = \"distinct\"",
];

/// A case with rules on its first attribute, hard if asked for.
fn with_rules(case: &Case, privacy: &str, hard: bool) -> String {
    let rule = match &case.kinds[0] {
        common::Kind::Number { .. } => "{ cut = [0, 1], importance = 3",
        common::Kind::Tree { .. } => "{ apart = [\"Low\", \"High\"], importance = 2",
        common::Kind::Flat { .. } => return case.policy(privacy, "rv-global"),
        _ => return case.policy(privacy, "rv-global"),
    };
    let rules = format!("[attribute.q0]\nrules = [{rule}, hard = {hard} }}]\n");
    case.policy(privacy, "rv-global").replace("[attribute.q0]\n", &rules)
}

fn loaded(case: &Case, privacy: &str, hard: bool) -> Option<Loaded> {
    let plain = load(case, privacy, "rv-global");
    let policy = Policy::parse(&with_rules(case, privacy, hard), None).unwrap();
    // A rule about a value that the table does not have is an error of its own.
    let problem = Problem::new(&plain.table, &policy).ok()?;
    Some(Loaded { policy, problem, ..plain })
}

/// One string with what the plain definition says of it.
struct Plain {
    levels: Vec<usize>,
    score: f64,
    tops: usize,
}

/// All strings of the lattice.
fn all_strings(problem: &Problem) -> Vec<Vec<usize>> {
    let mut strings: Vec<Vec<usize>> = vec![Vec::new()];
    for attribute in &problem.attributes {
        strings = strings
            .into_iter()
            .flat_map(|string| {
                (0..attribute.domain.levels()).map(move |level| [&string[..], &[level]].concat())
            })
            .collect();
    }
    strings
}

/// The search as the thesis describes it: all strings in memory, sorted by value, and the list halved again and again.
/// A string that passes removes all that come after it, one that fails all that are more specific.
fn halving_search(problem: &Problem) -> (Option<Vec<usize>>, usize) {
    let valid = enumerate(problem, Goal::ResearchValue, &Settings::default());
    let passes = |levels: &Vec<usize>| valid.iter().any(|plain| plain.levels == *levels);
    let tops = |levels: &[usize]| {
        problem
            .attributes
            .iter()
            .zip(levels)
            .filter(|(own, level)| own.domain.levels() - 1 == **level)
            .count()
    };
    // Values that differ by rounding are equal.
    let rounded = |levels: &[usize]| (value(problem, levels) * 1e9).round() as i64;
    let mut left = all_strings(problem);
    left.sort_by_cached_key(|levels| (std::cmp::Reverse(rounded(levels)), tops(levels), levels.clone()));
    let (mut best, mut tests) = (None, 0);
    while !left.is_empty() {
        let middle = left.len() / 2;
        tests += 1;
        if passes(&left[middle]) {
            best = Some(left[middle].clone());
            left.truncate(middle);
        } else {
            let failed = left[middle].clone();
            left.retain(|levels| levels.iter().zip(&failed).any(|(level, failed)| level > failed));
        }
    }
    (best, tests)
}

/// All valid strings, by grouping the records anew for each.
fn enumerate(problem: &Problem, goal: Goal, settings: &Settings) -> Vec<Plain> {
    let values = level_values(problem, settings).unwrap();
    let kernel = Kernel::new(&problem.attributes);
    let mut valid = Vec::new();
    for levels in all_strings(problem) {
        let ends: Vec<Vec<(u32, u32)>> =
            problem.attributes.iter().zip(&levels).map(|(own, level)| own.domain.at_level(*level)).collect();
        let breaks = |rule: &throng::rules::BoundRule| {
            rule.hard && ends[rule.attribute].iter().any(|ends| rule.broken_by(*ends))
        };
        if problem.rules.iter().any(breaks) {
            continue;
        }
        let mut groups: BTreeMap<Vec<(u32, u32)>, Vec<u32>> = BTreeMap::new();
        for record in 0..problem.len() {
            let key =
                (0..levels.len()).map(|at| ends[at][problem.records.code(record, at) as usize]).collect();
            groups.entry(key).or_default().push(record as u32);
        }
        let holds = |records: &[u32]| {
            let mut tally = Tally::for_problem(problem);
            records.iter().for_each(|record| tally.add_record(&problem.sensitive, *record));
            problem.requirement.holds(&tally)
        };
        let (good, bad): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, records)| holds(records));
        let suppressed: usize = bad.iter().map(|(_, records)| records.len()).sum();
        if suppressed > problem.suppressible {
            continue;
        }
        let tops =
            problem.attributes.iter().zip(&levels).filter(|(own, level)| own.domain.levels() - 1 == **level);
        let ncp = |key: &[(u32, u32)]| -> f64 {
            key.iter()
                .enumerate()
                .map(|(at, (low, high))| kernel.penalty(at, *low as usize, *high as usize))
                .sum()
        };
        let records = problem.len() as f64;
        let size = |group: &(Vec<(u32, u32)>, Vec<u32>)| group.1.len() as f64;
        let out = suppressed as f64;
        let score = match goal {
            // Who is left out is worth nothing.
            Goal::ResearchValue => {
                let of_levels: f64 = levels.iter().enumerate().map(|(at, level)| values[at][*level]).sum();
                of_levels * (1.0 - out / records)
            }
            Goal::Gcp => {
                -(good.iter().map(|group| size(group) * ncp(&group.0)).sum::<f64>()
                    + out * problem.total_weight())
                    / (records * problem.total_weight())
            }
            Goal::Discernibility => {
                -(good.iter().map(|group| size(group).powi(2)).sum::<f64>() + out * records)
            }
            Goal::AverageSize => -(records - out) / (good.len() as f64).max(1.0),
            Goal::WeightedMaximum => {
                -good.iter().map(|group| size(group) * ncp(&group.0)).fold(0.0, f64::max)
            }
            Goal::AverageNcp => {
                -good.iter().map(|group| ncp(&group.0)).sum::<f64>() / (good.len() as f64).max(1.0)
            }
            Goal::Volume => {
                let volume = |key: &[(u32, u32)]| -> f64 {
                    key.iter()
                        .zip(&problem.attributes)
                        .enumerate()
                        .map(|(at, ((low, high), own))| match low == high {
                            true => 1.0 / own.domain.len() as f64,
                            false => kernel.penalty(at, *low as usize, *high as usize) / own.weight,
                        })
                        .product()
                };
                -good.iter().map(|group| size(group) * volume(&group.0)).sum::<f64>()
                    / (records - out).max(1.0)
            }
            Goal::Classification | Goal::Il1 | Goal::IlInfinity => continue,
        };
        valid.push(Plain { tops: tops.count(), levels, score });
    }
    valid
}

/// The best string as the definition has it; scores that differ by rounding are equal.
fn best(mut valid: Vec<Plain>) -> Option<Plain> {
    let most = valid.iter().map(|plain| plain.score).fold(f64::NEG_INFINITY, f64::max);
    valid.retain(|plain| plain.score >= most - 1e-10 * (1.0 + most.abs()));
    valid.into_iter().min_by_key(|plain| (plain.tops, plain.levels.clone()))
}

fn method(way: Way, options: &str) -> FullDomainSearch {
    let written: toml::Table = options.parse().unwrap();
    let entry = if way == Way::Local { full_domain::LOCAL } else { full_domain::PARTITIONED };
    let declared = entry.options.iter().copied();
    FullDomainSearch::configure(way, &Options::check("the method", declared, &written).unwrap()).unwrap()
}

/// The levels that a solution tells in its report.
fn levels_of(solution: &Solution) -> Vec<usize> {
    let Fact::FullDomain(found) = &solution.facts[0] else { panic!("{:?}", solution.facts) };
    found.levels.iter().map(|own| usize::from(own.level)).collect()
}

fn value(problem: &Problem, levels: &[usize]) -> f64 {
    let values = level_values(problem, &Settings::default()).unwrap();
    levels.iter().enumerate().map(|(at, level)| values[at][*level]).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_global_search_finds_the_best_of_all_strings(case in cases(30), hard in any::<bool>()) {
        for privacy in REQUIREMENTS {
            let Some(loaded) = loaded(&case, privacy, hard) else { continue };
            let problem = &loaded.problem;
            if problem.requirement.check_feasible(problem).is_err() {
                continue;
            }
            let expected = best(enumerate(problem, Goal::ResearchValue, &Settings::default()));
            for way in [Way::Global, Way::Hybrid, Way::Partitioned] {
                match (method(way, "").solve(problem, &Unwatched), &expected) {
                    (Ok(solution), Some(expected)) => {
                        prop_assert_eq!(&levels_of(&solution), &expected.levels, "{:?} {}", way, privacy);
                        let share = 1.0 - solution.suppressed.len() as f64 / problem.len() as f64;
                        let score = share * value(problem, &expected.levels);
                        prop_assert!((score - expected.score).abs() < 1e-9);
                        let Fact::FullDomain(told) = &solution.facts[0] else { panic!("{:?}", solution.facts) };
                        prop_assert!((told.score.unwrap() - expected.score).abs() < 1e-6);
                    }
                    (Err(error), None) => {
                        prop_assert_eq!(error.fault(), throng::error::Fault::Requirement);
                        prop_assert!(error.message().contains("hard rule"), "{}", error);
                    }
                    (found, expected) => {
                        prop_assert!(false, "{:?} {:?}", found.map(|_| ()), expected.as_ref().map(|plain| &plain.levels));
                    }
                }
            }
            let Some(expected) = &expected else { continue };
            let score = |solution: &Solution| {
                let share = 1.0 - solution.suppressed.len() as f64 / problem.len() as f64;
                share * value(problem, &levels_of(solution))
            };
            let by_levels = method(Way::Local, "halving = \"levels\"").solve(problem, &Unwatched).ok();
            if let Ok(by_detail) = method(Way::Local, "").solve(problem, &Unwatched) {
                prop_assert!(score(&by_detail) <= expected.score + 1e-9);
                prop_assert!(by_levels.is_none_or(|found| score(&found) <= score(&by_detail) + 1e-9));
                let Fact::FullDomain(told) = &by_detail.facts[0] else { panic!("{:?}", by_detail.facts) };
                prop_assert!(told.proof != Proof::NothingMet, "{:?}", told);
            } else {
                prop_assert!(by_levels.is_none());
            }
        }
    }

    #[test]
    fn the_search_of_the_thesis_ends_at_the_same_string(case in cases(30), privacy in prop::sample::select(vec![REQUIREMENTS[0], REQUIREMENTS[2]])) {
        let loaded = load(&case, privacy, "rv-global");
        let problem = &loaded.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        let (expected, tests) = halving_search(problem);
        prop_assert!(tests <= all_strings(problem).len());
        let found = method(Way::Global, "").solve(problem, &Unwatched).unwrap();
        prop_assert_eq!(Some(levels_of(&found)), expected, "{}", privacy);
    }

    #[test]
    fn any_loss_can_be_the_goal(case in cases(25), privacy in prop::sample::select(REQUIREMENTS)) {
        let loaded = load(&case, privacy, "rv-global");
        let problem = &loaded.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        for (name, goal) in GOALS {
            let Some(expected) = best(enumerate(problem, *goal, &Settings::default())) else { continue };
            let solution = method(Way::Global, &format!("goal = \"{name}\"")).solve(problem, &Unwatched).unwrap();
            prop_assert_eq!(levels_of(&solution), expected.levels, "{} {}", name, privacy);
        }
    }

    #[test]
    fn a_stopped_search_bounds_what_is_left(case in cases(30), tests in 1u64..20) {
        let loaded = load(&case, "k = 3", "rv-global");
        let problem = &loaded.problem;
        prop_assume!(problem.len() >= 3);
        let expected = best(enumerate(problem, Goal::ResearchValue, &Settings::default())).unwrap();
        let values = level_values(problem, &Settings::default()).unwrap();
        let lattice = full_domain::lattice::Lattice::new(problem).unwrap();
        let measure = full_domain::goal::Measure::new(Goal::ResearchValue, &lattice, &values);
        let limits = full_domain::search::Limits { tests: Some(tests), cache: 1 << 20, ..Default::default() };
        let search = full_domain::search::Search::new(&lattice, &measure, limits, Default::default(), &Unwatched);
        let found = search.run().unwrap();
        let best = found.best.unwrap();
        prop_assert!(best.score <= expected.score + 1e-9);
        prop_assert!(found.bound >= expected.score - 1e-9);
        if found.proven {
            prop_assert!((best.score - expected.score).abs() < 1e-9);
        }
    }

    #[test]
    fn near_strings_are_the_best_of_their_neighbours_and_can_be_picked(case in cases(25), privacy in prop::sample::select(REQUIREMENTS)) {
        let loaded = load(&case, privacy, "rv-global");
        let problem = &loaded.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        let solution = method(Way::Global, "").solve(problem, &Unwatched).unwrap();
        let Fact::FullDomain(found) = &solution.facts[0] else { panic!("{:?}", solution.facts) };
        let own = levels_of(&solution);
        // One attribute a level up at most, one down at most, by the plain definition.
        let beside = |levels: &[usize]| {
            let up: Vec<usize> = own.iter().zip(levels).filter(|(a, b)| b > a).map(|(a, b)| b - a).collect();
            let down = own.iter().zip(levels).filter(|(a, b)| b < a).count();
            up.len() <= 1 && up.iter().all(|by| *by == 1) && down <= 1 && levels != own
        };
        let equal = |levels: &[usize]| found.equal.iter().any(|own| own.levels.iter().map(|level| usize::from(*level)).eq(levels.iter().copied()));
        let mut plain: Vec<f64> = enumerate(problem, Goal::ResearchValue, &Settings::default())
            .into_iter()
            .filter(|own| beside(&own.levels) && !equal(&own.levels))
            .map(|own| own.score)
            .collect();
        plain.sort_by(|one, other| other.total_cmp(one));
        plain.truncate(10);
        prop_assert_eq!(plain.len(), found.near.len(), "{}", privacy);
        for (expected, near) in plain.iter().zip(&found.near) {
            prop_assert!((expected - near.score).abs() < 1e-9, "{} {:?} {:?}", privacy, plain, found.near);
        }
        for near in &found.near {
            let list: Vec<String> = near.levels.iter().map(u8::to_string).collect();
            let picked = method(Way::Global, &format!("string = [{}]", list.join(", "))).solve(problem, &Unwatched).unwrap();
            let Fact::FullDomain(told) = &picked.facts[0] else { panic!("{:?}", picked.facts) };
            prop_assert!((told.score.unwrap() - near.score).abs() < 1e-9);
            prop_assert_eq!((picked.suppressed.len() as u64, picked.partition.len() as u64), (near.suppressed, near.classes));
        }
    }

    #[test]
    fn owners_may_give_values_that_do_not_fall(case in cases(25), given in prop::collection::vec(0.0f64..1.0, 12)) {
        let loaded = load(&case, "k = 2", "rv-global");
        let problem = &loaded.problem;
        prop_assume!(problem.len() >= 2);
        let levels = problem.attributes[0].domain.levels();
        let list: Vec<String> = given[..levels].iter().map(|value| format!("{value:.6}")).collect();
        let method = method(Way::Global, &format!("research_values = {{ q0 = [{}] }}", list.join(", ")));
        let expected = best(enumerate(problem, Goal::ResearchValue, &method.research)).unwrap();
        prop_assert_eq!(levels_of(&method.solve(problem, &Unwatched).unwrap()), expected.levels);
    }
}

#[test]
fn wrong_research_values_are_errors_that_say_what_to_do() {
    let text = "[privacy]\nk = 2\n[method]\nname = \"rv-global\"\nresearch_values = { age = [1] }\n[attribute.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 10] }\n";
    let Loaded { problem, policy, .. } = common::loaded("age\n1\n2\n7\n8\n".to_owned(), text);
    let error = run::solve(&problem, &policy, &Unwatched).unwrap_err();
    assert_eq!(error.message(), "research_values gives \"age\" 1 values, but it has 4 levels");
}

/// Morton 2012, table 12: attributes, k, records, repetitions and the rate reported.
#[test]
fn simulated_tables_reach_k_as_often_as_reported() {
    let rows = [
        (3, 3, 50, 50, 0.68, 2000),
        (3, 3, 75, 50, 1.0, 2000),
        (3, 5, 75, 50, 0.74, 2000),
        (3, 5, 100, 50, 1.0, 2000),
        (7, 5, 1200, 500, 0.0, 500),
        (7, 5, 7500, 500, 1.0, 500),
        (12, 5, 30_000, 500, 0.0, 100),
        (12, 5, 100_000, 500, 1.0, 100),
        (15, 5, 750_000, 200, 0.96, 40),
        (18, 5, 2_000_000, 200, 0.0, 8),
    ];
    for (attributes, k, records, theirs, reported, repetitions) in rows {
        let simulation = throng::simulate::Simulation {
            attributes: throng::simulate::uniform(&vec![2; attributes]).unwrap(),
            k,
            repetitions,
            seed: 7,
        };
        let rate = simulation.draw(records, &Unwatched).unwrap().success_rate;
        // Both rates are random; four standard deviations, and one repetition for rates at an end.
        let both =
            (rate * f64::from(repetitions) + reported * f64::from(theirs)) / f64::from(repetitions + theirs);
        let spread = (both * (1.0 - both) * (1.0 / f64::from(repetitions) + 1.0 / f64::from(theirs))).sqrt();
        let allowed = 4.0 * spread + 1.0 / f64::from(theirs.min(repetitions));
        assert!(
            (rate - reported).abs() <= allowed,
            "{attributes}/{k}/{records}: {rate}, reported {reported}"
        );
    }
}

#[test]
fn a_search_tells_how_many_records_are_needed() {
    let simulation = throng::simulate::Simulation {
        attributes: throng::simulate::uniform(&[2, 2, 2]).unwrap(),
        k: 5,
        repetitions: 200,
        seed: 3,
    };
    let needed = simulation.records_needed(0.95, &Unwatched).unwrap().records.unwrap();
    // Between the sizes of table 12 with 74 % and 100 %.
    assert!((75..120).contains(&needed), "{needed}");
    let rate_at = |records| simulation.draw(records, &Unwatched).unwrap().success_rate;
    assert!(rate_at(needed) >= 0.95 && rate_at(needed * 9 / 10) < 0.95);
}

#[test]
fn numbers_with_cuts_have_a_level_of_bands_between_them() {
    let rows: String = (0..60).map(|at| format!("{},{}\n", 20 + at, 40 + at % 7)).collect();
    let policy = |age: &str| {
        format!(
            "[privacy]\nk = 15\n[method]\nname = \"rv-global\"\n[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n{age}\n\
             [attribute.weight]\nrole = \"quasi\"\nkind = \"numeric\"\n"
        )
    };
    let cells = |age: &str| {
        let loaded = common::loaded(format!("age,weight\n{rows}"), &policy(age));
        let problem = &loaded.problem;
        let solution = run::solve(problem, &loaded.policy, &Unwatched).unwrap();
        let boxes = solution.recoding.boxes(problem, &solution.partition).unwrap();
        let domain = &problem.attributes[0].domain;
        let mut cells: Vec<String> =
            boxes.ends[0].iter().map(|(low, high)| domain.cell(*low, *high)).collect();
        cells.dedup();
        (cells, domain.levels())
    };
    assert_eq!(cells(""), (vec!["[20-79]".to_owned()], 2));
    let cut = "rules = [{ cut = [39, 40] }, { cut = [60, 64] }]";
    assert_eq!(cells(cut), (["[20-39]", "[40-63]", "[64-79]"].map(str::to_owned).to_vec(), 3));
    // Bands of a hierarchy that lie between the cuts come before; where one lies across a cut there is no such level.
    let nested = format!("hierarchy = {{ intervals = [4] }}\n{cut}");
    assert_eq!(cells(&nested), (["[20-39]", "[40-63]", "[64-79]"].map(str::to_owned).to_vec(), 4));
    let across = format!("hierarchy = {{ intervals = [30] }}\n{cut}");
    assert_eq!(cells(&across).1, 3);
}
