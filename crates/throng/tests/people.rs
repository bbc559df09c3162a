//! Requirements over people who have several records each: every method that takes them, on random tables, counted again
//! by a plain program that knows nothing of how the library counts.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Case, Loaded, SensitiveKind, can_do, cases, loaded, measured, rows_of_text};
use proptest::prelude::*;
use throng::audit::Measures;
use throng::error::Fault;
use throng::format::CSV;
use throng::method::{Methods, STANDARD};
use throng::plan::{Choices, Plan, Registry};
use throng::privacy::{Judge, Part, Tally};
use throng::release::{MemoryFile, Order};
use throng::watch::Unwatched;

const REQUIREMENTS: &[(&str, &[Part])] = &[
    ("k = 2", &[Part::K]),
    ("k = 4", &[Part::K]),
    ("l = 2", &[Part::L]),
    ("k = 3\nl = 1.5", &[Part::K, Part::L]),
    ("k = 2\nl = 2\ndiversity = \"distinct\"", &[Part::K, Part::L]),
    ("l = 2\ndiversity = \"entropy\"", &[Part::L]),
    ("l = 2\ndiversity = \"recursive\"\nc = 2.0", &[Part::L]),
    ("k = 2\nt = 0.4", &[Part::K, Part::T]),
    ("k = 2\nbeta = 1.3", &[Part::K, Part::T]),
    ("k = 3\nsuppress = 0.3", &[Part::K]),
    ("k = 2\nquasi_identifiers = [{ attributes = [\"q0\"], k = 4 }]", &[Part::K]),
    ("k_column = \"wish\"", &[Part::OwnK]),
];

/// A random table, and whose each of its records is.
#[derive(Clone, Debug)]
struct Visits {
    case: Case,
    people: Vec<u8>,
}

fn visits(rows: usize) -> impl Strategy<Value = Visits> {
    cases(rows).prop_flat_map(|case| {
        let count = case.rows.len();
        let most = (count / 2).clamp(1, 200) as u8;
        (Just(case), prop::collection::vec(0..=most, count), any::<bool>()).prop_map(
            |(mut case, people, number)| {
                case.sensitive_kind = if number { SensitiveKind::Number } else { SensitiveKind::Flat };
                Visits { case, people }
            },
        )
    })
}

impl Visits {
    fn csv(&self) -> String {
        let csv = self.case.csv();
        let mut lines = csv.lines();
        let head = format!("{},who,wish\n", lines.next().unwrap());
        let line = |(line, who): (&str, &u8)| format!("{line},person {who},{}\n", 1 + who % 4);
        head + &lines.zip(&self.people).map(line).collect::<String>()
    }

    fn load(&self, privacy: &str, method: &str, person: &str) -> Loaded {
        let wish = "[attribute.wish]\nrole = \"identifier\"\n";
        let policy = self.case.policy(privacy, method);
        loaded(self.csv(), &format!("{policy}{wish}[attribute.who]\nrole = \"person\"\n{person}"))
    }
}

/// Runs a whole policy. `None` if that is refused for a good reason, which is checked.
fn run(loaded: &Loaded, order: Order) -> Option<(MemoryFile, Measures)> {
    let choices = Choices { order, ..Choices::default() };
    let plan = Plan::new(&loaded.policy, &Registry::default(), choices).unwrap();
    let mut problem = plan.problem(&loaded.table).unwrap();
    let solved = match plan.solve(&mut problem, &Unwatched) {
        Ok(solved) => solved,
        Err(error) => {
            assert_eq!(error.fault(), Fault::Requirement, "{error}");
            let whole = problem.requirement.holds(&Tally::of_all(&problem));
            assert!(!whole || error.message().contains("share people"), "{error}");
            return None;
        }
    };
    let written = plan.write_in_memory(&loaded.table, &problem, &solved, &CSV, &Unwatched).unwrap();
    let findings = plan.audit(&problem, &solved, &written, &Unwatched).unwrap();
    Some((written.release, findings.measures))
}

