//! What a policy accepts, and what it says of everything else.
#![allow(clippy::unwrap_used)]

mod adjusted;
mod bad;
mod good;
mod hierarchy_files;
mod robust;

use std::path::{Path, PathBuf};

use super::Policy;
use crate::error::Error;

/// Every key of a policy at once; the hierarchy file is written by [`example_folder`].
const EXAMPLE: &str = r#"[data]
missing = ["?"]
incomplete = "drop"

[privacy]
k = 10
l = 3
diversity = "frequency"
t = 0.2
max_loss = 0.3
suppress = 0.0
[[privacy.quasi_identifiers]]
attributes = ["race", "age"]
k = 4

[method]
name = "hilbert"
seed = 7
curve = "gray"

[attribute.workclass]
role = "quasi"
hierarchy = "hierarchies/workclass.csv"

[attribute.age]
role = "quasi"
kind = "numeric"
weight = 2.0
rules = [{ cut = [64, 65], importance = 25 }]

[attribute.race]
role = "quasi"
rules = [{ apart = ["White", "Black"], importance = 20, hard = false }]

[attribute.country]
role = "quasi"
hierarchy = { Europe = ["Italy", "France", "Spain"], America = ["US", "Canada"] }

[attribute.disease]
role = "sensitive"

[attribute.name]
role = "identifier"
"#;

/// A folder with the example policy and its hierarchy.
fn example_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("hierarchies")).unwrap();
    let lines = "Private;Private;*\nFederal-gov;Government;*\nState-gov;Government;*\n";
    std::fs::write(folder.path().join("hierarchies/workclass.csv"), lines).unwrap();
    let path = folder.path().join("throng.toml");
    std::fs::write(&path, EXAMPLE).unwrap();
    (folder, path)
}

/// A policy of one quasi-identifier with further lines in its section.
fn with_attribute_lines(lines: &str) -> String {
    format!("[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n{lines}\n")
}

fn error_of(text: &str) -> Error {
    match Policy::parse(text, Some(Path::new("throng.toml"))) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}
