//! The one place that decides what may be written.
//!
//! No output of a run may be one of its inputs or another of its outputs, however the names are spelt: files are compared by
//! what they are, through links and relative names. Two outputs whose names differ in case alone are one file on many
//! disks, so they count as the same.

use std::path::{Path, PathBuf};

use super::Output;
use super::output::follow;
use crate::error::{Error, ErrorCode, Result};
use crate::policy::Policy;
use crate::table::source::is_standard;

/// What a run reads and writes. Inputs are named first.
#[derive(Clone, Debug, Default)]
pub struct Files {
    inputs: Vec<Known>,
    outputs: Vec<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    /// What it is in messages, such as "the table".
    what: String,
    /// Device and number of a file that exists.
    inode: Option<(u64, u64)>,
    /// The folder and the name, links followed; nothing for devices.
    place: Option<(PathBuf, String)>,
    standard: bool,
}

impl Files {
    /// Says that the run reads a file. Standard input and what does not exist cannot be overwritten.
    pub fn read(&mut self, what: &str, path: &Path) {
        if !is_standard(path) {
            self.inputs.push(Known::new(what, path));
        }
    }

    /// The same, once outputs were claimed; an error if one of them would destroy it.
    pub fn read_too(&mut self, what: &str, path: &Path) -> Result<()> {
        let own = Known::new(what, path);
        if let Some(output) = self.outputs.iter().find(|output| output.is(&own) && !own.standard) {
            return Err(Error::new(
                ErrorCode::WouldOverwrite,
                format!("{} would overwrite {what}", output.what),
            )
            .in_file(path)
            .with_hint("give it another name"));
        }
        self.read(what, path);
        Ok(())
    }

    /// Says that the run reads a policy, and with it the files that the policy names.
    pub fn read_policy(&mut self, policy: &Policy) {
        if let Some(path) = &policy.path {
            self.read("the policy", path);
        }
        for path in policy.files() {
            self.read("a file that the policy names", &path);
        }
    }

    /// Says that the run writes a file; an error if that would destroy something.
    pub fn claim(&mut self, what: &str, path: &Path) -> Result<()> {
        let own = Known::new(what, path);
        if let Some(input) = self.inputs.iter().find(|input| input.is(&own)) {
            return Err(Error::new(
                ErrorCode::WouldOverwrite,
                format!("{what} would overwrite {}", input.what),
            )
            .in_file(path)
            .with_hint("give it another name"));
        }
        if let Some(other) = self.outputs.iter().find(|other| other.is(&own) || other.is_nearly(&own)) {
            return Err(Error::new(
                ErrorCode::WouldOverwrite,
                format!("{what} would overwrite {}: both have this name", other.what),
            )
            .in_file(path)
            .with_hint("give one of them another name"));
        }
        self.outputs.push(own);
        Ok(())
    }

    /// Says that the run goes on with a file of its own: reads it and writes it anew. Nothing else may be that file.
    pub fn keep(&mut self, what: &str, path: &Path) -> Result<()> {
        if is_standard(path) {
            return Err(Error::new(
                ErrorCode::NeedsFileName,
                format!("{what} cannot be standard input or output"),
            )
            .with_hint("give the name of a file"));
        }
        self.claim(what, path)
    }

    /// Claims a file and opens it under a temporary name.
    pub fn create(&mut self, what: &str, path: &Path) -> Result<Output> {
        self.claim(what, path)?;
        Output::create(path)
    }
}

impl Known {
    fn new(what: &str, path: &Path) -> Self {
        let standard = is_standard(path);
        let data = std::fs::metadata(path).ok().filter(|_| !standard);
        let special = standard || data.as_ref().is_some_and(|data| !data.is_file());
        let inode = data.filter(|_| !special).and_then(|data| inode(&data));
        let place = if special { None } else { place(path) };
        Known { what: what.to_owned(), inode, place, standard }
    }

    fn is(&self, other: &Known) -> bool {
        self.inode.is_some() && self.inode == other.inode
            || self.place.is_some() && self.place == other.place
            || self.standard && other.standard
    }

    /// Whether two names differ in case alone, and not because both exist and are different files.
    fn is_nearly(&self, other: &Known) -> bool {
        let (Some((folder, name)), Some((of_other, name_of_other))) = (&self.place, &other.place) else {
            return false;
        };
        let known = self.inode.is_some() && other.inode.is_some();
        !known && folder == of_other && name.to_lowercase() == name_of_other.to_lowercase()
    }
}

#[cfg(unix)]
fn inode(data: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    None
}

fn place(path: &Path) -> Option<(PathBuf, String)> {
    let path = follow(path);
    let name = path.file_name()?.to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some((folder.canonicalize().ok()?, name))
}
