//! The text of a policy while it is read, so that every error can point into it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::point;
use crate::error::{Error, did_you_mean};

/// A policy's text and where it came from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub text: &'a str,
    pub path: Option<&'a Path>,
}

impl Source<'_> {
    /// A mistake at a place in the policy.
    pub fn error(self, span: &Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Error {
        self.point(Error::input(message), span, label)
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

    /// A file named in the policy: relative names start at the policy's folder.
    pub fn beside(self, file: &str) -> PathBuf {
        match self.path.and_then(Path::parent) {
            Some(folder) => folder.join(file),
            None => PathBuf::from(file),
        }
    }
}

/// `"a", "b" or "c"`.
pub(super) fn alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A hint that starts with the name that was probably meant.
pub(super) fn suggest(written: &str, names: &[&str], otherwise: &str) -> String {
    match did_you_mean(written, names.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"? {otherwise}").trim_end().to_owned(),
        None => otherwise.to_owned(),
    }
}
