//! Classifying the records of a second table, masked with what was learned from the first.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use throng::policy::Policy;
use throng::run::{Evaluate, Evaluation};
use throng::watch::Unwatched;

const ATTRIBUTES: &str = "[attribute.id]\nrole = \"identifier\"\n[attribute.age]\nrole = \"quasi\"\n\
    [attribute.work]\nrole = \"quasi\"\nhierarchy = { Office = [\"clerk\", \"boss\"], Field = { Farm = [\"farmer\"], \
    Sea = [\"fisher\", \"sailor\"] } }\n[attribute.town]\nrole = \"quasi\"\n[attribute.class]\nrole = \"class\"\n";
const HEADER: &str = "id,age,work,town,note,score,class\n";
const WORKS: [&str; 5] = ["clerk", "boss", "farmer", "fisher", "sailor"];
const TOWNS: [&str; 3] = ["North", "South", "East"];

/// A record: what is known of it and its class.
type Record = (u8, u8, u8, u8, u8, bool);

fn records(rows: &[Record]) -> String {
    let mut text = String::new();
    for (number, (age, work, town, note, score, class)) in rows.iter().enumerate() {
        let (work, town) = (WORKS[usize::from(*work) % 5], TOWNS[usize::from(*town) % 3]);
        let (note, class) = (["a", "b"][usize::from(*note) % 2], if *class { "yes" } else { "no" });
        writeln!(text, "{number},{},{work},{town},{note},{},{class}", 20 + age % 12, score % 6).unwrap();
    }
    text
}

/// Every value of every attribute, both classes.
fn all_values() -> Vec<Record> {
    (0..30).map(|at| (at, at, at, at, at, at % 7 < 3)).collect()
}

