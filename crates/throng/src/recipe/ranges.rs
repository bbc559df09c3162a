//! Which cell of a recipe a value goes to.
//!
//! Intervals of numbers leave no gaps: each reaches from its lower end to that of the next; the first one reaches down and the last
//! one up without end. Whoever is not between the numbers of the records that were learned from is then masked like their
//! neighbours, and not singled out by a cell of their own.

use super::{Covers, Mask};
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::problem::Attribute;
use crate::table::tails::{AT_LEAST, AT_MOST};
use crate::table::{ANY, Domain, Map, Scale, Spelling, value};

/// An end of an interval, as a number and as it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub number: f64,
    pub text: &'a str,
}

/// An interval as the recipe tells it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range<'a> {
    pub low: End<'a>,
    pub high: End<'a>,
    /// Whether it covers its higher end.
    pub closed: bool,
    /// The cell.
    pub cell: u32,
}

impl Range<'_> {
    /// Whether it covers all numbers from one to another without being stretched.
    pub fn holds(&self, lowest: f64, highest: f64) -> bool {
        let below = highest < self.high.number || (self.closed && highest == self.high.number);
        self.low.number <= lowest && below
    }
}

/// Finds the cells of values.
pub(crate) struct Finder<'a> {
    cells: &'a [Mask],
    by_value: Map<&'a str, u32>,
    /// The cells by their texts, for values that are not listed but lie below a label.
    by_label: Map<&'a str, u32>,
    /// Ascending.
    pub(super) ranges: Vec<Range<'a>>,
    pub(super) missing: Option<u32>,
    /// Whether ends of intervals are dates.
    dates: bool,
}

impl<'a> Finder<'a> {
    /// Over cells whose numbers and dates are spelt in a way of their own, if need be.
    pub fn new(cells: &'a [Mask], spelling: Option<&Spelling>) -> Result<Self> {
        let mut finder = Finder {
            cells,
            by_value: Map::default(),
            by_label: cells.iter().map(|mask| mask.cell.as_str()).zip(0..).collect(),
            ranges: Vec::new(),
            missing: None,
            dates: false,
        };
        for (cell, mask) in (0..).zip(cells) {
            let (low, high, closed) = match &mask.covers {
                Covers::Values(values) => {
                    finder.by_value.extend(values.iter().map(|value| (value.as_str(), cell)));
                    continue;
                }
                Covers::Missing => {
                    finder.missing = Some(cell);
                    continue;
                }
                Covers::Before(low, high) => (low, high, false),
                Covers::UpTo(low, high) => (low, high, true),
            };
            finder.dates |= spelling.map_or(value::date(low).is_some(), Spelling::is_date);
            let end = |text: &'a str| end(text, spelling);
            finder.ranges.push(Range { low: end(low)?, high: end(high)?, closed, cell });
        }
        finder.ranges.arrange_by(|one, other| one.low.number.total_cmp(&other.low.number));
        Ok(finder)
    }

    /// The place of the interval that a number goes to.
    pub(super) fn range_of(&self, number: f64) -> Option<usize> {
        let above = self.ranges.partition_point(|range| range.low.number <= number);
        (!self.ranges.is_empty()).then(|| above.saturating_sub(1))
    }

    /// The cell of each code of an attribute of other records; none where only `*` covers it.
    pub fn cells_of(&self, attribute: &Attribute) -> Result<Vec<Option<u32>>> {
        let domain = &attribute.domain;
        self.check_dates(attribute)?;
        let cell = |code: u32| match domain.scale() {
            _ if domain.missing() == Some(code) && self.missing.is_some() => self.missing,
            Scale::Categorical(_) => self.cell_of_label(domain, code),
            Scale::Numeric { values, .. } => {
                let range = self.range_of(*values.get(code as usize)?)?;
                Some(self.ranges[range].cell)
            }
        };
        Ok((0..domain.len() as u32).map(cell).collect())
    }

