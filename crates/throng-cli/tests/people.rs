//! Tables with several records of a person, as a user meets them.
#![allow(clippy::unwrap_used)]

mod folder;

use std::collections::{BTreeMap, BTreeSet};

use folder::{Folder, Ran};

/// All that a command said, as one line: `anonymize` tells on standard error, `risk` and `audit` on standard output.
fn told(ran: &Ran) -> String {
    format!("{} {}", ran.stdout, ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// 40 patients with five visits each.
fn visits() -> String {
    let row = |at: usize| {
        let who = at % 40;
        let (born, sex, day) = (1940 + who, ["f", "m"][who % 2], 1 + at * 11 % 28);
        format!("P{:03},{born},{sex},2024-03-{day:02},{}\n", who * 37 % 997, ["flu", "cold", "gout"][at % 3])
    };
    "patient_id,birth_year,sex,visit_date,diagnosis\n".to_owned() + &(0..200).map(row).collect::<String>()
}

fn policy(person: &str) -> String {
    format!(
        "[privacy]\nk = 5\n[method]\nseed = 1\n[attribute.patient_id]\n{person}\n[attribute.birth_year]\nrole = \"quasi\"\n\
         [attribute.sex]\nrole = \"quasi\"\n[attribute.visit_date]\nrole = \"quasi\"\n[attribute.diagnosis]\nrole = \"sensitive\"\n"
    )
}

/// The fewest patients in a class of a release in the table's order.
fn fewest(release: &str) -> usize {
    let mut people: BTreeMap<Vec<&str>, BTreeSet<usize>> = BTreeMap::new();
    for (at, line) in release.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        people.entry(cells[cells.len() - 4..cells.len() - 1].to_vec()).or_default().insert(at % 40);
    }
    people.values().map(BTreeSet::len).min().unwrap()
}

#[test]
fn init_finds_whose_records_they_are() {
    let folder = Folder::new().with("visits.csv", &visits());
    let ran = folder.run(&["init", "visits.csv", "-o", "p.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let section = folder.read("p.toml");
    let section =
        section.split("[attribute.").find(|part| part.starts_with("patient_id")).unwrap().to_owned();
    assert!(section.contains("role = \"person\""), "{section}");
    assert!(!section.contains("P0"), "no patient is shown: {section}");
    assert!(ran.stderr.contains("person") || ran.stdout.contains("person"));
}

#[test]
fn a_release_counts_patients_and_its_report_says_so() {
    let folder = Folder::new().with("visits.csv", &visits()).with("p.toml", &policy("role = \"person\""));
    let run = [
        "anonymize",
        "visits.csv",
        "--policy",
        "p.toml",
        "-o",
        "r.csv",
        "--keep-order",
        "--report",
        "r.json",
    ];
    let ran = folder.run(&run);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(told(&ran).contains("other people"), "{}", told(&ran));
    assert!(told(&ran).contains("40 with 5 records on average, 5 at most"), "{}", told(&ran));
    let release = folder.read("r.csv");
    assert!(!release.contains("patient_id") && fewest(&release) >= 5);
    let report: serde_json::Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(report["people"]["people_in"], 40);
    assert_eq!(report["k"], fewest(&release));
    let audited = folder.run(&["audit", "visits.csv", "r.csv", "--policy", "p.toml", "--json"]);
    assert_eq!(audited.code, 0, "{}", audited.stdout);
    let audit: serde_json::Value = serde_json::from_str(&audited.stdout).unwrap();
    assert_eq!((&audit["k"], &audit["people"]["known_by"]), (&report["k"], &"order".into()));
}

#[test]
fn an_audit_of_shuffled_rows_says_what_it_cannot_know() {
    let folder = Folder::new().with("visits.csv", &visits()).with("p.toml", &policy("role = \"person\""));
    assert_eq!(folder.run(&["anonymize", "visits.csv", "--policy", "p.toml", "-o", "r.csv"]).code, 0);
    let audited = folder.run(&["audit", "visits.csv", "r.csv", "--policy", "p.toml"]);
    let words = audited.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("these files do not tell whose a row is"), "{words}");
    let shown = words.contains("The requirement is met");
    assert_eq!(audited.code, i32::from(!shown), "{words}");
}

#[test]
fn numbers_let_people_be_followed_and_that_is_said() {
    let folder = Folder::new()
        .with("visits.csv", &visits())
        .with("p.toml", &policy("role = \"person\"\npublish = \"number\""));
    let ran = folder.run(&["anonymize", "visits.csv", "--policy", "p.toml", "-o", "r.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(told(&ran).contains("can be followed"), "{}", told(&ran));
    let release = folder.read("r.csv");
    assert!(!release.contains('P'), "what the table calls people is not published: {release}");
    let numbers: BTreeSet<&str> = release.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(numbers.len(), 40);
    assert!(
        folder
            .run(&["audit", "visits.csv", "r.csv", "--policy", "p.toml"])
            .stdout
            .contains("by their number")
    );
}

#[test]
fn a_policy_that_forgets_people_is_warned() {
    let folder = Folder::new().with("visits.csv", &visits()).with("p.toml", &policy("role = \"identifier\""));
    for run in [
        &["anonymize", "visits.csv", "--policy", "p.toml", "-o", "r.csv"][..],
        &["risk", "visits.csv", "--policy", "p.toml"][..],
    ] {
        let ran = folder.run(run);
        let words = told(&ran);
        assert!(words.contains("\"patient_id\" looks like whose record it is"), "{words}");
    }
    let folder = folder.with("q.toml", &policy("role = \"person\""));
    let told = folder.run(&["risk", "visits.csv", "--policy", "q.toml"]).stdout;
    assert!(!told.contains("looks like whose"), "{told}");
    assert!(told.contains("of 40 people"), "{told}");
    assert!(told.contains("5 records on average"), "{told}");
}

#[test]
fn what_belongs_to_people_is_refused_elsewhere() {
    let folder = Folder::new()
        .with("visits.csv", &visits())
        .with("p.toml", &policy("role = \"identifier\"\ntogether = true"));
    let ran = folder.run(&["anonymize", "visits.csv", "--policy", "p.toml", "-o", "r.csv"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("together makes sense only for an attribute with role \"person\""),
        "{}",
        ran.stderr
    );
    let folder = folder.with("q.toml", &policy("role = \"person\""));
    let permuted =
        ["anonymize", "visits.csv", "--policy", "q.toml", "-o", "r.csv", "--publish", "permutation"];
    let ran = folder.run(&permuted);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("permutation"), "{}", ran.stderr);
    let ran =
        folder.run(&["anonymize", "visits.csv", "--policy", "q.toml", "-o", "r.csv", "--method", "anatomy"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("the method anatomy does not take the role \"person\""),
        "{}",
        ran.stderr
    );
    assert!(!folder.files().contains(&"r.csv".to_owned()));
}
