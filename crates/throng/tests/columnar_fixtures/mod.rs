//! Small columnar files and what comes out of them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use throng::policy::Policy;
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
        let texts = arrow_array::cast::as_string_array(&texts);
        cells.extend(texts.iter().map(|text| text.map(str::to_owned)));
    }
    cells
}

/// Reads a table with all columns coded.
pub fn read(path: &Path) -> throng::Result<Table> {
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    Table::read(&Reading { path, missing: "NULL", plan: &plan, watch: &Unwatched })
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
        let policy = Policy::parse(self.policy, None).unwrap();
        let run = Anonymize {
            data: self.data.to_owned(),
            release: release.clone(),
            policy: policy.clone(),
            publish: self.publish,
            order: Order::Keep,
            overrides: Vec::new(),
            hashes: false,
        };
        let report = run.run(&Unwatched).unwrap();
        let findings = audit_files(self.data, &release, &policy, &Unwatched).unwrap();
        assert_eq!(findings.measures.violations, Vec::<String>::new());
        assert_eq!(findings.measures.gcp, report.measures.gcp);
        (release, report)
    }
}
