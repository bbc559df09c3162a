//! The bytes of tables: files, standard input or memory, plain or compressed.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Expansion, Origin, Reading};
use crate::error::{Error, ErrorCode, Result};

/// How the bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl Compression {
    /// The compression that a file's name tells.
    pub fn of(path: &Path) -> Self {
        split_name(path).1
    }
}

/// A name's ending in lower case without that of its compression.
pub(crate) fn ending_of(path: &Path) -> String {
    let name = split_name(path).0;
    name.rsplit_once('.').map(|(_, ending)| ending.to_owned()).unwrap_or_default()
}

/// A name in lower case without the ending of its compression, and the compression.
fn split_name(path: &Path) -> (String, Compression) {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if let Some(name) = name.strip_suffix(".gz") {
        (name.to_owned(), Compression::Gzip)
    } else if let Some(name) = name.strip_suffix(".zst") {
        (name.to_owned(), Compression::Zstd)
    } else {
        (name, Compression::None)
    }
}

/// Whether a name means standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The bytes of a table, before anyone has looked at them.
pub(crate) struct Input<'a> {
    pub origin: Origin,
    bytes: Bytes<'a>,
    compressed: bool,
}

enum Bytes<'a> {
    File(File),
    Stream(Box<dyn Read + Send + 'a>),
}

impl<'a> Input<'a> {
    /// Opens a file or standard input, decompressing as its ending says.
    pub fn open(path: &Path, expansion: Expansion) -> Result<Self> {
        let origin = Origin::file(path);
        if is_standard(path) {
            return Ok(Input { origin, bytes: Bytes::Stream(Box::new(io::stdin())), compressed: false });
        }
        let file = open_file(path)?;
        let compression = Compression::of(path);
        let (file, taken) = match compression {
            Compression::None => return Ok(Input { origin, bytes: Bytes::File(file), compressed: false }),
            Compression::Gzip | Compression::Zstd => Protected::new(file),
        };
        let decoder: Box<dyn Read + Send> = match compression {
            Compression::Zstd => Box::new(
                zstd::Decoder::new(file)
                    .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", path, &cause))?,
            ),
            Compression::None | Compression::Gzip => {
                Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file)))
            }
        };
        let limited = Limited { decoder, taken, given: 0, expansion };
        Ok(Input { origin, bytes: Bytes::Stream(Box::new(limited)), compressed: true })
    }

    /// Bytes that come from a reader.
    pub fn reader(reader: impl Read + Send + 'a, reading: &Reading<'_>) -> Self {
        let origin = Origin::memory(reading.name);
        Input { origin, bytes: Bytes::Stream(Box::new(reader)), compressed: false }
    }

    /// Number of bytes, where it is known: of plain files.
    pub fn size(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File(file) => {
                file.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len())
            }
            Bytes::Stream(_) => None,
        }
    }

    /// The bytes one after the other.
    pub fn into_stream(self) -> Stream<'a> {
        let bytes: Box<dyn Read + Send + 'a> = match self.bytes {
            Bytes::File(file) => Box::new(file),
            Bytes::Stream(stream) => stream,
        };
        Stream { bytes, origin: self.origin, compressed: self.compressed }
    }

    /// A file that can be read from its end: pipes, compressed files and memory are copied to a temporary one.
    pub fn into_file(self) -> Result<File> {
        if let Bytes::File(file) = self.bytes {
            return Ok(file);
        }
        let mut stream = self.into_stream();
        let mut copy = tempfile::tempfile()
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "copy", stream.origin.as_ref(), &cause))?;
        io::copy(&mut stream.bytes, &mut copy).map_err(|cause| stream.explain(&cause))?;
        copy.rewind().map_err(|cause| stream.explain(&cause))?;
        Ok(copy)
    }
}

/// Bytes one after the other.
pub(crate) struct Stream<'a> {
    bytes: Box<dyn Read + Send + 'a>,
    pub origin: Origin,
    compressed: bool,
}

impl Stream<'_> {
    /// Appends up to `limit` bytes; fewer only at the end.
    pub fn read(&mut self, limit: u64, buffer: &mut Vec<u8>) -> Result<u64> {
        let read = (&mut self.bytes).take(limit).read_to_end(buffer);
        read.map(|count| count as u64).map_err(|cause| self.explain(&cause))
    }

    /// What a failed read means.
    fn explain(&self, cause: &io::Error) -> Error {
        if let Some(exceeded) = cause.get_ref().and_then(|cause| cause.downcast_ref::<Exceeded>()) {
            return exceeded.0.exceeded().in_file(&self.origin);
        }
        let error = Error::io(ErrorCode::CannotRead, "read", self.origin.as_ref(), cause);
        match self.compressed && error.hint().is_none() {
            true => error.with_hint("the file may be cut short or not be compressed as its ending says"),
            false => error,
        }
    }
}

fn open_file(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|cause| Error::io(ErrorCode::CannotRead, "read", path, &cause))?;
    if file.metadata().is_ok_and(|data| data.is_dir()) {
        return Err(Error::new(ErrorCode::IsAFolder, "this is a folder, not a table").in_file(path));
    }
    Ok(file)
}

/// Counts the bytes that a decoder takes.
struct Protected {
    file: File,
    taken: Arc<AtomicU64>,
}

impl Protected {
    fn new(file: File) -> (Self, Arc<AtomicU64>) {
        let taken = Arc::new(AtomicU64::new(0));
        (Protected { file, taken: taken.clone() }, taken)
    }
}

impl Read for Protected {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Stops a decoder that gives far more bytes than it takes.
struct Limited {
    decoder: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    given: u64,
    expansion: Expansion,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        self.given += count as u64;
        match self.given > self.expansion.of(self.taken.load(Ordering::Relaxed)) {
            true => Err(io::Error::other(Exceeded(self.expansion))),
            false => Ok(count),
        }
    }
}

/// The limit that was exceeded, on its way through `io::Error`.
#[derive(Debug)]
struct Exceeded(Expansion);

impl std::fmt::Display for Exceeded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0.exceeded().message())
    }
}

impl std::error::Error for Exceeded {}
