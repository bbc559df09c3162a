//! Queries on everything that is published: their answers and estimates as plain code finds them from the files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use throng::{
    Anonymize, Attribute, Data, ErrorCode, Evaluate, Evaluation, Order, Policy, PolicyBuilder, Publish,
};

const ILLNESSES: [&str; 3] = ["flu", "cold", "gout"];

#[derive(Clone, Debug)]
struct Person {
    age: i64,
    illness: usize,
    pay: i64,
}

fn people() -> impl Strategy<Value = Vec<Person>> {
    let one = (20i64..50, 0usize..3, 0i64..40).prop_map(|(age, illness, pay)| Person { age, illness, pay });
    // Queries may ask for each illness, so each occurs.
    prop::collection::vec(one, 12..50).prop_map(|mut people| {
        people.iter_mut().take(ILLNESSES.len()).enumerate().for_each(|(at, one)| one.illness = at);
        people
    })
}

fn csv(people: &[Person]) -> String {
    let line = |one: &Person| format!("{},{},{}\n", one.age, ILLNESSES[one.illness], one.pay);
    "age,illness,pay\n".to_owned() + &people.iter().map(line).collect::<String>()
}

fn asked() -> PolicyBuilder {
    let other = Attribute::other().set("confirmed", true);
    Policy::builder().quasi("age").sensitive("illness").attribute("pay", other).method("mondrian").seed(1)
}

/// A query: the range of ages, perhaps an illness, perhaps a range of pay, and what is asked.
#[derive(Clone, Debug)]
struct Asked {
    ages: (i64, i64),
    illness: Option<usize>,
    pay: Option<(i64, i64)>,
    what: &'static str,
}

fn queries() -> impl Strategy<Value = Vec<Asked>> {
    let range = |most: i64| (0..most, 0..most).prop_map(|(a, b)| (a.min(b), a.max(b)));
    let one = (
        range(30),
        prop::option::of(0usize..3),
        prop::option::of(range(40)),
        prop::sample::select(vec!["", "sum", "average"]),
    );
    let one =
        one.prop_map(|((a, b), illness, pay, what)| Asked { ages: (a + 20, b + 20), illness, pay, what });
    prop::collection::vec(one, 1..12)
}

fn written(queries: &[Asked]) -> Vec<toml::Table> {
    let pair = |(low, high): (i64, i64)| toml::Value::from(vec![low, high]);
    let query = |own: &Asked| {
        let mut conditions = toml::Table::from_iter([("age".to_owned(), pair(own.ages))]);
        conditions.extend(own.illness.map(|at| ("illness".to_owned(), ILLNESSES[at].into())));
        conditions.extend(own.pay.map(|range| ("pay".to_owned(), pair(range))));
        let mut query = toml::Table::from_iter([("where".to_owned(), toml::Value::Table(conditions))]);
        if !own.what.is_empty() {
            query.insert(own.what.to_owned(), "pay".into());
        }
        query
    };
    queries.iter().map(query).collect()
}

/// What is asked, of records that count by so much each.
fn total<'a>(query: &Asked, rows: impl Iterator<Item = (f64, &'a Person)>) -> f64 {
    let (mut count, mut sum) = (0.0, 0.0);
    for (weight, one) in rows {
        count += weight;
        sum += weight * one.pay as f64;
    }
    match query.what {
        "" => count,
        "sum" => sum,
        _ if count > 0.0 => sum / count,
        _ => 0.0,
    }
}

fn within(value: i64, range: Option<(i64, i64)>) -> bool {
    range.is_none_or(|(low, high)| (low..=high).contains(&value))
}

fn exact(query: &Asked, people: &[Person]) -> f64 {
    let fits = |one: &&Person| {
        within(one.age, Some(query.ages))
            && query.illness.is_none_or(|own| own == one.illness)
            && within(one.pay, query.pay)
    };
    total(query, people.iter().filter(fits).map(|one| (1.0, one)))
}

