//! Releases that follow on each other, as a user sees them.

#![allow(clippy::unwrap_used, missing_docs)]

mod folder;

use folder::Folder;
use serde_json::Value;

const POLICY: &str = "[privacy]\nk = 3\n[method]\nseed = 7\n[attribute.id]\nrole = \"person\"\n[attribute.age]\nrole = \"quasi\"\n\
    [attribute.sex]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n";

/// A table of some people, whose cells follow from their numbers.
fn table(people: impl IntoIterator<Item = u32>) -> String {
    let mut text = "id,age,sex,illness\n".to_owned();
    for id in people {
        let (age, sex) = (20 + (id * 7) % 50, ["f", "m"][id as usize % 2]);
        text += &format!("p{id},{age},{sex},{}\n", ["flu", "cold", "gout"][id as usize % 3]);
    }
    text
}

/// A series of two releases: 2 and 5 left, 100 … 104 came.
fn folder() -> Folder {
    let folder = Folder::new()
        .with("policy.toml", POLICY)
        .with("t1.csv", &table(0..30))
        .with("t2.csv", &table((0..30).filter(|id| ![2, 5].contains(id)).chain(100..105)));
    folder.begin();
    folder
}

trait Steps {
    fn begin(&self);
    fn next(&self, table: &str, release: &str, after: &str, more: &[&str]) -> folder::Ran;
    fn audit(&self, more: &[&str]) -> folder::Ran;
}

