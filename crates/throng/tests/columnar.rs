//! Parquet and Arrow tables and releases.

#![allow(clippy::unwrap_used, missing_docs)]

mod columnar_fixtures;

use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, TimeUnit};
use columnar_fixtures::{Run, all_types, batch, cells, column, open, read, write};
use proptest::prelude::*;
use throng::error::Fault;
use throng::policy::Policy;
use throng::release::Publish;
use throng::run::{self, Anonymize};
use throng::secret::Secret;
use throng::table::{Reading, Storage, Table};
use throng::watch::Unwatched;

fn typed_batch() -> RecordBatch {
    batch(all_types().into_iter().map(|(name, array, _)| (name, array)).collect())
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    let at = table.names().iter().position(|column| column == name).unwrap();
    table.values(at).into_iter().map(str::to_owned).collect()
}

#[test]
fn every_type_reads_as_its_text() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.parquet", "t.arrow", "t.arrows", "t.feather"] {
        let path = folder.path().join(name);
        write(&path, &[typed_batch()]);
        let table = read(&path).unwrap();
        assert_eq!(table.len(), 3);
        for (column, _, expected) in all_types() {
            let mut distinct = expected.to_vec();
            distinct.dedup();
            distinct.retain({
                let mut seen = Vec::new();
                move |text| {
                    !seen.contains(text) && {
                        seen.push(*text);
                        true
                    }
                }
            });
            assert_eq!(texts(&table, column), distinct, "{name} {column}");
        }
    }
}

/// A policy over `age` that passes everything else through.
const BY_AGE: &str = "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n";

#[test]
fn passed_through_columns_keep_types_and_nulls() {
    let folder = tempfile::tempdir().unwrap();
    let mut columns = vec![("age", column(Int32Array::from(vec![1, 1, 2])))];
    columns.extend(all_types().into_iter().map(|(name, array, _)| (name, array)));
    let data = batch(columns);
    for ending in ["parquet", "arrow", "arrows"] {
        let path = folder.path().join(format!("data.{ending}"));
        write(&path, std::slice::from_ref(&data));
        let policy = BY_AGE.replace("k = 2", "k = 1");
        let run = Run { data: &path, policy: &policy, publish: Publish::Cells };
        let (release, _) = run.release(&format!("release.{ending}"));
        let written = &open(&release)[0];
        for (name, array, _) in all_types() {
            let back = written.column_by_name(name).unwrap();
            if name == "words" {
                // Dictionaries come back as their values.
                assert_eq!(back.data_type(), &DataType::Utf8);
            } else {
                assert_eq!(back, &array, "{ending} {name}");
            }
        }
    }
}

#[test]
fn a_number_that_marks_missing_cells_does_not_make_numbers_null() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet");
    let age = column(Int32Array::from(vec![1, 1, 2, 2]));
    let other = column(Int64Array::from(vec![Some(0), None, Some(0), Some(3)]));
    write(&path, &[batch(vec![("age", age), ("other", other.clone())])]);
    let policy = format!("[data]\nmissing = [\"0\"]\n{BY_AGE}");
    let (release, _) =
        Run { data: &path, policy: &policy, publish: Publish::Cells }.release("release.parquet");
    assert_eq!(open(&release)[0].column_by_name("other").unwrap(), &other);
}

/// Ages, incomes, days and towns with a null in each, and an identifier.
fn people(rows: i32) -> RecordBatch {
    let skip = |row: i32, cell: i32| (row % 11 != 0).then_some(cell);
    batch(vec![
        ("name", column(StringArray::from_iter_values((0..rows).map(|row| format!("person {row}"))))),
        ("age", column(Int32Array::from_iter((0..rows).map(|row| skip(row, 20 + row * 7 % 50))))),
        (
            "income",
            column(Float64Array::from_iter(
                (0..rows).map(|row| skip(row, row).map(|row| f64::from(row * 37 % 29) * 0.1 - 1.0)),
            )),
        ),
        ("born", column(Date32Array::from_iter((0..rows).map(|row| skip(row, row * 97 % 9000))))),
        (
            "town",
            column(DictionaryArray::<Int32Type>::from_iter(
                (0..rows).map(|row| skip(row, row).map(|row| ["Rome", "Oslo", "Bonn"][row as usize % 3])),
            )),
        ),
        (
            "illness",
            column(StringArray::from_iter(
                (0..rows).map(|row| skip(row, row).map(|row| ["flu", "cold", "ache"][row as usize % 3])),
            )),
        ),
        ("note", column(Int64Array::from_iter((0..rows).map(|row| skip(row, row).map(i64::from))))),
    ])
}

const PEOPLE: &str = r#"
[privacy]
k = 3
[attribute.name]
role = "identifier"
[attribute.age]
role = "quasi"
[attribute.income]
role = "quasi"
[attribute.born]
role = "quasi"
[attribute.town]
role = "quasi"
[attribute.illness]
role = "sensitive"
"#;

