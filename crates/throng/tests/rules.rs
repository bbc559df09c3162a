//! Data constraint rules, research value and utility-driven clustering.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Case, Kind, Loaded, cases, load, loaded, problem_of, shared_data, table_of};
use proptest::prelude::*;
use throng::audit::audit;
use throng::method::cluster::{Cluster, Kind as Price};
use throng::method::{Entry, Method, STANDARD, Solution};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::release::{Order, Publish};
use throng::research::{Settings, detail};
use throng::table::Scale;
use throng::watch::Unwatched;
use throng::{audit::Measures, run};

/// A policy with rules on every attribute that can have some.
fn with_rules(case: &Case, privacy: &str, method: &str, hard: bool) -> String {
    let mut text = case.policy(privacy, method);
    for (at, kind) in case.kinds.iter().enumerate() {
        let rules = match kind {
            Kind::Number { .. } => {
                format!("{{ cut = [0, 1], importance = 3, hard = {hard} }}, {{ cut = [4, 6] }}")
            }
            Kind::Decimal => format!("{{ cut = [1.5, 2.5], hard = {hard} }}"),
            Kind::Flat { .. } => format!("{{ apart = [\"v0\", \"v1\"], importance = 20, hard = {hard} }}"),
            Kind::Tree { .. } => format!("{{ apart = [\"Low\", \"Upper\"], hard = {hard} }}"),
            Kind::Intervals => format!("{{ cut = [9, 10], hard = {hard} }}"),
            Kind::Date | Kind::Prefix => continue,
        };
        let section = format!("[attribute.q{at}]\n");
        text = text.replace(&section, &format!("{section}rules = [{rules}]\n"));
    }
    text
}

/// A case under another policy; none if a rule names a value that the table does not have.
fn under(plain: Loaded, text: &str) -> Option<Loaded> {
    let policy = Policy::parse(text, None).unwrap();
    let problem = Problem::new(&plain.table, &policy).ok()?;
    Some(Loaded { policy, problem, ..plain })
}

/// A limit that allows everything, for methods that work within one.
fn with_a_limit(entry: &Entry, privacy: &str) -> String {
    match entry.takes.contains(&throng::privacy::Part::MaxLoss) {
        true => format!("{privacy}\nmax_loss = 1.0"),
        false => privacy.to_owned(),
    }
}

fn measured(loaded: &Loaded, solution: &Solution) -> Measures {
    loaded.measures(&loaded.publish(solution, Publish::Cells, Order::Keep))
}

