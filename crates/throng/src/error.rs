//! What can go wrong, in words a data steward can act on.
//!
//! An [`Error`] has a [`Fault`] (whose it is, which decides the exit code), one sentence, the place, and
//! a hint. The only cell value it may ever carry is the one at fault.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::words::shorten;

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault an error is; fronts turn it into an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A wrong argument, policy or table: exit code 2.
    Input,
    /// The input is fine but the requirement cannot be met or does not hold: exit code 1.
    Requirement,
    /// The caller asked to stop.
    Cancelled,
    /// A broken promise of ours.
    Bug,
}

/// Where an error is. Lines and columns count from 1; the column counts fields in tables and characters
/// in policies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it.
    pub file: Option<PathBuf>,
    /// The line.
    pub line: Option<u64>,
    /// The column.
    pub column: Option<u64>,
    /// The attribute (column name).
    pub attribute: Option<String>,
}

/// A piece of a policy that an error points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The whole text of the policy.
    pub source: String,
    /// The bytes at fault.
    pub span: Range<usize>,
    /// What is said below the marked bytes.
    pub label: String,
}

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    fault: Fault,
    message: String,
    place: Place,
    hint: Option<String>,
    excerpt: Option<Excerpt>,
}

impl Error {
    /// An error of the given fault.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Error(Box::new(Parts {
            fault,
            message: message.into(),
            place: Place::default(),
            hint: None,
            excerpt: None,
        }))
    }

    /// A mistake in the arguments, the policy or the table.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Fault::Input, message)
    }

    /// A requirement that cannot be met or does not hold.
    pub fn requirement(message: impl Into<String>) -> Self {
        Self::new(Fault::Requirement, message)
    }

    /// The caller asked to stop.
    pub fn cancelled() -> Self {
        Self::new(Fault::Cancelled, "stopped before the end; nothing was written")
    }

    /// A broken promise of this program.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(Fault::Bug, message).with_hint("this is a mistake in throng itself; please report it")
    }

    /// A failed file operation.
    pub fn io(action: &str, file: &Path, cause: &std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let hint = match cause.kind() {
            K::NotFound | K::NotADirectory => Some("check the path; the folder of an output must exist"),
            K::PermissionDenied => Some("check the permissions of the file and its folder"),
            K::StorageFull | K::QuotaExceeded => Some("free some space, or write to another disk"),
            _ => None,
        };
        let mut error = Self::input(format!("cannot {action}: {}", plain(cause))).in_file(file);
        error.0.hint = hint.map(str::to_owned);
        error
    }

    /// Says in which file.
    pub fn in_file(mut self, file: impl AsRef<Path>) -> Self {
        self.0.place.file.get_or_insert_with(|| file.as_ref().to_owned());
        self
    }

    /// Says on which line.
    pub fn on_line(mut self, line: u64) -> Self {
        self.0.place.line = Some(line);
        self
    }

    /// Says in which column.
    pub fn in_column(mut self, column: u64) -> Self {
        self.0.place.column = Some(column);
        self
    }

    /// Says for which attribute.
    pub fn for_attribute(mut self, name: impl Into<String>) -> Self {
        self.0.place.attribute = Some(name.into());
        self
    }

    /// Says what to do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Points at a piece of text.
    pub fn with_excerpt(mut self, excerpt: Excerpt) -> Self {
        let before = &excerpt.source[..excerpt.span.start.min(excerpt.source.len())];
        self.0.place.line = Some(before.matches('\n').count() as u64 + 1);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        self.0.place.column = Some(before[line_start..].chars().count() as u64 + 1);
        self.0.excerpt = Some(excerpt);
        self
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        self.0.fault
    }

    /// The sentence, without place and hint.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The piece of the policy it points at.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.0.excerpt.as_ref()
    }
}

/// The operating system's words without Rust's `(os error 13)`.
fn plain(cause: &std::io::Error) -> String {
    let text = cause.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_lowercase(),
        None => text,
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(file) = &self.file {
            parts.push(file.display().to_string());
        }
        if let Some(line) = self.line {
            parts.push(format!("line {line}"));
        }
        if let Some(column) = self.column {
            parts.push(format!("column {column}"));
        }
        if let Some(attribute) = &self.attribute {
            parts.push(format!("attribute \"{}\"", shorten(attribute)));
        }
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if self.0.place != Place::default() {
            write!(f, "\n  at {}", self.0.place)?;
        }
        if let Some(hint) = &self.0.hint {
            write!(f, "\n  help: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
