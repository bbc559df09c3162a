//! What a release is good for: queries, leaf weights, utility targets, and records that ask for a k of their own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fmt::Write as _;

use common::{cases, load};
use proptest::prelude::*;
use throng::error::{Error, Fault};
use throng::evaluate::queries::answer::{Answerer, Spread};
use throng::evaluate::queries::{self, Condition, Query, draw};
use throng::loss::{Kernel, group_ncp};
use throng::method::{Methods, Published, STANDARD, Solution};
use throng::plan::target;
use throng::policy::Policy;
use throng::privacy::Part;
use throng::problem::Problem;
use throng::release::{Order, Publish};
use throng::run::Evaluate;
use throng::run::{self, Anonymize, audit_files, solve};
use throng::table::Scale;
use throng::watch::Unwatched;

/// Which share of a record in a group meets a condition, by counting the values it may have.
fn plain_share(problem: &Problem, at: usize, group: &[u32], condition: &Condition) -> f64 {
    let domain = &problem.attributes[at].domain;
    let codes = || group.iter().map(|record| problem.records.code(*record as usize, at));
    let (low, high) = (codes().min().unwrap(), codes().max().unwrap());
    match (domain.scale(), condition) {
        (Scale::Categorical(tree), Condition::Leaves(ranges)) => {
            let node = tree.leaves_under(tree.ancestor(low as usize, high as usize));
            let met = node.clone().filter(|leaf| {
                ranges.iter().any(|(first, end)| (*first as usize..*end as usize).contains(leaf))
            });
            met.count() as f64 / node.len() as f64
        }
        (Scale::Numeric { values, .. }, Condition::Between(from, to)) => {
            if Some(low) == domain.missing() {
                return 0.0;
            }
            let (first, last) = match Some(high) == domain.missing() {
                true => (values[0], values[values.len() - 1]),
                false => (values[low as usize], values[high as usize]),
            };
            if values.iter().all(|value| value.fract() == 0.0) {
                let all: Vec<f64> = (first as i64..=last as i64).map(|value| value as f64).collect();
                all.iter().filter(|value| from <= value && *value <= to).count() as f64 / all.len() as f64
            } else if first == last {
                f64::from(u8::from(*from <= first && first <= *to))
            } else {
                (last.min(*to) - first.max(*from)).max(0.0) / (last - first)
            }
        }
        _ => unreachable!("a condition of another kind"),
    }
}

