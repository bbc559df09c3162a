//! Tables in parts: partial results merge to the same in any order, and nothing but rows, seed, secret and number of parts
//! decides the release.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use proptest::prelude::*;
use throng::format::CSV;
use throng::loss::Kernel;
use throng::policy::Policy;
use throng::run::{Anonymize, Memory};
use throng::scale::cuts::{Cuts, Cutting, Sampled};
use throng::scale::sketch::TableSketch;
use throng::table::{Reading, Storage, Table};
use throng::watch::{Unwatched, Watch};
use throng::{ErrorCode, Report, Secret};

const HEADER: &str = "age,city,job,illness,note\n";

const POLICY: &str = "[privacy]\nk = 5\n[method]\nname = \"mondrian\"\nseed = 7\n[attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n\
    [attribute.job]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n[attribute.note]\nrole = \"other\"\n";

/// Rows that repeat each other in part, drawn by a simple rule.
fn rows(count: usize, seed: u64) -> Vec<String> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    (0..count)
        .map(|_| {
            let (age, city, job) = (18 + draw(60), draw(9), draw(14));
            format!("{age},city{city},job{job},ill{},n{}\n", draw(6), draw(40))
        })
        .collect()
}

fn text(rows: &[String]) -> String {
    HEADER.to_owned() + &rows.concat()
}

const KEPT: [Storage; 5] = [Storage::Coded, Storage::Coded, Storage::Coded, Storage::Coded, Storage::Text];

fn table(rows: &[String]) -> Table {
    let plan = |_: &[String]| Ok(KEPT.to_vec());
    Table::read_from(&CSV, text(rows).as_bytes(), &Reading::new(&plan, &Unwatched)).unwrap()
}

fn empty_sketch() -> TableSketch {
    let names: Vec<String> = HEADER.trim().split(',').map(str::to_owned).collect();
    TableSketch::new(&names, &KEPT, 7, usize::MAX)
}

