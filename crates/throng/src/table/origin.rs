//! Where a table came from, for messages.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where a table came from: a file, or memory under a name that a reader of messages understands.
///
/// ```
/// use throng::table::Origin;
/// assert_eq!(Origin::file("people.csv").to_string(), "people.csv");
/// assert_eq!(Origin::memory("the table").path(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, or `-`.
    File(PathBuf),
    /// Memory; the name is for people.
    Memory(String),
}

impl Origin {
    /// A file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Origin::File(path.into())
    }

    /// Memory, called by a name that people understand.
    pub fn memory(name: impl Into<String>) -> Self {
        Origin::Memory(name.into())
    }

    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => Some(path),
            Origin::Memory(_) => None,
        }
    }
}

/// What errors give as their place.
impl AsRef<Path> for Origin {
    fn as_ref(&self) -> &Path {
        match self {
            Origin::File(path) => path,
            Origin::Memory(name) => Path::new(name),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().display().fmt(formatter)
    }
}
