//! Delimited text: comma-separated values and their kin. See [`text`](crate::table) for how it is parsed.

use memchr::{memchr, memchr3};

use super::{AnySyntax, Format, Syntax, Target, Value, Writable};
use crate::error::Result;
use crate::formula::{Formulas, MARK, needs_mark};
use crate::table::blocks::Blocks;
use crate::table::source::Input;
use crate::table::{Dialect, Reading, Table, chunk, text};
use crate::watch::Watch;

/// Comma-separated values; the delimiter may be another, which is told from the first lines.
pub static CSV: Format = Format { name: "CSV", endings: &["csv", "txt"], read: read_any, write: write_any };

/// Tab-separated values.
pub static TSV: Format = Format { name: "TSV", endings: &["tsv", "tab"], read: read_tabs, write: write_tabs };

fn read_any(input: Input<'_>, reading: &Reading<'_>) -> Result<Table> {
    read(input, reading, None)
}

fn read_tabs(input: Input<'_>, reading: &Reading<'_>) -> Result<Table> {
    read(input, reading, Some(b'\t'))
}

/// Writes with the table's own delimiter.
fn write_any(table: &dyn Writable, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
    let delimiter = table.dialect().unwrap_or_default().delimiter;
    table.write_lines(
        &AnySyntax::Delimited(Delimited { delimiter, formulas: table.formulas() }),
        target,
        watch,
    )
}

fn write_tabs(table: &dyn Writable, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
    let syntax = Delimited { delimiter: b'\t', formulas: table.formulas() };
    table.write_lines(&AnySyntax::Delimited(syntax), target, watch)
}

/// One row per line, cells in quotes where they need them.
pub(crate) struct Delimited {
    delimiter: u8,
    formulas: Formulas,
}

impl Delimited {
    fn marks(&self, cell: &str) -> bool {
        self.formulas == Formulas::Escape && needs_mark(cell)
    }
}

impl Syntax for Delimited {
    fn head(&self, names: &[&str], line: &mut Vec<u8>) {
        let start = line.len();
        for (column, name) in names.iter().enumerate() {
            self.before(column, line);
            self.cell(Value::Text(name), line);
        }
        self.end(line, start);
    }

    #[inline(always)]
    fn before(&self, column: usize, line: &mut Vec<u8>) {
        if column > 0 {
            line.push(self.delimiter);
        }
    }

    fn cell(&self, value: Value<'_>, line: &mut Vec<u8>) {
        let cell = value.text().as_bytes();
        let special = memchr3(self.delimiter, b'"', b'\n', cell).is_some() || memchr(b'\r', cell).is_some();
        let mark = if self.marks(value.text()) { &[MARK as u8][..] } else { &[] };
        if !special {
            line.extend_from_slice(mark);
            line.extend_from_slice(cell);
            return;
        }
        line.push(b'"');
        line.extend_from_slice(mark);
        for &byte in cell {
            if byte == b'"' {
                line.push(b'"');
            }
            line.push(byte);
        }
        line.push(b'"');
    }

    /// A row of one empty cell would read as a blank line.
    #[inline(always)]
    fn end(&self, line: &mut Vec<u8>, start: usize) {
        if line.len() == start {
            line.extend_from_slice(b"\"\"");
        }
        line.push(b'\n');
    }

    fn delimiter(&self) -> Option<u8> {
        (self.formulas == Formulas::Keep).then_some(self.delimiter)
    }
}

fn read(input: Input<'_>, reading: &Reading<'_>, delimiter: Option<u8>) -> Result<Table> {
    let origin = input.origin.clone();
    let mut dialect = Dialect::default();
    let mut blocks = Blocks::start(input.into_stream(), |start| {
        dialect = Dialect::sniff(start);
        dialect.delimiter = delimiter.unwrap_or(dialect.delimiter);
        dialect.marked = reading.marked;
        let dialect = dialect;
        Box::new(move |text| dialect.last_record_end(text))
    })?;
    let first = blocks.next_block()?.unwrap_or_default();
    let (names, body) = text::header(&first, dialect)?;
    let storage = reading.plan_columns(&names)?;
    let slots = chunk::slots(&storage);
    blocks.widen(names.len());
    let header_lines = memchr::memchr_iter(dialect.line_end, &first[..body]).count() as u64;
    let first = vec![first[body..].to_vec()];
    let chunks = blocks.parse(first, header_lines, reading, |block| text::parse(block, dialect, &slots))?;
    Ok(Table::new(origin, names, storage, chunks).with_dialect(dialect))
}