fn plain_estimate(problem: &Problem, solution: &Solution, query: &Query) -> f64 {
    let group_share = |group: &[u32]| -> f64 {
        let conditions = query.conditions.iter().enumerate();
        conditions
            .filter_map(|(at, condition)| Some(plain_share(problem, at, group, condition.as_ref()?)))
            .product()
    };
    solution.partition.groups().map(|group| group.len() as f64 * group_share(group)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn estimates_are_what_counting_values_gives(case in cases(40), seed in 0u64..1000) {
        let loaded = load(&case, "k = 3", "top-down");
        let problem = &loaded.problem;
        prop_assume!(problem.len() >= 3);
        let solution = solve(problem, &loaded.policy, &Unwatched).unwrap();
        let all: Vec<usize> = (0..problem.attributes.len()).collect();
        let spread = Spread::of_solution(problem, &solution);
        for query in draw::draw(problem, &all, None, 30, seed) {
            let (found, plain) = (spread.estimate(&query, &[]), plain_estimate(problem, &solution, &query));
            prop_assert!((found - plain).abs() < 1e-9, "{}: {found} and {plain}", query.name);
        }
        // With a class for each record, estimates are exact where no cell is a range.
        let exact = load(&case, "k = 1", "bottom-up");
        let solution = solve(&exact.problem, &exact.policy, &Unwatched).unwrap();
        let spread = Spread::of_solution(&exact.problem, &solution);
        for answered in Answerer::new(&exact.problem).answer(&draw::draw(&exact.problem, &all, None, 30, seed), &spread) {
            prop_assert!((answered.exact - answered.estimate).abs() < 1e-9, "{answered:?}");
        }
    }

    #[test]
    fn what_is_read_back_answers_as_what_was_found(case in cases(40)) {
        let loaded = load(&case, "k = 3", "mondrian");
        prop_assume!(loaded.problem.len() >= 3);
        let (_folder, data) = loaded.on_disk();
        let evaluate = Evaluate {
            data,
            policy: loaded.policy.clone(),
            release: None,
            task: "queries".to_owned(),
            secret: None,
            registry: Default::default(),
        };
        let figures = evaluate.run(&Unwatched).unwrap().figures;
        let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
        match queries::mean_error(&loaded.problem, &solution, 1000, 1) {
            Ok(error) => prop_assert!((figures["mean_error"].as_f64().unwrap() - error).abs() < 1e-9),
            Err(_) => prop_assert!(!figures.contains_key("mean_error")),
        }
    }

    #[test]
    fn every_class_is_as_large_as_its_most_demanding_member_asks(values in prop::collection::vec((0u8..20, 0u8..6, 1u32..7), 7..60)) {
        let mut csv = "age,city,wish\n".to_owned();
        values.iter().for_each(|(age, city, wish)| writeln!(csv, "{age},c{city},{wish}").unwrap());
        let takes = STANDARD.iter().filter(|entry| entry.takes.contains(&Part::OwnK));
        prop_assert!(takes.clone().count() >= 4);
        for entry in takes {
            let policy = format!(
                "[privacy]\nk_column = \"wish\"\n[method]\nname = \"{}\"\nseed = 3\n[attribute.wish]\nrole = \"identifier\"\n\
                 [attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n",
                entry.name
            );
            let loaded = common::loaded(csv.clone(), &policy);
            let solution = solve(&loaded.problem, &loaded.policy, &Unwatched).unwrap();
            for group in solution.partition.groups() {
                let most = group.iter().map(|record| values[*record as usize].2).max().unwrap();
                prop_assert!(group.len() >= most as usize, "{}: {} records, one asks for {most}", entry.name, group.len());
            }
            let release = loaded.publish(&solution, Publish::Cells, Order::Shuffled);
            prop_assert!(!String::from_utf8(release.bytes.clone()).unwrap().contains("wish"));
            prop_assert!(loaded.measures(&release).violations.is_empty());
        }
    }
}

fn anonymize(data: &std::path::Path, release: &std::path::Path, policy: &Policy) -> Anonymize {
    Anonymize::new(data, release, policy.clone())
}

fn written(folder: &tempfile::TempDir, csv: &str, policy: &str) -> (std::path::PathBuf, Policy) {
    let data = folder.path().join("table.csv");
    std::fs::write(&data, csv).unwrap();
    (data, Policy::parse(policy, None).unwrap())
}

#[test]
fn an_audit_sees_that_too_few_are_hidden_as_well_as_they_ask() {
    let folder = tempfile::tempdir().unwrap();
    let csv = "age,wish\n1,1\n2,\n3,4\n4,1\n5,1\n6,1\n";
    let (data, policy) = written(
        &folder,
        csv,
        "[privacy]\nk_column = \"wish\"\n[attribute.wish]\nrole = \"identifier\"\n[attribute.age]\nrole = \"quasi\"\n",
    );
    let release = folder.path().join("release.csv");
    std::fs::write(&release, "age\n[1-3]\n[1-3]\n[1-3]\n[4-6]\n[4-6]\n[4-6]\n").unwrap();
    let found = audit_files(&data, &release, &policy, &Unwatched).unwrap().measures.violations;
    assert!(found[0].contains("classes of 4"), "{found:?}");
}

#[test]
fn rules_give_the_records_they_pick_a_k_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = "age,city,illness,wish\n".to_owned();
    let rows: Vec<(u32, &str, &str, u32)> = (0..60)
        .map(|at| {
            (
                at % 30,
                ["Rome", "Oslo", "Bergen"][at as usize % 3],
                ["flu", "cold", "gout"][at as usize % 7 % 3],
                at % 11,
            )
        })
        .collect();
    for (age, city, illness, wish) in &rows {
        writeln!(csv, "{age},{city},{illness},{}", if *wish == 0 { String::new() } else { wish.to_string() })
            .unwrap();
    }
    let asked = |(age, city, illness, wish): &(u32, &str, &str, u32)| {
        let young = if (5..=9).contains(age) { 6 } else { 1 };
        let northern = if *age == 12 && *city != "Rome" { 4 } else { 1 };
        let ill = if ["gout", "cold"].contains(illness) { 3 } else { 1 };
        young.max(northern).max(ill).max(*wish)
    };
    for method in ["mondrian", "mondrian-relaxed", "bottom-up", "top-down"] {
        let policy = format!(
            "[privacy]\nk_column = \"wish\"\n\
             [[privacy.own_k]]\nwhere = {{ age = [5, 9] }}\nk = 6\n\
             [[privacy.own_k]]\nwhere = {{ age = 12, city = \"North\" }}\nk = 4\n\
             [[privacy.own_k]]\nwhere = {{ illness = [\"gout\", \"cold\"] }}\nk = 3\n\
             [method]\nname = \"{method}\"\nseed = 3\n[attribute.wish]\nrole = \"identifier\"\n\
             [attribute.age]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n\
             [attribute.city]\nrole = \"quasi\"\nhierarchy = {{ North = [\"Oslo\", \"Bergen\"], South = [\"Rome\"] }}\n"
        );
        let (data, policy) = written(&folder, &csv, &policy);
        let problem = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap();
        let expected: Vec<u32> = rows.iter().map(asked).collect();
        assert_eq!(problem.demands.as_deref(), Some(&expected[..]));
        let solution = solve(&problem, &policy, &Unwatched).unwrap();
        for group in solution.partition.groups() {
            let most = group.iter().map(|record| expected[*record as usize]).max().unwrap();
            assert!(group.len() >= most as usize, "{method}: {} records, one asks for {most}", group.len());
        }
        let release = folder.path().join("release.csv");
        anonymize(&data, &release, &policy).run(&Unwatched).unwrap();
        assert!(audit_files(&data, &release, &policy, &Unwatched).unwrap().measures.violations.is_empty());
    }
}

