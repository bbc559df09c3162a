//! Tables and releases in memory are what they are in files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod columnar_fixtures;
mod common;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, MapBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use columnar_fixtures::{all_types, batch, cells, column, write};
use common::{cases, load, rows_of_text};
use proptest::prelude::*;
use throng::audit::{self, Keep, Received, audit};
use throng::bind::plan;
use throng::error::Fault;
use throng::format::{ARROW, ARROW_STREAM, CSV, FORMATS, PARQUET, TSV};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::release::{Batches, MemoryFile, Order, Output, Publish, Release, Sink};
use throng::run::{self, solve};
use throng::secret::Secret;
use throng::table::{Expansion, Reading, Storage, Table};
use throng::watch::Unwatched;

/// Reads every column as codes.
fn coded(reader: impl Fn(&Reading<'_>) -> throng::Result<Table>) -> throng::Result<Table> {
    reader(
        &Reading::new(&|names: &[String]| Ok(vec![Storage::Coded; names.len()]), &Unwatched).missing("NULL"),
    )
}

fn texts(table: &Table, column: usize) -> Vec<String> {
    let values = table.values(column);
    // Values come in order of first appearance, and each row of these tables has one of its own or repeats it.
    values.into_iter().map(str::to_owned).collect()
}

#[test]
fn batches_read_as_the_file_that_holds_them() {
    let data = batch(all_types().into_iter().map(|(name, array, _)| (name, array)).collect());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, std::slice::from_ref(&data));
    let from_file = coded(|reading| Table::read(&path, reading)).unwrap();
    let pieces = [data.slice(0, 1), data.slice(1, 0), data.slice(1, 2)];
    let from_memory = coded(|reading| Table::from_batches(data.schema(), pieces.clone(), reading)).unwrap();
    assert_eq!(from_memory.names(), from_file.names());
    assert_eq!(from_memory.len(), 3);
    for (at, (name, ..)) in all_types().iter().enumerate() {
        assert_eq!(texts(&from_memory, at), texts(&from_file, at), "{name}");
    }
    assert_eq!(from_memory.origin().to_string(), "the table");
}

#[test]
fn batches_may_be_errors_other_tables_or_none() {
    let data = batch(vec![("a", column(Int32Array::from(vec![1, 2])))]);
    let other = batch(vec![("a", column(StringArray::from(vec!["x"])))]);
    let error = coded(|reading| Table::from_batches(data.schema(), [data.clone(), other.clone()], reading));
    let error = error.unwrap_err();
    assert!(error.message().contains("record batch 2 has other columns"), "{error}");
    assert_eq!(error.place().file.as_deref(), Some(Path::new("the table")));
    let broken = || [Ok(data.clone()), Err(ArrowError::CastError("secret cell".to_owned()))];
    let error = coded(|reading| Table::from_batches(data.schema(), broken(), reading)).unwrap_err();
    assert!(error.fault() == Fault::Input && !error.to_string().contains("secret"), "{error}");
    let none: [RecordBatch; 0] = [];
    let empty = coded(|reading| Table::from_batches(data.schema(), none.clone(), reading)).unwrap();
    assert!(empty.is_empty() && empty.names() == ["a"]);
    let no_columns = Arc::new(Schema::empty());
    let error = coded(|reading| Table::from_batches(no_columns.clone(), none.clone(), reading)).unwrap_err();
    assert!(error.message().contains("no columns"), "{error}");
}

const PEOPLE: &str = "[privacy]\nk = 3\n[method]\nname = \"mondrian\"\nseed = 5\n[attribute.id]\nrole = \"identifier\"\n\
    [attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n";

fn people(rows: i32) -> RecordBatch {
    let some = |row: i32| (row % 9 != 0).then_some(row);
    batch(vec![
        ("id", column(Int64Array::from_iter_values((0..rows).map(i64::from)))),
        ("age", column(Int32Array::from_iter((0..rows).map(|row| some(row).map(|row| row * 37 % 60))))),
        (
            "city",
            column(DictionaryArray::<Int32Type>::from_iter(
                (0..rows).map(|row| some(row).map(|row| ["Rome", "Oslo", "Bonn"][row as usize % 3])),
            )),
        ),
        (
            "illness",
            column(StringArray::from_iter_values((0..rows).map(|row| ["flu", "cold"][row as usize % 2]))),
        ),
        ("note", column(Date32Array::from_iter((0..rows).map(|row| some(row).map(|row| row * 100))))),
    ])
}

