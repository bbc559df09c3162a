//! What the documentation shows of the library: few names, each with an example that runs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(source().join(file)).expect(file)
}

/// The names that `pub use` gives away, as they are called where they are defined and as they are called here.
fn given_away(text: &str) -> Vec<(String, String)> {
    let uses = text.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or_default());
    let names = uses.flat_map(|path| match path.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}').split(',').collect::<Vec<_>>(),
        None => path.rsplit("::").take(1).collect(),
    });
    let named = names.map(str::trim).filter(|name| !name.is_empty());
    named
        .map(|name| name.split_once(" as ").unwrap_or((name, name)))
        .map(|(own, here)| (own.to_owned(), here.to_owned()))
        .collect()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false if path.extension().is_some_and(|ending| ending == "rs") => {
                vec![std::fs::read_to_string(path).unwrap()]
            }
            false => Vec::new(),
        })
        .collect()
}

/// Whether one of the definitions of a name has an example in the comment above it.
fn has_example(files: &[String], name: &str) -> bool {
    let ends = ["struct", "enum", "trait"].map(|kind| format!("pub {kind} {name}"));
    files.iter().any(|text| {
        let mut comment = String::new();
        text.lines().any(|line| {
            let line = line.trim();
            let defines = ends.iter().any(|end| {
                let after = line.strip_prefix(end.as_str()).and_then(|rest| rest.chars().next());
                after.is_some_and(|one| !one.is_alphanumeric() && one != '_')
            });
            match line {
                _ if defines => return comment.contains("```"),
                _ if line.starts_with("///") => comment += line,
                _ if line.starts_with("#[") => {}
                _ => comment.clear(),
            }
            false
        })
    })
}

#[test]
fn the_documentation_shows_few_names() {
    let (root, extend) = (given_away(&read("lib.rs")), given_away(&read("extend.rs")));
    assert!((25..=40).contains(&root.len()), "{} names: {root:?}", root.len());
    assert!((10..=20).contains(&extend.len()), "{} names: {extend:?}", extend.len());
}

#[test]
fn all_modules_but_one_are_hidden() {
    let text = read("lib.rs");
    let lines: Vec<&str> = text.lines().collect();
    let shown =
        lines.windows(2).filter(|pair| pair[1].starts_with("pub mod ") && pair[0] != "#[doc(hidden)]");
    assert_eq!(shown.map(|pair| pair[1]).collect::<Vec<_>>(), ["pub mod extend;"]);
}

#[test]
fn every_type_that_is_shown_has_an_example() {
    let files = files(&source());
    for (own, here) in given_away(&read("lib.rs")) {
        assert!(here == "Result" || has_example(&files, &own), "{here} has no example");
    }
}

/// Those who extend the library need several types at once, so two examples use them all.
#[test]
fn the_examples_of_extensions_use_every_name() {
    let text = read("extend.rs");
    let examples: String = text.lines().filter(|line| line.starts_with("//! ")).collect();
    for (_, name) in given_away(&text) {
        assert!(examples.contains(&name), "no example uses {name}");
    }
}
