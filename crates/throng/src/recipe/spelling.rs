//! How a recipe tells numbers and dates: as the table that it was learned from spelt them.

use super::Ingredient;
use crate::error::{Error, ErrorCode, Result};
use crate::schema::spelling::{Format, Spelling};

impl Ingredient {
    /// Notes how the values of the attribute are spelt.
    pub(super) fn spell(&mut self, spelling: Option<&Spelling>) {
        match spelling.and_then(Spelling::key) {
            Some(("format", format)) => self.format = Some(format),
            Some((_, decimal)) => self.decimal = Some(decimal),
            None => {}
        }
    }

    /// How they are spelt, if that needs saying.
    pub(crate) fn spelling(&self) -> Result<Option<Spelling>> {
        match (&self.format, self.decimal.as_deref()) {
            (Some(format), _) => match Format::new(format) {
                Ok(format) => Ok(Some(Spelling::Format(format))),
                Err(message) => Err(Error::new(
                    ErrorCode::BadRecipe,
                    format!("the recipe has a form of dates that is none: {message}"),
                )),
            },
            (None, Some(",")) => Ok(Some(Spelling::Comma)),
            (None, Some(_)) => Ok(Some(Spelling::Grouped)),
            (None, None) => Ok(None),
        }
    }
}
