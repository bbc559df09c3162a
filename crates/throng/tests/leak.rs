//! What grouping tells of records beyond their classes: methods that deal by lot tell nothing that a plain program finds, the
//! literal rule does; and the attacks are what their definitions say.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::{Loaded, loaded};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::attack::{Membership, attack, members};
use throng::audit::{Keep, Received};
use throng::method::facts::{Because, Grouping};
use throng::method::{Fact, Method, Methods, Solution};
use throng::release::{Order, Publish};
use throng::run;
use throng::secret::Secret;
use throng::watch::Unwatched;

/// Different numbers with values that do not depend on them: 30 % v0, 20 % v1, 5 % each of ten others.
fn table(rows: usize, dimensions: usize, seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut columns: Vec<Vec<usize>> =
        (0..dimensions).map(|_| (0..rows).map(|at| 7 * at).collect()).collect();
    columns.iter_mut().for_each(|column| column.shuffle(&mut random));
    let value = |at: usize| match at * 20 / rows {
        0..6 => 0,
        6..10 => 1,
        twentieth => twentieth - 8,
    };
    let mut values: Vec<usize> = (0..rows).map(value).collect();
    values.shuffle(&mut random);
    let mut text: String = (0..dimensions).map(|at| format!("q{at},")).collect();
    text += "s\n";
    for (row, value) in values.into_iter().enumerate() {
        columns.iter().for_each(|column| write!(text, "{},", column[row]).unwrap());
        writeln!(text, "v{value}").unwrap();
    }
    text
}

fn policy(dimensions: usize, privacy: &str, method: &str) -> String {
    let quasi: String = (0..dimensions).map(|at| format!("[attribute.q{at}]\nrole = \"quasi\"\n")).collect();
    format!(
        "[privacy]\n{privacy}\n[method]\nseed = 1\n{method}\n[attribute.s]\nrole = \"sensitive\"\n{quasi}"
    )
}

fn load(rows: usize, dimensions: usize, privacy: &str, method: &str) -> Loaded {
    let mut loaded = loaded(table(rows, dimensions, 3), &policy(dimensions, privacy, method));
    loaded.problem.secret = Secret::from_bytes(b"a secret of the tests");
    loaded
}

fn method(loaded: &Loaded) -> Box<dyn Method> {
    let methods = Methods::standard();
    let entry = methods.find(&loaded.policy.method.name).unwrap();
    methods.configure(entry, &loaded.policy.method.options).unwrap()
}

fn solve(loaded: &Loaded) -> Solution {
    method(loaded).solve(&loaded.problem, &Unwatched).unwrap()
}

/// Of classes that hold v0, the share in which the member with the lowest q0 has it, and what chance would give.
fn lowest_has_it(loaded: &Loaded, solution: &Solution) -> (f64, f64, f64) {
    let rows: Vec<Vec<String>> =
        loaded.csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let has = |record: &u32| rows[*record as usize].last().unwrap() == "v0";
    let (mut hits, mut chance, mut variance, mut classes) = (0.0, 0.0, 0.0, 0.0);
    for class in solution.partition.groups().filter(|class| class.iter().any(has)) {
        let lowest =
            class.iter().min_by_key(|record| rows[**record as usize][0].parse::<u64>().unwrap()).unwrap();
        let share = class.iter().filter(|record| has(record)).count() as f64 / class.len() as f64;
        hits += f64::from(u8::from(has(lowest)));
        chance += share;
        variance += share * (1.0 - share);
        classes += 1.0;
    }
    (hits / classes, chance / classes, f64::sqrt(variance) / classes)
}

#[test]
fn whoever_sits_at_the_lower_end_of_a_class_is_nobody_special() {
    for name in ["hilbert", "hilbert-fast", "idistance", "idistance-fast"] {
        let own = load(3000, 1, "l = 3", &format!("name = \"{name}\""));
        let (hits, chance, error) = lowest_has_it(&own, &solve(&own));
        assert!((hits - chance).abs() < 4.0 * error, "{name}: {hits} of {chance} ± {error}");
        let own = load(3000, 1, "l = 3", &format!("name = \"{name}\"\ndealing = \"literal\""));
        let (hits, chance, error) = lowest_has_it(&own, &solve(&own));
        assert!(hits > chance + 8.0 * error, "{name}, literal: {hits} of {chance} ± {error}");
    }
}