#[test]
fn every_pair_of_formats_passes_the_audit() {
    let folder = tempfile::tempdir().unwrap();
    let parquet = folder.path().join("people.parquet");
    let arrow = folder.path().join("people.arrow");
    write(&parquet, &[people(60)]);
    write(&arrow, &[people(60).slice(0, 25), people(60).slice(25, 0), people(60).slice(25, 35)]);
    let run = Run {
        data: &parquet,
        policy: "[privacy]\nk = 1\n[attribute.age]\nrole = \"quasi\"\n",
        publish: Publish::Cells,
    };
    let (csv, _) = run.release("people.csv");
    let endings = ["csv", "parquet", "arrow", "arrows", "feather", "parquet.gz", "arrow.zst"];
    for missing in
        ["", "[data]\nmissing = [\"?\", \"\"]\n", "[data]\nmissing = [\"\", \"?\"]\nincomplete = \"drop\"\n"]
    {
        let policy = format!("{missing}{PEOPLE}");
        for (data, from) in [(&parquet, "parquet"), (&arrow, "arrow"), (&csv, "csv")] {
            for publish in [Publish::Cells, Publish::Bounds] {
                for ending in endings {
                    let name = format!("{from}-{publish:?}.{ending}");
                    Run { data, policy: &policy, publish }.release(&name);
                }
            }
        }
    }
}

#[test]
fn quasi_and_sensitive_columns_are_dictionaries_of_what_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.parquet");
    write(&path, &[people(60)]);
    let policy = format!("[data]\nincomplete = \"drop\"\n{PEOPLE}");
    let (release, _) = Run { data: &path, policy: &policy, publish: Publish::Cells }.release("release.arrow");
    let written = open(&release);
    let names: Vec<_> = written[0].schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["age", "income", "born", "town", "illness", "note"]);
    for name in ["age", "income", "born", "town", "illness"] {
        let column = written[0].column_by_name(name).unwrap();
        let words = cast::as_dictionary_array::<Int32Type>(column);
        let values: Vec<&str> = cast::as_string_array(words.values()).iter().flatten().collect();
        let published: std::collections::BTreeSet<String> =
            cells(&written, name).into_iter().flatten().collect();
        assert_eq!(values, published.iter().map(String::as_str).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn nulls_come_out_as_nulls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.parquet");
    write(&path, &[people(60)]);
    let policy = format!("[data]\nmissing = [\"?\"]\n{}", PEOPLE.replace("k = 3", "k = 1"));
    let input = open(&path);
    for publish in [Publish::Cells, Publish::Bounds] {
        let (release, _) = Run { data: &path, policy: &policy, publish }.release("release.parquet");
        let written = open(&release);
        let nulls = |batches: &[RecordBatch], name: &str| -> Vec<bool> {
            cells(batches, name).iter().map(Option::is_none).collect()
        };
        for name in ["age", "income", "born", "town", "illness", "note"] {
            let numeric = ["age", "income", "born"].contains(&name);
            let bound = format!("{name}.min");
            let out = if numeric && publish == Publish::Bounds { bound.as_str() } else { name };
            assert_eq!(nulls(&written, out), nulls(&input, name), "{out}");
        }
    }
}

#[test]
fn bounds_are_numbers_and_dates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.parquet");
    write(&path, &[people(60)]);
    let policy = format!("[data]\nincomplete = \"drop\"\n{PEOPLE}");
    let (release, _) =
        Run { data: &path, policy: &policy, publish: Publish::Bounds }.release("release.parquet");
    let schema = open(&release)[0].schema();
    let kind = |name: &str| schema.field_with_name(name).unwrap().data_type().clone();
    for end in ["min", "max"] {
        assert_eq!(kind(&format!("age.{end}")), DataType::Int64);
        assert_eq!(kind(&format!("income.{end}")), DataType::Float64);
        assert_eq!(kind(&format!("born.{end}")), DataType::Date32);
    }
}

#[test]
fn odd_numbers_survive_as_bounds() {
    let folder = tempfile::tempdir().unwrap();
    for (name, numbers, kind) in [
        (
            "reals",
            vec![0.1, 1e-7, 12_345_678.9, -2.5, -1e-12, 1e300, 0.30000000000000004, 5.0],
            DataType::Float64,
        ),
        ("wholes", vec![-5.0, 0.0, 7.0, 9e15, 1.0, 2.0, 3.0, 4.0], DataType::Int64),
    ] {
        let path = folder.path().join(format!("{name}.parquet"));
        write(&path, &[batch(vec![("age", column(Float64Array::from(numbers)))])]);
        let run = Run { data: &path, policy: BY_AGE, publish: Publish::Bounds };
        let (release, _) = run.release(&format!("{name}-release.parquet"));
        assert_eq!(open(&release)[0].schema().field(0).data_type(), &kind);
        run.release(&format!("{name}-release.csv"));
    }
}