/// A problem from which as many records may be left out as its plan allows.
fn with_allowance(loaded: Loaded) -> Loaded {
    let plan = throng::plan::Plan::new(&loaded.policy, &Default::default(), Default::default()).unwrap();
    let mut problem = loaded.problem.clone();
    problem.suppressible = plan.suppressible(problem.len());
    Loaded { problem, ..loaded }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_method_breaks_a_hard_rule(case in cases(50), privacy in prop::sample::select(&["k = 2", "k = 3\nsuppress = 0.3", "k = 4"][..])) {
        for entry in STANDARD.iter().filter(|entry| entry.takes.contains(&throng::privacy::Part::K)) {
            let privacy = &with_a_limit(entry, privacy);
            let text = with_rules(&case, privacy, entry.name, true);
            let Some(loaded) = under(load(&case, privacy, entry.name), &text) else { continue };
            let loaded = with_allowance(loaded);
            match run::solve(&loaded.problem, &loaded.policy, &Unwatched) {
                Ok(solution) => {
                    let measures = measured(&loaded, &solution);
                    prop_assert!(measures.violations.is_empty(), "{}: {:?}", entry.name, measures.violations);
                    prop_assert!(measures.rules.iter().all(|rule| rule.kept || !rule.hard), "{}", entry.name);
                    prop_assert_eq!(
                        solution.suppressed.len() as u64 + measures.rows_published,
                        loaded.problem.len() as u64
                    );
                }
                // The exact solver says so where a part is more than it can look at.
                Err(error) if error.message().contains("too large for an exact answer") => {}
                Err(error) => {
                    prop_assert_eq!(error.fault(), throng::error::Fault::Requirement, "{}: {}", entry.name, error);
                    let whole = loaded.problem.requirement.check_feasible(&loaded.problem).is_err();
                    // Methods within a limit reach for the most privacy and may miss what is asked for.
                    let misses = entry.takes.contains(&throng::privacy::Part::MaxLoss) && error.message().contains("was reached");
                    prop_assert!(whole || misses || error.message().contains("hard rule"), "{}: {}", entry.name, error);
                }
            }
        }
    }

    #[test]
    fn the_audit_finds_the_rules_that_boxes_break(case in cases(40)) {
        // What refine publishes is half-open and reaches beyond its boxes: see the test of its cells.
        let by_boxes = |entry: &&Entry| entry.takes.contains(&throng::privacy::Part::K) && entry.name != "refine";
        for entry in STANDARD.iter().filter(by_boxes) {
            let text = with_rules(&case, "k = 3", entry.name, false);
            let Some(loaded) = under(load(&case, "k = 3", entry.name), &text) else { continue };
            let Ok(solution) = run::solve(&loaded.problem, &loaded.policy, &Unwatched) else { continue };
            let boxes = solution.recoding.boxes(&loaded.problem, &solution.partition).unwrap();
            let measures = measured(&loaded, &solution);
            for (rule, found) in loaded.problem.rules.iter().zip(&measures.rules) {
                let domain = &loaded.problem.attributes[rule.attribute].domain;
                let breaks = |(low, high): &(u32, u32)| rule.broken_by(domain.covered(*low, *high));
                let broken = boxes.ends[rule.attribute].iter().any(breaks);
                prop_assert_eq!(found.kept, !broken, "{} {}", entry.name, rule.text);
            }
        }
    }

    #[test]
    fn refine_keeps_hard_cuts_as_readers_read_its_cells(
        ages in prop::collection::vec(0u32..90, 6..60),
        classes in prop::collection::vec(0u32..3, 60),
        p in 5u32..80,
        gap in 1u32..6,
        k in 1u32..4,
        hard in any::<bool>(),
    ) {
        let cut = (f64::from(p), f64::from(p + gap));
        let mut csv = "age,class\n".to_owned();
        ages.iter().zip(&classes).for_each(|(age, class)| csv += &format!("{age},{class}\n"));
        let text = format!(
            "[privacy]\nk = {k}\n[method]\nname = \"refine\"\nseed = 1\n[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n\
             rules = [{{ cut = [{}, {}], hard = {hard} }}]\n[attribute.class]\nrole = \"class\"\n",
            cut.0, cut.1
        );
        let loaded = loaded(csv, &text);
        let Ok(solution) = run::solve(&loaded.problem, &loaded.policy, &Unwatched) else { return Ok(()) };
        let release = loaded.publish(&solution, Publish::Cells, Order::Keep);
        let rows = common::rows_of_text(&release.bytes);
        let broken = rows[1..].iter().any(|row| common::plain_crosses(&row[0], cut));
        prop_assert!(!(hard && broken), "{:?} crosses {:?}", rows, cut);
        let measures = loaded.measures(&release);
        prop_assert_eq!(measures.rules[0].kept, !broken, "{:?} and {:?}", rows, cut);
        for (row, age) in rows[1..].iter().zip(&ages) {
            prop_assert!(common::plain_covers(&row[0], f64::from(*age)), "{:?} {}", row, age);
        }
    }

    #[test]
    fn pruned_partners_are_those_of_all_pairs(
        case in cases(70),
        privacy in prop::sample::select(&["k = 3", "k = 5\nsuppress = 0.2", "k = 2\nl = 2", "k = 2\nl = 2\nsuppress = 0.2"][..]),
        hard in any::<bool>(),
        base in 0.0f64..2.0,
    ) {
        let text = with_rules(&case, privacy, "rv-cluster", hard);
        let Some(loaded) = under(load(&case, privacy, "rv-cluster"), &text) else { return Ok(()) };
        // The clusters themselves leave nothing out before they begin; that is done for them.
        let lost = loaded.problem.requirement.leave_out(&loaded.problem, loaded.problem.suppressible);
        prop_assume!(lost.is_ok_and(|lost| lost.is_empty()));
        for kind in [Price::Research, Price::ResearchOrSuppress, Price::Euclid] {
            let research = Settings { base: (base > 0.2).then_some(base), ..Settings::default() };
            let method = Cluster { kind, research, overlap: true, plain: false };
            let plain = Cluster { plain: true, ..method.clone() };
            match (method.solve(&loaded.problem, &Unwatched), plain.solve(&loaded.problem, &Unwatched)) {
                (Ok(found), Ok(expected)) => {
                    prop_assert_eq!(&found.partition, &expected.partition, "{:?}", kind);
                    prop_assert_eq!(&found.suppressed, &expected.suppressed, "{:?}", kind);
                }
                (found, expected) => prop_assert_eq!(found.is_err(), expected.is_err()),
            }
        }
    }

    #[test]
    fn without_overlap_ranges_are_equal_or_do_not_meet(
        case in cases(60),
        hard in any::<bool>(),
        kind in prop::sample::select(&[Price::Research, Price::ResearchOrSuppress, Price::Euclid][..]),
        privacy in prop::sample::select(&["k = 3", "k = 2\nl = 1.5", "k = 4\nsuppress = 0.2"][..]),
    ) {
        let text = with_rules(&case, privacy, "rv-cluster", hard);
        let Some(loaded) = under(load(&case, privacy, "rv-cluster"), &text) else { return Ok(()) };
        prop_assume!(loaded.problem.requirement.check_feasible(&loaded.problem).is_ok());
        let mut problem = loaded.problem.clone();
        problem.suppressible = loaded.problem.len() / 5;
        let loaded = Loaded { problem, ..loaded };
        let method = Cluster { kind, research: Settings::default(), overlap: false, plain: false };
        let Ok(solution) = method.solve(&loaded.problem, &Unwatched) else { return Ok(()) };
        let release = loaded.publish(&solution, Publish::Cells, Order::Keep);
        prop_assert!(loaded.measures(&release).violations.is_empty());
        let rows = common::rows_of_text(&release.bytes);
        for (at, attribute) in loaded.problem.attributes.iter().enumerate() {
            if matches!(attribute.domain.scale(), Scale::Numeric { spelling, .. } if !spelling.is_date()) {
                let cells: std::collections::BTreeSet<&String> = rows[1..].iter().map(|row| &row[at]).collect();
                let numbers = cells.iter().filter(|cell| cell.as_str() != "?");
                let mut ranges: Vec<(f64, f64)> = numbers.map(|cell| signed_range(cell)).collect();
                ranges.sort_by(|one, other| one.partial_cmp(other).unwrap());
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", cells);
            }
        }
    }
}

