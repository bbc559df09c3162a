use super::{EXAMPLE, example_folder, with_attribute_lines};
use crate::policy::Policy;

fn example() -> Policy {
    let (_folder, path) = example_folder();
    Policy::load(&path).unwrap()
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn flags_override_the_policy() {
    let policy =
        example().with_k(3).unwrap().with_l(2.5).unwrap().with_seed(99).with_method("anatomy").unwrap();
    assert_eq!((policy.privacy.k(), policy.privacy.l()), (Some(3), Some(2.5)));
    assert_eq!((policy.method.name.as_str(), policy.method.seed), ("anatomy", 99));
    // Its options are kept: the plan tells which of them apply to the new method.
    assert_eq!((policy.method.options.len(), policy.method.span), (1, None));
    assert!(policy.method.replaced);
}

#[test]
fn the_same_method_keeps_its_options() {
    let policy = example().with_method("hilbert").unwrap();
    assert_eq!(policy.method.options.len(), 1);
}

#[test]
fn flags_are_checked_like_the_policy() {
    let message = |result: crate::Result<Policy>| result.unwrap_err().message().to_owned();
    assert_eq!(message(example().with_k(0)), "k must be a whole number of at least 1, found 0");
    assert_eq!(message(example().with_l(0.5)), "l must be a number of at least 1, found 0.5");
    assert_eq!(message(example().with_l(f64::NAN)), "l must be a number of at least 1, found NaN");
    assert_eq!(message(example().with_method("")), "the name of the method is empty");
    let plain = Policy::parse(&with_attribute_lines(""), None).unwrap();
    assert_eq!(
        message(plain.with_l(2.0)),
        "l protects sensitive attributes, but no attribute has the role \"sensitive\""
    );
    let text = EXAMPLE
        .replace("\"frequency\"", "\"distinct\"")
        .replace("\"hierarchies/workclass.csv\"", "{a = [1]}");
    let distinct = Policy::parse(&text, None).unwrap();
    assert_eq!(
        message(distinct.with_l(2.5)),
        "l must be a whole number with \"distinct\" diversity, found 2.5"
    );
}

#[test]
fn every_attribute_must_be_a_column() {
    let policy = example();
    let all = columns(&["name", "age", "race", "country", "workclass", "disease", "more"]);
    assert!(policy.check_columns(&all).is_ok());
    let error = policy
        .check_columns(&columns(&["name", "Age", "race", "country", "workclass", "disease"]))
        .unwrap_err();
    assert_eq!(error.message(), "the table has no column \"age\"");
    assert_eq!((error.place().line, error.place().column), (Some(25), Some(12)));
    assert_eq!(error.place().attribute.as_deref(), Some("age"));
    assert_eq!(error.hint(), Some("did you mean \"Age\"?"));
    let error = policy.check_columns(&columns(&["x", "y"])).unwrap_err();
    assert_eq!(error.hint(), Some("the columns are x, y"));
}