fn sketch(rows: &[String]) -> TableSketch {
    let mut sketch = empty_sketch();
    sketch.add(&table(rows)).unwrap();
    sketch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any deal of rows to pieces, any order of pieces and any grouping of merges gives the same sketch, to the byte.
    #[test]
    fn sketches_merge_in_any_order_and_grouping(
        seed in 0u64..1000,
        part_of in prop::collection::vec(0usize..5, 300),
        order in Just((0..5usize).collect::<Vec<_>>()).prop_shuffle(),
        pairs in any::<bool>(),
    ) {
        let rows = rows(300, seed);
        let part = |at: usize| -> Vec<String> {
            rows.iter().zip(&part_of).filter(|(_, own)| **own == at).map(|(row, _)| row.clone()).collect()
        };
        let parts: Vec<TableSketch> = order.iter().map(|at| part(*at)).map(|rows| match rows.is_empty() {
            true => empty_sketch(),
            false => sketch(&rows),
        }).collect();
        let mut merged = if pairs {
            // ((0 + 1) + (2 + 3)) + 4
            let (mut left, mut right) = (parts[0].clone(), parts[2].clone());
            left.merge(&parts[1]).unwrap();
            right.merge(&parts[3]).unwrap();
            left.merge(&right).unwrap();
            left
        } else {
            let mut left = parts[0].clone();
            parts[1..4].iter().for_each(|part| left.merge(part).unwrap());
            left
        };
        merged.merge(&parts[4]).unwrap();
        let whole = sketch(&rows);
        prop_assert_eq!(serde_json::to_string(&merged).unwrap(), serde_json::to_string(&whole).unwrap());
    }

    /// Cuts follow from what is in a sample, not from its order, and send every record to one part.
    #[test]
    fn cuts_do_not_depend_on_the_order_of_the_sample(
        codes in prop::collection::vec((0u32..20, 0u32..20), 2..80),
        parts in 1usize..9,
        round in 0usize..3,
        mixed: bool,
        (narrow, more) in (any::<bool>(), 0usize..9),
    ) {
        let policy = Policy::parse("[privacy]\nk = 2\n[attribute.a]\nrole = \"quasi\"\n[attribute.b]\nrole = \"quasi\"\n", None)
            .unwrap();
        let all: String = (0..20).map(|at| format!("{at},{at}\n")).collect();
        let plan = |_: &[String]| Ok(vec![Storage::Coded; 2]);
        let text = format!("a,b\n{all}");
        let table = Table::read_from(&CSV, text.as_bytes(), &Reading::new(&plan, &Unwatched)).unwrap();
        let problem = throng::problem::Problem::new(&table, &policy).unwrap();
        let kernel = Kernel::new(&problem.attributes);
        let sample = |codes: &[(u32, u32)]| -> Vec<Sampled> {
            codes.iter().map(|(a, b)| Sampled { codes: vec![*a, *b], sensitive: vec![*a % 2], weight: 1 }).collect()
        };
        let mut reversed = codes.clone();
        reversed.reverse();
        let both = |records: &[&Sampled]| (0..2).all(|value| records.iter().any(|own| own.sensitive[0] == value));
        let room = |records: &[&Sampled]| !mixed || both(records);
        let asked = |records: &[&Sampled]| match (narrow, room(records)) {
            (false, true) => 0.3,
            (true, true) => 0.6,
            (_, false) => 0.97,
        };
        let mut before = Cuts::none();
        for _ in 0..round {
            before = Cuts::new(&sample(&codes), &Cutting { kernel: &kernel, before: &before, more, asked: &asked }, parts);
        }
        let cutting = Cutting { kernel: &kernel, before: &before, more, asked: &asked };
        let cuts = Cuts::new(&sample(&codes), &cutting, parts);
        prop_assert_eq!(&cuts, &Cuts::new(&sample(&reversed), &cutting, parts));
        let most = if narrow || mixed { parts + more } else { parts };
        prop_assert!(cuts.parts() <= most);
        for (a, b) in codes {
            let part = cuts.part(|at| [a, b][at]) as usize;
            prop_assert!(part < cuts.parts());
            let inside = cuts.cell(&[part], 2).into_iter().zip([a, b]).all(|((from, until), code)| (from..until).contains(&code));
            prop_assert!(inside, "a record lies in the cell of its part");
        }
        let all: Vec<usize> = (0..cuts.parts()).collect();
        prop_assert_eq!(cuts.cell(&all, 2), [(0, u32::MAX); 2]);
        // A part that cannot stand joins its sibling, and all of them are in one group each.
        for least in [1, 2, 100] {
            let groups = cuts.joined(&|parts: &[u32], _: &[u32]| parts.len() < least);
            let mut found: Vec<u32> = groups.concat();
            found.sort_unstable();
            prop_assert!(found.into_iter().eq(0..cuts.parts() as u32));
            prop_assert!(groups.len() == 1 || groups.iter().all(|group| group.len() >= least));
        }
    }
}

struct Ran {
    release: String,
    report: Report,
}

fn run_in(
    folder: &Path,
    data: &[PathBuf],
    policy: &str,
    parts: usize,
    watch: &dyn Watch,
) -> throng::Result<Ran> {
    let release = folder.join("release.csv");
    let mut run = Anonymize::new(&data[0], &release, Policy::parse(policy, None)?);
    run.more = data[1..].to_vec();
    run.secret = Some(Secret::from_bytes(b"a secret that the test knows"));
    run.memory = Some(Memory { parts: Some(parts), ..Memory::of(256 << 20) });
    let report = run.run(watch)?;
    Ok(Ran { release: std::fs::read_to_string(release).unwrap(), report })
}

fn write(folder: &Path, name: &str, rows: &[String]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text(rows)).unwrap();
    path
}

fn run(rows: &[String], policy: &str, parts: usize) -> throng::Result<Ran> {
    let folder = tempfile::tempdir().unwrap();
    let data = write(folder.path(), "table.csv", rows);
    run_in(folder.path(), &[data], policy, parts, &Unwatched)
}

