//! Rows that do not fit into memory, in files of compressed Arrow IPC.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::scale::rows::NOWHERE;
use crate::table::gather::interleave_batches;

/// Files that rows are dealt to.
pub(super) struct Spill {
    files: Vec<SpillFile>,
    schema: SchemaRef,
}

struct SpillFile {
    path: PathBuf,
    writer: Option<StreamWriter<BufWriter<File>>>,
    rows: u64,
}

/// A file that rows were dealt to.
#[derive(Clone, Debug)]
pub(super) struct Spilled {
    path: PathBuf,
    pub rows: u64,
    pub bytes: u64,
}

impl Spill {
    /// So many files in a folder, whose names begin alike. They are made when there is something for them.
    pub fn new(folder: &Path, name: &str, schema: SchemaRef, files: usize) -> Self {
        let file =
            |at: usize| SpillFile { path: folder.join(format!("{name}-{at:04}")), writer: None, rows: 0 };
        Spill { files: (0..files).map(file).collect(), schema }
    }

    /// The columns of its rows.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Deals the rows of some batches to files, in order.
    pub fn deal(&mut self, batches: &[(RecordBatch, Vec<u32>)]) -> Result<()> {
        let mut places: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.files.len()];
        for (at, (_, file_of)) in batches.iter().enumerate() {
            for (row, file) in file_of.iter().enumerate().filter(|(_, file)| **file != NOWHERE) {
                places[*file as usize].push((at, row));
            }
        }
        let batches: Vec<&RecordBatch> = batches.iter().map(|(batch, _)| batch).collect();
        let schema = &self.schema;
        let given = self.files.iter_mut().zip(places).filter(|(_, places)| !places.is_empty());
        parallel::try_map(given, |(file, places)| {
            let rows = interleave_batches(&batches, &places).map_err(|cause| file.failed(cause))?;
            file.write(schema, &rows)
        })?;
        Ok(())
    }

    /// Ends all files.
    pub fn finish(self) -> Result<Vec<Spilled>> {
        self.files.into_iter().map(SpillFile::finish).collect()
    }
}

impl SpillFile {
    fn failed(&self, cause: ArrowError) -> Error {
        failed("write", &self.path, cause)
    }

    fn write(&mut self, schema: &SchemaRef, rows: &RecordBatch) -> Result<()> {
        if self.writer.is_none() {
            let file =
                File::create(&self.path).map_err(|cause| scratch_failed("write", &self.path, &cause))?;
            let options = IpcWriteOptions::default()
                .try_with_compression(Some(CompressionType::LZ4_FRAME))
                .map_err(|cause| self.failed(cause))?;
            let buffered = BufWriter::with_capacity(1 << 16, file);
            let writer = StreamWriter::try_new_with_options(buffered, schema, options);
            self.writer = Some(writer.map_err(|cause| failed("write", &self.path, cause))?);
        }
        self.rows += rows.num_rows() as u64;
        let path = &self.path;
        self.writer
            .as_mut()
            .map_or(Ok(()), |writer| writer.write(rows))
            .map_err(|cause| failed("write", path, cause))
    }

    fn finish(self) -> Result<Spilled> {
        let SpillFile { path, writer, rows } = self;
        if let Some(mut writer) = writer {
            writer.finish().and_then(|()| writer.flush()).map_err(|cause| failed("write", &path, cause))?;
        }
        let bytes = path.metadata().map_or(0, |data| data.len());
        Ok(Spilled { path, rows, bytes })
    }
}

impl Spilled {
    /// Reads its rows in order, of all columns or of some.
    pub fn read(
        &self,
        columns: Option<Vec<usize>>,
    ) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send> {
        let path = self.path.clone();
        let reader = match self.rows {
            0 => None,
            _ => {
                let file = File::open(&path).map_err(|cause| scratch_failed("read", &path, &cause))?;
                let buffered = BufReader::with_capacity(1 << 20, file);
                Some(StreamReader::try_new(buffered, columns).map_err(|cause| failed("read", &path, cause))?)
            }
        };
        Ok(reader.into_iter().flatten().map(move |batch| batch.map_err(|cause| failed("read", &path, cause))))
    }

    /// Removes it, to make room.
    pub fn remove(&self) {
        // What is left goes with the scratch folder.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn failed(what: &str, path: &Path, cause: ArrowError) -> Error {
    match cause {
        ArrowError::IoError(_, cause) => scratch_failed(what, path, &cause),
        // Arrow's own words may quote cells.
        _ => Error::new(
            ErrorCode::UnreadableFile,
            format!("a scratch file could not be {}", if what == "read" { "read" } else { "written" }),
        )
        .in_file(path.parent().unwrap_or(path))
        .with_hint("the disk may be damaged, or somebody changed the scratch folder; run it again"),
    }
}

/// What the operating system says of scratch files.
pub(super) fn scratch_failed(what: &str, path: &Path, cause: &io::Error) -> Error {
    let code = if what == "read" { ErrorCode::CannotRead } else { ErrorCode::CannotWrite };
    let error = Error::io(code, &format!("{what} scratch files"), path.parent().unwrap_or(path), cause);
    match error.code() {
        ErrorCode::DiskFull => error.with_hint("free some space, or name another disk with --scratch DIR"),
        _ => error,
    }
}
