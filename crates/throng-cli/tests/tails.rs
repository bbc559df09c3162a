//! `top` and `bottom`: what lies beyond is told as lying beyond.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, people};

fn policy(tails: &str) -> String {
    POLICY.replace(
        "[attribute.age]\nrole = \"quasi\"\n",
        &format!("[attribute.age]\nrole = \"quasi\"\n{tails}\n"),
    )
}

fn anonymize(folder: &Folder, more: &[&str]) -> folder::Ran {
    let base = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "r.csv", "--keep-order"];
    folder.run(&[&base[..], more].concat())
}

/// The plain reading of a cell: the least and the greatest age that it may stand for.
fn span(cell: &str) -> (i64, i64) {
    let number = |text: &str| text.parse::<i64>().unwrap();
    match (cell.strip_prefix("≥ "), cell.strip_prefix("≤ ")) {
        (Some(least), _) => (number(least), i64::MAX),
        (_, Some(most)) => (i64::MIN, number(most)),
        _ if cell == "*" => (i64::MIN, i64::MAX),
        _ if cell.ends_with(')') => {
            let (low, end) = cell.trim_matches(['[', ')']).split_once('-').unwrap();
            (number(low), number(end) - 1)
        }
        _ => {
            let (low, high) = cell.trim_matches(['[', ']']).split_once('-').unwrap_or((cell, cell));
            (number(low.trim_matches(['[', ']'])), number(high.trim_matches(['[', ']'])))
        }
    }
}

fn first_cells(csv: &str) -> Vec<String> {
    csv.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
}

#[test]
fn cells_beyond_are_true_and_tell_no_end() {
    for method in ["mondrian", "hilbert", "refine", "peel", "bottom-up", "top-down", "rv-global"] {
        let folder = Folder::new()
            .with("people.csv", &people(60))
            .with("policy.toml", &policy("top = 60\nbottom = 25"));
        let ran = anonymize(&folder, &["--method", method, "--k", "2"]);
        assert_eq!(ran.code, 0, "{method}: {}", ran.stderr);
        let (table, release) = (first_cells(&folder.read("people.csv")), first_cells(&folder.read("r.csv")));
        for (age, cell) in table.iter().zip(&release).filter(|_| table.len() == release.len()) {
            let ((low, high), age) = (span(cell), age.parse::<i64>().unwrap());
            assert!((low..=high).contains(&age), "{method}: {cell} for {age}");
            // No end lies in a tail but that of the tail itself.
            assert!(
                low == i64::MIN || (25..=60).contains(&low) && !cell.starts_with("[25-"),
                "{method}: {cell}"
            );
            assert!(high == i64::MAX || (25..60).contains(&high), "{method}: {cell}");
        }
        let audit = folder.run(&[
            "audit",
            "people.csv",
            "r.csv",
            "-p",
            "policy.toml",
            "--k",
            "2",
            "--method",
            method,
        ]);
        assert_eq!(audit.code, 0, "{method}: {}{}", audit.stdout, audit.stderr);
    }
}

#[test]
fn an_automatic_tail_hides_an_outlier_among_k() {
    let table = people(60) + "98765432,f,flu\n";
    let folder = Folder::new().with("people.csv", &table).with("policy.toml", &policy("top = \"auto\""));
    for publish in ["cells", "bounds", "permutation"] {
        let ran = anonymize(&folder, &["--method", "mondrian", "--publish", publish]);
        assert_eq!(ran.code, 0, "{publish}: {}", ran.stderr);
        let release = folder.read("r.csv");
        assert!(!release.contains("98765432") && release.contains('≥'), "{release}");
        assert!(!ran.stderr.contains("Outlier"), "{}", ran.stderr);
        let audit = folder.run(&["audit", "people.csv", "r.csv", "-p", "policy.toml"]);
        assert_eq!(audit.code, 0, "{publish}: {}{}", audit.stdout, audit.stderr);
    }
}

#[test]
fn dates_have_tails_too() {
    let mut table = "born,sex,illness\n1801-01-01,f,flu\n".to_owned();
    (0..30).for_each(|row| table += &format!("19{}-0{}-11,m,flu\n", 50 + row, 1 + row % 9));
    let text = POLICY.replace("attribute.age", "attribute.born");
    let text = text.replace("[attribute.sex]", "bottom = \"1953-01-01\"\n[attribute.sex]");
    let folder = Folder::new().with("people.csv", &table).with("policy.toml", &text);
    let ran = anonymize(&folder, &["--method", "mondrian"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let release = folder.read("r.csv");
    assert!(!release.contains("1801") && release.lines().nth(1).unwrap().starts_with("≤ 19"), "{release}");
    let audit = folder.run(&["audit", "people.csv", "r.csv", "-p", "policy.toml"]);
    assert_eq!(audit.code, 0, "{}{}", audit.stdout, audit.stderr);
}

#[test]
fn tails_that_make_no_sense_are_refused_at_their_line() {
    for (tails, told) in [
        ("top = true", "top must be a number, a date"),
        ("bottom = \"soon\"", "bottom must be a number, a date"),
        ("top = 20\nbottom = 30", "bottom must be below top"),
        ("kind = \"categorical\"\ntop = 20", "for numbers and dates"),
        ("top = \"2024-01-01\"", "holds numbers such as"),
    ] {
        let folder = Folder::new().with("people.csv", &people(60)).with("policy.toml", &policy(tails));
        let ran = anonymize(&folder, &[]);
        assert!(ran.code == 2 && ran.stderr.contains(told), "{tails}: {}", ran.stderr);
    }
    let sensitive = POLICY.replace("role = \"sensitive\"", "role = \"sensitive\"\ntop = 5");
    let folder = Folder::new().with("people.csv", &people(60)).with("policy.toml", &sensitive);
    let ran = anonymize(&folder, &[]);
    assert!(ran.code == 2 && ran.stderr.contains("only for an attribute with role"), "{}", ran.stderr);
}