/// The ends of a published range of numbers that may be negative, read from its text alone.
fn signed_range(cell: &str) -> (f64, f64) {
    if cell == "*" {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    if let Ok(number) = cell.parse() {
        return (number, number);
    }
    let inside = &cell[1..cell.len() - 1];
    let dash = 1 + inside[1..].find('-').unwrap();
    (inside[..dash].parse().unwrap(), inside[dash + 1..].parse().unwrap())
}

/// Ages of whole years, and towns below two regions, drawn without any library.
fn people(count: u32) -> String {
    let mut csv = "age,hours,town\n".to_owned();
    let mut state = 12345u64;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % most
    };
    for _ in 0..count {
        let (age, hours) = (17 + (next(30) + next(36)), 10 + next(6) * 10);
        let town = ["A", "B", "C", "D", "E"][(next(3) + next(3)) as usize];
        csv += &format!("{age},{hours},{town}\n");
    }
    csv
}

/// What is told as the research value is what anybody computes from the file: for each attribute its weight, times what its
/// values span by what its cells span, times the share of rules that no cell breaks.
#[test]
fn the_research_value_without_overlap_is_that_of_the_file() {
    let text = "[privacy]\nk = 5\n[method]\nname = \"rv-cluster\"\nseed = 1\noverlap = false\n\
        [attribute.age]\nrole = \"quasi\"\nweight = 2\nrules = [{ cut = [39, 40], importance = 3 }, { cut = [64, 65] }]\n\
        [attribute.hours]\nrole = \"quasi\"\n[attribute.town]\nrole = \"quasi\"\n\
        hierarchy = { North = [\"A\", \"B\"], South = [\"C\", \"D\", \"E\"] }\n";
    let loaded = loaded(people(400), text);
    let solution = run::solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
    let told = solution.facts.iter().find_map(|fact| match fact {
        throng::method::Fact::ClusterValue { left, .. } => Some(*left),
        _ => None,
    });
    let release = loaded.publish(&solution, Publish::Cells, Order::Keep);
    let rows = common::rows_of_text(&release.bytes);
    let span = |cell: &str| match cell {
        "North" => 2.0,
        "South" => 3.0,
        "*" => 5.0,
        _ if "ABCDE".contains(cell) => 1.0,
        _ => signed_range(cell).1 - signed_range(cell).0 + 1.0,
    };
    let detail = |at: usize| 400.0 / rows[1..].iter().map(|row| span(&row[at])).sum::<f64>();
    let kept = |cut| f64::from(u8::from(!rows[1..].iter().any(|row| common::plain_crosses(&row[0], cut))));
    let rules = (3.0 * kept((39.0, 40.0)) + kept((64.0, 65.0))) / 4.0;
    let value = 2.0 * detail(0) * rules + detail(1) + detail(2);
    assert!((told.unwrap() - value).abs() < 1e-9, "told {told:?}, in the file {value}");
    for at in 0..2 {
        let mut ranges: Vec<(f64, f64)> = rows[1..].iter().map(|row| signed_range(&row[at])).collect();
        ranges.sort_by(|one, other| one.partial_cmp(other).unwrap());
        ranges.dedup();
        assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ranges:?}");
        assert!(at > 0 || ranges.len() > 1, "nothing is told of ages");
    }
}

