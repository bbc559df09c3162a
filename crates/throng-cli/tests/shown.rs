//! What is shown to people: commands that can be copied, texts that steer nothing, cells as the table has them.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, Ran, people};

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

fn start() -> Folder {
    Folder::new()
        .with("d.csv", &people(60))
        .with("p.toml", POLICY)
        .with("key", "a secret of many bytes, long enough")
}

/// The words of a shell's line without its quotes, as a plain program takes them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut within) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => within = !within,
            '\\' if !within => word.extend(letters.next()),
            ' ' if !within => words.push(std::mem::take(&mut word)),
            other => word.push(other),
        }
    }
    words.push(word);
    words
}

/// The command that a page tells, as text.
fn told_command(page: &str) -> String {
    let rest = page.split("Command</th><td><code>").nth(1).unwrap();
    let text = rest.split("</code>").next().unwrap();
    [
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&quot;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

#[test]
fn the_command_of_a_report_repeats_the_run() {
    let folder = start().with("it's my data.csv", &people(60));
    let given = [
        "anonymize",
        "it's my data.csv",
        "--policy=p.toml",
        "-o",
        "the release.csv",
        "--k",
        "4",
        "--secret",
        "key",
        "--publish",
        "bounds",
        "--escape-formulas",
        "--threads",
        "2",
        "--report",
        "page.html",
        "-q",
    ];
    let ran = folder.run(&given);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let command = told_command(&folder.read("page.html"));
    let told = words(&command);
    assert_eq!(&told[1..=given.len()], given, "{command}");
    let first = folder.read("the release.csv");
    std::fs::remove_file(folder.path("the release.csv")).unwrap();
    let again: Vec<&str> = told[1..].iter().map(String::as_str).collect();
    assert!(again.contains(&"--seed"));
    let ran = folder.run(&again);
    assert_eq!((ran.code, folder.read("the release.csv")), (0, first), "{}", ran.stderr);
}

#[test]
fn apply_tells_its_own_command() {
    let policy =
        POLICY.replace("[attribute.illness]\nrole = \"sensitive\"", "[attribute.illness]\nrole = \"class\"");
    let folder = start().with("c.toml", &policy);
    let made = run(&folder, "anonymize d.csv -p c.toml -o r.csv --method refine --recipe rec.json -q");
    assert_eq!(made.code, 0, "{}", made.stderr);
    let ran = run(&folder, "apply rec.json d.csv -o x.csv --unmet suppress --report page.html -q");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let command = told_command(&folder.read("page.html"));
    assert_eq!(command, "throng apply rec.json d.csv -o x.csv --unmet suppress --report page.html -q");
}

const HIDDEN: [char; 6] = ['\u{202e}', '\u{2066}', '\u{200f}', '\u{1b}', '\u{9b}', '\u{7}'];

fn steers(text: &str) -> bool {
    text.contains(HIDDEN)
}

/// A table with characters that steer terminals in its names and cells, and a policy that names them.
fn hostile() -> Folder {
    let bad: String = HIDDEN.iter().collect();
    let table = people(60).replace("sex", &format!("s{bad}x")).replace("flu", &format!("f{bad}u"));
    let escaped: String = HIDDEN.iter().map(|c| format!("\\u{:04X}", *c as u32)).collect();
    let policy = POLICY.replace("[attribute.sex]", &format!("[attribute.\"s{escaped}x\"]"));
    let broken = policy.replace("k = 3", "k = 3\nl = 2").replace("\"sensitive\"", "\"sens\u{202e}itive\"");
    Folder::new().with("d.csv", &table).with("p.toml", &policy).with("broken.toml", &broken)
}

#[test]
fn nothing_from_a_table_or_a_policy_steers_the_terminal() {
    let folder = hostile();
    for (line, code) in [
        ("init d.csv -o first.toml", 0),
        ("anonymize d.csv -p p.toml -o r.csv --report page.html --report report.json", 0),
        ("audit d.csv r.csv -p p.toml", 0),
        ("audit d.csv r.csv -p p.toml --json", 0),
        ("risk d.csv -p p.toml", 0),
        ("risk d.csv -p p.toml --json", 0),
        ("evaluate d.csv -p p.toml --task queries --report e.html", 0),
        ("compare d.csv -p p.toml --methods mondrian --k 3 -o c.html", 0),
        ("anonymize d.csv -p broken.toml -o r.csv", 2),
        ("risk d.csv -p broken.toml --json", 2),
        ("anonymize no\u{1b}[2Jfile\u{202e}.csv -p p.toml -o r.csv", 2),
        ("anonymize d.csv --no\u{1b}[2J\u{202e}such", 2),
        ("evaluate d.csv -p p.toml --task queries --set \u{1b}[2Jx=1", 2),
    ] {
        let ran = run(&folder, line);
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!(!steers(&ran.stdout) && !steers(&ran.stderr), "{line}: {:?}{:?}", ran.stdout, ran.stderr);
    }
    for page in ["page.html", "e.html", "c.html", "first.toml"] {
        assert!(!steers(&folder.read(page)), "{page}");
    }
    // What is published is what the table has.
    assert!(folder.read("r.csv").contains(HIDDEN));
}

#[test]
fn json_tells_what_steers_in_escapes() {
    let folder = hostile();
    let ran = run(&folder, "risk d.csv -p p.toml --json");
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(told["quasi"].to_string().contains(HIDDEN));
}

#[test]
fn a_table_in_utf_16_is_told_to_become_utf_8() {
    for little in [true, false] {
        let text: Vec<u8> = format!("\u{feff}{}", people(20))
            .encode_utf16()
            .flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() })
            .collect();
        let folder = start();
        std::fs::write(folder.path("wide.csv"), &text).unwrap();
        std::fs::write(folder.path("bare.csv"), &text[2..]).unwrap();
        for line in
            ["anonymize wide.csv -p p.toml -o r.csv", "init bare.csv", "audit d.csv wide.csv -p p.toml"]
        {
            let ran = run(&folder, line);
            assert!(
                ran.code == 2 && ran.stderr.contains("UTF-16") && ran.stderr.contains("UTF-8"),
                "{line}: {}",
                ran.stderr
            );
        }
    }
}

