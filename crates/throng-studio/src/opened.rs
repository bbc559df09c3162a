//! A table that is open: read once with all of its columns, to be looked at and counted.

use std::path::{Path, PathBuf};

use throng::policy::suggest::{Suggestion, suggest};
use throng::table::domain::guess_spelling;
use throng::table::{Reading, Storage, Table};
use throng::{Kind, Policy, Result, Watch};

/// Columns of the small picture of a column.
const BINS: usize = 20;
/// Categories that have a column of their own.
const CATEGORIES: usize = 12;

/// An open table.
pub struct Opened {
    /// Its name below the folder.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// All of it, coded.
    pub table: Table,
    /// What was guessed of it.
    pub suggestion: Suggestion,
    /// How often each value of each column occurs.
    pub counts: Vec<Vec<u64>>,
    /// Each column as a few counts.
    pub bins: Vec<Vec<(String, u64)>>,
}

impl Opened {
    /// Reads a table.
    pub fn read(name: &str, path: &Path, policy: Option<&Policy>, watch: &dyn Watch) -> Result<Self> {
        let all = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
        let reading = match policy {
            Some(policy) => policy.reading(&all, watch),
            None => Reading::new(&all, watch),
        };
        watch.stage("reading", None);
        let table = Table::read(path, &reading)?;
        watch.stage("looking at every column", None);
        let suggestion = suggest(&table)?;
        watch.check()?;
        let columns = 0..table.names().len();
        let counts: Vec<Vec<u64>> = columns.clone().map(|column| counts(&table, column)).collect();
        let bins = columns
            .map(|column| bins(&table.values(column), &counts[column], suggestion.columns[column].kind, BINS))
            .collect();
        Ok(Opened { name: name.to_owned(), path: path.to_owned(), table, suggestion, counts, bins })
    }

    /// The column of a number that a browser sent.
    pub fn column(&self, at: usize) -> Result<&str> {
        let name = self.table.names().get(at).map(String::as_str);
        name.ok_or_else(|| {
            throng::Error::new(throng::ErrorCode::UnknownColumn, "the table has no such column")
                .with_hint("load the page again")
        })
    }
}

fn counts(table: &Table, column: usize) -> Vec<u64> {
    let mut counts = vec![0; table.values(column).len()];
    table.numbers(column).iter().for_each(|number| counts[*number as usize] += 1);
    counts
}

/// The values of a column in a few groups: ranges of numbers, or the most frequent categories and the rest.
pub fn bins(values: &[&str], counts: &[u64], kind: Kind, most: usize) -> Vec<(String, u64)> {
    match kind {
        Kind::Numeric => ranges(values, counts, most).unwrap_or_else(|| categories(values, counts)),
        _ => categories(values, counts),
    }
}

/// Equally wide ranges; one for each value while there are few whole ones. Cells that are no numbers come last.
fn ranges(values: &[&str], counts: &[u64], most: usize) -> Option<Vec<(String, u64)>> {
    let readable = |text: &&&str| guess_spelling([**text]).is_some();
    let spelling = guess_spelling(values.iter().filter(readable).copied())?;
    let numbers: Vec<Option<f64>> = values.iter().map(|text| spelling.read(text)).collect();
    let low = numbers.iter().flatten().copied().reduce(f64::min)?;
    let high = numbers.iter().flatten().copied().reduce(f64::max)?;
    let whole = numbers.iter().flatten().all(|number| number.fract() == 0.0);
    let wanted = (high - low) / most as f64;
    let width = if whole {
        wanted.ceil().max(1.0)
    } else if wanted > 0.0 {
        wanted
    } else {
        1.0
    };
    let groups = (((high - low) / width).floor() as usize + 1).clamp(1, most + 1);
    let mut bins: Vec<(String, u64)> = (0..groups)
        .map(|at| {
            let from = low + width * at as f64;
            let to = if whole { from + width - 1.0 } else { from + width };
            (range_label(&spelling, from, to.min(high)), 0)
        })
        .collect();
    let mut rest = 0;
    for (number, count) in numbers.iter().zip(counts) {
        match number {
            Some(number) => bins[(((number - low) / width).floor() as usize).min(groups - 1)].1 += count,
            None => rest += count,
        }
    }
    if rest > 0 {
        bins.push(("no number".to_owned(), rest));
    }
    Some(bins)
}

fn range_label(spelling: &throng::table::Spelling, from: f64, to: f64) -> String {
    if spelling.measured() == throng::schema::spelling::Measured::Times {
        return format!("{} – {}", spelling.write(from, None), spelling.write(to, None));
    }
    if spelling.is_date() {
        return format!("{} days wide", throng::report::pieces::count((to - from).max(0.0) as u64 + 1));
    }
    let figure = |number: f64| format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned();
    if from == to { figure(from) } else { format!("{} – {}", figure(from), figure(to)) }
}

fn categories(values: &[&str], counts: &[u64]) -> Vec<(String, u64)> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| counts[*other].cmp(&counts[*one]).then(values[*one].cmp(values[*other])));
    let shown = order.iter().take(CATEGORIES);
    let mut bins: Vec<(String, u64)> = shown.map(|at| (short(values[*at]), counts[*at])).collect();
    let rest: u64 = order.iter().skip(CATEGORIES).map(|at| counts[*at]).sum();
    if rest > 0 {
        bins.push((
            format!("{} others", throng::report::pieces::count((order.len() - CATEGORIES) as u64)),
            rest,
        ));
    }
    bins
}

/// A value that may be long, shortened for a page.
pub fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if text.is_empty() => "(empty)".to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_in_one_bin() {
        let values = ["17", "18", "90", "?", ""];
        let bins = bins(&values, &[3, 4, 5, 6, 7], Kind::Numeric, 10);
        assert_eq!(bins.iter().map(|(_, count)| count).sum::<u64>(), 25);
        assert_eq!(bins.last(), Some(&("no number".to_owned(), 13)));
        let many: Vec<String> = (0..30).map(|at| format!("v{at}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let bins = categories(&many, &[2; 30]);
        assert_eq!(bins.len(), CATEGORIES + 1);
        assert_eq!(bins.last(), Some(&("18 others".to_owned(), 36)));
    }
}
