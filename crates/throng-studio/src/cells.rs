//! The cells of results beside the policy, so that closing and opening again loses nothing that was looked at.
//!
//! A result is kept as two files: its rows as text, and for each the row of the table that it is of. They lie in a folder that
//! nobody else can read, beside the table that tells more than they do. A result whose table has changed since is not
//! read again, for its rows would stand beside other records.

use std::path::Path;
use std::time::UNIX_EPOCH;

use throng::run::Looked;
use throng::table::{Reading, Storage, Table};
use throng::{Error, Result, Watch};

use crate::project::Project;
use crate::studio::KeptResult;

/// Results with more cells than this are made again instead: writing them would take longer.
const MOST: usize = 20_000_000;

/// What a file is recognised by: its size, and when it was written.
pub fn mark(path: &Path) -> Option<String> {
    let known = std::fs::metadata(path).ok()?;
    let time = known.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {}", known.len(), time.as_nanos()))
}

/// Keeps the cells of a result.
pub fn keep(project: &Project, number: u64, looked: &Looked) -> Result<()> {
    if looked.release.len() * looked.release.names().len() > MOST {
        return Ok(());
    }
    let rows = serde_json::to_vec(&looked.rows)
        .map_err(|cause| Error::bug(format!("rows cannot be kept: {cause}")))?;
    project.keep(&text_name(number), text(&looked.release).as_bytes())?;
    project.keep(&rows_name(number), &rows)
}

/// Forgets the cells of all results but some.
pub fn forget_but(project: &Project, kept: &[u64]) {
    let names: Vec<String> =
        kept.iter().flat_map(|number| [text_name(*number), rows_name(*number)]).collect();
    let Ok(entries) = std::fs::read_dir(project.beside("")) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = name.starts_with("cells-") || name.starts_with("rows-");
        if ours && !names.contains(&name) {
            // What cannot be removed is written over by the next result of this number.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Reads the cells of a result; nothing if they were not kept or do not fit the table any more.
pub fn restore(
    beside: impl Fn(&str) -> std::path::PathBuf,
    kept: &KeptResult,
    watch: &dyn Watch,
) -> Option<Looked> {
    let rows = std::fs::read(beside(&rows_name(kept.number))).ok()?;
    let rows: Vec<u32> = serde_json::from_slice(&rows).ok()?;
    let all = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let release = Table::read(&beside(&text_name(kept.number)), &Reading::new(&all, watch)).ok()?;
    (release.len() == rows.len()).then(|| Looked {
        report: kept.report.clone(),
        release,
        rows,
        has_recipe: kept.has_recipe,
        has_certificate: kept.has_certificate,
    })
}

fn text_name(number: u64) -> String {
    format!("cells-{number}.csv")
}

fn rows_name(number: u64) -> String {
    format!("rows-{number}.json")
}

/// A table as text, every cell in quotes.
fn text(table: &Table) -> String {
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let columns: Vec<(Vec<String>, &[u32])> = (0..table.names().len())
        .map(|column| (table.values(column).into_iter().map(quoted).collect(), table.numbers(column)))
        .collect();
    let names: Vec<String> = table.names().iter().map(|name| quoted(name)).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..table.len() {
        for (at, (values, numbers)) in columns.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { "," });
            text.push_str(&values[numbers[row] as usize]);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use throng::format::CSV;
    use throng::watch::Unwatched;

    #[test]
    fn a_table_that_is_kept_reads_as_it_was() {
        let all = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
        let reading = Reading::new(&all, &Unwatched);
        let odd = "\"a;b\",\"say \"\"x\"\"\"\n\"[1,5-2]\",\"two\nlines\"\n\"\",\"=1\"\n\" * \",\"ü|\"\n";
        let table = Table::read_from(&CSV, odd.as_bytes(), &reading).unwrap();
        let again = Table::read_from(&CSV, text(&table).as_bytes(), &reading).unwrap();
        assert_eq!(again.names(), table.names());
        for column in 0..2 {
            let cells = |table: &Table| -> Vec<String> {
                let values = table.values(column);
                table.numbers(column).iter().map(|number| values[*number as usize].to_owned()).collect()
            };
            assert_eq!(cells(&again), cells(&table));
        }
        assert_eq!(again.len(), 3);
    }
}
