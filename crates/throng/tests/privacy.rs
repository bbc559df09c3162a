//! Laws that every privacy model keeps, distances against an exact solver, and what is said when nothing helps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use proptest::prelude::*;
use throng::error::Fault;
use throng::policy::{Diversity, Policy};
use throng::privacy::{
    Alpha, AlphaSpec, Closeness, Disclosure, DisclosureSpec, Histogram, KAnonymity, LDiversity, Likeness,
    LikenessForm, LikenessSpec, Model, Tally,
};
use throng::problem::{Problem, Protected};
use throng::table::Tree;
use throng::table::domain::{Encoding, encode_categorical, encode_numeric};

fn tally_of(counts: &[u32]) -> Tally {
    let mut tally = Tally::new(&[counts.len()]);
    for (value, count) in counts.iter().enumerate() {
        (0..*count).for_each(|_| tally.add(&[value as u32]));
    }
    tally
}

/// A sensitive attribute in which value `i` occurs `counts[i]` times.
fn counted(encoding: Encoding, counts: &[u32], has_hierarchy: bool) -> Protected {
    let Encoding { domain, codes } = encoding;
    let repeated = codes.iter().zip(counts).flat_map(|(code, count)| vec![*code; *count as usize]);
    Protected {
        name: "secret".to_owned(),
        column: 0,
        domain,
        has_hierarchy,
        codes: repeated.collect(),
        people: None,
        whole: None,
    }
}

const LABELS: [&str; 5] = ["1", "2", "3", "4", "5"];

fn flat(counts: &[u32]) -> Protected {
    let labels = &LABELS[..counts.len()];
    counted(encode_categorical(labels, &vec![false; labels.len()], None).unwrap(), counts, false)
}

fn ordered(counts: &[u32]) -> Protected {
    let labels = &LABELS[..counts.len()];
    counted(encode_numeric(labels, &vec![false; labels.len()]).unwrap(), counts, false)
}

/// The ancestors of each label, nearest first. The first two keep the root from being anything but `*`.
fn paths(choices: [usize; 3]) -> Vec<Vec<&'static str>> {
    let above: [&[&str]; 5] = [&["A"], &["C", "T"], &["D", "T"], &["B"], &[]];
    let chosen = [0, 1].into_iter().chain(choices);
    LABELS.into_iter().zip(chosen).map(|(leaf, choice)| [&[leaf], above[choice]].concat()).collect()
}

fn hierarchical(paths: &[Vec<&str>], counts: &[u32]) -> Protected {
    let tree = Tree::from_paths(paths.iter().map(|path| path.iter().copied())).unwrap();
    counted(encode_categorical(&LABELS, &[false; 5], Some(&tree)).unwrap(), counts, true)
}

/// The counts of `LABELS` as a histogram over the codes of an attribute.
fn histogram(counted: &Protected, counts: &[u32]) -> Histogram {
    let mut histogram = Histogram::new(counted.domain.len());
    for (label, count) in LABELS.iter().zip(counts) {
        (0..*count).for_each(|_| histogram.add(counted.domain.code(label).unwrap()));
    }
    histogram
}

