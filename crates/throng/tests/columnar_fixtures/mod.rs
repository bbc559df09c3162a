//! Small columnar files and what comes out of them.
#![allow(dead_code)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use throng::policy::{Policy, Unlisted};
use throng::release::{Order, Publish};
use throng::report::Report;
use throng::run::{Anonymize, audit_files};
use throng::table::{Reading, Storage, Table};
use throng::watch::Unwatched;

pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// Writes a file in the format its name tells, row groups of 7 rows in Parquet.
pub fn write(path: &Path, batches: &[RecordBatch]) {
    let file = File::create(path).unwrap();
    let schema = batches[0].schema();
    match path.extension().unwrap().to_str().unwrap() {
        "parquet" => {
            let properties = WriterProperties::builder().set_max_row_group_row_count(Some(7)).build();
            let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
        "arrows" => {
            let mut writer = StreamWriter::try_new(file, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        _ => {
            let mut writer = FileWriter::try_new(file, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
    }
}

/// Reads a file with Arrow's own readers.
pub fn open(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    match path.extension().unwrap().to_str().unwrap() {
        "parquet" => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            reader.map(Result::unwrap).collect()
        }
        "arrows" => StreamReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
        _ => FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
    }
}

/// The cells of a column as texts, `None` for nulls.
pub fn cells(batches: &[RecordBatch], name: &str) -> Vec<Option<String>> {
    let mut cells = Vec::new();
    for batch in batches {
        let column = batch.column_by_name(name).unwrap();
        let texts = arrow_cast::cast(column, &arrow_schema::DataType::Utf8).unwrap();
        let texts = cast::as_string_array(&texts);
        cells.extend(texts.iter().map(|text| text.map(str::to_owned)));
    }
    cells
}

/// Reads a table with all columns coded.
pub fn read(path: &Path) -> throng::Result<Table> {
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    Table::read(path, &Reading::new(&plan, &Unwatched).missing("NULL"))
}

/// What a run is asked to do.
pub struct Run<'a> {
    pub data: &'a Path,
    pub policy: &'a str,
    pub publish: Publish,
}

impl Run<'_> {
    /// Anonymizes into a file beside the data, audits it as `throng audit` does, and says where it is.
    pub fn release(&self, name: &str) -> (PathBuf, Report) {
        let release = self.data.with_file_name(name);
        let mut policy = Policy::parse(self.policy, None).unwrap();
        // These tables show types, not people: what no policy mentions is passed through.
        (policy.unlisted, policy.strict) = (Unlisted::Publish, false);
        let run = Anonymize {
            publish: self.publish,
            order: Order::Keep,
            ..Anonymize::new(self.data.to_owned(), release.clone(), policy.clone())
        };
        let report = run.run(&Unwatched).unwrap();
        let findings = audit_files(self.data, &release, &policy, &Unwatched).unwrap();
        assert_eq!(findings.measures.violations, Vec::<String>::new());
        assert_eq!(findings.measures.gcp, report.measures.gcp);
        (release, report)
    }
}

pub fn column(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// Every readable type with its texts; `NULL` is a null.
pub fn all_types() -> Vec<(&'static str, ArrayRef, [&'static str; 3])> {
    let half = Float32Array::from(vec![Some(0.5), None, Some(5.0)]);
    let half = arrow_cast::cast(&half, &arrow_schema::DataType::Float16).unwrap();
    let noon = 1_709_208_000; // 2024-02-29T12:00:00
    vec![
        ("i8", column(Int8Array::from(vec![Some(-128), None, Some(7)])), ["-128", "NULL", "7"]),
        ("i16", column(Int16Array::from(vec![Some(-300), None, Some(7)])), ["-300", "NULL", "7"]),
        ("i32", column(Int32Array::from(vec![Some(-70_000), None, Some(7)])), ["-70000", "NULL", "7"]),
        (
            "i64",
            column(Int64Array::from(vec![i64::MIN, 0, i64::MAX])),
            ["-9223372036854775808", "0", "9223372036854775807"],
        ),
        ("u8", column(UInt8Array::from(vec![255, 0, 7])), ["255", "0", "7"]),
        ("u16", column(UInt16Array::from(vec![65_535, 0, 7])), ["65535", "0", "7"]),
        ("u32", column(UInt32Array::from(vec![u32::MAX, 0, 7])), ["4294967295", "0", "7"]),
        ("u64", column(UInt64Array::from(vec![u64::MAX, 0, 7])), ["18446744073709551615", "0", "7"]),
        ("f16", half, ["0.5", "NULL", "5"]),
        ("f32", column(Float32Array::from(vec![Some(0.1), None, Some(5.0)])), ["0.1", "NULL", "5"]),
        (
            "f64",
            column(Float64Array::from(vec![Some(1e-7), Some(12_345_678.9), Some(-5.0)])),
            ["1e-7", "12345678.9", "-5"],
        ),
        (
            "boolean",
            column(BooleanArray::from(vec![Some(true), None, Some(false)])),
            ["true", "NULL", "false"],
        ),
        ("utf8", column(StringArray::from(vec![Some("a"), None, Some("")])), ["a", "NULL", ""]),
        ("large", column(LargeStringArray::from(vec![Some("a"), None, Some("é")])), ["a", "NULL", "é"]),
        (
            "view",
            column(StringViewArray::from(vec![Some("a"), None, Some("longer than twelve bytes")])),
            ["a", "NULL", "longer than twelve bytes"],
        ),
        ("binary", column(BinaryArray::from_opt_vec(vec![Some(b"a"), None, Some(b"b")])), ["a", "NULL", "b"]),
        (
            "words",
            column(DictionaryArray::<Int8Type>::from_iter([Some("x"), None, Some("x")])),
            ["x", "NULL", "x"],
        ),
        (
            "date32",
            column(Date32Array::from(vec![Some(19_782), None, Some(-1)])),
            ["2024-02-29", "NULL", "1969-12-31"],
        ),
        (
            "date64",
            column(Date64Array::from(vec![Some(19_782 * 86_400_000), None, Some(0)])),
            ["2024-02-29", "NULL", "1970-01-01"],
        ),
        (
            "seconds",
            column(TimestampSecondArray::from(vec![Some(noon), None, Some(0)])),
            ["2024-02-29T12:00:00", "NULL", "1970-01-01T00:00:00"],
        ),
        (
            "zoned",
            column(
                TimestampMillisecondArray::from(vec![Some(noon * 1000 + 5), None, Some(0)])
                    .with_timezone("Europe/Berlin"),
            ),
            ["2024-02-29T12:00:00.005Z", "NULL", "1970-01-01T00:00:00Z"],
        ),
        (
            "time",
            column(Time64MicrosecondArray::from(vec![Some(43_200_000_001), None, Some(0)])),
            ["12:00:00.000001", "NULL", "00:00:00"],
        ),
        (
            "decimal",
            column(
                Decimal128Array::from(vec![Some(-12_345), None, Some(5)])
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
            ["-123.45", "NULL", "0.05"],
        ),
    ]
}
