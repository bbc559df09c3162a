//! Limits on the width of published ranges of numbers, each in its attribute's own units.

use std::sync::Arc;

use toml::{Spanned, Table, Value};

use super::achieved::TOLERANCE;
use super::{Achieved, Figure, Kind, Part, Place, Spec, spec};
use crate::data::Joined;
use crate::error::{Error, ErrorCode, Result};
use crate::keys::fields::{as_table, in_order, mismatch, number};
use crate::keys::{Keys, within};
use crate::loss::Limits;
use crate::published::{Cell, Published};
use crate::table::Scale;

const KEY: &str = "max_span";

/// The key `max_span`.
pub const KIND: Kind = Kind { key: KEY, keys: &[KEY], read, unasked: spec::nothing };

/// How wide published ranges may be.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxSpan {
    /// Each attribute with the greatest width, and where it is named.
    pub widths: Vec<(String, f64, Place)>,
}

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let Some(item) = keys.fields.item(KEY) else { return Ok(None) };
    let mut widths = Vec::new();
    for (name, item) in in_order(as_table(keys.source, item, KEY)?) {
        let name = Spanned::new(name.span(), String::from(name.get_ref() as &str));
        let width =
            number(item.get_ref()).ok_or_else(|| mismatch(keys.source, item, name.get_ref(), "a number"))?;
        keys.require_quasi(&name)?;
        let (width, expected) = (Spanned::new(item.span(), width), "a number of at least 0");
        let allowed = |most: f64| most.is_finite() && most >= 0.0;
        let most = within(keys.source, name.get_ref(), &width, expected, allowed)?;
        widths.push((name.get_ref().clone(), most, Some(name.span())));
    }
    Ok((!widths.is_empty()).then(|| Arc::new(MaxSpan { widths }) as Arc<dyn Spec>))
}

impl Spec for MaxSpan {
    fn key(&self) -> &'static str {
        KEY
    }

    fn needs_ranges(&self) -> bool {
        true
    }

    fn part(&self) -> Part {
        Part::MaxLoss
    }

    fn keys(&self) -> Table {
        let widths = self.widths.iter().map(|(name, most, _)| (name.clone(), Value::Float(*most)));
        Table::from_iter([(KEY.to_owned(), Value::Table(widths.collect()))])
    }

    fn limit(&self, limits: &mut Limits, joined: &Joined<'_>) -> Result<()> {
        for (name, most, place) in &self.widths {
            let attributes = joined.attributes.iter().enumerate();
            let Some((at, attribute)) = attributes.into_iter().find(|(_, own)| own.name == *name) else {
                continue;
            };
            let Scale::Numeric { values, .. } = attribute.domain.scale() else {
                let message = format!("max_span limits ranges of numbers, but \"{name}\" holds categories");
                let error = Error::new(ErrorCode::WrongKind, message)
                    .for_attribute(name)
                    .with_hint("limit its loss with max_loss, or write kind = \"numeric\" in its section");
                return Err(joined.point(error, place, "not a number"));
            };
            limits.limit_span(at, *most, values);
        }
        Ok(())
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let one = |(name, most, _): &(String, f64, Place)| {
            let attributes = &published.data.attributes;
            let at = attributes.iter().position(|attribute| attribute.name == *name)?;
            let widest = published.cells_of(at).map(width).fold(0.0, f64::max);
            let violation = (widest > most * (1.0 + TOLERANCE))
                .then(|| format!("max_span = {most} is required on {name}, a class spans {widest}"));
            let achieved = Achieved::at_most(KEY, "range", "the widest published range, in its own units")
                .of(std::slice::from_ref(name))
                .reached(Figure::Number(widest));
            Some(achieved.asked(Figure::Number(*most), violation.into_iter().collect()))
        };
        Ok(self.widths.iter().filter_map(one).collect())
    }
}

/// The width of a cell; missing among numbers leaves anything open.
fn width(cell: &Cell) -> f64 {
    match cell.range {
        _ if cell.missing && !cell.single => f64::INFINITY,
        Some((low, high)) => cell.ends_before.unwrap_or(high) - low,
        None => 0.0,
    }
}
