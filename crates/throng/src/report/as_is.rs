//! The part of a report that tells what is published as it is.

use super::number::{count, percent};
use super::page::{Block, Section};
use super::terminal::{COLUMNS, Side, table};
use super::text::width;
use crate::as_is::{AsIsColumn, Looks, PublishedAsIs};

const HEADING: &str = "Published as it is";
const WORDS: &str = "Nothing in these columns is hidden: whoever knows a person's value in one of them may find the row by it. \
     A row is unique if no other row has the same values.";

/// As lines of a terminal.
pub(super) fn lines(as_is: &PublishedAsIs) -> Vec<String> {
    if as_is.columns.is_empty() {
        return Vec::new();
    }
    let columns: Vec<[String; 5]> = as_is.columns.iter().map(cells).collect();
    let heading = ["", "values", "unique", "with quasi-id."].map(str::to_owned).to_vec();
    let rows = columns.iter().map(|cells| cells[..4].to_vec());
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(rows).collect();
    let mut table = table(&rows, &[Side::Left, Side::Right, Side::Right, Side::Right]).into_iter();
    let mut lines = vec![String::new(), HEADING.to_owned()];
    lines.extend(table.next());
    for (line, [.., looks]) in table.zip(&columns) {
        lines.extend(with_looks(line, looks));
    }
    lines
}

/// What a column looks like stands behind its figures, or below where that would take room from its name.
fn with_looks(line: String, looks: &str) -> Vec<String> {
    match width(&line) + 2 + width(looks) {
        _ if looks.is_empty() => vec![line],
        wide if wide > COLUMNS => vec![line, format!("      {looks}")],
        _ => vec![format!("{line}  {looks}")],
    }
}

/// As a section of a page.
pub(super) fn section(as_is: &PublishedAsIs) -> Option<Section> {
    let head =
        ["column", "distinct values", "unique by itself", "unique with quasi-identifiers", "looks like"];
    let unique = format!("On all that is published, {} of the rows are unique.", percent(as_is.unique_share));
    (!as_is.columns.is_empty()).then(|| Section {
        heading: HEADING.to_owned(),
        blocks: vec![
            Block::Words(format!("{WORDS} {unique}")),
            Block::Table {
                head: head.map(str::to_owned).to_vec(),
                rows: as_is.columns.iter().map(|column| cells(column).to_vec()).collect(),
            },
        ],
    })
}

fn cells(column: &AsIsColumn) -> [String; 5] {
    let looks: Vec<&str> = column.looks.iter().map(|looks: &Looks| looks.words()).collect();
    [
        format!("{} ({})", column.name, column.role),
        count(column.distinct),
        percent(column.unique_share),
        percent(column.unique_share_with_quasi),
        looks.join(", "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_column_looks_like_takes_no_room_from_its_name() {
        let looks = "nearly an identifier, ordered numbers, free text";
        let short = "  score (not in the policy)  296  97.3 %  100 %".to_owned();
        assert_eq!(with_looks(short.clone(), "times"), [format!("{short}  times")]);
        assert_eq!(with_looks(short.clone(), looks), [short.clone(), format!("      {looks}")]);
        assert_eq!(with_looks(short.clone(), ""), [short]);
    }
}
