//! One file read by several threads. A file has one position, so reads take turns; what is read is decoded side
//! by side.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file that Parquet readers on several threads share.
#[derive(Clone)]
pub(super) struct SharedFile {
    file: Arc<Mutex<File>>,
    length: u64,
}

impl SharedFile {
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(SharedFile { file: Arc::new(Mutex::new(file)), length })
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.length
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        // A thread that panicked left no more than a position behind, and every read sets its own.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(position))?;
        file.read(buffer)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(From { file: self.clone(), position: start, ended: false }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Damaged files ask for bytes that are not there; do not reserve memory for them.
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length);
        if end.is_none() {
            return Err(ParquetError::EOF("the file is cut short".to_owned()));
        }
        let mut buffer = vec![0; length];
        From { file: self.clone(), position: start, ended: false }.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}

/// Reads on from a position of its own. Who asks again after the end gets an error: a damaged page header may announce a list
/// of billions, and skipping them one by one where nothing is left to read would take hours.
pub(super) struct From {
    file: SharedFile,
    position: u64,
    /// Whether the end was told already.
    ended: bool,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(self.position, buffer)?;
        self.position += count as u64;
        if count == 0 && !buffer.is_empty() && std::mem::replace(&mut self.ended, true) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(count)
    }
}
