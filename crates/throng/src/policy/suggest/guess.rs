//! The role of a column: what its values are first, then what its name says, then how different its values are.
//!
//! Whatever is not sure is held back: it becomes a quasi-identifier, which is generalized, or an identifier, which is not
//! published, and is marked for a person to check. `other`, which is published as it is, is left for columns that tell
//! nobody apart.

use super::look::Values;
use super::names::{Meaning, Name};
use super::shapes::Shape;
use crate::policy::Role;
use crate::table::domain::guess_spelling;

/// What was guessed, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    pub role: Role,
    pub why: &'static str,
    /// Whether a person should look at it.
    pub check: bool,
    /// Whether the values are postcodes.
    pub postcode: bool,
}

/// Texts that are different in more than this share of the cells name someone.
const NEARLY_ALL: f64 = 0.95;
/// Whole numbers of many digits do so from this share on.
const MANY: f64 = 0.8;
/// Names such as `customer` mean an identifier where most values are different.
pub(super) const MOST: f64 = 0.5;
/// Fewer cells than this say nothing about being different.
pub(super) const ENOUGH: u64 = 20;
/// Codes with so many different values, for so many of the cells, number people or things.
const CODES: (u64, f64) = (20, 0.1);
/// A person's column with fewer different values than this says something about people, not who they are.
const GROUPS: u64 = 10;

fn sure(role: Role, why: &'static str) -> Guess {
    Guess { role, why, check: false, postcode: false }
}

fn unsure(role: Role, why: &'static str) -> Guess {
    Guess { check: true, ..sure(role, why) }
}

const NAMED: &str = "the name says that it identifies people";

/// The role of a column.
pub(super) fn guess(name: &str, values: &Values<'_>) -> Guess {
    let name = Name::new(name);
    let meaning = name.meaning();
    let texts = values.texts();
    let shape = Shape::of(&texts);
    if let Some(guess) = by_shape(shape, meaning, values) {
        return guess;
    }
    let guess = match meaning {
        _ if values.are_dates() => sure(Role::Quasi, "dates are known to others"),
        Meaning::Identifies if are_answers(&texts) => unsure(
            Role::Quasi,
            "the name says that it identifies people, the values are answers such as yes and no",
        ),
        Meaning::Identifies => sure(Role::Identifier, NAMED),
        Meaning::MayIdentify
            if many(values) && (name.numbers_something() || name.is_thing() && numbered(values)) =>
        {
            unsure(
                Role::Identifier,
                "the name says that it numbers something, and many records have numbers of their own",
            )
        }
        Meaning::Person | Meaning::Text | Meaning::MayIdentify => by_difference(meaning, values),
        Meaning::Sensitive if nearly_all_different(values) => unsure(
            Role::Identifier,
            "the name suggests something sensitive, but nearly every record has its own text",
        ),
        Meaning::Sensitive => {
            sure(Role::Sensitive, "the name suggests something people would not want known")
        }
        Meaning::Quasi if name.is_coordinate() && values.is_text() && values.different() > MOST => {
            unsure(Role::Identifier, "a place as exact as this names whoever lives there")
        }
        Meaning::Quasi => {
            sure(Role::Quasi, "the name suggests something that others may know about a person")
        }
        Meaning::Unknown => by_values(shape, values),
    };
    let guess = match guess.role {
        Role::Quasi | Role::Sensitive if values.either.is_some() => {
            unsure(guess.role, "the values can be read in two ways; say in the policy which is meant")
        }
        _ => guess,
    };
    Guess { postcode: name.is_postcode() || shape == Some(Shape::Postcode), ..guess }
}

/// Why a column with this name and these different values identifies people, if it does so for sure. Texts that somebody
/// wrote are for others to judge.
pub(super) fn identifies(name: &str, texts: &[&str]) -> Option<&'static str> {
    let meaning = Name::new(name).meaning();
    if meaning == Meaning::Identifies && !are_answers(texts) {
        return Some("its name says that it identifies people");
    }
    let known = matches!(meaning, Meaning::Quasi | Meaning::Sensitive);
    let dates = guess_spelling(texts.iter().copied()).is_some_and(|spelling| spelling.is_date());
    let shape = Shape::of(texts).filter(|_| !dates)?;
    match shape {
        Shape::FreeText => None,
        Shape::Names | Shape::Plate if known => None,
        _ => shape.identifies(),
    }
}

