//! A run of consecutive rows, as a reader delivers it.
//!
//! Columns that methods look at are kept as numbers into a dictionary of the chunk; columns that are only
//! passed through are kept as text, row by row, because a release visits rows in random order and should
//! touch as few cache lines of each as it can.

use arrow_array::ArrayRef;

use super::Storage;
use super::intern::{Interner, SHORT, ShortText};

/// The rows of one piece of input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    pub rows: usize,
    pub coded: Vec<CodedRun>,
    pub text: TextRows,
    /// The passed-through columns of nested types.
    pub nested: Vec<ArrayRef>,
    /// Whether no cell held a quote, so that nothing needs quoting when written with the same delimiter.
    pub plain: bool,
    /// Lines that the chunk spans, for places in messages.
    pub lines: u64,
    /// The line of each row within the chunk where rows and lines do not go together.
    pub line_of_row: Option<Vec<u32>>,
}

/// One coded column of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodedRun {
    pub codes: Vec<u32>,
    pub values: Interner,
    recent: Recent,
}

/// Recently met short cells, found by comparing two words instead of hashing and comparing text.
#[derive(Clone, Debug, Default)]
struct Recent(Vec<RecentCell>);

type RecentCell = (ShortText, u32);

const RECENT: usize = 256;

/// Rows that are taken together.
const ROWS_AT_A_TIME: usize = 256;

/// Where a short cell is kept among those that were met lately.
#[inline(always)]
fn place(cell: ShortText) -> usize {
    let (low, high) = (cell.bytes as u64, (cell.bytes >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize
}

/// Appends part of a text. Short parts are copied with what follows them, which is then cut off: a copy of fixed
/// length needs neither a call nor a guess at the length.
#[inline(always)]
pub(crate) fn append(target: &mut Vec<u8>, text: &[u8], start: usize, end: usize) {
    match text.get(start..).and_then(<[u8]>::first_chunk::<SHORT>) {
        Some(bytes) if end - start <= SHORT => {
            let length = target.len() + (end - start);
            target.extend_from_slice(bytes);
            target.truncate(length);
        }
        _ => target.extend_from_slice(&text[start..end]),
    }
}

/// The same with a byte before it.
#[inline(always)]
pub(crate) fn append_after(target: &mut Vec<u8>, before: u8, text: &[u8], start: usize, end: usize) {
    match text.get(start..).and_then(<[u8]>::first_chunk::<SHORT>) {
        Some(bytes) if end - start < SHORT => {
            let length = target.len() + 1 + (end - start);
            let both = u128::from_le_bytes(*bytes) << u8::BITS | u128::from(before);
            target.extend_from_slice(&both.to_le_bytes());
            target.truncate(length);
        }
        _ => {
            target.push(before);
            target.extend_from_slice(&text[start..end]);
        }
    }
}

impl CodedRun {
    /// Takes the cell at a place of a text.
    #[inline(always)]
    pub(super) fn push_at(&mut self, text: &[u8], start: usize, end: usize) {
        let short = match self.recent.0.is_empty() {
            true => None,
            false => ShortText::at(text, start, end),
        };
        let Some(short) = short else {
            return self.push(&text[start..end]);
        };
        let recent = &mut self.recent.0[place(short) % RECENT];
        if recent.0 != short {
            *recent = (short, self.values.intern_short(short, &text[start..end]));
        }
        self.codes.push(recent.1);
    }

    pub(super) fn push(&mut self, cell: &[u8]) {
        let code = self.values.intern(cell);
        self.codes.push(code);
    }

    /// Makes room for so many cells, and forgets which were met lately.
    pub(super) fn expect(&mut self, cells: usize) {
        self.codes.reserve(cells);
        self.recent.0.clear();
        // Twelve kilobytes a column: more than a few rows of a wide table are worth.
        if cells >= RECENT {
            self.recent.0.resize(RECENT, RecentCell::default());
        }
    }

    /// Takes a cell that has the text of every other with its key since [`Self::expect`]; the text is asked for only where the
    /// key was not met lately.
    #[inline(always)]
    pub(super) fn push_keyed(&mut self, key: u128, number: impl FnOnce(&mut Interner) -> u32) {
        let key = ShortText { bytes: key, length: 1 };
        let code = match self.recent.0.get_mut(place(key)) {
            Some(recent) => {
                if recent.0 != key {
                    *recent = (key, number(&mut self.values));
                }
                recent.1
            }
            None => number(&mut self.values),
        };
        self.codes.push(code);
    }
}

/// The passed-through cells of a chunk, row after row.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextRows {
    bytes: Vec<u8>,
    /// Where each cell ends; `width` cells per row.
    ends: Vec<u32>,
    width: usize,
    /// How cells were written, in formats where it matters; cells past the end were texts.
    written: Vec<Written>,
}

/// How a passed-through cell was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Written {
    #[default]
    Text,
    /// Without quotes in a format that has quotes for texts: a number or a boolean.
    Bare,
    Null,
}

