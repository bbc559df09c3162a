//! A series of releases against attackers who know everybody's class and when each was in the table.
//!
//! The plain versions here share nothing with the library but the files it writes and the ledger, from which the attacker
//! learns who is in which class: an exact enumeration of all that could be true on at most 15 people, and an attacker who
//! groups people by their traces over long random histories of joins, departures, returns and erasures.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::policy::Policy;
use throng::release::Order;
use throng::report::SeriesFigures;
use throng::run::{Anonymize, AuditSeries, Series};
use throng::series::Book;
use throng::watch::Unwatched;
use throng::{ErrorCode, Result};

const ILLNESSES: [&str; 4] = ["flu", "cold", "gout", "mumps"];

/// What is true of somebody. It never changes here: values stay as of entry.
#[derive(Clone, Debug)]
struct Person {
    age: u32,
    illness: &'static str,
    note: u32,
}

/// People, and who of them is in the table now.
struct World {
    folder: tempfile::TempDir,
    people: Vec<Person>,
    here: BTreeSet<usize>,
    erased: BTreeSet<usize>,
    policy: String,
    releases: Vec<PathBuf>,
    tables: Vec<PathBuf>,
    /// For each release, the rows of each class: cells without class and present.
    classes: Vec<BTreeMap<String, Vec<String>>>,
    /// For each release, the class under which a row of each person was published.
    published: Vec<BTreeMap<usize, String>>,
    figures: Vec<SeriesFigures>,
}

impl World {
    fn new(privacy: &str, method: &str, series: &str) -> Self {
        let policy = format!(
            "[privacy]\n{privacy}\n[method]\nname = \"{method}\"\nseed = 3\n[series]\n{series}\n[attribute.id]\nrole = \"person\"\n\
             [attribute.age]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n[attribute.note]\nrole = \"other\"\nconfirmed = true\n"
        );
        World {
            folder: tempfile::tempdir().unwrap(),
            people: Vec::new(),
            here: BTreeSet::new(),
            erased: BTreeSet::new(),
            policy,
            releases: Vec::new(),
            tables: Vec::new(),
            classes: Vec::new(),
            published: Vec::new(),
            figures: Vec::new(),
        }
    }

    fn join(&mut self, count: usize, random: &mut ChaCha8Rng) {
        for _ in 0..count {
            let person = Person {
                age: random.random_range(20..60),
                illness: ILLNESSES.choose(random).unwrap(),
                note: random.random_range(0..3),
            };
            self.here.insert(self.people.len());
            self.people.push(person);
        }
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("ledger")
    }

