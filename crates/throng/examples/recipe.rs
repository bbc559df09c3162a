//! Learning a recoding from some records and masking others with it.
//!
//! `cargo run --release -p throng --example recipe`

#![allow(clippy::print_stdout)]

use throng::{Anonymize, Apply, Data, ErrorCode, Order, Policy, Recipe, Unmet};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::builder().k(2).quasi("age").class("buys").method("refine").seed(1).build()?;
    let known = Data::csv("age,buys\n31,no\n34,no\n36,no\n56,yes\n58,yes\n59,yes\n");
    let recipe = Anonymize::new(&policy).read(known).to_csv()?.recipe.ok_or("refine learns masks")?;

    // A recipe is kept as JSON.
    let recipe: Recipe = serde_json::from_str(&recipe.to_json()?)?;

    let others = Data::csv("age,buys\n33,no\n35,yes\n57,yes\n58,no\n");
    let masked = Apply::new(&recipe).read(others).order(Order::Keep).to_csv()?;
    println!("{}", masked.release);
    assert!(masked.report.measures.k >= 2);

    // Whether other records meet the requirement is found out when they are masked.
    let alone = Data::csv("age,buys\n33,no\n57,yes\n58,no\n");
    let apply = Apply::new(&recipe).read(alone);
    let error = apply.clone().to_csv().err();
    assert_eq!(error.map(|error| error.code()), Some(ErrorCode::RecipeNotSafe));
    let masked = apply.unmet(Unmet::Suppress).to_csv()?;
    assert_eq!(masked.report.measures.suppressed, 1);
    Ok(())
}