fn rows(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Record>> {
    let record = (any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>());
    // Age tells the class now and then.
    let record = record.prop_map(|(age, work, town, note, score, chance)| {
        (age, work, town, note, score, (age % 12 > 6) == (chance % 4 > 0))
    });
    prop::collection::vec(record, count)
}

fn policy(k: usize, method: &str, options: &str) -> Policy {
    let text = format!(
        "[privacy]\nk = {k}\n[method]\nname = \"{method}\"\nseed = 3\n[evaluate.classify]\n{options}\n{ATTRIBUTES}"
    );
    Policy::parse(&text, None).unwrap()
}

fn classify(folder: &Path, table: &str, policy: Policy) -> throng::Result<Evaluation> {
    let data = folder.join("table.csv");
    std::fs::write(&data, format!("{HEADER}{table}")).unwrap();
    Evaluate {
        data,
        policy,
        release: None,
        task: "classify".to_owned(),
        secret: None,
        registry: Default::default(),
    }
    .run(&Unwatched)
}

/// Classifies the records of `test`, a table with this header, with what was learned from `train`.
fn with_test(folder: &Path, train: &str, header: &str, test: &str) -> throng::Result<Evaluation> {
    let path = folder.join("test.csv");
    std::fs::write(&path, format!("{header}{test}")).unwrap();
    classify(folder, train, policy(5, "refine", &format!("test = {:?}", path.display().to_string())))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Where the first table has all values of the second, both could as well be one table.
    #[test]
    fn a_second_table_is_classified_as_the_rest_of_one(more in rows(20..120), test in rows(1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let train = [all_values(), more].concat();
        let one = format!("train = {}\nmasks = \"train\"", train.len());
        let expected = classify(folder.path(), &records(&[train.clone(), test.clone()].concat()), policy(5, "refine", &one));
        let expected = expected.unwrap().figures;
        // Columns may come in another order, and there may be more of them.
        let mut swapped = String::new();
        for line in records(&test).lines() {
            let cells: Vec<&str> = line.split(',').collect();
            let order = [6, 1, 5, 3, 2, 4].map(|at| cells[at]);
            writeln!(swapped, "{},more", order.join(",")).unwrap();
        }
        let found = with_test(folder.path(), &records(&train), "class,age,score,town,work,note,further\n", &swapped);
        let found = found.unwrap().figures;
        prop_assert_eq!(&found["tree"], &expected["tree"]);
        prop_assert_eq!(&found["bayes"], &expected["bayes"]);
        prop_assert_eq!(&found["ranking"], &expected["ranking"]);
    }
}

#[test]
fn values_not_seen_in_training_are_masked_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let train = records(&[all_values(), all_values(), all_values()].concat());
    let test = "1,25,clerk,North,a,1,no\n2,99,clerk,North,a,1,no\n3,25,pilot,North,a,1,yes\n\
        4,25,clerk,West,c,1,perhaps\n5,24,clerk,South,b,2,yes\n";
    let evaluation = with_test(folder.path(), &train, HEADER, test).unwrap();
    let figures = &evaluation.figures;
    let split = figures["split"].as_str().unwrap();
    assert!(
        split.contains("the 5 records of") && split.contains("3 of them have a quasi-identifier"),
        "{split}"
    );
    // A class that nothing was learned of is a row of its own, all of it told wrongly.
    let confusion = figures["tree"]["anonymity_confusion"].as_array().unwrap();
    let sums: Vec<u64> =
        confusion.iter().map(|row| row.as_array().unwrap().iter().filter_map(Value::as_u64).sum()).collect();
    assert_eq!(sums, [2, 2, 1]);
    assert_eq!(figures["tree"]["anonymity_recall"]["perhaps"], 0.0);
    // What is released is the first table alone.
    assert!(evaluation.k >= 5);
}

#[test]
fn what_is_wrong_with_a_second_table_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let train = records(&[all_values(), all_values(), all_values()].concat());
    let told = |error: throng::Error| format!("{error} {}", error.hint().unwrap_or_default());
    let fails = |header: &str, test: &str| told(with_test(folder.path(), &train, header, test).unwrap_err());
    let missing = fails("id,age,work,town,note,class\n", "1,25,clerk,North,a,no\n");
    assert!(missing.contains("test.csv") && missing.contains("no column \"score\""), "{missing}");
    let class = fails("id,age,work,town,note,score\n", "1,25,clerk,North,a,1\n");
    assert!(class.contains("no column \"class\""), "{class}");
    let text = fails(HEADER, "1,25,clerk,North,a,1,no\n2,old,clerk,North,a,1,no\n");
    assert!(text.contains("test.csv") && text.contains('3') && text.contains("old"), "{text}");
    let empty = fails(HEADER, "");
    assert!(empty.contains("no records"), "{empty}");
    let run = |options: &str, method: &str| {
        told(classify(folder.path(), &train, policy(5, method, options)).unwrap_err())
    };
    let nowhere = run("test = \"nowhere.csv\"", "refine");
    assert!(nowhere.contains("nowhere.csv"), "{nowhere}");
    let both = run("test = \"test.csv\"\ntrain = 5", "refine");
    assert!(both.contains("`test` and `train`"), "{both}");
    let together = run("test = \"test.csv\"\nmasks = \"together\"", "refine");
    assert!(together.contains("learned from the table alone"), "{together}");
    std::fs::write(folder.path().join("good.csv"), format!("{HEADER}{train}")).unwrap();
    let good = format!("test = {:?}", folder.path().join("good.csv").display().to_string());
    let local = run(&good, "mondrian");
    assert!(local.contains("does not learn masks") && local.contains("`train`"), "{local}");
}

#[test]
fn a_release_made_elsewhere_has_no_masks_for_a_second_table() {
    let folder = tempfile::tempdir().unwrap();
    let train = records(&[all_values(), all_values()].concat());
    let data = folder.path().join("table.csv");
    std::fs::write(&data, format!("{HEADER}{train}")).unwrap();
    let release = folder.path().join("release.csv");
    let star = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("*,*,*,{},{},{}\n", cells[4], cells[5], cells[6])
    };
    let masked: String = train.lines().map(star).collect();
    std::fs::write(&release, format!("age,work,town,note,score,class\n{masked}")).unwrap();
    let policy = policy(5, "refine", &format!("test = {:?}", data.display().to_string()));
    let task = "classify".to_owned();
    let error =
        Evaluate { data, policy, release: Some(release), task, secret: None, registry: Default::default() }
            .run(&Unwatched)
            .unwrap_err();
    assert!(error.to_string().contains("made elsewhere"), "{error}");
}
