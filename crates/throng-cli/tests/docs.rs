//! The commands in the documents run as they are written there.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The commands of a document's `console` blocks: lines that begin with `$`.
fn commands(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = std::fs::read_to_string(path).expect(name);
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            commands.push(command.to_owned());
        }
    }
    commands
}

/// Runs a document's commands one after the other in an empty folder.
fn run_all(name: &str) {
    let start = tempfile::tempdir().unwrap();
    let mut folder: PathBuf = start.path().to_owned();
    let commands = commands(name);
    assert!(commands.iter().any(|command| command.starts_with("throng ")), "{name} has no commands");
    for command in commands {
        match command.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["cd", target] => folder.push(target),
            ["throng", arguments @ ..] => {
                let mut throng = Command::new(env!("CARGO_BIN_EXE_throng"));
                let output = throng.args(arguments).current_dir(&folder).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{name}: {command}: {said}");
            }
            _ => panic!("{name}: only throng and cd can be run here, not {command}"),
        }
    }
}

#[test]
fn the_quick_start_runs() {
    run_all("README.md");
}

#[test]
fn the_guide_runs() {
    run_all("docs/guide.md");
}
