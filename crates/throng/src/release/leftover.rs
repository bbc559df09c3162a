//! Temporary files: locked while their run lives, removed by the next run in the folder if it was killed.
//!
//! A file that can be locked has no run any more. Between making a file and locking it another run may take it for a
//! left-over, so after locking we look whether it is still there.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// What the names of temporary files start with; random letters and the name that the file will have follow.
pub(super) const PREFIX: &str = ".throng-";
const RANDOM: usize = 6;
/// The same for releases of a series: a run that was killed while it published one is understood from where the file is,
/// so that nobody but the next run of a series may remove it.
pub(super) const STAGED: &str = ".throng-staged-";
/// How often a file is made again that another run took for a left-over.
pub(super) const TRIES: usize = 20;

/// Makes a file that only its owner may read.
pub(super) fn make(builder: &Builder<'_, '_>, folder: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..TRIES {
        let file = builder.tempfile_in(folder)?;
        if hold(file.as_file()) && file.path().exists() {
            return Ok(file);
        }
    }
    Err(taken())
}

/// What is told if others were faster every time.
pub(super) fn taken() -> io::Error {
    io::Error::other("another run removes our files")
}

/// Locks a file until it is closed; where files cannot be locked nothing is removed either.
pub(super) fn hold(file: &File) -> bool {
    !cfg!(unix) || !matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock))
}

/// Removes what killed runs have left in a folder.
pub(super) fn sweep(folder: &Path) {
    remove(folder, is_temporary);
}

/// Removes what killed runs of a series have left in a folder.
pub(super) fn sweep_staged(folder: &Path) {
    remove(folder, |name| name.starts_with(STAGED));
}

fn remove(folder: &Path, is_ours: fn(&str) -> bool) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let left = is_ours(&entry.file_name().to_string_lossy())
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        let Ok(file) = File::open(entry.path()) else { continue };
        // It stays locked until it is gone, so that its run, which has only just made it, sees that it was taken.
        if left && cfg!(unix) && file.try_lock().is_ok() {
            // Somebody else may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let Some((random, rest)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_at_checked(RANDOM))
    else {
        return false;
    };
    random.bytes().all(|byte| byte.is_ascii_alphanumeric()) && rest.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_a_series_are_left_to_the_next_run_of_a_series() {
        assert!(is_temporary(".throng-a1B2c3.release.csv"));
        assert!(!is_temporary(&format!("{STAGED}a1B2c3.release.csv")));
        assert!(!is_temporary("throng.toml") && !is_temporary(".throng-notes"));
    }
}
