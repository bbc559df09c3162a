//! How much quasi-identifiers tell of each other, and what they weigh.

use crate::method::facts::Associations;
use crate::report::page::{Block, Section};

pub(super) fn notes(found: &Associations) -> Vec<String> {
    let name = |at: usize| &found.attributes[at];
    let told = |&(one, other, association): &(usize, usize, f64)| {
        format!(
            "\"{}\" and \"{}\" tell nearly the same (association {association:.2}), so one of them may be enough for readers.",
            name(one),
            name(other)
        )
    };
    found.high.iter().map(told).collect()
}

pub(super) fn section(found: &Associations) -> Section {
    let mut blocks = Vec::new();
    if found.automatic.contains(&true) {
        blocks.push(Block::Words(
            "Weights that the table gives: an attribute weighs more the less the others tell of it."
                .to_owned(),
        ));
    }
    let weights = found.attributes.iter().zip(&found.weights).zip(&found.automatic);
    let row = |((name, weight), automatic): ((&String, &f64), &bool)| {
        vec![
            name.clone(),
            format!("{weight:.4}"),
            if *automatic { "from the table" } else { "given" }.to_owned(),
        ]
    };
    blocks.push(Block::Table {
        head: ["attribute", "weight", "origin"].map(str::to_owned).to_vec(),
        rows: weights.map(row).collect(),
    });
    blocks.push(Block::Words(
        "Associations of each pair, from 0 to 1: |r| for two numbers, the correlation ratio for a number and a category, Cramér's V for \
         two categories, both without what as many categories would explain by chance."
            .to_owned(),
    ));
    let mut head = vec![String::new()];
    head.extend(found.attributes.iter().cloned());
    let row = |(name, own): (&String, &Vec<f64>)| {
        let mut cells = vec![name.clone()];
        cells.extend(own.iter().map(|association| format!("{association:.2}")));
        cells
    };
    blocks.push(Block::Table { head, rows: found.attributes.iter().zip(&found.matrix).map(row).collect() });
    Section { heading: "Associations and weights".to_owned(), blocks }
}