impl TextRows {
    /// The cells of a row.
    #[inline]
    pub fn row(&self, row: usize) -> TextRow<'_> {
        let first = row * self.width;
        let start = if first == 0 { 0 } else { self.ends[first - 1] };
        let written = self.written.get(first..).unwrap_or_default();
        TextRow { bytes: &self.bytes, ends: &self.ends[first..first + self.width], start, written }
    }

    /// Whether a cell passes a test, which none passes that begins with a letter or a digit.
    pub fn any(&self, test: fn(&str) -> bool) -> bool {
        let mut start = 0;
        for at in 0..self.ends.len() {
            let end = self.ends[at] as usize;
            // Most do, and are not looked at further.
            let odd = self.bytes[start..end].first().is_some_and(|first| !first.is_ascii_alphanumeric());
            if odd
                && self.written.get(at) != Some(&Written::Null)
                // Every chunk is checked to be UTF-8 when it is read.
                && test(std::str::from_utf8(&self.bytes[start..end]).unwrap_or_default())
            {
                return true;
            }
            start = end;
        }
        false
    }

    /// The nth cell of each row of some chunks, one chunk after the other, as a coded column has them.
    pub fn coded(chunks: &[Chunk], nth: usize) -> CodedRun {
        let mut run = CodedRun::default();
        run.expect(chunks.iter().map(|chunk| chunk.rows).sum());
        for Chunk { text, rows, .. } in chunks {
            for at in (nth..).step_by(text.width.max(1)).take(*rows) {
                let start = if at == 0 { 0 } else { text.ends[at - 1] };
                run.push_at(&text.bytes, start as usize, text.ends[at] as usize);
            }
        }
        run.recent = Recent::default();
        run
    }
}

/// The passed-through cells of one row.
#[derive(Clone, Copy)]
pub(crate) struct TextRow<'a> {
    bytes: &'a [u8],
    ends: &'a [u32],
    start: u32,
    /// How the cells of this row and of those that follow were written.
    written: &'a [Written],
}

impl<'a> TextRow<'a> {
    /// The cells; `None` where they were null.
    pub fn nullable(self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let cells = self.places().map(|(start, end)| &self.bytes[start..end]);
        cells.enumerate().map(move |(at, cell)| (self.written(at) != Written::Null).then_some(cell))
    }

    /// How a cell was written.
    pub fn written(self, at: usize) -> Written {
        self.written.get(at).copied().unwrap_or_default()
    }

    /// Where the cells start and end in [`Self::bytes`].
    #[inline(always)]
    pub fn places(self) -> impl Iterator<Item = (usize, usize)> {
        let mut start = self.start as usize;
        self.ends.iter().map(move |&end| (std::mem::replace(&mut start, end as usize), end as usize))
    }

    /// The cells of this row and of others.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }
}

/// Takes cells left to right, row by row.
pub(crate) struct ChunkBuilder<'a> {
    slots: &'a [Slot],
    chunk: Chunk,
}

/// Where the cells of a column go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Coded(usize),
    Text,
    Skip,
}

