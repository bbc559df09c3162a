//! JSON Lines as tables and as releases.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{cases, load, rows_of_text};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use throng::audit::{Keep, Received, audit};
use throng::bind::plan;
use throng::error::{Error, Fault};
use throng::format::{CSV, Format, JSON_LINES};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::release::{MemoryFile, Order, Publish, Release};
use throng::run::solve;
use throng::table::{Expansion, Reading, Storage, Table};
use throng::watch::Unwatched;

/// Publishes every cell as it is but `key`, which is a quasi-identifier whose classes may be single records.
const AS_IT_IS: &str = "[data]\nmissing = [\"?\"]\n[privacy]\nk = 1\n[method]\nname = \"mondrian\"\n[attribute.key]\n\
    role = \"quasi\"\nkind = \"categorical\"\n";

fn read(text: &str, policy: &Policy) -> Result<Table, Error> {
    Table::read_from(&JSON_LINES, text.as_bytes(), &policy.reading(&plan(policy), &Unwatched))
}

/// The release of a table in a format, in input order, after its audit.
fn released(table: &Table, policy: &Policy, format: &'static Format) -> String {
    let problem = Problem::new(table, policy).unwrap();
    let solution = solve(&problem, policy, &Unwatched).unwrap();
    let release = Release::new(table, &problem, policy, &solution, Publish::Cells, Order::Keep).unwrap();
    let mut file = MemoryFile::new(format);
    release.write(&mut file, &Unwatched).unwrap();
    let read = Received::read_back(&file, None, &problem, policy, Keep::Audited, &Unwatched).unwrap();
    assert!(audit(&problem, policy, &read, &Unwatched).unwrap().measures.violations.is_empty());
    String::from_utf8(file.bytes).unwrap()
}

#[test]
fn cells_keep_their_text_and_their_type_and_lines_have_all_keys_in_one_order() {
    let policy = Policy::parse(AS_IT_IS, None).unwrap();
    let text = "{\"key\":\"a\",\"number\":1.50,\"flag\":true}\n\n{\"flag\":null,\"word\":\"x \\u00e9 \\/ \\\"y\\\"\",\"key\":\"b\"}\r\n\
        {\"number\":\"7\",\"key\":null,\"word\":\"tab\\t\"}";
    let table = read(text, &policy).unwrap();
    assert_eq!(table.names(), ["key", "number", "flag", "word"]);
    let expected = "{\"key\":\"a\",\"number\":1.50,\"flag\":true,\"word\":null}\n\
        {\"key\":\"b\",\"number\":null,\"flag\":null,\"word\":\"x é / \\\"y\\\"\"}\n\
        {\"key\":null,\"number\":\"7\",\"flag\":null,\"word\":\"tab\\t\"}\n";
    assert_eq!(released(&table, &policy, &JSON_LINES), expected);
    let csv = released(&table, &policy, &CSV);
    assert_eq!(csv, "key,number,flag,word\na,1.50,true,?\nb,?,?,\"x é / \"\"y\"\"\"\n?,7,?,tab\t\n");
}

