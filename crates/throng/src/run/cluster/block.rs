//! Rows on their way between machines: compressed Arrow IPC.

use std::io::Cursor;

use arrow_array::RecordBatch;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::Schema;

use super::Block;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::scale::rows::NOWHERE;
use crate::table::gather::{interleave_batches, joined};

/// Rows as bytes.
pub(super) fn encode(batch: &RecordBatch) -> Result<Vec<u8>> {
    let write = || {
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options)?;
        writer.write(batch)?;
        writer.into_inner()
    };
    write().map_err(|_| Error::bug("rows that cannot be sent"))
}

/// A schema as bytes.
pub(super) fn encode_schema(schema: &Schema) -> Result<Vec<u8>> {
    let write = || StreamWriter::try_new(Vec::new(), schema)?.into_inner();
    write().map_err(|_| Error::bug("a schema that cannot be sent"))
}

/// The rows of a block, all columns or some of them.
pub(super) fn decode(block: &[u8], columns: Option<Vec<usize>>) -> Result<RecordBatch> {
    let read = || {
        let reader = StreamReader::try_new(Cursor::new(block), columns)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<RecordBatch>, _>>()?;
        match batches.len() {
            1 => Ok(batches[0].clone()),
            _ => joined(&schema, &batches),
        }
    };
    // Arrow's own words may quote cells.
    read().map_err(|_: arrow_schema::ArrowError| {
        Error::new(ErrorCode::UnreadableFile, "rows that another machine sent could not be read")
            .with_hint("all machines need the same version of throng; run it again")
    })
}

/// The schema that was sent.
pub(super) fn decode_schema(bytes: &[u8]) -> Result<arrow_schema::SchemaRef> {
    let reader = StreamReader::try_new(Cursor::new(bytes), None);
    reader.map(|reader| reader.schema()).map_err(|_| Error::bug("a schema that was not sent whole"))
}

/// Deals the rows of some batches to so many parts.
pub(super) fn deal(batches: &[(RecordBatch, Vec<u32>)], parts: usize) -> Result<Vec<Block>> {
    let mut places: Vec<Vec<(usize, usize)>> = vec![Vec::new(); parts];
    for (at, (_, part_of)) in batches.iter().enumerate() {
        for (row, part) in part_of.iter().enumerate().filter(|(_, part)| **part != NOWHERE) {
            places[*part as usize].push((at, row));
        }
    }
    let batches: Vec<&RecordBatch> = batches.iter().map(|(batch, _)| batch).collect();
    let block = |(part, places): (usize, Vec<(usize, usize)>)| {
        let rows = interleave_batches(&batches, &places);
        let rows = rows.map_err(|_| Error::bug("rows that cannot be dealt"))?;
        Ok((part as u32, encode(&rows)?))
    };
    parallel::try_map(places.into_iter().enumerate().filter(|(_, places)| !places.is_empty()), block)
}
