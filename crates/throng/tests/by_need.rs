//! Records that ask for a k of their own, grouped by what they ask for.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{cases, load};
use proptest::prelude::*;
use throng::loss::{Kernel, group_ncp};
use throng::method::{Fact, Solution};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::watch::Unwatched;

fn loss(problem: &Problem, groups: impl IntoIterator<Item = Vec<u32>>) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    groups.into_iter().map(|group| group.len() as f64 * group_ncp(problem, &kernel, &group)).sum()
}

fn groups(solution: &Solution) -> impl Iterator<Item = Vec<u32>> + '_ {
    solution.partition.groups().map(<[u32]>::to_vec)
}

fn is_by_need(solution: &Solution) -> bool {
    solution.facts.iter().any(|fact| matches!(fact, Fact::GroupedByNeed { .. }))
}

/// A method that groups all records together.
fn together(method: &str) -> String {
    format!("{method}\"\nneeds = \"together\"\n# \"")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn grouping_by_need_never_loses_more_and_gives_everyone_what_they_ask_for(
        case in cases(60),
        method in prop::sample::select(vec!["mondrian", "mondrian-relaxed", "top-down", "bottom-up"]),
        diverse in any::<bool>(),
    ) {
        let privacy = if diverse { "k_column = \"wish\"\nl = 1.2" } else { "k_column = \"wish\"" };
        let fitting = load(&case, privacy, method);
        let problem = &fitting.problem;
        prop_assume!(problem.requirement.check_feasible(problem).is_ok());
        let found = throng::run::solve(problem, &fitting.policy, &Unwatched).unwrap();
        let demands = problem.demands.as_ref().unwrap();
        let mut all: Vec<u32> = Vec::new();
        for group in groups(&found) {
            prop_assert!(group.iter().all(|record| group.len() >= demands[*record as usize] as usize));
            all.extend(group);
        }
        all.sort_unstable();
        prop_assert_eq!(all, (0..problem.len() as u32).collect::<Vec<u32>>());
        let plain = load(&case, privacy, &together(method));
        let whole = throng::run::solve(&plain.problem, &plain.policy, &Unwatched).unwrap();
        prop_assert!(!is_by_need(&whole));
        let (found_loss, whole_loss) = (loss(problem, groups(&found)), loss(problem, groups(&whole)));
        prop_assert!(found_loss <= whole_loss + 1e-9, "{} against {}", found_loss, whole_loss);
        prop_assert_eq!(is_by_need(&found), found_loss < whole_loss - 1e-12);
    }
}

#[test]
fn auto_groups_all_records_of_a_small_table_together_where_it_is_told_to() {
    let row = |at: u32| {
        let wish = if at.is_multiple_of(5) { 40 } else { 3 };
        format!("{},{},{wish}\n", at * 7919 % 1009, at * at * 31 % 997)
    };
    let csv = format!("a,b,wish\n{}", (0..400).map(row).collect::<String>());
    let solve = |more: &str| {
        let text = format!(
            "[privacy]\nk_column = \"wish\"\n[method]\nname = \"auto\"\nseed = 1\n{more}\n[attribute.a]\nrole = \"quasi\"\n\
             [attribute.b]\nrole = \"quasi\"\n[attribute.wish]\nrole = \"identifier\"\n"
        );
        let loaded = common::loaded(csv.clone(), &text);
        throng::run::solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap()
    };
    assert!(!is_by_need(&solve("needs = \"together\"")));
    let found = solve("");
    let told = found.facts.iter().filter(|fact| matches!(fact, Fact::GroupedByNeed { .. })).count();
    assert_eq!(told, 1, "what was done is told once");
}

const NEEDS: [u32; 4] = [3, 10, 40, 120];

/// 4,000 rows of Adult, each asking for one of several k, scattered.
fn adult(data: &std::path::Path) -> (String, String) {
    let file = std::fs::File::open(data.join("adult.train.complete.csv.zst")).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut zstd::Decoder::new(file).unwrap(), &mut text).unwrap();
    let mut lines = text.lines();
    let mut csv = format!("{},wish\n", lines.next().unwrap());
    for (at, line) in lines.take(4000).enumerate() {
        let wish = NEEDS[(at as u32).wrapping_mul(0x9e37_79b1) as usize >> 16 & 3];
        csv += &format!("{line},{wish}\n");
    }
    let mut policy = String::new();
    for name in ["age", "education-num"] {
        policy += &format!("[attribute.{name}]\nrole = \"quasi\"\nkind = \"numeric\"\n");
    }
    for name in ["workclass", "marital-status", "occupation", "race", "sex", "native-country"] {
        let file = data.join(format!("hierarchies/adult-xu/{name}.csv"));
        policy += &format!("[attribute.{name}]\nrole = \"quasi\"\nhierarchy = '{}'\n", file.display());
    }
    (csv, policy + "[attribute.wish]\nrole = \"identifier\"\n")
}

#[test]
fn on_adult_scattered_needs_cost_no_more_than_a_table_for_each() {
    let Some(data) = common::shared_data() else { return };
    let (csv, attributes) = adult(&data);
    let unlisted = "[data]\nunlisted = \"drop\"\n";
    for method in ["mondrian", "top-down", "auto"] {
        let text = format!(
            "{unlisted}[privacy]\nk_column = \"wish\"\n[method]\nname = \"{method}\"\nseed = 1\n{attributes}"
        );
        let loaded = common::loaded(csv.clone(), &text);
        let problem = &loaded.problem;
        let found = throng::run::solve(problem, &loaded.policy, &Unwatched).unwrap();
        // The plain way: a table of its own for everybody who asks for the same, each under that k.
        let demands = problem.demands.clone().unwrap();
        let mut apart = 0.0;
        for need in NEEDS {
            let own: Vec<u32> =
                (0..problem.len() as u32).filter(|at| demands[*at as usize] == need).collect();
            let text = format!(
                "{unlisted}[privacy]\nk = {need}\n[method]\nname = \"{method}\"\nseed = 1\n{attributes}"
            );
            let policy = Policy::parse(&text, None).unwrap();
            let mut part = problem.of_records(&own);
            part.data.demands = None;
            part.require(&policy.privacy);
            let solution = throng::run::solve(&part, &policy, &Unwatched).unwrap();
            apart += loss(&part, groups(&solution));
        }
        let own = loss(problem, groups(&found));
        assert!(own <= 1.1 * apart, "{method}: {own} against {apart}");
        assert!(is_by_need(&found), "{method}");
    }
}