#[test]
fn rules_for_a_k_of_ones_own_that_make_no_sense_are_pointed_at() {
    let attributes = "[attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n[attribute.name]\nrole = \"identifier\"\n";
    let of_policy =
        |rule: &str| Policy::parse(&format!("[[privacy.own_k]]\n{rule}\n{attributes}"), None).unwrap_err();
    let of_table = |rule: &str| {
        let folder = tempfile::tempdir().unwrap();
        let csv = "age,city,name\n1,Rome,a\n2,Oslo,b\n3,Rome,c\n";
        let (data, policy) = written(&folder, csv, &format!("[[privacy.own_k]]\n{rule}\n{attributes}"));
        Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap_err()
    };
    let cases: [(Error, &str, u64); 11] = [
        (of_policy("k = 3"), "without where", 1),
        (of_policy("where = {}\nk = 3"), "without where", 1),
        (of_policy("where = { age = 3 }"), "without k", 1),
        (of_policy("where = { age = 3 }\nk = 0"), "at least 1", 3),
        (of_policy("where = { age = 3 }\nk = 99999999999"), "a number of records", 3),
        (of_policy("where = { agee = 3 }\nk = 3"), "\"agee\" does not have the role", 2),
        (of_policy("where = { name = \"a\" }\nk = 3"), "\"name\" does not have the role", 2),
        (of_policy("where = 5\nk = 3"), "where must be a table", 2),
        (of_table("where = { age = [9, 3] }\nk = 3"), "ends before it begins", 2),
        (of_table("where = { age = \"old\" }\nk = 3"), "is numeric", 2),
        (of_table("where = { city = [\"Roma\"] }\nk = 3"), "no value of \"city\"", 2),
    ];
    for (error, message, line) in cases {
        assert!(error.message().contains(message), "{message}: {error}");
        assert_eq!((error.fault(), error.place().line), (Fault::Input, Some(line)), "{error}");
        assert!(error.excerpt().is_some(), "{error}");
    }
}

