//! Releases as delimited text.
//!
//! Rows visit classes and records in random order, so what belongs to one class is rendered once and lies
//! together: a row is a few copies. Blocks of rows are rendered in parallel and written in order by another
//! thread.

use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard};

use memchr::memchr3;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use super::{Content, Release};
use crate::error::{Error, Result};
use crate::table::{Dialect, TextRow};
use crate::watch::Watch;

const ROWS_PER_BLOCK: usize = 4096;
const BLOCKS_AT_A_TIME: usize = 16;
const LOOKED_UP_TOGETHER: usize = 256;

pub(super) fn write(
    release: &Release<'_>,
    dialect: Dialect,
    writer: &mut (dyn Write + Send),
    watch: &dyn Watch,
    path: &Path,
) -> Result<()> {
    let layout = Layout::new(release, dialect);
    let fail = |cause: std::io::Error| Error::io("write", path, &cause);
    writer.write_all(&layout.header()).map_err(fail)?;
    // Memory of blocks that were written, to be filled again.
    let spare = Mutex::new(Vec::new());
    let spare = &spare;
    let take_spare = || spare.lock().ok().and_then(|mut spare: MutexGuard<'_, Vec<Vec<u8>>>| spare.pop());
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<Vec<u8>>>(1);
        let written = scope.spawn(move || {
            for block in receiver.into_iter().flatten() {
                writer.write_all(&block)?;
                if let Ok(mut spare) = spare.lock() {
                    spare.push(block);
                }
            }
            Ok(())
        });
        for rows in release.order.chunks(ROWS_PER_BLOCK * BLOCKS_AT_A_TIME) {
            watch.check()?;
            let blocks =
                rows.par_chunks(ROWS_PER_BLOCK).map(|records| layout.rows(records, take_spare())).collect();
            watch.advance(rows.len() as u64);
            // The receiver is gone only after a failed write, which is told below.
            if sender.send(blocks).is_err() {
                break;
            }
        }
        drop(sender);
        match written.join() {
            Ok(outcome) => outcome.map_err(fail),
            Err(_) => Err(Error::bug("the writing thread failed")),
        }
    })
}

/// A row as a sequence of parts.
struct Layout<'a> {
    release: &'a Release<'a>,
    dialect: Dialect,
    parts: Vec<Part>,
    /// Rendered cells of all classes; those of class `c` and part `p` end at `ends[c * parts + p]`.
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// Rendered values of the counted columns.
    values: Vec<Vec<Vec<u8>>>,
    /// Number of stretches.
    stretches: usize,
    /// Whether passed-through cells that had no quotes need none.
    same_delimiter: bool,
}

/// What a row needs.
struct Place<'a> {
    record: u32,
    class: usize,
    texts: TextRow<'a>,
    /// Whether no passed-through cell needs quoting.
    plain: bool,
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
    fn new(release: &'a Release<'a>, dialect: Dialect) -> Self {
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
                    let rendered = (0..counted.domain.len() as u32)
                        .map(|code| self.quoted(counted.domain.label(code).as_bytes()))
                        .collect();
                    self.parts.push(Part::Counted(at, self.values.len()));
                    self.values.push(rendered);
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

    fn header(&self) -> Vec<u8> {
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

    /// Renders rows. Records come in random order, so what a row needs is far away: a few rows are looked up
    /// together, which lets the machine fetch them side by side instead of one after the other.
    fn rows(&self, records: &[u32], spare: Option<Vec<u8>>) -> Vec<u8> {
        let mut text = spare.unwrap_or_else(|| Vec::with_capacity(records.len() * 128));
        text.clear();
        let mut places = Vec::with_capacity(LOOKED_UP_TOGETHER);
        for records in records.chunks(LOOKED_UP_TOGETHER) {
            places.clear();
            places.extend(records.iter().map(|record| self.place(*record)));
            black_box(
                places.iter().fold(0, |sum, place| sum ^ place.texts.first_byte() ^ self.first_byte(place)),
            );
            places.iter().for_each(|place| self.row(place, &mut text));
        }
        text
    }

    fn place(&self, record: u32) -> Place<'a> {
        let release = self.release;
        let (texts, plain) = release.table.text_row(release.problem.row(record));
        Place {
            record,
            class: release.class_of[record as usize] as usize,
            texts,
            plain: plain && self.same_delimiter,
        }
    }

    /// The first byte of the rendered cells of a row's class, to bring it near.
    fn first_byte(&self, place: &Place<'_>) -> u8 {
        let at = place.class * self.stretches;
        self.ends.get(at).map_or(0, |_| self.cells_of(at).first().copied().unwrap_or(0))
    }

    #[inline]
    fn row(&self, place: &Place<'_>, line: &mut Vec<u8>) {
        let start = line.len();
        let Place { record, class, plain, .. } = *place;
        let mut texts = place.texts.cells();
        let (release, stretches) = (self.release, self.stretches);
        for (nth, part) in self.parts.iter().enumerate() {
            if nth > 0 {
                line.push(self.dialect.delimiter);
            }
            match part {
                Part::Class(stretch) => line.extend_from_slice(self.cells_of(class * stretches + stretch)),
                Part::Counted(column, values) => {
                    if let Content::Counted(counted) = &release.columns[*column].content {
                        line.extend_from_slice(
                            &self.values[*values][counted.codes[record as usize] as usize],
                        );
                    }
                }
                Part::Text => match texts.next() {
                    Some(cell) if plain => line.extend_from_slice(cell),
                    Some(cell) => self.push_quoted(line, cell),
                    None => {}
                },
            }
        }
        self.end_line(line, start);
    }

    #[inline]
    fn cells_of(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.cells[start..self.ends[at]]
    }

    /// A row of one empty cell would read as a blank line.
    fn end_line(&self, line: &mut Vec<u8>, start: usize) {
        if line.len() == start {
            line.extend_from_slice(b"\"\"");
        }
        line.push(self.dialect.line_end);
    }

    fn quoted(&self, cell: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        self.push_quoted(&mut text, cell);
        text
    }

    fn push_quoted(&self, line: &mut Vec<u8>, cell: &[u8]) {
        push_quoted(line, cell, self.dialect.delimiter);
    }
}

/// Appends a cell, in quotes where it needs them.
pub(super) fn push_quoted(line: &mut Vec<u8>, cell: &[u8], delimiter: u8) {
    let special = memchr3(delimiter, b'"', b'\n', cell).is_some() || memchr::memchr(b'\r', cell).is_some();
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
