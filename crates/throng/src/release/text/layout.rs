//! How a row of text is put together.
//!
//! What belongs to one class is rendered once and lies together: a row is a few copies.

use arrow_schema::DataType;

use super::super::{CellKind, Cells, Column, Content, Release};
use crate::format::{Syntax, Value};
use crate::table::{Written, append, append_after};

/// A row as a sequence of parts.
pub(super) struct Layout<'a, S> {
    release: &'a Release<'a>,
    syntax: &'a S,
    /// The parts, each with its first column.
    parts: Vec<(usize, Part)>,
    /// Rendered cells of all classes, with what comes before them; those of class `c` and part `p` end at `ends[c * parts + p]`.
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// Rendered values of the counted columns, with what comes before them, one after the other.
    values: Vec<Values>,
    /// Number of stretches.
    stretches: usize,
    /// The delimiter, if passed-through cells that needed no quotes are copied after it.
    copies: Option<u8>,
}

enum Part {
    /// A stretch of neighbouring columns that are the same for all of a class; the number of the stretch.
    Class(usize),
    /// A value of the counted column with this number.
    Protected(usize),
    /// The next passed-through cell, and whether the table has numbers or booleans there.
    Text { bare: bool },
}

impl<'a, S: Syntax> Layout<'a, S> {
    pub(super) fn new(release: &'a Release<'a>, syntax: &'a S) -> Self {
        let own = release.table.dialect().map(|own| own.delimiter);
        let mut layout = Layout {
            release,
            syntax,
            parts: Vec::new(),
            cells: Vec::new(),
            ends: Vec::new(),
            values: Vec::new(),
            stretches: 0,
            copies: own.filter(|own| Some(*own) == syntax.delimiter()),
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
                    (Some((_, Part::Class(_))), Some(stretch)) => stretch.push(at),
                    _ => {
                        self.parts.push((at, Part::Class(stretches.len())));
                        stretches.push(vec![at]);
                    }
                },
                Content::Protected(counted) => {
                    let mut values = Values::default();
                    for code in 0..counted.domain.len() as u32 {
                        self.syntax.before(at, &mut values.text);
                        let value = self.release.text_value(counted.domain.label(code));
                        self.syntax.cell(value, &mut values.text);
                        values.ends.push(values.text.len());
                    }
                    self.parts.push((at, Part::Protected(self.values.len())));
                    self.values.push(values);
                }
                Content::Text => self.parts.push((at, Part::Text { bare: self.is_bare(column) })),
            }
        }
        stretches
    }

    /// Whether the table has numbers or booleans in a column.
    fn is_bare(&self, column: &Column<'_>) -> bool {
        let kind = self.release.table.schema().map(|schema| schema.field(column.source).data_type());
        kind.is_some_and(is_bare)
    }

    fn render_classes(&mut self, stretches: &[Vec<usize>]) {
        let mut buffer = std::mem::take(&mut self.cells);
        for class in 0..self.release.classes as u32 {
            for stretch in stretches {
                for &at in stretch {
                    self.syntax.before(at, &mut buffer);
                    if let Content::Cells(cells) = &self.release.columns[at].content {
                        self.syntax.cell(self.release.class_value(cells, class), &mut buffer);
                    }
                }
                self.ends.push(buffer.len());
            }
        }
        self.cells = buffer;
    }

    /// What comes before all rows.
    pub(super) fn head(&self) -> Vec<u8> {
        let names: Vec<&str> = self.release.columns.iter().map(|column| column.name.as_str()).collect();
        let mut head = Vec::new();
        self.syntax.head(&names, &mut head);
        head
    }

    /// Appends the row of a record.
    #[inline]
    pub(super) fn push_row(&self, record: u32, line: &mut Vec<u8>) {
        let start = line.len();
        let release = self.release;
        let class = release.class_of[record as usize] as usize;
        let (texts, plain) = release.table.text_row(release.problem.row(record));
        let mut places = texts.places();
        let mut text = 0;
        for (column, part) in &self.parts {
            match part {
                Part::Class(stretch) => {
                    let (from, to) = place(&self.ends, class * self.stretches + stretch);
                    append(line, &self.cells, from, to);
                }
                Part::Protected(values) => {
                    if let Content::Protected(counted) = &release.columns[*column].content {
                        let values = &self.values[*values];
                        let (from, to) = place(&values.ends, counted.codes[record as usize] as usize);
                        append(line, &values.text, from, to);
                    }
                }
                Part::Text { bare } => {
                    match (places.next(), self.copies.filter(|_| plain)) {
                        (Some((from, to)), Some(delimiter)) if *column > 0 => {
                            append_after(line, delimiter, texts.bytes(), from, to);
                        }
                        (Some((from, to)), Some(_)) => append(line, texts.bytes(), from, to),
                        (Some((from, to)), None) => {
                            self.syntax.before(*column, line);
                            let written = texts.written(text);
                            self.push_text(&texts.bytes()[from..to], written, *bare, line);
                        }
                        (None, _) => self.syntax.before(*column, line),
                    }
                    text += 1;
                }
            }
        }
        self.syntax.end(line, start);
    }

    fn push_text(&self, cell: &[u8], written: Written, bare: bool, line: &mut Vec<u8>) {
        // Every chunk is checked to be UTF-8 when it is read.
        let cell = std::str::from_utf8(cell).unwrap_or_default();
        let value = match written {
            Written::Null => Value::Null(cell),
            Written::Bare => Value::Bare(cell),
            Written::Text if bare => Value::Bare(cell),
            Written::Text => Value::Text(cell),
        };
        self.syntax.cell(value, line);
    }
}

/// Whether cells of a type are numbers or booleans.
fn is_bare(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_bare(values),
        DataType::RunEndEncoded(_, values) => is_bare(values.data_type()),
        other => other.is_numeric() || *other == DataType::Boolean,
    }
}

impl Release<'_> {
    /// A text of a quasi-identifier, sensitive or class column.
    pub(in crate::release) fn text_value<'t>(&self, text: &'t str) -> Value<'t> {
        match self.null_text.as_deref() == Some(text) {
            true => Value::Null(text),
            false => Value::Text(text),
        }
    }

    /// The cell of a class.
    fn class_value<'t>(&self, cells: &'t Cells, class: u32) -> Value<'t> {
        let text = cells.text(class);
        match cells.kind {
            CellKind::Text => self.text_value(text),
            _ if cells.missing.as_deref() == Some(text) => Value::Null(text),
            CellKind::Date => Value::Text(text),
            CellKind::Whole | CellKind::Real => Value::Bare(text),
        }
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