    fn table(&self, name: &str) -> PathBuf {
        let mut text = "id,age,illness,note\n".to_owned();
        for id in &self.here {
            let Person { age, illness, note } = &self.people[*id];
            text += &format!("p{id},{age},{illness},n{note}\n");
        }
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Publishes the table as it is now, and looks at what the files say.
    fn publish(&mut self, erase: &[usize]) -> Result<()> {
        let number = self.releases.len() + 1;
        let table = self.table(&format!("t{number}.csv"));
        let release = self.folder.path().join(format!("r{number}.csv"));
        let names = self.folder.path().join("erase.txt");
        std::fs::write(&names, erase.iter().map(|id| format!("p{id}\n")).collect::<String>()).unwrap();
        let series = Series {
            anonymize: Anonymize::new(&table, &release, Policy::parse(&self.policy, None)?),
            ledger: self.ledger(),
            after: self.releases.last().cloned(),
            erase: (!erase.is_empty()).then_some(names),
            replace: false,
        };
        let report = series.run(&Unwatched)?;
        self.figures.push(report.series.unwrap());
        self.erased.extend(erase);
        self.releases.push(release);
        self.tables.push(table);
        self.look();
        Ok(())
    }

    fn look(&mut self) {
        let text = std::fs::read_to_string(self.releases.last().unwrap()).unwrap();
        let mut classes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in text.lines().skip(1) {
            let mut cells = line.rsplitn(3, ',');
            let (_present, class, rest) = (cells.next(), cells.next().unwrap(), cells.next().unwrap());
            classes.entry(class.to_owned()).or_default().push(rest.to_owned());
        }
        classes.values_mut().for_each(|rows| rows.sort());
        let (ledger, key) = Book::look(&self.ledger()).unwrap();
        let number = self.releases.len() as u32;
        let mut published = BTreeMap::new();
        for id in 0..self.people.len() {
            let name = format!("p{id}");
            let place = ledger.people.get(&key.tag([name.as_str()]));
            let class = place.and_then(|place| ledger.class_at(place.class, number));
            let class = class.map(|class| ledger.classes[class as usize].name.clone());
            if let Some(class) = class.filter(|class| classes.contains_key(class)) {
                published.insert(id, class);
            }
        }
        self.classes.push(classes);
        self.published.push(published);
    }

    /// The classes under which somebody was published, release by release.
    fn trace(&self, id: usize) -> Vec<Option<&String>> {
        self.published.iter().map(|published| published.get(&id)).collect()
    }

    /// People with the same trace, but for those who were never published.
    fn atoms(&self) -> BTreeMap<Vec<Option<&String>>, Vec<usize>> {
        let mut atoms: BTreeMap<Vec<Option<&String>>, Vec<usize>> = BTreeMap::new();
        for id in 0..self.people.len() {
            atoms.entry(self.trace(id)).or_default().push(id);
        }
        atoms.retain(|trace, _| trace.iter().any(Option::is_some));
        atoms
    }

    fn audit(&self) -> throng::audit::SeriesFindings {
        let audit = AuditSeries {
            releases: self.releases.clone(),
            policy: Policy::parse(&self.policy, None).unwrap(),
            ledger: Some(self.ledger()),
            tables: self.tables.clone(),
        };
        audit.run(&Unwatched).unwrap()
    }
}

/// How often each value is whose, over all ways to give people values that agree with what was published: classes of
/// people, each with as many of every value as it has rows of it.
fn possible(people: usize, seen: &[(Vec<usize>, Vec<&str>)]) -> Vec<BTreeMap<&'static str, u64>> {
    struct Search<'a> {
        classes_of: Vec<Vec<usize>>,
        left: Vec<BTreeMap<&'a str, usize>>,
        values: Vec<&'static str>,
        counts: Vec<BTreeMap<&'static str, u64>>,
    }
    impl Search<'_> {
        fn go(&mut self, id: usize) {
            if id == self.classes_of.len() {
                for (own, value) in self.counts.iter_mut().zip(&self.values) {
                    *own.entry(value).or_default() += 1;
                }
                return;
            }
            let classes = self.classes_of[id].clone();
            for value in ILLNESSES {
                if classes.is_empty() && value != ILLNESSES[0] {
                    continue;
                }
                let room = |at: &usize| self.left[*at].get(value).is_some_and(|left| *left > 0);
                if !classes.iter().all(room) {
                    continue;
                }
                classes.iter().for_each(|at| *self.left[*at].get_mut(value).unwrap() -= 1);
                self.values[id] = value;
                self.go(id + 1);
                classes.iter().for_each(|at| *self.left[*at].get_mut(value).unwrap() += 1);
            }
        }
    }
    let mut classes_of = vec![Vec::new(); people];
    let mut left = Vec::new();
    for (at, (members, values)) in seen.iter().enumerate() {
        assert_eq!(members.len(), values.len(), "a class has as many rows as people");
        members.iter().for_each(|id| classes_of[*id].push(at));
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        values.iter().for_each(|value| *counts.entry(value).or_default() += 1);
        left.push(counts);
    }
    let mut search =
        Search { classes_of, left, values: vec![""; people], counts: vec![BTreeMap::new(); people] };
    search.go(0);
    search.counts
}

fn shares(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<&'static str, f64> {
    let all: u64 = counts.values().sum();
    counts.iter().map(|(value, count)| (*value, *count as f64 / all as f64)).collect()
}

fn differ(one: &BTreeMap<&'static str, f64>, other: &BTreeMap<&'static str, f64>) -> bool {
    let value = |map: &BTreeMap<&'static str, f64>, key| map.get(key).copied().unwrap_or(0.0);
    ILLNESSES.iter().any(|key| (value(one, key) - value(other, key)).abs() > 1e-12)
}

