//! No method is more generous than the requirement: what is a class is decided in one place.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{Case, can_do, cases, load};
use proptest::prelude::*;
use throng::error::Fault;
use throng::method::{Entry, Methods, Partition, STANDARD};
use throng::policy::Policy;
use throng::privacy::{Part, Tally};
use throng::problem::Problem;
use throng::run;
use throng::watch::Unwatched;

/// The groups of a method; `None` if it refuses, which it may under a limit on the loss only.
fn groups(entry: &Entry, problem: &Problem) -> Option<Partition> {
    let method = Methods::standard().configure(entry, &toml::Table::new()).unwrap();
    match method.solve(problem, &Unwatched) {
        Ok(solution) => Some(solution.partition),
        Err(error) if entry.name == "exact" && error.message().contains("too large") => None,
        Err(error) => {
            assert!(!problem.limits.is_empty(), "{}: {error}", entry.name);
            assert_eq!(error.fault(), Fault::Requirement, "{}: {error}", entry.name);
            None
        }
    }
}

fn tally(problem: &Problem, group: &[u32]) -> Tally {
    let mut tally = Tally::for_problem(problem);
    group.iter().for_each(|record| tally.add_record(&problem.sensitive, *record));
    tally
}

/// Five records with three of a value are a little less than 1.6666666667-diverse.
const TEN_ROWS: &str = "age,ill\n1,a\n1,a\n1,a\n1,b\n1,b\n9,c\n9,d\n9,e\n9,f\n9,g\n";

#[test]
fn no_method_makes_a_class_that_falls_short_in_the_tenth_digit() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("table.csv");
    std::fs::write(&data, TEN_ROWS).unwrap();
    let mut asked = 0;
    for (privacy, parts) in [
        ("l = 1.6666666667", [Part::L].as_slice()),
        ("k = 2\nl = 1.6666666667", &[Part::K, Part::L]),
        ("l = 1.6666666667\nmax_loss = 1.0", &[Part::MaxLoss, Part::L]),
    ] {
        let text = format!(
            "[privacy]\n{privacy}\n[method]\nseed = 1\n[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n\
             [attribute.ill]\nrole = \"sensitive\"\n"
        );
        let policy = Policy::parse(&text, None).unwrap();
        let problem = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap();
        for entry in STANDARD.iter().filter(|entry| can_do(entry, parts)) {
            let Some(partition) = groups(entry, &problem) else { continue };
            asked += 1;
            for group in partition.groups() {
                let ill = tally(&problem, group);
                let most = ill.histogram(0).present().map(|(_, count)| count as usize).max().unwrap();
                // In whole numbers: l times 10^10.
                let holds = most * 16_666_666_667 <= group.len() * 10_000_000_000;
                assert!(holds, "{} puts {most} of one value among {} records", entry.name, group.len());
            }
        }
    }
    assert!(asked > 20, "only {asked} methods take l");
}

/// The share of the most frequent value, written as l with ten digits: rounded down it can be met, rounded up it cannot.
fn written(case: &Case) -> [String; 2] {
    let of = |value: u8| case.sensitive.iter().filter(|own| **own == value).count();
    let most = (0..=u8::MAX).map(of).max().unwrap_or(1) as u64;
    let digits = case.sensitive.len() as u64 * 10_000_000_000 / most;
    [digits, digits + 1]
        .map(|digits| format!("l = {}.{:010}", digits / 10_000_000_000, digits % 10_000_000_000))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_group_of_every_method_is_a_class_whatever_the_digits_of_l(
        case in cases(40),
        (size, count) in (2u32..30, 1u32..12).prop_filter("at least 1", |(size, count)| size >= count),
    ) {
        let [possible, _] = written(&case);
        let quotient = format!("l = {:.10}", f64::from(size) / f64::from(count));
        for privacy in [possible, quotient] {
            for entry in STANDARD.iter().filter(|entry| can_do(entry, &[Part::L])) {
                let loaded = load(&case, &privacy, entry.name);
                if loaded.problem.requirement.check_feasible(&loaded.problem).is_err() {
                    continue;
                }
                for group in groups(entry, &loaded.problem).iter().flat_map(Partition::groups) {
                    let tally = tally(&loaded.problem, group);
                    prop_assert!(loaded.problem.requirement.holds(&tally), "{}: {}", entry.name, privacy);
                }
            }
        }
    }

    #[test]
    fn what_the_whole_table_reaches_is_the_last_digit_that_is_possible(case in cases(40)) {
        let [possible, beyond] = written(&case);
        for (privacy, feasible) in [(possible, true), (beyond, false)] {
            let problem = load(&case, &privacy, "mondrian").problem;
            prop_assert_eq!(problem.requirement.check_feasible(&problem).is_ok(), feasible, "{}", privacy);
        }
    }
}
