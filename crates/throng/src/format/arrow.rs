//! Arrow IPC: the format for files, and the one for streams.

use super::{Format, TakePiece, Target, Writable, guarded, ipc, not_encoded};
use crate::error::{Error, ErrorCode, Result};
use crate::table::batches::{Budget, Columns};
use crate::table::source::Input;
use crate::table::{Reading, Table};
use crate::watch::Watch;
use arrow_ipc::writer::{FileWriter, StreamWriter};

/// Arrow's format for files. Either of the two reads both.
pub static ARROW: Format = Format {
    name: "Arrow",
    endings: &["arrow", "feather", "ipc"],
    times_in_memory: 4,
    read,
    pieces: Some(pieces),
    write: write_file,
};

/// Arrow's format for streams.
pub static ARROW_STREAM: Format = Format {
    name: "Arrow",
    endings: &["arrows"],
    times_in_memory: 4,
    read,
    pieces: Some(pieces),
    write: write_stream,
};

fn read(input: Input<'_>, reading: &Reading<'_>) -> Result<Table> {
    let origin = input.origin.clone();
    let file = input.into_file()?;
    let bytes = file
        .metadata()
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", origin.as_ref(), &cause))?
        .len();
    let budget = Budget::of_file(reading.expansion, bytes);
    let (schema, _) = guarded(&ARROW, || ipc::open(&file, None, reading.expansion))??;
    let columns = Columns::plan(reading, &schema)?;
    let wanted = Some(columns.wanted.clone());
    let (_, mut batches) = guarded(&ARROW, || ipc::open(&file, wanted, reading.expansion))??;
    let mut batches = std::iter::from_fn(|| guarded(&ARROW, || batches.next().transpose()).transpose());
    let chunks = columns.read(reading, &budget, &mut batches);
    columns.table(origin, reading, chunks)
}

fn pieces(input: Input<'_>, reading: &Reading<'_>, take: &mut TakePiece<'_>) -> Result<()> {
    let origin = input.origin.clone();
    let file = input.into_file()?;
    let bytes = file
        .metadata()
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", origin.as_ref(), &cause))?
        .len();
    let budget = Budget::of_file(reading.expansion, bytes);
    let (schema, _) = guarded(&ARROW, || ipc::open(&file, None, reading.expansion))??;
    let columns = Columns::plan(reading, &schema)?;
    let wanted = Some(columns.wanted.clone());
    let (_, mut batches) = guarded(&ARROW, || ipc::open(&file, wanted, reading.expansion))??;
    let mut batches = std::iter::from_fn(|| guarded(&ARROW, || batches.next().transpose()).transpose());
    columns.pieces(&origin, reading, &budget, &mut batches, &mut 0, take)
}

fn write_file(table: &dyn Writable, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
    let batches = table.batches()?;
    let mut writer = FileWriter::try_new(target, &batches.schema()).map_err(|_| not_encoded())?;
    batches.for_each(watch, &mut |batch| writer.write(&batch).map_err(|_| not_encoded()))?;
    writer.finish().map_err(|_| not_encoded())
}

fn write_stream(table: &dyn Writable, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
    let batches = table.batches()?;
    let mut writer = StreamWriter::try_new(target, &batches.schema()).map_err(|_| not_encoded())?;
    batches.for_each(watch, &mut |batch| writer.write(&batch).map_err(|_| not_encoded()))?;
    writer.finish().map_err(|_| not_encoded())
}
