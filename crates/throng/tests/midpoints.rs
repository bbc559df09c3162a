//! Medians and means in place of ranges: what they promise holds of the records behind them, and whoever audits them finds what
//! was changed. Every figure here is computed anew, by plain code.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type};
use arrow_array::{Array, Date32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use throng::{Anonymize, Anonymized, Attribute, Audit, Batches, Data, ErrorCode, Order, Policy, Publish};

#[derive(Clone, Debug)]
struct Person {
    age: Option<i64>,
    born: i32,
    city: u8,
    illness: u8,
}

fn people() -> impl Strategy<Value = Vec<Person>> {
    let one = (prop::option::weighted(0.95, 18i64..60), 0i32..900, 0u8..4, 0u8..4)
        .prop_map(|(age, born, city, illness)| Person { age, born, city, illness });
    prop::collection::vec(one, 6..50)
}

fn batch(people: &[Person]) -> RecordBatch {
    let field = |name: &str, kind| Field::new(name, kind, true);
    let schema = Schema::new(vec![
        field("age", DataType::Int64),
        field("born", DataType::Date32),
        field("city", DataType::Utf8),
        field("illness", DataType::Utf8),
    ]);
    let texts = |of: fn(&Person) -> u8, words: [&'static str; 4]| {
        StringArray::from_iter_values(people.iter().map(|one| words[of(one) as usize]))
    };
    RecordBatch::try_new(
        Arc::new(schema),
        vec![
            Arc::new(people.iter().map(|one| one.age).collect::<Int64Array>()),
            Arc::new(people.iter().map(|one| Some(one.born)).collect::<Date32Array>()),
            Arc::new(texts(|one| one.city, ["Bern", "Lyon", "Turin", "Ulm"])),
            Arc::new(texts(|one| one.illness, ["flu", "cold", "gout", "none"])),
        ],
    )
    .unwrap()
}

fn data(people: &[Person]) -> Data {
    let batch = batch(people);
    Data::batches(batch.schema(), [batch])
}

fn policy(k: usize) -> Policy {
    let roles = Policy::builder().k(k).quasi("age").quasi("born").quasi("city").sensitive("illness");
    roles.seed(5).build().unwrap()
}

fn released(
    people: &[Person],
    k: usize,
    method: &str,
    publish: Publish,
    order: Order,
) -> Anonymized<Batches> {
    let run = Anonymize::new(&policy(k)).read(data(people)).method(method);
    run.publish(publish).order(order).to_batches().unwrap()
}

/// The numbers of a column, and the days of a column of dates.
fn numbers(release: &Batches, name: &str) -> Vec<Option<f64>> {
    let at = release.schema.index_of(name).unwrap();
    let of_batch = |batch: &RecordBatch| -> Vec<Option<f64>> {
        match batch.column(at).data_type() {
            DataType::Float64 => batch.column(at).as_primitive::<Float64Type>().iter().collect(),
            DataType::Date32 => {
                let days = batch.column(at).as_primitive::<Date32Type>().iter();
                days.map(|day| day.map(f64::from)).collect()
            }
            other => panic!("{name} is of type {other}"),
        }
    };
    release.batches.iter().flat_map(of_batch).collect()
}

/// Each number with the values of all records behind rows that have it.
fn behind(numbers: &[Option<f64>], values: &[Option<f64>]) -> BTreeMap<u64, Vec<f64>> {
    let mut behind: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (number, value) in numbers.iter().zip(values) {
        if let Some(number) = number {
            // A class that has a number has no missing value.
            behind.entry(number.to_bits()).or_default().push(value.unwrap());
        }
    }
    behind
}

fn is_median(number: f64, values: &[f64], rounded_down: f64) -> bool {
    let above = values.iter().filter(|value| **value >= number - 1e-9).count();
    let below = values.iter().filter(|value| **value <= number + rounded_down + 1e-9).count();
    2 * above >= values.len() && 2 * below >= values.len()
}

fn is_mean(number: f64, values: &[f64], rounding: (f64, f64)) -> bool {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean - number <= rounding.1 + 1e-9 && number - mean <= rounding.0 + 1e-9
}

const METHODS: [&str; 6] = ["mondrian", "hilbert", "bottom-up", "rv-global", "peel", "top-down"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_number_is_the_middle_of_the_records_that_have_it(
        people in people(), k in 2usize..5, method in prop::sample::select(METHODS.to_vec()), mean: bool, keep: bool,
    ) {
        let (publish, name) = if mean { (Publish::Means, "mean") } else { (Publish::Medians, "median") };
        let order = if keep { Order::Keep } else { Order::Shuffled };
        let done = released(&people, k, method, publish, order);
        let (ages, days) = (numbers(&done.release, &format!("age.{name}")), numbers(&done.release, &format!("born.{name}")));
        let own = |of: fn(&Person) -> Option<f64>| -> Vec<Option<f64>> {
            done.rows.iter().map(|row| of(&people[*row as usize])).collect()
        };
        for (number, values) in behind(&ages, &own(|one| one.age.map(|age| age as f64))) {
            let number = f64::from_bits(number);
            prop_assert!(match mean {
                true => is_mean(number, &values, (0.05, 0.05)),
                false => is_median(number, &values, 0.0),
            }, "{number} of {values:?}");
        }
        for (number, values) in behind(&days, &own(|one| Some(f64::from(one.born)))) {
            let number = f64::from_bits(number);
            prop_assert!(match mean {
                true => is_mean(number, &values, (0.0, 1.0)),
                false => is_median(number, &values, 1.0),
            }, "{number} of {values:?}");
        }
        let mut classes: BTreeMap<(Option<u64>, Option<u64>, String), usize> = BTreeMap::new();
        let city = done.release.schema.index_of("city").unwrap();
        let texts: Vec<String> = done.release.batches.iter().flat_map(|batch| {
            let cells = arrow_cast::cast(batch.column(city), &DataType::Utf8).unwrap();
            cells.as_string::<i32>().iter().map(|cell| cell.unwrap().to_owned()).collect::<Vec<_>>()
        }).collect();
        for ((age, day), city) in ages.iter().zip(&days).zip(texts) {
            *classes.entry((age.map(f64::to_bits), day.map(f64::to_bits), city)).or_default() += 1;
        }
        prop_assert_eq!(classes.values().copied().min().unwrap() as u64, done.report.measures.k);
        prop_assert!(done.report.measures.k >= k as u64);
        prop_assert_eq!(classes.len() as u64, done.report.measures.classes);
    }

    #[test]
    fn whoever_has_the_table_finds_them_true(
        people in people(), k in 2usize..5, method in prop::sample::select(METHODS.to_vec()), mean: bool, keep: bool,
    ) {
        let publish = if mean { Publish::Means } else { Publish::Medians };
        let order = if keep { Order::Keep } else { Order::Shuffled };
        let done = released(&people, k, method, publish, order);
        let audit = Audit::new(&policy(k)).original(data(&people)).release(&done.release);
        let findings = audit.run().unwrap();
        prop_assert!(findings.holds(), "{:?}", findings.measures.violations);
        let (own, theirs) = (&done.report.measures, &findings.measures);
        prop_assert_eq!((own.k, own.classes), (theirs.k, theirs.classes));
        let known_by = theirs.midpoints.as_ref().unwrap().known_by.clone();
        prop_assert_eq!(&own.midpoints.as_ref().unwrap().known_by, "run");
        prop_assert!(keep == (known_by == "order") || !keep, "{known_by}");
        // Only where each class is the smallest box around it does everybody mean the same range.
        if method == "mondrian" && known_by == "order" {
            prop_assert!((own.gcp - theirs.gcp).abs() < 1e-9 , "{} {}", own.gcp, theirs.gcp);
        }
        if method == "mondrian" && known_by == "bound" {
            prop_assert!(own.gcp <= theirs.gcp + 1e-9, "{} {}", own.gcp, theirs.gcp);
        }
    }
}

const AGES: &str = "age,city\n20,Bern\n24,Bern\n26,Bern\n40,Ulm\n44,Ulm\n90,Ulm\n";

fn ages() -> Policy {
    Policy::builder().k(3).quasi("age").quasi("city").method("mondrian").seed(1).build().unwrap()
}

fn csv(publish: Publish) -> String {
    let run = Anonymize::new(&ages()).read(Data::csv(AGES)).publish(publish).order(Order::Keep);
    run.to_csv().unwrap().release
}

#[test]
fn medians_and_means_are_what_their_columns_are_called() {
    assert_eq!(csv(Publish::Medians), "age.median,city\n24,Bern\n24,Bern\n24,Bern\n44,Ulm\n44,Ulm\n44,Ulm\n");
    assert_eq!(
        csv(Publish::Means),
        "age.mean,city\n23.3,Bern\n23.3,Bern\n23.3,Bern\n58,Ulm\n58,Ulm\n58,Ulm\n"
    );
}

#[test]
fn changed_numbers_are_found() {
    let audited = |release: String| {
        let audit = Audit::new(&ages()).original(Data::csv(AGES)).release(Data::csv(release));
        audit.run().unwrap().measures
    };
    assert_eq!(audited(csv(Publish::Medians)).violations, Vec::<String>::new());
    // 43 may be the median of others of Ulm for all that a file tells; 91 is nobody's, 39 is not of Ulm.
    for (publish, from, to) in [
        (Publish::Medians, "44,", "91,"),
        (Publish::Medians, "44,", "39,"),
        (Publish::Medians, "24,", "44,"),
        (Publish::Means, "58,", "60,"),
        (Publish::Means, "23.3,", "23,"),
    ] {
        let changed = csv(publish).replace(from, to);
        let found = audited(changed.clone());
        assert!(!found.violations.is_empty(), "{changed}");
    }
}

#[test]
fn what_cannot_be_checked_on_numbers_is_refused() {
    let refused = |policy: &Policy, table: &str| {
        let run = Anonymize::new(policy).read(Data::csv(table)).publish(Publish::Medians);
        let error = run.to_csv().unwrap_err();
        assert_eq!(error.code(), ErrorCode::BadUsage, "{error}");
        error.to_string()
    };
    let asked = || Policy::builder().k(3).quasi("age").quasi("city").method("mondrian");
    assert!(refused(&asked().require("max_gcp", 0.9).build().unwrap(), AGES).contains("max_gcp"));
    let rule = BTreeMap::from([("cut", toml::Value::from(vec![39, 40])), ("hard", true.into())]);
    let ruled =
        Policy::builder().k(3).attribute("age", Attribute::quasi().set("rules", vec![rule])).quasi("city");
    assert!(refused(&ruled.build().unwrap(), AGES).contains("hard rules"));
    // Without numbers there is nothing to publish in another way.
    let cities = Policy::builder().k(3).quasi("city").identifier("age").build().unwrap();
    let run = Anonymize::new(&cities).read(Data::csv(AGES)).publish(Publish::Medians);
    assert_eq!(run.to_csv().unwrap().release.lines().next(), Some("city"));
}

#[test]
fn classes_in_which_some_have_no_number_tell_nothing() {
    let table = "age,city\n20,Bern\n,Bern\n26,Bern\n40,Ulm\n44,Ulm\n90,Ulm\n";
    let run = || Anonymize::new(&ages()).read(Data::csv(table)).publish(Publish::Means).order(Order::Keep);
    let release = run().to_csv().unwrap().release;
    // Two classes of three: the one of the record without a number, and one with the mean of the others.
    let numbers: Vec<&str> = release.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(numbers[1], "");
    assert_eq!(numbers.iter().filter(|number| number.is_empty()).count(), 3, "{release}");
    let audit = Audit::new(&ages()).original(Data::csv(table)).release(Data::csv(release)).run().unwrap();
    assert!(audit.holds(), "{:?}", audit.measures.violations);
    assert_eq!(audit.measures.gcp, run().to_csv().unwrap().report.measures.gcp);
}

#[test]
fn dates_and_decimal_commas_are_spelt_as_the_table_spells_them() {
    let table = "born;pay\n19.11.1985;1,5\n21.11.1985;2,25\n30.11.1985;3\n";
    let policy = Policy::builder().k(3).quasi("born").quasi("pay").method("mondrian").build().unwrap();
    let run = Anonymize::new(&policy).read(Data::csv(table)).publish(Publish::Means);
    let release = run.to_csv().unwrap().release;
    assert_eq!(release.lines().nth(1), Some("23.11.1985;2,25"), "{release}");
}