/// A table of batches of some size, and what it is under the policy.
fn in_pieces(rows: i32, size: usize, policy: &Policy) -> (Table, Problem) {
    let data = people(rows);
    let starts = (0..data.num_rows()).step_by(size);
    let pieces: Vec<RecordBatch> =
        starts.map(|start| data.slice(start, size.min(data.num_rows() - start))).collect();
    let table =
        Table::from_batches(data.schema(), pieces, &policy.reading(&plan(policy), &Unwatched)).unwrap();
    let problem = common::bound(&table, policy);
    (table, problem)
}

/// Releases a table to a sink and audits what the sink took.
fn release(table: &Table, problem: &Problem, policy: &Policy, sink: &mut dyn Sink) {
    // Releases can only be the same byte for byte if rows are shuffled alike.
    let mut problem = problem.clone();
    problem.secret = Secret::from_bytes(b"the same in all releases");
    let problem = &problem;
    let solution = solve(problem, policy, &Unwatched).unwrap();
    let release = Release::new(table, problem, policy, &solution, Publish::Cells, Order::Shuffled).unwrap();
    release.write(sink, &Unwatched).unwrap();
    let read = Received::read_back(sink, None, problem, policy, Keep::Audited, &Unwatched).unwrap();
    let measures = audit(problem, policy, &read, &Unwatched).unwrap().measures;
    assert!(measures.violations.is_empty() && measures.k >= 3, "{:?}", measures.violations);
}

#[test]
fn every_sink_takes_the_same_release_whatever_the_batches() {
    let policy = Policy::parse(PEOPLE, None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut first: Option<Vec<Vec<u8>>> = None;
    for size in [1, 7, 64, 1000] {
        let (table, problem) = in_pieces(200, size, &policy);
        let mut bytes = Vec::new();
        for format in FORMATS {
            let mut memory = MemoryFile::new(format);
            release(&table, &problem, &policy, &mut memory);
            let path = folder.path().join(format!("release.{}", format.endings[0]));
            let mut file = Output::create(&path).unwrap();
            release(&table, &problem, &policy, &mut file);
            file.publish().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), memory.bytes, "{format:?}");
            bytes.push(memory.bytes);
        }
        assert!(first.get_or_insert_with(|| bytes.clone()) == &bytes, "batches of {size}");
        let mut batches = Batches::new();
        release(&table, &problem, &policy, &mut batches);
        let rows = rows_of_text(&bytes[0]);
        for (at, name) in rows[0].iter().enumerate() {
            let expected: Vec<&String> = rows[1..].iter().map(|row| &row[at]).collect();
            let found: Vec<String> =
                cells(&batches.batches, name).into_iter().map(Option::unwrap_or_default).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{name}");
        }
        let kinds: Vec<DataType> =
            batches.schema.fields().iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(kinds.last(), Some(&DataType::Date32), "what is published as it is keeps its type");
    }
}

#[test]
fn a_file_and_the_same_bytes_in_memory_give_the_same_release() {
    let policy = Policy::parse(PEOPLE, None).unwrap();
    let data = people(150);
    let folder = tempfile::tempdir().unwrap();
    let mut releases = Vec::new();
    for (format, name) in [(&PARQUET, "t.parquet"), (&ARROW, "t.arrow"), (&ARROW_STREAM, "t.arrows")] {
        let path = folder.path().join(name);
        write(&path, std::slice::from_ref(&data));
        let bytes = std::fs::read(&path).unwrap();
        let read = |reading: &Reading<'_>| Table::read_from(format, &bytes[..], reading);
        for table in [
            run::read(&path, &policy, &Unwatched).unwrap(),
            read(&policy.reading(&plan(&policy), &Unwatched)).unwrap(),
        ] {
            let mut text = MemoryFile::new(&CSV);
            release(&table, &common::bound(&table, &policy), &policy, &mut text);
            releases.push(text.bytes);
        }
    }
    let (table, problem) = in_pieces(150, 40, &policy);
    let mut text = MemoryFile::new(&CSV);
    release(&table, &problem, &policy, &mut text);
    assert!(releases.iter().all(|bytes| *bytes == text.bytes));
}

