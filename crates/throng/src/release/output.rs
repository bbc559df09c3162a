//! Output files that appear complete or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Scratch, leftover};
use crate::error::{Error, ErrorCode, Result};
use crate::table::source::{Compression, is_standard};

/// The name of a folder while it is made.
const FOLDER: &str = "release";

/// A file being written under a temporary name, readable by its owner alone. Dropping it removes it; [`Output::publish`] and
/// [`publish_all`] give it its name.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    temporary: NamedTempFile,
    /// Standard output and devices cannot be renamed to: they get a copy in the end.
    streamed: bool,
    /// Whether nobody but its owner may ever read it.
    private: bool,
    /// Where it is a folder of files, the place in which that is made.
    folder: Option<Scratch>,
}

impl Output {
    /// Prepares to write to a path; `-` is standard output. [`Files`](super::Files) knows whether that may be.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_as(path, leftover::PREFIX)
    }

    /// The same for a release of a series, which only the next run of a series removes if this one is killed. What earlier
    /// ones left is removed: whoever calls this has understood it.
    pub(crate) fn create_staged(path: &Path) -> Result<Self> {
        leftover::sweep_staged(&folder_of(&follow(path)));
        Self::create_as(path, leftover::STAGED)
    }

    fn create_as(path: &Path, prefix: &str) -> Result<Self> {
        let existing = std::fs::metadata(path).ok().filter(|_| !is_standard(path));
        if existing.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            return Err(Error::new(ErrorCode::IsAFolder, "cannot write: this is a folder")
                .in_file(path)
                .with_hint("name a file"));
        }
        let device = existing.as_ref().is_some_and(|data| !data.is_file());
        let streamed = is_standard(path) || device;
        if !streamed && existing.is_some_and(|data| data.permissions().readonly()) {
            return Err(Error::new(
                ErrorCode::PermissionDenied,
                "cannot write: this file is write-protected",
            )
            .in_file(path)
            .with_hint("name another file, or allow writing to it"));
        }
        let folder = if streamed { std::env::temp_dir() } else { folder_of(&follow(path)) };
        leftover::sweep(&folder);
        // The name's ending tells the format when the audit reads the file back.
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let suffix = format!(".{}", name.trim_start_matches('.'));
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(&suffix);
        let temporary = leftover::make(&builder, &folder)
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))?;
        Ok(Output { path: path.to_owned(), temporary, streamed, private: false, folder: None })
    }

    /// Prepares to write a second file beside another one, also beside it while both have temporary names.
    pub fn create_beside(main: &Output, path: &Path, temporary: &Path) -> Result<Self> {
        let name = temporary.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = temporary.parent().map(Path::to_owned).unwrap_or_default();
        let mut builder = tempfile::Builder::new();
        builder.prefix(&name).rand_bytes(0);
        let temporary = leftover::make(&builder, &folder)
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))?;
        Ok(Output { path: path.to_owned(), temporary, streamed: main.streamed, private: false, folder: None })
    }

    /// Prepares to write a folder of files, which appears whole or not at all. What is there already is not replaced.
    pub fn create_folder(path: &Path) -> Result<Self> {
        if path.exists() {
            return Err(Error::new(ErrorCode::FileExists, "this folder exists already and is not replaced")
                .in_file(path)
                .with_hint("name another folder, or remove it"));
        }
        let beside = folder_of(&follow(path));
        leftover::sweep(&beside);
        let scratch = Scratch::create(&beside)?;
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", path, &cause);
        std::fs::create_dir(scratch.path().join(FOLDER)).map_err(fail)?;
        let temporary = tempfile::Builder::new().tempfile_in(scratch.path()).map_err(fail)?;
        Ok(Output {
            path: path.to_owned(),
            temporary,
            streamed: false,
            private: false,
            folder: Some(scratch),
        })
    }

    /// The folder in which its files are made, if it is a folder.
    pub(crate) fn files_in(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|scratch| scratch.path().join(FOLDER))
    }

    /// How many scratch folders of killed runs were removed when it was made.
    pub(crate) fn removed(&self) -> usize {
        self.folder.as_ref().map_or(0, Scratch::removed)
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
        Encoder::new(self.temporary.reopen().map_err(fail)?, &self.path).map_err(fail)
    }

    /// Writes text as the whole content.
    pub fn write_all(&mut self, text: &[u8]) -> Result<()> {
        let path = self.path.clone();
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", &path, &cause);
        let mut encoder = self.encoder()?;
        encoder.write_all(text).map_err(fail)?;
        encoder.finish().map_err(fail)
    }

    /// Bytes that nobody but the owner of the file may ever read, as they are and on the disk before this returns.
    pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> Result<Self> {
        let output = Output { private: true, ..Output::create(path)? };
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", path, &cause);
        let mut file = output.temporary.as_file();
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(fail)?;
        Ok(output)
    }

    /// Whether what is written goes to standard output or a device, from where nothing can be taken back.
    pub(crate) fn is_streamed(&self) -> bool {
        self.streamed
    }

    /// Gives the file its name.
    pub fn publish(self) -> Result<()> {
        publish_all(vec![self])
    }

    /// Lets those read it who could read the file that it replaces, or any new file.
    fn settle(&self) -> Result<()> {
        if self.private || self.folder.is_some() {
            // That is how it was made.
            return Ok(());
        }
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", &self.path, &cause);
        let permissions = match std::fs::metadata(&self.path) {
            Ok(existing) => existing.permissions(),
            Err(_) => usual_permissions(&folder_of(self.temporary_path())).map_err(fail)?,
        };
        std::fs::set_permissions(self.temporary_path(), permissions).map_err(fail)
    }

    /// Copies the file to standard output or a device.
    fn stream(&self) -> Result<()> {
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", &self.path, &cause);
        let mut source = self.temporary.reopen().map_err(fail)?;
        if is_standard(&self.path) {
            return io::copy(&mut source, &mut io::stdout().lock())
                .and_then(|_| io::stdout().flush())
                .map_err(fail);
        }
        let mut device = File::options().write(true).open(&self.path).map_err(fail)?;
        io::copy(&mut source, &mut device).and_then(|_| device.flush()).map_err(fail)
    }
}

