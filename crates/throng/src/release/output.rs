//! Output files that appear complete or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, ErrorCode, Result};
use crate::table::source::{Compression, is_standard};

/// A file being written under a temporary name. Dropping it removes it; [`Output::publish`] gives it its name.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    temporary: NamedTempFile,
    /// Standard output and devices cannot be renamed to: they get a copy in the end.
    streamed: bool,
}

impl Output {
    /// Prepares to write to a path; `-` is standard output.
    pub fn create(path: &Path) -> Result<Self> {
        let device = std::fs::metadata(path).is_ok_and(|data| !data.is_file());
        if std::fs::metadata(path).is_ok_and(|data| data.is_dir()) {
            return Err(Error::new(ErrorCode::IsAFolder, "cannot write: this is a folder")
                .in_file(path)
                .with_hint("name a file"));
        }
        let streamed = is_standard(path) || device;
        let folder = match path.parent() {
            _ if streamed => std::env::temp_dir(),
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        // The name's ending tells the format when the audit reads the file back.
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let suffix = format!(".{}", name.trim_start_matches('.'));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".throng-").suffix(&suffix);
        #[cfg(unix)]
        if !streamed {
            use std::os::unix::fs::PermissionsExt;
            // As for any new file, the umask decides who may read it.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder
            .tempfile_in(folder)
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))?;
        Ok(Output { path: path.to_owned(), temporary, streamed })
    }

    /// Prepares to write a second file beside another one, also beside it while both have temporary names.
    pub fn create_beside(main: &Output, path: &Path, temporary: &Path) -> Result<Self> {
        let fail = |cause: &io::Error| Error::io(ErrorCode::CannotWrite, "write", path, cause);
        let name = temporary.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = temporary.parent().map(Path::to_owned).unwrap_or_default();
        let mut builder = tempfile::Builder::new();
        builder.prefix(&name).rand_bytes(0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(folder).map_err(|cause| fail(&cause))?;
        Ok(Output { path: path.to_owned(), temporary, streamed: main.streamed })
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is now.
    pub fn temporary_path(&self) -> &Path {
        self.temporary.path()
    }

    /// A writer that compresses as the name tells.
    pub(crate) fn encoder(&mut self) -> Result<Encoder> {
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", &self.path, &cause);
        let file = BufWriter::with_capacity(1 << 16, self.temporary.reopen().map_err(fail)?);
        Ok(match Compression::of(&self.path) {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => {
                Encoder::Gzip(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::new(6))))
            }
            Compression::Zstd => Encoder::Zstd(Box::new(zstd::Encoder::new(file, 3).map_err(fail)?)),
        })
    }

    /// Writes text as the whole content.
    pub fn write_all(&mut self, text: &[u8]) -> Result<()> {
        let path = self.path.clone();
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", &path, &cause);
        let mut encoder = self.encoder()?;
        encoder.write_all(text).map_err(fail)?;
        encoder.finish().map_err(fail)
    }

    /// Gives the file its name.
    pub fn publish(self) -> Result<()> {
        let fail = |cause: &io::Error| Error::io(ErrorCode::CannotWrite, "write", &self.path, cause);
        if !self.streamed {
            return match self.temporary.persist(&self.path) {
                Ok(_) => Ok(()),
                Err(error) => Err(Error::io(ErrorCode::CannotWrite, "write", &self.path, &error.error)),
            };
        }
        let mut source = self.temporary.reopen().map_err(|cause| fail(&cause))?;
        let copied = if is_standard(&self.path) {
            io::copy(&mut source, &mut io::stdout().lock()).and_then(|_| io::stdout().flush())
        } else {
            File::options()
                .write(true)
                .open(&self.path)
                .and_then(|mut device| io::copy(&mut source, &mut device).and_then(|_| device.flush()))
        };
        copied.map_err(|cause| fail(&cause))
    }
}

/// A writer that may compress.
pub(crate) enum Encoder {
    Plain(BufWriter<File>),
    Gzip(Box<flate2::write::GzEncoder<BufWriter<File>>>),
    Zstd(Box<zstd::Encoder<'static, BufWriter<File>>>),
}

impl Encoder {
    /// Ends the compressed stream and flushes, telling about a full disk while it still can.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Encoder::Plain(mut file) => file.flush(),
            Encoder::Gzip(encoder) => encoder.finish()?.flush(),
            Encoder::Zstd(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Write for Encoder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Encoder::Plain(file) => file.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(file) => file.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
        }
    }
}