#[test]
fn neither_files_nor_the_order_of_rows_nor_threads_decide_the_release() {
    let rows = rows(3000, 3);
    // With so large a k classes mix cities and jobs, so that some might gain beyond cuts between these.
    let policy = &POLICY.replace("k = 5", "k = 60");
    let whole = run(&rows, policy, 4).unwrap();
    assert!(whole.report.measures.k >= 60);
    assert_eq!(whole.report.measures.rows_published, 3000);
    let parts = whole.report.parts.as_ref().unwrap();
    assert_eq!(parts.parts[0], 4, "{parts:?}");
    assert!(parts.parts.len() > 1 && parts.parts.last() == Some(&1), "{parts:?}");

    let mut backwards = rows.clone();
    backwards.reverse();
    let folder = tempfile::tempdir().unwrap();
    let files = [&backwards[..700], &backwards[700..701], &backwards[701..]];
    let files: Vec<PathBuf> =
        (0..).zip(files).map(|(at, rows)| write(folder.path(), &format!("{at}.csv"), rows)).collect();
    let cut = run_in(folder.path(), &files, policy, 4, &Unwatched).unwrap();
    assert!(cut.release == whole.release, "the order of rows decides");

    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = alone.install(|| run(&rows, policy, 4).unwrap());
    assert!(alone.release == whole.release, "threads decide");
    let other = run(&rows, policy, 2).unwrap();
    assert_ne!(other.release, whole.release);
}

/// What a plain audit of the files in memory says, beside the merged one.
#[test]
fn the_merged_audit_is_that_of_the_whole() {
    for policy in [POLICY.to_owned(), POLICY.replace("k = 5", "k = 4\nl = 2\nt = 0.6")] {
        let rows = rows(3000, 11);
        let folder = tempfile::tempdir().unwrap();
        let data = write(folder.path(), "table.csv", &rows);
        let ran = run_in(folder.path(), std::slice::from_ref(&data), &policy, 5, &Unwatched).unwrap();
        let policy = Policy::parse(&policy, None).unwrap();
        let findings =
            throng::run::audit_files(&data, &folder.path().join("release.csv"), &policy, &Unwatched).unwrap();
        assert!(findings.holds(), "{:?}", findings.measures.violations);
        let told = |measures: &throng::Measures| {
            let mut told = serde_json::to_value(measures).unwrap();
            let told = told.as_object_mut().unwrap();
            // What is not looked for in parts, or only where a release is compared with its table.
            ["bound", "lower_bound", "gap", "truth", "research_value", "research_value_per_attribute"]
                .iter()
                .for_each(|key| drop(told.remove(*key)));
            told.clone()
        };
        assert_eq!(told(&ran.report.measures), told(&findings.measures));
        for (own, other) in ran.report.distributions.iter().zip(&findings.distributions) {
            for (own, other) in own.bins.iter().zip(&other.bins) {
                assert_eq!((&own.label, own.before), (&other.label, other.before));
                assert!((own.after - other.after).abs() < 1e-6);
            }
        }
    }
}

/// The published cells of quasi-identifiers, counted by the plainest of means.
#[test]
fn every_class_has_k_rows_and_every_row_is_there_once() {
    let rows = rows(2000, 5);
    let ran = run(&rows, POLICY, 3).unwrap();
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    let mut published: Vec<String> = Vec::new();
    for line in ran.release.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        *classes.entry(cells[..3].join(",")).or_default() += 1;
        published.push(cells[3..].join(","));
    }
    assert!(classes.values().all(|size| *size >= 5));
    assert_eq!(classes.len() as u64, ran.report.measures.classes);
    // What is passed through beside each other stays beside each other.
    let mut as_given: Vec<String> =
        rows.iter().map(|row| row.trim().splitn(4, ',').nth(3).unwrap().to_owned()).collect();
    as_given.sort();
    published.sort();
    assert_eq!(published, as_given);
}