/// A reader that gives a few bytes at a time, as pipes do.
struct Dribble<'a>(&'a [u8]);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(buffer.len()).min(3);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn text_in_memory_is_text_in_a_file(case in cases(30)) {
        let loaded = load(&case, "k = 1", "mondrian");
        let (_folder, path) = loaded.on_disk();
        let from_file = run::read(&path, &loaded.policy, &Unwatched).unwrap();
        let reading = plan(&loaded.policy);
        let reading = loaded.policy.reading(&reading, &Unwatched);
        let dribbled = Table::read_from(&CSV, Dribble(loaded.csv.as_bytes()), &reading).unwrap();
        let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
        let expected = loaded.publish(&solution, Publish::Cells, Order::Shuffled).bytes;
        for table in [from_file, dribbled] {
            let problem = common::bound(&table, &loaded.policy);
            let again =
                common::published(&table, &problem, &loaded.policy, &solution, Publish::Cells, Order::Shuffled);
            prop_assert_eq!(&again.bytes, &expected);
        }
    }

    #[test]
    fn a_permuted_release_goes_to_two_sinks_and_is_audited_from_them(case in cases(40)) {
        let loaded = load(&case, "l = 1.2", "anatomy");
        prop_assume!(loaded.problem.requirement.check_feasible(&loaded.problem).is_ok());
        let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
        let release = Release::new(
            &loaded.table, &loaded.problem, &loaded.policy, &solution, Publish::Permutation, Order::Keep,
        ).unwrap();
        let mut sinks: Vec<(Box<dyn Sink>, Box<dyn Sink>)> =
            vec![(Box::new(Batches::new()), Box::new(Batches::new()))];
        for format in FORMATS {
            sinks.push((Box::new(MemoryFile::new(format)), Box::new(MemoryFile::new(format))));
        }
        for (main, beside) in &mut sinks {
            release.write(&mut **main, &Unwatched).unwrap();
            release.write_sensitive(&mut **beside).unwrap();
            let read =
                Received::read_back(&**main, Some(&**beside), &loaded.problem, &loaded.policy, Keep::Audited, &Unwatched).unwrap();
            let measures = audit(&loaded.problem, &loaded.policy, &read, &Unwatched).unwrap().measures;
            prop_assert!(measures.permuted && measures.violations.is_empty(), "{:?}", measures.violations);
            let alone = audit(&loaded.problem, &loaded.policy, &read.table, &Unwatched).unwrap_err();
            prop_assert!(alone.message().contains("sensitive values"), "{}", alone);
        }
    }
}

#[test]
fn a_release_that_was_read_without_its_columns_is_refused() {
    let policy = Policy::parse(PEOPLE, None).unwrap();
    let (_, problem) = in_pieces(30, 30, &policy);
    let text = "age,city,illness\n1,Rome,flu\n";
    let skip = |names: &[String]| Ok(vec![Storage::Skip; names.len()]);
    let table = Table::read_from(&CSV, text.as_bytes(), &Reading::new(&skip, &Unwatched)).unwrap();
    let error = audit(&problem, &policy, &table, &Unwatched).unwrap_err();
    assert!(error.fault() == Fault::Input && error.message().contains("\"age\""), "{error}");
    let names = ["age", "note", "illness", "group", "city.min"].map(str::to_owned);
    let kept = audit::storage(&problem, &names);
    assert_eq!(kept, [Storage::Coded, Storage::Text, Storage::Coded, Storage::Coded, Storage::Coded]);
}

#[test]
fn tabs_stay_tabs_in_memory() {
    let policy = Policy::parse("[privacy]\nk = 1\n[attribute.a]\nrole = \"quasi\"\n", None).unwrap();
    let table =
        Table::read_from(&TSV, &b"a\tb\n1\tx, y\n"[..], &policy.reading(&plan(&policy), &Unwatched)).unwrap();
    let problem = common::bound(&table, &policy);
    let solution = solve(&problem, &policy, &Unwatched).unwrap();
    for (format, expected) in [(&TSV, "a\tb\n1\tx, y\n"), (&CSV, "a\tb\n1\tx, y\n")] {
        let mut file = MemoryFile::new(format);
        let release =
            Release::new(&table, &problem, &policy, &solution, Publish::Cells, Order::Keep).unwrap();
        release.write(&mut file, &Unwatched).unwrap();
        assert_eq!(String::from_utf8(file.bytes).unwrap(), expected);
    }
}

