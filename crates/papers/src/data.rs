//! The data sets that the papers use.

use std::path::{Path, PathBuf};

use throng::{Error, ErrorCode, Result};

use crate::Setting;

impl Setting {
    /// A file of the data sets.
    pub fn file(&self, name: &str) -> Result<PathBuf> {
        let path = self.data.join(name);
        match path.exists() {
            true => Ok(path),
            false => Err(Error::new(ErrorCode::FileNotFound, "the data set is not there")
                .in_file(&path)
                .with_hint("give the folder of the data sets with --data")),
        }
    }

    /// The policy text of a hierarchy of the data sets, `hierarchy = "…"`.
    pub fn hierarchy(&self, set: &str, attribute: &str) -> Result<String> {
        let path = self.file(&format!("hierarchies/{set}/{attribute}.csv"))?;
        Ok(format!("hierarchy = {}\n", quoted(&path)))
    }
}

/// A path as a TOML string.
pub fn quoted(path: &Path) -> String {
    format!("{:?}", path.display().to_string())
}
