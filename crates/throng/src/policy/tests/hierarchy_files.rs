use std::io::Write as _;
use std::path::Path;

use super::with_attribute_lines;
use crate::error::Error;
use crate::policy::{Hierarchy, Policy};
use crate::table::Tree;

/// Loads a policy beside a hierarchy file of the given content.
fn load(content: &[u8]) -> Result<Tree, Error> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("age.csv"), content).unwrap();
    let path = folder.path().join("throng.toml");
    let policy = Policy::parse(&with_attribute_lines("hierarchy = \"age.csv\""), Some(&path))?;
    match policy.attributes["age"].hierarchy.clone() {
        Some(Hierarchy::Tree(tree)) => Ok(tree),
        _ => panic!("no tree"),
    }
}

fn paths(content: &str) -> Vec<String> {
    let tree = load(content.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{content}"));
    tree.paths().map(|(leaf, path)| format!("{leaf}<{}", path.join("<"))).collect()
}

#[test]
fn files_are_read_in_all_their_dialects() {
    assert_eq!(paths("a;x;*\nb;y;*\n"), ["a<x", "b<y"]);
    assert_eq!(paths("a,x,*\nb,y,*"), ["a<x", "b<y"]);
    assert_eq!(paths("\u{feff}a;x;*\r\n\r\n  \nb;y;*\r\n\n"), ["a<x", "b<y"]);
    assert_eq!(paths("\n\na;[0, 5[;*\nb;[5, 10[;*\n"), ["a<[0, 5[", "b<[5, 10["]);
    assert_eq!(paths("\"a;1\",\"say \"\"x\"\"\",*\nb,y,*\n"), ["a;1<say \"x\"", "b<y"]);
    assert_eq!(paths("\"two\nlines\";x;*\n\"b\";y;*\r\n"), ["two\nlines<x", "b<y"]);
    assert_eq!(paths(" a ; x;*\nb;y;*\n"), [" a < x", "b<y"]);
    assert_eq!(paths("5\" pipe;x;*\n6\" pipe;y;*\n"), ["5\" pipe<x", "6\" pipe<y"]);
    assert_eq!(paths("a\nb\n"), ["a<", "b<"]);
    assert_eq!(paths("a;\"*\"\r\nb;*"), ["a<", "b<"]);
}

/// Content, message, line, column.
type BadFile<'a> = (&'a [u8], &'a str, Option<u64>, Option<u64>);

const BAD_FILES: &[BadFile<'_>] = &[
    (b"", "the hierarchy file is empty", None, None),
    (b"\xef\xbb\xbf\n \r\n", "the hierarchy file is empty", None, None),
    (b"a;x;*\n\nb;*\n", "this line has 2 cells, but line 1 has 3", Some(3), None),
    (b"a;x;*\nb\n", "this line has 1 cell, but line 1 has 3", Some(2), None),
    (b"a;x;*\nb;\xff;*\n", "the hierarchy file is not valid UTF-8", Some(2), None),
    (b"a;x;*\nb;y;*\na;y;*\n", "the value \"a\" has two parents: \"x\" and \"y\"", Some(3), None),
    (b"a;x;*\nb;y;*\na;x;*\n", "the value \"a\" stands here twice", Some(3), None),
    (b"a;x;*\nb;;*\n", "an empty label in the hierarchy", Some(2), Some(2)),
    (b"a;x;*\n;x;*\n", "an empty label in the hierarchy", Some(2), Some(1)),
    (b"a;x;*\n\"b;x;*\n", "a quote is opened on this line and never closed", Some(2), None),
    (b"\"a\nb\";x;*\n\"c\"d;x;*\n", "text follows a closing quote", Some(3), Some(1)),
    (
        b"a;x;p;*\nb;y;q;*\nc;x;q;*\nd;y;q;*\n",
        "the label \"x\" has two parents: \"p\" and \"q\"",
        Some(3),
        None,
    ),
    (b"a;x;*\nx;y;*\nc;y;*\n", "the label \"x\" is both a value and a group of other values", Some(2), None),
    (b"a;*;x;*\n", "the label \"*\" stands for the root and cannot be used below it", Some(1), None),
];

#[test]
fn bad_files_are_named_with_the_line() {
    for (content, message, line, column) in BAD_FILES {
        let shown = String::from_utf8_lossy(content);
        let error = load(content).map(|_| panic!("accepted: {shown}")).unwrap_err();
        assert_eq!(error.message(), *message, "{shown}");
        assert_eq!((error.place().line, error.place().column), (*line, *column), "{shown}");
        assert!(error.place().file.as_deref().is_some_and(|file| file.ends_with("age.csv")), "{error}");
        assert_eq!(error.place().attribute.as_deref(), Some("age"));
    }
}

#[test]
fn a_repeated_value_tells_where_it_was_first() {
    let error = load(b"a;x;*\nb;y;*\na;y;*\n").unwrap_err();
    assert_eq!(error.hint(), Some("it was first given on line 1; remove one of the two lines"));
}

#[test]
fn a_missing_file_points_at_the_policy() {
    let text = with_attribute_lines("hierarchy = \"nowhere/age.csv\"");
    let error = Policy::parse(&text, Some(Path::new("some folder/throng.toml"))).unwrap_err();
    assert!(error.message().contains("nowhere"), "{error}");
    assert_eq!(error.place().file.as_deref(), Some(Path::new("some folder/throng.toml")));
    assert_eq!((error.place().line, error.place().column), (Some(5), Some(13)));
    assert_eq!(error.hint(), Some("relative names start at the folder of the policy"));
}

#[test]
fn an_absolute_path_is_taken_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("age.csv");
    std::fs::write(&file, "1;low;*\n9;high;*\n").unwrap();
    let text = with_attribute_lines(&format!("hierarchy = '{}'", file.display()));
    assert!(Policy::parse(&text, Some(Path::new("elsewhere/throng.toml"))).is_ok());
}

#[test]
fn every_shared_hierarchy_loads() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join("hierarchies");
    let Ok(folders) = std::fs::read_dir(&root) else {
        // Straight to the terminal, because what a passing test prints is not shown.
        let _ = writeln!(
            std::io::stderr(),
            "\nSKIPPED every_shared_hierarchy_loads: there is no {}\n",
            root.display()
        );
        return;
    };
    let mut failures = Vec::new();
    for folder in folders {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = file.unwrap().path();
            let text =
                with_attribute_lines(&format!("hierarchy = '{}'", file.canonicalize().unwrap().display()));
            if let Err(error) = Policy::parse(&text, None) {
                failures.push(error.to_string());
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
