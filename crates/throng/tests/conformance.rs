//! What every registered method promises, for every requirement it takes, on random tables.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;

use common::{Case, Loaded, can_do, cases, load, rows_of_text};
use proptest::prelude::*;
use throng::bound::lower_bound;
use throng::loss::Kernel;
use throng::method::{Recoding, STANDARD, Solution};
use throng::privacy::{Part, Tally};
use throng::release::{Order, Publish};
use throng::run::{Anonymize, solve};
use throng::secret::Secret;
use throng::watch::Unwatched;

/// Requirements, each with the parts of a policy it uses.
const REQUIREMENTS: &[(&str, &[Part])] = &[
    ("k = 1", &[Part::K]),
    ("k = 2", &[Part::K]),
    ("k = 5", &[Part::K]),
    ("l = 2", &[Part::L]),
    ("l = 1.5", &[Part::L]),
    ("k = 3\nl = 2\ndiversity = \"distinct\"", &[Part::K, Part::L]),
    ("l = 2\ndiversity = \"entropy\"", &[Part::L]),
    ("l = 2\ndiversity = \"recursive\"\nc = 2.0", &[Part::L]),
    ("k = 2\nt = 0.4", &[Part::K, Part::T]),
    ("k = 2\nl = 2\nt = 0.5", &[Part::K, Part::L, Part::T]),
    ("k = 2\nquasi_identifiers = [{ attributes = [\"q0\"], k = 4 }]", &[Part::K]),
    ("quasi_identifiers = [{ attributes = [\"q0\"], k = 3 }]", &[Part::K]),
    ("k = 4\nl = 2", &[Part::K, Part::L]),
    ("max_loss = 0.3", &[Part::MaxLoss]),
    ("max_loss = 0.6\nl = 1.2", &[Part::MaxLoss, Part::L]),
    ("max_span = { q0 = 4 }", &[Part::MaxLoss]),
    ("k = 3\nsuppress = 0.2", &[Part::K]),
    ("k_column = \"wish\"", &[Part::OwnK]),
    ("k_column = \"wish\"\nk = 2\nl = 1.2", &[Part::OwnK, Part::K, Part::L]),
    ("beta = 1.3", &[Part::T]),
    ("k = 2\nbeta = 0.8\nlikeness = \"basic\"", &[Part::K, Part::T]),
    ("delta = 1.1", &[Part::T]),
    ("k = 2\nalpha = 0.6", &[Part::K, Part::T]),
    ("k_map = 5\nfraction = 0.5", &[Part::K]),
    ("k_map = 4\npopulation = \"population.csv\"", &[Part::OwnK]),
    ("k_map = 3\npopulation = \"population.csv\"\nk_column = \"wish\"\nbeta = 2", &[Part::OwnK, Part::T]),
];

/// Whether a requirement makes sense for a table: widths are those of numbers.
fn fits(case: &Case, privacy: &str) -> bool {
    let numeric = matches!(case.kinds[0], common::Kind::Number { .. } | common::Kind::Decimal);
    numeric || !privacy.contains("max_span")
}

/// Solves a case; `None` when that is refused for a good reason, which is checked.
fn solved(loaded: &Loaded) -> Option<Solution> {
    match solve(&loaded.problem, &loaded.policy, &Unwatched) {
        Ok(solution) => Some(solution),
        Err(error) if loaded.policy.method.name == "exact" && error.message().contains("too large") => None,
        Err(error) => {
            assert_eq!(error.fault(), throng::error::Fault::Requirement, "{error}");
            let whole = loaded.problem.requirement.holds(&Tally::of_all(&loaded.problem));
            assert!(!whole || !loaded.problem.limits.is_empty(), "{error}");
            None
        }
    }
}

fn for_each_method(case: &Case, check: impl Fn(&Loaded, &Solution)) {
    for (privacy, parts) in REQUIREMENTS.iter().filter(|(privacy, _)| fits(case, privacy)) {
        for entry in STANDARD.iter().filter(|entry| can_do(entry, parts)) {
            let loaded = load(case, privacy, entry.name);
            if let Some(solution) = solved(&loaded) {
                check(&loaded, &solution);
            }
        }
    }
}

/// Lower bounds of one table: they depend on what is required and on how many may be left out, not on the method.
#[derive(Default)]
struct Bounds(RefCell<BTreeMap<(String, usize), Option<f64>>>);

