//! Opening Arrow IPC files and streams.
//!
//! Arrow's readers reserve as much memory as a file says it needs, and a damaged file may ask for more than there
//! is, which ends the process. So before anything is read all lengths are checked against the file's own, and what
//! compressed buffers say they expand to against what the file may expand to.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::{Block, Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};

use crate::table::Expansion;

/// What begins and ends a file; streams have none.
const MAGIC: &[u8; 6] = b"ARROW1";
/// What begins a message, but for files of old.
const CONTINUES: [u8; 4] = [0xff; 4];
/// What a buffer says it expands to if it is not compressed after all.
const NOT_COMPRESSED: i64 = -1;

type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'a>;

/// The schema and the batches of a file or stream. The schema has all columns, the batches those that are asked
/// for. The inner error is that of a file which expands too far.
pub(super) fn open(
    mut file: &File,
    projection: Option<Vec<usize>>,
    expansion: Expansion,
) -> Result<crate::Result<(Arc<Schema>, Batches<'_>)>, ArrowError> {
    let length = file.metadata()?.len();
    let mut magic = [0; MAGIC.len()];
    file.seek(SeekFrom::Start(0))?;
    let is_file = file.read_exact(&mut magic).is_ok() && &magic == MAGIC;
    file.seek(SeekFrom::Start(0))?;
    let mut check =
        Check { input: BufReader::new(file), length, most: expansion.of(length), exceeded: false };
    let sound = if is_file { check.file()? } else { check.stream()? };
    if check.exceeded {
        return Ok(Err(expansion.exceeded()));
    }
    if !sound {
        return Err(ArrowError::IpcError("lengths do not fit the file".to_owned()));
    }
    let mut input = check.input;
    input.seek(SeekFrom::Start(0))?;
    if is_file {
        let batches = FileReader::try_new(input, projection)?;
        Ok(Ok((batches.schema(), Box::new(batches))))
    } else {
        let batches = StreamReader::try_new(input, projection)?;
        Ok(Ok((batches.schema(), Box::new(batches))))
    }
}

/// Looks at all lengths of a file.
struct Check<'a> {
    input: BufReader<&'a File>,
    /// Bytes of the file.
    length: u64,
    /// Bytes that a batch may expand to.
    most: u64,
    /// Whether one says it expands further.
    exceeded: bool,
}

impl Check<'_> {
    /// Whether all blocks of a file lie within it and expand no further than they may.
    fn file(&mut self) -> io::Result<bool> {
        // The file ends with its footer, the footer's length in four bytes, and the magic.
        let tail = 4 + MAGIC.len() as u64;
        let Some(end) = self.length.checked_sub(tail) else { return Ok(false) };
        let mut size = [0; 4];
        self.bytes_at(end, &mut size)?;
        let size = u32::from_le_bytes(size);
        let Some(start) = end.checked_sub(u64::from(size)) else { return Ok(false) };
        let mut footer = vec![0; size as usize];
        self.bytes_at(start, &mut footer)?;
        let Ok(footer) = root_as_footer(&footer) else { return Ok(false) };
        for block in footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten() {
            if !self.block(block)? {
                return Ok(false);
            }
        }
        Ok(footer.schema().is_some())
    }

    fn block(&mut self, block: &Block) -> io::Result<bool> {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end = parts.iter().try_fold(0u64, |sum, part| sum.checked_add(u64::try_from(*part).ok()?));
        // A block begins with a marker and the length of its message.
        if block.metaDataLength() < 8 || end.is_none_or(|end| end > self.length) {
            return Ok(false);
        }
        let mut message = vec![0; block.metaDataLength() as usize];
        self.bytes_at(block.offset() as u64, &mut message)?;
        let message = &message[if message.starts_with(&CONTINUES) { 8 } else { 4 }..];
        let Ok(message) = root_as_message(message) else { return Ok(false) };
        let body = block.offset() as u64 + block.metaDataLength() as u64;
        self.expands_little(&message, body, block.bodyLength() as u64)
    }

    /// Whether all messages of a stream lie within it and expand no further than they may.
    fn stream(&mut self) -> io::Result<bool> {
        let mut position = 0;
        loop {
            let mut size = [0; 4];
            self.input.seek(SeekFrom::Start(position))?;
            if self.input.read_exact(&mut size).is_err() {
                // A stream may end without saying so.
                return Ok(true);
            }
            position += 4;
            if size == CONTINUES {
                self.input.read_exact(&mut size)?;
                position += 4;
            }
            let size = u64::from(u32::from_le_bytes(size));
            if size == 0 {
                return Ok(true);
            }
            if size > self.length.saturating_sub(position) {
                return Ok(false);
            }
            let mut message = vec![0; size as usize];
            self.input.read_exact(&mut message)?;
            position += size;
            let Ok(message) = root_as_message(&message) else { return Ok(false) };
            let body = u64::try_from(message.bodyLength()).unwrap_or(u64::MAX);
            if body > self.length.saturating_sub(position)
                || !self.expands_little(&message, position, body)?
            {
                return Ok(false);
            }
            position += body;
        }
    }

    /// Whether the compressed buffers of a message, which begin with their true lengths, expand to what the file may
    /// expand to. `body` is where its buffers begin, `size` their length.
    fn expands_little(&mut self, message: &Message<'_>, body: u64, size: u64) -> io::Result<bool> {
        let batch = match message.header_as_dictionary_batch() {
            Some(dictionary) => dictionary.data(),
            None => message.header_as_record_batch(),
        };
        let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(true) };
        let mut sum = 0u64;
        for buffer in batch.buffers().into_iter().flatten() {
            let (Ok(start), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()))
            else {
                return Ok(false);
            };
            if start.checked_add(length).is_none_or(|end| end > size) {
                return Ok(false);
            }
            if length < 8 {
                continue;
            }
            let mut says = [0; 8];
            self.bytes_at(body + start, &mut says)?;
            let says = i64::from_le_bytes(says);
            if says != NOT_COMPRESSED {
                let Ok(says) = u64::try_from(says) else { return Ok(false) };
                sum = sum.saturating_add(says);
            }
        }
        self.exceeded = sum > self.most;
        Ok(!self.exceeded)
    }

    fn bytes_at(&mut self, position: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.input.seek(SeekFrom::Start(position))?;
        self.input.read_exact(bytes)
    }
}
