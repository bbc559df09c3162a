//! Rows of the release beside those of the table: a page of them, sorted and searched.

use minijinja::{Value, context};
use throng::report::pieces::count;
use throng::run::Looked;
use throng::table::Table;

use crate::opened::{Opened, short};
use crate::screens::At;

/// Rows of a page.
const ROWS: usize = 25;

/// A page of rows.
pub fn page(opened: &Opened, looked: &Looked, at: &At) -> Value {
    let release = &looked.release;
    let names = release.names();
    let search = at.get("find").map_or("", String::as_str).trim().to_lowercase();
    let mut rows = found(opened, looked, &search);
    let sorted: Option<usize> =
        at.get("sort").and_then(|sort| sort.parse().ok()).filter(|sort| *sort < names.len());
    let falling = at.get("order").is_some_and(|order| order == "falling");
    if let Some(column) = sorted {
        sort(release, column, falling, &mut rows);
    }
    let pages = rows.len().div_ceil(ROWS).max(1);
    let page = at.get("page").and_then(|page| page.parse().ok()).unwrap_or(1).clamp(1, pages);
    let shown = rows.iter().skip((page - 1) * ROWS).take(ROWS);
    let pairs: Vec<Option<usize>> =
        names.iter().map(|name| opened.table.names().iter().position(|own| own == name)).collect();
    let values: Vec<Vec<&str>> = (0..names.len()).map(|column| release.values(column)).collect();
    let before: Vec<Vec<&str>> = pairs
        .iter()
        .map(|column| column.map(|column| opened.table.values(column)).unwrap_or_default())
        .collect();
    let row = |row: &u32| {
        let original = looked.rows.get(*row as usize).copied().unwrap_or(0) as usize;
        let cells: Vec<Value> = (0..names.len())
            .map(|column| {
                let now = cell(release, column, *row as usize, &values[column]);
                let was = pairs[column].map(|own| cell(&opened.table, own, original, &before[column]));
                let changed = was.is_some_and(|was| was != now);
                context! { now => short(now), was => was.map(short), changed }
            })
            .collect();
        context! { number => count(original as u64 + 1), cells }
    };
    context! {
        names => names.iter().enumerate().map(|(at, name)| context! { at, name, sorted => sorted == Some(at), falling }).collect::<Vec<_>>(),
        rows => shown.map(row).collect::<Vec<_>>(),
        page,
        pages,
        pages_words => count(pages as u64),
        found => count(rows.len() as u64),
        all => count(release.len() as u64),
        find => at.get("find").cloned().unwrap_or_default(),
        sort => sorted,
        falling,
    }
}

fn cell<'a>(table: &Table, column: usize, row: usize, values: &[&'a str]) -> &'a str {
    let number = table.numbers(column).get(row).copied().unwrap_or(0);
    values.get(number as usize).copied().unwrap_or("")
}

/// The rows with a cell, published or original, that holds what is searched for.
fn found(opened: &Opened, looked: &Looked, search: &str) -> Vec<u32> {
    let all = 0..looked.release.len() as u32;
    if search.is_empty() {
        return all.collect();
    }
    let published = hits(&looked.release, search);
    let original = hits(&opened.table, search);
    let holds = |hits: &[(&[u32], Vec<bool>)], row: usize| {
        hits.iter().any(|(numbers, hit)| numbers.get(row).is_some_and(|number| hit[*number as usize]))
    };
    let original_of = |row: u32| looked.rows.get(row as usize).copied().unwrap_or(0) as usize;
    all.filter(|row| holds(&published, *row as usize) || holds(&original, original_of(*row))).collect()
}

/// Per column with any hit, the values that hold what is searched for.
fn hits<'a>(table: &'a Table, search: &str) -> Vec<(&'a [u32], Vec<bool>)> {
    (0..table.names().len())
        .map(|column| {
            let hit: Vec<bool> =
                table.values(column).iter().map(|value| value.to_lowercase().contains(search)).collect();
            (table.numbers(column), hit)
        })
        .filter(|(_, hit)| hit.contains(&true))
        .collect()
}

/// Sorts rows by a published column: numbers and ranges by where they begin, other cells as texts.
fn sort(release: &Table, column: usize, falling: bool, rows: &mut [u32]) {
    let values = release.values(column);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| {
        start(values[*one]).total_cmp(&start(values[*other])).then(values[*one].cmp(values[*other]))
    });
    let mut rank = vec![0; values.len()];
    order.iter().enumerate().for_each(|(at, value)| rank[*value] = at);
    let numbers = release.numbers(column);
    let rank_of = |row: &u32| rank[numbers[*row as usize] as usize];
    match falling {
        false => rows.sort_by_key(|row| (rank_of(row), *row)),
        true => rows.sort_by_key(|row| (usize::MAX - rank_of(row), *row)),
    }
}

fn start(text: &str) -> f64 {
    let text = text.trim_start_matches(['[', '(', '≥', '≤', ' ']);
    let end = text
        .char_indices()
        .skip(1)
        .find(|(_, letter)| !letter.is_ascii_digit() && *letter != '.')
        .map_or(text.len(), |(at, _)| at);
    text[..end].parse().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted_by_where_they_begin() {
        for (text, value) in [
            ("[9-12]", 9.0),
            ("17", 17.0),
            ("[1-37)", 1.0),
            ("-4.5", -4.5),
            ("≥ 80", 80.0),
            ("", f64::INFINITY),
        ] {
            assert_eq!(start(text), value, "{text}");
        }
        assert_eq!(start("Private"), f64::INFINITY);
    }
}