/// `spec/vectors/ncp.json`: Morton's worked examples.
#[test]
fn worked_values_of_research_value_and_rules() {
    let settings = Settings { base: Some(0.0), ..Settings::default() };
    let detail = detail(&[(125, 1.0)], &[(25, 10.0), (45, 15.0), (55, 25.0)]);
    let value = settings.value(0.2, detail, settings.ratio(50.0, 100.0));
    assert!((value - 0.005_434_782_608_695_652).abs() < 1e-15);
    assert_eq!(settings.ratio(30.0, 40.0), 0.75);
}

#[test]
fn rules_of_the_race_example_give_three_quarters() {
    let text = "[privacy]\nk = 1\n[attribute.race]\nrole = \"quasi\"\n\
        hierarchy = { Mixed = [\"Hispanic\", \"Black\"], White = [\"White\"], Asian = [\"Asian\"] }\n\
        rules = [{ apart = [\"White\", \"Hispanic\"], importance = 5 }, { apart = [\"White\", \"Black\"], importance = 20 },\n\
        { apart = [\"Hispanic\", \"Black\"], importance = 10 }, { apart = [\"Hispanic\", \"Asian\"], importance = 5 }]\n";
    let problem = loaded("race\nWhite\nBlack\nHispanic\nAsian\n".to_owned(), text).problem;
    let thesis = Settings { base: Some(0.0), ..Settings::default() };
    let values = throng::research::level_values(&problem, &thesis).unwrap();
    // Three of four labels are left, and rules worth 30 of 40.
    assert_eq!(values[0], vec![1.0, 0.75 * 0.75, 0.0]);
    // Unless it is given, the base is three times what all the rules are worth.
    let values = throng::research::level_values(&problem, &Settings::default()).unwrap();
    assert_eq!(values[0], vec![1.0, 0.75 * 150.0 / 160.0, 0.0]);
}

