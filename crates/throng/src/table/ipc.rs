//! Opening Arrow IPC files and streams.
//!
//! Arrow's readers reserve as much memory as a file says it needs, and a damaged file may ask for more than there
//! is, which ends the process. So all lengths are checked against the file's own before it is read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};

use super::columnar::Batches;

/// What begins and ends a file; streams have none.
const MAGIC: &[u8; 6] = b"ARROW1";

/// The schema and the batches of a file or stream. The schema has all columns, the batches those that are asked
/// for.
pub(super) fn open(
    mut file: &File,
    projection: Option<Vec<usize>>,
) -> Result<(Arc<Schema>, Batches<'_>), ArrowError> {
    let length = file.metadata()?.len();
    let mut magic = [0; MAGIC.len()];
    file.seek(SeekFrom::Start(0))?;
    let is_file = file.read_exact(&mut magic).is_ok() && &magic == MAGIC;
    file.seek(SeekFrom::Start(0))?;
    let mut input = BufReader::new(file);
    let sound = if is_file { check_file(&mut input, length)? } else { check_stream(&mut input, length)? };
    if !sound {
        return Err(ArrowError::IpcError("lengths do not fit the file".to_owned()));
    }
    input.seek(SeekFrom::Start(0))?;
    if is_file {
        let batches = FileReader::try_new(input, projection)?;
        Ok((batches.schema(), Box::new(batches)))
    } else {
        let batches = StreamReader::try_new(input, projection)?;
        Ok((batches.schema(), Box::new(batches)))
    }
}

/// Whether all blocks of a file lie within it.
fn check_file(input: &mut (impl Read + Seek), length: u64) -> io::Result<bool> {
    // The file ends with its footer, the footer's length in four bytes, and the magic.
    let tail = 4 + MAGIC.len() as u64;
    if length < tail {
        return Ok(false);
    }
    let mut size = [0; 4];
    input.seek(SeekFrom::Start(length - tail))?;
    input.read_exact(&mut size)?;
    let Some(start) =
        u64::from(u32::from_le_bytes(size)).checked_add(tail).and_then(|size| length.checked_sub(size))
    else {
        return Ok(false);
    };
    let mut footer = vec![0; u32::from_le_bytes(size) as usize];
    input.seek(SeekFrom::Start(start))?;
    input.read_exact(&mut footer)?;
    let Ok(footer) = root_as_footer(&footer) else { return Ok(false) };
    let mut blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    Ok(footer.schema().is_some() && blocks.all(|block| lies_within(block, length)))
}

fn lies_within(block: &Block, length: u64) -> bool {
    let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
    let end = parts.iter().try_fold(0u64, |sum, part| sum.checked_add(u64::try_from(*part).ok()?));
    // A block begins with a marker and the length of its message.
    block.metaDataLength() >= 8 && end.is_some_and(|end| end <= length)
}

/// Whether all messages of a stream lie within it.
fn check_stream(input: &mut BufReader<&File>, length: u64) -> io::Result<bool> {
    let mut position = 0;
    loop {
        let mut size = [0; 4];
        if input.read_exact(&mut size).is_err() {
            // A stream may end without saying so.
            return Ok(true);
        }
        position += 4;
        if size == [0xff; 4] {
            input.read_exact(&mut size)?;
            position += 4;
        }
        let size = u64::from(u32::from_le_bytes(size));
        if size == 0 {
            return Ok(true);
        }
        if size > length.saturating_sub(position) {
            return Ok(false);
        }
        let mut message = vec![0; size as usize];
        input.read_exact(&mut message)?;
        position += size;
        let body =
            root_as_message(&message).ok().and_then(|message| u64::try_from(message.bodyLength()).ok());
        let Some(body) = body.filter(|body| *body <= length.saturating_sub(position)) else {
            return Ok(false);
        };
        input.seek_relative(body as i64)?;
        position += body;
    }
}
