//! Measuring a release that somebody else made, and keeping what was found as JSON.
//!
//! `cargo run --release -p throng --example audit`

#![allow(clippy::print_stdout)]

use throng::{Audit, Data, Measures, Policy};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::builder().k(2).quasi("age").quasi("city").sensitive("illness").build()?;
    let table = Data::csv("age,city,illness\n31,Rome,flu\n34,Rome,cold\n56,Oslo,flu\n58,Oslo,gout\n");
    let release = |text: &str| Data::csv(text);
    let audit = Audit::new(&policy).original(table);

    let good = "age,city,illness\n[31-34],Rome,flu\n[31-34],Rome,cold\n[56-58],Oslo,flu\n[56-58],Oslo,gout\n";
    let findings = audit.clone().release(release(good)).run()?;
    assert!(findings.holds());

    let bad = "age,city,illness\n[31-34],Rome,flu\n[31-34],Rome,cold\n56,Oslo,flu\n58,Oslo,gout\n";
    let findings = audit.release(release(bad)).run()?;
    findings.measures.violations.iter().for_each(|violation| println!("{violation}"));
    assert!(!findings.holds() && findings.measures.k == 1);

    // Figures are kept as JSON and read back.
    let kept = serde_json::to_string(&findings.measures)?;
    let again: Measures = serde_json::from_str(&kept)?;
    assert_eq!(again.violations, findings.measures.violations);
    Ok(())
}