#[test]
fn an_impossible_hard_rule_is_named() {
    let text = "[privacy]\nk = 3\n[attribute.age]\nrole = \"quasi\"\nrules = [{ cut = [64, 65], hard = true }]\n\
        [attribute.sex]\nrole = \"quasi\"\nrules = [{ apart = [\"F\", \"M\"], hard = true }]\n";
    let csv = "age,sex\n20,F\n30,F\n40,F\n50,M\n60,M\n61,M\n70,F\n";
    for entry in STANDARD.iter().filter(|entry| entry.takes.contains(&throng::privacy::Part::K)) {
        let text = text.replace("k = 3", &with_a_limit(entry, "k = 3"));
        let policy = Policy::parse(&text, None).unwrap().with_method(entry.name).unwrap();
        let problem = problem_of(csv, &policy);
        let error = run::solve(&problem, &policy, &Unwatched).unwrap_err();
        assert!(error.message().contains("64 | 65 of \"age\""), "{}: {}", entry.name, error.message());
        assert_eq!(error.fault(), throng::error::Fault::Requirement);
    }
}

/// `[60-70)` covers 64 and 65, though the table has neither.
#[test]
fn a_half_open_cell_covers_numbers_that_the_table_does_not_have() {
    let text = "[privacy]\nk = 1\n[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\nrules = [{ cut = [64, 65], hard = true }]\n";
    let Loaded { problem, policy, .. } = loaded("age\n60\n62\n70\n80\n".to_owned(), text);
    for (cell, kept) in
        [("[60-70)", false), ("[60-66)", false), ("[60-65)", true), ("[60-62]", true), ("[60-65]", false)]
    {
        let release = table_of(&format!("age\n{cell}\n{cell}\n[70-80]\n[70-80]\n"), &policy);
        let measures = audit(&problem, &policy, &release, &Unwatched).unwrap().measures;
        assert_eq!(measures.rules[0].kept, kept, "{cell}");
        assert_eq!(measures.violations.is_empty(), kept, "{cell}: {:?}", measures.violations);
        assert_eq!(common::plain_crosses(cell, (64.0, 65.0)), !kept, "{cell}");
    }
}

#[test]
fn suppressing_more_than_allowed_is_a_violation() {
    let text = "[privacy]\nk = 1\nsuppress = 0.25\n[attribute.age]\nrole = \"quasi\"\n";
    let Loaded { problem, policy, .. } = loaded("age\n1\n2\n3\n4\n".to_owned(), text);
    for (rows, violations) in [("age\n1\n2\n3\n", 0), ("age\n1\n2\n", 1)] {
        let findings = audit(&problem, &policy, &table_of(rows, &policy), &Unwatched).unwrap();
        assert_eq!(findings.measures.violations.len(), violations, "{:?}", findings.measures.violations);
    }
}

#[test]
fn automatic_weights_favour_attributes_that_nothing_else_tells_of() {
    let mut csv = "age,born,city\n".to_owned();
    for row in 0..200 {
        // Born follows from age; the city follows from neither.
        csv.push_str(&format!("{},{},c{}\n", row % 50, 2000 - row % 50, (row * 7919) % 11 % 4));
    }
    let text = "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\nweight = \"auto\"\n\
        [attribute.born]\nrole = \"quasi\"\nweight = \"auto\"\n[attribute.city]\nrole = \"quasi\"\nweight = \"auto\"\n";
    let problem = loaded(csv, text).problem;
    let weights: Vec<f64> = problem.attributes.iter().map(|attribute| attribute.weight).collect();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!((weights[0] - weights[1]).abs() < 0.05 && weights[2] > 1.5 * weights[0], "{weights:?}");
}

const TWO_NUMBERS_AND_A_CATEGORY: &str = "[privacy]\nk = 2\n[attribute.a]\nrole = \"quasi\"\nweight = \"auto\"\n\
    [attribute.b]\nrole = \"quasi\"\nweight = \"auto\"\n\
    [attribute.c]\nrole = \"quasi\"\nkind = \"categorical\"\nweight = \"auto\"\nconfirmed = true\n";

