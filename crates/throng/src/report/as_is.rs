//! The part of a report that tells what is published as it is.

use super::number::{count, percent};
use super::page::{Block, Section};
use super::terminal::{Side, table};
use crate::as_is::{AsIsColumn, Looks, PublishedAsIs};

const HEADING: &str = "Published as it is";
const WORDS: &str = "Nothing in these columns is hidden: whoever knows a person's value in one of them may find the row by it. \
     A row is unique if no other row has the same values.";

/// As lines of a terminal.
pub(super) fn lines(as_is: &PublishedAsIs) -> Vec<String> {
    if as_is.columns.is_empty() {
        return Vec::new();
    }
    let row = |column: &AsIsColumn| {
        let [name, figures @ ..] = cells(column);
        [vec![name], figures.to_vec()].concat()
    };
    let heading = ["", "values", "unique", "with quasi-id.", ""].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(as_is.columns.iter().map(row)).collect();
    let mut lines = vec![String::new(), HEADING.to_owned()];
    lines.extend(table(&rows, &[Side::Left, Side::Right, Side::Right, Side::Right, Side::Left]));
    lines
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
