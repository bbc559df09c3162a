//! A steward who follows the guide without an edit: `init`, then `anonymize`. Whatever comes of it, nobody may be published under a
//! green verdict without being told how many rows are unique.

#![allow(clippy::unwrap_used)]

mod folder;

use std::collections::HashMap;
use std::fmt::Write as _;

use folder::{Folder, Ran, shared};

/// The tables of other people, by name; they are not part of the project.
const SHARED: [&str; 8] = [
    "german.csv.zst",
    "crx.csv.zst",
    "nursery.csv.zst",
    "fars.subset.csv.zst",
    "cmc.csv.zst",
    "census-income-kdd.test.csv.zst",
    "messy/titanic.csv",
    "adult.train.csv.zst",
];

/// Patients as hospitals in three countries would export them.
fn patients(header: &str, words: [[&str; 3]; 3]) -> String {
    let mut text = format!("{header}\n");
    for row in 0..600usize {
        let [illness, town, ward] = [0, 1, 2].map(|at| words[at][(row * (5 + at)) % 7 % 3]);
        let born = format!("19{:02}-{:02}-{:02}", 30 + row * 7 % 70, 1 + row % 12, 1 + row * 11 % 28);
        let seen = format!("2024-{:02}-{:02}", 1 + row * 3 % 12, 1 + row * 13 % 28);
        let (number, cost) = (100_000 + row * 37, 100 + row * row % 9_973);
        let note = format!("{illness} {ward} {town} {}", row * 17 % 599);
        writeln!(text, "{number},{born},{town},{seen},{ward},{illness},{cost},{note}").unwrap();
    }
    text
}

fn three_languages() -> [(&'static str, String); 3] {
    let english = [["flu", "gout", "cold"], ["Leeds", "York", "Hull"], ["A", "B", "C"]];
    let german = [["Grippe", "Gicht", "Angina"], ["Bonn", "Ulm", "Trier"], ["I", "II", "III"]];
    let french = [["grippe", "goutte", "rhume"], ["Lyon", "Metz", "Nice"], ["nord", "sud", "est"]];
    [
        (
            "patients.csv",
            patients("patient_id,date_of_birth,town,admitted,ward,diagnosis,cost,remarks", english),
        ),
        (
            "patienten.csv",
            patients("Patientennummer,Geburtsdatum,Ort,Aufnahme,Station,Diagnose,Kosten,Bemerkung", german),
        ),
        (
            "malades.csv",
            patients(
                "numero_patient,date_naissance,ville,admission,service,diagnostic,frais,remarques",
                french,
            ),
        ),
    ]
}

/// The plain way: the share of lines that occur once.
fn unique_share(csv: &str) -> f64 {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    csv.lines().skip(1).for_each(|line| *counts.entry(line).or_default() += 1);
    let (alone, rows) = (counts.values().filter(|count| **count == 1).count(), csv.lines().count() - 1);
    alone as f64 / rows as f64
}

/// Checks that a run without edits was refused with what to do, or tells how many rows are unique.
fn check(folder: &Folder, name: &str, ran: &Ran) {
    if ran.code != 0 {
        assert_eq!(ran.code, 2, "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("help:"), "{name}: {}", ran.stderr);
        assert!(!folder.files().contains(&"release.csv".to_owned()), "{name}");
        return;
    }
    let share = unique_share(&folder.read("release.csv"));
    let report: serde_json::Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let told = &report["published_as_is"];
    assert!((told["unique_share"].as_f64().unwrap() - share).abs() < 1e-12, "{name}: {told} for {share}");
    if told["columns"].as_array().unwrap().is_empty() {
        return;
    }
    let words = match share {
        0.0 => "none of the rows is unique".to_owned(),
        share if share < 0.005 => "less than 1 % of the rows are unique".to_owned(),
        share if (0.995..1.0).contains(&share) => "more than 99 % of the rows are unique".to_owned(),
        share => format!("{:.0} % of the rows are unique", 100.0 * share),
    };
    let text = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&words), "{name}: no \"{words}\" in {text}");
}

fn init_and_anonymize(folder: &Folder, data: &str) {
    let ran = folder.run(&["init", data, "-o", "first.toml", "--force"]);
    if ran.code != 0 {
        assert!(ran.stderr.contains("help:"), "{data}: {}", ran.stderr);
        return;
    }
    // A fast method: what is published beside the quasi-identifiers does not depend on it.
    let base = ["anonymize", data, "-p", "first.toml", "-o", "release.csv", "--report", "report.json"];
    let ran = folder.run(&[&base[..], &["--method", "mondrian"]].concat());
    check(folder, data, &ran);
}

#[test]
fn patients_in_three_languages_are_refused_or_counted() {
    for (name, table) in three_languages() {
        init_and_anonymize(&Folder::new().with(name, &table), name);
    }
}

#[test]
fn real_tables_are_refused_or_counted() {
    for path in SHARED.iter().filter_map(|name| shared(name)) {
        init_and_anonymize(&Folder::new(), path.to_str().unwrap());
    }
}
