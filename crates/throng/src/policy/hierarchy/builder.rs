//! The builders: hierarchies that follow from a few numbers or calendar units.

use toml::de::{DeTable, DeValue};

use super::super::{DateUnit, Hierarchy};
use crate::error::{Error, Result};
use crate::keys::fields::{Item, number, whole};
use crate::keys::source::Source;

/// The units by the words of a policy.
pub(crate) const UNITS: &[(&str, DateUnit)] = &[
    ("month", DateUnit::Month),
    ("quarter", DateUnit::Quarter),
    ("year", DateUnit::Year),
    ("decade", DateUnit::Decade),
    ("century", DateUnit::Century),
];

/// How far a ratio of interval widths may be from a whole number, relative to it: widths such as 0.1 and
/// 0.3 are not exact in binary.
const RATIO_TOLERANCE: f64 = 1e-9;

/// The hierarchy of a builder; none when the table is a tree.
pub(super) fn read(source: Source<'_>, table: &DeTable<'_>) -> Result<Option<Hierarchy>> {
    let mut entries = table.iter();
    let (Some((key, item)), None) = (entries.next(), entries.next()) else { return Ok(None) };
    let DeValue::Array(steps) = item.get_ref() else { return Ok(None) };
    let numbers = steps.iter().all(|step| matches!(step.get_ref(), DeValue::Integer(_) | DeValue::Float(_)));
    let units = steps.iter().all(|step| unit(step).is_some());
    let builder = Builder { source, item, steps };
    match key.get_ref().as_ref() {
        "intervals" if numbers => builder.intervals().map(Some),
        "prefix" if numbers => builder.prefix().map(Some),
        "dates" if units => builder.dates().map(Some),
        _ => Ok(None),
    }
}

struct Builder<'a, 'i> {
    source: Source<'a>,
    item: &'a Item<'i>,
    steps: &'a [Item<'i>],
}

impl Builder<'_, '_> {
    fn intervals(&self) -> Result<Hierarchy> {
        self.require_steps("intervals = [5, 20]")?;
        let mut widths: Vec<f64> = Vec::new();
        for step in self.steps {
            let Some(width) = number(step.get_ref()).filter(|width| width.is_finite() && *width > 0.0) else {
                return Err(self.error(
                    step,
                    "the widths of intervals must be numbers above 0",
                    "not above 0",
                ));
            };
            if let Some(before) = widths.last() {
                self.check_width(step, *before, width)?;
            }
            widths.push(width);
        }
        Ok(Hierarchy::Intervals(widths))
    }

    fn check_width(&self, step: &Item<'_>, before: f64, width: f64) -> Result<()> {
        let ratio = width / before;
        if width <= before {
            let message = format!("the widths of intervals must increase, but {width} follows {before}");
            Err(self.error(step, message, "not wider than the one before"))
        } else if (ratio - ratio.round()).abs() > RATIO_TOLERANCE * ratio {
            let message = format!(
                "each width must be a multiple of the one before, but {width} is no multiple of {before}"
            );
            Err(self.error(step, message, "would cut narrower intervals in two"))
        } else {
            Ok(())
        }
    }

    fn prefix(&self) -> Result<Hierarchy> {
        self.require_steps("prefix = [4, 3, 0]")?;
        let mut lengths: Vec<usize> = Vec::new();
        for step in self.steps {
            let Some(length) = whole(step.get_ref()).and_then(|length| usize::try_from(length).ok()) else {
                let message = "the lengths of a prefix must be whole numbers of at least 0";
                return Err(self.error(step, message, "not a number of characters"));
            };
            if let Some(before) = lengths.last()
                && length >= *before
            {
                let message = format!("the lengths of a prefix must decrease, but {length} follows {before}");
                return Err(self.error(step, message, "not shorter than the one before"));
            }
            lengths.push(length);
        }
        Ok(Hierarchy::Prefix(lengths))
    }

    fn dates(&self) -> Result<Hierarchy> {
        self.require_steps("dates = [\"month\", \"year\"]")?;
        let mut units: Vec<DateUnit> = Vec::new();
        for step in self.steps {
            let Some(unit) = unit(step) else { continue };
            if units.last().is_some_and(|before| unit <= *before) {
                let message = "the units of dates must become coarser from one to the next";
                return Err(self
                    .error(step, message, "not coarser than the one before")
                    .with_hint("the order is month, quarter, year, decade, century"));
            }
            units.push(unit);
        }
        Ok(Hierarchy::Dates(units))
    }

    fn require_steps(&self, example: &str) -> Result<()> {
        if !self.steps.is_empty() {
            return Ok(());
        }
        let error = self.error(self.item, "the list of steps is empty", "expected at least one");
        Err(error.with_hint(format!("for example {example}")))
    }

    fn error(&self, item: &Item<'_>, message: impl Into<String>, label: &str) -> Error {
        self.source.error(&item.span(), message, label)
    }
}

fn unit(step: &Item<'_>) -> Option<DateUnit> {
    let word = step.get_ref().as_str()?;
    UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit)
}
