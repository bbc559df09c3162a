//! The commands in the documents run as they are written there, and print what is written there.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod folder;

use std::path::{Path, PathBuf};
use std::process::Command;

use folder::Folder;

/// A command of a document, and the lines that the document shows below it.
struct Shown {
    command: String,
    lines: Vec<String>,
}

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).expect(name)
}

/// The blocks of a document that are marked with a word.
fn blocks(name: &str, mark: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut inside: Option<Vec<String>> = None;
    for line in document(name).lines() {
        match (&mut inside, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(inside.take()),
            (Some(block), None) => block.push(line.to_owned()),
            (None, Some(own)) if own == mark => inside = Some(Vec::new()),
            (None, _) => {}
        }
    }
    blocks
}

/// The commands of a document's `console` blocks: lines that begin with `$`.
fn commands(name: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in blocks(name, "console").into_iter().flatten() {
        match line.strip_prefix("$ ") {
            Some(command) => all.push(Shown { command: command.to_owned(), lines: Vec::new() }),
            None => all.last_mut().expect("a command first").lines.push(line),
        }
    }
    all
}

/// A line without what differs from run to run: times, with the mark of the shortest. Runs of blanks become one.
fn lasting(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |at: usize| {
        let unit = words.get(at + 1).map(|unit| unit.trim_end_matches('*'));
        matches!(unit, Some("s" | "ms")) && words[at].parse::<f64>().is_ok()
    };
    let unit_of_time = |at: usize| at > 0 && is_time(at - 1);
    let word = |at: usize| if is_time(at) { "TIME" } else { words[at] };
    let kept: Vec<&str> = (0..words.len()).filter(|at| !unit_of_time(*at)).map(word).collect();
    kept.join(" ")
}

/// Where the program's output departs from what a document shows. A line `…` stands for any number of lines, and one that
/// ends with `…` for all that begin like it.
fn departure(shown: &[String], printed: &str) -> Option<String> {
    let printed: Vec<String> = printed.lines().map(lasting).filter(|line| !line.is_empty()).collect();
    let (mut at, mut gap) = (0, false);
    for line in shown.iter().map(|line| lasting(line)).filter(|line| !line.is_empty()) {
        if line == "…" {
            gap = true;
            continue;
        }
        let same = |own: &String| match line.strip_suffix('…') {
            Some(begin) => own.starts_with(begin),
            None => *own == line,
        };
        let reach = if gap { printed.len() } else { printed.len().min(at + 1) };
        match (at..reach).find(|place| same(&printed[*place])) {
            Some(place) => (at, gap) = (place + 1, false),
            None => return Some(line),
        }
    }
    (!gap && !shown.is_empty() && at < printed.len()).then(|| format!("nothing more, but {}", printed[at]))
}

/// Part of what methods do is random; with a seed the figures are the same in every run.
fn give_a_seed(policy: &Path) {
    if let Ok(text) = std::fs::read_to_string(policy)
        && !text.contains("seed = ")
    {
        std::fs::write(policy, text.replace("name = \"auto\"", "name = \"auto\"\nseed = 7")).unwrap();
    }
}

/// Runs a document's commands one after the other in an empty folder.
fn run_all(name: &str) {
    let start = tempfile::tempdir().unwrap();
    let mut folder: PathBuf = start.path().to_owned();
    let commands = commands(name);
    assert!(commands.iter().any(|shown| shown.command.starts_with("throng ")), "{name} has no commands");
    for Shown { command, lines } in commands {
        match command.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["cd", target] => folder.push(target),
            ["throng", arguments @ ..] => {
                let mut throng = Command::new(env!("CARGO_BIN_EXE_throng"));
                let output = throng.args(arguments).current_dir(&folder).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                let refused = lines.first().is_some_and(|line| line.starts_with("error: "));
                assert_eq!(output.status.success(), !refused, "{name}: {command}: {said}");
                // A command that has nothing for a pipe tells what it did beside it.
                let quiet = refused || output.stdout.is_empty();
                let printed = if quiet { said } else { String::from_utf8_lossy(&output.stdout) };
                if let Some(line) = departure(&lines, &printed) {
                    panic!("{name}: {command}: the document shows\n{line}\nbut this is printed:\n{printed}");
                }
            }
            _ => panic!("{name}: only throng and cd can be run here, not {command}"),
        }
        give_a_seed(&folder.join("adult.toml"));
    }
}

#[test]
fn the_quick_start_runs_and_prints_what_it_shows() {
    run_all("README.md");
}

#[test]
fn the_guide_runs_and_prints_what_it_shows() {
    run_all("docs/guide.md");
}

#[test]
fn departures_are_seen() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = "one 0.12 s*\n\ntwo   3\nfour\n";
    for same in ["one 7 s\ntwo 3\nfour", "…\ntwo 3\n…", "one 0.1 s\n…", "one …\ntwo…\nfour", ""] {
        assert_eq!(departure(&shown(same), printed), None, "{same}");
    }
    for other in ["two 3", "one 7 s\nfour", "one 7 s\ntwo 4\nfour", "one 7 s\ntwo 3", "…\nfour\ntwo 3\n…"]
    {
        assert!(departure(&shown(other), printed).is_some(), "{other}");
    }
}

/// Policies for the bundled sample with the mistakes that docs/policy.md shows, in its order.
const MISTAKES: [&str; 5] = [
    "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\nweigth = 2\n",
    "[privacy]\nk = 2\n[attribute.agee]\nrole = \"quasi\"\n",
    "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 12] }\n",
    "[data]\nunlisted = \"drop\"\n[privacy]\nk = 2\n[attribute.sex]\nrole = \"quasi\"\nhierarchy = { all = [\"Male\"] }\n",
    "[data]\nunlisted = \"drop\"\n[privacy]\nl = 2\n[attribute.age]\nrole = \"quasi\"\n\
     [attribute.salary-class]\nrole = \"sensitive\"\n",
];

#[test]
fn mistakes_look_as_the_documents_say() {
    let sample = document("data/adult-sample.csv");
    let folder = Folder::new().with("adult-sample.csv", &sample);
    let shown = blocks("docs/policy.md", "text");
    let shown: Vec<_> = shown.iter().filter(|block| block[0].starts_with("error: ")).collect();
    assert_eq!(shown.len(), MISTAKES.len(), "every error that is shown has its policy here");
    for (policy, block) in MISTAKES.iter().zip(shown) {
        std::fs::write(folder.path("t.toml"), policy).unwrap();
        let ran = folder.run(&["anonymize", "adult-sample.csv", "--policy", "t.toml", "-o", "release.csv"]);
        assert_eq!(departure(block, &ran.stderr), None, "{}", ran.stderr);
    }
}
