//! The files of a table: one, several, a folder, or a pattern.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use arrow_schema::{DataType, Schema};

use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::format::Format;
use crate::scale::rows::changed;
use crate::table::source::is_standard;
use crate::table::{Reading, Table};

/// The files of a table, in the order in which they are read.
#[derive(Clone, Debug)]
pub struct Inputs {
    files: Vec<InputFile>,
}

#[derive(Clone, Debug)]
struct InputFile {
    path: PathBuf,
    seen: Seen,
}

/// By what a file that was replaced or written to is told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

/// Whether a name stands for more than one file, or for a folder.
pub fn is_many(path: &Path) -> bool {
    path.is_dir() || is_pattern(path)
}

fn is_pattern(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.contains(['*', '?']) && !path.exists()
}

impl Inputs {
    /// Finds the files that some names stand for. Files of a folder or pattern come in the order of their names; those whose
    /// names begin with `.` or `_` are no part of a table.
    pub fn find(names: &[PathBuf]) -> Result<Self> {
        let mut paths = Vec::new();
        for name in names {
            if is_standard(name) {
                return Err(Error::new(
                    ErrorCode::NeedsFileName,
                    "within a limit on memory a table is read twice, which standard input cannot be",
                )
                .with_hint("give the name of a file"));
            }
            match is_many(name) {
                false => paths.push(name.clone()),
                true => paths.extend(within(name)?),
            }
        }
        let files = paths.into_iter().map(InputFile::new).collect::<Result<Vec<_>>>()?;
        let inputs = Inputs { files };
        inputs.check_formats()?;
        Ok(inputs)
    }

    /// Where they are.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// The first of them.
    pub fn first(&self) -> &Path {
        self.files.first().map_or(Path::new(""), |file| &file.path)
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.seen.bytes).sum()
    }

    /// An error if one is not what it was when it was found.
    pub fn check_unchanged(&self) -> Result<()> {
        for file in &self.files {
            if Seen::of(&file.path)? != file.seen {
                return Err(changed().in_file(&file.path));
            }
        }
        Ok(())
    }

    /// Reads all files piece by piece. All must have the columns of the first.
    pub fn read(&self, reading: &Reading<'_>, take: &mut dyn FnMut(Table) -> Result<()>) -> Result<()> {
        let names: OnceLock<Vec<String>> = OnceLock::new();
        let mut types: Option<Vec<DataType>> = None;
        for file in &self.files {
            // Before the policy is asked about them: it is the file that is wrong then, not the policy.
            let plan = |own: &[String]| match names.get_or_init(|| own.to_vec()) == own {
                true => (reading.plan)(own),
                false => Err(other_columns().in_file(&file.path)),
            };
            Table::read_pieces(&file.path, &Reading { plan: &plan, ..*reading }, &mut |piece: Table| {
                let own = types_of(&piece);
                match *types.get_or_insert_with(|| own.clone()) == own {
                    true => take(piece),
                    false => Err(other_columns()),
                }
            })?;
        }
        Ok(())
    }

    fn check_formats(&self) -> Result<()> {
        let format = Format::of(self.first());
        let other = self.files.iter().find(|file| Format::of(&file.path).name != format.name);
        other.map_or(Ok(()), |file| {
            Err(Error::new(
                ErrorCode::BatchesDiffer,
                format!("the files of a table are of one format, but the first is {}", format.name),
            )
            .in_file(&file.path)
            .with_hint("give files of one format"))
        })
    }
}

fn types_of(piece: &Table) -> Vec<DataType> {
    let fields = piece.schema().into_iter().flat_map(Schema::fields);
    fields.map(|field| field.data_type().clone()).collect()
}

fn other_columns() -> Error {
    Error::new(ErrorCode::BatchesDiffer, "this file has other columns than the first")
        .with_hint("all files of a table have the same names and types of columns, in the same order")
}

impl InputFile {
    fn new(path: PathBuf) -> Result<Self> {
        let seen = Seen::of(&path)?;
        Ok(InputFile { path, seen })
    }
}

impl Seen {
    fn of(path: &Path) -> Result<Self> {
        let data = std::fs::metadata(path)
            .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", path, &cause))?;
        if !data.is_file() {
            return Err(Error::new(
                ErrorCode::NeedsFileName,
                "within a limit on memory a table is read twice, which only files can be",
            )
            .in_file(path)
            .with_hint("give the name of a file"));
        }
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&data);
        #[cfg(not(unix))]
        let inode = 0;
        Ok(Seen { bytes: data.len(), modified: data.modified().ok(), inode })
    }
}

/// The files that a folder or pattern stands for.
fn within(name: &Path) -> Result<Vec<PathBuf>> {
    let (folder, pattern) = match name.is_dir() {
        true => (name.to_owned(), "*".to_owned()),
        false => {
            let pattern =
                name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            (crate::release::folder_of(name), pattern)
        }
    };
    let entries = std::fs::read_dir(&folder)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", &folder, &cause))?;
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let own = entry.file_name().to_string_lossy().into_owned();
            !own.starts_with(['.', '_']) && matches(&pattern, &own) && entry.path().is_file()
        })
        .map(|entry| if folder == Path::new(".") { entry.file_name().into() } else { entry.path() })
        .collect();
    found.arrange();
    // Who names a folder has not seen each file: what is no table may be there by mistake, or hold what nobody meant to publish.
    if let Some(other) = found.iter().find(|path| name.is_dir() && !Format::is_told_by(path)) {
        return Err(Error::new(ErrorCode::BadUsage, "this folder holds a file that is no table")
            .in_file(other)
            .with_hint("name the files of the table by a pattern in quotes, such as 'folder/*.csv'"));
    }
    match found.is_empty() {
        false => Ok(found),
        true => Err(Error::new(ErrorCode::FileNotFound, "no file belongs to this table")
            .in_file(name)
            .with_hint("name a folder that holds files, or a pattern that some of them match")),
    }
}

/// Whether a name matches a pattern in which `*` stands for any letters and `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // For each length of the name, whether the pattern so far matches that much of it.
    let mut so_far = vec![false; name.len() + 1];
    so_far[0] = true;
    for own in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match own {
                '*' => so_far[at] || at > 0 && next[at - 1],
                '?' => at > 0 && so_far[at - 1],
                own => at > 0 && so_far[at - 1] && name[at - 1] == own,
            };
        }
        so_far = next;
    }
    so_far[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_those_of_shells_do() {
        let yes = [
            ("*", "a.csv"),
            ("*.csv", "a.csv"),
            ("part-?.csv", "part-1.csv"),
            ("a*c*e", "abcde"),
            ("a", "a"),
        ];
        let no = [
            ("*.csv", "a.parquet"),
            ("part-?.csv", "part-10.csv"),
            ("a*c*e", "abde"),
            ("", "a"),
            ("a?", "a"),
        ];
        assert!(yes.iter().all(|(pattern, name)| matches(pattern, name)));
        assert!(!no.iter().any(|(pattern, name)| matches(pattern, name)));
    }
}