/// The classes of some releases: who is in each, and its values.
fn seen(world: &World, releases: &[usize]) -> Vec<(Vec<usize>, Vec<&'static str>)> {
    let mut seen = Vec::new();
    for at in releases {
        for (class, rows) in &world.classes[*at] {
            let members = world.published[*at].iter().filter(|(_, own)| *own == class).map(|(id, _)| *id);
            let value = |row: &String| {
                let text = row.split(',').nth(1).unwrap();
                *ILLNESSES.iter().find(|own| **own == text).unwrap()
            };
            seen.push((members.collect(), rows.iter().map(value).collect()));
        }
    }
    seen
}

#[test]
fn nobodys_posterior_changes_by_later_releases() {
    for seed in 0..40 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let privacy = if seed % 2 == 0 { "k = 2" } else { "k = 2\nl = 1.5" };
        let mut world = World::new(privacy, "mondrian", "");
        world.join(8, &mut random);
        if world.publish(&[]).is_err() {
            continue; // so few people may not be diverse enough
        }
        for _ in 0..2 {
            let mut leaving: Vec<usize> = world.here.iter().copied().collect();
            leaving.shuffle(&mut random);
            for id in leaving.iter().take(random.random_range(0..3)) {
                world.here.remove(id);
            }
            world.join(random.random_range(0..4), &mut random);
            world.publish(&[]).unwrap();
        }
        assert!(world.people.len() <= 15);
        let count = world.people.len();
        let all: Vec<usize> = (0..world.releases.len()).collect();
        let after = possible(count, &seen(&world, &all));
        for id in 0..count {
            let Some(entry) = all.iter().find(|at| world.published[**at].contains_key(&id)) else { continue };
            let before = possible(count, &seen(&world, &[*entry]));
            let (before, after) = (shares(&before[id]), shares(&after[id]));
            assert!(!differ(&before, &after), "seed {seed}: p{id} {before:?} {after:?}");
        }
    }
}