impl Bounds {
    fn of(&self, loaded: &Loaded) -> Option<f64> {
        let problem = &loaded.problem;
        let key = (format!("{:?}", problem.requirement), problem.suppressible);
        *self.0.borrow_mut().entry(key).or_insert_with(|| {
            lower_bound(problem, loaded.policy.effort, &Unwatched).unwrap().map(|proof| proof.bound.gcp)
        })
    }
}

/// Whether a method looks at each named quasi-identifier by itself.
fn keeps_each_safe(loaded: &Loaded) -> bool {
    loaded.policy.method.name == "refine" && !loaded.policy.privacy.quasi_identifiers().is_empty()
}

/// Every combination of published boxes on a quasi-identifier is shared by enough records.
fn check_each_quasi_identifier(loaded: &Loaded, solution: &Solution) {
    let boxes = solution.recoding.boxes(&loaded.problem, &solution.partition).expect("a recoding has boxes");
    for own in loaded.problem.requirement.quasi_identifiers() {
        let mut counts: BTreeMap<Vec<(u32, u32)>, usize> = BTreeMap::new();
        for (at, group) in solution.partition.groups().enumerate() {
            let inside =
                |name: &str| own.attributes.as_ref().is_none_or(|names| names.iter().any(|own| own == name));
            let attributes = loaded.problem.attributes.iter().zip(&boxes.ends);
            let key = attributes.filter(|(own, _)| inside(&own.name)).map(|(_, ends)| ends[at]).collect();
            *counts.entry(key).or_default() += group.len();
        }
        assert!(counts.values().all(|count| *count >= own.k), "{own:?}: {counts:?}");
    }
}

/// The loss of a solution, from its boxes or from the boxes around its groups.
fn loss_of(loaded: &Loaded, solution: &Solution) -> f64 {
    let problem = &loaded.problem;
    let kernel = Kernel::new(&problem.attributes);
    let of_group = |(at, group): (usize, &[u32])| {
        let penalty = match &solution.recoding {
            Recoding::Tight | Recoding::Cells(_) => throng::loss::group_ncp(problem, &kernel, group),
            Recoding::Boxes(boxes) | Recoding::Masks { boxes, .. } => (0..problem.attributes.len())
                .map(|own| {
                    kernel.penalty(own, boxes.ends[own][at].0 as usize, boxes.ends[own][at].1 as usize)
                })
                .sum(),
        };
        group.len() as f64 * penalty
    };
    let suppressed = solution.suppressed.len() as f64 * problem.total_weight();
    solution.partition.groups().enumerate().map(of_group).sum::<f64>() + suppressed
}

/// Whether a published cell may stand for an original one, told from the texts alone.
fn covers(cell: &str, original: &str, hierarchy: &BTreeMap<String, Vec<String>>) -> bool {
    let number = |text: &str| {
        text.parse::<f64>().ok().or_else(|| {
            let parts: Vec<f64> = text.split('-').filter_map(|part| part.parse().ok()).collect();
            (parts.len() == 3 && text.len() == 10).then(|| parts[0] * 10_000.0 + parts[1] * 100.0 + parts[2])
        })
    };
    if cell == "*" || cell == original || number(cell).is_some_and(|cell| Some(cell) == number(original)) {
        return true;
    }
    if hierarchy.get(original).is_some_and(|above| above.iter().any(|label| label == cell)) {
        return true;
    }
    let Some(inside) = cell.strip_prefix('[').and_then(|cell| cell.strip_suffix([']', ')'])) else {
        return false;
    };
    let half_open = cell.ends_with(')');
    (1..inside.len()).any(|at| {
        let ends = (number(&inside[..at]), inside.get(at + 1..).and_then(number), number(original));
        matches!(ends, (Some(low), Some(high), Some(own)) if low <= own && (own < high || (own == high && !half_open)))
    })
}