/// The share of the whole numbers of a cell that lie in a range.
fn share(cell: &str, (from, to): (i64, i64)) -> f64 {
    let ends: Vec<i64> = cell.trim_matches(['[', ']']).split('-').map(|end| end.parse().unwrap()).collect();
    let (low, high) = (ends[0], *ends.last().unwrap());
    let common = (high.min(to) - low.max(from) + 1).max(0);
    common as f64 / (high - low + 1) as f64
}

fn found(evaluation: &Evaluation) -> Vec<(f64, f64)> {
    let queries = evaluation.figures["workloads"][0]["queries"].as_array().unwrap();
    queries.iter().map(|own| (own["exact"].as_f64().unwrap(), own["estimate"].as_f64().unwrap())).collect()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn queries_on_all_columns_are_what_counting_gives(people in people(), asked_for in queries()) {
        let policy = asked().k(3).task_option("queries", "queries", written(&asked_for)).build().unwrap();
        let release = Anonymize::new(&policy).read(Data::csv(csv(&people))).order(Order::Keep).to_csv().unwrap().release;
        let evaluation = Evaluate::new(&policy).read(Data::csv(csv(&people))).release(Data::csv(release.clone())).task("queries").run().unwrap();
        let cells: Vec<&str> = release.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        for (query, (answer, estimate)) in asked_for.iter().zip(found(&evaluation)) {
            prop_assert!(close(answer, exact(query, &people)), "{query:?}: {answer}");
            let fits = |(_, one): &(&&str, &Person)| query.illness.is_none_or(|own| own == one.illness) && within(one.pay, query.pay);
            let rows = cells.iter().zip(&people).filter(fits).map(|(cell, one)| (share(cell, query.ages), one));
            let plain = total(query, rows);
            prop_assert!(close(estimate, plain), "{query:?}: {estimate} and {plain}");
        }
    }

    #[test]
    fn permuted_values_are_as_likely_as_their_group_has_them(people in people(), asked_for in queries()) {
        let policy = asked().k(3).task_option("queries", "queries", written(&asked_for)).build().unwrap();
        let run = Anonymize::new(&policy).read(Data::csv(csv(&people))).order(Order::Keep);
        let done = run.publish(Publish::Permutation).to_csv().unwrap();
        let sensitive = done.sensitive.unwrap();
        let evaluate = Evaluate::new(&policy).read(Data::csv(csv(&people))).task("queries");
        let evaluation = evaluate.release(Data::csv(done.release.clone())).sensitive(Data::csv(sensitive.clone())).run().unwrap();
        let mut counts: BTreeMap<(String, String), f64> = BTreeMap::new();
        for line in sensitive.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            *counts.entry((cells[0].to_owned(), cells[1].to_owned())).or_default() += cells[2].parse::<f64>().unwrap();
        }
        let groups: Vec<&str> = done.release.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
        let size = |group: &str| counts.iter().filter(|((own, _), _)| own == group).map(|(_, count)| count).sum::<f64>();
        for (query, (_, estimate)) in asked_for.iter().zip(found(&evaluation)) {
            let likely = |group: &str| query.illness.map_or(1.0, |own| {
                counts.get(&(group.to_owned(), ILLNESSES[own].to_owned())).copied().unwrap_or(0.0) / size(group)
            });
            let fits = |(_, one): &(&&str, &Person)| within(one.age, Some(query.ages)) && within(one.pay, query.pay);
            let plain = total(query, groups.iter().zip(&people).filter(fits).map(|(group, one)| (likely(group), one)));
            prop_assert!(close(estimate, plain), "{query:?}: {estimate} and {plain}");
        }
    }
}

fn many() -> Vec<Person> {
    (0..200)
        .map(|at| Person { age: 20 + (at * 7) % 30, illness: (at as usize * 5) % 3, pay: (at * 13) % 40 })
        .collect()
}