#[test]
fn lots_come_from_the_secret_and_never_from_the_seed() {
    for name in ["name = \"hilbert\"", "name = \"idistance-fast\"", "name = \"peel\"\nblind = true"] {
        let mut own = load(600, 2, "l = 3", name);
        let first = solve(&own).partition;
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for threads in [1, 3] {
            assert_eq!(pool(threads).install(|| solve(&own)).partition, first, "{name} on {threads}");
        }
        if !name.contains("idistance") {
            own.problem.seed = 99;
            assert_eq!(solve(&own).partition, first, "{name} with another seed");
        }
        own.problem.seed = 1;
        own.problem.secret = Secret::from_bytes(b"another secret");
        assert_ne!(solve(&own).partition, first, "{name} with another secret");
    }
}

#[test]
fn every_form_of_diversity_is_dealt_and_holds() {
    let forms = [
        "l = 2.5",
        "l = 3\nk = 10",
        "l = 3\ndiversity = \"distinct\"",
        "l = 4\ndiversity = \"entropy\"",
        "l = 3\ndiversity = \"recursive\"\nc = 2",
        "l = 2\nt = 0.3",
        "l = 3.3333",
    ];
    for form in forms {
        for name in ["name = \"hilbert\"", "name = \"peel\"\nblind = true"] {
            let own = load(600, 2, form, name);
            let solution = solve(&own);
            assert_eq!(solution.facts, [Fact::Grouped { by: Grouping::Lots }], "{form}");
            let measures = own.measures(&own.publish(&solution, Publish::Cells, Order::Keep));
            assert!(measures.violations.is_empty(), "{name}, {form}: {:?}", measures.violations);
        }
    }
}

#[test]
fn a_value_of_exactly_one_in_l_is_dealt_still() {
    let text: String =
        (0..90).map(|at| format!("{at},v{}\n", if at % 3 == 0 { 0 } else { 1 + at % 7 })).collect();
    for dealing in ["lots", "literal"] {
        let own = loaded(
            format!("q0,s\n{text}"),
            &policy(1, "l = 3", &format!("name = \"hilbert\"\ndealing = \"{dealing}\"")),
        );
        let solution = solve(&own);
        assert!(solution.partition.len() >= 10, "{dealing}: {} classes", solution.partition.len());
        let measures = own.measures(&own.publish(&solution, Publish::Cells, Order::Keep));
        assert!(measures.violations.is_empty(), "{dealing}: {:?}", measures.violations);
    }
}

#[test]
fn auto_deals_by_lot_where_l_is_above_half_of_what_is_feasible() {
    let chosen = |privacy: &str| {
        let own = load(600, 2, privacy, "name = \"auto\"");
        solve(&own).facts
    };
    let because = |method, because| Fact::Chosen { method, because };
    let narrow = chosen("l = 2");
    let lots = Fact::Grouped { by: Grouping::Lots };
    assert_eq!(narrow, [because("hilbert".into(), Because::DiversityIsNarrow), lots]);
    let wide = chosen("l = 1.6");
    assert_eq!(wide, [because("peel".into(), Because::LosesLeast), Fact::Grouped { by: Grouping::Costs }]);
}

#[test]
fn improving_is_told_whatever_was_dealt_before() {
    let own = load(300, 2, "l = 3", "name = \"hilbert\"\nimprove = true");
    assert_eq!(solve(&own).facts, [Fact::Grouped { by: Grouping::Costs }]);
}

/// The tests by their definitions, from the texts of two files with rows in the same order, all numbers different.
struct Plain {
    hits: f64,
    chance: f64,
    squares: Vec<f64>,
}

