//! Delimited text: recognising its dialect, cutting it into chunks of whole records, and parsing those.
//!
//! Most chunks of most files hold no quote. Those are cut with one backward search for a line end and parsed
//! eight bytes at a time; the others are walked field by field. Both give the same cells.

use memchr::{memchr, memchr2, memrchr};

use super::chunk::{Chunk, ChunkBuilder, Slot};
use crate::error::{Error, ErrorCode, Result};
use crate::formula::without_mark;

/// How a text separates its cells and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Between cells.
    pub delimiter: u8,
    /// Between records: a line feed (a carriage return before it is dropped), or a lone carriage return.
    pub line_end: u8,
    /// Whether cells that a spreadsheet would run have a mark before them, to be taken off.
    pub marked: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect { delimiter: b',', line_end: b'\n', marked: false }
    }
}

const QUOTE: u8 = b'"';

impl Dialect {
    /// Looks at the start of a text: the delimiter that cuts its first records into equally many cells, more
    /// than one.
    pub fn sniff(start: &[u8]) -> Self {
        let line_end =
            if memchr(b'\n', start).is_none() && memchr(b'\r', start).is_some() { b'\r' } else { b'\n' };
        let candidates = [b',', b';', b'\t', b'|'];
        let best = candidates
            .into_iter()
            .map(|delimiter| (Dialect { delimiter, line_end, marked: false }.regularity(start), delimiter))
            .rev()
            .max_by_key(|(score, _)| *score);
        match best {
            Some((score, delimiter)) if score > (0, 0) => Dialect { delimiter, line_end, marked: false },
            _ => Dialect { delimiter: b',', line_end, marked: false },
        }
    }

    /// How many of the first records have as many cells as the first one, and how many cells that is.
    fn regularity(self, start: &[u8]) -> (usize, usize) {
        let mut widths = Vec::new();
        let mut width = 0;
        for field in self.fields(start) {
            if width == 0 && field.is_blank_line() {
                continue;
            }
            width += 1;
            if field.end != FieldEnd::Delimiter {
                // The last record may be cut short by the end of the sample.
                if field.end == FieldEnd::Record || widths.is_empty() {
                    widths.push(width);
                }
                width = 0;
            }
            if widths.len() == 20 {
                break;
            }
        }
        match widths.first() {
            Some(&first) if first > 1 => (widths.iter().filter(|width| **width == first).count(), first),
            _ => (0, 0),
        }
    }

    /// A cell without the mark that was put before it.
    fn as_it_was(self, cell: &[u8]) -> &[u8] {
        match self.marked.then(|| std::str::from_utf8(cell)) {
            Some(Ok(text)) => without_mark(text).as_bytes(),
            _ => cell,
        }
    }

    /// The fields of a text, one after the other.
    pub(crate) fn fields(self, text: &[u8]) -> Fields<'_> {
        Fields { dialect: self, text, at: Some(0) }
    }

    /// Where the last whole record of a text that starts with a record ends.
    pub(crate) fn last_record_end(self, text: &[u8]) -> Option<usize> {
        if memchr(QUOTE, text).is_none() {
            return memrchr(self.line_end, text).map(|at| at + 1);
        }
        self.fields(text).filter(|field| field.end == FieldEnd::Record).last().map(|field| field.next)
    }
}

/// What ended a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldEnd {
    Delimiter,
    Record,
    /// The text ended first.
    Text,
    /// The text ended inside quotes.
    OpenQuote,
}

/// A field as it stands in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub raw: &'a [u8],
    pub end: FieldEnd,
    /// Where the next field starts.
    pub next: usize,
}