#[test]
fn wishes_that_are_not_numbers_or_would_be_published_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let privacy = "[privacy]\nk_column = \"wish\"\n[attribute.age]\nrole = \"quasi\"\n";
    let error = Policy::parse(privacy, None).unwrap_err();
    assert!(error.message().contains("would be published"), "{error}");
    let (data, policy) = written(
        &folder,
        "age,wish\n1,2\n2,many\n",
        &format!("{privacy}[attribute.wish]\nrole = \"identifier\"\n"),
    );
    let error = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap_err();
    assert_eq!((error.fault(), error.place().line), (Fault::Input, Some(3)));
    let (data, policy) = written(
        &folder,
        "age,wish\n1,2\n2,3\n",
        &format!("{privacy}[attribute.wish]\nrole = \"identifier\"\n"),
    );
    let problem = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap();
    let error = solve(&problem, &policy, &Unwatched).unwrap_err();
    assert!(error.fault() == Fault::Requirement && error.message().contains("asks for k = 3"), "{error}");
}

#[test]
fn leaf_weights_count_in_penalties_bounds_and_audits() {
    let folder = tempfile::tempdir().unwrap();
    let policy = "[privacy]\nk = 2\n[attribute.country]\nrole = \"quasi\"\n\
        leaf_weights = { Italy = 3, Spain = 2.5 }\n\
        hierarchy = { Europe = [\"Italy\", \"France\", \"Spain\"], America = [\"US\", \"Canada\"] }\n";
    let (data, policy) = written(&folder, "country\nItaly\nFrance\nUS\nCanada\n", policy);
    let problem = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap();
    let kernel = Kernel::new(&problem.attributes);
    // Weights 3, 1, 2.5, 1, 1; Spain is in the hierarchy only.
    for (group, expected) in
        [(vec![0, 1], 6.5 / 8.5), (vec![2, 3], 2.0 / 8.5), (vec![0, 3], 1.0), (vec![0], 0.0)]
    {
        assert!((group_ncp(&problem, &kernel, &group) - expected).abs() < 1e-12, "{group:?}");
    }
    let release = folder.path().join("release.csv");
    std::fs::write(&release, "country\nEurope\nEurope\nAmerica\nAmerica\n").unwrap();
    let measures = audit_files(&data, &release, &policy, &Unwatched).unwrap().measures;
    assert!((measures.gcp - (2.0 * 6.5 + 2.0 * 2.0) / 8.5 / 4.0).abs() < 1e-12, "{}", measures.gcp);
    // Rounded down, in units of 2⁻³⁰.
    let short = measures.gcp - measures.lower_bound.unwrap().gcp;
    assert!((0.0..1e-8).contains(&short), "{short}");
}