fn plain(table: &str, release: &str) -> Plain {
    let cells = |text: &str| -> Vec<Vec<String>> {
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (table, release) = (cells(table), cells(release));
    let width = table[0].len() - 1;
    let number = |row: usize, at: usize| table[row][at].parse::<f64>().unwrap();
    let span = |at: usize| {
        let all = (0..table.len()).map(|row| number(row, at));
        all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
    };
    let spans: Vec<f64> = (0..width).map(span).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    table.iter().for_each(|row| *counts.entry(&row[width]).or_default() += 1);
    let mut classes: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    (0..table.len()).for_each(|row| classes.entry(release[row][..width].to_vec()).or_default().push(row));
    let apart = |a: usize, b: usize| -> f64 {
        (0..width).map(|at| (number(a, at) - number(b, at)).abs() / spans[at]).sum()
    };
    let (mut hits, mut chance) = (0.0, 0.0);
    for class in classes.values() {
        let top = class
            .iter()
            .map(|row| table[*row][width].as_str())
            .max_by_key(|value| (counts[value], std::cmp::Reverse(*value)));
        let top = top.unwrap();
        let mean: Vec<f64> = class.iter().map(|a| class.iter().map(|b| apart(*a, *b)).sum()).collect();
        let most = mean.iter().copied().fold(0.0, f64::max);
        let far: Vec<usize> = (0..class.len()).filter(|at| mean[*at] > most - 1e-9).collect();
        let has = |at: usize| f64::from(u8::from(table[class[at]][width] == top));
        hits += far.iter().map(|at| has(*at)).sum::<f64>() / far.len() as f64;
        chance += (0..class.len()).map(has).sum::<f64>() / class.len() as f64;
    }
    let mut line: Vec<usize> = (0..table.len()).collect();
    line.sort_by(|a, b| number(*a, 0).total_cmp(&number(*b, 0)));
    let top = counts.iter().max_by_key(|(_, count)| **count).unwrap().0;
    let squares = [10, 100].map(|length| {
        let (mut sum, mut windows) = (0.0, 0.0);
        for window in line.chunks_exact(length) {
            let has = |row: &&usize| table[**row][width] == **top;
            let (mut expected, mut variance) = (0.0, 0.0);
            for class in classes.values() {
                let (size, inside) =
                    (class.len() as f64, class.iter().filter(|row| window.contains(row)).count() as f64);
                let share = class.iter().filter(has).count() as f64 / size;
                expected += inside * share;
                variance += inside * share * (1.0 - share) * (size - inside) / (size - 1.0);
            }
            if variance > 0.0 {
                let found = window.iter().filter(has).count() as f64;
                sum += (found - expected) * (found - expected) / variance;
                windows += 1.0;
            }
        }
        sum / windows
    });
    let count = classes.len() as f64;
    Plain { hits: hits / count, chance: chance / count, squares: squares.to_vec() }
}

#[test]
fn attacks_are_what_their_definitions_say() {
    for (dimensions, name) in
        [(1, "hilbert\"\ndealing = \"literal"), (1, "hilbert"), (1, "peel"), (2, "peel"), (2, "mondrian")]
    {
        let own = load(400, dimensions, "l = 3", &format!("name = \"{name}\""));
        let release = own.publish(&solve(&own), Publish::Cells, Order::Keep);
        let text = String::from_utf8(release.bytes.clone()).unwrap();
        let oracle = plain(&own.csv, &text);
        let (folder, data) = own.on_disk();
        let file = folder.path().join("release.csv");
        std::fs::write(&file, &text).unwrap();
        let attacked = run::attack_files(&data, &file, &own.policy, &Unwatched).unwrap();
        assert_eq!(attacked.membership, Membership::Order);
        let found = &attacked.attacks[0];
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{name}: {one} and {other}");
        near(found.farthest.hits, oracle.hits);
        near(found.farthest.chance, oracle.chance);
        if dimensions == 1 {
            found.windows.iter().zip(&oracle.squares).for_each(|(own, plain)| near(own.mean, *plain));
        }
    }
}

#[test]
fn values_shuffled_within_classes_are_within_noise_of_the_control() {
    let mut own = load(3000, 1, "l = 3", "name = \"hilbert\"\ndealing = \"literal\"");
    let classes = solve(&own).partition;
    let leaking = attack(&own.problem, &classes, &Unwatched).unwrap();
    assert!(
        leaking[0].farthest.is_above_chance()
            && leaking[0].windows.iter().all(throng::attack::Windows::is_above_chance)
    );
    let mut random = ChaCha8Rng::seed_from_u64(8);
    for class in classes.groups() {
        let codes = &mut own.problem.sensitive[0].codes;
        for at in (1..class.len()).rev() {
            codes.swap(class[at] as usize, class[random.random_range(0..=at)] as usize);
        }
    }
    let control = attack(&own.problem, &classes, &Unwatched).unwrap();
    assert!(control[0].is_within_noise(), "{control:?}");
    assert!((control[0].farthest.control.mean - control[0].farthest.chance).abs() < 0.02);
}

#[test]
fn who_is_in_which_class_is_found_out_from_files() {
    for (name, publish, known) in [
        ("hilbert", Publish::Cells, Membership::Drawn),
        ("mondrian", Publish::Cells, Membership::Drawn),
        ("hilbert", Publish::Permutation, Membership::Exact),
    ] {
        let own = load(500, 2, "l = 3", &format!("name = \"{name}\""));
        let solution = solve(&own);
        let release = own.publish(&solution, publish, Order::Shuffled);
        let sensitive = (publish == Publish::Permutation).then(|| {
            let mut file = throng::release::MemoryFile::new(&throng::format::CSV);
            let release = throng::release::Release::new(
                &own.table,
                &own.problem,
                &own.policy,
                &solution,
                publish,
                Order::Shuffled,
            );
            release.unwrap().write_sensitive(&mut file).unwrap();
            file
        });
        let beside = sensitive.as_ref().map(|file| file as &dyn throng::release::Sink);
        let received =
            Received::read_back(&release, beside, &own.problem, &own.policy, Keep::Audited, &Unwatched)
                .unwrap();
        let found = members(&own.problem, &own.policy, &received, &Unwatched).unwrap();
        assert_eq!(found.known, known);
        // As many classes of each size, with the same values and the same ranges.
        assert_eq!(summary(&own, &found.classes), summary(&own, &solution.partition), "{name}");
        if publish == Publish::Permutation || name == "mondrian" {
            let sorted = |classes: &throng::method::Partition| {
                let mut all: Vec<Vec<u32>> = classes.groups().map(<[u32]>::to_vec).collect();
                all.iter_mut().for_each(|class| class.sort_unstable());
                all.sort();
                all
            };
            assert_eq!(sorted(&found.classes), sorted(&solution.partition), "{name}");
            assert_eq!(found.certain, 1.0);
        }
    }
}

/// The values of each class, sorted.
fn summary(own: &Loaded, classes: &throng::method::Partition) -> Vec<Vec<u32>> {
    let values = |class: &[u32]| {
        let mut values: Vec<u32> =
            class.iter().map(|record| own.problem.sensitive[0].codes[*record as usize]).collect();
        values.sort_unstable();
        values
    };
    let mut all: Vec<Vec<u32>> = classes.groups().map(values).collect();
    all.sort();
    all
}

#[test]
fn a_release_of_another_table_is_refused() {
    let own = load(200, 1, "l = 3", "name = \"hilbert\"");
    let release = own.publish(&solve(&own), Publish::Cells, Order::Shuffled);
    let text = String::from_utf8(release.bytes.clone()).unwrap();
    let (folder, data) = own.on_disk();
    let file = folder.path().join("release.csv");
    let other: String = text
        .lines()
        .enumerate()
        .map(|(at, line)| if !(5..=60).contains(&at) { format!("{line}\n") } else { "[0-7],v1\n".to_owned() })
        .collect();
    std::fs::write(&file, other).unwrap();
    let error = run::attack_files(&data, &file, &own.policy, &Unwatched).unwrap_err();
    assert!(error.message().contains("some of its rows fit no record"), "{}", error.message());
}
