//! A first policy for a table that nobody has described yet.
//!
//! Looks at all values of every column and guesses its kind, its role, the markers of missing cells and a
//! hierarchy. A guess is for a person to check: every one is explained in a comment, and those comments show no
//! value that fewer than ten records share, and none at all of columns that may identify someone.

mod look;
mod names;
pub mod person;
#[cfg(test)]
mod tests;
mod toml;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::policy::Role;
use crate::table::Table;
use look::{Look, Values};

/// Writes a first policy for a table whose columns are all coded. It passes [`super::Policy::parse`] and names at
/// least one quasi-identifier.
pub fn suggest(table: &Table) -> String {
    let looks: Vec<Look<'_>> =
        (0..table.names().len()).into_par_iter().map(|column| Look::at(table, column)).collect();
    let markers = look::markers(&looks);
    let mut columns: Vec<Column<'_>> =
        looks.iter().map(|look| Column::guess(look, look.values(&markers))).collect();
    let missing: Vec<&str> = markers.iter().map(|marker| marker.text).collect();
    if let Some(found) = person::find(table, &missing) {
        (columns[found.column].role, columns[found.column].why) = (Role::Person, PERSON_WHY);
    }
    ensure_quasi(&mut columns);
    toml::policy(table, &markers, &columns)
}

/// Whether the name of a column says that it identifies people.
pub(crate) fn names_people(column: &str) -> bool {
    names::Name::new(column).identifies()
}

const PERSON_WHY: &str = "it recurs, and says whose record it is; requirements then count people. CHECK it";

/// What was guessed of a column, and why.
struct Column<'a> {
    look: &'a Look<'a>,
    values: Values<'a>,
    role: Role,
    why: &'static str,
    postcode: bool,
}

/// Texts that are different in more than this share of the cells name someone.
const NEARLY_ALL: f64 = 0.95;
/// Fewer cells than this say nothing about being different.
const ENOUGH: u64 = 20;
/// Names such as `customer` mean an identifier where most values are different.
const MOST: f64 = 0.5;

impl<'a> Column<'a> {
    fn guess(look: &'a Look<'a>, values: Values<'a>) -> Self {
        let name = names::Name::new(look.name);
        let (role, why) = guess_role(&name, &values);
        Column { look, values, role, why, postcode: name.is_postcode() }
    }

    /// Whether published values would be different for most records.
    fn telling(&self) -> bool {
        self.values.cells >= ENOUGH && self.values.different() > MOST
    }
}

fn guess_role(name: &names::Name, values: &Values<'_>) -> (Role, &'static str) {
    let different = values.cells >= ENOUGH && values.different() > NEARLY_ALL;
    if name.identifies() {
        (Role::Identifier, "the name says that it identifies people")
    } else if name.is_sensitive() {
        (Role::Sensitive, "the name suggests something people would not want known")
    } else if name.is_quasi() {
        (Role::Quasi, "the name suggests something that others may know about a person")
    } else if name.may_identify() && (name.is_one_word() || values.different() > MOST) {
        (Role::Identifier, "the name says that it identifies people or things")
    } else if different && values.is_text() {
        (Role::Identifier, "nearly every record has its own text")
    } else if values.cells >= ENOUGH && values.counts_up() {
        (Role::Identifier, "it numbers the records")
    } else {
        (Role::Other, "nothing suggests another role; published as it is")
    }
}

/// At most this many columns are made quasi-identifiers when none looks like one.
const TAKEN: usize = 3;
const TAKEN_WHY: &str = "CHECK: no column looked like a quasi-identifier, so this one was taken for a start";

/// A policy needs a quasi-identifier: without any, the most plausible columns become quasi-identifiers.
fn ensure_quasi(columns: &mut [Column<'_>]) {
    if columns.iter().any(|column| column.role == Role::Quasi) {
        return;
    }
    // Few enough values to be shared, and columns that others may know before those that must be protected.
    let plausible = |column: &Column<'_>| column.values.distinct > 1 && !column.telling();
    let rank = |column: &Column<'_>| match column.role {
        Role::Other => 0,
        Role::Sensitive => 1,
        _ => 2,
    };
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&at| {
        (rank(&columns[at]), !plausible(&columns[at]), std::cmp::Reverse(columns[at].values.distinct))
    });
    let good = |at: &usize| columns[*at].role == Role::Other && plausible(&columns[*at]);
    let count = order.iter().take_while(|at| good(at)).count().clamp(1, TAKEN);
    for &at in order.iter().take(count) {
        (columns[at].role, columns[at].why) = (Role::Quasi, TAKEN_WHY);
    }
}
