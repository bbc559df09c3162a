//! Numbers as two columns, `age.min` and `age.max`, in place of a range.
//!
//! Where cells are given, as those of a recipe are, a half-open range `[1-37)` is told as 1 and 37: the end where the next one
//! begins, which the recipe knows, and not the last number before it, which other records may exceed.

use super::{CellKind, Cells, Column, Content};
use crate::error::{Error, ErrorCode, Result};
use crate::method::GroupCells;
use crate::problem::Attribute;
use crate::table::{ANY, Domain, Scale, Spelling, value};

/// The columns of an attribute whose classes lie between codes.
pub(super) fn of_ends<'a>(attribute: &Attribute, ends: &[(u32, u32)]) -> Vec<Column<'a>> {
    let domain = &attribute.domain;
    // A class that mixes missing values with numbers has no bounds to tell.
    let end = |low: u32, high: u32, end: u32| {
        if low != high && domain.missing() == Some(high) {
            domain.cell(low, high)
        } else {
            domain.label(end).to_owned()
        }
    };
    let low = Cells::new(ends, |low, high| end(low, high, low));
    let high = Cells::new(ends, |low, high| end(low, high, high));
    columns(attribute, low, high)
}

/// The columns of an attribute whose cells are given.
pub(super) fn of_cells<'a>(attribute: &Attribute, cells: &GroupCells) -> Result<Vec<Column<'a>>> {
    let read = |text: &str| attribute.domain.read(text);
    let ends = |text: &String| match text.as_str() {
        cell if cell == ANY || is_missing(&attribute.domain, cell) || read(cell).is_some() => {
            Ok((text.clone(), text.clone()))
        }
        cell => match value::range_texts(cell, read) {
            Some((low, high)) => Ok((low.to_owned(), high.to_owned())),
            None => Err(Error::new(
                ErrorCode::BadUsage,
                "the cells of this recipe are not all values and ranges, so that they have no bounds",
            )
            .for_attribute(&attribute.name)
            .with_hint("publish them as cells")),
        },
    };
    let ends: Vec<(String, String)> = cells.texts.iter().map(ends).collect::<Result<_>>()?;
    let side = |of: fn(&(String, String)) -> &String| Cells {
        texts: ends.iter().map(of).cloned().collect(),
        of_class: cells.of_group.clone(),
        kind: CellKind::Text,
        missing: None,
    };
    Ok(columns(attribute, side(|ends| &ends.0), side(|ends| &ends.1)))
}

fn columns<'a>(attribute: &Attribute, low: Cells, high: Cells) -> Vec<Column<'a>> {
    let kind = kind(&attribute.domain, low.texts.iter().chain(&high.texts));
    let missing = attribute.domain.missing().map(|code| attribute.domain.label(code).to_owned());
    let column = |end: &str, cells: Cells| Column {
        name: format!("{}.{end}", attribute.name),
        source: attribute.column,
        content: Content::Cells(Cells { kind, missing: missing.clone(), ..cells }),
    };
    vec![column("min", low), column("max", high)]
}

fn is_missing(domain: &Domain, text: &str) -> bool {
    domain.missing().is_some_and(|code| domain.label(code) == text)
}

/// The kind of the bounds of a numeric attribute.
fn kind<'t>(domain: &'t Domain, texts: impl Iterator<Item = &'t String> + Clone) -> CellKind {
    // A class that mixes missing values with numbers has the cell `*`, which only text can tell from a null.
    // So has a tail a sign before its number.
    if domain.has_tails() || texts.clone().any(|text| text == ANY) {
        return CellKind::Text;
    }
    let mut labels = (0..domain.len() as u32).map(|code| domain.label(code)).chain(texts.map(String::as_str));
    match domain.scale() {
        Scale::Categorical(_) => CellKind::Text,
        Scale::Numeric { spelling: Spelling::Iso, .. } => CellKind::Date,
        // Published as they are spelt, which types would not keep.
        Scale::Numeric { spelling, .. } if *spelling != Spelling::Point => CellKind::Text,
        Scale::Numeric { .. }
            if labels.all(|label| is_missing(domain, label) || value::whole(label).is_some()) =>
        {
            CellKind::Whole
        }
        Scale::Numeric { .. } => CellKind::Real,
    }
}