/// Gives files their names, all of them or none: what a name stood for before comes back if a later one fails. What goes to
/// standard output and devices, which cannot be taken back, goes last.
pub fn publish_all(outputs: Vec<Output>) -> Result<()> {
    let (streams, files): (Vec<Output>, Vec<Output>) =
        outputs.into_iter().partition(|output| output.streamed);
    files.iter().try_for_each(Output::settle)?;
    let mut placed = Placed(Vec::new());
    for file in files {
        placed.place(file)?;
    }
    streams.iter().try_for_each(Output::stream)?;
    placed.0.clear();
    Ok(())
}

/// Files that have their names, and what these stood for before. Dropping it takes the files back.
struct Placed(Vec<(PathBuf, Option<Kept>)>);

/// A second name of a file, for as long as it may be needed.
struct Kept {
    path: tempfile::TempPath,
    /// Locked, so that another run does not take it for a left-over.
    _file: File,
}

impl Placed {
    fn place(&mut self, output: Output) -> Result<()> {
        let fail = |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write", &output.path, &cause);
        let target = follow(&output.path);
        if let Some(made) = output.files_in() {
            std::fs::rename(made, &target).map_err(fail)?;
            self.0.push((target, None));
            return Ok(());
        }
        let before = if target.exists() { Some(Kept::of(&target).map_err(fail)?) } else { None };
        output
            .temporary
            .persist(&target)
            .map_err(|error| Error::io(ErrorCode::CannotWrite, "write", &output.path, &error.error))?;
        self.0.push((target, before));
        Ok(())
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        for (target, before) in self.0.drain(..).rev() {
            // An error has been told already; more cannot be done.
            let _ = match before {
                Some(kept) => kept.path.persist(&target).map_err(|error| error.error),
                None if target.is_dir() => std::fs::remove_dir_all(&target),
                None => std::fs::remove_file(&target),
            };
        }
    }
}

impl Kept {
    fn of(target: &Path) -> io::Result<Self> {
        let path = tempfile::Builder::new()
            .prefix(leftover::PREFIX)
            .suffix(".before")
            .tempfile_in(folder_of(target))?
            .into_temp_path();
        std::fs::remove_file(&path)?;
        // Some disks know no second names.
        std::fs::hard_link(target, &path).or_else(|_| std::fs::copy(target, &path).map(|_| ()))?;
        let file = File::open(&path)?;
        leftover::hold(&file);
        Ok(Kept { path, _file: file })
    }
}

/// Where a name leads: what a link points at, existing or not.
pub(super) fn follow(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = path.canonicalize() {
            return found;
        }
        match std::fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return path,
        }
    }
    path
}

pub(crate) fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// What any new file in a folder may be done with: the system decides, so we make one and look.
fn usual_permissions(folder: &Path) -> io::Result<std::fs::Permissions> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(leftover::PREFIX).suffix(".probe");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    leftover::make(&builder, folder)?.as_file().metadata().map(|data| data.permissions())
}

/// A writer that may compress.
pub(crate) enum Encoder {
    Plain(BufWriter<File>),
    Gzip(Box<flate2::write::GzEncoder<BufWriter<File>>>),
    Zstd(Box<zstd::Encoder<'static, BufWriter<File>>>),
}

impl Encoder {
    /// Into a file, compressed as a name tells.
    pub fn new(file: File, name: &Path) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(match Compression::of(name) {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => {
                Encoder::Gzip(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::new(6))))
            }
            Compression::Zstd => Encoder::Zstd(Box::new(zstd::Encoder::new(file, 3)?)),
        })
    }

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
