//! `throng` on Parquet and Arrow files.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::TempDir;

const POLICY: &str = r#"
[privacy]
k = 5
[method]
seed = 3
[attribute.name]
role = "identifier"
[attribute.age]
role = "quasi"
[attribute.born]
role = "quasi"
[attribute.illness]
role = "sensitive"
[attribute.weight]
role = "other"
confirmed = true
"#;

/// A folder with `people.parquet`, `people.arrow` and `policy.toml`.
fn folder(rows: i32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    let data = people(rows);
    let file = File::create(folder.path().join("people.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, data.schema(), None).unwrap();
    writer.write(&data).unwrap();
    writer.close().unwrap();
    let file = File::create(folder.path().join("people.arrow")).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &data.schema()).unwrap();
    writer.write(&data).unwrap();
    writer.finish().unwrap();
    folder
}

fn people(rows: i32) -> RecordBatch {
    let scatter = |row: i32, of: i32| row.wrapping_mul(7919).rem_euclid(of);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("name", Arc::new(StringArray::from_iter_values((0..rows).map(|row| format!("person {row}"))))),
        (
            "age",
            Arc::new(Int32Array::from_iter((0..rows).map(|row| (row % 13 != 0).then_some(scatter(row, 61))))),
        ),
        ("born", Arc::new(Date32Array::from_iter_values((0..rows).map(|row| scatter(row, 9001))))),
        (
            "illness",
            Arc::new(StringArray::from_iter_values((0..rows).map(|row| ["flu", "cold"][row as usize % 2]))),
        ),
        (
            "weight",
            Arc::new(Float64Array::from_iter(
                (0..rows).map(|row| (row % 5 != 0).then_some(f64::from(row) * 0.1)),
            )),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn throng(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command.current_dir(folder).args(arguments).env_remove("RUST_BACKTRACE").output().unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) {
    let output = throng(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn releases_of_every_format_pass_their_audit() {
    let folder = folder(300);
    let folder = folder.path();
    succeed(folder, &["anonymize", "people.parquet", "-p", "policy.toml", "-o", "release.csv", "-q"]);
    for data in ["people.parquet", "people.arrow"] {
        for release in
            ["r.parquet", "r.arrow", "r.arrows", "r.feather", "r.parquet.gz", "r.arrow.zst", "r.csv"]
        {
            for publish in ["cells", "bounds"] {
                succeed(
                    folder,
                    &["anonymize", data, "-p", "policy.toml", "-o", release, "--publish", publish, "-q"],
                );
                succeed(folder, &["audit", data, release, "-p", "policy.toml", "-q"]);
            }
        }
    }
}

#[test]
fn types_and_nulls_are_kept() {
    let folder = folder(300);
    let folder = folder.path();
    let arguments = ["--keep-order", "--publish", "bounds", "-q", "--k", "1"];
    let mut command = vec!["anonymize", "people.parquet", "-p", "policy.toml", "-o", "r.parquet"];
    command.extend(arguments);
    succeed(folder, &command);
    let file = File::open(folder.join("r.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let released: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema = released[0].schema();
    let found: Vec<_> =
        schema.fields().iter().map(|field| (field.name().as_str(), field.data_type())).collect();
    let expected = [
        ("age.min", &DataType::Int64),
        ("age.max", &DataType::Int64),
        ("born.min", &DataType::Date32),
        ("born.max", &DataType::Date32),
        ("illness", &words),
        ("weight", &DataType::Float64),
    ];
    assert_eq!(found, expected);
    assert_eq!(released[0].column_by_name("weight"), people(300).column_by_name("weight"));
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let folder = folder(140_000);
    let folder = folder.path();
    std::fs::write(folder.join("secret"), [7; 32]).unwrap();
    for (data, release) in
        [("people.parquet", "r.parquet"), ("people.arrow", "r.arrow"), ("people.parquet", "r.arrows")]
    {
        let bytes = ["1", "2"].map(|threads| {
            let common = ["anonymize", data, "-p", "policy.toml", "-o", release, "--k", "50", "-q"];
            succeed(folder, &[&common[..], &["--secret", "secret", "--threads", threads]].concat());
            std::fs::read(folder.join(release)).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{release}");
    }
}

#[test]
fn damaged_tables_exit_with_2_and_leave_nothing() {
    let folder = folder(300);
    let folder = folder.path();
    for (data, format) in [("people.parquet", "Parquet"), ("people.arrow", "Arrow")] {
        let whole = std::fs::read(folder.join(data)).unwrap();
        for damaged in [&whole[..whole.len() / 2], &whole[..3], b"", b"name,age\nperson 1,20\n"] {
            std::fs::write(folder.join(data), damaged).unwrap();
            let output = throng(folder, &["anonymize", data, "-p", "policy.toml", "-o", "r.parquet", "-q"]);
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(
                message.contains(&format!("not a readable {format} file")) && message.contains(data),
                "{message}"
            );
            assert!(!message.contains("panicked") && !message.contains("person"), "{message}");
        }
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 3);
}

#[test]
fn a_changed_byte_is_never_a_panic() {
    let folder = folder(100);
    let folder = folder.path();
    for data in ["people.parquet", "people.arrow"] {
        let whole = std::fs::read(folder.join(data)).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 60) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            std::fs::write(folder.join(data), damaged).unwrap();
            let output = throng(
                folder,
                &["anonymize", data, "-p", "policy.toml", "-o", "r.csv", "-q", "--threads", "1"],
            );
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(matches!(output.status.code(), Some(0..=2)), "{data} {at}: {message}");
            assert!(!message.contains("panicked"), "{data} {at}: {message}");
        }
    }
}