#[test]
fn node_weights_make_the_leaves_below_weigh_more() {
    let folder = tempfile::tempdir().unwrap();
    let policy = "[privacy]\nk = 2\n[attribute.country]\nrole = \"quasi\"\n\
        leaf_weights = { Italy = 3 }\nnode_weights = { Europe = 2, South = 1.5, America = 0.5 }\n\
        hierarchy = { Europe = { South = [\"Italy\", \"Spain\"], France = {} }, America = [\"US\", \"Canada\"] }\n";
    let (data, policy) = written(&folder, "country\nItaly\nSpain\nUS\nCanada\n", policy);
    let problem = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap();
    let kernel = Kernel::new(&problem.attributes);
    // Italy 3 · 1.5 · 2 = 9, Spain 1.5 · 2 = 3, France 2 in the hierarchy only, the others 0.5 each: 15 together.
    for (group, expected) in
        [(vec![0, 1], 12.0 / 15.0), (vec![2, 3], 1.0 / 15.0), (vec![0, 3], 1.0), (vec![1], 0.0)]
    {
        assert!((group_ncp(&problem, &kernel, &group) - expected).abs() < 1e-12, "{group:?}");
    }
    let release = folder.path().join("release.csv");
    let audit = |first: &str| {
        std::fs::write(&release, format!("country\n{first}\n{first}\nAmerica\nAmerica\n")).unwrap();
        audit_files(&data, &release, &policy, &Unwatched).unwrap().measures
    };
    let wide = audit("Europe").gcp;
    assert!((wide - (2.0 * 14.0 + 2.0) / 15.0 / 4.0).abs() < 1e-12, "{wide}");
    let measures = audit("South");
    assert!((measures.gcp - (2.0 * 12.0 + 2.0) / 15.0 / 4.0).abs() < 1e-12, "{}", measures.gcp);
    // Nothing loses less; rounded down, in units of 2⁻³⁰.
    let short = measures.gcp - measures.lower_bound.unwrap().gcp;
    assert!((0.0..1e-8).contains(&short), "{short}");
}

#[test]
fn a_label_that_is_repeated_where_a_level_is_missing_weighs_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("tree.csv"),
        "Italy;South;Europe;*\nSpain;South;Europe;*\nUS;America;America;*\nCanada;America;America;*\n",
    )
    .unwrap();
    let tree = folder.path().join("tree.csv").display().to_string();
    let policy = format!(
        "[privacy]\nk = 2\n[attribute.country]\nrole = \"quasi\"\nnode_weights = {{ America = 3 }}\nhierarchy = {tree:?}\n"
    );
    let (data, policy) = written(&folder, "country\nItaly\nSpain\nUS\nCanada\n", &policy);
    let problem = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap();
    let kernel = Kernel::new(&problem.attributes);
    let loss = |group: &[u32]| group_ncp(&problem, &kernel, group);
    assert!((loss(&[0, 1]) - 2.0 / 8.0).abs() < 1e-12 && (loss(&[2, 3]) - 6.0 / 8.0).abs() < 1e-12);
}

#[test]
fn node_weights_of_what_is_no_node_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = |weights: &str| {
        format!(
            "[privacy]\nk = 2\n[attribute.country]\nrole = \"quasi\"\nhierarchy = {{ Europe = [\"Italy\", \"France\"], Rest = [\"US\"] }}\n{weights}\n"
        )
    };
    for (weights, word) in [
        ("node_weights = { Italy = 2 }", "no group of the hierarchy"),
        ("node_weights = { Erope = 2 }", "no group of the hierarchy"),
        ("leaf_weights = { Europe = 2 }", "neither in the table nor in the hierarchy"),
    ] {
        let (data, policy) = written(&folder, "country\nItaly\nFrance\n", &text(weights));
        let error = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap_err();
        assert!(error.message().contains(word), "{error}");
    }
    for bad in ["{ Europe = 0 }", "{ Europe = \"2\" }", "3"] {
        let error = Policy::parse(&text(&format!("node_weights = {bad}")), None).unwrap_err();
        assert_eq!(error.fault(), Fault::Input, "{bad}");
    }
}