    /// The cell that lists a value or, where none does, that is called like a group it belongs to.
    fn cell_of_label(&self, domain: &Domain, code: u32) -> Option<u32> {
        let Scale::Categorical(tree) = domain.scale() else { return None };
        let listed = self.by_value.get(domain.label(code)).copied();
        let leaf = tree.ancestor(code as usize, code as usize);
        let above = std::iter::successors(tree.parent(leaf), |node| tree.parent(*node));
        listed.or_else(|| above.into_iter().find_map(|node| self.by_label.get(tree.label(node)).copied()))
    }

    fn check_dates(&self, attribute: &Attribute) -> Result<()> {
        match attribute.domain.scale() {
            Scale::Numeric { values, spelling } if !values.is_empty() && !self.ranges.is_empty() => {
                let dates = spelling.is_date();
                let (own, learned) = if dates { ("dates", "numbers") } else { ("numbers", "dates") };
                let message = format!("the recipe was learned from {learned}, but the table has {own}");
                let error = Error::new(ErrorCode::BadCell, message).for_attribute(&attribute.name);
                if dates == self.dates {
                    Ok(())
                } else {
                    Err(error.with_hint("mask records of the same kind"))
                }
            }
            _ => Ok(()),
        }
    }

    /// Whether there is no cell: everything is published as `*`.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Whether one cell is all that an attribute has, though others could be: it is masked as a whole.
    pub(super) fn masks_all(&self, attribute: &Attribute) -> bool {
        self.cells.len() == 1 && (self.ranges.len() == 1 || attribute.has_hierarchy)
    }

    /// What a number is known as once it is masked, where it goes to an interval of one number: that number, or what
    /// the interval is stretched to.
    pub fn shown(&self, number: f64) -> Option<(f64, f64)> {
        let at = self.range_of(number)?;
        let range = &self.ranges[at];
        if range.holds(number, number) {
            return Some((range.low.number, range.high.number));
        }
        let above = self.ranges.get(at + 1).map_or(number, |next| next.low.number);
        Some((range.low.number.min(number), above.max(range.high.number)))
    }

    /// The text of a cell.
    pub(super) fn text(&self, cell: u32) -> &'a str {
        self.cells.get(cell as usize).map_or(ANY, |mask| &mask.cell)
    }

    /// The text of an interval that holds numbers from one end to another: as it was learned, or stretched until it holds them.
    /// `tails` tells whether they reach into the lower and the upper tail.
    pub(super) fn stretched(
        &self,
        at: usize,
        lowest: End<'_>,
        highest: End<'_>,
        tails: (bool, bool),
    ) -> String {
        let range = &self.ranges[at];
        let text = self.text(range.cell);
        if text == ANY || range.holds(lowest.number, highest.number) {
            return text.to_owned();
        }
        let low = if lowest.number < range.low.number { lowest.text } else { range.low.text };
        let high = if highest.number > range.high.number { highest.text } else { range.high.text };
        // What lies in a tail is never told by itself.
        match (tails.0 || text.starts_with(AT_MOST), tails.1 || text.starts_with(AT_LEAST)) {
            (true, true) => return ANY.to_owned(),
            (true, false) => return format!("{AT_MOST}{high}"),
            (false, true) => return format!("{AT_LEAST}{low}"),
            (false, false) => {}
        }
        match self.ranges.get(at + 1) {
            Some(next) => format!("[{low}-{})", next.low.text),
            None => format!("[{low}-{high}]"),
        }
    }
}

/// Reads a number or date of a recipe.
pub(super) fn read(text: &str, spelling: Option<&Spelling>) -> Option<f64> {
    match spelling {
        Some(spelling) => spelling.read(text),
        None => value::date(text).or_else(|| value::number(text)),
    }
}

/// Reads an end of an interval.
fn end<'t>(text: &'t str, spelling: Option<&Spelling>) -> Result<End<'t>> {
    let number = read(text, spelling);
    let message = "an interval of the recipe has an end that is neither number nor date";
    let error = || Error::new(ErrorCode::BadRecipe, message);
    number.map(|number| End { number, text }).ok_or_else(error)
}
