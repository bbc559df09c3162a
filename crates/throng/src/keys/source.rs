//! The text of a policy while it is read, so that every error can point into it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorCode, Excerpt};

/// Files that a policy names, where they were brought along: no others are read then.
pub type Brought = BTreeMap<PathBuf, Vec<u8>>;

/// A policy's text and where it came from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub text: &'a str,
    pub path: Option<&'a Path>,
    pub brought: Option<&'a Brought>,
}

impl Source<'_> {
    /// A mistake at a place in the policy.
    pub fn error(
        self,
        code: ErrorCode,
        span: &Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Error {
        self.point(Error::new(code, message), span, label)
    }

    /// Lets an error point at a place in the policy.
    pub fn point(self, error: Error, span: &Range<usize>, label: impl Into<String>) -> Error {
        point(error, self.text, self.path, span, label)
    }

    /// The last thing written, for what is missing altogether.
    pub fn end(self) -> Range<usize> {
        let end = self.text.trim_end().len();
        end..end
    }

    /// The bytes of a file that the policy names.
    pub fn read(self, path: &Path) -> std::io::Result<Vec<u8>> {
        match self.brought {
            None => std::fs::read(path),
            Some(brought) => brought.get(path).cloned().ok_or_else(|| std::io::ErrorKind::NotFound.into()),
        }
    }

    /// A file named in the policy: relative names start at the policy's folder.
    pub fn beside(self, file: &str) -> PathBuf {
        match self.path.and_then(Path::parent) {
            Some(folder) => folder.join(file),
            None => PathBuf::from(file),
        }
    }
}

/// Lets an error point at a piece of a policy's text.
pub(crate) fn point(
    error: Error,
    text: &str,
    path: Option<&Path>,
    span: &Range<usize>,
    label: impl Into<String>,
) -> Error {
    let error = match path {
        Some(path) => error.in_file(path),
        None => error.in_file("the policy"),
    };
    let start = char_boundary(text, span.start);
    let span = start..char_boundary(text, span.end).max(start);
    error.with_excerpt(Excerpt { source: text.to_owned(), span, label: label.into() })
}

/// The nearest place at or before `at` where a character begins: a syntax error may stop inside one.
fn char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