impl Steps for Folder {
    fn begin(&self) {
        let ran =
            self.run(&["anonymize", "t1.csv", "-p", "policy.toml", "-o", "r1.csv", "--ledger", "ledger"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.starts_with("Release 1 of a series\n"), "{}", ran.stderr);
    }

    fn next(&self, table: &str, release: &str, after: &str, more: &[&str]) -> folder::Ran {
        let own =
            ["anonymize", table, "-p", "policy.toml", "-o", release, "--after", after, "--ledger", "ledger"];
        self.run(&[&own[..], more].concat())
    }

    fn audit(&self, more: &[&str]) -> folder::Ran {
        self.run(&[&["audit", "-p", "policy.toml", "--series"], more].concat())
    }
}

trait Words {
    fn words(&self) -> String;
}

impl Words for folder::Ran {
    /// What was told, however its lines are broken.
    fn words(&self) -> String {
        self.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn rows(text: &str) -> Vec<String> {
    let mut rows: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    rows.sort();
    rows
}

/// Rows without `present`.
fn without_present(text: &str) -> Vec<String> {
    rows(text).into_iter().map(|row| row.rsplit_once(',').unwrap().0.to_owned()).collect()
}

#[test]
fn a_release_follows_word_for_word_and_adds_the_newcomers() {
    let folder = folder();
    assert_eq!(folder.files(), ["ledger", "ledger.key", "policy.toml", "r1.csv", "t1.csv", "t2.csv"]);
    let first = folder.read("r1.csv");
    assert!(first.starts_with("age,sex,illness,class,present\n"), "{first}");
    let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &["--report", "r2.json", "--report", "r2.html"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("Release 2 of a series"), "{}", ran.stderr);
    let (before, after) = (without_present(&first), without_present(&folder.read("r2.csv")));
    assert!(before.iter().all(|row| after.contains(row)));
    assert_eq!(after.len(), 35);
    let report: Value = serde_json::from_str(&folder.read("r2.json")).unwrap();
    let series = &report["series"];
    assert_eq!((series["release"].as_u64(), series["rows"].as_u64()), (Some(2), Some(35)));
    assert_eq!((series["newcomers"].as_u64(), series["stale_rows"].as_u64()), (Some(5), Some(2)));
    assert!(
        ran.words().contains("2 of 35 rows (5.7 %) are of people who are in the table no more"),
        "{}",
        ran.stderr
    );
    let ran = folder.audit(&["r1.csv", "r2.csv", "--ledger", "ledger", "--tables", "t1.csv", "t2.csv"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(folder.audit(&["r1.csv", "r2.csv"]).code, 0);
    let text = folder.read("ledger");
    assert!(!text.contains("p17") && !text.contains("flu"), "the ledger tells nobody's name nor cell");
}

#[cfg(unix)]
#[test]
fn ledger_and_key_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    assert_eq!(folder.next("t2.csv", "r2.csv", "r1.csv", &[]).code, 0);
    for name in ["ledger", "ledger.key"] {
        let mode = std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn the_same_table_again_publishes_the_same_classes() {
    let folder = folder();
    let ran = folder.next("t1.csv", "r2.csv", "r1.csv", &["--report", "r2.html"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(rows(&folder.read("r1.csv")), rows(&folder.read("r2.csv")));
    assert!(ran.stderr.contains("0 newcomers"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("no records"), "{}", ran.stderr);
    assert!(folder.read("r2.html").contains("Release 2 of a series"));
}

#[test]
fn too_few_newcomers_wait_until_there_are_enough() {
    let folder = folder()
        .with("few.csv", &table((0..30).chain(200..202)))
        .with("more.csv", &table((0..30).chain(200..203)));
    let ran = folder.next("few.csv", "r2.csv", "r1.csv", &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.words().contains("2 people wait and are not in this release"), "{}", ran.stderr);
    assert_eq!(rows(&folder.read("r2.csv")).len(), 30);
    assert_eq!(folder.next("more.csv", "r3.csv", "r2.csv", &[]).code, 0);
    assert_eq!(rows(&folder.read("r3.csv")).len(), 33);
}

#[test]
fn newcomers_are_collected_where_the_policy_says_so() {
    let folder = folder();
    std::fs::write(folder.path("policy.toml"), format!("{POLICY}[series]\nwait = 2\n")).unwrap();
    let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &[]);
    assert!(ran.words().contains("newcomers are collected until release 3 (wait = 2)"), "{}", ran.stderr);
    assert_eq!(rows(&folder.read("r2.csv")).len(), 30);
    assert_eq!(folder.next("t2.csv", "r3.csv", "r2.csv", &[]).code, 0);
    assert_eq!(rows(&folder.read("r3.csv")).len(), 35);
}

#[test]
fn k_may_rise_for_those_who_come_later() {
    let folder = folder();
    let rising = POLICY.replace("k = 3", "k = 6");
    let folder = folder.with("t2.csv", &table(0..75)).with("rising.toml", &rising);
    let ran = folder.run(&[
        "anonymize",
        "t2.csv",
        "-p",
        "rising.toml",
        "-o",
        "r2.csv",
        "--after",
        "r1.csv",
        "--ledger",
        "ledger",
    ]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.words().contains("A larger k for those who come from now on is later_k"), "{}", ran.stderr);
    let folder = folder.with("policy.toml", &format!("{POLICY}[series]\nlater_k = 6\n"));
    let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let classes = |release: &str| {
        let text = folder.read(release);
        let column = text.lines().next().unwrap().split(',').position(|name| name == "class").unwrap();
        let mut sizes: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
        for row in rows(&text) {
            *sizes.entry(row.split(',').nth(column).unwrap().to_owned()).or_default() += 1;
        }
        sizes
    };
    let (before, after) = (classes("r1.csv"), classes("r2.csv"));
    let new: Vec<usize> =
        after.iter().filter(|(name, _)| !before.contains_key(*name)).map(|(_, size)| *size).collect();
    assert!(!new.is_empty() && new.iter().all(|size| *size >= 6), "{new:?}");
    assert!(before.iter().all(|(name, size)| after[name] == *size));
    assert!(before.values().any(|size| *size < 6), "{before:?}");
    let ran = folder.audit(&["r1.csv", "r2.csv"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_fork_is_refused() {
    let folder = folder();
    assert_eq!(folder.next("t2.csv", "r2.csv", "r1.csv", &[]).code, 0);
    let files = folder.files();
    let ran = folder.next("t2.csv", "r3.csv", "r1.csv", &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("this is release 1 of the series, and release 2 is the last"),
        "{}",
        ran.stderr
    );
    let ran = folder.run(&["anonymize", "t2.csv", "-p", "policy.toml", "-o", "r3.csv", "--ledger", "ledger"]);
    assert!(ran.stderr.contains("this series has 2 releases already"), "{}", ran.stderr);
    assert_eq!((ran.code, folder.files()), (2, files));
}

#[test]
fn an_edited_foreign_or_lost_file_is_refused() {
    let refused = |change: &dyn Fn(&Folder), words: &str| {
        let folder = folder();
        change(&folder);
        let files = folder.files();
        let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &[]);
        assert_eq!(ran.code, 2, "{words}");
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert_eq!(folder.files(), files);
    };
    let edit = |folder: &Folder, name: &str, from: &str, to: &str| {
        let text = folder.read(name);
        assert!(text.contains(from), "{text}");
        std::fs::write(folder.path(name), text.replacen(from, to, 1)).unwrap();
    };
    refused(
        &|folder| edit(folder, "r1.csv", "flu", "cold"),
        "this is not release 1 of the series as it was published",
    );
    refused(&|folder| edit(folder, "ledger", "\"size\":3", "\"size\":4"), "the ledger was edited");
    refused(&|folder| std::fs::remove_file(folder.path("ledger")).unwrap(), "its ledger is gone");
    refused(&|folder| std::fs::remove_file(folder.path("ledger.key")).unwrap(), "its key is gone");
    refused(
        &|folder| std::fs::write(folder.path("ledger"), "{}").unwrap(),
        "this is not the ledger of a series",
    );
    refused(
        &|folder| std::fs::write(folder.path("ledger.key"), format!("{:064}\n", 0)).unwrap(),
        "the ledger was edited, or its key is that of another series",
    );
    refused(
        &|folder| edit(folder, "policy.toml", "k = 3", "k = 2"),
        "k under [privacy] is not what it was in the releases before: k = 3 then, k = 2 now",
    );
    refused(
        &|folder| edit(folder, "policy.toml", "role = \"sensitive\"", "role = \"other\""),
        "the role of \"illness\"",
    );
    refused(&|folder| edit(folder, "t2.csv", "p3,", "p4,"), "a person has two records");
}

#[test]
fn somebody_is_erased_with_the_whole_class() {
    let folder =
        folder().with("gone.txt", "p2\n").with("typo.txt", "p2\n\nnobody\n").with("here.txt", "p3\n");
    let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &["--erase", "here.txt"]);
    assert!(ran.stderr.contains("\"p3\" is to be erased, but still in the table"), "{}", ran.stderr);
    let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &["--erase", "typo.txt"]);
    assert!(ran.stderr.contains("\"nobody\" was never published in this series"), "{}", ran.stderr);
    assert!(ran.stderr.contains("typo.txt, line 3"), "{}", ran.stderr);
    let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &["--erase", "gone.txt"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (before, after) = (without_present(&folder.read("r1.csv")), without_present(&folder.read("r2.csv")));
    let class = |row: &String| row.rsplit_once(',').unwrap().1.to_owned();
    let gone: Vec<&String> = before.iter().filter(|row| !after.contains(row)).collect();
    assert!(gone.len() >= 3 && gone.iter().all(|row| class(row) == class(gone[0])), "{gone:?}");
    assert!(before.iter().filter(|row| class(row) == class(gone[0])).count() == gone.len());
    assert!(ran.words().contains("must not come back"), "{}", ran.stderr);
    let ran = folder.audit(&["r1.csv", "r2.csv", "--ledger", "ledger", "--tables", "t1.csv", "t2.csv"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // The others of the class stay away for ever.
    assert_eq!(folder.next("t2.csv", "r3.csv", "r2.csv", &[]).code, 0);
    assert_eq!(without_present(&folder.read("r3.csv")), after);
}

#[test]
fn who_returns_is_in_the_old_class() {
    let folder = folder();
    assert_eq!(folder.next("t2.csv", "r2.csv", "r1.csv", &[]).code, 0);
    std::fs::write(folder.path("t3.csv"), table((0..30).chain(100..105))).unwrap();
    assert_eq!(folder.next("t3.csv", "r3.csv", "r2.csv", &[]).code, 0);
    assert_eq!(without_present(&folder.read("r2.csv")), without_present(&folder.read("r3.csv")));
    let first: Vec<String> = rows(&folder.read("r1.csv"));
    assert!(first.iter().all(|row| folder.read("r3.csv").contains(row)), "all are present again");
}

#[test]
fn a_release_that_nobody_got_can_be_made_again() {
    let folder = folder().with("gone.txt", "p2\n");
    assert_eq!(folder.next("t2.csv", "wrong.csv", "r1.csv", &[]).code, 0);
    let ran = folder.next("t2.csv", "r2.csv", "r1.csv", &["--replace"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let tables = ["--ledger", "ledger", "--tables", "t1.csv", "t2.csv"];
    assert_eq!(folder.audit(&[&["r1.csv", "r2.csv"], &tables[..]].concat()).code, 0);
    assert_eq!(folder.audit(&[&["r1.csv", "wrong.csv"], &tables[..]].concat()).code, 1);
    // What was erased stays erased.
    assert_eq!(folder.next("t2.csv", "r3.csv", "r2.csv", &["--erase", "gone.txt"]).code, 0);
    let erased = without_present(&folder.read("r3.csv"));
    assert_eq!(folder.next("t2.csv", "r4.csv", "r2.csv", &["--replace"]).code, 0);
    assert_eq!(without_present(&folder.read("r4.csv")), erased);
}

#[test]
fn tampering_is_caught_by_the_files_alone_or_with_the_ledger() {
    let folder = folder();
    assert_eq!(folder.next("t2.csv", "r2.csv", "r1.csv", &[]).code, 0);
    let text = folder.read("r2.csv");
    let old: Vec<&str> = text
        .lines()
        .filter(|line| without_present(&folder.read("r1.csv")).iter().any(|row| line.starts_with(row)))
        .collect();
    let caught = |name: &str, text: String, words: &str, more: &[&str]| {
        std::fs::write(folder.path(name), text).unwrap();
        let ran = folder.audit(&[&["r1.csv", name], more].concat());
        assert_eq!(ran.code, 1, "{name}: {}{}", ran.stdout, ran.stderr);
        let told = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{name}: {}", ran.stdout);
    };
    let [one, ..] = old[..] else { panic!("no row of the first release") };
    caught("dropped.csv", text.replacen(&format!("{one}\n"), "", 1), "are not those of release 1", &[]);
    let changed = one.replacen("flu", "gout", 1).replacen("cold", "flu", 1);
    let changed = if changed == one { one.replacen("gout", "flu", 1) } else { changed };
    caught("changed.csv", text.replacen(one, &changed, 1), "are not those of release 1", &[]);
    let newcomer = text.lines().skip(1).find(|line| !old.contains(line)).unwrap();
    let [class, present] = [one.rsplit(',').nth(1).unwrap(), one.rsplit(',').next().unwrap()];
    let cells = newcomer.rsplitn(3, ',').nth(2).unwrap();
    let moved = text.replacen(newcomer, &format!("{cells},{class},{present}"), 1);
    caught("moved.csv", moved, "are not those of release 1", &[]);
    let cells = one.rsplit_once(',').unwrap().0;
    caught("present.csv", text.replacen(one, &format!("{cells},99"), 1), "\"present\" of class", &[]);
    // A number that could be true shows only beside the table.
    let all = text.lines().map(|line| match line.rsplit_once(',') {
        Some((cells, number))
            if line != "age,sex,illness,class,present" && cells.rsplit(',').next() == Some(class) =>
        {
            format!("{cells},{}\n", if number == "1" { 2 } else { 1 })
        }
        _ => format!("{line}\n"),
    });
    let all: String = all.collect();
    std::fs::write(folder.path("plausible.csv"), &all).unwrap();
    assert_eq!(folder.audit(&["r1.csv", "plausible.csv"]).code, 0);
    caught(
        "plausible.csv",
        all,
        "of its people are in the table",
        &["--ledger", "ledger", "--tables", "t1.csv", "t2.csv"],
    );
}

#[test]
fn a_policy_without_people_or_with_what_changes_has_no_series() {
    let refused = |policy: &str, more: &[&str], words: &str| {
        let folder = Folder::new().with("policy.toml", policy).with("t1.csv", &table(0..30));
        let own = ["anonymize", "t1.csv", "-p", "policy.toml", "-o", "r1.csv", "--ledger", "ledger"];
        let ran = folder.run(&[&own[..], more].concat());
        assert_eq!(ran.code, 2, "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        assert_eq!(folder.files(), ["policy.toml", "t1.csv"]);
    };
    refused(&POLICY.replace("\"person\"", "\"identifier\""), &[], "does not say whose each record is");
    refused(&POLICY.replace("k = 3", "max_loss = 0.3"), &[], "limits on the loss");
    refused(&POLICY.replace("k = 3", "max_gcp = 0.3"), &[], "limits on the loss");
    refused(
        &POLICY.replace("k = 3", "[[privacy.quasi_identifiers]]\nattributes = [\"age\"]\nk = 3"),
        &[],
        "named quasi-identifiers",
    );
    refused(
        &POLICY.replace("[attribute.sex]", "top = \"auto\"\n[attribute.sex]"),
        &[],
        "a tail that every table sets anew",
    );
    refused(
        &POLICY.replace("\"person\"", "\"person\"\npublish = \"number\""),
        &[],
        "new numbers in every release",
    );
    refused(POLICY, &["--keep-order"], "rows in the order of the table");
    refused(POLICY, &["--escape-formulas"], "marks before formulas");
    refused(POLICY, &["--publish", "permutation"], "by permutation");
    refused(POLICY, &["--publish", "midpoints"], "medians or means");
    refused(POLICY, &["--memory", "1GiB"], "the whole table in memory");
    refused(
        &format!("{POLICY}[series]\nstart_k = 2\nturnover = true\n"),
        &[],
        "start_k must be at least k, which is 3, found 2",
    );
    refused(
        &format!("{POLICY}[series]\nstart_k = 9\n"),
        &[],
        "only loses detail unless classes may be divided",
    );
    refused(&format!("{POLICY}[series]\nwait = 0\n"), &[], "wait must be");
    refused(
        &format!("{POLICY}[series]\nlater_k = 2\n"),
        &[],
        "later_k must be at least k, which is 3, found 2",
    );
}

#[test]
fn ledger_and_key_are_never_overwritten_nor_overwrite() {
    let folder = folder();
    for (release, ledger) in
        [("ledger", "ledger"), ("ledger.key", "ledger"), ("r2.csv", "r1.csv"), ("r2.csv", "t2.csv")]
    {
        let ran = folder.run(&[
            "anonymize",
            "t2.csv",
            "-p",
            "policy.toml",
            "-o",
            release,
            "--after",
            "r1.csv",
            "--ledger",
            ledger,
        ]);
        assert_eq!(ran.code, 2, "{release} {ledger}");
        assert!(ran.stderr.contains("would overwrite"), "{release} {ledger}: {}", ran.stderr);
    }
    let ran = folder.next("t2.csv", "r1.csv", "r1.csv", &[]);
    assert!(ran.stderr.contains("would overwrite"), "{}", ran.stderr);
}

#[test]
fn without_a_ledger_the_report_says_publish_once() {
    let folder = Folder::new().with("policy.toml", POLICY).with("t1.csv", &table(0..30));
    let ran = folder.run(&["anonymize", "t1.csv", "-p", "policy.toml", "-o", "r1.csv"]);
    assert!(ran.words().contains("Publish once: a second release of the same people"), "{}", ran.stderr);
}