/// Every model over one attribute of three values, with its parameters.
fn models() -> Vec<Box<dyn Model>> {
    let mut models: Vec<Box<dyn Model>> = Vec::new();
    models.extend([1, 2, 3, 5].map(|k| Box::new(KAnonymity { k }) as Box<dyn Model>));
    let diversity = |l, form| Box::new(LDiversity { l, form, attribute: 0 }) as Box<dyn Model>;
    for l in [1.0, 1.1, 1.3, 1.5, 1.7, 2.0, 2.5, 2.9, 3.0] {
        models.push(diversity(l, Diversity::Frequency));
        models.push(diversity(l, Diversity::Entropy));
    }
    for l in [1.0, 2.0, 3.0] {
        models.push(diversity(l, Diversity::Distinct));
        models.extend([0.3, 0.7, 1.0, 1.5, 4.0].map(|c| diversity(l, Diversity::Recursive { c })));
    }
    let paths = [vec!["1", "Low"], vec!["2", "Low"], vec!["3", "High"]];
    let tree = Tree::from_paths(paths).unwrap();
    let table = [2, 1, 1];
    for t in [0.0, 0.1, 0.25, 0.5, 0.8] {
        let with_tree = encode_categorical(&LABELS[..3], &[false; 3], Some(&tree)).unwrap();
        let attributes = [flat(&table), ordered(&table), counted(with_tree, &table, true)];
        models.extend(attributes.map(|counted| Box::new(Closeness::new(t, 0, &counted)) as Box<dyn Model>));
    }
    for beta in [0.1, 0.4, 1.0, 3.0] {
        for form in [LikenessForm::Basic, LikenessForm::Enhanced] {
            models.push(Box::new(Likeness::new(LikenessSpec { beta, form }, 0, &flat(&table))));
        }
    }
    for delta in [0.05, 0.3, 0.7, 1.2, 2.0] {
        models.push(Box::new(Disclosure::new(DisclosureSpec { delta }, 0, &flat(&table))));
    }
    for alpha in [0.34, 0.5, 1.0] {
        for values in [vec![], vec![("1".to_owned(), None)]] {
            models.push(Box::new(Alpha::new(&AlphaSpec { alpha, values }, 0, &flat(&table))));
        }
    }
    models
}

/// All ways to count `values` values up to `most` times each, but for none at all.
fn all_counts(values: usize, most: u32) -> Vec<Vec<u32>> {
    let base = most + 1;
    (1..base.pow(values as u32))
        .map(|number| (0..values as u32).map(|value| number / base.pow(value) % base).collect())
        .collect()
}