/// Walks a text field by field.
pub(crate) struct Fields<'a> {
    dialect: Dialect,
    text: &'a [u8],
    at: Option<usize>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let start = self.at?;
        if start >= self.text.len() {
            self.at = None;
            return None;
        }
        let field = self.field(start);
        self.at = match field.end {
            // A delimiter at the very end opens one more, empty field.
            FieldEnd::Delimiter if field.next == self.text.len() => {
                self.at = None;
                return Some(Field { end: FieldEnd::Delimiter, ..field });
            }
            FieldEnd::Delimiter | FieldEnd::Record => Some(field.next),
            FieldEnd::Text | FieldEnd::OpenQuote => None,
        };
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&self, start: usize) -> Field<'a> {
        let from = match self.text[start] {
            QUOTE => match closing_quote(self.text, start + 1) {
                Some(at) => at + 1,
                None => return self.ended(start, self.text.len(), FieldEnd::OpenQuote),
            },
            _ => start,
        };
        match memchr2(self.dialect.delimiter, self.dialect.line_end, &self.text[from..]) {
            Some(at) if self.text[from + at] == self.dialect.delimiter => {
                self.ended(start, from + at, FieldEnd::Delimiter)
            }
            Some(at) => self.ended(start, from + at, FieldEnd::Record),
            None => self.ended(start, self.text.len(), FieldEnd::Text),
        }
    }

    fn ended(&self, start: usize, at: usize, end: FieldEnd) -> Field<'a> {
        let mut raw = &self.text[start..at];
        if matches!(end, FieldEnd::Record | FieldEnd::Text) && raw.last() == Some(&b'\r') {
            raw = &raw[..raw.len() - 1];
        }
        Field { raw, end, next: at + 1 }
    }
}

fn closing_quote(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr(QUOTE, text.get(from..)?)?;
        if text.get(at + 1) != Some(&QUOTE) {
            return Some(at);
        }
        from = at + 2;
    }
}

impl<'a> Field<'a> {
    /// Whether the first field of a record says that there is no record.
    fn is_blank_line(&self) -> bool {
        self.raw.is_empty() && self.end != FieldEnd::Delimiter
    }

    /// The cell without its quotes; `scratch` holds it where it had to be rewritten.
    pub fn cell<'b>(&self, scratch: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        let Some(rest) = self.raw.strip_prefix(&[QUOTE]) else { return self.raw };
        scratch.clear();
        let mut rest = rest;
        while let Some(at) = memchr(QUOTE, rest) {
            scratch.extend_from_slice(&rest[..at]);
            match rest.get(at + 1) {
                Some(&QUOTE) => {
                    scratch.push(QUOTE);
                    rest = &rest[at + 2..];
                }
                // Whatever follows the closing quote belongs to the cell, as spreadsheets read it.
                _ => {
                    scratch.extend_from_slice(&rest[at + 1..]);
                    return scratch;
                }
            }
        }
        scratch.extend_from_slice(rest);
        scratch
    }
}

/// The cells of a first record and where the next record starts.
pub(crate) fn header(text: &[u8], dialect: Dialect) -> Result<(Vec<String>, usize)> {
    let mut names = Vec::new();
    let mut scratch = Vec::new();
    let mut open = true;
    let mut next = text.len();
    for field in dialect.fields(text) {
        if field.end == FieldEnd::OpenQuote {
            return Err(open_quote(1));
        }
        if names.is_empty() && field.is_blank_line() {
            continue;
        }
        let cell = field.cell(&mut scratch);
        let name = std::str::from_utf8(cell).map_err(|_| not_utf8(1, names.len() as u64 + 1))?;
        names.push(if dialect.marked { without_mark(name) } else { name }.to_owned());
        open = field.end == FieldEnd::Delimiter;
        if !open {
            next = field.next.min(text.len());
            break;
        }
    }
    if open && !names.is_empty() {
        names.push(String::new());
    }
    Ok((names, next))
}

pub(crate) fn open_quote(line: u64) -> Error {
    Error::new(ErrorCode::UnclosedQuote, "a quoted cell that starts on this line is never closed")
        .on_line(line)
        .with_hint("close the quote, or double it (\"\") if it belongs to the cell")
}

