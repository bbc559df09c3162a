//! Whether the cells of a recipe are true: what a cell says must hold for all values that it is said to cover.

use indexmap::IndexMap;

use super::policy::wrong;
use super::ranges::{Finder, Range, read};
use super::{Covers, Mask, Recipe};
use crate::error::{Error, Result};
use crate::policy::{AttributePolicy, Hierarchy, Kind, Policy, Role};
use crate::schema::spelling::Guess;
use crate::table::tails::{AT_LEAST, AT_MOST};
use crate::table::{ANY, Spelling, labels_above, value};
use crate::words::shorten;

impl Recipe {
    /// An error at the first cell that cannot be used.
    pub(super) fn check_cells(&self) -> Result<()> {
        let policy = self.policy()?;
        for (name, own) in &self.attributes {
            self.check_attribute(&policy, &format!("attributes.{name}.cells"), name, &own.cells)?;
        }
        for (number, part) in self.parts.iter().enumerate() {
            let place = format!("parts[{number}]");
            for name in part.limits.keys() {
                masked(&policy, &format!("{place}.where.{name}"), name)?;
            }
            for (name, cells) in &part.cells {
                self.check_attribute(&policy, &format!("{place}.cells.{name}"), name, cells)?;
            }
        }
        Ok(())
    }

    fn check_attribute(&self, policy: &Policy, place: &str, name: &str, cells: &[Mask]) -> Result<()> {
        if cells.is_empty() {
            return Ok(());
        }
        let attribute = masked(policy, place, name)?;
        let spellings = spellings(attribute, cells);
        for (at, mask) in cells.iter().enumerate() {
            let place = format!("{place}[{at}]");
            let told = match attribute.kind {
                Some(Kind::Categorical) => category(attribute, &spellings, mask),
                Some(Kind::Numeric) => self.number(mask, attribute.spelling.as_ref()),
                None => Err("the kind of the attribute is not told".to_owned()),
            };
            told.map_err(|message| untrue(&place, &message))?;
        }
        let finder =
            Finder::new(cells, attribute.spelling.as_ref()).map_err(|error| wrong(place, error.message()))?;
        apart(place, &finder.ranges)?;
        once(place, cells)
    }

    /// Whether the cell of an interval covers it.
    fn number(&self, mask: &Mask, spelling: Option<&Spelling>) -> Result<(), String> {
        let text = shorten(&mask.cell);
        let (low, high, closed) = match &mask.covers {
            Covers::Values(_) => return Err("values are listed, but the attribute is numeric".to_owned()),
            Covers::Missing if mask.cell == ANY || self.missing.contains(&mask.cell) => return Ok(()),
            Covers::Missing => return Err(format!("\"{text}\" does not stand for a missing value")),
            Covers::Before(low, high) => (low, high, false),
            Covers::UpTo(low, high) => (low, high, true),
        };
        let (Some(from), Some(to)) = (read(low, spelling), read(high, spelling)) else {
            return Err("an end of the interval is neither number nor date".to_owned());
        };
        if from > to || (from == to && !closed) {
            return Err("the interval ends before it begins".to_owned());
        }
        match covers(&mask.cell, spelling, (from, to, closed)) {
            true => Ok(()),
            false => {
                let end = if closed { "" } else { "before " };
                Err(format!("the cell \"{text}\" does not cover all from {low} to {end}{high}"))
            }
        }
    }
}

/// What the policy says of an attribute that is masked.
fn masked<'p>(policy: &'p Policy, place: &str, name: &str) -> Result<&'p AttributePolicy> {
    let own = policy.attributes.get(name).filter(|own| own.role == Role::Quasi);
    own.ok_or_else(|| wrong(place, &format!("\"{}\" is no quasi-identifier of the recipe", shorten(name))))
}

fn untrue(place: &str, message: &str) -> Error {
    wrong(place, message)
        .with_hint("use the recipe as `throng anonymize --recipe` wrote it, or learn another one")
}

