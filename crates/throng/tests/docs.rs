//! What the documents promise: every policy in them is one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};

use throng::ErrorCode;
use throng::method::STANDARD;
use throng::policy::Policy;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).expect(name)
}

/// A fenced block: where it begins, what follows its fence, and its text.
struct Block {
    line: usize,
    info: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (line, text) in document.lines().enumerate() {
        match (text.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Block { line: line + 1, info: info.to_owned(), text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text += &format!("{text}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A piece of a policy with as little around it as makes it whole.
fn completed(piece: &str) -> String {
    let mut text = piece.to_owned();
    if !piece.contains("[privacy") {
        text += "\n[privacy]\nk = 5\n";
    }
    if !piece.contains("role = \"quasi\"") {
        text += "\n[attribute.something-else]\nrole = \"quasi\"\n";
    }
    text
}

/// What the policies of the documents look for beside themselves: the bundled hierarchies, and a register.
fn folder_of_the_documents() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let hierarchies = folder.path().join("hierarchies");
    std::fs::create_dir(&hierarchies).unwrap();
    for file in std::fs::read_dir(repository().join("data/hierarchies")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), hierarchies.join(file.file_name())).unwrap();
    }
    std::fs::write(folder.path().join("register.csv"), "age,something-else\n").unwrap();
    folder
}

#[test]
fn every_policy_in_the_documents_is_valid() {
    let folder = folder_of_the_documents();
    for name in ["README.md", "docs/guide.md", "docs/policy.md", "docs/methods.md"] {
        let blocks = blocks(&document(name));
        let policies = blocks.iter().filter(|block| block.info.starts_with("toml"));
        for Block { line, info, text } in policies {
            let text = match info.as_str() {
                "toml" => text.clone(),
                "toml partial" => completed(text),
                other => panic!("{name}, line {line}: unknown mark {other:?}"),
            };
            let path = folder.path().join("from-the-documents.toml");
            if let Err(error) = Policy::parse(&text, Some(&path)) {
                panic!("{name}, line {line}: {error}");
            }
        }
    }
}

#[test]
fn the_policy_page_has_policies() {
    let blocks = blocks(&document("docs/policy.md"));
    assert!(blocks.iter().any(|block| block.info == "toml"));
    assert!(blocks.iter().any(|block| block.info == "toml partial"));
}

#[test]
fn every_method_is_on_the_methods_page_and_in_the_readme() {
    let (page, readme) = (document("docs/methods.md"), document("README.md"));
    for entry in STANDARD {
        assert!(page.contains(&format!("## `{}`", entry.name)), "docs/methods.md lacks {}", entry.name);
        assert!(readme.contains(&format!("| `{}` |", entry.name)), "README.md lacks {}", entry.name);
    }
}

/// Paths in documents about the code begin at the repository, at the library's sources, or where their section says; a bare
/// name is a file beside the path before it.
#[test]
fn paths_in_the_documents_about_the_code_exist() {
    let mut missing = Vec::new();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let document = document(name);
        let mut seen = 0;
        for section in document.split("\n## ") {
            let own =
                section.split_once("Paths relative to `").and_then(|(_, after)| after.split('`').next());
            let mut bases = vec![repository(), repository().join(own.unwrap_or("crates/throng/src"))];
            for path in in_backticks(section).into_iter().filter(|text| is_path(text)) {
                seen += 1;
                let Some(found) = bases.iter().map(|base| base.join(path)).find(|path| path.exists()) else {
                    missing.push(format!("{name}: `{path}`"));
                    continue;
                };
                bases.truncate(2);
                let folder = if found.is_dir() { Some(found.as_path()) } else { found.parent() };
                bases.extend(folder.map(Path::to_owned));
            }
        }
        assert!(seen > 10, "{name} names {seen} paths");
    }
    assert!(missing.is_empty(), "there is no {}", missing.join(", nor "));
}

/// What stands in backticks outside of fenced blocks.
fn in_backticks(section: &str) -> Vec<&str> {
    let prose = section.split("\n```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).collect()
}

/// Whether a text is the path of a file or folder, and not one with a placeholder in it.
fn is_path(text: &str) -> bool {
    let endings = [".rs", ".md", ".toml", ".html", "/"];
    let plain = text.chars().all(|sign| sign.is_ascii_alphanumeric() || "/._-".contains(sign));
    plain && !text.contains("NAME") && endings.iter().any(|ending| text.ends_with(ending))
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md"];
    let pages = ["docs/guide.md", "docs/policy.md", "docs/methods.md", "docs/metrics.md", "docs/errors.md"];
    for name in documents.into_iter().chain(pages) {
        let text = document(name);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let file = target.split('#').next().unwrap_or_default();
            let folder = repository().join(name).parent().unwrap().to_owned();
            assert!(folder.join(file).exists(), "{name} links to {target}, which is not there");
        }
    }
}

#[test]
fn the_page_of_errors_has_every_code_and_no_other() {
    let page = document("docs/errors.md");
    let written: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |code: &ErrorCode| {
        let exit = code.fault().exit_code();
        format!("| `{code}` | {} | {} | {exit} |", code.meaning(), code.remedy())
    };
    let expected: Vec<String> = ErrorCode::ALL.iter().map(row).collect();
    assert_eq!(written, expected);
}

#[test]
fn codes_are_kebab_case_and_different() {
    let mut names: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    for name in &names {
        assert!(
            name.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-'),
            "{name}"
        );
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ErrorCode::ALL.len());
}