#[test]
fn a_class_of_missing_values_and_numbers_has_bounds_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet");
    write(&path, &[batch(vec![("age", column(Int32Array::from(vec![Some(1), None])))])]);
    let (release, _) =
        Run { data: &path, policy: BY_AGE, publish: Publish::Bounds }.release("release.parquet");
    assert_eq!(cells(&open(&release), "age.min"), vec![Some("*".to_owned()); 2]);
}

#[test]
fn only_columns_that_are_kept_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None]);
    let data = batch(vec![("age", column(Int32Array::from(vec![1, 2]))), ("secret", column(list))]);
    for name in ["data.parquet", "data.arrow", "data.arrows"] {
        let path = folder.path().join(name);
        write(&path, std::slice::from_ref(&data));
        let error = read(&path).unwrap_err();
        assert_eq!(error.place().attribute.as_deref(), Some("secret"));
        assert_eq!(error.place().column, Some(2));
        assert!(error.message().contains("List"), "{error}");
        let plan = |_: &[String]| Ok(vec![Storage::Coded, Storage::Skip]);
        let reading = Reading::new(&plan, &Unwatched);
        assert_eq!(Table::read(&path, &reading).unwrap().values(0), ["1", "2"]);
        let plan = |_: &[String]| Ok(vec![Storage::Skip; 2]);
        let reading = Reading::new(&plan, &Unwatched);
        assert_eq!(Table::read(&path, &reading).unwrap().len(), 2);
    }
}

#[test]
fn a_cell_without_text_is_an_error_with_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet");
    let mut bytes: Vec<&[u8]> = vec![b"ok"; 20];
    bytes[17] = b"secret\xff";
    write(&path, &[batch(vec![("age", column(BinaryArray::from_vec(bytes)))])]);
    let error = read(&path).unwrap_err();
    assert_eq!(error.place().line, Some(18));
    assert_eq!(error.place().attribute.as_deref(), Some("age"));
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn tables_without_rows_or_columns_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.parquet", "t.arrow", "t.arrows"] {
        let path = folder.path().join(name);
        write(&path, &[people(0)]);
        assert!(read(&path).unwrap().is_empty());
        let error = run::read(&path, &Policy::parse(PEOPLE, None).unwrap(), &Unwatched)
            .and_then(|table| throng::problem::Problem::new(&table, &Policy::parse(PEOPLE, None).unwrap()))
            .unwrap_err();
        assert!(error.message().contains("no records"), "{error}");
        let twice =
            batch(vec![("a", column(Int8Array::from(vec![1]))), ("a", column(Int8Array::from(vec![1])))]);
        write(&path, &[twice]);
        assert!(read(&path).unwrap_err().message().contains("two columns are called \"a\""));
        let options = RecordBatchOptions::new().with_row_count(Some(0));
        let none =
            RecordBatch::try_new_with_options(Arc::new(arrow_schema::Schema::empty()), vec![], &options);
        write(&path, &[none.unwrap()]);
        assert!(read(&path).unwrap_err().message().contains("no columns"));
    }
}

#[test]
fn damaged_files_are_errors_that_tell_no_cells() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.parquet", "t.arrow", "t.arrows"] {
        let path = folder.path().join(name);
        write(&path, &[people(60)]);
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 1, 4, 7, 9, 50, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            check_damaged(&path);
        }
        // Every so many bytes, one is changed.
        for at in (0..whole.len()).step_by(whole.len() / 150) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            std::fs::write(&path, damaged).unwrap();
            check_damaged(&path);
        }
        std::fs::write(&path, "name,age\nperson 1,20\n").unwrap();
        assert!(read(&path).is_err());
    }
}

/// Damage may go unnoticed, but must not be a bug, a panic, or show cells.
fn check_damaged(path: &Path) {
    if let Err(error) = read(path) {
        assert_eq!(error.fault(), Fault::Input, "{error}");
        assert!(!error.message().contains("person"), "{error}");
    }
}

#[test]
fn zoned_times_keep_their_zone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.parquet");
    let zoned = column(TimestampNanosecondArray::from(vec![1, 2]).with_timezone("America/New_York"));
    let age = column(Int32Array::from(vec![1, 1]));
    write(&path, &[batch(vec![("age", age), ("at", zoned)])]);
    let (release, _) =
        Run { data: &path, policy: BY_AGE, publish: Publish::Cells }.release("release.parquet");
    let kind = open(&release)[0].schema().field(1).data_type().clone();
    assert_eq!(kind, DataType::Timestamp(TimeUnit::Nanosecond, Some("America/New_York".into())));
}