fn not_utf8(line: u64, column: u64) -> Error {
    Error::new(ErrorCode::NotUtf8, "a cell is not valid UTF-8")
        .on_line(line)
        .in_column(column)
        .with_hint("save the table as UTF-8, for instance with `iconv -f latin1 -t utf8`")
}

fn ragged(line: u64, found: usize, expected: usize) -> Error {
    Error::new(ErrorCode::WrongCellCount, format!("this record has {found} cell{}, the header has {expected}", if found == 1 { "" } else { "s" }))
        .on_line(line)
        .in_column(found.min(expected + 1) as u64)
        .with_hint("put cells that hold the delimiter into double quotes, and give every record as many cells as the header")
}

/// Parses a chunk of whole records. Lines in errors count from the start of the chunk.
pub(crate) fn parse(text: &[u8], dialect: Dialect, slots: &[Slot]) -> Result<Chunk> {
    if std::str::from_utf8(text).is_err() {
        return Err(find_invalid_utf8(text, dialect));
    }
    let quoted = memchr(QUOTE, text).is_some();
    let mut chunk = match quoted || dialect.marked {
        true => parse_quoted(text, dialect, slots)?,
        false => parse_plain(text, dialect, slots)?,
    };
    chunk.plain = !quoted;
    chunk.lines = memchr::memchr_iter(dialect.line_end, text).count() as u64;
    // Without a line end after the last record, a blank line or a cell of two lines would even the counts out.
    let ends_well = text.last() == Some(&dialect.line_end);
    if chunk.rows as u64 != chunk.lines || !ends_well {
        chunk.line_of_row = Some(lines_of_rows(text, dialect));
    }
    Ok(chunk)
}

fn find_invalid_utf8(text: &[u8], dialect: Dialect) -> Error {
    let mut column = 0;
    let mut at = 0;
    for field in dialect.fields(text) {
        column += 1;
        if std::str::from_utf8(field.raw).is_err() {
            return not_utf8(line_at(text, dialect, at), column);
        }
        at = field.next;
        if field.end == FieldEnd::Record {
            column = 0;
        }
    }
    not_utf8(line_at(text, dialect, at), column)
}

/// The line, from 1, of a place in a chunk.
fn line_at(text: &[u8], dialect: Dialect, at: usize) -> u64 {
    1 + memchr::memchr_iter(dialect.line_end, &text[..at.min(text.len())]).count() as u64
}

/// For chunks where a record may span lines or lines may be blank.
fn lines_of_rows(text: &[u8], dialect: Dialect) -> Vec<u32> {
    let mut lines = Vec::new();
    let (mut start, mut line) = (0, 1);
    let mut first_of_record = true;
    for field in dialect.fields(text) {
        let blank = first_of_record && field.raw.is_empty() && field.end != FieldEnd::Delimiter;
        if first_of_record && !blank {
            lines.push(line);
        }
        let next = field.next.min(text.len());
        line += memchr::memchr_iter(dialect.line_end, &text[start..next]).count() as u32;
        start = next;
        first_of_record = field.end == FieldEnd::Record;
    }
    lines
}

const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// The high bit of every byte of `word` that equals the byte repeated in `needle`; exact, no false alarms.
#[inline]
fn matches_in(word: u64, needle: u64) -> u64 {
    let difference = word ^ needle;
    !(((difference & LOW_BITS) + LOW_BITS) | difference | LOW_BITS)
}

