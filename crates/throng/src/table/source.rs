//! Opening tables: files or standard input, plain or compressed, by their ending.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// The formats of tables, told from a file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Delimited text; the delimiter is fixed where the ending says so (`.tsv`).
    Text {
        /// The delimiter, if known from the name.
        delimiter: Option<u8>,
    },
    /// Parquet.
    Parquet,
    /// Arrow IPC file or stream.
    Arrow,
}

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

/// The format and compression that a file's name tells.
pub fn format_of(path: &Path) -> (Format, Compression) {
    let (ending, compression) = ending_of(path);
    let format = match ending.as_str() {
        "parquet" | "pq" => Format::Parquet,
        "arrow" | "arrows" | "feather" | "ipc" => Format::Arrow,
        "tsv" | "tab" => Format::Text { delimiter: Some(b'\t') },
        _ => Format::Text { delimiter: None },
    };
    (format, compression)
}

/// Whether a name asks for Arrow's format for streams rather than the one for files.
pub(crate) fn is_arrow_stream(path: &Path) -> bool {
    ending_of(path).0 == "arrows"
}

/// A name's ending in lower case without that of its compression.
fn ending_of(path: &Path) -> (String, Compression) {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (name, compression) = if let Some(name) = name.strip_suffix(".gz") {
        (name, Compression::Gzip)
    } else if let Some(name) = name.strip_suffix(".zst") {
        (name, Compression::Zstd)
    } else {
        (name.as_str(), Compression::None)
    };
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_owned()).unwrap_or_default();
    (ending, compression)
}

/// Whether a name means standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens a table for reading, decompressing as its ending says.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    if is_standard(path) {
        return Ok(Box::new(io::stdin()));
    }
    let file = open_file(path)?;
    Ok(match format_of(path).1 {
        Compression::None => Box::new(file),
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file))),
        Compression::Zstd => {
            Box::new(zstd::Decoder::new(file).map_err(|cause| Error::io("read", path, &cause))?)
        }
    })
}

/// Opens a file as it stands.
pub(super) fn open_file(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|cause| Error::io("read", path, &cause))?;
    if file.metadata().is_ok_and(|data| data.is_dir()) {
        return Err(Error::input("this is a folder, not a table").in_file(path));
    }
    Ok(file)
}
