//! Tails of a recipe: where they begin was fixed by the table that it was learned from, also where the policy left it open.

use super::Ingredient;
use super::policy::wrong;
use super::ranges::read;
use crate::error::Result;
use crate::schema::spelling::Measured;
use crate::schema::{Tail, Tails};
use crate::table::Domain;
use crate::table::tails::{AT_LEAST, AT_MOST, at};

impl Ingredient {
    /// Notes where the tails of an attribute begin: where the policy says, or where the table made them begin.
    pub(super) fn note_tails(&mut self, tails: &Tails, domain: &Domain) {
        let labels = || (0..domain.len() as u32).map(|code| domain.label(code));
        let of_table = |sign: &str| labels().find_map(|label| label.strip_prefix(sign)).map(str::to_owned);
        let begins = |tail: &Option<Tail>, sign: &str| match tail {
            None => None,
            Some(Tail::At { text, .. }) => Some(text.clone()),
            Some(Tail::Auto) => of_table(sign),
        };
        self.top = begins(&tails.top, AT_LEAST);
        self.bottom = begins(&tails.bottom, AT_MOST);
    }

    /// Its tails; an error at a place of the recipe.
    pub(super) fn tails(&self, place: &str) -> Result<Tails> {
        let tails = Tails {
            bottom: self.tail(place, "bottom", self.bottom.as_ref())?,
            top: self.tail(place, "top", self.top.as_ref())?,
        };
        match (&tails.bottom, &tails.top) {
            (Some(Tail::At { number: low, .. }), Some(Tail::At { number: high, .. })) if low >= high => {
                Err(wrong(&format!("{place}.bottom"), "bottom must be below top"))
            }
            _ => Ok(tails),
        }
    }

    fn tail(&self, place: &str, key: &str, text: Option<&String>) -> Result<Option<Tail>> {
        let Some(text) = text else { return Ok(None) };
        let place = format!("{place}.{key}");
        if self.role != "quasi" || self.kind.as_deref() != Some("numeric") {
            return Err(wrong(&place, "tails are for quasi-identifiers that are numbers or dates"));
        }
        let spelling = self.spelling()?;
        // A policy writes dates and times in one way only, whatever the table does.
        let plain = at(text);
        match (read(text, spelling.as_ref()), &plain) {
            (Some(number), _) => {
                let measured = match (&plain, &spelling) {
                    (_, Some(spelling)) => spelling.measured(),
                    (Some(Tail::At { measured, .. }), None) => *measured,
                    _ => Measured::Numbers,
                };
                Ok(Some(Tail::At { number: number + 0.0, text: text.clone(), measured }))
            }
            (None, Some(_)) => Ok(plain),
            (None, None) => Err(wrong(&place, "this is neither number, date nor time")),
        }
    }
}