/// Lists, structures, maps and the like, with nulls above and below, and values hidden beneath them.
fn nested_columns() -> Vec<(&'static str, ArrayRef)> {
    let words = DictionaryArray::<Int32Type>::from_iter([
        Some("one"),
        None,
        Some("two"),
        Some("HIDDEN"),
        Some("one"),
    ]);
    let words: ArrayRef = Arc::new(words);
    let item = |kind: DataType| Arc::new(Field::new("item", kind, true));
    let offsets = OffsetBuffer::new(vec![0, 2, 2, 4, 5].into());
    let nulls = NullBuffer::from(vec![true, true, false, true]);
    let list = ListArray::new(item(words.data_type().clone()), offsets.clone(), words, Some(nulls.clone()));
    let views: ArrayRef = Arc::new(StringViewArray::from(vec![
        Some("a text that is longer than a view"),
        Some("short"),
        Some("HIDDEN because its parent is null"),
        None,
    ]));
    let numbers: ArrayRef = Arc::new(Int16Array::from(vec![Some(1), None, Some(1789), Some(4)]));
    let fields =
        vec![Field::new("text", DataType::Utf8View, true), Field::new("number", DataType::Int16, true)];
    let structure = StructArray::new(fields.into(), vec![views, numbers], Some(nulls.clone()));
    let pairs: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4, 1789, 1789, 7, 8]));
    let pair = FixedSizeListArray::new(item(DataType::Int32), 2, pairs, Some(nulls.clone()));
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for row in 0..4 {
        map.keys().append_value(format!("key {row}"));
        map.values().append_option((row != 1).then_some(row));
        map.append(row != 2).unwrap();
    }
    let bytes = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        [Some([1u8, 2]), None, Some([3, 4]), Some([5, 6])].into_iter(),
        2,
    );
    vec![
        ("list", column(list)),
        ("structure", column(structure)),
        ("pair", column(pair)),
        ("map", column(map.finish())),
        ("bytes", column(bytes.unwrap())),
    ]
}

fn nested_table(policy: &Policy) -> (Table, Problem) {
    let mut columns = vec![("age", column(Int32Array::from(vec![1, 2, 3, 4])))];
    columns.extend(nested_columns());
    let data = batch(columns);
    let pieces = [data.slice(0, 1), data.slice(1, 3)];
    let table =
        Table::from_batches(data.schema(), pieces, &policy.reading(&plan(policy), &Unwatched)).unwrap();
    let problem = common::bound(&table, policy);
    (table, problem)
}

#[test]
fn nested_columns_that_are_published_as_they_are_keep_their_cells_and_hide_nothing() {
    let policy = "[privacy]\nk = 1\n[attribute.age]\nrole = \"quasi\"\n[method]\nname = \"mondrian\"\n";
    let policy = Policy::parse(policy, None).unwrap();
    let (table, problem) = nested_table(&policy);
    let solution = solve(&problem, &policy, &Unwatched).unwrap();
    let release = Release::new(&table, &problem, &policy, &solution, Publish::Cells, Order::Keep).unwrap();
    let mut batches = Batches::new();
    release.write(&mut batches, &Unwatched).unwrap();
    for (name, before) in nested_columns() {
        let after = batches.batches[0].column_by_name(name).unwrap();
        let show = |array: &ArrayRef| -> Vec<String> {
            let options = FormatOptions::default().with_null("null");
            let formatter = ArrayFormatter::try_new(array, &options).unwrap();
            (0..array.len()).map(|row| formatter.value(row).to_string()).collect()
        };
        assert_eq!(show(after), show(&before), "{name}");
    }
    for format in [&ARROW, &ARROW_STREAM, &PARQUET] {
        let mut file = MemoryFile::new(format);
        release.write(&mut file, &Unwatched).unwrap();
        let hidden = |needle: &[u8]| file.bytes.windows(needle.len()).any(|bytes| bytes == needle);
        assert!(!hidden(b"HIDDEN") && !hidden(&1789i32.to_le_bytes()), "{format:?}");
        let again = Received::read_back(&file, None, &problem, &policy, Keep::Audited, &Unwatched).unwrap();
        assert_eq!(again.table.len(), 4);
    }
    let error = release.write(&mut MemoryFile::new(&CSV), &Unwatched).unwrap_err();
    assert!(error.fault() == Fault::Input && error.place().attribute.as_deref() == Some("list"), "{error}");
    let coded =
        coded(|reading| Table::from_batches(batches.schema.clone(), batches.batches.clone(), reading));
    assert!(coded.unwrap_err().message().contains("columns of type List"), "only what is passed through");
}

