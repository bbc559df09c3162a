//! The modules of the library stand in layers: each uses only those above it, so that there are no cycles, and a reader can
//! take them one by one. This test reads every import and names the first that points the wrong way.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the top down. `ARCHITECTURE.md` says what each holds; the list there is held to be this one.
const LAYERS: &[&str] = &[
    "words",
    "formula",
    "collections",
    "error",
    "parallel",
    "watch",
    "secret",
    "schema",
    "keys",
    "table",
    "format",
    "classes",
    "condition",
    "histogram",
    "data",
    "simulate",
    "loss",
    "curve",
    "mapping",
    "rules",
    "published",
    "workload",
    "risk",
    "privacy",
    "problem",
    "bound",
    "research",
    "method",
    "policy",
    "bind",
    "as_is",
    "release",
    "audit",
    "attack",
    "report",
    "recipe",
    "evaluate",
    "series",
    "plan",
    "scale",
    "run",
    "facade",
    "extend",
];

/// What stands at the root of the crate beside modules, and the layer it comes from.
const AT_THE_ROOT: &[(&str, &str)] = &[("Error", "error"), ("Result", "error"), ("with_matrix", "data")];

/// A use of a name at the root of the crate.
#[derive(Debug, PartialEq)]
struct Import {
    line: usize,
    name: String,
}

#[test]
fn every_layer_uses_only_those_above_it() {
    let source = source();
    let mut wrong = Vec::new();
    for file in files(&source) {
        let inside = file.strip_prefix(&source).unwrap();
        let path = module_path(inside);
        let [layer, ..] = &path[..] else { continue };
        for import in imports(&code(&fs::read_to_string(&file).unwrap()), path.len()) {
            let used = AT_THE_ROOT.iter().find(|(name, _)| *name == import.name);
            let used = used.map_or(import.name.as_str(), |(_, layer)| layer);
            if place(used) > place(layer) {
                wrong.push(format!(
                    "{}:{}: the layer `{layer}` uses `{used}`, which is below it",
                    inside.display(),
                    import.line
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_one_layer() {
    let mut modules: Vec<String> = fs::read_dir(source())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "lib")
        .collect();
    let mut layers = LAYERS.to_vec();
    modules.sort();
    layers.sort_unstable();
    assert_eq!(modules, layers, "a module is a folder or a file, and stands in one layer");
}

#[test]
fn a_module_with_files_of_its_own_is_a_folder() {
    let beside = |file: &PathBuf| file.with_extension("").is_dir();
    let found: Vec<PathBuf> = files(&source()).into_iter().filter(beside).collect();
    assert!(found.is_empty(), "move these into their folders as mod.rs: {found:?}");
}

#[test]
fn the_architecture_lists_the_same_layers() {
    let document = fs::read_to_string(source().join("../../../ARCHITECTURE.md")).unwrap();
    let (_, section) = document.split_once("\n## Layers\n").expect("a section about layers");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let listed: Vec<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    assert_eq!(listed, LAYERS);
}

/// The test must not pass because it sees nothing.
#[test]
fn imports_of_all_kinds_are_seen() {
    let text = r##"
        //! crate::comment /* crate::comment */
        use crate::one::{A, B};
        use crate::{two, three::C};
        use super::super::four::D; // crate::comment
        use super::inside;
        /* crate::comment
           /* crate::comment */ */
        fn f<'a>(a: &'a str) -> crate::five::E {
            let quote = '"';
            let text = "crate::text \" crate::text";
            let raw = r#"crate::text " crate::text"#;
            $crate::six!(a)
        }
        #[cfg(test)]
        mod tests {
            use crate::testing;
            fn g() { if true { crate::testing } }
        }
        #[cfg(all(test, unix))]
        #[allow(dead_code)]
        mod more { use crate::testing; }
        use crate::seven;
    "##;
    let found = imports(&code(text), 2);
    let found: Vec<(usize, &str)> = found.iter().map(|import| (import.line, import.name.as_str())).collect();
    let expected =
        [(3, "one"), (4, "two"), (4, "three"), (5, "four"), (9, "five"), (13, "six"), (23, "seven")];
    assert_eq!(found, expected);
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn place(layer: &str) -> usize {
    let place = LAYERS.iter().position(|own| *own == layer);
    place.unwrap_or_else(|| panic!("`{layer}` is no layer: give it a place in the list"))
}

/// All source files that are not tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            found.push(entry);
        }
    }
    found
}

/// `a/b/mod.rs` and `a/b.rs` are the module `a::b`; the root of the crate is none.
fn module_path(file: &Path) -> Vec<String> {
    let parts = file.with_extension("");
    let parts = parts.iter().map(|part| part.to_str().unwrap().to_owned());
    parts.filter(|part| part != "mod" && part != "lib").collect()
}

/// The names at the root of the crate that a text uses, in a module so many steps below it.
fn imports(text: &str, depth: usize) -> Vec<Import> {
    let words: Vec<(usize, &str)> = words(text);
    let word = |at: usize| words.get(at).map_or("", |(_, word)| *word);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let mut next = at;
        let mut steps = 0;
        while word(next) == "super" && word(next + 1) == "::" {
            (steps, next) = (steps + 1, next + 2);
        }
        if word(at) == "crate" && word(at + 1) == "::" {
            (steps, next) = (depth, at + 2);
        }
        if steps >= depth && steps > 0 {
            let line = text[..words[at].0].matches('\n').count() + 1;
            let names = if word(next) == "{" { group(&words[next..]) } else { vec![word(next)] };
            found.extend(names.into_iter().map(|name| Import { line, name: name.to_owned() }));
        }
        at = next.max(at + 1);
    }
    found
}

/// The first names of what stands in braces: `a` and `b` of `{a::{c, d}, b}`.
fn group<'a>(words: &[(usize, &'a str)]) -> Vec<&'a str> {
    let (mut names, mut depth, mut first) = (Vec::new(), 0, true);
    for (_, word) in words {
        match *word {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => first = true,
            name if depth == 1 && first => {
                names.push(name);
                first = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// Identifiers, `::` and single signs, each with its place.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let is_name = |sign: char| sign.is_alphanumeric() || sign == '_';
        let length = match sign {
            _ if is_name(sign) => rest.find(|sign| !is_name(sign)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => sign.len_utf8(),
        };
        if !sign.is_whitespace() {
            found.push((text.len() - rest.len(), &rest[..length]));
        }
        rest = &rest[length..];
    }
    found
}

/// A text without comments, literals and tests, with the same lines.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| literal(rest)).unwrap_or(0);
        match skipped {
            0 => code.push(sign),
            _ => code.extend(rest[..skipped].chars().filter(|sign| *sign == '\n')),
        }
        rest = &rest[skipped.max(sign.len_utf8() * usize::from(skipped == 0))..];
    }
    without_tests(&code)
}

