//! What a user can ask for by mistake is told in a sentence: no abort, no exit code 70.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, Ran, people};

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

/// A refusal that names the mistake and says what to do.
fn refused(ran: &Ran, code: i32, says: &[&str]) {
    assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("mistake in throng"), "{}", ran.stderr);
    assert!(says.iter().all(|text| ran.stderr.contains(text)), "{says:?}: {}", ran.stderr);
}

fn start() -> Folder {
    Folder::new().with("d.csv", &people(60)).with("p.toml", POLICY)
}

#[test]
fn a_trillion_queries_are_too_many() {
    let ran = run(&start(), "evaluate d.csv -p p.toml --task queries --set count=1000000000000");
    refused(&ran, 2, &["count = 1000000000000", "help:"]);
}

#[test]
fn a_thousand_threads_do_for_a_tiny_table() {
    let ran = run(&start(), "anonymize d.csv -p p.toml -o r.csv --threads 1000 --quiet");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    refused(
        &run(&start(), "anonymize d.csv -p p.toml -o r.csv --threads 100000"),
        2,
        &["--threads", "help:"],
    );
}

#[test]
fn a_column_called_group_is_in_the_way_of_a_permutation() {
    let (table, policy) = (people(60).replace("sex", "group"), POLICY.replace("sex", "group"));
    let folder = Folder::new().with("d.csv", &table).with("p.toml", &policy);
    for line in ["--publish permutation", "--method anatomy"] {
        let ran = run(&folder, &format!("anonymize d.csv -p p.toml -o r.csv {line}"));
        refused(&ran, 2, &["two columns called \"group\"", "help:"]);
    }
}

#[test]
fn weights_near_zero_are_refused() {
    for (weight, limit) in
        [("1e-300", "max_loss = 0.3"), ("5e-324", "k = 2\nmax_loss = 0.3"), ("1e300", "k = 3")]
    {
        let policy = POLICY
            .replace("k = 3", limit)
            .replace("[attribute.sex]", &format!("weight = {weight}\n[attribute.sex]"));
        let folder = Folder::new().with("d.csv", &people(60)).with("p.toml", &policy);
        refused(&run(&folder, "anonymize d.csv -p p.toml -o r.csv"), 2, &["weight", "help:"]);
    }
}

#[test]
fn an_l_that_no_share_equals_is_met_or_refused() {
    for (every, codes) in [(5, &[1][..]), (2, &[0, 1])] {
        let mut table = "age,sex,illness\n".to_owned();
        for row in 0..60 {
            let often = if every == 5 { row % 5 < 3 } else { row % 2 == 0 };
            let illness = if often { "flu" } else { ["cold", "gout", "mumps"][row % 3] };
            table += &format!("{},{},{illness}\n", 20 + (row * 7) % 50, ["f", "m"][row % 2]);
        }
        let policy = POLICY.replace("k = 3", "k = 3\nl = 1.6666666667");
        let folder = Folder::new().with("d.csv", &table).with("p.toml", &policy);
        let ran = run(&folder, "anonymize d.csv -p p.toml -o r.csv --quiet");
        assert!(codes.contains(&ran.code), "{}: {}", ran.code, ran.stderr);
    }
}