#[test]
fn a_permuted_release_no_longer_looks_perfect() {
    let policy = asked().k(10).build().unwrap();
    let run = || Anonymize::new(&policy).read(Data::csv(csv(&many())));
    let done = run().publish(Publish::Permutation).to_csv().unwrap();
    let evaluate = Evaluate::new(&policy).read(Data::csv(csv(&many()))).task("queries");
    let evaluation = evaluate
        .release(Data::csv(done.release))
        .sensitive(Data::csv(done.sensitive.unwrap()))
        .run()
        .unwrap();
    let workloads = evaluation.figures["workloads"].as_array().unwrap();
    let mean = |name: &str| {
        let own = workloads.iter().find(|own| own["name"] == name).expect(name);
        own["errors"]["mean"].as_f64().unwrap()
    };
    assert_eq!(mean("COUNT"), 0.0);
    assert!(mean("COUNT with illness") > 0.01, "{}", mean("COUNT with illness"));
}

#[test]
fn drawn_queries_look_at_no_fewer_records_than_asked_for() {
    let policy = asked().k(5).task_option("queries", "selectivity", 0.2).task_option("queries", "count", 50);
    let policy = policy.task_option("queries", "average", "pay").build().unwrap();
    let evaluation = Evaluate::new(&policy).read(Data::csv(csv(&many()))).task("queries").run().unwrap();
    let workloads = evaluation.figures["workloads"].as_array().unwrap();
    assert_eq!(workloads.len(), 4);
    for query in workloads[0]["queries"].as_array().unwrap() {
        assert!(query["exact"].as_f64().unwrap() >= 40.0, "{query}");
    }
    assert_eq!(workloads[2]["name"], "AVG of pay");
    // One query at a time, a hundred times: hardly ever do two ranges take in all records.
    let nothing = asked().k(5).task_option("queries", "selectivity", 1.0).task_option("queries", "count", 1);
    let nothing = nothing.task_option("queries", "attributes", ["age", "pay"]).build().unwrap();
    let evaluate = Evaluate::new(&nothing).read(Data::csv(csv(&many()))).task("queries");
    let error = evaluate.run().expect_err("no query that looks at all records");
    assert_eq!(error.code(), ErrorCode::NoQueryMatches, "{error}");
}

#[test]
fn a_file_of_queries_is_a_target() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "q.toml",
        "[[query]]\nwhere = { age = [25, 31], illness = \"flu\" }\n[[query]]\naverage = \"age\"\nwhere = { illness = \"gout\" }\n",
    );
    let policy = |privacy: &str| {
        let roles = "[attribute.age]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n[attribute.pay]\nrole = \"identifier\"\n";
        write("p.toml", &format!("[privacy]\n{privacy}\n[method]\nname = \"mondrian\"\nseed = 1\n{roles}"));
        Policy::load(&folder.path().join("p.toml"))
    };
    let found = |most: &str| {
        let policy = policy(&format!("k = 2\nmax_query_error = {most}\nqueries = \"q.toml\"")).unwrap();
        Anonymize::new(&policy).read(Data::csv(csv(&many()))).to_csv()
    };
    let (tight, loose) = (found("0.02").unwrap().report, found("0.5").unwrap().report);
    assert!(tight.measures.k <= loose.measures.k, "{} {}", tight.measures.k, loose.measures.k);
    let reached = |report: &throng::Report| {
        let own = report.measures.requirements.iter().find(|own| own.key == "max_query_error").unwrap();
        assert_eq!(own.holds, Some(true));
    };
    reached(&tight);
    reached(&loose);
    assert_eq!(policy("k = 2\nqueries = \"q.toml\"").unwrap_err().code(), ErrorCode::MissingKey);
    assert_eq!(
        policy("k = 2\nmax_query_error = 0.5\nqueries = \"none.toml\"").unwrap_err().code(),
        ErrorCode::CannotRead
    );
    write("q.toml", "[[query]]\nwhere = { pay = 3 }\n");
    let error = found("0.5").unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownAttribute, "{error}");
}
