//! A folder for what does not fit into memory: for its owner alone, gone when the run ends, however it ends.
//!
//! The folder is locked while its run lives. A run that was killed leaves it unlocked, and the next one that needs a scratch in
//! the same place removes it. Between making a folder and locking it another run may take it for a left-over, so after locking we
//! look whether it is still there.

use std::fs::File;
use std::io;
use std::path::Path;

use super::leftover;
use crate::error::{Error, ErrorCode, Result};

/// A folder that is removed with all it holds when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    /// The folder itself, locked, so that no other run takes it for a left-over; nothing where folders cannot be.
    _lock: Option<File>,
    /// How many folders of killed runs were removed.
    removed: usize,
}

const SUFFIX: &str = ".scratch";

impl Scratch {
    /// Makes one within a folder.
    pub fn create(within: &Path) -> Result<Self> {
        let fail =
            |cause: io::Error| Error::io(ErrorCode::CannotWrite, "write scratch files", within, &cause);
        let removed = sweep(within);
        let mut builder = tempfile::Builder::new();
        builder.prefix(leftover::PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        for _ in 0..leftover::TRIES {
            let folder = builder.tempdir_in(within).map_err(fail)?;
            let lock = locked(folder.path()).map_err(fail)?;
            // Elsewhere a folder cannot be opened as a file is, and nothing is removed either.
            if lock.is_some() || !cfg!(unix) {
                return Ok(Scratch { folder, _lock: lock, removed });
            }
        }
        Err(fail(leftover::taken()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// How many folders of runs that were killed were removed when it was made.
    pub fn removed(&self) -> usize {
        self.removed
    }
}

/// A folder of ours, locked; nothing if another run has taken it.
fn locked(folder: &Path) -> io::Result<Option<File>> {
    match File::open(folder) {
        Ok(lock) => Ok((leftover::hold(&lock) && folder.exists()).then_some(lock)),
        Err(cause) if cfg!(unix) && cause.kind() != io::ErrorKind::NotFound => Err(cause),
        Err(_) => Ok(None),
    }
}

/// Removes the scratch folders that killed runs have left. Tells how many.
fn sweep(within: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(within) else { return 0 };
    entries.flatten().filter(|entry| is_scratch(&entry.path()) && remove(&entry.path())).count()
}

/// Removes a folder unless its run lives. Nobody can lock it meanwhile.
fn remove(folder: &Path) -> bool {
    let Ok(lock) = File::open(folder) else { return false };
    cfg!(unix) && lock.try_lock().is_ok() && std::fs::remove_dir_all(folder).is_ok()
}

fn is_scratch(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.starts_with(leftover::PREFIX) && name.ends_with(SUFFIX) && path.is_dir()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_scratch_is_for_its_owner_and_goes_with_its_run() {
        let within = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(within.path()).unwrap();
        let path = scratch.path().to_owned();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        std::fs::write(path.join("rows"), "x").unwrap();
        // One whose run lives is left alone by others.
        assert_eq!(Scratch::create(within.path()).unwrap().removed(), 0);
        assert!(path.join("rows").exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    #[cfg(unix)]
    fn what_a_killed_run_left_is_removed_and_told() {
        let within = tempfile::tempdir().unwrap();
        let left = within.path().join(".throng-abcdef.scratch");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("rows"), "x").unwrap();
        let other = within.path().join(".throng-mine");
        std::fs::create_dir(&other).unwrap();
        let scratch = Scratch::create(within.path()).unwrap();
        assert_eq!(scratch.removed(), 1);
        assert!(!left.exists() && other.exists());
    }
}