#[test]
fn leaf_weights_of_leaves_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = |weights: &str| {
        format!(
            "[privacy]\nk = 2\n[attribute.country]\nrole = \"quasi\"\nkind = \"categorical\"\nleaf_weights = {weights}\n"
        )
    };
    let (data, policy) = written(&folder, "country\nItaly\nFrance\n", &text("{ Itly = 2 }"));
    let error = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap_err();
    assert!(error.message().contains("\"Itly\""), "{error}");
    for bad in ["{ Italy = 0 }", "{ Italy = \"2\" }", "3"] {
        assert_eq!(Policy::parse(&text(bad), None).unwrap_err().fault(), Fault::Input, "{bad}");
    }
}

#[test]
fn the_largest_k_within_a_loss_is_found_for_any_method() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = "age,city\n".to_owned();
    (0..400u32).for_each(|row| writeln!(csv, "{},c{}", row * 7919 % 83, row * 31 % 7).unwrap());
    let mut reached = Vec::new();
    for entry in STANDARD.iter().filter(|entry| common::can_do(entry, &[Part::K])) {
        for target in ["max_gcp = 0.2", "max_gcp = 0.3\nmax_query_error = 0.5\nk = 2"] {
            let policy = format!(
                "[privacy]\n{target}\n[method]\nname = \"{}\"\nseed = 1\n[attribute.age]\nrole = \"quasi\"\n\
                 [attribute.city]\nrole = \"quasi\"\n",
                entry.name
            );
            let (data, policy) = written(&folder, &csv, &policy);
            let problem = Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap();
            let target = target::of(&policy).unwrap();
            let method = Methods::standard().configure(entry, &toml::Table::new()).unwrap();
            if entry.traits.published == Published::ByPermutation {
                // Its quasi-identifiers are published exactly: there is no loss to keep within.
                continue;
            }
            let found = match target.best_privacy(&problem, &policy, method.as_ref(), &Unwatched) {
                Ok(found) => found,
                Err(error) => {
                    // Methods that recode whole attributes lose more than this from the start.
                    assert!(error.message().contains("cannot be met"), "{}: {error}", entry.name);
                    continue;
                }
            };
            if !reached.contains(&entry.name) {
                reached.push(entry.name);
            }
            assert!(found.steps.windows(2).all(|pair| pair[0].k < pair[1].k), "{:?}", found.steps);
            let own = found.steps.iter().find(|step| step.k == found.k).unwrap();
            assert!(own.met && own.gcp <= target.max_gcp.unwrap());
            // The search ends between a k that holds and the next one, which does not.
            let next = found.steps.iter().find(|step| step.k > found.k);
            assert!(
                found.k == 400 || next.is_some_and(|step| step.k == found.k + 1 && !step.met),
                "{}",
                entry.name
            );
            let release = folder.path().join("release.csv");
            let report = anonymize(&data, &release, &policy).run(&Unwatched).unwrap();
            assert!(
                report.measures.k >= found.k as u64 && report.measures.gcp <= target.max_gcp.unwrap() + 1e-9
            );
            assert_eq!(report.measures.k_required, Some(found.k as u64));
            assert!((report.measures.gcp - own.gcp).abs() < 1e-9, "{} and {}", report.measures.gcp, own.gcp);
        }
    }
    for name in ["mondrian", "hilbert", "idistance", "bottom-up", "top-down", "rv-cluster", "peel"] {
        assert!(reached.contains(&name), "{name} is not among {reached:?}");
    }
}

#[test]
fn a_target_out_of_reach_is_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (data, policy) = written(
        &folder,
        "age\n1\n20\n40\n90\n",
        "[privacy]\nk = 2\nmax_gcp = 0.01\n[attribute.age]\nrole = \"quasi\"\n",
    );
    let release = folder.path().join("release.csv");
    let error = anonymize(&data, &release, &policy).run(&Unwatched).unwrap_err();
    assert!(error.fault() == Fault::Requirement && error.message().contains("already at k = 2"), "{error}");
    assert!(!release.exists());
}

