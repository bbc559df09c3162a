//! Where a release goes: a file, memory, or whatever implements [`Sink`].

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use super::{Output, Rendered};
use crate::error::{ErrorCode, Result};
use crate::format::Format;
use crate::table::{Reading, Table};
use crate::watch::Watch;

/// Takes a table of a release. [`Rendered`] gives it in whichever form is asked for.
pub trait Sink {
    /// Takes the table; once.
    fn take(&mut self, table: &Rendered<'_>, watch: &dyn Watch) -> Result<()>;

    /// Reads back what was taken, as recipients will: for the audit, which trusts no memory of ours.
    fn read_back(&self, reading: &Reading<'_>) -> Result<Table>;
}

/// A file that gets its name when it is published, in the format that the name tells.
impl Sink for Output {
    fn take(&mut self, table: &Rendered<'_>, watch: &dyn Watch) -> Result<()> {
        let path = self.path().to_owned();
        let mut encoder = self.encoder()?;
        Format::of(&path).write_to(table, &mut encoder, &path, watch)?;
        encoder.finish().map_err(|cause| crate::Error::io(ErrorCode::CannotWrite, "write", &path, &cause))
    }

    fn read_back(&self, reading: &Reading<'_>) -> Result<Table> {
        Table::read(self.temporary_path(), reading)
    }
}

/// Record batches in memory.
///
/// ```
/// use throng::{Anonymize, Data, Policy};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let done = Anonymize::new(&policy).read(Data::csv("age\n31\n34\n")).to_batches()?;
/// assert_eq!(done.release.schema.field(0).name(), "age");
/// assert_eq!(done.release.batches[0].num_rows(), 2);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batches {
    /// Names and types of the columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}

impl Batches {
    /// Nothing yet.
    pub fn new() -> Self {
        Batches { schema: Schema::empty().into(), batches: Vec::new() }
    }
}

impl Default for Batches {
    fn default() -> Self {
        Self::new()
    }
}

impl Sink for Batches {
    fn take(&mut self, table: &Rendered<'_>, watch: &dyn Watch) -> Result<()> {
        let source = table.batches()?;
        self.schema = source.schema();
        self.batches.clear();
        source.for_each(watch, &mut |batch| {
            self.batches.push(batch);
            Ok(())
        })
    }

    fn read_back(&self, reading: &Reading<'_>) -> Result<Table> {
        Table::from_batches(self.schema.clone(), self.batches.iter().cloned(), reading)
    }
}

/// The bytes of a file, in memory.
#[derive(Clone, Debug)]
pub struct MemoryFile {
    format: &'static Format,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl MemoryFile {
    /// An empty one of a format, such as [`CSV`](crate::format::CSV).
    pub fn new(format: &'static Format) -> Self {
        MemoryFile { format, bytes: Vec::new() }
    }
}

impl Sink for MemoryFile {
    fn take(&mut self, table: &Rendered<'_>, watch: &dyn Watch) -> Result<()> {
        self.bytes.clear();
        self.format.write_to(table, &mut self.bytes, Path::new("memory"), watch)
    }

    fn read_back(&self, reading: &Reading<'_>) -> Result<Table> {
        Table::read_from(self.format, &self.bytes[..], reading)
    }
}