/// Whether a published cell covers the numbers from one to another, the last of them if `closed`.
fn covers(cell: &str, spelling: Option<&Spelling>, (from, to, closed): (f64, f64, bool)) -> bool {
    let read = |text: &str| read(text, spelling);
    if cell == ANY || read(cell).is_some_and(|own| own == from && own == to) {
        return true;
    }
    if let Some(low) = cell.strip_prefix(AT_LEAST) {
        return read(low).is_some_and(|low| low <= from);
    }
    if let Some(high) = cell.strip_prefix(AT_MOST) {
        return read(high).is_some_and(|high| to <= high);
    }
    if let Some((low, high)) = value::range(cell, read) {
        return low <= from && to <= high;
    }
    value::half_open_range(cell, read)
        .is_some_and(|(low, high)| low <= from && (to < high || (to == high && !closed)))
}

/// How the values of an attribute may be spelt, whose groups are made of numbers or dates.
fn spellings(attribute: &AttributePolicy, cells: &[Mask]) -> Vec<Spelling> {
    if let Some(told) = &attribute.spelling {
        return vec![told.clone()];
    }
    let listed = cells.iter().filter_map(|mask| match &mask.covers {
        Covers::Values(values) => Some(values),
        Covers::Before(..) | Covers::UpTo(..) | Covers::Missing => None,
    });
    match Spelling::guess(listed.flatten().map(String::as_str)) {
        Guess::Clear(one) => vec![one],
        Guess::Either(one, other) => vec![one, other],
        Guess::Neither => vec![Spelling::Point, Spelling::Iso],
    }
}

/// Whether the cell of some categories is one of them, where there is but one, or a label above all of them.
fn category(attribute: &AttributePolicy, spellings: &[Spelling], mask: &Mask) -> Result<(), String> {
    let Covers::Values(values) = &mask.covers else {
        return Err("an interval is told, but the attribute is categorical".to_owned());
    };
    let untrue = |value: &String| {
        let (cell, value) = (shorten(&mask.cell), shorten(value));
        format!("the cell \"{cell}\" does not cover the value \"{value}\"")
    };
    if mask.cell == ANY {
        return Ok(());
    }
    let above = |value: &String| match &attribute.hierarchy {
        None => false,
        Some(Hierarchy::Tree(tree)) => tree.above(value).is_some_and(|path| path.contains(&mask.cell)),
        Some(builder) => spellings.iter().any(|own| labels_above(builder, own, value).contains(&mask.cell)),
    };
    match values.iter().find(|value| **value != mask.cell && !above(value)) {
        None if values.is_empty() => Err("it covers no value".to_owned()),
        None => Ok(()),
        Some(value) => Err(untrue(value)),
    }
}

/// Intervals must not overlap: a number goes to one of them.
fn apart(place: &str, ranges: &[Range<'_>]) -> Result<()> {
    let meet = |pair: &&[Range<'_>]| {
        let (one, next) = (&pair[0], &pair[1]);
        next.low.number < one.high.number || (one.closed && next.low.number == one.high.number)
    };
    match ranges.windows(2).find(meet) {
        None => Ok(()),
        Some(pair) => {
            let (one, next) = (pair[0].cell, pair[1].cell);
            Err(untrue(
                &format!("{place}[{next}]"),
                &format!("the interval overlaps with that of cell [{one}]"),
            ))
        }
    }
}

/// No value may stand in two cells, and no cell may be told twice.
fn once(place: &str, cells: &[Mask]) -> Result<()> {
    let mut values: IndexMap<&str, ()> = IndexMap::new();
    let mut texts: IndexMap<&str, ()> = IndexMap::new();
    for (at, mask) in cells.iter().enumerate() {
        let listed: &[String] = if let Covers::Values(values) = &mask.covers { values } else { &[] };
        if let Some(twice) = listed.iter().find(|value| values.insert(value, ()).is_some()) {
            let message = format!("the value \"{}\" has a cell already", shorten(twice));
            return Err(untrue(&format!("{place}[{at}]"), &message));
        }
        if texts.insert(&mask.cell, ()).is_some() {
            let message = format!("the cell \"{}\" stands here twice", shorten(&mask.cell));
            return Err(untrue(&format!("{place}[{at}]"), &message));
        }
    }
    Ok(())
}
