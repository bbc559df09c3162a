//! A first policy for a table that nobody has described yet.
//!
//! Looks at all values of every column and guesses its kind, its role, the markers of missing cells and a
//! hierarchy. A guess is for a person to check: every one is explained in a comment, and those comments show no
//! value that fewer than ten records share, and none at all of columns that may identify someone.

mod check_digits;
mod given_names;
mod guess;
mod header;
mod lexicon;
mod look;
mod names;
pub mod person;
mod shapes;
mod streets;
#[cfg(test)]
mod tests;
mod toml;
mod words;

use crate::error::Result;
use crate::parallel;
use crate::policy::{Kind, Policy, Role};
use crate::table::{Storage, Table};
use guess::{ENOUGH, Guess, MOST};
use look::{Look, Values};

/// A first policy, and what a person should check in it.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The policy. It passes [`super::Policy::parse`] and names at least one quasi-identifier.
    pub text: String,
    /// The columns whose role is not sure, and why each got the one it has.
    pub checks: Vec<(String, &'static str)>,
    /// What was guessed of each column, in the order of the table.
    pub columns: Vec<Guessed>,
}

/// What was guessed of a column.
#[derive(Clone, Debug)]
pub struct Guessed {
    /// Its role.
    pub role: Role,
    /// Why it got it.
    pub why: &'static str,
    /// Whether a person should look at it.
    pub check: bool,
    /// Whether its values are numbers or dates.
    pub kind: Kind,
    /// Whether they are dates.
    pub dates: bool,
    /// Different values, missing cells left out.
    pub distinct: u64,
    /// Cells without a value.
    pub missing: u64,
}

/// Writes a first policy for a table whose columns are all coded. A table whose first row is no header is refused.
pub fn suggest(table: &Table) -> Result<Suggestion> {
    let looks: Vec<Look<'_>> = parallel::map(0..table.names().len(), |column| Look::at(table, column));
    let markers = look::markers(&looks);
    let values: Vec<Values<'_>> = looks.iter().map(|look| look.values(&markers)).collect();
    let names: Vec<&str> = table.names().iter().map(String::as_str).collect();
    header::check(table, &names, &values)?;
    let mut columns: Vec<Column<'_>> = looks
        .iter()
        .zip(values)
        .map(|(look, values)| Column { guess: guess::guess(look.name, &values), look, values })
        .collect();
    let missing: Vec<&str> = markers.iter().map(|marker| marker.text).collect();
    if let Some(found) = person::find(table, &missing) {
        let guess = &mut columns[found.column].guess;
        (guess.role, guess.why, guess.check) = (Role::Person, PERSON_WHY, true);
    }
    ensure_quasi(&mut columns);
    let unsure = columns.iter().filter(|column| column.guess.check);
    let checks = unsure.map(|column| (column.look.name.to_owned(), column.guess.why)).collect();
    let guessed = columns.iter().map(Guessed::of).collect();
    Ok(Suggestion { text: toml::policy(table, &markers, &columns), checks, columns: guessed })
}

impl Guessed {
    fn of(column: &Column<'_>) -> Self {
        let (guess, values) = (&column.guess, &column.values);
        Guessed {
            role: guess.role,
            why: guess.why,
            check: guess.check,
            kind: if values.is_text() || guess.postcode { Kind::Categorical } else { Kind::Numeric },
            dates: values.are_dates(),
            distinct: values.distinct,
            missing: values.missing,
        }
    }
}

/// Why a column with this name and these different values would identify people, by what `init` knows of names and values.
pub(crate) fn identifies(column: &str, texts: &[&str]) -> Option<&'static str> {
    guess::identifies(column, texts)
}

/// Refuses a table whose first row is a record, by the columns that are looked at; where the policy is not strict, that is given
/// back as a sentence.
pub(crate) fn check_header(table: &Table, policy: &Policy) -> Result<Option<String>> {
    if policy.header || !header::is_doubtful(table) {
        return Ok(None);
    }
    let coded = (0..table.names().len()).filter(|at| table.storage(*at) == Storage::Coded);
    let (names, looks): (Vec<&str>, Vec<Look<'_>>) =
        coded.map(|at| (table.names()[at].as_str(), Look::at(table, at))).unzip();
    let markers = look::markers(&looks);
    let values: Vec<Values<'_>> = looks.iter().map(|look| look.values(&markers)).collect();
    match header::check(table, &names, &values) {
        Err(error) if !policy.strict => Ok(Some(format!("{} (strict = false).", error.message()))),
        Err(error) => {
            Err(error
                .with_hint(format!("{}; if it is a header, write header = true under [data]", header::HINT)))
        }
        Ok(()) => Ok(None),
    }
}

const PERSON_WHY: &str = "it recurs, and says whose record it is; requirements then count people";

/// A column and what was guessed of it.
struct Column<'a> {
    look: &'a Look<'a>,
    values: Values<'a>,
    guess: Guess,
}

impl Column<'_> {
    /// Whether published values would be different for most records.
    fn telling(&self) -> bool {
        self.values.cells >= ENOUGH && self.values.different() > MOST
    }
}

const TAKEN_WHY: &str = "no column looked like a quasi-identifier, so this one was taken for a start";

/// A policy needs a quasi-identifier: without any, the most plausible column becomes one. Few enough values to be shared,
/// and columns that tell nobody apart before those that must be protected.
fn ensure_quasi(columns: &mut [Column<'_>]) {
    if columns.iter().any(|column| column.guess.role == Role::Quasi) {
        return;
    }
    let rank = |column: &Column<'_>| match column.guess.role {
        Role::Other => 0,
        Role::Sensitive => 1,
        _ if column.guess.check => 2,
        _ => 3,
    };
    let order =
        |column: &Column<'_>| (rank(column), column.telling(), std::cmp::Reverse(column.values.distinct));
    if let Some(best) = (0..columns.len()).min_by_key(|at| (order(&columns[*at]), *at)) {
        let guess = &mut columns[best].guess;
        (guess.role, guess.why, guess.check) = (Role::Quasi, TAKEN_WHY, true);
    }
}
