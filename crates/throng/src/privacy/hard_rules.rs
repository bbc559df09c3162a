//! Hard rules: what must stay apart in a release, whoever is in a class (Morton 2012).
//!
//! They are written in the sections of attributes, see [`crate::rules`]; here they are asked for and told like every other
//! requirement. They do not hide anybody, so a policy needs something else beside them.

use super::{Achieved, Figure, Kind, Part, Spec, spec};
use crate::error::Result;
use crate::published::{Cell, Published};
use crate::rules::BoundRule;

/// Hard rules; no key of `[privacy]`.
pub const KIND: Kind = Kind { key: "rules", keys: &[], read: |_| Ok(None), unasked: spec::nothing };

/// The rules of a problem that must not be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardRules;

/// The classes whose cells break a rule.
pub(crate) fn broken_classes(rule: &BoundRule, published: &Published<'_>) -> Vec<usize> {
    let breaks = |cell: &Cell| match (cell.numbers(), cell.leaves) {
        (Some(numbers), _) => rule.broken_by_numbers(numbers),
        (None, (first, end)) => first < end && rule.broken_by((first, end - 1)),
    };
    let cells = published.cells_of(rule.attribute).enumerate();
    cells.filter(|(_, cell)| breaks(cell)).map(|(class, _)| class).collect()
}

impl Spec for HardRules {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn needs_ranges(&self) -> bool {
        true
    }

    fn part(&self) -> Part {
        Part::HardRules
    }

    /// They stand in the sections of attributes.
    fn keys(&self) -> toml::Table {
        toml::Table::new()
    }

    fn asks(&self) -> bool {
        false
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let data = published.data;
        let broken = |rule: &BoundRule| {
            let classes = broken_classes(rule, published).len();
            let attribute = &data.attributes[rule.attribute].name;
            (classes > 0)
                .then(|| format!("the hard rule {} of {attribute} is broken in {classes} classes", rule.text))
        };
        let hard = || published.rules.iter().filter(|rule| rule.hard);
        let violations: Vec<String> = hard().filter_map(broken).collect();
        let (all, kept) = (hard().count() as u64, (hard().count() - violations.len()) as u64);
        let achieved = Achieved::at_least(KIND.key, "hard rules", "rules that no published cell breaks");
        Ok(vec![achieved.reached(Figure::Count(kept)).asked(Figure::Count(all), violations)])
    }
}
