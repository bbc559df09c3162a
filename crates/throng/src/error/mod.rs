//! What can go wrong, in words a data steward can act on.
//!
//! An [`Error`] has a [`ErrorCode`] for programs, whose [`Fault`] (whose it is) decides the exit code, one sentence, the
//! place, and a hint. Nothing may match the sentence: it may be worded anew in any version. The only cell value an
//! error may ever carry is the one at fault.

mod code;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use code::ErrorCode;
use serde::Serialize;

use crate::words::shorten;

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault an error is; fronts turn it into an exit code.
///
/// ```
/// use throng::{ErrorCode, Fault};
/// assert_eq!(ErrorCode::KExceedsTable.fault(), Fault::Requirement);
/// assert_eq!(Fault::Requirement.exit_code(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A wrong argument, policy or table: exit code 2.
    Input,
    /// The input is fine but the requirement cannot be met or does not hold: exit code 1.
    Requirement,
    /// The caller asked to stop: exit code 130.
    Cancelled,
    /// A broken promise of ours: exit code 70.
    Bug,
}

impl Fault {
    /// The exit code of a command that ends with it.
    pub fn exit_code(self) -> u8 {
        match self {
            Fault::Requirement => 1,
            Fault::Input => 2,
            Fault::Bug => 70,
            Fault::Cancelled => 130,
        }
    }
}

/// Where an error is. Lines and columns count from 1; the column counts fields in tables and characters
/// in policies.
///
/// ```
/// use throng::Policy;
/// let error = Policy::parse("[privacy]\nk = 0\n", None).unwrap_err();
/// assert_eq!((error.place().line, error.place().column), (Some(2), Some(5)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The file, as the user named it.
    #[serde(serialize_with = "as_shown")]
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
///
/// ```
/// use throng::{ErrorCode, Policy};
/// let error = Policy::builder().k(2).build().unwrap_err();
/// assert_eq!(error.code(), ErrorCode::NoQuasi);
/// assert!(error.hint().is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    code: ErrorCode,
    message: String,
    place: Place,
    hint: Option<String>,
    excerpt: Option<Excerpt>,
    /// Which value of a structured file is at fault, for whoever has the text and can tell its line.
    value: Option<String>,
    /// The key of a requirement and the most that could be asked, as people write it.
    reachable: Option<(&'static str, String)>,
}

impl Error {
    /// An error; the code says whose fault it is.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Error(Box::new(Parts {
            code,
            message: message.into(),
            place: Place::default(),
            hint: None,
            excerpt: None,
            value: None,
            reachable: None,
        }))
    }

    /// The caller asked to stop.
    pub fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "stopped before the end; nothing was written")
    }

    /// A broken promise of this program.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Bug, message).with_hint("this is a mistake in throng itself; please report it")
    }

    /// A failed file operation; `otherwise` is its code where the system gives no better reason.
    pub fn io(otherwise: ErrorCode, action: &str, file: &Path, cause: &std::io::Error) -> Self {
        use std::io::ErrorKind as K;
        let (code, hint) = match cause.kind() {
            K::NotFound | K::NotADirectory => {
                (ErrorCode::FileNotFound, Some("check the path; the folder of an output must exist"))
            }
            K::PermissionDenied => {
                (ErrorCode::PermissionDenied, Some("check the permissions of the file and its folder"))
            }
            K::StorageFull | K::QuotaExceeded => {
                (ErrorCode::DiskFull, Some("free some space, or write to another disk"))
            }
            _ => (otherwise, None),
        };
        let mut error = Self::new(code, format!("cannot {action}: {}", plain(cause))).in_file(file);
        error.0.hint = hint.map(str::to_owned);
        error
    }

    /// Puts words before the sentence, such as which of several queries it is about.
    pub(crate) fn preceded_by(mut self, words: impl fmt::Display) -> Self {
        self.0.message = format!("{words}{}", self.0.message);
        self
    }

    /// Puts words after the sentence.
    pub(crate) fn followed_by(mut self, words: impl fmt::Display) -> Self {
        self.0.message += &words.to_string();
        self
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

    /// Says which value of a structured file is at fault, such as `attributes.age.cells[2]`.
    pub(crate) fn of_value(mut self, path: &str) -> Self {
        self.0.value = Some(path.to_owned());
        self
    }

    /// Which value of a structured file is at fault.
    pub(crate) fn value(&self) -> Option<&str> {
        self.0.value.as_deref()
    }

    /// Says what to do about it.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says what to do about it, where something is known.
    pub(crate) fn with_hint_if(mut self, hint: Option<impl Into<String>>) -> Self {
        self.0.hint = hint.map(Into::into).or(self.0.hint);
        self
    }

    /// Without the place in a text, for texts that nobody has seen.
    pub(crate) fn without_text(mut self) -> Self {
        self.0.place = Place { attribute: self.0.place.attribute, ..Place::default() };
        self.0.excerpt = None;
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

    /// Says what could be asked for instead.
    pub(crate) fn reaching(mut self, key: &'static str, most: impl fmt::Display) -> Self {
        self.0.reachable = Some((key, most.to_string()));
        self
    }

    /// What could be asked for instead, where that is known: a key of `[privacy]` and its value.
    pub fn reachable(&self) -> Option<(&'static str, &str)> {
        self.0.reachable.as_ref().map(|(key, most)| (*key, most.as_str()))
    }

    /// What went wrong, for programs.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        self.0.code.fault()
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

/// `{"code", "message", "hint", "place"}`; `hint` is null where there is none, `place` has `file`, `line`, `column`
/// and `attribute`, each null where unknown.
impl Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Error", 4)?;
        fields.serialize_field("code", &self.0.code)?;
        fields.serialize_field("message", &self.0.message)?;
        fields.serialize_field("hint", &self.0.hint)?;
        fields.serialize_field("place", &self.0.place)?;
        fields.end()
    }
}

/// A path as people see it: one that is no text must not make an error unprintable.
fn as_shown<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.display().to_string()).serialize(serializer)
}
