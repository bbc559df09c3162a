//! Delimited text: comma-separated values and their kin. See [`text`](crate::table) for how it is parsed.

use memchr::{memchr, memchr3};

use super::{AnySyntax, Format, Syntax, TakePiece, Target, Value, Writable};
use crate::error::Result;
use crate::formula::{Formulas, MARK, needs_mark};
use crate::table::blocks::Blocks;
use crate::table::source::Input;
use crate::table::{Dialect, Origin, Reading, Storage, Table, chunk, text};
use crate::watch::Watch;

/// Comma-separated values; the delimiter may be another, which is told from the first lines.
pub static CSV: Format = Format {
    name: "CSV",
    endings: &["csv", "txt"],
    times_in_memory: 4,
    read: read_any,
    pieces: Some(any_pieces),
    write: write_any,
};

/// Tab-separated values.
pub static TSV: Format = Format {
    name: "TSV",
    endings: &["tsv", "tab"],
    times_in_memory: 4,
    read: read_tabs,
    pieces: Some(pieces_with_tabs),
    write: write_tabs,
};

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
    let Started { origin, blocks, dialect, names, storage, header_lines, first } =
        start(input, reading, delimiter)?;
    let slots = chunk::slots(&storage);
    let chunks = blocks.parse(first, header_lines, reading, |block| text::parse(block, dialect, &slots))?;
    Ok(Table::new(origin, names, storage, chunks).with_dialect(dialect))
}

fn any_pieces(input: Input<'_>, reading: &Reading<'_>, take: &mut TakePiece<'_>) -> Result<()> {
    pieces(input, reading, None, take)
}

fn pieces_with_tabs(input: Input<'_>, reading: &Reading<'_>, take: &mut TakePiece<'_>) -> Result<()> {
    pieces(input, reading, Some(b'\t'), take)
}

fn pieces(
    input: Input<'_>,
    reading: &Reading<'_>,
    delimiter: Option<u8>,
    take: &mut TakePiece<'_>,
) -> Result<()> {
    let Started { origin, blocks, dialect, names, storage, header_lines, first } =
        start(input, reading, delimiter)?;
    let slots = chunk::slots(&storage);
    let parse = |block: &[u8]| text::parse(block, dialect, &slots);
    blocks.parse_pieces(first, header_lines, reading, parse, &mut |chunks, lines| {
        let table = Table::piece(origin.clone(), names.clone(), storage.clone(), chunks, lines);
        take(table.with_dialect(dialect))
    })
}

/// A text whose header was read.
struct Started<'a> {
    origin: Origin,
    blocks: Blocks<'a>,
    dialect: Dialect,
    names: Vec<String>,
    storage: Vec<Storage>,
    header_lines: u64,
    /// The records that came with the header.
    first: Vec<Vec<u8>>,
}

fn start<'a>(input: Input<'a>, reading: &Reading<'_>, delimiter: Option<u8>) -> Result<Started<'a>> {
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
    blocks.widen(names.len());
    let header_lines = memchr::memchr_iter(dialect.line_end, &first[..body]).count() as u64;
    let first = vec![first[body..].to_vec()];
    Ok(Started { origin, blocks, dialect, names, storage, header_lines, first })
}