/// The enumeration is able to see what independent releases tell.
#[test]
fn independent_releases_change_posteriors() {
    let (mut changed, mut all) = (0, 0);
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut world = World::new("k = 2", "mondrian", "");
        world.join(9, &mut random);
        let mut seen: Vec<Vec<(Vec<usize>, Vec<&'static str>)>> = Vec::new();
        for round in 0..2 {
            if round == 1 {
                let leaving = *world.here.iter().nth(random.random_range(0..world.here.len())).unwrap();
                world.here.remove(&leaving);
                world.join(1, &mut random);
            }
            let (table, release) = (world.table("t.csv"), world.folder.path().join("r.csv"));
            let mut run = Anonymize::new(table, &release, Policy::parse(&world.policy, None).unwrap());
            run.order = Order::Keep;
            run.run(&Unwatched).unwrap();
            let text = std::fs::read_to_string(release).unwrap();
            let mut classes: BTreeMap<String, (Vec<usize>, Vec<&'static str>)> = BTreeMap::new();
            for (id, line) in world.here.iter().zip(text.lines().skip(1)) {
                let own = classes.entry(line.split(',').next().unwrap().to_owned()).or_default();
                own.0.push(*id);
                own.1.push(world.people[*id].illness);
            }
            seen.push(classes.into_values().collect());
        }
        let count = world.people.len();
        let (before, after) = (possible(count, &seen[0]), possible(count, &seen.concat()));
        let first: BTreeSet<usize> =
            seen[0].iter().flat_map(|(members, _)| members.iter().copied()).collect();
        all += first.len();
        changed += first.iter().filter(|id| differ(&shares(&before[**id]), &shares(&after[**id]))).count();
    }
    assert!(changed * 5 > all, "{changed} of {all}");
}

/// A random history, looked at by the plain attacker after every release.
fn history(seed: u64, k: usize, l: Option<f64>, method: &str, series: &str) -> World {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let privacy = format!("k = {k}\n{}", l.map_or_else(String::new, |l| format!("l = {l}\n")));
    let mut world = World::new(&privacy, method, series);
    world.join(30 + 10 * k, &mut random);
    world.publish(&[]).unwrap();
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    for _ in 0..5 {
        let mut people: Vec<usize> = world.here.iter().copied().collect();
        people.shuffle(&mut random);
        let share = if random.random_bool(0.3) { 0.5 } else { 0.1 };
        let leaving = (people.len() as f64 * random.random_range(0.0..share)) as usize;
        for id in &people[..leaving] {
            world.here.remove(id);
            gone.insert(*id);
        }
        let back: Vec<usize> = gone.iter().copied().filter(|_| random.random_bool(0.2)).collect();
        for id in back.iter().filter(|id| !world.erased.contains(id)) {
            gone.remove(id);
            world.here.insert(*id);
        }
        world.join(random.random_range(0..4 * k), &mut random);
        let was_published = |id: &usize| world.published.iter().any(|published| published.contains_key(id));
        let erasable: Vec<usize> =
            gone.iter().copied().filter(|id| !world.erased.contains(id) && was_published(id)).collect();
        let erase: Vec<usize> = if random.random_bool(0.4) {
            erasable.choose(&mut random).copied().into_iter().collect()
        } else {
            Vec::new()
        };
        world.publish(&erase).unwrap();
        attack(&world, k, l, seed);
    }
    world
}

fn attack(world: &World, k: usize, l: Option<f64>, seed: u64) {
    for (trace, atom) in world.atoms() {
        assert!(atom.len() >= k, "seed {seed}: only {} people have the trace {trace:?}", atom.len());
        for value in ILLNESSES {
            let count = atom.iter().filter(|id| world.people[**id].illness == value).count();
            let most = l.map_or(atom.len() as f64, |l| atom.len() as f64 / l);
            assert!(count as f64 <= most + 1e-9, "seed {seed}: {count} of {} have {value}", atom.len());
        }
    }
    let last = world.classes.len() - 1;
    // Every row is somebody's of its class, as of entry, and the class covers all of its people.
    for (class, rows) in &world.classes[last] {
        let members: Vec<&Person> = world.published[last]
            .iter()
            .filter(|(_, own)| *own == class)
            .map(|(id, _)| &world.people[*id])
            .collect();
        let cell = rows[0].split(',').next().unwrap();
        let (low, high) = match cell.trim_matches(['[', ']']).split_once('-') {
            Some((low, high)) => (low.parse().unwrap(), high.parse().unwrap()),
            None if cell == "*" => (0, u32::MAX),
            None => (cell.parse().unwrap(), cell.parse().unwrap()),
        };
        assert!(members.iter().all(|person| (low..=high).contains(&person.age)), "seed {seed}: {cell}");
        let mut expected: Vec<String> =
            members.iter().map(|person| format!("{cell},{},n{}", person.illness, person.note)).collect();
        expected.sort();
        assert_eq!(*rows, expected, "seed {seed}: class {class}");
    }
    // What is in this release and not in the last one has new names only.
    if let Some(before) = last.checked_sub(1).map(|at| &world.classes[at]) {
        for (class, rows) in &world.classes[last] {
            match before.get(class) {
                Some(own) => assert_eq!(own, rows, "seed {seed}: class {class}"),
                None => assert!(
                    world.classes[..last].iter().all(|old| !old.contains_key(class)),
                    "seed {seed}: {class}"
                ),
            }
        }
    }
    let figures = &world.figures[last];
    let published_here = world.here.iter().filter(|id| world.published[last].contains_key(id)).count() as u64;
    assert_eq!(figures.stale_rows, figures.rows - published_here, "seed {seed}");
    assert_eq!(figures.people, world.here.len() as u64);
    assert_eq!(figures.waiting + figures.withheld, figures.people - published_here, "seed {seed}");
}

#[test]
fn a_plain_attacker_finds_everybody_among_k_over_random_histories() {
    for seed in 0..8 {
        for (k, l, method) in
            [(2, None, "mondrian"), (3, Some(2.0), "mondrian"), (3, None, "hilbert"), (2, Some(1.5), "peel")]
        {
            let world = history(seed, k, l, method, "");
            let findings = world.audit();
            assert!(findings.holds(), "seed {seed} {method}: {:?}", findings.violations);
        }
    }
}

#[test]
fn the_same_holds_where_classes_are_divided_and_some_are() {
    let mut divided = 0;
    for seed in 0..10 {
        for (k, l, start) in [(2, None, 8), (3, Some(1.5), 9)] {
            let series = format!("start_k = {start}\nturnover = true");
            let world = history(seed, k, l, "mondrian", &series);
            divided += world.figures.iter().map(|figures| figures.divided_classes).sum::<u64>();
            let findings = world.audit();
            assert!(findings.holds(), "seed {seed}: {:?}", findings.violations);
        }
    }
    assert!(divided > 20, "{divided} classes were divided");
}

#[test]
fn collected_newcomers_and_releases_without_present_are_safe_too() {
    for seed in 0..4 {
        let world = history(seed, 3, None, "mondrian", "wait = 2");
        assert!(world.audit().holds());
    }
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut world = World::new("k = 3", "mondrian", "present = false");
    world.join(20, &mut random);
    let policy = Policy::parse(&world.policy, None).unwrap();
    let release = world.folder.path().join("r1.csv");
    let series = Series {
        anonymize: Anonymize::new(world.table("t1.csv"), &release, policy),
        ledger: world.ledger(),
        after: None,
        erase: None,
        replace: false,
    };
    series.run(&Unwatched).unwrap();
    assert!(std::fs::read_to_string(release).unwrap().starts_with("age,illness,note,class\n"));
}

/// Formats with types, nulls and quotes: what was read is written again as it was.
#[test]
fn rows_stay_word_for_word_in_every_format() {
    for ending in ["csv", "tsv", "parquet", "arrow", "jsonl", "csv.gz"] {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut world = World::new("k = 3", "mondrian", "");
        world.join(20, &mut random);
        let policy = Policy::parse(&world.policy, None).unwrap();
        let mut releases: Vec<PathBuf> = Vec::new();
        let mut tables = Vec::new();
        for number in 1..=3 {
            let table = world.table(&format!("t{number}.csv"));
            let release = world.folder.path().join(format!("r{number}.{ending}"));
            let series = Series {
                anonymize: Anonymize::new(&table, &release, policy.clone()),
                ledger: world.ledger(),
                after: releases.last().cloned(),
                erase: None,
                replace: false,
            };
            series.run(&Unwatched).unwrap_or_else(|error| panic!("{ending}: {error}"));
            releases.push(release);
            tables.push(table);
            world.here.remove(&number);
            world.join(4, &mut random);
        }
        let audit = AuditSeries { releases, policy, ledger: Some(world.ledger()), tables };
        let findings = audit.run(&Unwatched).unwrap();
        assert!(findings.holds(), "{ending}: {:?}", findings.violations);
        assert_eq!(findings.releases.len(), 3);
    }
}

#[test]
fn a_table_with_other_columns_does_not_follow() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut world = World::new("k = 3", "mondrian", "");
    world.join(12, &mut random);
    world.publish(&[]).unwrap();
    let text = std::fs::read_to_string(&world.tables[0]).unwrap();
    let swapped: String = text
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{}\n", cells[0], cells[2], cells[1], cells[3])
        })
        .collect();
    let path = world.folder.path().join("swapped.csv");
    // Somebody new, so that rows of both must be joined.
    std::fs::write(&path, swapped + "q1,flu,30,n1\nq2,flu,30,n1\nq3,cold,30,n1\n").unwrap();
    let series = Series {
        anonymize: Anonymize::new(
            path,
            world.folder.path().join("r2.csv"),
            Policy::parse(&world.policy, None).unwrap(),
        ),
        ledger: world.ledger(),
        after: world.releases.last().cloned(),
        erase: None,
        replace: false,
    };
    let error = series.run(&Unwatched).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SeriesChanged);
    assert!(error.message().contains("another order"), "{error}");
}