/// Weights of two numbers and a category by the plain definition: ε = √(1 − (within / (n − g)) / (total / (n − 1))), the
/// share of the variance that g categories explain, by unbiased variances.
fn plain_weights(rows: &[(f64, f64, u32)]) -> [f64; 3] {
    let n = rows.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64, u32)) -> f64| rows.iter().map(of).sum::<f64>() / n;
    let spread = |of: &dyn Fn(&(f64, f64, u32)) -> f64| {
        let mean = mean(of);
        rows.iter().map(|row| (of(row) - mean).powi(2)).sum::<f64>()
    };
    let (a, b) = (|row: &(f64, f64, u32)| row.0, |row: &(f64, f64, u32)| row.1);
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let both: f64 = rows.iter().map(|row| (row.0 - mean_a) * (row.1 - mean_b)).sum();
    let r = (both / (spread(&a) * spread(&b)).sqrt()).abs();
    let epsilon = |of: &dyn Fn(&(f64, f64, u32)) -> f64| {
        let mut categories: Vec<u32> = rows.iter().map(|row| row.2).collect();
        categories.sort_unstable();
        categories.dedup();
        let g = categories.len() as f64;
        let mut within = 0.0;
        for category in categories {
            let own: Vec<f64> = rows.iter().filter(|row| row.2 == category).map(of).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            within += own.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        }
        (1.0 - (within / (n - g)) / (spread(of) / (n - 1.0))).max(0.0).sqrt()
    };
    let (ac, bc) = (epsilon(&a), epsilon(&b));
    let free = [1.0 - (r + ac) / 2.0, 1.0 - (r + bc) / 2.0, 1.0 - (ac + bc) / 2.0];
    free.map(|own| own / free.iter().sum::<f64>())
}

#[test]
fn automatic_weights_take_off_what_many_categories_explain_by_chance() {
    let hash = |row: u32| row.wrapping_mul(0x9e37_79b1) >> 16;
    // Of 2, 12, 150 and nearly as many categories as records, the first two follow the first number.
    for categories in [2u32, 12, 150, 290] {
        let row = |at: u32| {
            let a = hash(at) % 100;
            let c = if categories <= 12 { a * categories / 100 } else { at % categories };
            (f64::from(a), f64::from(hash(at + 1000) % 50 + a / 4), c)
        };
        let rows: Vec<(f64, f64, u32)> = (0..300).map(row).collect();
        let lines: String = rows.iter().map(|(a, b, c)| format!("{a},{b},v{c:03}\n")).collect();
        let problem = loaded(format!("a,b,c\n{lines}"), TWO_NUMBERS_AND_A_CATEGORY).problem;
        for (attribute, expected) in problem.attributes.iter().zip(plain_weights(&rows)) {
            let (name, found) = (&attribute.name, attribute.weight);
            assert!((found - expected).abs() < 1e-9, "{categories}, {name}: {found} {expected}");
        }
        // What tells of neither number weighs about as much as they do, however many values it has.
        let weight = problem.attributes[2].weight;
        assert!(categories <= 12 || weight > 0.25, "{categories}: {weight}");
    }
}

/// Adult, 8 attributes with ARX hierarchies, k = 5: the best of all strings, and a release that passes the audit.
#[test]
fn the_string_of_adult_is_the_best_of_all() {
    let Some(data) = shared_data() else { return };
    let mut text = "[privacy]\nk = 5\n[method]\nname = \"rv-global\"\nseed = 1\n".to_owned();
    for name in
        ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    {
        let hierarchy = data.join(format!("hierarchies/adult-arx/{name}.csv"));
        text.push_str(&format!(
            "[attribute.{name}]\nrole = \"quasi\"\nhierarchy = {:?}\n",
            hierarchy.display().to_string()
        ));
    }
    let policy = Policy::parse(&text, None).unwrap();
    let table = run::read(&data.join("adult.train.complete.csv.zst"), &policy, &Unwatched).unwrap();
    let problem = Problem::new(&table, &policy).unwrap();
    let solution = run::solve(&problem, &policy, &Unwatched).unwrap();
    let values = throng::research::level_values(&problem, &Settings::default()).unwrap();
    let lattice = throng::method::full_domain::lattice::Lattice::new(&problem).unwrap();
    // Every string that is worth more than the one found, each counted by itself.
    let found: f64 = value_of(&solution, &values);
    let mut strings = vec![Vec::new()];
    for own in &lattice.attributes {
        strings = strings
            .into_iter()
            .flat_map(|string: Vec<u8>| {
                (own.lowest..=own.highest).map(move |level| [&string[..], &[level]].concat())
            })
            .collect();
    }
    let value =
        |string: &[u8]| string.iter().enumerate().map(|(at, level)| values[at][*level as usize]).sum::<f64>();
    let mut better = 0;
    for string in strings.iter().filter(|string| value(string) > found + 1e-9) {
        assert!(!lattice.verdict(&lattice.groups(string)).valid, "{string:?} is valid and better");
        better += 1;
    }
    assert!(better > 100, "only {better} of {} strings are worth more", strings.len());
    let release = common::published(&table, &problem, &policy, &solution, Publish::Cells, Order::Shuffled);
    let measures = common::measured(&problem, &policy, &release);
    assert!(measures.violations.is_empty() && measures.k >= 5, "{:?}", measures.violations);
}

