//! Releases of record batches in the hands of those who asked for them, and what fronts in other languages need.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use throng::formula::Formulas;
use throng::watch::Unwatched;
use throng::{Anonymize, Attribute, Data, Error, ErrorCode, Order, Policy, Publish, Secret};

fn people() -> RecordBatch {
    let ills: DictionaryArray<Int8Type> =
        [Some("flu"), Some("cold"), None, Some("gout"), Some("flu"), Some("a,b")].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("age", Arc::new(Int64Array::from(vec![31, 34, 36, 52, 55, 58]))),
        ("visits", Arc::new(Int64Array::from(vec![Some(1), None, Some(2), Some(1), Some(3), Some(1)]))),
        ("ill", Arc::new(ills)),
        ("smokes", Arc::new(BooleanArray::from(vec![true, false, true, true, false, false]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn policy() -> Policy {
    let attribute = Attribute::other().set("confirmed", true);
    let builder = Policy::builder().k(2).quasi("age").sensitive("ill").class("visits").missing(["?"]);
    builder.attribute("smokes", attribute).seed(1).method("mondrian").build().unwrap()
}

fn run(policy: &Policy) -> Anonymize<'static> {
    Anonymize::new(policy).read(people()).secret(Secret::from_bytes(b"a secret of these tests"))
}

#[test]
fn batches_are_written_as_the_run_would_have_written_them() {
    let (policy, folder) = (policy(), tempfile::tempdir().unwrap());
    for publish in [Publish::Cells, Publish::Bounds] {
        let batches = run(&policy).publish(publish).to_batches().unwrap().release;
        for ending in ["csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz"] {
            let path = |name: &str| folder.path().join(format!("{name}.{ending}"));
            run(&policy).publish(publish).write(path("run")).unwrap();
            batches.write(&path("batches"), "?", Formulas::Keep, &Unwatched).unwrap();
            let bytes = |name: &str| std::fs::read(path(name)).unwrap();
            assert_eq!(bytes("run"), bytes("batches"), "{publish:?} {ending}");
        }
    }
}

#[test]
fn columns_get_their_types_back_and_others_are_left_alone() {
    let done = run(&policy()).order(Order::Keep).to_batches().unwrap();
    let names = ["visits", "ill", "smokes"].map(str::to_owned);
    let typed = done.release.with_types_of(&people().schema(), &names);
    for name in &names {
        let (was, is) = (people(), &typed.batches[0]);
        assert_eq!(
            was.schema().field_with_name(name).unwrap().data_type(),
            is.column_by_name(name).unwrap().data_type()
        );
    }
    assert_eq!(
        typed.batches[0].column_by_name("visits").unwrap().as_ref(),
        people().column(1).as_ref() as &dyn Array
    );
    assert_eq!(typed.schema.field(0), done.release.schema.field(0));
    // A column whose cells do not fit keeps its type.
    let age = done.release.with_types_of(&people().schema(), &["age".to_owned()]);
    assert_eq!(age.schema, done.release.schema);
}

#[test]
fn rows_and_classes_lead_back_to_the_table() {
    let policy = policy();
    let (shuffled, kept) =
        (run(&policy).to_batches().unwrap(), run(&policy).order(Order::Keep).to_batches().unwrap());
    assert_eq!(kept.rows, [0, 1, 2, 3, 4, 5]);
    let ages = ["age".to_owned()];
    let classes = shuffled.release.classes(&ages).unwrap();
    let of_table = kept.release.classes(&ages).unwrap();
    assert_eq!(of_table.iter().max(), Some(&(shuffled.report.measures.classes as u32 - 1)));
    let pairs: std::collections::BTreeSet<(u32, u32)> =
        shuffled.rows.iter().zip(classes).map(|(row, class)| (of_table[*row as usize], class)).collect();
    assert_eq!(pairs.len() as u64, shuffled.report.measures.classes);
}

#[test]
fn mistakes_are_told_at_the_place_that_the_front_names() {
    let attribute =
        Attribute::quasi().called("quasi[\"zip\"]").set("weight", -1).called("quasi[\"zip\"][\"weight\"]");
    let error = Policy::builder().k(2).attribute("zip", attribute).build().unwrap_err();
    assert!(error.message().starts_with("the argument quasi[\"zip\"][\"weight\"]: "), "{error}");
    let error = Policy::builder().require("k", 0).called("at_least").quasi("zip").build().unwrap_err();
    assert!(error.message().starts_with("the argument at_least: "), "{error}");
}

#[test]
fn what_cannot_be_met_tells_what_can() {
    let refused = |policy: Policy| -> Error { run(&policy).to_batches().unwrap_err() };
    let base = || {
        Policy::builder()
            .quasi("age")
            .sensitive("ill")
            .class("visits")
            .attribute("smokes", Attribute::other())
    };
    let error = refused(base().k(9).build().unwrap());
    assert_eq!((error.code(), error.reachable()), (ErrorCode::KExceedsTable, Some(("k", "6"))));
    let error = refused(base().k(2).l(4.0).build().unwrap());
    assert_eq!((error.code(), error.reachable()), (ErrorCode::DiversityUnreachable, Some(("l", "3"))));
}

#[test]
fn a_release_that_is_not_true_of_its_table_does_not_pass_an_audit_in_memory() {
    let policy = Policy::builder().k(2).quasi("age").build().unwrap();
    let audit = |release: &str| {
        let table = Data::from(
            RecordBatch::try_from_iter([("age", Arc::new(StringArray::from(vec!["31", "34"])) as ArrayRef)])
                .unwrap(),
        );
        throng::Audit::new(&policy).original(table).release(Data::csv(release)).run().unwrap()
    };
    assert!(audit("age\n[31-34]\n[31-34]\n").holds());
    assert!(!audit("age\n[31-33]\n[31-33]\n").holds());
}
