//! A privacy model of your own: every class must hold at least so many records whose sensitive value is not the most
//! frequent one of the class, so that whoever bets on that one may be wrong.
//!
//! `cargo run --release -p throng --example own_privacy_model`

#![allow(clippy::print_stdout)]

use std::sync::Arc;

use throng::extend::{Achieved, Figure, Model, Part, Protected, Published, Records, Spec, Tally};
use throng::{Anonymize, Data, Error, ErrorCode, Policy, Result};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
struct Doubt {
    others: u64,
}

/// The same for one sensitive attribute.
#[derive(Debug)]
struct DoubtOf {
    others: u64,
    attribute: usize,
}

/// Records that do not have the most frequent value.
fn others(counts: impl Iterator<Item = (u32, u32)>) -> u64 {
    let counts: Vec<u64> = counts.map(|(_, count)| u64::from(count)).collect();
    counts.iter().sum::<u64>() - counts.iter().max().copied().unwrap_or(0)
}

impl Model for DoubtOf {
    fn describe(&self) -> String {
        format!("at least {} records of every class have another value than most", self.others)
    }

    fn part(&self) -> Part {
        Part::T
    }

    // Of two sets with so many others each, the union has as many at least.
    fn monotone(&self) -> bool {
        true
    }

    fn smallest_class(&self) -> usize {
        2 * self.others as usize
    }

    fn holds(&self, tally: &Tally) -> bool {
        others(tally.histogram(self.attribute).present()) >= self.others
    }

    fn explain(&self, _: &Tally, records: &Records) -> Error {
        Error::new(ErrorCode::RequirementUnreachable, "the whole table has too few other values")
            .for_attribute(&records.sensitive[self.attribute].name)
            .with_hint("ask for fewer")
    }
}

impl Spec for Doubt {
    fn key(&self) -> &'static str {
        "doubt"
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn keys(&self) -> toml::Table {
        toml::Table::from_iter([("doubt".to_owned(), toml::Value::Integer(self.others as i64))])
    }

    fn protects_sensitive(&self) -> bool {
        true
    }

    fn models(&self, sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
        let model = |attribute| Arc::new(DoubtOf { others: self.others, attribute }) as Arc<dyn Model>;
        (0..sensitive.len()).map(model).collect()
    }

    // Measured from the published classes, not from what a method remembers.
    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let of = |at| published.over_classes(at, u64::MAX, |counts| others(counts.present()), u64::min);
        let fewest = (0..published.sensitive.len()).map(of).min().unwrap_or(u64::MAX);
        let violation = (fewest < self.others).then(|| format!("a class has only {fewest} other values"));
        let achieved =
            Achieved::at_least("doubt", "doubt", "records of a class with another value than most");
        Ok(vec![
            achieved
                .reached(Figure::Count(fewest))
                .asked(Figure::Count(self.others), violation.into_iter().collect()),
        ])
    }
}

/// Runs the example.
pub fn main() -> Result<()> {
    let people =
        Data::csv("age,illness\n31,flu\n32,flu\n33,flu\n34,cold\n55,gout\n56,cold\n57,flu\n58,gout\n");
    let policy = |others| {
        let builder = Policy::builder().k(2).quasi("age").sensitive("illness").method("mondrian").seed(1);
        builder.requirement(Arc::new(Doubt { others })).build()
    };

    let done = Anonymize::new(&policy(1)?).read(people.clone()).to_csv()?;
    println!("{}", done.release);
    let doubt = done.report.measures.requirements.iter().find(|one| one.key == "doubt");
    assert_eq!(doubt.and_then(|one| one.holds), Some(true));

    let refused = Anonymize::new(&policy(9)?).read(people).to_csv().err();
    assert_eq!(refused.map(|error| error.code()), Some(ErrorCode::RequirementUnreachable));
    Ok(())
}