#[test]
fn texts_stay_texts_and_bounds_are_numbers() {
    let text = "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n[attribute.born]\nrole = \"quasi\"\n";
    let policy = Policy::parse(text, None).unwrap();
    let csv = "age,born,note\n+5,2001-02-03,12\n7,2002-03-04,true\n";
    let reading = plan(&policy);
    let table = Table::read_from(&CSV, csv.as_bytes(), &policy.reading(&reading, &Unwatched)).unwrap();
    let problem = Problem::new(&table, &policy).unwrap();
    let solution = solve(&problem, &policy, &Unwatched).unwrap();
    let release = Release::new(&table, &problem, &policy, &solution, Publish::Bounds, Order::Keep).unwrap();
    let mut file = MemoryFile::new(&JSON_LINES);
    release.write(&mut file, &Unwatched).unwrap();
    let first: Value =
        serde_json::from_slice(file.bytes.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    let expected = json!({"age.min": 5.0, "age.max": 7, "born.min": "2001-02-03", "born.max": "2002-03-04", "note": "12"});
    assert_eq!(first, expected);
}

#[test]
fn what_is_not_a_flat_object_is_refused_with_its_line() {
    let policy = Policy::parse(AS_IT_IS, None).unwrap();
    for (text, line, about) in [
        ("", 1, "no record"),
        ("\n\n", 1, "no record"),
        ("{}\n", 1, "no record"),
        ("{\"key\":1}\n[1]\n", 2, "not a JSON object"),
        ("{\"key\":1}\n\n{\"key\":1\n", 3, "not a JSON object"),
        ("{\"key\":1} {\"key\":2}\n", 1, "not a JSON object"),
        ("{\"key\":1}\n{\"key\":{\"a\":1}}\n", 2, "an object or a list"),
        ("{\"key\":1}\n{\"key\":[]}\n", 2, "an object or a list"),
        ("{\"key\":1}\n{\"key\":1,\"key\":2}\n", 2, "occurs twice"),
        ("{\"key\":\"\\ud800\"}\n", 1, "no text"),
        ("{\"key\":01}\n", 1, "not a JSON object"),
    ] {
        let error = read(text, &policy).unwrap_err();
        assert!(error.fault() == Fault::Input && error.message().contains(about), "{text:?}: {error}");
        assert_eq!(error.place().line, Some(line), "{text:?}: {error}");
        assert!(error.hint().is_some(), "{error}");
    }
    let skip = |_: &[String]| Ok(vec![Storage::Coded, Storage::Skip]);
    let nested = "{\"key\":1,\"more\":{\"a\":[1]}}\n";
    let table = Table::read_from(&JSON_LINES, nested.as_bytes(), &Reading::new(&skip, &Unwatched)).unwrap();
    assert_eq!(table.values(0), ["1"], "identifiers are not looked into");
}

#[test]
fn keys_that_come_too_late_or_too_many_are_refused() {
    let policy = Policy::parse(AS_IT_IS, None).unwrap();
    let mut text =
        "{\"key\":\"a long value to fill many bytes with few records, so that it does not take long\"}\n"
            .repeat(200_000);
    assert!(text.len() > 17 << 20);
    text += "{\"key\":\"b\",\"late\":1}\n";
    let error = read(&text, &policy).unwrap_err();
    assert!(error.message().contains("\"late\"") && error.place().line == Some(200_001), "{error}");
    let many: String = (0..10_001).map(|at| format!("{{\"key\":1,\"k{at}\":1}}\n")).collect();
    assert!(read(&many, &policy).unwrap_err().message().contains("more than 10000"));
    // A thousand keys, each in one record of a thousand, would be a million cells.
    let sparse: String = (0..1000).map(|at| format!("{{\"key\":1,\"k{at}\":1}}\n")).collect();
    let reading = plan(&policy);
    let reading = policy.reading(&reading, &Unwatched).expansion(Expansion { times: 10, free: 1000 });
    let error = Table::read_from(&JSON_LINES, sparse.as_bytes(), &reading).unwrap_err();
    assert!(error.message().contains("more than 10 times"), "{error}");
    assert_eq!(read(&sparse, &policy).unwrap().len(), 1000);
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        "[ -~é日\\n\\r\\t\\\\\"\u{1}\u{7f}\u{2028}]{0,6}".prop_map(Value::from),
    ]
}

fn objects() -> impl Strategy<Value = Vec<Map<String, Value>>> {
    let key = prop::sample::select(vec!["b", "c d", "é\"\\"]);
    let members = prop::collection::btree_map(key, values(), 0..4);
    let object = ("[a-d]", members).prop_map(|(key, members)| {
        let mut object: Map<String, Value> =
            members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        object.insert("key".to_owned(), Value::from(key));
        object
    });
    prop::collection::vec(object, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_value_comes_back_as_serde_reads_it(objects in objects()) {
        let policy = Policy::parse(AS_IT_IS, None).unwrap();
        let text: String = objects.iter().map(|object| serde_json::to_string(object).unwrap() + "\n").collect();
        let table = read(&text, &policy).unwrap();
        let release = released(&table, &policy, &JSON_LINES);
        let mut keys: Vec<&str> = Vec::new();
        for key in objects.iter().flat_map(Map::keys) {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        for (line, object) in release.lines().zip(&objects) {
            let back: Map<String, Value> = serde_json::from_str(line).unwrap();
            prop_assert_eq!(back.keys().map(String::as_str).collect::<Vec<_>>(), keys.clone());
            for key in &keys {
                prop_assert_eq!(&back[*key], object.get(*key).unwrap_or(&Value::Null));
            }
        }
        prop_assert_eq!(release.lines().count(), objects.len());
    }

    #[test]
    fn a_table_gives_the_same_cells_from_text_and_from_json(case in cases(30)) {
        let loaded = load(&case, "k = 2", "mondrian");
        prop_assume!(loaded.problem.len() >= 2);
        let rows = rows_of_text(loaded.csv.as_bytes());
        let lines = rows[1..].iter().map(|row| {
            let object: Map<String, Value> =
                rows[0].iter().cloned().zip(row.iter().cloned().map(Value::from)).collect();
            serde_json::to_string(&object).unwrap() + "\n"
        });
        let table = read(&lines.collect::<String>(), &loaded.policy).unwrap();
        let from_json = released(&table, &loaded.policy, &CSV);
        let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
        let from_text = loaded.publish(&solution, Publish::Cells, Order::Keep).bytes;
        prop_assert_eq!(from_json, String::from_utf8(from_text).unwrap());
    }
}
