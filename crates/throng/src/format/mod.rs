//! File formats: how bytes become a table, and a release bytes.
//!
//! A format is one entry: its name, the endings of its files, a reader and a writer. To add one: a file here, and one
//! line in [`FORMATS`]; one that spells rows in a way of its own has a variant of `AnySyntax` too. What is written is
//! `Writable`: formats know no releases. Nothing in a written file may tell more than its cells do: think of dictionaries, statistics,
//! order, and how cells are spelt.

mod arrow;
mod delimited;
mod ipc;
mod json_lines;
mod parquet;
mod shared_file;
mod syntax;

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

pub use arrow::{ARROW, ARROW_STREAM};
pub use delimited::{CSV, TSV};
pub use json_lines::JSON_LINES;
pub use parquet::PARQUET;
pub(crate) use syntax::{AnySyntax, InSyntax, Syntax, Value, push_row};

use crate::error::{Error, ErrorCode, Result};
use crate::formula::Formulas;
use crate::table::source::{Input, ending_of};
use crate::table::{Dialect, Reading, Table};
use crate::watch::Watch;

/// All formats. The first is that of names whose ending is none of theirs.
pub static FORMATS: &[&Format] = &[&CSV, &TSV, &PARQUET, &ARROW, &ARROW_STREAM, &JSON_LINES];

/// The usual endings of all formats, for help texts: `.csv, .tsv, …`.
pub fn endings() -> String {
    FORMATS.iter().map(|format| format!(".{}", format.endings[0])).collect::<Vec<_>>().join(", ")
}

