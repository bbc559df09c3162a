//! The project folder: no name leads out of it, neither by `..` nor by links.

use std::path::{Component, Path, PathBuf};

use throng::{Error, ErrorCode, Result};

/// A folder, links followed.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// Tables that are listed at most.
const MOST_LISTED: usize = 200;
/// How deep tables are looked for.
const DEEPEST: usize = 3;

impl Folder {
    /// A folder that exists.
    pub fn open(path: &Path) -> Result<Self> {
        let real = path
            .canonicalize()
            .map_err(|cause| Error::io(ErrorCode::CannotRead, "open the folder", path, &cause))?;
        match real.is_dir() {
            true => Ok(Folder(real)),
            false => Err(Error::new(ErrorCode::BadUsage, "this is not a folder").in_file(path)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file below it that exists.
    pub fn existing(&self, name: &str) -> Result<PathBuf> {
        let path = self.0.join(plain(name)?);
        let real = path
            .canonicalize()
            .map_err(|cause| Error::io(ErrorCode::CannotRead, "open", Path::new(name), &cause))?;
        if !real.starts_with(&self.0) {
            return Err(outside(name));
        }
        match real.is_file() {
            true => Ok(real),
            false => Err(Error::new(ErrorCode::IsAFolder, "this is not a file").in_file(name)),
        }
    }

    /// A name below it to write to; its folder exists.
    pub fn to_write(&self, name: &str) -> Result<PathBuf> {
        let path = self.0.join(plain(name)?);
        if let Ok(real) = path.canonicalize()
            && !real.starts_with(&self.0)
        {
            return Err(outside(name));
        }
        let (Some(parent), Some(file)) = (path.parent(), path.file_name()) else { return Err(outside(name)) };
        if file.to_string_lossy().starts_with('.') {
            return Err(
                Error::new(ErrorCode::BadValue, "the name begins with a dot").with_hint("name it otherwise")
            );
        }
        let real = parent
            .canonicalize()
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", Path::new(name), &cause))?;
        match real.starts_with(&self.0) {
            true => Ok(real.join(file)),
            false => Err(outside(name)),
        }
    }

    /// The name of a file below it, as people write it.
    pub fn name_of(&self, path: &Path) -> Result<String> {
        let real =
            path.canonicalize().map_err(|cause| Error::io(ErrorCode::CannotRead, "open", path, &cause))?;
        let inside = real.strip_prefix(&self.0).map_err(|_| {
            outside(&path.display().to_string())
                .with_hint("start the studio in the folder of the file: cd there first")
        })?;
        match inside.to_str() {
            Some(name) => Ok(name.replace('\\', "/")),
            None => Err(Error::new(ErrorCode::BadValue, "the name of this file is not UTF-8")
                .in_file(path)
                .with_hint("rename it")),
        }
    }

    /// The tables below it: name and bytes.
    pub fn tables(&self) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        self.walk(&self.0, 0, &mut found);
        found.sort();
        found
    }

    fn walk(&self, folder: &Path, depth: usize, found: &mut Vec<(String, u64)>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "hierarchies" || found.len() >= MOST_LISTED {
                continue;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEEPEST => self.walk(&path, depth + 1, found),
                Ok(kind) if kind.is_file() && is_table(&name) => {
                    let inside = path.strip_prefix(&self.0).ok().and_then(Path::to_str);
                    let size = entry.metadata().map_or(0, |data| data.len());
                    found.extend(inside.map(|inside| (inside.replace('\\', "/"), size)));
                }
                _ => {}
            }
        }
    }
}

/// A relative name without `..`.
fn plain(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    match inside && !name.trim().is_empty() && !name.contains(['\0', '\n', '\r']) {
        true => Ok(path),
        false => Err(outside(name)),
    }
}

fn outside(name: &str) -> Error {
    Error::new(ErrorCode::PermissionDenied, "only files below the folder of the studio can be used here")
        .in_file(name)
        .with_hint("copy the file into the folder in which the studio was started")
}

/// Whether a name ends like that of a table.
pub fn is_table(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    throng::format::FORMATS.iter().any(|format| format.endings.contains(&ending)) || ending == "csv"
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("project");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(outer.path().join("secret.csv"), "a\n1\n").unwrap();
        std::fs::write(inner.join("own.csv"), "a\n1\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outer.path().join("secret.csv"), inner.join("link.csv")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outer.path(), inner.join("up")).unwrap();
        let folder = Folder::open(&inner).unwrap();
        assert!(folder.existing("own.csv").is_ok() && folder.existing("./own.csv").is_ok());
        let absolute = outer.path().join("secret.csv");
        for bad in ["../secret.csv", "link.csv", "up/secret.csv", absolute.to_str().unwrap(), "", "a\0b", "."]
        {
            assert!(folder.existing(bad).is_err(), "{bad}");
        }
        for bad in ["../new.csv", "up/new.csv", "link.csv", "/tmp/new.csv", ".hidden", "no/such/folder.csv"] {
            assert!(folder.to_write(bad).is_err(), "{bad}");
        }
        assert!(folder.to_write("new.csv").is_ok());
        assert_eq!(folder.tables(), [("own.csv".to_owned(), 4)]);
    }
}