/// Rows come in an order that has nothing to do with that of the table: neighbours there are no neighbours here.
#[test]
fn the_place_of_a_row_tells_nothing_of_its_place_in_the_table() {
    let rows: Vec<String> = rows(4000, 9)
        .into_iter()
        .enumerate()
        .map(|(at, row)| format!("{},row{at}\n", row.trim().rsplit_once(',').unwrap().0))
        .collect();
    let policy = POLICY.to_owned() + "confirmed = true\n";
    let ran = run(&rows, &policy, 4).unwrap();
    let order: Vec<i64> =
        ran.release.lines().skip(1).map(|line| line.rsplit_once("row").unwrap().1.parse().unwrap()).collect();
    // The mean distance of neighbours is a third of all rows where the order is random: 1,333 here, and 15 is its deviation.
    let distance =
        order.windows(2).map(|pair| (pair[0] - pair[1]).abs()).sum::<i64>() / (order.len() as i64 - 1);
    assert!((1250..1420).contains(&distance), "{distance}");
    // The same holds of what decides the parts.
    let ages: Vec<i64> = order.iter().map(|at| rows[*at as usize][..2].parse().unwrap()).collect();
    let near =
        ages.windows(2).map(|pair| (pair[0] - pair[1]).abs()).sum::<i64>() as f64 / (ages.len() - 1) as f64;
    assert!((19.0..21.5).contains(&near), "{near}");
}

/// Lets something happen when a stage begins.
struct At<'a> {
    stage: &'a str,
    act: Mutex<Option<Box<dyn FnOnce() + Send + 'a>>>,
}

impl Watch for At<'_> {
    fn stage(&self, name: &str, _: Option<u64>) {
        if name == self.stage
            && let Some(act) = self.act.lock().unwrap().take()
        {
            act();
        }
    }
}

fn changed(change: impl FnOnce(&Path) + Send) {
    let folder = tempfile::tempdir().unwrap();
    let rows = rows(1000, 1);
    let data = write(folder.path(), "table.csv", &rows);
    let path = data.clone();
    let watch = At { stage: "reading, pass 2 of 2", act: Mutex::new(Some(Box::new(move || change(&path)))) };
    let error = run_in(folder.path(), std::slice::from_ref(&data), POLICY, 3, &watch).err().unwrap();
    assert_eq!(error.code(), ErrorCode::TableChanged, "{error}");
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["table.csv"]);
}

#[test]
fn a_table_that_changes_between_passes_is_refused() {
    // A value that was not there, a row less, and a cell that is passed through, with size and time as they were.
    changed(|path| std::fs::write(path, text(&rows(1000, 1)) + "200,x,y,z,n\n").unwrap());
    changed(|path| std::fs::write(path, text(&rows(999, 1))).unwrap());
    changed(|path| {
        let before = std::fs::metadata(path).unwrap().modified().unwrap();
        let mut rows = rows(1000, 1);
        let last = rows[999].trim().to_owned();
        rows[999] = format!("{}{}\n", &last[..last.len() - 1], if last.ends_with('1') { 2 } else { 1 });
        std::fs::write(path, text(&rows)).unwrap();
        std::fs::File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
    });
}

#[test]
fn a_part_that_cannot_meet_l_joins_its_sibling() {
    // The young have one illness only, so that no part of them alone is diverse.
    let rows: Vec<String> = (0..1200)
        .map(|at| {
            let (age, illness) = (18 + at % 60, if at % 60 < 30 { 0 } else { at % 7 });
            format!("{age},city{},job{},ill{illness},n\n", at % 3, at % 2)
        })
        .collect();
    let policy = POLICY.replace("k = 5", "k = 3\nl = 1.5");
    let ran = run(&rows, &policy, 8).unwrap();
    assert!(ran.report.measures.l.unwrap() >= 1.5);
    assert!(ran.report.parts.unwrap().parts[0] < 8);
    // Where the whole cannot, nothing is solved.
    let error = run(&rows, &POLICY.replace("k = 5", "k = 3\nl = 6"), 8).err().unwrap();
    assert_eq!(error.code(), ErrorCode::DiversityUnreachable, "{error}");
}

