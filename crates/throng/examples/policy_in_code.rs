//! A policy without a text: roles, hierarchies, weights, rules and requirements as calls. The checks are those of a file.
//!
//! `cargo run --release -p throng --example policy_in_code`

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;

use throng::{Anonymize, Attribute, Data, ErrorCode, Kind, Policy};

const PEOPLE: &str = "name,age,city,illness\n\
    Ada,31,Rome,flu\nBen,34,Rome,cold\nCleo,36,Oslo,flu\nDan,52,Oslo,gout\nEve,58,Bari,cold\nFay,59,Rome,flu\n";

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let italy = BTreeMap::from([("Italy", vec!["Rome", "Bari"]), ("Norway", vec!["Oslo"])]);
    let policy = Policy::builder()
        .k(2)
        .l(1.5)
        .identifier("name")
        .attribute("age", Attribute::quasi().kind(Kind::Numeric).weight(2.0))
        .attribute("city", Attribute::quasi().hierarchy(italy))
        .sensitive("illness")
        .method("mondrian")
        .build()?;
    let done = Anonymize::new(&policy).read(Data::csv(PEOPLE)).to_csv()?;
    println!("{}", done.release);
    assert!(done.report.measures.k >= 2);

    // The text that says the same goes into the report, so that the command line can repeat the run.
    assert!(done.report.provenance.policy.contains("\"weight\" = 2.0"));

    // Mistakes name the argument.
    let wrong = Policy::builder().k(2).attribute("age", Attribute::quasi().weight(-1.0)).build();
    let error = wrong.err().ok_or("a weight below 0 was taken")?;
    println!("{error}");
    assert_eq!(error.code(), ErrorCode::BadValue);
    assert!(error.message().starts_with("the argument weight of the attribute \"age\": "), "{error}");
    Ok(())
}
