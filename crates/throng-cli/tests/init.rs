//! `throng init` as a user runs it.

#![allow(clippy::unwrap_used)]

mod folder;

use std::path::Path;

use folder::{Folder, people, shared};

/// Writes a policy for a table and anonymizes the table with it.
fn init_and_anonymize(data: &str) {
    let folder = Folder::new();
    let ran = folder.run(&["init", data, "-o", "first.toml"]);
    assert_eq!(ran.code, 0, "{data}: {}", ran.stderr);
    assert!(
        ran.stderr.contains("quasi-identifiers") && ran.stderr.contains("throng anonymize"),
        "{}",
        ran.stderr
    );
    let ran = folder.run(&["anonymize", data, "--policy", "first.toml", "-o", "release.csv", "--quiet"]);
    // What looks like an identifier is not published before somebody looked at it.
    if ran.code == 2 && ran.stderr.contains("looks like an identifier") {
        assert!(ran.stderr.contains("help:"), "{data}: {}", ran.stderr);
        return assert_eq!(folder.files(), ["first.toml"]);
    }
    assert_eq!(ran.code, 0, "{data}: {}", ran.stderr);
    assert_eq!(folder.files(), ["first.toml", "release.csv"]);
}

#[test]
fn a_first_policy_runs_as_it_is() {
    let folder = Folder::new().with("people.csv", &people(60));
    init_and_anonymize(folder.path("people.csv").to_str().unwrap());
}

#[test]
fn the_bundled_sample_gets_a_policy_that_runs() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/adult-sample.csv");
    init_and_anonymize(sample.to_str().unwrap());
}

#[test]
fn adult_gets_a_policy_that_runs() {
    let Some(adult) = shared("adult.train.csv.zst") else { return };
    let folder = Folder::new();
    let ran = folder.run(&["init", adult.to_str().unwrap(), "-o", "-"]);
    assert!(ran.stdout.contains("missing = [\"\", \"?\"]"), "{}", ran.stdout);
    init_and_anonymize(adult.to_str().unwrap());
}

#[test]
fn messy_tables_get_a_policy_that_runs() {
    for place in ["messy", "messy/csv-spectrum/csvs"] {
        let Some(place) = shared(place) else { return };
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "csv") {
                init_and_anonymize(path.to_str().unwrap());
            }
        }
    }
}

#[test]
fn an_existing_policy_is_kept_unless_forced() {
    let folder = Folder::new().with("people.csv", &people(60)).with("throng.toml", "mine");
    let ran = folder.run(&["init", "people.csv"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("throng.toml") && ran.stderr.contains("--force"), "{}", ran.stderr);
    assert_eq!(folder.read("throng.toml"), "mine");
    assert_eq!(folder.run(&["init", "people.csv", "--force"]).code, 0);
    assert!(folder.read("throng.toml").contains("[attribute.age]"));
    assert_eq!(folder.files(), ["people.csv", "throng.toml"]);
}

#[test]
fn a_dash_prints_the_policy_and_nothing_else() {
    let folder = Folder::new().with("people.csv", &people(60));
    let ran = folder.run(&["init", "people.csv", "-o", "-"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.starts_with("# A first policy for \"people.csv\": 60 records, 3 columns."),
        "{}",
        ran.stdout
    );
    assert_eq!(folder.files(), ["people.csv"]);
}

#[test]
fn a_table_that_cannot_be_read_leaves_no_policy() {
    let folder = Folder::new().with("broken.csv", "a,b\n1,2\n3\n");
    for data in ["broken.csv", "nobody.csv"] {
        let ran = folder.run(&["init", data]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(data), "{}", ran.stderr);
        assert_eq!(folder.files(), ["broken.csv"]);
    }
}

#[test]
fn what_is_not_sure_is_said_on_the_screen_as_in_the_policy() {
    let mut table = "patient_id,age,zorblax\n".to_owned();
    (0..40).for_each(|row| table += &format!("P{row},{},{}\n", 20 + row % 9, ["a", "b"][row % 2]));
    let folder = Folder::new().with("my people.csv", &table);
    let ran = folder.run(&["init", "my people.csv", "-o", "p.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("CHECK zorblax: ") && !ran.stderr.contains("CHECK age"), "{}", ran.stderr);
    assert!(ran.stderr.contains("identifiers        patient_id"), "{}", ran.stderr);
    assert!(ran.stderr.contains("throng anonymize 'my people.csv' --policy p.toml"), "{}", ran.stderr);
    assert_eq!(folder.read("p.toml").matches("CHECK: ").count(), 1);
}

#[test]
fn a_table_without_a_header_is_refused_with_what_to_do() {
    let mut table = String::new();
    (0..40).for_each(|row| table += &format!("{},m,{}\n", 20 + row % 9, ["flu", "gout"][row % 2]));
    let folder = Folder::new().with("d.csv", &table);
    let ran = folder.run(&["init", "d.csv"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("no header") && ran.stderr.contains("help: put a line"), "{}", ran.stderr);
    assert_eq!(folder.files(), ["d.csv"]);
}

#[test]
fn dates_and_decimals_as_people_write_them_are_numeric() {
    let mut table = "geburtsdatum;gewicht;aufnahme\n".to_owned();
    (0..40).for_each(|row| {
        table += &format!(
            "{:02}.{:02}.19{:02};{},5;0{}/0{}/2020\n",
            1 + row % 28,
            1 + row % 12,
            40 + row,
            60 + row % 9,
            1 + row % 9,
            1 + row % 7
        );
    });
    let folder = Folder::new().with("d.csv", &table);
    let ran = folder.run(&["init", "d.csv", "-o", "p.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let policy = folder.read("p.toml");
    assert!(policy.contains("format = \"%d.%m.%Y\"") && policy.contains("decimal = \",\""), "{policy}");
    assert!(
        policy.contains("# CHECK: the values can be read as \"%d/%m/%Y\" or as \"%m/%d/%Y\""),
        "{policy}"
    );
    assert!(ran.stderr.contains("CHECK aufnahme: "), "{}", ran.stderr);
    let ran = folder.run(&["anonymize", "d.csv", "--policy", "p.toml", "-o", "r.csv", "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(folder.read("r.csv").lines().nth(1).unwrap().starts_with('['), "{}", folder.read("r.csv"));
}

#[test]
fn a_table_in_utf_16_is_told_what_to_do() {
    let bytes: Vec<u8> = people(9).encode_utf16().flat_map(u16::to_le_bytes).collect();
    for start in [&b"\xff\xfe"[..], b""] {
        let folder = Folder::new();
        std::fs::write(folder.path("d.csv"), [start, &bytes].concat()).unwrap();
        let ran = folder.run(&["init", "d.csv"]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("UTF-16") && ran.stderr.contains("save it as UTF-8"), "{}", ran.stderr);
    }
}