/// The labels above each value of an attribute of a case, written out by hand.
fn labels_above(kind: &common::Kind, value: &str) -> Vec<String> {
    match kind {
        common::Kind::Tree { values, .. } => {
            match value.strip_prefix("leaf ").map(|leaf| leaf.parse::<u8>().unwrap()) {
                Some(leaf) if leaf < values / 2 => vec!["Low".to_owned()],
                Some(_) => vec!["Upper".to_owned(), "High".to_owned()],
                None => Vec::new(),
            }
        }
        common::Kind::Prefix => vec![format!("{}*", &value[..3]), format!("{}*", &value[..2])],
        common::Kind::Intervals => {
            let number: i64 = value.parse().unwrap();
            [5, 10]
                .iter()
                .map(|width| format!("[{}-{}]", number / width * width, number / width * width + width - 1))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// How often each sensitive value occurs among some rows.
fn secrets<'a>(rows: impl Iterator<Item = &'a Vec<String>>) -> BTreeMap<&'a str, f64> {
    let mut counts = BTreeMap::new();
    rows.for_each(|row| *counts.entry(row.last().unwrap().as_str()).or_insert(0.0) += 1.0);
    counts
}

/// The worst class of a release: how much a value gains, or how far the logarithm of its share is off.
fn farthest(key: &str, quasi: usize, table: &[Vec<String>], release: &[Vec<String>]) -> f64 {
    let whole = secrets(table[1..].iter());
    let mut classes: BTreeMap<&[String], Vec<&Vec<String>>> = BTreeMap::new();
    release[1..].iter().for_each(|row| classes.entry(&row[..quasi]).or_default().push(row));
    let mut worst = 0.0f64;
    for rows in classes.values() {
        let own = secrets(rows.iter().copied());
        for (value, count) in &whole {
            let p = count / (table.len() - 1) as f64;
            let q = own.get(value).copied().unwrap_or(0.0) / rows.len() as f64;
            let gain = (q - p) / p;
            worst = worst.max(match key {
                "delta" => (q / p).ln().abs(),
                "alpha" => q,
                "beta" if gain > -p.ln() + 1e-9 => f64::INFINITY,
                _ => gain,
            });
        }
    }
    worst
}

/// The fewest people of a population whom a row of a release fits.
fn fewest_people(case: &Case, population: &[Vec<String>], release: &[Vec<String>]) -> f64 {
    let fits = |row: &[String], person: &[String]| {
        case.kinds.iter().zip(row.iter().zip(person)).all(|(kind, (cell, value))| {
            covers(cell, value, &BTreeMap::from([(value.clone(), labels_above(kind, value))]))
        })
    };
    let people = |row: &Vec<String>| population[1..].iter().filter(|person| fits(row, person)).count();
    release[1..].iter().map(people).min().unwrap_or(0) as f64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_method_puts_every_record_into_one_valid_group(case in cases(60)) {
        for_each_method(&case, |loaded, solution| {
            let mut seen = vec![false; loaded.problem.len()];
            for group in solution.partition.groups() {
                let mut tally = Tally::for_problem(&loaded.problem);
                for &record in group {
                    assert!(!std::mem::replace(&mut seen[record as usize], true), "record {record} twice");
                    tally.add_record(&loaded.problem.sensitive, record);
                }
                let requirement = &loaded.problem.requirement;
                // Some methods keep each of several quasi-identifiers safe by itself; every other group is a class.
                let holds = match keeps_each_safe(loaded) {
                    true => requirement.holds_beyond_size(&tally),
                    false => requirement.holds(&tally),
                };
                assert!(holds, "{} records", group.len());
            }
            if keeps_each_safe(loaded) {
                check_each_quasi_identifier(loaded, solution);
            }
            for &record in &solution.suppressed {
                assert!(!std::mem::replace(&mut seen[record as usize], true), "record {record} in a group");
            }
            assert!(solution.suppressed.len() <= loaded.problem.suppressible);
            assert!(seen.into_iter().all(|seen| seen), "a record is in no group");
        });
    }

    #[test]
    fn every_release_tells_no_untruth(case in cases(40)) {
        for_each_method(&case, |loaded, solution| {
            let release = loaded.publish(solution, Publish::Cells, Order::Keep);
            let (mut original, released) = (rows_of_text(loaded.csv.as_bytes()), rows_of_text(&release.bytes));
            let mut row = 0;
            original.retain(|_| {
                row += 1;
                row < 2 || solution.suppressed.binary_search(&(row - 2)).is_err()
            });
            assert_eq!(original.len(), released.len());
            for (before, after) in original.iter().zip(&released).skip(1) {
                // Identifiers are gone, the first column and perhaps the last; everything else stays in its column.
                let identifiers = 1 + usize::from(original[0].last().unwrap() == "wish");
                assert_eq!(after.len(), before.len() - identifiers);
                for (at, kind) in case.kinds.iter().enumerate() {
                    let (cell, value) = (&after[at], &before[at + 1]);
                    let above = BTreeMap::from([(value.clone(), labels_above(kind, value))]);
                    assert!(covers(cell, value, &above), "\"{cell}\" does not cover \"{value}\" ({kind:?})");
                }
                assert_eq!(&after[case.kinds.len()..], &before[case.kinds.len() + 1..=after.len()]);
            }
        });
    }

    #[test]
    fn the_audit_measures_what_the_method_did(case in cases(60)) {
        let bounds = Bounds::default();
        for_each_method(&case, |loaded, solution| {
            let problem = &loaded.problem;
            let ncp = loss_of(loaded, solution);
            let smallest = solution.partition.groups().map(<[u32]>::len).min().unwrap_or(0) as u64;
            for way in [Publish::Cells, Publish::Bounds] {
                let measures = loaded.measures_but_bound(&loaded.publish(solution, way, Order::Shuffled));
                assert!(measures.violations.is_empty(), "{:?}", measures.violations);
                assert!((measures.ncp - ncp).abs() < 1e-9 * (1.0 + ncp), "{} and {ncp}", measures.ncp);
                let gcp = ncp / problem.len() as f64 / problem.total_weight();
                assert!((measures.gcp - gcp).abs() < 1e-9);
                // Groups with equal cells are one class, so classes can only be larger and fewer.
                assert!(measures.k >= smallest && measures.classes <= solution.partition.len() as u64);
                assert_eq!(measures.rows_published, (problem.len() - solution.suppressed.len()) as u64);
                if let Some(bound) = bounds.of(loaded).filter(|_| !measures.permuted) {
                    assert!(bound <= measures.gcp + 1e-9, "bound {bound} above {}", measures.gcp);
                }
            }
        });
    }

    /// Shares and people counted from the texts of table, release and population alone.
    #[test]
    fn likeness_disclosure_and_k_map_hold_as_anyone_would_count_them(case in cases(40), tenths in 1u32..30) {
        let level = f64::from(tenths) / 10.0;
        for (key, privacy) in [
            ("beta", format!("beta = {level}")),
            ("basic", format!("beta = {level}\nlikeness = \"basic\"")),
            ("delta", format!("delta = {level}")),
            ("alpha", format!("alpha = {}", level / 3.0)),
            ("k_map", format!("k_map = {}\npopulation = \"population.csv\"", 1 + tenths / 8)),
        ] {
            let part = if key == "k_map" { Part::OwnK } else { Part::T };
            for entry in STANDARD.iter().filter(|entry| can_do(entry, &[part])) {
                let loaded = load(&case, &privacy, entry.name);
                let Some(solution) = solved(&loaded) else { continue };
                let file = loaded.publish(&solution, Publish::Cells, Order::Shuffled);
                let (table, release) = (rows_of_text(loaded.csv.as_bytes()), rows_of_text(&file.bytes));
                let reached = match key {
                    "k_map" => fewest_people(&case, &rows_of_text(case.population().as_bytes()), &release),
                    _ => farthest(key, case.kinds.len(), &table, &release),
                };
                let measures = loaded.measures_but_bound(&file);
                let told = measures.requirements.iter().find(|one| one.asked.is_some()).unwrap();
                let (asked, found) = (told.asked.unwrap().value(), told.reached.unwrap().value());
                prop_assert!((found - reached).abs() < 1e-9, "{}, {privacy}: {found}, counted {reached}", entry.name);
                let holds = if key == "k_map" { reached >= asked } else { reached <= asked + 1e-9 };
                prop_assert!(holds && told.holds == Some(true), "{}, {privacy}: {reached}", entry.name);
            }
        }
    }

    #[test]
    fn same_seed_same_bytes_on_any_number_of_threads(case in cases(200)) {
        for entry in STANDARD.iter().filter(|entry| can_do(entry, &[Part::K])) {
            let loaded = load(&case, "k = 2", entry.name);
            if loaded.problem.len() < 2 {
                continue;
            }
            let bytes: Vec<Vec<u8>> = [1, 2].iter().map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads).build().unwrap();
                pool.install(|| {
                    let mut loaded = load(&case, "k = 2", entry.name);
                    loaded.problem.secret = Secret::from_bytes(b"a secret of the tests");
                    let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
                    loaded.publish(&solution, Publish::Cells, Order::Shuffled).bytes
                })
            }).collect();
            prop_assert_eq!(&bytes[0], &bytes[1]);
        }
    }
}

#[test]
fn a_release_never_overwrites_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("table.csv");
    std::fs::write(&data, "age\n1\n2\n").unwrap();
    let policy = "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n";
    let run = Anonymize {
        order: Order::Keep,
        ..Anonymize::new(
            data.clone(),
            folder.path().join(".").join("table.csv"),
            throng::policy::Policy::parse(policy, None).unwrap(),
        )
    };
    let error = run.run(&Unwatched).unwrap_err();
    assert_eq!(error.fault(), throng::error::Fault::Input);
    assert_eq!(std::fs::read_to_string(&data).unwrap(), "age\n1\n2\n");
}
