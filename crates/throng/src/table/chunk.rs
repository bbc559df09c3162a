//! A run of consecutive rows, as a reader delivers it.
//!
//! Columns that methods look at are kept as numbers into a dictionary of the chunk; columns that are only
//! passed through are kept as text, row by row, because a release visits rows in random order and should
//! touch as few cache lines of each as it can.

use super::Storage;
use super::intern::Interner;

/// The rows of one piece of input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    pub rows: usize,
    pub coded: Vec<CodedRun>,
    pub text: TextRows,
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
}

/// The passed-through cells of a chunk, row after row.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextRows {
    bytes: Vec<u8>,
    /// Where each cell ends; `width` cells per row.
    ends: Vec<u32>,
    width: usize,
    /// Which cells were null, in formats that have nulls; cells past the end were not.
    nulls: Vec<bool>,
}

impl TextRows {
    /// The cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let first = row * self.width;
        let mut start = if first == 0 { 0 } else { self.ends[first - 1] as usize };
        self.ends[first..first + self.width].iter().map(move |&end| {
            let cell = &self.bytes[start..end as usize];
            start = end as usize;
            cell
        })
    }

    /// The cells of a row; `None` where they were null.
    pub fn nullable_row(&self, row: usize) -> impl Iterator<Item = Option<&[u8]>> {
        let first = row * self.width;
        let is_null = move |at: usize| self.nulls.get(first + at).copied().unwrap_or(false);
        self.row(row).enumerate().map(move |(at, cell)| (!is_null(at)).then_some(cell))
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
                let run = &mut self.chunk.coded[at];
                let code = run.values.intern(cell);
                run.codes.push(code);
            }
            Slot::Text => {
                self.chunk.text.bytes.extend_from_slice(cell);
                self.chunk.text.ends.push(self.chunk.text.bytes.len() as u32);
            }
            Slot::Skip => {}
        }
    }

    /// Takes a null as the next cell of a column; `marker` stands for it wherever there are only texts.
    pub fn push_null(&mut self, column: usize, marker: &[u8]) {
        if let Slot::Text = self.slots[column] {
            let text = &mut self.chunk.text;
            text.nulls.resize(text.ends.len(), false);
            text.nulls.push(true);
        }
        self.push(column, marker);
    }

    /// Ends a row.
    #[inline]
    pub fn end_row(&mut self) {
        self.chunk.rows += 1;
    }

    pub fn finish(self) -> Chunk {
        self.chunk
    }
}
