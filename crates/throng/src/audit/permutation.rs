//! Releases by permutation: groups from a column, their sensitive values from the table beside.

use super::Measures;
use super::privacy::codes_of;
use super::received::no_sensitive_values;
use crate::classes::Classes;
use crate::error::{Error, ErrorCode, Result};
use crate::problem::Problem;
use crate::release::permutation::{COUNT, GROUP};
use crate::table::{Map, Storage, Table};

/// What the table of sensitive values says.
pub(crate) struct Permuted {
    /// The release's column of groups.
    pub column: usize,
    /// For each value of that column the sensitive values of the group, by code, with their counts.
    pub of_group: Vec<Vec<(u32, u64)>>,
    /// Groups of sensitive values that no row belongs to.
    without_rows: usize,
}

/// Whether a release is one by permutation: it has a column of groups and none of sensitive values.
pub(crate) fn is_permuted(problem: &Problem, release: &Table) -> bool {
    match &problem.sensitive[..] {
        [counted] => find(release, GROUP).is_some() && find(release, &counted.name).is_none(),
        _ => false,
    }
}

fn find(table: &Table, name: &str) -> Option<usize> {
    table.names().iter().position(|column| column == name)
}

/// The groups of a release by permutation and what its table of sensitive values says of each.
pub(crate) fn groups(
    problem: &Problem,
    release: &Table,
    sensitive: Option<&Table>,
) -> Result<Option<Permuted>> {
    let ([counted], Some(column), true) =
        (&problem.sensitive[..], find(release, GROUP), is_permuted(problem, release))
    else {
        return Ok(None);
    };
    let table = sensitive.ok_or_else(|| no_sensitive_values().in_file(release.origin()))?;
    let needed = |name: &str| {
        find(table, name).filter(|at| table.storage(*at) == Storage::Coded).ok_or_else(|| {
            Error::new(
                ErrorCode::UnknownColumn,
                format!("the table of sensitive values has no column \"{name}\""),
            )
            .in_file(table.origin())
        })
    };
    let (group, count, _) = (needed(GROUP)?, needed(COUNT)?, needed(&counted.name)?);
    let codes = codes_of(counted, table)?;
    let counts: Vec<Option<u64>> = table.values(count).iter().map(|text| text.parse().ok()).collect();
    let numbers: Map<&str, u32> = release.values(column).into_iter().zip(0..).collect();
    let known: Vec<Option<u32>> = table.values(group).iter().map(|text| numbers.get(text).copied()).collect();
    let mut permuted = Permuted { column, of_group: vec![Vec::new(); numbers.len()], without_rows: 0 };
    for (row, code) in codes.into_iter().enumerate() {
        let entry = table.numbers(count)[row];
        let count = counts[entry as usize].ok_or_else(|| {
            let error = Error::new(ErrorCode::BadCell, "a count must be a whole number");
            table.error_at(count, entry, error)
        })?;
        match known[table.numbers(group)[row] as usize] {
            Some(number) => permuted.of_group[number as usize].push((code, count)),
            None => permuted.without_rows += 1,
        }
    }
    Ok(Some(permuted))
}

impl Permuted {
    /// The rows of each group.
    pub fn groups(&self, release: &Table) -> Classes {
        Classes::group(release, &[self.column])
    }

    /// Deals the sensitive values of each group to its rows, in any order: nobody can tell which it was.
    pub fn deal(&self, release: &Table, classes: &Classes, measures: &mut Measures) -> Vec<u32> {
        measures.permuted = true;
        let rows: usize = (0..classes.len()).map(|class| classes.size(class)).sum();
        let mut codes = vec![0; rows];
        let mut unequal = self.without_rows;
        for class in 0..classes.len() {
            let own = classes.rows(class);
            let values = &self.of_group[release.numbers(self.column)[classes.first_row(class)] as usize];
            let dealt = values.iter().flat_map(|(code, count)| std::iter::repeat_n(*code, *count as usize));
            unequal += usize::from(
                values.iter().map(|(_, count)| u128::from(*count)).sum::<u128>() != own.len() as u128,
            );
            own.iter().zip(dealt).for_each(|(row, code)| codes[*row as usize] = code);
        }
        if unequal > 0 {
            measures
                .violations
                .push(format!("groups that have not as many sensitive values as records: {unequal}"));
        }
        codes
    }
}
