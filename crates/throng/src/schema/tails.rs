//! Tails: numbers from `top` on, or up to `bottom`, that are published as `≥ top` and `≤ bottom` and never apart.

use super::spelling::Measured;

/// Where a tail begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Tail {
    /// At this number or date, as it was written.
    At {
        /// As a number; days for a date, seconds for a time of day.
        number: f64,
        /// As text.
        text: String,
        /// What it is.
        measured: Measured,
    },
    /// Where it holds as many records as a class must have.
    Auto,
}

impl Tail {
    /// What it begins at; unknown if that is left to the table.
    pub fn measured(&self) -> Option<Measured> {
        match self {
            Tail::At { measured, .. } => Some(*measured),
            Tail::Auto => None,
        }
    }
}

/// The tails of an attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tails {
    /// The lower one.
    pub bottom: Option<Tail>,
    /// The upper one.
    pub top: Option<Tail>,
}

impl Tails {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bottom.is_none() && self.top.is_none()
    }
}