#[test]
fn commands_that_are_shown_quote_the_names_of_files() {
    let folder = start().with("my data's.csv", &people(60));
    let ran = folder.run(&["init", "my data's.csv", "-o", "a policy.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("throng anonymize 'my data'\\''s.csv' --policy 'a policy.toml'"),
        "{}",
        ran.stderr
    );
}

#[test]
fn numbers_keep_their_spelling_where_they_are_published_as_they_are() {
    let mut table = "age,dose,buys,note\n".to_owned();
    for row in 0..40 {
        let (dose, buys) = (["0.10", "0.1", "0.100", "2"][row % 4], ["1.0", "1", "0"][row % 3]);
        table += &format!("{},{dose},{buys},{}\n", 20 + row % 10, ["5.50", "5.5"][row % 2]);
    }
    let policy = "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n[attribute.dose]\nrole = \"sensitive\"\n\
                  [attribute.buys]\nrole = \"class\"\n[attribute.note]\nrole = \"other\"\n";
    let folder = Folder::new().with("d.csv", &table).with("p.toml", policy);
    let ran = run(&folder, "anonymize d.csv -p p.toml -o r.csv --keep-order");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let without_age = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect()
    };
    assert_eq!(without_age(&folder.read("r.csv")), without_age(&table));
    let audit = run(&folder, "audit d.csv r.csv -p p.toml");
    assert_eq!(audit.code, 0, "{}{}", audit.stdout, audit.stderr);
    // One dose, however it is spelt: it must not count as several values.
    let json = run(&folder, "audit d.csv r.csv -p p.toml --json");
    let told: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(told["sensitive"][0]["l_distinct"].as_u64().unwrap() <= 2, "{}", json.stdout);
}