/// Reads bytes that may be broken: an error or a table, never an end of the process.
fn survives(format: &throng::format::Format, bytes: &[u8]) {
    if let Err(error) = coded(|reading| Table::read_from(format, bytes, reading)) {
        assert_eq!(error.fault(), Fault::Input, "{error}");
    }
}

#[test]
fn no_length_in_a_file_makes_us_reserve_more_than_there_is() {
    let data = people(20);
    let options = IpcWriteOptions::default();
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = options.clone().try_with_compression(compression).unwrap();
        let mut file = FileWriter::try_new_with_options(Vec::new(), &data.schema(), options.clone()).unwrap();
        file.write(&data).unwrap();
        let mut stream = StreamWriter::try_new_with_options(Vec::new(), &data.schema(), options).unwrap();
        stream.write(&data).unwrap();
        for (format, whole) in
            [(&ARROW, file.into_inner().unwrap()), (&ARROW_STREAM, stream.into_inner().unwrap())]
        {
            assert!(coded(|reading| Table::read_from(format, &whole[..], reading)).is_ok());
            for at in (0..whole.len() - 8).step_by(8) {
                for length in [1_000_000_000_000_000_000i64, i64::MAX, 1 << 40, 0x7fff_ffff_7fff_ffff] {
                    let mut broken = whole.clone();
                    broken[at..at + 8].copy_from_slice(&length.to_le_bytes());
                    survives(format, &broken);
                }
            }
        }
    }
}

#[test]
fn files_that_expand_without_end_are_refused() {
    let zeros = vec![b'0'; 1 << 20];
    let folder = tempfile::tempdir().unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(b"a\n").unwrap();
    gzip.write_all(&zeros).unwrap();
    let zstd = zstd::encode_all(&[b"a\n", &zeros[..]].concat()[..], 19).unwrap();
    let plan = |names: &[String]| Ok(vec![Storage::Text; names.len()]);
    let reading = Reading::new(&plan, &Unwatched);
    for (name, bytes) in [("t.csv.gz", gzip.finish().unwrap()), ("t.csv.zst", zstd)] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let strict = reading.expansion(Expansion { times: 20, free: 4096 });
        let error = Table::read(&path, &strict).unwrap_err();
        assert!(error.message().contains("more than 20 times its size"), "{error}");
        assert!(error.hint().unwrap().contains("max_expansion"));
        assert_eq!(Table::read(&path, &reading).unwrap().len(), 1);
    }
    // Rows that take no room in the file, and one long text in many rows.
    let nothing = batch(vec![("nothing", column(NullArray::new(1 << 40)))]);
    let long = "x".repeat(1 << 16);
    let keys = Int32Array::from(vec![0; 1 << 17]);
    let words: ArrayRef = Arc::new(StringArray::from(vec![long.as_str()]));
    let repeated = batch(vec![("words", column(DictionaryArray::new(keys, words)))]);
    for data in [nothing, repeated] {
        let mut file = FileWriter::try_new(Vec::new(), &data.schema()).unwrap();
        file.write(&data).unwrap();
        let bytes = file.into_inner().unwrap();
        let error = Table::read_from(&ARROW, &bytes[..], &reading).unwrap_err();
        assert!(error.message().contains("more than 200 times its size"), "{error}");
    }
    // gzip expands to no more than 1,032 times: a limit near that would stop nothing before the end.
    assert!(2 * Expansion::default().times < 1032);
    let policy = "[data]\nmax_expansion = 7\n[privacy]\nk = 1\n[attribute.a]\nrole = \"quasi\"\n";
    assert_eq!(Policy::parse(policy, None).unwrap().expansion.times, 7);
    let error = Policy::parse(&policy.replace('7', "0"), None).unwrap_err();
    assert_eq!(error.place().line, Some(2));
}
