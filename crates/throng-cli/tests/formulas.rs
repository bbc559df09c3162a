//! Cells that a spreadsheet would run are named, and can be made text.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, Ran};

const FORMULAS: [&str; 4] = ["=cmd|' /C calc'!A0", "@SUM(A1)", "+cmd", "-A1"];

const POLICY: &str = "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n[attribute.code]\nrole = \"sensitive\"\n\
    [attribute.\"=note\"]\nrole = \"other\"\n[attribute.change]\nrole = \"class\"\n";

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

/// Formulas in a sensitive column, in one that is passed through, and in a name; one of the cells begins with a mark already.
fn table() -> String {
    let mut table = "age,code,=note,change\n".to_owned();
    for row in 0..40 {
        let note = ["'=1+1", "=2+2", "plain", "\"=3,4\""][row % 4];
        table += &format!("{},{},{note},{}\n", 20 + row % 10, FORMULAS[row % 4], ["-5", "+49 17"][row % 2]);
    }
    table
}

fn start() -> Folder {
    Folder::new().with("d.csv", &table()).with("p.toml", POLICY)
}

/// The plain reading of what a spreadsheet would take for a formula.
fn is_formula(cell: &str) -> bool {
    let first = |letters: &[char]| cell.starts_with(letters);
    first(&['=', '@']) || (first(&['+', '-']) && cell[1..].starts_with(|c: char| c.is_alphabetic()))
}

fn cells(text: &str) -> Vec<Vec<String>> {
    let unquoted = |line: &str| -> Vec<String> {
        let (mut cells, mut cell, mut within) = (Vec::new(), String::new(), false);
        for letter in line.chars() {
            match letter {
                '"' => within = !within,
                ',' if !within => cells.push(std::mem::take(&mut cell)),
                other => cell.push(other),
            }
        }
        cells.push(cell);
        cells
    };
    text.lines().map(unquoted).collect()
}

#[test]
fn formulas_are_named_where_they_are_published() {
    let folder = start();
    let ran = run(&folder, "anonymize d.csv -p p.toml -o r.csv --report page.html --report report.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("40 cells of \"code\" would be run by a spreadsheet"), "{told}");
    assert!(told.contains("20 cells of \"=note\"") && told.contains("--escape-formulas"), "{told}");
    assert!(!told.contains("of \"change\" would"), "{told}");
    assert!(folder.read("page.html").contains("would be run by a spreadsheet"));
    let report: serde_json::Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    assert_eq!(report["formulas"][0]["cells"], 40);
    let audit = run(&folder, "audit d.csv r.csv -p p.toml");
    assert!(audit.code == 0 && audit.stdout.contains("Formulas"), "{}", audit.stdout);
}

#[test]
fn escaped_formulas_are_text_and_the_release_can_be_audited() {
    for more in ["--keep-order", "--publish bounds", "--publish permutation"] {
        let folder = start();
        let ran = run(&folder, &format!("anonymize d.csv -p p.toml -o r.csv --escape-formulas {more}"));
        assert_eq!(ran.code, 0, "{more}: {}", ran.stderr);
        assert!(!ran.stderr.contains("Formulas"), "{}", ran.stderr);
        let release = cells(&folder.read("r.csv"));
        assert!(release.iter().flatten().all(|cell| !is_formula(cell)), "{release:?}");
        assert!(release[0].contains(&"'=note".to_owned()), "{:?}", release[0]);
        let audit = run(&folder, "audit d.csv r.csv -p p.toml");
        assert_eq!(audit.code, 0, "{more}: {}{}", audit.stdout, audit.stderr);
        assert!(!audit.stdout.contains("Formulas"), "{}", audit.stdout);
    }
}

#[test]
fn every_cell_can_be_had_back() {
    let folder = start();
    let ran = run(&folder, "anonymize d.csv -p p.toml -o r.csv --escape-formulas --keep-order -q");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (table, release) = (cells(&table()), cells(&folder.read("r.csv")));
    for (row, published) in table.iter().zip(&release).skip(1) {
        for (cell, written) in row.iter().zip(published).skip(1) {
            let marked = is_formula(cell.trim_start_matches('\''));
            let expected = if marked { format!("'{cell}") } else { cell.clone() };
            assert_eq!(written, &expected);
        }
    }
}

#[test]
fn a_changed_cell_is_found_in_an_escaped_release() {
    let folder = start();
    assert_eq!(run(&folder, "anonymize d.csv -p p.toml -o r.csv --escape-formulas -q").code, 0);
    let changed = folder.read("r.csv").replacen("'+cmd", "'+cmx", 1);
    std::fs::write(folder.path("r.csv"), changed).unwrap();
    let audit = run(&folder, "audit d.csv r.csv -p p.toml");
    assert_ne!(audit.code, 0, "{}", audit.stdout);
}

#[test]
fn apply_escapes_too_and_other_formats_are_refused() {
    let policy = POLICY.replace("role = \"sensitive\"", "role = \"other\"");
    let folder = Folder::new().with("d.csv", &table()).with("p.toml", &policy);
    let made = run(&folder, "anonymize d.csv -p p.toml -o r.csv --method refine --recipe rec.json -q");
    assert_eq!(made.code, 0, "{}", made.stderr);
    let ran = run(&folder, "apply rec.json d.csv -o x.csv --escape-formulas -q");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(cells(&folder.read("x.csv")).iter().flatten().all(|cell| !is_formula(cell)));
    for name in ["x.parquet", "x.arrow", "x.jsonl"] {
        let ran = run(&folder, &format!("anonymize d.csv -p p.toml -o {name} --escape-formulas"));
        assert!(
            ran.code == 2 && ran.stderr.contains("--escape-formulas") && ran.stderr.contains("help:"),
            "{}",
            ran.stderr
        );
        assert!(!folder.path(name).exists());
    }
}