/// Lays columns out.
pub(crate) fn slots(storage: &[Storage]) -> Vec<Slot> {
    let mut coded = 0;
    storage
        .iter()
        .map(|storage| match storage {
            Storage::Coded => {
                coded += 1;
                Slot::Coded(coded - 1)
            }
            Storage::Text => Slot::Text,
            Storage::Skip => Slot::Skip,
        })
        .collect()
}

impl<'a> ChunkBuilder<'a> {
    pub fn new(slots: &'a [Slot]) -> Self {
        let coded = slots.iter().filter(|slot| matches!(slot, Slot::Coded(_))).count();
        let width = slots.iter().filter(|slot| matches!(slot, Slot::Text)).count();
        let chunk = Chunk {
            coded: vec![CodedRun::default(); coded],
            text: TextRows { width, ..TextRows::default() },
            ..Chunk::default()
        };
        ChunkBuilder { slots, chunk }
    }

    /// Takes the next cell of a column.
    #[inline]
    pub fn push(&mut self, column: usize, cell: &[u8]) {
        match self.slots[column] {
            Slot::Coded(at) => {
                self.chunk.coded[at].push(cell);
            }
            Slot::Text => {
                self.chunk.text.bytes.extend_from_slice(cell);
                self.chunk.text.ends.push(self.chunk.text.bytes.len() as u32);
            }
            Slot::Skip => {}
        }
    }

    /// Takes whole rows of a text, given where each cell starts and ends. A few rows at a time, which stay in the
    /// nearest caches: their coded columns one after the other, then their texts row by row.
    pub fn fill(&mut self, text: &[u8], rows: usize, cell: impl Fn(usize, usize) -> (usize, usize)) {
        let is_text = |column: &usize| matches!(self.slots[*column], Slot::Text);
        let text_columns: Vec<usize> = (0..self.slots.len()).filter(is_text).collect();
        let Chunk { coded, text: texts, .. } = &mut self.chunk;
        coded.iter_mut().for_each(|run| run.expect(rows));
        texts.ends.reserve(rows * text_columns.len());
        if !text_columns.is_empty() {
            // Room that is not used is never touched, so it costs nothing.
            texts.bytes.reserve(text.len());
        }
        for first in (0..rows).step_by(ROWS_AT_A_TIME) {
            let batch = first..rows.min(first + ROWS_AT_A_TIME);
            for (column, slot) in self.slots.iter().enumerate() {
                let Slot::Coded(at) = slot else { continue };
                let run = &mut coded[*at];
                for row in batch.clone() {
                    let (start, end) = cell(row, column);
                    run.push_at(text, start, end);
                }
            }
            for row in batch {
                for &column in &text_columns {
                    let (start, end) = cell(row, column);
                    append(&mut texts.bytes, text, start, end);
                    texts.ends.push(texts.bytes.len() as u32);
                }
            }
        }
        self.chunk.rows += rows;
    }

    /// Takes a null as the next cell of a column; `marker` stands for it wherever there are only texts.
    pub fn push_null(&mut self, column: usize, marker: &[u8]) {
        self.push_written(column, marker, Written::Null);
    }

    /// Takes the next cell of a column, which was written in a way that matters.
    pub fn push_written(&mut self, column: usize, cell: &[u8], written: Written) {
        if let Slot::Text = self.slots[column] {
            let text = &mut self.chunk.text;
            text.written.resize(text.ends.len(), Written::Text);
            text.written.push(written);
        }
        self.push(column, cell);
    }

    /// A coded column, to be filled at once.
    pub(super) fn coded_run(&mut self, at: usize) -> &mut CodedRun {
        &mut self.chunk.coded[at]
    }

    /// Bytes of passed-through text so far.
    pub fn text_bytes(&self) -> usize {
        self.chunk.text.bytes.len()
    }

    /// Ends a row.
    #[inline]
    pub fn end_row(&mut self) {
        self.chunk.rows += 1;
    }

    pub fn finish(mut self) -> Chunk {
        for run in &mut self.chunk.coded {
            run.recent = Recent::default();
        }
        self.chunk
    }
}