fn value_of(solution: &Solution, values: &[Vec<f64>]) -> f64 {
    let throng::method::Fact::FullDomain(found) = &solution.facts[0] else { panic!("{:?}", solution.facts) };
    found.levels.iter().zip(values).map(|(own, values)| values[usize::from(own.level)]).sum()
}

/// The pattern "capital gain above a cut near 7,000 means more than 50K" survives with a rule at that cut.
#[test]
fn the_pattern_of_high_capital_gain_survives() {
    let Some(data) = shared_data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let table = data.join("adult.train.complete.csv.zst");
    let gains = folder.path().join("gains.csv");
    let plain =
        Policy::parse("[privacy]\nk = 1\n[attribute.capital-gain]\nrole = \"quasi\"\n", None).unwrap();
    let read = run::read(&table, &plain, &Unwatched).unwrap();
    let column = read.names().iter().position(|name| name == "capital-gain").unwrap();
    let line = |value: &&str| {
        let number: u32 = value.parse().unwrap();
        format!("{value};{} thousand;{};*\n", number / 1000, if number < 7000 { "low" } else { "high" })
    };
    std::fs::write(&gains, read.values(column).iter().map(line).collect::<String>()).unwrap();
    for (method, hard) in [("rv-global", true), ("rv-cluster", false)] {
        for k in [5, 10] {
            let text = format!(
                "[privacy]\nk = {k}\n[method]\nname = \"{method}\"\nseed = 1\n\
                 [attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\nhierarchy = {{ intervals = [7, 14, 28, 56] }}\n\
                 [attribute.education-num]\nrole = \"quasi\"\nkind = \"numeric\"\nhierarchy = {{ intervals = [13] }}\n\
                 [attribute.capital-gain]\nrole = \"quasi\"\nkind = \"numeric\"\nhierarchy = {:?}\n\
                 rules = [{{ cut = [6999, 7000], importance = 45, hard = {hard} }}]\n\
                 [attribute.salary-class]\nrole = \"class\"\n[evaluate.partition]\ndepth = 2\n",
                gains.display().to_string()
            );
            let evaluation = run::Evaluate {
                data: table.clone(),
                policy: Policy::parse(&text, None).unwrap(),
                release: None,
                task: "partition".to_owned(),
                secret: None,
                registry: Default::default(),
            };
            let found = evaluation.run(&Unwatched).unwrap();
            assert!(found.k >= k);
            let patterns = found.figures["patterns"].as_array().unwrap();
            let gain = patterns.iter().find(|pattern| pattern["pattern"] == "capital-gain ≥ 7298").unwrap();
            assert_eq!((gain["raw_rows"].as_u64(), gain["class"].as_str()), (Some(1330), Some(">50K")));
            assert_eq!(gain["survives"], true, "{method}, k = {k}: {gain}");
            let young = patterns
                .iter()
                .find(|pattern| pattern["pattern"] == "capital-gain < 7298 and age < 28")
                .unwrap();
            assert_eq!(young["raw_rows"], 7162);
        }
    }
}