/// The length of a comment that begins here.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let (mut at, mut open) = (0, 0);
    while text.starts_with("/*") && at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (at, open) = (at + 2, open + 1),
            [b'*', b'/', ..] => (at, open) = (at + 2, open - 1),
            _ => at += 1,
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// The length of a string or character that begins here.
fn literal(text: &str) -> Option<usize> {
    if let Some(inside) = text.strip_prefix('r') {
        let marks = inside.len() - inside.trim_start_matches('#').len();
        if inside[marks..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(marks));
            let start = 2 + marks;
            return Some(text[start..].find(&end)? + start + end.len());
        }
    }
    let quote = text.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
    let mut signs = text.char_indices().skip(1);
    let (_, first) = signs.clone().next()?;
    // A quote that nothing closes at once begins a lifetime.
    let lifetime =
        quote == '\'' && first != '\\' && signs.clone().nth(1).is_none_or(|(_, sign)| sign != '\'');
    while let (false, Some((at, sign))) = (lifetime, signs.next()) {
        match sign {
            '\\' => {
                signs.next();
            }
            _ if sign == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A text without modules that are compiled for tests only.
fn without_tests(code: &str) -> String {
    let Some(start) = ["#[cfg(test)]", "#[cfg(all(test"].iter().filter_map(|mark| code.find(mark)).min()
    else {
        return code.to_owned();
    };
    let (before, after) = code.split_at(start);
    let end = item_end(after);
    let lines = "\n".repeat(after[..end].matches('\n').count());
    format!("{before}{lines}{}", without_tests(&after[end..]))
}

/// Where an item ends: at its semicolon, or where its braces close.
fn item_end(code: &str) -> usize {
    let mut open = 0;
    for (at, sign) in code.char_indices() {
        match sign {
            '{' => open += 1,
            '}' => open -= 1,
            ';' if open == 0 => return at + 1,
            _ => {}
        }
        if sign == '}' && open == 0 {
            return at + 1;
        }
    }
    code.len()
}
