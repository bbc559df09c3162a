//! A folder of its own for every test, and the built command run in it.

#![allow(dead_code, clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A temporary folder, removed with the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn with(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, hidden ones too, in order.
    pub fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs `throng anonymize` on a table under `policy.toml`, to `r.csv`, with further arguments.
    pub fn anonymize(&self, table: &str, more: &[&str]) -> Ran {
        self.run(&[&["anonymize", table, "-p", "policy.toml", "-o", "r.csv"], more].concat())
    }

    /// Runs `throng` with the folder as its working directory.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_throng"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A file of the data that is shared by the developers but not part of the project; says so if it is not there.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        say_skipped(&format!("there is no {}", path.display()));
    }
    path.exists().then_some(path)
}

/// Says loudly that a test did nothing: straight to the terminal, because what a passing test prints is not shown.
pub fn say_skipped(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {name}: {why}\n");
}

/// A table of `rows` people with an age, a sex and an illness.
pub fn people(rows: usize) -> String {
    let mut text = "age,sex,illness\n".to_owned();
    for row in 0..rows {
        let (age, sex) = (20 + (row * 7) % 50, ["f", "m"][row % 2]);
        text += &format!("{age},{sex},{}\n", ["flu", "cold", "gout"][row % 3]);
    }
    text
}

/// A policy for [`people`].
pub const POLICY: &str = "[privacy]\nk = 3\n[attribute.age]\nrole = \"quasi\"\n[attribute.sex]\nrole = \"quasi\"\n\
    [attribute.illness]\nrole = \"sensitive\"\n";
