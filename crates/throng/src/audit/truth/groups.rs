//! Whether the sensitive values of each group of a release by permutation are those of its records.
//!
//! Rows tell their exact quasi-identifiers, so that it is known which records they may be: those of their kind. Of a value, the
//! rows of a group can have no more than the records of their kinds have, nor more than there are rows of each kind. Where no
//! kind is in two groups that is exact; where records that are alike were dealt to several groups it is a bound, because
//! nobody can tell which of them went where.

use super::Sides;
use crate::audit::{Received, permutation};
use crate::classes::Classes;
use crate::collections::Map;
use crate::error::Result;
use crate::problem::{Problem, Protected};

/// The sensitive attribute of a release by permutation, and how many of its values, at least, the records of their group do
/// not have, or the table not as often.
pub(super) fn surplus<'a>(
    problem: &'a Problem,
    received: &Received,
    sides: &Sides<'_>,
) -> Result<Option<(&'a str, u64)>> {
    let groups = permutation::groups(problem, &received.table, received.sensitive.as_ref())?;
    let (Some(groups), [counted]) = (groups, &problem.sensitive[..]) else { return Ok(None) };
    let together = surplus_of_all(counted, groups.of_group.iter().flatten());
    let of_row = received.table.numbers(groups.column);
    let each = kinds(sides)
        .map_or(0, |kinds| surplus_of_each(&kinds, sides.rows, counted, of_row, &groups.of_group));
    Ok(Some((&counted.name, together.max(each))))
}

/// Values that all groups together have more often than the table.
fn surplus_of_all<'a>(counted: &Protected, claimed: impl Iterator<Item = &'a (u32, u64)>) -> u64 {
    let mut counts = vec![0i64; counted.domain.len()];
    counted.codes.iter().for_each(|code| counts[*code as usize] += 1);
    for (code, count) in claimed {
        counts[*code as usize] = counts[*code as usize].saturating_sub_unsigned(*count);
    }
    counts.into_iter().filter(|count| *count < 0).map(i64::unsigned_abs).fold(0, u64::saturating_add)
}

/// Rows, and after them records, by what they tell exactly; nothing if a cell is not exact.
fn kinds(sides: &Sides<'_>) -> Option<Classes> {
    let mut columns: Vec<Vec<u32>> = Vec::new();
    for ((spans, of_row), points) in sides.spans.iter().zip(&sides.points) {
        let codes: Vec<u32> = spans.iter().map(|span| span.only()).collect::<Option<_>>()?;
        columns.push(of_row.iter().map(|cell| codes[*cell as usize]).chain(points.iter().copied()).collect());
    }
    columns.extend(sides.passed.iter().map(|own| [&own.of_row[..], &own.of_record[..]].concat()));
    Some(Classes::group_numbers(&columns, sides.rows + sides.records))
}

/// Values that some group has more often than the records that its rows may be.
fn surplus_of_each(
    kinds: &Classes,
    rows: usize,
    counted: &Protected,
    group_of_row: &[u32],
    claimed: &[Vec<(u32, u64)>],
) -> u64 {
    // For each group and value how many records, at most, its rows can have it from.
    let mut most: Map<(u32, u32), u64> = Map::default();
    for kind in 0..kinds.len() {
        let (mut groups, mut values): (Map<u32, u64>, Map<u32, u64>) = Default::default();
        for &at in kinds.rows(kind) {
            match (at as usize).checked_sub(rows) {
                None => *groups.entry(group_of_row[at as usize]).or_default() += 1,
                Some(record) => *values.entry(counted.codes[record]).or_default() += 1,
            }
        }
        let (groups, values) = (sorted(groups), sorted(values));
        for (group, have) in &groups {
            for (value, records) in &values {
                *most.entry((*group, *value)).or_default() += have.min(records);
            }
        }
    }
    let of_group = |(group, values): (u32, &Vec<(u32, u64)>)| {
        let beyond = |(value, count): &(u32, u64)| {
            count.saturating_sub(most.get(&(group, *value)).copied().unwrap_or(0))
        };
        summed(values).iter().map(beyond).fold(0, u64::saturating_add)
    };
    (0..).zip(claimed).map(of_group).fold(0, u64::saturating_add)
}

/// What a group claims, each value once.
fn summed(values: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let mut sums: Map<u32, u64> = Map::default();
    for (value, count) in values {
        let own = sums.entry(*value).or_default();
        *own = own.saturating_add(*count);
    }
    sorted(sums)
}

fn sorted(counts: Map<u32, u64>) -> Vec<(u32, u64)> {
    let mut counts: Vec<(u32, u64)> = counts.into_iter().collect();
    counts.sort_unstable();
    counts
}
