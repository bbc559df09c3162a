//! What fuzzing has found, and what it starts from, once more: every file of `fuzz/corpus` through the function that the
//! fuzzer calls. CONTRIBUTING.md says how to fuzz.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};

#[allow(dead_code)] // What only the fuzzer needs.
#[path = "../../../fuzz/src/lib.rs"]
#[allow(dead_code)]
mod fuzz;

fn files(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|_| panic!("there is no {}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_input_of_the_corpus_is_taken_or_refused_in_words() {
    for (name, target) in fuzz::TARGETS {
        let files = files(name);
        assert!(files.len() >= 4, "{name} has too few inputs");
        for file in files {
            let bytes = std::fs::read(&file).unwrap();
            let outcome = std::panic::catch_unwind(|| target(&bytes));
            assert!(outcome.is_ok(), "{}", file.display());
        }
    }
}

#[test]
fn every_folder_of_the_corpus_has_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(fuzz::TARGETS.iter().any(|(own, _)| *own == name), "{name}");
    }
}
