//! A folder for what does not fit into memory: for its owner alone, gone when the run ends, however it ends.
//!
//! The folder holds a file that is locked while its run lives. A run that was killed leaves it unlocked, and the next one that
//! needs a scratch in the same place removes it.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::leftover;
use crate::error::{Error, ErrorCode, Result};

/// A folder that is removed with all it holds when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    /// Locked, so that no other run takes the folder for a left-over.
    _lock: File,
    /// How many folders of killed runs were removed.
    removed: usize,
}

const SUFFIX: &str = ".scratch";
const LOCK: &str = "lock";

impl Scratch {
    /// Makes one within a folder.
    pub fn create(within: &Path) -> Result<Self> {
        let fail =
            |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write scratch files", within, &cause);
        let removed = sweep(within);
        let mut builder = tempfile::Builder::new();
        builder.prefix(leftover::PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let folder = builder.tempdir_in(within).map_err(fail)?;
        let lock = File::create(folder.path().join(LOCK)).map_err(fail)?;
        match leftover::hold(&lock) {
            true => Ok(Scratch { folder, _lock: lock, removed }),
            false => Err(Error::bug("the scratch of this run belongs to another")),
        }
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

/// Removes the scratch folders that killed runs have left. Tells how many.
fn sweep(within: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(within) else { return 0 };
    let left: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_left(path)).collect();
    left.iter().filter(|path| std::fs::remove_dir_all(path).is_ok()).count()
}

/// Whether a folder is the scratch of a run that has ended. One without a lock was killed before it had one, or makes it at
/// this moment: it is left alone while it is young.
fn is_left(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if !cfg!(unix) || !name.starts_with(leftover::PREFIX) || !name.ends_with(SUFFIX) || !path.is_dir() {
        return false;
    }
    match File::open(path.join(LOCK)) {
        Ok(file) => file.try_lock().is_ok(),
        Err(_) => {
            let made = path.metadata().and_then(|data| data.modified()).ok();
            made.and_then(|made| made.elapsed().ok()).is_some_and(|age| age.as_secs() > 60)
        }
    }
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
        std::fs::write(left.join(LOCK), "").unwrap();
        let other = within.path().join(".throng-mine");
        std::fs::create_dir(&other).unwrap();
        let scratch = Scratch::create(within.path()).unwrap();
        assert_eq!(scratch.removed(), 1);
        assert!(!left.exists() && other.exists());
    }
}