/// A published row: its quasi-identifiers, whose it is and its sensitive value. The note tells which record it was.
struct Row {
    cells: Vec<String>,
    who: String,
    secret: String,
}

fn published(loaded: &Loaded, release: &MemoryFile) -> Vec<Row> {
    let original = rows_of_text(loaded.csv.as_bytes());
    let place = |head: &[String], name: &str| head.iter().position(|own| own == name).unwrap();
    let who_of: BTreeMap<&String, &String> = original[1..]
        .iter()
        .map(|row| (&row[place(&original[0], "note")], &row[place(&original[0], "who")]))
        .collect();
    let rows = rows_of_text(&release.bytes);
    let head = &rows[0];
    assert!(!head.iter().any(|name| name == "id" || name == "wish"), "{head:?}");
    let quasi: Vec<usize> = (0..head.len()).filter(|at| head[*at].starts_with('q')).collect();
    let row = |row: &Vec<String>| Row {
        cells: quasi.iter().map(|at| row[*at].clone()).collect(),
        who: who_of[&row[place(head, "note")]].clone(),
        secret: row[place(head, "secret")].clone(),
    };
    rows[1..].iter().map(row).collect()
}

/// For each class the people in it, each with their different values.
type Class<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn classes<'a>(rows: &'a [Row], of: impl Fn(&'a Row) -> Vec<&'a str>) -> Vec<Class<'a>> {
    let mut classes: BTreeMap<Vec<&str>, Class<'_>> = BTreeMap::new();
    for row in rows {
        classes.entry(of(row)).or_default().entry(&row.who).or_default().insert(&row.secret);
    }
    classes.into_values().collect()
}

fn all_cells(row: &Row) -> Vec<&str> {
    row.cells.iter().map(String::as_str).collect()
}

/// How many people of a class have each value.
fn holders<'a>(class: &Class<'a>) -> BTreeMap<&'a str, usize> {
    let mut holders = BTreeMap::new();
    class.values().flatten().for_each(|value| *holders.entry(*value).or_insert(0) += 1);
    holders
}

/// Every way to take one value of each person, if they are not too many; the counts of values in each.
fn readings<'a>(class: &Class<'a>) -> Vec<Vec<usize>> {
    let ways: usize = class.values().map(BTreeSet::len).fold(1, usize::saturating_mul);
    if ways > 512 {
        return Vec::new();
    }
    let mut all = vec![BTreeMap::new()];
    for values in class.values() {
        let with = |counts: &BTreeMap<&'a str, usize>, value: &'a str| {
            let mut counts = counts.clone();
            *counts.entry(value).or_insert(0) += 1;
            counts
        };
        let every = |counts: &BTreeMap<&'a str, usize>| -> Vec<_> {
            values.iter().map(|value| with(counts, value)).collect()
        };
        all = all.iter().flat_map(every).collect();
    }
    all.into_iter().map(|counts| counts.into_values().collect()).collect()
}

fn entropy(counts: &[usize]) -> f64 {
    let total: usize = counts.iter().sum();
    let share = |count: &usize| *count as f64 / total as f64;
    -counts.iter().map(share).map(|share| share * share.ln()).sum::<f64>()
}

fn recursive(counts: &[usize], c: f64, l: usize) -> bool {
    let mut counts = counts.to_vec();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    (counts[0] as f64) < c * counts.iter().skip(l - 1).sum::<usize>() as f64
}

/// The distance of a class from the table over pairs of a person and a different value.
fn distance(class: &Class<'_>, table: &Class<'_>, numbers: bool) -> f64 {
    let (own, all) = (holders(class), holders(table));
    let total = |counts: &BTreeMap<&str, usize>| counts.values().sum::<usize>() as f64;
    let mut values: Vec<&str> = all.keys().copied().collect();
    if numbers {
        values.sort_by_key(|value| value.parse::<i64>().unwrap());
    }
    let excess = |value: &&str| {
        own.get(value).map_or(0.0, |count| *count as f64 / total(&own)) - all[value] as f64 / total(&all)
    };
    if !numbers {
        return values.iter().map(|value| excess(value).max(0.0)).sum();
    }
    let (mut carried, mut work) = (0.0, 0.0f64);
    for value in &values[..values.len() - 1] {
        carried += excess(value);
        work += f64::abs(carried);
    }
    if values.len() < 2 { 0.0 } else { work / (values.len() - 1) as f64 }
}

