//! Where a table comes from.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use crate::bind;
use crate::error::Result;
use crate::format::CSV;
use crate::policy::Policy;
use crate::release::Batches;
use crate::table::{Reading, Table};
use crate::watch::Watch;

/// Where a table comes from: a file, text in memory, or Arrow record batches. Paths convert by themselves.
///
/// ```
/// use throng::Data;
/// let from_a_file: Data = "people.csv".into();
/// let from_memory = Data::csv("age,city\n31,Rome\n");
/// # let _ = (from_a_file, from_memory);
/// ```
#[derive(Clone, Debug)]
pub struct Data(Source);

#[derive(Clone, Debug)]
enum Source {
    File(PathBuf),
    Text(Vec<u8>),
    Batches(Batches),
}

impl Data {
    /// A file, in the format that its name tells; `-` is standard input.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Data(Source::File(path.into()))
    }

    /// Delimited text with a header, as in a CSV file.
    pub fn csv(text: impl Into<Vec<u8>>) -> Self {
        Data(Source::Text(text.into()))
    }

    /// Record batches of one schema.
    pub fn batches(schema: SchemaRef, batches: impl IntoIterator<Item = RecordBatch>) -> Self {
        Data(Source::Batches(Batches { schema, batches: batches.into_iter().collect() }))
    }

    /// The table as a policy needs it.
    #[doc(hidden)]
    pub fn table(&self, policy: &Policy, watch: &dyn Watch) -> Result<Table> {
        self.open(&policy.reading(&bind::plan(policy), watch))
    }

    /// What it is called in messages and reports.
    pub(super) fn name(&self) -> &Path {
        match &self.0 {
            Source::File(path) => path,
            Source::Text(_) | Source::Batches(_) => Path::new("the table"),
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match &self.0 {
            Source::File(path) => Some(path),
            Source::Text(_) | Source::Batches(_) => None,
        }
    }

    /// A frame without rows is one like any other; a text or a file without rows is most often a mistake.
    pub(super) fn may_be_empty(&self) -> bool {
        matches!(self.0, Source::Batches(_))
    }

    pub(super) fn open(&self, reading: &Reading<'_>) -> Result<Table> {
        match &self.0 {
            Source::File(path) => Table::read(path, reading),
            Source::Text(text) => Table::read_from(&CSV, text.as_slice(), reading),
            Source::Batches(Batches { schema, batches }) => {
                Table::from_batches(schema.clone(), batches.iter().cloned(), reading)
            }
        }
    }
}

impl From<&str> for Data {
    fn from(path: &str) -> Self {
        Data::file(path)
    }
}

impl From<String> for Data {
    fn from(path: String) -> Self {
        Data::file(path)
    }
}

impl From<&Path> for Data {
    fn from(path: &Path) -> Self {
        Data::file(path)
    }
}

impl From<PathBuf> for Data {
    fn from(path: PathBuf) -> Self {
        Data::file(path)
    }
}

impl From<&PathBuf> for Data {
    fn from(path: &PathBuf) -> Self {
        Data::file(path)
    }
}

impl From<RecordBatch> for Data {
    fn from(batch: RecordBatch) -> Self {
        Data::batches(batch.schema(), [batch])
    }
}

/// Without any batch there is no schema, and the table has no columns.
impl From<Vec<RecordBatch>> for Data {
    fn from(batches: Vec<RecordBatch>) -> Self {
        let schema = batches.first().map_or_else(|| Schema::empty().into(), RecordBatch::schema);
        Data::batches(schema, batches)
    }
}

impl From<Batches> for Data {
    fn from(batches: Batches) -> Self {
        Data(Source::Batches(batches))
    }
}

impl From<&Batches> for Data {
    fn from(batches: &Batches) -> Self {
        Data(Source::Batches(batches.clone()))
    }
}
