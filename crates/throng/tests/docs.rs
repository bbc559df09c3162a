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

#[test]
fn every_policy_in_the_documents_is_valid() {
    for name in ["README.md", "docs/guide.md", "docs/policy.md", "docs/methods.md"] {
        let blocks = blocks(&document(name));
        let policies = blocks.iter().filter(|block| block.info.starts_with("toml"));
        for Block { line, info, text } in policies {
            let text = match info.as_str() {
                "toml" => text.clone(),
                "toml partial" => completed(text),
                other => panic!("{name}, line {line}: unknown mark {other:?}"),
            };
            // Hierarchies are looked for beside the policy, and the bundled ones are in `data`.
            let path = repository().join("data/from-the-documents.toml");
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