/// The people of the original table with their values.
fn table_of(loaded: &Loaded) -> Vec<Row> {
    let rows = rows_of_text(loaded.csv.as_bytes());
    let place = |name: &str| rows[0].iter().position(|own| own == name).unwrap();
    let row = |row: &Vec<String>| Row {
        cells: Vec::new(),
        who: row[place("who")].clone(),
        secret: row[place("secret")].clone(),
    };
    rows[1..].iter().map(row).collect()
}

const CLOSE: f64 = 1e-9;

/// Holds a release to its requirement, and the audit to what is counted here.
fn check(visits: &Visits, loaded: &Loaded, rows: &[Row], measures: &Measures) {
    let privacy = &loaded.policy.privacy;
    let every = classes(rows, all_cells);
    let fewest = every.iter().map(BTreeMap::len).min().unwrap();
    assert_eq!(fewest as u64, measures.k, "k as audited");
    assert!(privacy.k().is_none_or(|k| fewest >= k), "{fewest} people in a class");
    for named in privacy.quasi_identifiers() {
        let at = |name: &String| name[1..].parse::<usize>().unwrap();
        let own =
            |row: &'_ Row| named.names().iter().map(|name| row.cells[at(name)].clone()).collect::<Vec<_>>();
        let mut people: BTreeMap<Vec<String>, BTreeSet<&str>> = BTreeMap::new();
        for row in rows {
            people.entry(own(row)).or_default().insert(row.who.as_str());
        }
        assert!(people.values().all(|people| people.len() >= named.k));
    }
    let frequency = |class: &Class<'_>| class.len() as f64 / *holders(class).values().max().unwrap() as f64;
    let least = every.iter().map(frequency).fold(f64::INFINITY, f64::min);
    assert!((least - measures.sensitive[0].l_frequency).abs() < CLOSE, "l as audited");
    check_diversity(loaded, &every, least);
    let (whole, numbers) = (table_of(loaded), matches!(visits.case.sensitive_kind, SensitiveKind::Number));
    let whole = classes(&whole, |_| Vec::new());
    let farthest = every.iter().map(|class| distance(class, &whole[0], numbers)).fold(0.0, f64::max);
    assert!((farthest - measures.t.unwrap()).abs() < CLOSE, "{farthest}, audited {:?}", measures.t);
    assert!(privacy.t().is_none_or(|t| farthest <= t + CLOSE));
    let told = measures.people.as_ref().unwrap();
    assert_eq!(told.known_by, "run");
    let different: BTreeSet<&str> = rows.iter().map(|row| row.who.as_str()).collect();
    assert_eq!(told.people_published, Some(different.len() as u64));
    assert_eq!(told.people_in, whole[0].len() as u64);
}

/// Whatever is taken for the value of each person, the class is diverse.
fn check_diversity(loaded: &Loaded, every: &[Class<'_>], least: f64) {
    let Some(l) = loaded.policy.privacy.l() else { return };
    for class in every {
        let pairs: Vec<usize> = holders(class).into_values().collect();
        for counts in readings(class).into_iter().chain([pairs]) {
            match loaded.policy.privacy.diversity() {
                throng::policy::Diversity::Frequency => assert!(least + CLOSE >= l),
                throng::policy::Diversity::Distinct => assert!(counts.len() as f64 >= l, "{counts:?}"),
                throng::policy::Diversity::Entropy => {
                    assert!(entropy(&counts) + CLOSE >= l.ln(), "{counts:?}");
                }
                throng::policy::Diversity::Recursive { c } => assert!(recursive(&counts, c, l as usize)),
            }
        }
    }
}

/// People are there with all their records, or not at all.
fn check_whole(loaded: &Loaded, rows: &[Row]) {
    let count = |rows: &[Row]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        rows.iter().for_each(|row| *counts.entry(row.who.clone()).or_default() += 1);
        counts
    };
    let (before, after) = (count(&table_of(loaded)), count(rows));
    assert!(after.iter().all(|(who, rows)| before[who] == *rows), "{before:?} {after:?}");
}