/// Parts have a margin for l if all have one: they are cut elsewhere, or joined. Without it they would be dealt by lot.
#[test]
fn parts_keep_a_margin_for_l() {
    // In each city two of six illnesses.
    let rows: Vec<String> = (0..1800)
        .map(|at| {
            let (city, age) = (at % 3, 18 + at / 3 % 50);
            format!("{age},city{city},job0,ill{},n\n", 2 * city + at / 3 % 2)
        })
        .collect();
    let policy = POLICY.replace("k = 5", "k = 4\nl = 2").replace("\"mondrian\"", "\"auto\"");
    let by_city =
        policy.replace("[attribute.age]\nrole = \"quasi\"", "[attribute.age]\nrole = \"identifier\"");
    for (policy, parts) in [(policy, 3), (by_city, 1)] {
        let ran = run(&rows, &policy, 3).unwrap();
        assert!(ran.report.measures.l.unwrap() >= 2.0);
        assert_eq!(ran.report.parts.as_ref().unwrap().parts[0], parts, "{:?}", ran.report.parts);
        let told = serde_json::to_string(&ran.report).unwrap();
        assert!(!told.contains("by lot"), "{told}");
    }
}

#[test]
fn what_is_not_done_in_parts_is_refused_before_the_table_is_read() {
    let folder = tempfile::tempdir().unwrap();
    // It is not even there.
    let missing = folder.path().join("table.csv");
    std::fs::write(&missing, "not,this,table\n1,2,3\n").unwrap();
    for (from, to, words) in [
        ("name = \"mondrian\"", "name = \"refine\"", "as a whole"),
        ("name = \"mondrian\"", "name = \"peel\"\nseconds = 1.0", "seconds"),
        ("k = 5", "k = 5\nsuppress = 0.1", "suppress"),
        (
            "k = 5\n[method]\nname = \"mondrian\"",
            "k = 5\nmax_loss = 0.5\n[method]\nname = \"auto\"",
            "max_loss",
        ),
        (
            "[attribute.age]\nrole = \"quasi\"",
            "[attribute.age]\nrole = \"quasi\"\nweight = \"auto\"",
            "weight",
        ),
        ("[attribute.age]\nrole = \"quasi\"", "[attribute.age]\nrole = \"quasi\"\ntop = \"auto\"", "auto"),
        ("role = \"other\"", "role = \"person\"", "person"),
    ] {
        let policy = POLICY.replace(from, to);
        let error =
            run_in(folder.path(), std::slice::from_ref(&missing), &policy, 2, &Unwatched).err().unwrap();
        assert!(error.message().contains(words), "{words}: {error}");
        assert!(error.hint().is_some(), "{error}");
    }
}

proptest! {
    /// A sample keeps the smallest hashes of the whole and counts them exactly, whatever was dealt to which part; a plain sort says
    /// the same.
    #[test]
    fn samples_keep_the_smallest_hashes_and_their_counts(
        hashes in prop::collection::vec((0u64..60, 0usize..4), 0..200),
        most in 1usize..20,
    ) {
        use throng::scale::bottom::Bottom;
        let mut parts = vec![Bottom::new(most); 4];
        for (hash, part) in &hashes {
            parts[*part].add(*hash, 1, || [hash.to_string().as_str()].into_iter().collect());
        }
        let mut merged = parts.pop().unwrap();
        parts.iter().rev().for_each(|part| merged.merge(part));
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        hashes.iter().for_each(|(hash, _)| *counts.entry(*hash).or_default() += 1);
        let kept: Vec<(String, u64)> =
            merged.entries().map(|entry| (entry.cells.get(0).to_owned(), entry.count)).collect();
        let plain: Vec<(String, u64)> =
            counts.iter().take(most).map(|(hash, count)| (hash.to_string(), *count)).collect();
        prop_assert_eq!(kept, plain);
        prop_assert_eq!(merged.is_exact(), counts.len() <= most);
    }
}