fn sum(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

#[test]
fn sets_that_satisfy_a_monotone_model_satisfy_it_together() {
    for model in models().iter().filter(|model| model.monotone()) {
        let good: Vec<Vec<u32>> =
            all_counts(3, 4).into_iter().filter(|counts| model.holds(&tally_of(counts))).collect();
        assert!(!good.is_empty() || model.describe().contains("diversity"), "{model:?} holds for nothing");
        for (at, a) in good.iter().enumerate() {
            for b in &good[at..] {
                assert!(model.holds(&tally_of(&sum(a, b))), "{model:?}: {a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn no_set_below_the_smallest_class_satisfies_a_model() {
    let mut sets_below = 0;
    for model in models() {
        for counts in all_counts(3, 4) {
            let tally = tally_of(&counts);
            if (tally.size() as usize) < model.smallest_class() {
                sets_below += 1;
                assert!(!model.holds(&tally), "{model:?}: {counts:?}");
            }
        }
    }
    assert!(sets_below > 100);
}

/// The definitions of Cao and Karras 2012 and of Brickell and Shmatikov 2008, word for word.
#[test]
fn likeness_and_disclosure_are_as_their_papers_define_them() {
    for table in all_counts(3, 3).into_iter().filter(|table| table.iter().all(|count| *count > 0)) {
        let all: f64 = table.iter().map(|count| f64::from(*count)).sum();
        let attribute = flat(&table);
        for counts in all_counts(3, 3) {
            let size: f64 = counts.iter().map(|count| f64::from(*count)).sum();
            let shares: Vec<(f64, f64)> = table
                .iter()
                .zip(&counts)
                .map(|(whole, own)| (f64::from(*whole) / all, f64::from(*own) / size))
                .collect();
            // Numbers that no share of these tables can lie on the border of.
            for level in [0.123_456f64, 0.654_321, 1.234_567] {
                let gains = |limit: fn(f64) -> f64| {
                    shares.iter().all(|(p, q)| q <= p || (q - p) / p <= level.min(limit(*p)))
                };
                let basic = LikenessSpec { beta: level, form: LikenessForm::Basic };
                let enhanced = LikenessSpec { beta: level, form: LikenessForm::Enhanced };
                let holds = |spec| Likeness::new(spec, 0, &attribute).holds(&tally_of(&counts));
                assert_eq!(holds(basic), gains(|_| f64::INFINITY), "{table:?} {counts:?} {level}");
                assert_eq!(holds(enhanced), gains(|p| -p.ln()), "{table:?} {counts:?} {level}");
                let close = shares.iter().all(|(p, q)| (q / p).ln().abs() < level);
                let disclosure = Disclosure::new(DisclosureSpec { delta: level }, 0, &attribute);
                assert_eq!(disclosure.holds(&tally_of(&counts)), close, "{table:?} {counts:?} {level}");
            }
        }
    }
}

#[test]
fn the_smallest_class_is_reached_where_size_decides() {
    for k in 1..6 {
        let model = KAnonymity { k };
        assert!(model.holds(&tally_of(&[k as u32])) && model.smallest_class() == k);
    }
    for l in [1.0, 2.0, 3.0] {
        for form in [Diversity::Frequency, Diversity::Distinct, Diversity::Entropy] {
            let model = LDiversity { l, form, attribute: 0 };
            let once_each = vec![1; model.smallest_class()];
            assert!(model.holds(&tally_of(&once_each)), "{model:?}");
        }
    }
}

/// A step of a random history of a tally.
#[derive(Clone, Debug)]
enum Step {
    Add(u32, u32),
    /// The record at this place among those that are in, counted round.
    Remove(usize),
    Merge(Vec<(u32, u32)>),
    Clear,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let record = (0u32..4, 0u32..3);
    let step = prop_oneof![
        6 => record.clone().prop_map(|(a, b)| Step::Add(a, b)),
        4 => any::<usize>().prop_map(Step::Remove),
        2 => prop::collection::vec(record, 0..5).prop_map(Step::Merge),
        1 => Just(Step::Clear),
    ];
    prop::collection::vec(step, 0..40)
}

fn counted_from_scratch(records: &[(u32, u32)]) -> Tally {
    let mut tally = Tally::new(&[4, 3]);
    records.iter().for_each(|(a, b)| tally.add(&[*a, *b]));
    tally
}

fn take(tally: &mut Tally, records: &mut Vec<(u32, u32)>, step: Step) {
    match step {
        Step::Add(a, b) => {
            tally.add(&[a, b]);
            records.push((a, b));
        }
        Step::Remove(_) if records.is_empty() => {}
        Step::Remove(at) => {
            let (a, b) = records.swap_remove(at % records.len());
            tally.remove(&[a, b]);
        }
        Step::Merge(more) => {
            tally.merge(&counted_from_scratch(&more));
            records.extend(more);
        }
        Step::Clear => {
            tally.clear();
            records.clear();
        }
    }
}

/// What a histogram lists as present, in order.
fn listed(histogram: &Histogram) -> Vec<(u32, u32)> {
    let mut present: Vec<(u32, u32)> = histogram.present().collect();
    present.sort_unstable();
    present
}

fn distance_of(counted: &Protected, counts: &[u32]) -> f64 {
    Closeness::new(1.0, 0, counted).distance(&histogram(counted, counts))
}

/// |i − j| / (m − 1)
fn rank_distance(values: usize) -> impl Fn(usize, usize) -> f64 {
    move |a, b| a.abs_diff(b) as f64 / (values - 1) as f64
}

/// The height of the lowest common ancestor over that of the tree, from the paths alone.
fn tree_distance(paths: &[Vec<&str>]) -> impl Fn(usize, usize) -> f64 {
    move |a, b| {
        if a == b {
            return 0.0;
        }
        let shared = paths[a].iter().rev().zip(paths[b].iter().rev()).take_while(|(a, b)| a == b).count();
        let top = &paths[a][paths[a].len() - shared..];
        let below = paths.iter().filter(|path| path.ends_with(top));
        let height = below.map(|path| path.len() - shared).max().unwrap();
        height as f64 / paths.iter().map(Vec::len).max().unwrap() as f64
    }
}

/// The exact earth mover's distance between two histograms, by cheapest augmenting paths. Masses are scaled to whole
/// numbers, so that it ends.
fn earth_movers(from: &[u32], to: &[u32], ground: impl Fn(usize, usize) -> f64) -> f64 {
    let (from_total, to_total): (u32, u32) = (from.iter().sum(), to.iter().sum());
    let mut supply: Vec<i64> = from.iter().map(|mass| i64::from(mass * to_total)).collect();
    let mut demand: Vec<i64> = to.iter().map(|mass| i64::from(mass * from_total)).collect();
    let n = from.len();
    let mut flow = vec![vec![0i64; n]; n];
    let mut work = 0.0;
    while supply.iter().any(|left| *left > 0) {
        let (path, cost) = cheapest_path(&supply, &demand, &flow, &ground);
        let backward = path.windows(2).skip(1).step_by(2).map(|hop| flow[hop[1]][hop[0]]);
        let (first, last) = (path[0], path[path.len() - 1]);
        let mass = backward.chain([supply[first], demand[last]]).min().unwrap();
        for (nth, hop) in path.windows(2).enumerate() {
            if nth % 2 == 0 { flow[hop[0]][hop[1]] += mass } else { flow[hop[1]][hop[0]] -= mass }
        }
        supply[first] -= mass;
        demand[last] -= mass;
        work += cost * mass as f64;
    }
    work / f64::from(from_total) / f64::from(to_total)
}

/// The cheapest way from a place with supply to one with demand, alternating between givers and takers: forwards
/// along any pair, backwards along pairs that carry flow.
fn cheapest_path(
    supply: &[i64],
    demand: &[i64],
    flow: &[Vec<i64>],
    ground: impl Fn(usize, usize) -> f64,
) -> (Vec<usize>, f64) {
    let n = supply.len();
    let start = |giver: usize| if supply[giver] > 0 { (0.0, vec![giver]) } else { (f64::INFINITY, vec![]) };
    let mut givers: Vec<(f64, Vec<usize>)> = (0..n).map(start).collect();
    let mut takers: Vec<(f64, Vec<usize>)> = vec![(f64::INFINITY, Vec::new()); n];
    // Bellman and Ford: a shortest path visits every place once.
    for _ in 0..2 * n {
        for (giver, taker) in (0..n * n).map(|pair| (pair / n, pair % n)) {
            relax(&givers[giver].clone(), &mut takers[taker], taker, ground(giver, taker));
            if flow[giver][taker] > 0 {
                relax(&takers[taker].clone(), &mut givers[giver], giver, -ground(giver, taker));
            }
        }
    }
    let reached = (0..n).filter(|taker| demand[*taker] > 0).map(|taker| &takers[taker]);
    let (cost, path) = reached.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().clone();
    (path, cost)
}

fn relax(from: &(f64, Vec<usize>), to: &mut (f64, Vec<usize>), place: usize, length: f64) {
    if from.0 + length < to.0 - 1e-12 {
        *to = (from.0 + length, from.1.iter().copied().chain([place]).collect());
    }
}

fn small_counts() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(0u32..6, 5)
        .prop_filter("some record", |counts| counts.iter().any(|count| *count > 0))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_running_tally_equals_one_counted_from_scratch(steps in steps()) {
        let (mut tally, mut records) = (Tally::new(&[4, 3]), Vec::new());
        for step in steps {
            take(&mut tally, &mut records, step);
            let fresh = counted_from_scratch(&records);
            prop_assert_eq!(&tally, &fresh);
            for attribute in 0..2 {
                prop_assert_eq!(listed(tally.histogram(attribute)), listed(fresh.histogram(attribute)));
                prop_assert_eq!(tally.histogram(attribute).total(), tally.size());
            }
        }
    }

    #[test]
    fn large_sets_are_monotone_too(
        a in prop::collection::vec(0u32..400, 3),
        b in prop::collection::vec(0u32..400, 3),
        scale in 1u32..50,
    ) {
        // Multiples lie on the very edge of what is allowed, where rounding tells.
        let edges = [vec![10 * scale, scale, 0], vec![10, 1, 0], vec![10 * scale, 2 * scale, scale]];
        for model in models().iter().filter(|model| model.monotone()) {
            let sets = edges.iter().chain([&a, &b]).filter(|set| model.holds(&tally_of(set)));
            let sets: Vec<&Vec<u32>> = sets.collect();
            for (one, other) in sets.iter().flat_map(|one| sets.iter().map(move |other| (one, other))) {
                prop_assert!(model.holds(&tally_of(&sum(one, other))), "{model:?}: {one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn distances_are_those_of_an_exact_solver(class in small_counts(), table in small_counts(), choices in any::<[u8; 3]>()) {
        // All values occur in the table, for its values are the domain.
        let table: Vec<u32> = table.iter().map(|count| count + 1).collect();
        let paths = paths(choices.map(|choice| usize::from(choice) % 5));
        let all_alike = |a: usize, b: usize| f64::from(u8::from(a != b));
        for (found, expected) in [
            (distance_of(&flat(&table), &class), earth_movers(&class, &table, all_alike)),
            (distance_of(&ordered(&table), &class), earth_movers(&class, &table, rank_distance(5))),
            (distance_of(&hierarchical(&paths, &table), &class), earth_movers(&class, &table, tree_distance(&paths))),
        ] {
            prop_assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
        }
    }
}

#[test]
fn distances_of_the_salaries_in_the_closeness_paper() {
    let labels: Vec<String> = (3..=11).map(|thousands| format!("{thousands}000")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let salaries = counted(encode_numeric(&labels, &[false; 9]).unwrap(), &[1; 9], false);
    let model = Closeness::new(1.0, 0, &salaries);
    for (class, expected) in [(["3000", "4000", "5000"], 0.375), (["6000", "8000", "11000"], 1.0 / 6.0)] {
        let mut histogram = Histogram::new(9);
        class.iter().for_each(|label| histogram.add(salaries.domain.code(label).unwrap()));
        assert!((model.distance(&histogram) - expected).abs() < 1e-12, "{class:?}");
    }
}

/// The problem of a table in which illness `i` occurs `counts[i]` times.
fn problem(counts: &[u32], privacy: &str) -> (Policy, Problem) {
    let rows = counts
        .iter()
        .enumerate()
        .map(|(illness, count)| format!("1,ill {illness}\n").repeat(*count as usize));
    let csv = format!("age,illness\n{}", rows.collect::<String>());
    let text = format!(
        "[privacy]\n{privacy}\n[attribute.age]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n"
    );
    let policy = Policy::parse(&text, None).unwrap();
    let problem = common::problem_of(&csv, &policy);
    (policy, problem)
}

/// The hint of the error about a requirement that the table cannot meet.
fn hint_of(counts: &[u32], privacy: &str) -> String {
    let (_, problem) = problem(counts, privacy);
    let error = problem.requirement.check_feasible(&problem).unwrap_err();
    assert_eq!(error.fault(), Fault::Requirement, "{error}");
    error.hint().unwrap().to_owned()
}

#[test]
fn the_largest_possible_k_and_l_are_named() {
    for (counts, privacy, largest) in [
        (&[2, 1][..], "k = 4", "k is 3"),
        (&[4, 1, 1], "l = 2", "l is 1.5"),
        (&[1, 1, 1], "l = 4", "l is 3"),
        (&[1, 1, 1], "l = 4\ndiversity = \"distinct\"", "l is 3"),
        (&[1, 1, 1], "l = 4\ndiversity = \"entropy\"", "l is 3"),
        (&[7; 5], "l = 6\ndiversity = \"entropy\"", "l is 5"),
        (&[4, 3, 2, 1], "l = 4\ndiversity = \"recursive\"\nc = 2", "l is 3"),
    ] {
        let hint = hint_of(counts, privacy);
        assert_eq!(hint, format!("the largest possible {largest}"), "{counts:?} {privacy}");
    }
}

#[test]
fn what_a_hint_calls_possible_is_possible() {
    for form in ["frequency", "entropy", "distinct"] {
        for counts in [[5, 3, 1], [10, 3, 3], [7, 7, 7], [100, 1, 1], [11, 10, 9]] {
            let privacy = format!("l = 4\ndiversity = \"{form}\"");
            let hint = hint_of(&counts, &privacy);
            let largest: f64 = hint.rsplit(' ').next().unwrap().parse().unwrap();
            let feasible = |l: f64| {
                let (_, problem) = problem(&counts, &privacy.replace("l = 4", &format!("l = {l}")));
                problem.requirement.check_feasible(&problem).is_ok()
            };
            let step = if form == "distinct" { 1.0 } else { 0.001 };
            assert!(feasible(largest) && !feasible(largest + step), "{form} {counts:?}: {hint}");
        }
    }
}

#[test]
fn where_no_l_is_possible_the_factor_is_what_to_change() {
    let hint = hint_of(&[9, 1], "l = 2\ndiversity = \"recursive\"\nc = 0.5");
    assert!(hint.contains('c') && !hint.contains("l is 0"), "{hint}");
}
