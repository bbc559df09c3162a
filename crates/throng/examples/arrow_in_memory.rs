//! Record batches in, record batches out: nothing touches the disk.
//!
//! `cargo run --release -p throng --example arrow_in_memory`

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use arrow_array::{Array, Int64Array, RecordBatch, StringArray};
use throng::{Anonymize, Audit, Policy};

fn people() -> Result<RecordBatch, arrow_schema::ArrowError> {
    let ages = Int64Array::from(vec![31, 34, 36, 52, 55, 58]);
    let cities = StringArray::from(vec!["Rome", "Rome", "Oslo", "Oslo", "Rome", "Rome"]);
    let illnesses = StringArray::from(vec!["flu", "cold", "flu", "gout", "cold", "flu"]);
    RecordBatch::try_from_iter([
        ("age", Arc::new(ages) as Arc<dyn Array>),
        ("city", Arc::new(cities)),
        ("illness", Arc::new(illnesses)),
    ])
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::builder().k(2).quasi("age").quasi("city").sensitive("illness").build()?;

    let done = Anonymize::new(&policy).read(people()?).to_batches()?;

    let rows: usize = done.release.batches.iter().map(RecordBatch::num_rows).sum();
    println!("{rows} rows of {}", done.release.schema);
    assert_eq!((rows, done.release.schema.fields().len()), (6, 3));

    let findings = Audit::new(&policy).original(people()?).release(&done.release).run()?;
    assert!(findings.holds() && findings.measures.k >= 2);
    Ok(())
}