fn evaluated(folder: &tempfile::TempDir, queries: &str) -> throng::Result<serde_json::Value> {
    let csv = "age,sex,city\n20,f,Bern\n30,f,Thun\n40,m,Bern\n50,m,Genf\n60,m,Genf\n70,f,Bern\n";
    let policy = "[privacy]\nk = 3\n[attribute.age]\nrole = \"quasi\"\n[attribute.sex]\nrole = \"quasi\"\n\
        [attribute.city]\nrole = \"quasi\"\nhierarchy = { German = [\"Bern\", \"Thun\"], French = [\"Genf\"] }\n\
        [evaluate.queries]\nfile = \"queries.toml\"\n";
    let (data, _) = written(folder, csv, policy);
    let path = folder.path().join("throng.toml");
    std::fs::write(&path, policy).unwrap();
    std::fs::write(folder.path().join("queries.toml"), queries).unwrap();
    let release = folder.path().join("release.csv");
    std::fs::write(
        &release,
        "age,sex,city\n[20-40],*,German\n[20-40],*,German\n[20-40],*,German\n[50-70],*,*\n[50-70],*,*\n[50-70],*,*\n",
    )
    .unwrap();
    let evaluate = Evaluate {
        data,
        policy: Policy::load(&path)?,
        release: Some(release),
        task: "queries".to_owned(),
        secret: None,
        registry: Default::default(),
    };
    Ok(serde_json::to_value(evaluate.run(&Unwatched)?.figures).unwrap())
}

#[test]
fn written_queries_are_answered_as_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let figures = evaluated(
        &folder,
        "[[query]]\nname = \"young\"\nwhere = { age = [20, 30] }\n\
         [[query]]\nwhere = { sex = \"f\", city = [\"German\", \"Bern\"] }\n\
         [[query]]\nsum = \"age\"\nwhere = { city = \"Genf\" }\n\
         [[query]]\nwhere = { age = 99 }\n",
    )
    .unwrap();
    let queries = &figures["workloads"][0]["queries"];
    let numbers =
        |at: usize| (queries[at]["exact"].as_f64().unwrap(), queries[at]["estimate"].as_f64().unwrap());
    // 11 of the 21 whole numbers from 20 to 40.
    assert_eq!(queries[0]["name"], "young");
    assert!((numbers(0).1 - 3.0 * 11.0 / 21.0).abs() < 1e-12 && numbers(0).0 == 2.0, "{queries}");
    // Half of all, two thirds of the leaves of the second class.
    assert!((numbers(1).1 - (1.5 + 1.5 * 2.0 / 3.0)).abs() < 1e-12 && numbers(1).0 == 3.0, "{queries}");
    assert!((numbers(2).1 - 3.0 / 3.0 * 60.0).abs() < 1e-12 && numbers(2).0 == 110.0, "{queries}");
    assert!(queries[3]["error"].is_null());
    assert_eq!(figures["workloads"][0]["errors"]["dropped"], 1);
}

#[test]
fn mistakes_in_queries_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    for (queries, said) in [
        ("[[query]\n", "not TOML"),
        ("", "there are no queries"),
        ("[[query]]\nwhere = { agee = 3 }\n", "\"agee\" is no column that queries may ask about"),
        ("[[query]]\nwhere = { age = \"x\" }\n", "query 1: \"age\" is numeric"),
        ("[[query]]\nwhere = { age = [9, 3] }\n", "ends before it begins"),
        ("[[query]]\nwhere = { sex = \"fm\" }\n", "\"fm\" is no value of \"sex\""),
        ("[[query]]\nwhere = { sex = 1 }\n", "\"sex\" has categories"),
        ("[[query]]\nsum = \"sex\"\n", "cannot be summed"),
        ("[[query]]\nwhat = 1\n", "query 1: there is no key \"what\""),
        ("[[queries]]\n", "there is no key \"queries\""),
    ] {
        let error = evaluated(&folder, queries).unwrap_err();
        assert!(error.fault() == Fault::Input && error.message().contains(said), "{queries}: {error}");
    }
}
