//! Hierarchy files: one line per leaf, `leaf;parent;…;*`, as ARX writes them.
//!
//! The delimiter is `;` if the first line has one outside quotes, else `,`. Cells are kept as they are,
//! spaces included, because the cells of the table are. Errors name this file and the line in it.

mod records;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use self::records::{Record, Records};
use super::Growing;
use crate::error::{Error, ErrorCode, Result};
use crate::keys::fields::Item;
use crate::keys::source::Source;
use crate::table::Tree;

/// Loads the hierarchy file that a policy names.
pub(super) fn load(source: Source<'_>, item: &Item<'_>, name: &str) -> Result<Tree> {
    if name.trim().is_empty() {
        return Err(source.error(
            ErrorCode::BadHierarchy,
            &item.span(),
            "the name of the hierarchy file is empty",
            "expected a file name",
        ));
    }
    let (path, bytes) = bytes(source, item, name)?;
    parse(&bytes).map_err(|error| error.in_file(&path))
}

/// The content of a file that a hierarchy names.
pub(super) fn bytes(source: Source<'_>, item: &Item<'_>, name: &str) -> Result<(PathBuf, Vec<u8>)> {
    let path = source.beside(name);
    let bytes = source.read(&path).map_err(|cause| unreadable(source, item, &path, &cause))?;
    Ok((path, bytes))
}

/// The records of such a file.
pub(super) fn records(bytes: &[u8]) -> Result<Records<'_>> {
    Ok(Records::new(decode(bytes)?))
}

/// Points at the policy, for it is the policy that names a file which cannot be read.
fn unreadable(source: Source<'_>, item: &Item<'_>, path: &Path, cause: &std::io::Error) -> Error {
    let reason =
        Error::io(ErrorCode::CannotRead, &format!("read the hierarchy {}", path.display()), path, cause);
    let hint = match cause.kind() {
        ErrorKind::NotFound => Some("relative names start at the folder of the policy"),
        _ => reason.hint(),
    };
    let error = source.error(reason.code(), &item.span(), reason.message(), "cannot be read");
    error.with_hint_if(hint)
}

/// Reads the content of a hierarchy file.
pub fn parse(bytes: &[u8]) -> Result<Tree> {
    let mut growing = Growing::new();
    let mut first: Option<(u64, usize)> = None;
    for record in Records::new(decode(bytes)?) {
        let record = record?;
        let (first_line, length) = *first.get_or_insert((record.line, record.cells.len()));
        check_length(&record, first_line, length)?;
        check_labels(&record)?;
        push(&mut growing, record)?;
    }
    if first.is_none() {
        return Err(Error::new(ErrorCode::BadHierarchy, "the hierarchy file is empty")
            .with_hint("write one line per value: value;group;*"));
    }
    growing.finish().map_err(|(error, line)| match line {
        Some(line) => error.on_line(line),
        None => error,
    })
}

fn decode(bytes: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let newlines = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count();
        Error::new(ErrorCode::NotUtf8, "the hierarchy file is not valid UTF-8")
            .on_line(newlines as u64 + 1)
            .with_hint("save the file with the encoding UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn check_length(record: &Record, first_line: u64, length: usize) -> Result<()> {
    let found = record.cells.len();
    if found == length {
        return Ok(());
    }
    let cells = if found == 1 { "cell" } else { "cells" };
    Err(Error::new(
        ErrorCode::BadHierarchy,
        format!("this line has {found} {cells}, but line {first_line} has {length}"),
    )
    .on_line(record.line)
    .with_hint(
        "all lines need the same number of cells; where a level is missing, repeat the label before it",
    ))
}

fn check_labels(record: &Record) -> Result<()> {
    match record.cells.iter().position(|cell| cell.trim().is_empty()) {
        Some(at) => Err(Error::new(ErrorCode::BadHierarchy, "an empty label in the hierarchy")
            .on_line(record.line)
            .in_column(at as u64 + 1)
            .with_hint("give each cell a label; where a level is missing, repeat the label before it")),
        None => Ok(()),
    }
}

fn push(growing: &mut Growing<u64>, record: Record) -> Result<()> {
    let leaf = record.cells.first().cloned().unwrap_or_default();
    growing.push(record.cells, record.line).map_err(|error| {
        let error = error.on_line(record.line);
        match growing.place(&leaf) {
            Some(before) => {
                error.with_hint(format!("it was first given on line {before}; remove one of the two lines"))
            }
            None => error,
        }
    })
}
