//! How a row of text is put together.
//!
//! What belongs to one class is rendered once and lies together: a row is a few copies.

use memchr::memchr3;

use super::super::{Content, Release};
use crate::table::{Dialect, append};

/// A row as a sequence of parts.
pub(super) struct Layout<'a> {
    release: &'a Release<'a>,
    dialect: Dialect,
    parts: Vec<Part>,
    /// Rendered cells of all classes; those of class `c` and part `p` end at `ends[c * parts + p]`.
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// Rendered values of the counted columns, one after the other.
    values: Vec<Values>,
    /// Number of stretches.
    stretches: usize,
    /// Whether passed-through cells that had no quotes need none.
    same_delimiter: bool,
}

enum Part {
    /// A stretch of neighbouring columns that are the same for all of a class; the number of the stretch.
    Class(usize),
    /// A value of the counted column with this number.
    Counted(usize, usize),
    /// The next passed-through cell.
    Text,
}

impl<'a> Layout<'a> {
    pub(super) fn new(release: &'a Release<'a>, dialect: Dialect) -> Self {
        let same_delimiter = release.table.dialect().is_some_and(|own| own.delimiter == dialect.delimiter);
        let mut layout = Layout {
            release,
            dialect,
            parts: Vec::new(),
            cells: Vec::new(),
            ends: Vec::new(),
            values: Vec::new(),
            stretches: 0,
            same_delimiter,
        };
        let stretches = layout.plan();
        layout.stretches = stretches.len();
        layout.render_classes(&stretches);
        layout
    }

    /// Lays the columns out and returns the columns of each stretch.
    fn plan(&mut self) -> Vec<Vec<usize>> {
        let mut stretches: Vec<Vec<usize>> = Vec::new();
        for (at, column) in self.release.columns.iter().enumerate() {
            match &column.content {
                Content::Cells(_) => match (self.parts.last(), stretches.last_mut()) {
                    (Some(Part::Class(_)), Some(stretch)) => stretch.push(at),
                    _ => {
                        self.parts.push(Part::Class(stretches.len()));
                        stretches.push(vec![at]);
                    }
                },
                Content::Counted(counted) => {
                    let mut values = Values::default();
                    for code in 0..counted.domain.len() as u32 {
                        self.push_quoted(&mut values.text, counted.domain.label(code).as_bytes());
                        values.ends.push(values.text.len());
                    }
                    self.parts.push(Part::Counted(at, self.values.len()));
                    self.values.push(values);
                }
                Content::Text => self.parts.push(Part::Text),
            }
        }
        stretches
    }

    fn render_classes(&mut self, stretches: &[Vec<usize>]) {
        let mut buffer = std::mem::take(&mut self.cells);
        for class in 0..self.release.classes as u32 {
            for stretch in stretches {
                for (nth, &at) in stretch.iter().enumerate() {
                    if nth > 0 {
                        buffer.push(self.dialect.delimiter);
                    }
                    if let Content::Cells(cells) = &self.release.columns[at].content {
                        self.push_quoted(&mut buffer, cells.text(class).as_bytes());
                    }
                }
                self.ends.push(buffer.len());
            }
        }
        self.cells = buffer;
    }

    /// The first line.
    pub(super) fn header(&self) -> Vec<u8> {
        let mut line = Vec::new();
        for (nth, column) in self.release.columns.iter().enumerate() {
            if nth > 0 {
                line.push(self.dialect.delimiter);
            }
            self.push_quoted(&mut line, column.name.as_bytes());
        }
        self.end_line(&mut line, 0);
        line
    }

    /// Appends the row of a record.
    #[inline]
    pub(super) fn push_row(&self, record: u32, line: &mut Vec<u8>) {
        let start = line.len();
        let release = self.release;
        let class = release.class_of[record as usize] as usize;
        let (texts, plain) = release.table.text_row(release.problem.row(record));
        let plain = plain && self.same_delimiter;
        let mut places = texts.places();
        for (nth, part) in self.parts.iter().enumerate() {
            if nth > 0 {
                line.push(self.dialect.delimiter);
            }
            match part {
                Part::Class(stretch) => {
                    let (from, to) = place(&self.ends, class * self.stretches + stretch);
                    append(line, &self.cells, from, to);
                }
                Part::Counted(column, values) => {
                    if let Content::Counted(counted) = release.columns[*column].content {
                        let values = &self.values[*values];
                        let (from, to) = place(&values.ends, counted.codes[record as usize] as usize);
                        append(line, &values.text, from, to);
                    }
                }
                Part::Text => match places.next() {
                    Some((from, to)) if plain => append(line, texts.bytes(), from, to),
                    Some((from, to)) => self.push_quoted(line, &texts.bytes()[from..to]),
                    None => {}
                },
            }
        }
        self.end_line(line, start);
    }

    /// A row of one empty cell would read as a blank line.
    fn end_line(&self, line: &mut Vec<u8>, start: usize) {
        if line.len() == start {
            line.extend_from_slice(b"\"\"");
        }
        line.push(self.dialect.line_end);
    }

    fn push_quoted(&self, line: &mut Vec<u8>, cell: &[u8]) {
        let special = memchr3(self.dialect.delimiter, b'"', b'\n', cell).is_some()
            || memchr::memchr(b'\r', cell).is_some();
        if !special {
            line.extend_from_slice(cell);
            return;
        }
        line.push(b'"');
        for &byte in cell {
            if byte == b'"' {
                line.push(b'"');
            }
            line.push(byte);
        }
        line.push(b'"');
    }
}

/// Rendered values, one after the other.
#[derive(Default)]
struct Values {
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// Where a text starts and ends, given where each of several ends.
#[inline(always)]
fn place(ends: &[usize], at: usize) -> (usize, usize) {
    (if at == 0 { 0 } else { ends[at - 1] }, ends[at])
}