/// Values that can only be one thing, whatever the column is called.
fn by_shape(shape: Option<Shape>, meaning: Meaning, values: &Values<'_>) -> Option<Guess> {
    let why = shape?.identifies()?;
    let known = matches!(meaning, Meaning::Quasi | Meaning::Sensitive);
    match shape? {
        Shape::FreeText => (values.different() > MOST).then(|| unsure(Role::Identifier, why)),
        Shape::Names | Shape::Plate => (!known).then(|| sure(Role::Identifier, why)),
        _ if values.are_dates() => None,
        _ => Some(sure(Role::Identifier, why)),
    }
}

/// Columns whose name leaves it open whether they tell people apart.
fn by_difference(meaning: Meaning, values: &Values<'_>) -> Guess {
    let shared = values.cells >= ENOUGH && values.distinct < GROUPS && values.different() < MOST;
    match meaning {
        Meaning::Person if !shared => sure(Role::Identifier, "the name says whose record it is"),
        Meaning::Text if values.is_text() && !shared => {
            unsure(Role::Identifier, "the name says that anything may stand here")
        }
        Meaning::MayIdentify if values.different() > MOST => unsure(
            Role::Identifier,
            "the name says that it numbers or names people or things, most of them different",
        ),
        _ => unsure(Role::Quasi, "the name may number or name people, but many records share the values"),
    }
}

/// Columns whose name says nothing.
fn by_values(shape: Option<Shape>, values: &Values<'_>) -> Guess {
    let enough = values.cells >= ENOUGH;
    let numbers = values.whole_digits().is_some_and(|digits| digits >= 5);
    match shape {
        Some(Shape::Icd | Shape::Atc) => {
            return unsure(Role::Sensitive, "the values look like codes of diagnoses or drugs");
        }
        Some(Shape::Postcode) => return sure(Role::Quasi, "the values look like postcodes"),
        _ => {}
    }
    if values.cells + values.missing >= ENOUGH && values.distinct + values.missing.min(1) <= 1 {
        sure(Role::Other, "every record has the same value, which tells nobody apart")
    } else if nearly_all_different(values) {
        unsure(Role::Identifier, "nearly every record has its own text")
    } else if enough && values.counts_up() {
        unsure(Role::Identifier, "it numbers the records")
    } else if enough && numbers && values.different() > MANY {
        unsure(Role::Identifier, "nearly every record has its own number")
    } else if values.distinct >= CODES.0 && values.different() > CODES.1 && values.are_codes() {
        unsure(Role::Identifier, "the values look like numbers of people or things")
    } else {
        unsure(Role::Quasi, "nothing tells what it is; what is not sure is generalized")
    }
}

/// Whether values are too many to be groups of people.
fn many(values: &Values<'_>) -> bool {
    values.distinct >= GROUPS && values.different() > CODES.1
}

/// Whether values are made of digits rather than counted or measured.
fn numbered(values: &Values<'_>) -> bool {
    values.are_codes() || values.whole_digits().is_some_and(|digits| digits >= 5)
}

fn nearly_all_different(values: &Values<'_>) -> bool {
    values.cells >= ENOUGH && values.is_text() && values.different() > NEARLY_ALL
}

/// Whether the values are answers rather than what was asked for.
fn are_answers(texts: &[&str]) -> bool {
    const ANSWERS: &str =
        " 0 1 y n yes no true false t f ja nein nee oui non si sí wahr falsch vrai faux x j on off ";
    (1..=2).contains(&texts.len())
        && texts.iter().all(|text| ANSWERS.contains(&format!(" {} ", text.trim().to_lowercase())))
}
