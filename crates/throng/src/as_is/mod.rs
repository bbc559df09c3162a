//! What is published as it is, and what it gives away.
//!
//! Methods hide people among others by their quasi-identifiers. Every other published column is seen as it stands: a reader
//! who knows a person's value there finds the row, however well the quasi-identifiers are hidden. So every column beside them
//! is counted: its distinct values, the share of rows that are unique by it alone and together with the published
//! quasi-identifiers, and the share unique on all that is published. A column that nobody mentioned, or that looks like an
//! identifier, is not published unless the policy says so (`check`).
//!
//! Cost: one grouping of all rows by quasi-identifiers, then a sort of each class for each column, and one for all of them
//! together.

mod again;
mod check;
mod looks;

pub use again::{Again, says_again};
pub(crate) use check::{check, check_known};
use looks::Values;

use crate::classes::Classes;
use crate::parallel;
use crate::policy::{Policy, Role, Unlisted};
use crate::problem::Problem;
pub use crate::published::{AsIsColumn, Looks, PublishedAsIs};
use crate::risk;
use crate::table::{Distinct, Table};

/// What a policy calls a column that is published as it is.
fn role(policy: &Policy, name: &str) -> &'static str {
    match (policy.attributes.get(name).map(|attribute| attribute.role), policy.unlisted) {
        (Some(Role::Sensitive), _) => "sensitive",
        (Some(Role::Class), _) => "class",
        (Some(Role::Identifier), _) | (None, Unlisted::Drop) => "identifier",
        (Some(Role::Quasi), _) => "quasi",
        (Some(Role::Person), _) => "person",
        (Some(Role::Other), _) => "other",
        (None, Unlisted::Publish | Unlisted::Refuse) => "unlisted",
    }
}

/// Measures the columns of a release. `quasi` are those of quasi-identifiers, `classes` the rows that are equal in them;
/// `beside` is a column that is neither, such as the group of a release by permutation.
pub(crate) fn of_release(
    release: &Table,
    policy: &Policy,
    quasi: &[usize],
    classes: &Classes,
    beside: Option<usize>,
) -> PublishedAsIs {
    let others = (0..release.names().len()).filter(|at| !quasi.contains(at) && Some(*at) != beside);
    let beside = beside.map(|column| release.numbers(column).to_vec());
    measure(release, policy, &others.collect::<Vec<_>>(), None, classes, beside)
}

/// Measures what a table would show if it were published as it stands, identifiers left out.
pub fn of_table(table: &Table, problem: &Problem, policy: &Policy) -> PublishedAsIs {
    let quasi: Vec<Vec<u32>> = risk::columns(problem);
    let classes = Classes::group_numbers(&quasi, problem.len());
    let rows: Vec<u32> = (0..problem.len() as u32).map(|record| problem.row(record) as u32).collect();
    let other = |at: &usize| {
        !matches!(policy.role(&table.names()[*at]), Role::Identifier | Role::Person | Role::Quasi)
    };
    let others: Vec<usize> = (0..table.names().len()).filter(other).collect();
    measure(table, policy, &others, Some(&rows), &classes, None)
}

/// Measures some columns in some rows, in all if none are named, given the classes of equal quasi-identifiers; `beside` is a column that is seen too,
/// but not one of them.
fn measure(
    table: &Table,
    policy: &Policy,
    columns: &[usize],
    rows: Option<&[u32]>,
    classes: &Classes,
    beside: Option<Vec<u32>>,
) -> PublishedAsIs {
    let measured: Vec<Option<(AsIsColumn, Vec<u32>)>> = parallel::map(columns, |&at| {
        let distinct = table.distinct(at)?;
        let numbers: &[u32] = &distinct.numbers;
        let arranged = match rows {
            None => classes.arranged(|row| numbers[row as usize]),
            Some(rows) => classes.arranged(|row| numbers[rows[row as usize] as usize]),
        };
        let column = column(&distinct, policy, &table.names()[at], &arranged);
        Some((column, arranged))
    });
    let (mut columns, arranged): (Vec<AsIsColumn>, Vec<Vec<u32>>) = measured.into_iter().flatten().unzip();
    let (mut unique_rows, of) = (0, rows.map_or(table.len(), <[u32]>::len));
    for (column, arranged) in columns.iter_mut().zip(&arranged) {
        unique_rows = classes.unique_within(&[arranged]);
        column.unique_share_with_quasi = share(unique_rows, of);
    }
    let beside = beside.map(|numbers| classes.arranged(|row| numbers[row as usize]));
    let all: Vec<Vec<u32>> = beside.into_iter().chain(arranged).collect();
    // One column has been counted.
    if all.len() != 1 || columns.is_empty() {
        unique_rows = classes.unique_within(&all);
    }
    PublishedAsIs { columns, unique_share: share(unique_rows, of), unique_rows }
}

/// A column, given the number of its cell in each row, in any order.
fn column(distinct: &Distinct<'_>, policy: &Policy, name: &str, numbers: &[u32]) -> AsIsColumn {
    let counts = distinct.counts_of(numbers);
    let alone = counts.iter().filter(|count| **count == 1).count() as u64;
    AsIsColumn {
        name: name.to_owned(),
        role: role(policy, name).into(),
        distinct: counts.iter().filter(|count| **count > 0).count() as u64,
        unique_share: share(alone, numbers.len()),
        // Counted by the caller, on all threads for one column after the other.
        unique_share_with_quasi: 0.0,
        looks: Values::new(distinct.texts(), &counts, &policy.missing).looks(),
    }
}

/// What the cells of a column look like, given those that occur and how often.
pub(crate) fn looks_of(texts: &[&str], counts: &[u64], missing: &[String]) -> Vec<Looks> {
    Values::new(texts.iter().copied(), counts, missing).looks()
}

fn share(part: u64, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}
