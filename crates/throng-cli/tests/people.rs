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
    // What is not shown is neither called met nor called broken: the run has shown that it is met.
    let shown = words.contains("The requirement is met");
    assert_eq!(audited.code, i32::from(!shown), "{words}");
    assert!(!words.contains("not met") && !words.contains("the smallest class has"), "{words}");
    assert!(shown || words.contains("These files do not show whether the requirement is met"), "{words}");
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
        &["audit", "visits.csv", "r.csv", "--policy", "p.toml"][..],
        &["audit", "visits.csv", "r.csv", "--policy", "p.toml", "--json"][..],
    ] {
        let ran = folder.run(run);
        let words = told(&ran);
        assert!(words.replace('\\', "").contains("\"patient_id\" looks like whose record it is"), "{words}");
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

/// What a class tells is told of its rows, whosever they are: the run and an audit of its files say the same.
#[test]
fn run_and_audit_agree_on_what_classes_tell() {
    let table = visits().replace("gout", "flu");
    let folder = Folder::new().with("visits.csv", &table).with("p.toml", &policy("role = \"person\""));
    let ran = folder.run(&["anonymize", "visits.csv", "-p", "p.toml", "-o", "r.csv", "--report", "r.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let release = folder.read("r.csv");
    let class = |line: &str| {
        line.rsplit_once(',').map(|(cells, value)| (cells.to_owned(), value.to_owned())).unwrap()
    };
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    release
        .lines()
        .skip(1)
        .map(class)
        .for_each(|(cells, value)| values.entry(cells).or_default().push(value));
    let told: usize =
        values.values().filter(|own| own.iter().all(|value| *value == own[0])).map(Vec::len).sum();
    let expected = told as f64 / (release.lines().count() - 1) as f64;
    let audit = folder.run(&["audit", "visits.csv", "r.csv", "-p", "p.toml", "--json"]);
    for text in [folder.read("r.json"), audit.stdout] {
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["sensitive"][0]["told_share"].as_f64(), Some(expected));
        assert!(report["sensitive"][0]["l_frequency"].as_f64().unwrap() >= 1.0);
    }
}

/// Three visits a patient, and one patient whose birth year nobody shares: one person is found, not three records.
#[test]
fn risk_counts_people_on_combinations() {
    let mut table = "patient_id,birth_year,sex\n".to_owned();
    for who in 0..20 {
        (0..3).for_each(|_| {
            table +=
                &format!("P{who},{},{}\n", if who == 0 { 1900 } else { 1950 + who % 4 }, ["f", "m"][who % 2]);
        });
    }
    let policy = "[privacy]\nk = 2\n[attribute.patient_id]\nrole = \"person\"\n[attribute.birth_year]\nrole = \"quasi\"\n\
                  [attribute.sex]\nrole = \"quasi\"\n";
    let folder = Folder::new().with("d.csv", &table).with("p.toml", policy);
    let ran = folder.run(&["risk", "d.csv", "-p", "p.toml", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let first = &told["combinations"][0];
    assert_eq!(first["attributes"][0], "birth_year", "{first}");
    assert_eq!(
        (first["unique_records"].as_u64(), first["unique_share"].as_f64()),
        (Some(1), Some(0.05)),
        "{first}"
    );
    let words = folder.run(&["risk", "d.csv", "-p", "p.toml"]).stdout;
    assert!(words.contains("of people") && !words.contains("counted over records"), "{words}");
}

/// A patient with many visits and a great weight is alone in his tail unless people are counted.
#[test]
fn automatic_tails_hold_people() {
    let mut table = "patient_id,weight,illness\n".to_owned();
    (0..30).for_each(|who| table += &format!("P{who},{},flu\n", 50 + who));
    (0..9).for_each(|visit| table += &format!("P99,{},flu\n", 300 + visit));
    let policy = "[privacy]\nk = 4\n[attribute.patient_id]\nrole = \"person\"\n[attribute.weight]\nrole = \"quasi\"\ntop = \"auto\"\n\
                  [attribute.illness]\nrole = \"sensitive\"\n";
    let folder = Folder::new().with("d.csv", &table).with("p.toml", policy);
    let ran = folder.run(&["anonymize", "d.csv", "-p", "p.toml", "-o", "r.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let release = folder.read("r.csv");
    assert!(release.contains('≥') && !release.contains("30"), "{release}");
}
