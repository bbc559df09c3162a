//! What Rust users rely on: builders do what the command line does, reports can be read back, mistakes name the argument.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use throng::{
    Anonymize, Apply, Attribute, Audit, Compare, Comparison, Data, Error, ErrorCode, Evaluate, Findings,
    Order, Policy, PolicyBuilder, Publish, Recipe, Report, Risk, RiskReport, Secret,
};

fn people(rows: usize) -> String {
    let mut text = "age,sex,illness\n".to_owned();
    for row in 0..rows {
        let (age, sex) = (20 + (row * 7) % 50, ["f", "m"][row % 2]);
        text += &format!("{age},{sex},{}\n", ["flu", "cold", "gout"][row % 3]);
    }
    text
}

fn roles() -> PolicyBuilder {
    Policy::builder().quasi("age").quasi("sex").sensitive("illness")
}

fn refused(builder: PolicyBuilder) -> Error {
    builder.build().unwrap_err()
}

#[test]
fn a_file_and_memory_give_the_same_release() {
    let folder = tempfile::tempdir().unwrap();
    let (table, release) = (folder.path().join("people.csv"), folder.path().join("release.csv"));
    std::fs::write(&table, people(60)).unwrap();
    let policy = roles().k(4).method("hilbert").build().unwrap();
    let run = || Anonymize::new(&policy).seed(3).secret(Secret::from_bytes(b"a secret of the test"));
    let written = run().read(&table).write(&release).unwrap();
    let in_memory = run().read(Data::csv(people(60))).to_csv().unwrap();
    assert_eq!(std::fs::read_to_string(written.release).unwrap(), in_memory.release);
    assert_eq!(written.report.seed, 3);
    assert!(!written.report.provenance.release_hash.is_empty());
    let again = run().read(Data::csv(people(60))).to_batches().unwrap();
    let findings = Audit::new(&policy).original(&table).release(&again.release).run().unwrap();
    assert_eq!(findings.measures.gcp, in_memory.report.measures.gcp);
}

#[test]
fn seed_and_secret_are_drawn_where_nobody_brings_them() {
    let policy = roles().k(2).method("mondrian").build().unwrap();
    let run = || Anonymize::new(&policy).read(Data::csv(people(200))).to_csv().unwrap();
    let (one, other) = (run(), run());
    assert_ne!(one.report.seed, other.report.seed);
    assert_ne!(one.release, other.release, "the order of 200 rows is not drawn");
}

#[test]
fn a_release_never_takes_the_place_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("people.csv");
    std::fs::write(&table, people(20)).unwrap();
    let policy = roles().k(2).build().unwrap();
    let error = Anonymize::new(&policy).read(&table).write(&table).unwrap_err();
    assert_eq!(error.code(), ErrorCode::WouldOverwrite);
    assert_eq!(std::fs::read_to_string(&table).unwrap(), people(20));
}

#[test]
fn a_permuted_release_in_memory_has_two_tables_and_an_audit_takes_both() {
    let policy = roles().k(3).l(2.0).build().unwrap();
    let run = Anonymize::new(&policy).read(Data::csv(people(60))).publish(Publish::Permutation);
    let done = run.to_csv().unwrap();
    let sensitive = done.sensitive.unwrap();
    assert!(sensitive.starts_with("group,illness,count\n"), "{sensitive}");
    let audit = Audit::new(&policy).original(Data::csv(people(60))).release(Data::csv(done.release));
    assert_eq!(audit.clone().run().unwrap_err().code(), ErrorCode::BadUsage);
    assert!(audit.sensitive(Data::csv(sensitive)).run().unwrap().holds());
}

