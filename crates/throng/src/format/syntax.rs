//! How the rows of a release are spelt in a text.

use super::delimited::Delimited;
use super::json_lines::Lines;

/// A cell as it is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A text.
    Text(&'a str),
    /// A number or a boolean.
    Bare(&'a str),
    /// A missing cell; formats without nulls write the text that stands for it.
    Null(&'a str),
}

impl<'a> Value<'a> {
    /// What is written where there are only texts.
    pub fn text(self) -> &'a str {
        match self {
            Value::Text(text) | Value::Bare(text) | Value::Null(text) => text,
        }
    }
}

/// A way to spell rows, one per line or several lines. Everything must follow from the cells: how a cell was spelt in the
/// table, or that a row had no cell at all, is nobody's business.
pub(crate) trait Syntax: Sync {
    /// What comes before all rows, given the names of the columns.
    fn head(&self, names: &[&str], line: &mut Vec<u8>);

    /// What stands before the cell of a column.
    fn before(&self, column: usize, line: &mut Vec<u8>);

    /// A cell.
    fn cell(&self, value: Value<'_>, line: &mut Vec<u8>);

    /// What ends a row that begins at `start`.
    fn end(&self, line: &mut Vec<u8>, start: usize);

    /// The delimiter, if cells that hold neither it nor quotes nor line ends are written as they are.
    fn delimiter(&self) -> Option<u8> {
        None
    }
}

/// The syntaxes of all formats of text.
pub(crate) enum AnySyntax {
    /// Cells between delimiters.
    Delimited(Delimited),
    /// Objects of JSON.
    Lines(Lines),
}

impl AnySyntax {
    /// Does some work in the syntax, whichever it is: chosen once, outside of all loops.
    pub fn run<W: InSyntax>(&self, work: W) -> W::Output {
        match self {
            AnySyntax::Delimited(syntax) => work.run(syntax),
            AnySyntax::Lines(syntax) => work.run(syntax),
        }
    }
}

/// Work that is done alike in every syntax.
pub(crate) trait InSyntax {
    /// What comes of it.
    type Output;

    /// Does it.
    fn run(self, syntax: &impl Syntax) -> Self::Output;
}

/// Appends a row of cells.
pub(crate) fn push_row<'a>(
    syntax: &impl Syntax,
    cells: impl IntoIterator<Item = Value<'a>>,
    line: &mut Vec<u8>,
) {
    let start = line.len();
    for (column, cell) in cells.into_iter().enumerate() {
        syntax.before(column, line);
        syntax.cell(cell, line);
    }
    syntax.end(line, start);
}