/// Takes the pieces of a table, in order.
pub(crate) type TakePiece<'a> = dyn FnMut(Table) -> Result<()> + 'a;
/// Reads a table piece by piece.
pub(crate) type ReadPieces = fn(Input<'_>, &Reading<'_>, &mut TakePiece<'_>) -> Result<()>;

/// What the registry knows of a format.
pub struct Format {
    /// Its name, for people.
    pub name: &'static str,
    /// The endings of its files, in lower case and without the dot.
    pub endings: &'static [&'static str],
    /// What a table takes in memory, about, in times the bytes of its file.
    pub(crate) times_in_memory: u64,
    /// Reads a table.
    pub(crate) read: fn(Input<'_>, &Reading<'_>) -> Result<Table>,
    /// Reads a table piece by piece, in order; `None` if that is not done.
    pub(crate) pieces: Option<ReadPieces>,
    /// Writes a table of a release.
    pub(crate) write: fn(&dyn Writable, &mut Target<'_>, &dyn Watch) -> Result<()>,
}

impl Format {
    /// The format that a file's name tells.
    ///
    /// ```
    /// use throng::format::Format;
    /// assert_eq!(Format::of("people.parquet.zst".as_ref()).name, "Parquet");
    /// assert_eq!(Format::of("people".as_ref()).name, "CSV");
    /// ```
    pub fn of(path: &Path) -> &'static Format {
        let ending = ending_of(path);
        let told = FORMATS.iter().find(|format| format.endings.contains(&ending.as_str()));
        told.copied().unwrap_or(&CSV)
    }

    /// Whether the name of a file tells its format.
    pub fn is_told_by(path: &Path) -> bool {
        FORMATS.iter().any(|format| format.endings.contains(&ending_of(path).as_str()))
    }

    /// Whether spreadsheets open its files as they are.
    pub fn is_delimited(&self) -> bool {
        [&CSV, &TSV].iter().any(|own| own.name == self.name)
    }

    /// Whether its files are lines of text, in which cells have no types.
    pub fn is_text(&self) -> bool {
        self.is_delimited() || self.name == JSON_LINES.name
    }

    /// Writes a table of a release. `place` is what errors say they were writing.
    pub(crate) fn write_to(
        &self,
        table: &dyn Writable,
        writer: &mut (dyn Write + Send),
        place: &Path,
        watch: &dyn Watch,
    ) -> Result<()> {
        let mut target = Target { writer, place, failure: None };
        let outcome = (self.write)(table, &mut target, watch);
        match target.failure {
            Some(cause) => Err(Error::io(ErrorCode::CannotWrite, "write", place, &cause)),
            None => outcome,
        }
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Table {
    /// Reads a file, or standard input for `-`, in the format that its name tells.
    pub fn read(path: &Path, reading: &Reading<'_>) -> Result<Self> {
        let read = || Self::read_input(Format::of(path), Input::open(path, reading.expansion)?, reading);
        read().map_err(|error| error.in_file(path))
    }

    /// Reads a table in a format from any reader.
    ///
    /// ```
    /// use throng::format::CSV;
    /// use throng::table::{Reading, Storage, Table};
    /// use throng::watch::Unwatched;
    ///
    /// let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    /// let table = Table::read_from(&CSV, &b"age,city\n31,Rome\n"[..], &Reading::new(&plan, &Unwatched))?;
    /// assert_eq!(table.names(), ["age", "city"]);
    /// assert_eq!(table.origin().to_string(), "the table");
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn read_from(format: &Format, reader: impl Read + Send, reading: &Reading<'_>) -> Result<Self> {
        let input = Input::reader(reader, reading);
        let origin = input.origin.clone();
        Self::read_input(format, input, reading).map_err(|error| error.in_file(&origin))
    }

    /// Reads a file piece by piece: rows in order, a few megabytes at a time, so that it need not fit into memory. Every
    /// piece has dictionaries of its own.
    pub fn read_pieces(
        path: &Path,
        reading: &Reading<'_>,
        take: &mut dyn FnMut(Table) -> Result<()>,
    ) -> Result<()> {
        let format = Format::of(path);
        let Some(pieces) = format.pieces else {
            return Err(Error::new(
                ErrorCode::BadUsage,
                format!("{} is not read piece by piece", format.name),
            )
            .in_file(path)
            .with_hint("give the table as CSV, Parquet or Arrow, or run it without --memory"));
        };
        let mut read = || pieces(Input::open(path, reading.expansion)?, reading, take);
        read().map_err(|error| error.in_file(path))
    }

    fn read_input(format: &Format, input: Input<'_>, reading: &Reading<'_>) -> Result<Self> {
        reading.watch.stage("reading", input.size());
        (format.read)(input, reading)
    }
}

/// A table to be written, in whichever form a format asks for. Forms are chosen once per table, not per row.
pub(crate) trait Writable {
    /// Names of the columns.
    fn names(&self) -> Vec<&str>;

    /// How the table that it was made from delimits its cells, if that is one of delimited text.
    fn dialect(&self) -> Option<Dialect>;

    /// What becomes of cells that a spreadsheet would run.
    fn formulas(&self) -> Formulas;

    /// Writes it as lines of text.
    fn write_lines(&self, syntax: &AnySyntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()>;

    /// The table as record batches.
    fn batches(&self) -> Result<Box<dyn Batched + '_>>;
}

/// Record batches, made as they are asked for.
pub(crate) trait Batched {
    /// Names and types of the columns.
    fn schema(&self) -> SchemaRef;

    /// Hands every batch over, in order.
    fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()>;
}

/// Opens or reads on. The words of other crates may quote cells, so none are passed on; and some readers panic on
/// damaged files, which to a user is a file that cannot be read.
fn guarded<T, E>(format: &Format, work: impl FnOnce() -> Result<T, E>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) | Err(_) => {
            Err(Error::new(ErrorCode::UnreadableFile, format!("this is not a readable {} file", format.name))
                .with_hint("check that the file is complete and that its ending names its format"))
        }
    }
}

/// The words of other crates may quote cells.
pub(crate) fn not_encoded() -> Error {
    Error::bug("the release could not be encoded")
}

/// A writer that remembers its first failure, which the writers of other crates pass on as mere text.
pub(crate) struct Target<'a> {
    writer: &'a mut (dyn Write + Send),
    place: &'a Path,
    failure: Option<io::Error>,
}

impl Target<'_> {
    /// What errors say was being written.
    pub fn place(&self) -> &Path {
        self.place
    }

    fn remember<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.map_err(|cause| {
            let kind = cause.kind();
            if kind != io::ErrorKind::Interrupted {
                self.failure.get_or_insert(cause);
            }
            kind.into()
        })
    }
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.writer.write(bytes);
        self.remember(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.writer.flush();
        self.remember(outcome)
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_with_the_path() {
        for size in [10, 1 << 20] {
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let mut full = io::BufWriter::new(full);
            let place = Path::new("release.parquet");
            let mut target = Target { writer: &mut full, place, failure: None };
            let _ = target.write_all(&vec![0; size]).and_then(|()| target.flush());
            let error = Error::io(ErrorCode::CannotWrite, "write", place, &target.failure.unwrap());
            assert!(error.message().contains("no space left"), "{error}");
            assert_eq!(error.place().file.as_deref(), Some(place));
        }
    }
}