#[test]
fn what_is_missing_is_named_with_the_function_that_gives_it() {
    let policy = roles().k(2).build().unwrap();
    let hint = |error: Error| (error.code(), error.hint().unwrap_or_default().to_owned());
    let expected = |function: &str| (ErrorCode::BadUsage, format!("give it with `{function}`"));
    assert_eq!(hint(Anonymize::new(&policy).to_csv().unwrap_err()), expected("read(…)"));
    assert_eq!(hint(Audit::new(&policy).run().unwrap_err()), expected("original(…)"));
    assert_eq!(hint(Compare::new(&policy).run().unwrap_err()), expected("read(…)"));
    assert_eq!(hint(Evaluate::new(&policy).read("people.csv").run().unwrap_err()), expected("task(…)"));
    assert_eq!(hint(Risk::new(&policy).run().unwrap_err()), expected("read(…)"));
}

#[test]
fn a_mistake_in_a_policy_in_code_names_the_argument_and_shows_no_text() {
    let age = |attribute| Policy::builder().k(2).attribute("age", attribute);
    let of_age = |key: &str| format!("the argument {key} of the attribute \"age\": ");
    let cases = [
        (refused(roles().k(0)), "the argument k: ".to_owned(), ErrorCode::BadValue),
        (refused(roles().k(2).t(-1.0)), "the argument t: ".to_owned(), ErrorCode::BadValue),
        (refused(roles().k(2).require("kk", 3)), "the argument kk: ".to_owned(), ErrorCode::UnknownKey),
        (refused(roles().k(2).seed(u64::MAX)), "the argument seed: ".to_owned(), ErrorCode::BadValue),
        (refused(roles().k(2).require("l", "two")), "the argument l: ".to_owned(), ErrorCode::WrongType),
        (refused(age(Attribute::quasi().weight(0.0))), of_age("weight"), ErrorCode::BadValue),
        (refused(age(Attribute::quasi().set("wight", 1))), of_age("wight"), ErrorCode::UnknownKey),
        (
            refused(age(Attribute::quasi().hierarchy_set("intervals", [5, 12]))),
            of_age("hierarchy"),
            ErrorCode::BadHierarchy,
        ),
        (refused(Policy::builder().k(2)), String::new(), ErrorCode::NoQuasi),
        (refused(roles()), String::new(), ErrorCode::NothingRequired),
    ];
    for (error, begins, code) in cases {
        assert!(error.message().starts_with(&begins), "{error}");
        assert_eq!(error.code(), code, "{error}");
        assert!(
            error.excerpt().is_none() && error.place().line.is_none() && error.place().file.is_none(),
            "{error}"
        );
    }
    let error = refused(age(Attribute::quasi().weight(0.0)));
    assert_eq!(error.place().attribute.as_deref(), Some("age"));
}

#[test]
fn names_and_values_of_any_kind_survive_a_policy_in_code() {
    let odd = "a \"b\".\\c\n]é";
    let groups = [("x = \"1\"", [odd]), ("#", ["'"])];
    let policy = Policy::builder().k(1).attribute(odd, Attribute::quasi().groups(groups)).build().unwrap();
    assert_eq!(policy.attributes.keys().collect::<Vec<_>>(), [odd]);
    // The last of two that say the same counts.
    let policy = roles().k(2).k(7).build().unwrap();
    assert_eq!(policy.privacy.k(), Some(7));
}

/// What was written to JSON, read back and written again, is the same; but for the last bit of numbers, which the parser may
/// round another way.
fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let again: T = serde_json::from_str(&text).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let again = serde_json::from_str(&serde_json::to_string(&again).unwrap()).unwrap();
    assert_same(&parsed, &again);
}

fn assert_same(one: &serde_json::Value, other: &serde_json::Value) {
    use serde_json::Value as V;
    match (one, other) {
        (V::Object(one), V::Object(other)) => {
            assert!(one.keys().eq(other.keys()), "{:?}, {:?}", one.keys(), other.keys());
            one.values().zip(other.values()).for_each(|(one, other)| assert_same(one, other));
        }
        (V::Array(one), V::Array(other)) => {
            assert_eq!(one.len(), other.len());
            one.iter().zip(other).for_each(|(one, other)| assert_same(one, other));
        }
        (V::Number(one), V::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            assert!((one - other).abs() <= 1e-14 * one.abs(), "{one} and {other}");
        }
        (one, other) => assert_eq!(one, other),
    }
}