/// The groups of a whole policy on a table where nobody has a second record; the column that says so has a role.
fn groups_with(case: &Case, privacy: &str, method: &str, role: &str) -> Option<Vec<Vec<u32>>> {
    let text = case.policy(privacy, method);
    let head = "[attribute.id]\nrole = ";
    let loaded =
        loaded(case.csv(), &text.replace(&format!("{head}\"identifier\""), &format!("{head}\"{role}\"")));
    let secret = Some(throng::secret::Secret::from_bytes(b"lots"));
    let plan =
        Plan::new(&loaded.policy, &Registry::default(), Choices { secret, ..Choices::default() }).unwrap();
    let mut problem = plan.problem(&loaded.table).unwrap();
    assert_eq!(problem.people.is_some(), role == "person");
    let solved = plan.solve(&mut problem, &Unwatched).ok()?;
    let written = plan.write_in_memory(&loaded.table, &problem, &solved, &CSV, &Unwatched).unwrap();
    let findings = plan.audit(&problem, &solved, &written, &Unwatched).unwrap();
    assert!(findings.measures.violations.is_empty(), "{:?}", findings.measures.violations);
    Some(solved.solution.partition.groups().map(<[u32]>::to_vec).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn people_with_one_record_each_are_grouped_as_their_records_would_be(
        case in cases(60),
        privacy in prop::sample::select(vec!["l = 2", "k = 3\nl = 1.5", "l = 2\ndiversity = \"entropy\"", "k = 2\nt = 0.4"]),
        method in prop::sample::select(vec!["mondrian", "hilbert", "top-down", "bottom-up", "peel", "refine"]),
    ) {
        let [person, plain] = ["person", "identifier"].map(|role| groups_with(&case, privacy, method, role));
        prop_assert_eq!(person, plain);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn every_method_keeps_its_requirement_over_people(visits in visits(40)) {
        for (privacy, parts) in REQUIREMENTS {
            let asked: Vec<Part> = parts.iter().copied().chain([Part::People]).collect();
            for entry in STANDARD.iter().filter(|entry| can_do(entry, &asked)) {
                let loaded = visits.load(privacy, entry.name, "");
                if let Some((release, measures)) = run(&loaded, Order::Shuffled) {
                    let rows = published(&loaded, &release);
                    check(&visits, &loaded, &rows, &measures);
                    check_whole(&loaded, &rows);
                    let bound = measures.lower_bound.as_ref().map_or(0.0, |bound| bound.gcp);
                    prop_assert!(bound <= measures.gcp + CLOSE, "{}: {bound}", entry.name);
                }
            }
        }
    }

    /// Who has two files only may not claim more than there is, and in the table's order sees all of it.
    #[test]
    fn an_audit_of_files_claims_no_more_people_than_there_are(visits in visits(40)) {
        for (method, privacy) in [("mondrian", "k = 2"), ("hilbert", "k = 2\nl = 1.2"), ("peel", "k = 3")] {
            let loaded = visits.load(privacy, method, "");
            for order in [Order::Shuffled, Order::Keep] {
                let Some((release, known)) = run(&loaded, order) else { continue };
                let alone = measured(&loaded.problem, &loaded.policy, &release);
                prop_assert!(alone.k <= known.k);
                prop_assert!(alone.sensitive[0].l_frequency <= known.sensitive[0].l_frequency + CLOSE);
                if order == Order::Keep {
                    prop_assert_eq!(alone.people.unwrap().known_by, "order");
                    prop_assert_eq!(alone.k, known.k);
                }
            }
        }
    }

    /// Where equal values are published alike, a record fits one class only, and two files tell how many people each has.
    #[test]
    fn an_audit_of_files_counts_people_exactly_where_classes_do_not_overlap(visits in visits(40)) {
        let loaded = visits.load("k = 2", "rv-global", "");
        if let Some((release, measures)) = run(&loaded, Order::Shuffled) {
            prop_assume!(measures.suppressed == 0);
            let audited = measured(&loaded.problem, &loaded.policy, &release);
            prop_assert_eq!(audited.k, measures.k);
            prop_assert_eq!(audited.people.unwrap().class_sizes, measures.people.unwrap().class_sizes);
        }
    }

    /// A number for each person tells an audit all, and follows nobody into another release.
    #[test]
    fn numbers_stand_for_people_and_are_drawn_anew(visits in visits(30)) {
        let loaded = visits.load("k = 2", "mondrian", "publish = \"number\"\n");
        let Some((first, known)) = run(&loaded, Order::Keep) else { return Ok(()) };
        let alone = measured(&loaded.problem, &loaded.policy, &first);
        prop_assert_eq!(&alone.people.as_ref().unwrap().known_by, "number");
        prop_assert_eq!(alone.k, known.k);
        prop_assert_eq!(alone.people.unwrap().alike, known.people.unwrap().alike);
        let rows = rows_of_text(&first.bytes);
        let at = rows[0].iter().position(|name| name == "who").unwrap();
        let mut number_of: BTreeMap<u8, &String> = BTreeMap::new();
        for (row, who) in rows[1..].iter().zip(&visits.people) {
            prop_assert_eq!(*number_of.entry(*who).or_insert(&row[at]), &row[at]);
            prop_assert!(row[at].parse::<usize>().is_ok(), "{}", row[at]);
        }
        let different: BTreeSet<&&String> = number_of.values().collect();
        prop_assert_eq!(different.len(), number_of.len());
    }
}

/// Every way to put the first `count` records into groups.
fn partitions(count: u32) -> Vec<Vec<Vec<u32>>> {
    let mut all: Vec<Vec<Vec<u32>>> = vec![Vec::new()];
    for record in 0..count {
        let with = |groups: &Vec<Vec<u32>>| -> Vec<Vec<Vec<u32>>> {
            (0..=groups.len())
                .map(|at| {
                    let mut groups = groups.clone();
                    if at == groups.len() {
                        groups.push(Vec::new());
                    }
                    groups[at].push(record);
                    groups
                })
                .collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every question to the judge has the answer that plain counting has, whatever the order of taking in and out.
    #[test]
    fn the_judge_counts_people(visits in visits(24), sides in prop::collection::vec(any::<bool>(), 24)) {
        for (privacy, k, l) in [("k = 3", 3, 1.0), ("k = 2\nl = 1.5", 2, 1.5), ("l = 2", 1, 2.0)] {
            let loaded = visits.load(privacy, "mondrian", "");
            let judge = Judge::new(&loaded.problem);
            let plain = |records: &[u32]| {
                let mut class: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
                for at in records.iter().map(|at| *at as usize) {
                    class.entry(visits.people[at]).or_default().insert(visits.case.sensitive[at]);
                }
                let most = (0..4).map(|value| class.values().filter(|own| own.contains(&value)).count()).max();
                class.len() >= k && most.unwrap() as f64 * l <= class.len() as f64 + CLOSE
            };
            let all: Vec<u32> = (0..loaded.problem.len() as u32).collect();
            let (one, other): (Vec<u32>, Vec<u32>) = all.iter().partition(|at| sides[**at as usize]);
            let ask = |records: &[u32]| judge.holds(records.iter().copied());
            prop_assert_eq!(ask(&one), plain(&one));
            prop_assert_eq!(judge.holds_merged(one.iter().copied(), other.iter().copied()), plain(&all));
            let divided = all.iter().map(|at| (*at, sides[*at as usize]));
            let both = judge.holds_divided([one.len(), other.len()], divided);
            prop_assert_eq!(both, [plain(&one), plain(&other)]);
            if let Some((last, rest)) = one.split_last() {
                prop_assert_eq!(judge.holds_without(&one, *last), plain(rest));
                if plain(rest) {
                    prop_assert_eq!(judge.holds_with(rest, *last), plain(&one));
                }
            }
            let mut tally = judge.tally();
            all.iter().for_each(|at| judge.add(&mut tally, *at));
            other.iter().for_each(|at| judge.remove(&mut tally, *at));
            prop_assert_eq!(judge.allows(&tally), plain(&one));
            let mut merged = judge.tally();
            other.iter().for_each(|at| judge.add(&mut merged, *at));
            tally.merge(&merged);
            prop_assert_eq!(judge.allows(&tally), plain(&all));
        }
    }

    /// No release of a small table, of all that there are, loses less than the bound.
    #[test]
    fn the_bound_is_below_every_release_that_counts_people(visits in visits(7), k in 2usize..4) {
        let loaded = visits.load(&format!("k = {k}"), "mondrian", "");
        let problem = &loaded.problem;
        let bound = throng::bound::lower_bound(problem, throng::bound::Effort::Usual, &Unwatched).unwrap().unwrap().bound.gcp;
        let kernel = throng::loss::Kernel::new(&problem.attributes);
        let people = |group: &Vec<u32>| group.iter().map(|at| visits.people[*at as usize]).collect::<BTreeSet<u8>>().len();
        let loss = |group: &Vec<u32>| group.len() as f64 * throng::loss::group_ncp(problem, &kernel, group);
        let all = problem.len() as f64 * problem.total_weight();
        for groups in partitions(problem.len() as u32) {
            if groups.iter().all(|group| people(group) >= k) {
                let gcp = groups.iter().map(loss).sum::<f64>() / all;
                prop_assert!(bound <= gcp + CLOSE, "{bound} > {gcp}: {groups:?}");
            }
        }
    }
}

/// With `together`, whoever follows a person by what does not change sees the same cells in all their records.
#[test]
fn what_does_not_change_within_a_person_is_published_alike() {
    let row = |at: usize| {
        let who = at * 7 % 40;
        format!("{},{},{},d{},p{who}\n", 1940 + who * 3 % 50, who % 3, at % 17, at % 5)
    };
    let csv = "born,town,day,sick,patient\n".to_owned() + &(0..160).map(row).collect::<String>();
    let policy = "[privacy]\nPRIVACY\n[method]\nname = \"METHOD\"\nseed = 1\n[attribute.born]\nrole = \"quasi\"\n\
                  [attribute.town]\nrole = \"quasi\"\nkind = \"categorical\"\n[attribute.day]\nrole = \"quasi\"\n\
                  [attribute.sick]\nrole = \"sensitive\"\n[attribute.patient]\nrole = \"person\"\ntogether = true\n";
    for privacy in ["k = 4", "k = 3\nl = 1.5"] {
        for method in ["auto", "mondrian", "hilbert", "bottom-up", "top-down", "peel", "idistance-fast"] {
            let text = policy.replace("PRIVACY", privacy).replace("METHOD", method);
            let (release, measures) = run(&loaded(csv.clone(), &text), Order::Keep).unwrap();
            let rows = rows_of_text(&release.bytes);
            let mut cells_of: BTreeMap<usize, BTreeSet<&[String]>> = BTreeMap::new();
            let mut classes: BTreeMap<&[String], BTreeSet<usize>> = BTreeMap::new();
            for (at, row) in rows[1..].iter().enumerate() {
                cells_of.entry(at * 7 % 40).or_default().insert(&row[..2]);
                classes.entry(&row[..3]).or_default().insert(at * 7 % 40);
            }
            assert!(cells_of.values().all(|cells| cells.len() == 1), "{method}: {cells_of:?}");
            let fewest = classes.values().map(BTreeSet::len).min().unwrap();
            assert!(fewest as u64 == measures.k && fewest >= 3, "{method}: {fewest}");
            let days: BTreeSet<&String> = rows[1..].iter().map(|row| &row[2]).collect();
            assert!(days.len() > 1, "{method}: what changes is not masked altogether");
        }
    }
}

/// Five visits of each patient: five equal rows of one patient are no crowd.
#[test]
fn five_visits_of_one_patient_are_not_five_people() {
    let row = |at: usize| format!("{},{},p{}\n", 20 + at / 5, at % 2, at / 5);
    let csv = "age,sex,patient\n".to_owned() + &(0..1000).map(row).collect::<String>();
    let policy = "[privacy]\nk = 5\n[method]\nname = \"METHOD\"\nseed = 1\n[attribute.age]\nrole = \"quasi\"\n\
                  [attribute.sex]\nrole = \"quasi\"\n[attribute.patient]\nrole = \"ROLE\"\n";
    for entry in Methods::standard().iter().filter(|entry| can_do(entry, &[Part::K, Part::People])) {
        let policy = |role: &str| policy.replace("METHOD", entry.name).replace("ROLE", role);
        let loaded_as = |role: &str| loaded(csv.clone(), &policy(role));
        let (release, measures) = run(&loaded_as("person"), Order::Keep).unwrap();
        let rows = rows_of_text(&release.bytes);
        assert_eq!(rows[0], ["age", "sex"], "{}", entry.name);
        let mut people: BTreeMap<&[String], BTreeSet<usize>> = BTreeMap::new();
        for (at, row) in rows[1..].iter().enumerate() {
            people.entry(row).or_default().insert(at / 5);
        }
        let fewest = people.values().map(BTreeSet::len).min().unwrap();
        assert!(fewest >= 5 && fewest as u64 == measures.k, "{}: {fewest}", entry.name);
        let told = measures.people.unwrap();
        assert_eq!((told.people_in, told.most_records, told.with_several), (200, 5, 200));
    }
}

/// Methods that cannot count people say so by name.
#[test]
fn methods_that_do_not_count_people_refuse() {
    let csv = "age,sick,who\n1,a,x\n2,b,y\n".to_owned();
    for entry in Methods::standard().iter().filter(|entry| !entry.takes.contains(&Part::People)) {
        let needs = if entry.takes.contains(&Part::MaxLoss) && entry.name != "exact" {
            "max_loss = 0.5"
        } else {
            "k = 2"
        };
        let text = format!(
            "[privacy]\n{needs}\n[method]\nname = \"{}\"\n[attribute.age]\nrole = \"quasi\"\n\
             [attribute.sick]\nrole = \"sensitive\"\n[attribute.who]\nrole = \"person\"\n",
            entry.name
        );
        let loaded = loaded(csv.clone(), &text);
        let error = Plan::new(&loaded.policy, &Registry::default(), Choices::default()).err().unwrap();
        assert!(error.message().contains(entry.name), "{error}");
        assert!(error.message().contains("person"), "{error}");
    }
}

/// A record that does not say whose it is can be no person of its own.
#[test]
fn a_record_of_nobody_is_refused_or_dropped() {
    let csv = "age,who\n1,x\n2, \n3,y\n";
    let policy = "[data]\nincomplete = \"WHAT\"\n[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n\
                  [attribute.who]\nrole = \"person\"\n";
    let keep = throng::policy::Policy::parse(&policy.replace("WHAT", "keep"), None).unwrap();
    let error = throng::problem::Problem::new(&common::table_of(csv, &keep), &keep).err().unwrap();
    assert!(error.message().contains("does not say whose it is"), "{error}");
    assert!(error.to_string().contains('3'), "it names the line: {error}");
    let dropped = loaded(csv.to_owned(), &policy.replace("WHAT", "drop"));
    assert_eq!((dropped.problem.len(), dropped.problem.dropped), (2, 1));
}

/// Two columns together say whose a record is; blanks around a name make nobody else of it.
#[test]
fn several_columns_name_a_person_together() {
    let csv = "age,first,last\n1,Ann,Lee\n2,Ann,Roe\n3,Ann ,Lee\n4,Bob,Lee\n".to_owned();
    let loaded = loaded(
        csv,
        "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n[attribute.first]\nrole = \"person\"\n\
         [attribute.last]\nrole = \"person\"\n",
    );
    let people = loaded.problem.people.as_ref().unwrap();
    assert_eq!(people.count(), 3);
    assert_eq!(people.of(0), people.of(2));
}
