//! Dates that Arrow and Parquet keep in milliseconds are dates, whatever becomes of them.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Date64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use throng::{Anonymize, Attribute, Audit, Order, Policy, Publish};

const DAY: i64 = 86_400_000;

fn table() -> RecordBatch {
    let days = |of: fn(i64) -> i64| -> ArrayRef {
        Arc::new((0..12).map(|row| Some(of(row) * DAY)).collect::<Date64Array>())
    };
    let fields = vec![
        Field::new("born", DataType::Date64, true),
        Field::new("seen", DataType::Date64, true),
        Field::new("n", DataType::Int64, true),
    ];
    let number: ArrayRef = Arc::new((0..12).map(|row| Some(row % 2)).collect::<Int64Array>());
    // 2024-02-28 is day 19,781.
    let columns = vec![days(|row| 19_781 + row), days(|row| row / 6), number];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn policy() -> Policy {
    Policy::builder()
        .k(3)
        .quasi("born")
        .attribute("seen", Attribute::other())
        .class("n")
        .method("mondrian")
        .seed(1)
        .build()
        .unwrap()
}

#[test]
fn they_are_generalized_as_dates_and_passed_through_as_what_they_are() {
    let run = Anonymize::new(&policy()).read(table()).order(Order::Keep);
    let release = run.clone().to_batches().unwrap().release;
    let born = release.batches[0].column_by_name("born").unwrap();
    let labels = born.as_any_dictionary().values().as_string::<i32>();
    let cells: Vec<&str> = labels.iter().flatten().collect();
    assert!(cells.contains(&"[2024-02-28-2024-03-01]"), "{cells:?}");
    let seen = release.batches[0].column_by_name("seen").unwrap();
    assert_eq!(seen.data_type(), &DataType::Date64);
    assert_eq!(seen.as_ref(), table().column_by_name("seen").unwrap().as_ref());
    let bounds = run.publish(Publish::Bounds).to_batches().unwrap().release;
    assert_eq!(bounds.schema.field_with_name("born.min").unwrap().data_type(), &DataType::Date32);
}

#[test]
fn they_stay_dates_in_files_of_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["r.parquet", "r.arrow", "r.csv", "r.jsonl"] {
        let path = folder.path().join(name);
        Anonymize::new(&policy()).read(table()).write(&path).unwrap();
        let findings = Audit::new(&policy()).original(table()).release(path.clone()).run().unwrap();
        assert!(findings.holds(), "{name}: {:?}", findings.measures.violations);
        if name.ends_with("csv") {
            let text = std::fs::read_to_string(path).unwrap();
            assert!(text.contains(",1970-01-01,") && !text.contains("T00:00"), "{text}");
        }
    }
}
