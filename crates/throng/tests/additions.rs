//! What it takes to add a privacy model or a file format: the source files that know of those which are there by name. A place
//! that asks which model or format it has shows up here.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// A model: the words that only its own file and the registry may use.
const MODELS: &[(&str, &[&str])] = &[
    ("β-likeness", &["Likeness", "likeness::", "\"beta\""]),
    ("δ-disclosure privacy", &["Disclosure", "disclosure::", "\"delta\""]),
    ("k-map", &["KMap", "k_map::", "\"k_map\""]),
    ("(α, k)-anonymity", &["Alpha", "alpha::", "\"alpha\""]),
    ("max_span", &["MaxSpan", "max_span::", "\"max_span\""]),
];

/// A format: the words that only its own file, the registry and, for texts, the list of syntaxes may use.
const FORMATS: &[(&str, &[&str])] = &[
    ("JSON Lines", &["JSON_LINES", "json_lines", "AnySyntax::Lines"]),
    ("Parquet", &["PARQUET", "parquet::", "\"parquet\""]),
];

fn sources() -> Vec<(PathBuf, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in ["throng", "throng-cli"] {
        collect(&crates.join(name).join("src"), &mut files);
    }
    files
}

/// The sources below a folder, but for tests.
fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true if name != "tests" => collect(&path, files),
            false if name.ends_with(".rs") && name != "tests.rs" => {
                files.push((path.clone(), code_of(&fs::read_to_string(&path).unwrap())));
            }
            _ => {}
        }
    }
}

/// A source without comments and without its tests.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

fn users<'a>(sources: &'a [(PathBuf, String)], words: &[&str]) -> Vec<&'a Path> {
    let uses = |text: &String| words.iter().any(|word| has_word(text, word));
    sources.iter().filter(|(_, text)| uses(text)).map(|(path, _)| path.as_path()).collect()
}

/// Whether a word occurs that is no end of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(part))
}

#[test]
fn a_privacy_model_is_known_to_its_file_and_the_registry_alone() {
    let sources = sources();
    for (name, words) in MODELS {
        let users = users(&sources, words);
        assert!(!users.is_empty() && users.len() <= 2, "{name}: {users:#?}");
    }
}

#[test]
fn a_file_format_is_known_to_three_files_at_most() {
    let sources = sources();
    for (name, words) in FORMATS {
        let users = users(&sources, words);
        assert!(!users.is_empty() && users.len() <= 3, "{name}: {users:#?}");
    }
}

#[test]
fn words_are_found_in_code_only() {
    let code = code_of("use a::Alpha; // Beta\nlet x = \"q\";\n#[cfg(test)]\nmod tests { Gamma }");
    assert!(has_word(&code, "Alpha") && has_word(&code, "\"q\""));
    assert!(!has_word(&code, "Beta") && !has_word(&code, "Gamma") && !has_word(&code, "lpha"));
}
