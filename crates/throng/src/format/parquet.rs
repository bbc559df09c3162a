//! Parquet.
//!
//! Only the columns that are kept are decoded; row groups are read in parallel.

use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::shared_file::SharedFile;
use super::{Format, TakePiece, Target, Writable, guarded, not_encoded};
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::table::batches::{Batches, Budget, CHUNK_ROWS, Columns};
use crate::table::chunk::Chunk;
use crate::table::source::Input;
use crate::table::{Reading, Table};
use crate::watch::Watch;

/// Parquet.
pub static PARQUET: Format = Format {
    name: "Parquet",
    endings: &["parquet", "pq"],
    times_in_memory: 16,
    read,
    pieces: Some(pieces),
    write,
};

fn read(input: Input<'_>, reading: &Reading<'_>) -> Result<Table> {
    let origin = input.origin.clone();
    let file = input.into_file()?;
    let input = SharedFile::new(file)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", origin.as_ref(), &cause))?;
    let budget = Budget::of_file(reading.expansion, input.bytes());
    let metadata = guarded(&PARQUET, || ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()))?;
    let columns = Columns::plan(reading, metadata.schema())?;
    let groups: Vec<Vec<Result<Chunk>>> = parallel::map(0..metadata.metadata().num_row_groups(), |group| {
        match row_group(&input, &metadata, &columns, group) {
            Ok(mut batches) => columns.read(reading, &budget, &mut batches),
            Err(error) => vec![Err(error)],
        }
    });
    columns.table(origin, reading, groups.into_iter().flatten())
}

/// Row group by row group, each in pieces.
fn pieces(input: Input<'_>, reading: &Reading<'_>, take: &mut TakePiece<'_>) -> Result<()> {
    let origin = input.origin.clone();
    let file = input.into_file()?;
    let input = SharedFile::new(file)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", origin.as_ref(), &cause))?;
    let budget = Budget::of_file(reading.expansion, input.bytes());
    let metadata = guarded(&PARQUET, || ArrowReaderMetadata::load(&input, ArrowReaderOptions::new()))?;
    let columns = Columns::plan(reading, metadata.schema())?;
    let mut rows = 0;
    for group in 0..metadata.metadata().num_row_groups() {
        let mut batches = row_group(&input, &metadata, &columns, group)?;
        columns.pieces(&origin, reading, &budget, &mut batches, &mut rows, take)?;
    }
    Ok(())
}

fn row_group(
    input: &SharedFile,
    metadata: &ArrowReaderMetadata,
    columns: &Columns,
    group: usize,
) -> Result<Batches<'static>> {
    let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.wanted.iter().copied());
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(input.clone(), metadata.clone());
    let builder = builder.with_row_groups(vec![group]).with_projection(mask).with_batch_size(CHUNK_ROWS);
    let mut batches = guarded(&PARQUET, || builder.build())?;
    Ok(Box::new(std::iter::from_fn(move || guarded(&PARQUET, || batches.next().transpose()).transpose())))
}

fn write(table: &dyn Writable, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Page)
        .build();
    let batches = table.batches()?;
    let writer = ArrowWriter::try_new(target, batches.schema(), Some(properties));
    let mut writer = writer.map_err(|_| not_encoded())?;
    batches.for_each(watch, &mut |batch| writer.write(&batch).map_err(|_| not_encoded()))?;
    writer.close().map(|_| ()).map_err(|_| not_encoded())
}