#[test]
fn reports_of_all_methods_can_be_read_back() {
    let policy = roles().k(3).build().unwrap();
    for entry in throng::Registry::default().methods.iter() {
        let run = Anonymize::new(&policy).read(Data::csv(people(30))).method(entry.name).seed(1);
        match run.to_csv() {
            Ok(done) => round_trip::<Report>(&done.report),
            Err(error) => assert!(
                matches!(
                    error.code(),
                    ErrorCode::MethodDoesNotFit | ErrorCode::NoClass | ErrorCode::TableTooLarge
                ),
                "{}: {error}",
                entry.name
            ),
        }
    }
}

#[test]
fn other_reports_can_be_read_back() {
    let policy = roles().k(3).l(1.5).t(0.5).build().unwrap();
    let table = || Data::csv(people(60));
    round_trip::<RiskReport>(&Risk::new(&policy).read(table()).run().unwrap());
    let comparison =
        Compare::new(&policy).read(table()).methods(["mondrian", "peel"]).k([3, 99]).run().unwrap();
    round_trip::<Comparison>(&comparison);
    let release = Anonymize::new(&policy).read(table()).to_csv().unwrap().release;
    let findings = Audit::new(&policy).original(table()).release(Data::csv(release)).run().unwrap();
    round_trip::<Findings>(&findings);
    let policy = Policy::builder().k(3).quasi("age").class("sex").identifier("illness").method("refine");
    let recipe = Anonymize::new(&policy.build().unwrap()).read(table()).to_csv().unwrap().recipe.unwrap();
    round_trip::<Recipe>(&recipe);
    let masked = Apply::new(&recipe).read(table()).order(Order::Keep).to_csv().unwrap();
    round_trip::<Report>(&masked.report);
}

#[test]
fn figures_that_are_no_numbers_can_be_read_back() {
    let policy = roles().k(3).build().unwrap();
    let mut report = Anonymize::new(&policy).read(Data::csv(people(30))).to_csv().unwrap().report;
    report.measures.gcp = f64::NAN;
    let text = serde_json::to_string(&report).unwrap();
    assert!(serde_json::from_str::<Report>(&text).unwrap().measures.gcp.is_nan());
}

#[test]
fn evaluations_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("people.csv");
    std::fs::write(&table, people(60)).unwrap();
    let policy = roles().k(3).build().unwrap();
    for task in ["queries", "cube"] {
        round_trip(&Evaluate::new(&policy).read(&table).task(task).run().unwrap());
    }
}

#[test]
fn batches_without_rows_give_a_release_without_rows_and_a_text_without_rows_is_refused() {
    use arrow_schema::{DataType, Field, Schema};
    let fields = [("age", DataType::Int64), ("illness", DataType::Utf8), ("height", DataType::Float64)];
    let schema = Schema::new(fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec());
    let policy =
        Policy::builder().k(3).l(2.0).quasi("age").quasi("height").sensitive("illness").build().unwrap();
    for batches in [Vec::new(), vec![arrow_array::RecordBatch::new_empty(schema.clone().into())]] {
        let none = Data::batches(schema.clone().into(), batches);
        let done = Anonymize::new(&policy).read(none.clone()).publish(Publish::Bounds).to_csv().unwrap();
        assert_eq!(done.release, "age.min,age.max,illness,height.min,height.max\n");
        let measures = &done.report.measures;
        assert_eq!((measures.rows_in, measures.classes, measures.gcp), (0, 0, 0.0));
        assert!(measures.requirements.iter().all(|one| one.reached.is_none() && one.holds != Some(false)));
        let done = Anonymize::new(&policy).read(none).to_batches().unwrap();
        assert_eq!(done.release.schema.fields().len(), 3);
        assert_eq!(done.release.batches.iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>(), 0);
    }
    let text = Anonymize::new(&policy).read(Data::csv("age,illness,height\n")).to_csv().unwrap_err();
    assert_eq!(text.code(), ErrorCode::EmptyTable);
}