#[test]
fn types_come_back_where_there_is_a_way_and_are_text_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.arrow");
    let age = column(Int32Array::from(vec![1, 1]));
    let run_ends = Int32Array::from(vec![1, 2]);
    let runs = RunArray::try_new(&run_ends, &Float64Array::from(vec![0.5, 2.0])).unwrap();
    let negative = Decimal128Array::from(vec![Some(12), None]).with_precision_and_scale(5, -2).unwrap();
    let span = DurationMillisecondArray::from(vec![Some(-90_500), None]);
    let data =
        vec![("age", age), ("span", column(span)), ("negative", column(negative)), ("runs", column(runs))];
    write(&path, &[batch(data)]);
    let (release, _) = Run { data: &path, policy: BY_AGE, publish: Publish::Cells }.release("release.arrow");
    let written = open(&release);
    let kinds: Vec<_> = written[0].schema().fields().iter().map(|field| field.data_type().clone()).collect();
    let duration = DataType::Duration(TimeUnit::Millisecond);
    assert_eq!(kinds[1..], [duration, DataType::Utf8, DataType::Float64]);
    assert_eq!(cells(&written, "negative"), [Some("1200".to_owned()), None]);
    let spans = written[0].column(1).as_any().downcast_ref::<DurationMillisecondArray>().unwrap();
    assert_eq!(spans.iter().collect::<Vec<_>>(), [Some(-90_500), None]);
}

/// A number, a real number, a word and a note.
type Row = (i16, Option<f32>, Option<String>, Option<String>);

/// A table of numbers, words and nulls.
fn random_table() -> impl Strategy<Value = Vec<Row>> {
    let word = || proptest::option::weighted(0.9, "[a-c]{1,2}");
    let note = proptest::option::weighted(0.8, "[ -~é\n]{1,6}");
    proptest::collection::vec(
        (-20i16..20, proptest::option::weighted(0.9, -3.0f32..3.0), word(), note),
        2..40,
    )
}

const RANDOM: &str = "[privacy]\nk = 2\n[method]\nseed = 5\n[attribute.number]\nrole = \"quasi\"\n\
                      [attribute.real]\nrole = \"quasi\"\nkind = \"numeric\"\n[attribute.word]\nrole = \"quasi\"\n\
                      [attribute.note]\nrole = \"other\"\nconfirmed = true\n";

fn write_both(folder: &Path, rows: &[Row]) {
    let mut csv = csv::Writer::from_path(folder.join("data.csv")).unwrap();
    csv.write_record(["number", "real", "word", "note"]).unwrap();
    for (number, real, word, note) in rows {
        let real = real.map(|real| real.to_string()).unwrap_or_default();
        let (word, note) = (word.as_deref().unwrap_or_default(), note.as_deref().unwrap_or_default());
        csv.write_record([&number.to_string(), &real, word, note]).unwrap();
    }
    csv.flush().unwrap();
    let data = batch(vec![
        ("number", column(Int16Array::from_iter_values(rows.iter().map(|row| row.0)))),
        ("real", column(Float32Array::from_iter(rows.iter().map(|row| row.1)))),
        ("word", column(StringArray::from_iter(rows.iter().map(|row| row.2.as_deref())))),
        ("note", column(StringArray::from_iter(rows.iter().map(|row| row.3.as_deref())))),
    ]);
    write(&folder.join("data.parquet"), &[data]);
}

fn anonymize(folder: &Path, data: &str, release: &str) -> Vec<u8> {
    let run = Anonymize {
        secret: Some(Secret::from_bytes(b"the same for every format")),
        ..Anonymize::new(folder.join(data), folder.join(release), Policy::parse(RANDOM, None).unwrap())
    };
    run.run(&Unwatched).unwrap();
    std::fs::read(folder.join(release)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_table_gives_the_same_release_from_every_format(rows in random_table()) {
        let folder = tempfile::tempdir().unwrap();
        write_both(folder.path(), &rows);
        let from_text = anonymize(folder.path(), "data.csv", "text.csv");
        let from_parquet = anonymize(folder.path(), "data.parquet", "columnar.csv");
        prop_assert_eq!(String::from_utf8(from_text.clone()).unwrap(), String::from_utf8(from_parquet).unwrap());
        anonymize(folder.path(), "data.parquet", "columnar.parquet");
        let written = open(&folder.path().join("columnar.parquet"));
        let mut reader = csv::Reader::from_reader(&from_text[..]);
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        for (at, name) in ["number", "real", "word", "note"].into_iter().enumerate() {
            let expected: Vec<String> = records.iter().map(|record| record[at].to_owned()).collect();
            let found: Vec<String> = cells(&written, name).into_iter().map(Option::unwrap_or_default).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