/// Parses a chunk without quotes: first finds where all cells end, then takes them.
fn parse_plain(text: &[u8], dialect: Dialect, slots: &[Slot]) -> Result<Chunk> {
    let mut cells =
        PlainCells { text, dialect, width: slots.len(), starts: Vec::new(), ends: Vec::new(), start: 0 };
    let repeat = |byte: u8| u64::from(byte) * 0x0101_0101_0101_0101;
    let (delimiters, line_ends) = (repeat(dialect.delimiter), repeat(dialect.line_end));
    let (words, _) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut found = matches_in(word, delimiters) | matches_in(word, line_ends);
        while found != 0 {
            cells.end_at(at * 8 + found.trailing_zeros() as usize / 8)?;
            found &= found - 1;
        }
    }
    for at in words.len() * 8..text.len() {
        if text[at] == dialect.delimiter || text[at] == dialect.line_end {
            cells.end_at(at)?;
        }
    }
    if cells.start < text.len() || !cells.ends.len().is_multiple_of(cells.width) {
        cells.end_record_at(text.len())?;
    }
    let mut builder = ChunkBuilder::new(slots);
    builder.fill(text, cells.starts.len(), |row, column| cells.cell(row, column));
    Ok(builder.finish())
}

/// Where the cells of a chunk without quotes lie.
struct PlainCells<'a> {
    text: &'a [u8],
    dialect: Dialect,
    width: usize,
    /// Where each record starts.
    starts: Vec<u32>,
    /// Where each cell ends, `width` per record.
    ends: Vec<u32>,
    /// Where the record at hand starts.
    start: usize,
}

impl PlainCells<'_> {
    #[inline(always)]
    fn end_at(&mut self, at: usize) -> Result<()> {
        if self.text[at] == self.dialect.line_end {
            return self.end_record_at(at);
        }
        self.ends.push(at as u32);
        Ok(())
    }

    #[inline(always)]
    fn end_record_at(&mut self, at: usize) -> Result<()> {
        let before = self.starts.len() * self.width;
        let end = if at > self.start && self.text[at - 1] == b'\r' { at - 1 } else { at };
        let blank = self.ends.len() == before && end == self.start;
        if !blank {
            self.ends.push(end as u32);
            if self.ends.len() != before + self.width {
                return Err(self.ragged());
            }
            self.starts.push(self.start as u32);
        }
        self.start = at + 1;
        Ok(())
    }

    #[inline(always)]
    fn cell(&self, row: usize, column: usize) -> (usize, usize) {
        let at = row * self.width + column;
        let start = if column == 0 { self.starts[row] } else { self.ends[at - 1] + 1 };
        (start as usize, self.ends[at] as usize)
    }

    #[cold]
    fn ragged(&self) -> Error {
        let found = self.ends.len() - self.starts.len() * self.width;
        ragged(line_at(self.text, self.dialect, self.start), found, self.width)
    }
}

/// Parses a chunk field by field.
fn parse_quoted(text: &[u8], dialect: Dialect, slots: &[Slot]) -> Result<Chunk> {
    let mut builder = ChunkBuilder::new(slots);
    let mut scratch = Vec::new();
    let (mut column, mut record_start, mut at) = (0, 0, 0);
    let mut fields = dialect.fields(text).peekable();
    while let Some(field) = fields.next() {
        if field.end == FieldEnd::OpenQuote {
            return Err(open_quote(line_at(text, dialect, at)));
        }
        at = field.next;
        let blank = column == 0 && field.raw.is_empty() && field.end != FieldEnd::Delimiter;
        if !blank {
            if column < slots.len() {
                builder.push(column, dialect.as_it_was(field.cell(&mut scratch)));
            }
            column += 1;
            // A delimiter that ends the text leaves one more, empty cell.
            if field.end == FieldEnd::Delimiter && fields.peek().is_none() {
                if column < slots.len() {
                    builder.push(column, b"");
                }
                column += 1;
            }
        }
        if field.end != FieldEnd::Delimiter || fields.peek().is_none() {
            if !blank && column != slots.len() {
                return Err(ragged(line_at(text, dialect, record_start), column, slots.len()));
            }
            if !blank {
                builder.end_row();
            }
            column = 0;
            record_start = field.next;
        }
    }
    Ok(builder.finish())
}
