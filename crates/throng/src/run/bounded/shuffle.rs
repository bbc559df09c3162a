//! The rows of a release, in the order of their lots.
//!
//! Every row has a lot, drawn from the secret for its place in its part's own order. Rows are dealt to files by the first bits of
//! their lots while parts are done; then each file is sorted by lots and written. The order is that of independent random
//! numbers: it tells nothing of parts, classes or the table.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, LargeStringArray, PrimitiveArray, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take;

use super::spill::{Spill, Spilled};
use crate::collections::Map;
use crate::error::{Error, ErrorCode, Result};
use crate::format::{Batched, not_encoded};
use crate::parallel;
use crate::policy::Policy;
use crate::scale::columns::{Column, columns, shown};
use crate::scale::known::Known;
use crate::scale::rows::{Layout, NOWHERE};
use crate::scale::solve::SolvedPart;
use crate::table::types;
use crate::watch::Watch;

/// Rows of a batch that is written.
const ROWS_PER_BATCH: usize = 1 << 16;

/// Distinct cells of a column, numbered as they come.
#[derive(Default)]
struct Cells {
    texts: Vec<String>,
    numbers: Map<String, u32>,
    /// Whether some row has it.
    occurs: Vec<bool>,
}

impl Cells {
    fn number(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            self.occurs.push(false);
            next
        })
    }

    fn occurs(&mut self, number: u32) {
        self.occurs[number as usize] = true;
    }

    /// The cells sorted, without those that no row has: neither order nor content of a dictionary may tell more than the cells
    /// do. What stands for a null is one.
    fn sorted(self, null_text: Option<&str>) -> Published {
        let occurring = self.texts.iter().zip(&self.occurs).filter(|(_, occurs)| **occurs);
        let mut sorted: Vec<&str> = occurring.map(|(text, _)| text.as_str()).collect();
        sorted.retain(|text| null_text != Some(*text));
        sorted.sort_unstable();
        let place = |text: &String| sorted.binary_search(&text.as_str()).ok().map(|at| at as i32);
        let places = self.texts.iter().map(place).collect();
        Published::Sorted(Arc::new(StringArray::from_iter_values(&sorted)), places)
    }
}

/// What becomes of a row: whether it is kept, its class and its lot.
pub(super) type Dealt = (bool, u32, u64);

/// A release while rows are dealt to it.
pub(super) struct Released<'a> {
    known: &'a Known,
    layout: &'a Layout,
    columns: Vec<(String, Column)>,
    /// The cells of each column that has a dictionary.
    cells: Vec<Cells>,
    /// For each column of values, the cell of each number.
    cell_of_number: Vec<Vec<u32>>,
    /// For each quasi-identifier, the cell of each class of the part at hand.
    cell_of_class: Vec<Vec<u32>>,
    spill: Spill,
    /// How many of a lot's first bits tell its file.
    bits: u32,
    row_bytes: u64,
}

impl<'a> Released<'a> {
    /// Deals rows to so many files, a power of two, in a folder.
    pub fn new(
        known: &'a Known,
        layout: &'a Layout,
        policy: &Policy,
        schema: Option<&Schema>,
        folder: &Path,
        files: usize,
        row_bytes: u64,
    ) -> Self {
        let columns = columns(known, layout, policy, schema);
        let mut cells: Vec<Cells> = columns.iter().map(|_| Cells::default()).collect();
        let mut cell_of_number = vec![Vec::new(); columns.len()];
        for (at, (_, column)) in columns.iter().enumerate() {
            if let Column::Values(coded) = column {
                cell_of_number[at] =
                    shown(known, *coded).into_iter().map(|text| cells[at].number(text)).collect();
            }
        }
        let dealt = columns.iter().map(|(name, column)| match column {
            Column::Classes(_) | Column::Values(_) => Field::new(name, DataType::UInt32, false),
            Column::Text(..) => Field::new(name, DataType::LargeUtf8, true),
        });
        let lot = Field::new("lot", DataType::UInt64, false);
        let dealt = Arc::new(Schema::new([lot].into_iter().chain(dealt).collect::<Vec<_>>()));
        Released {
            known,
            layout,
            cells,
            cell_of_number,
            cell_of_class: vec![Vec::new(); known.problem.attributes.len()],
            spill: Spill::new(folder, "release", dealt, files),
            bits: files.trailing_zeros(),
            columns,
            row_bytes,
        }
    }

    /// About the bytes of a row in memory.
    pub fn row_bytes(&self) -> u64 {
        self.row_bytes
    }

    /// The classes that rows are dealt of from now on, and which of them are kept.
    pub fn take_classes(&mut self, part: &SolvedPart, kept: &[bool]) {
        for at in 0..self.columns.len() {
            let Column::Classes(attribute) = self.columns[at].1 else { continue };
            let domain = &self.known.problem.attributes[attribute].domain;
            let mut known: Map<(u32, u32), u32> = Map::default();
            let cells = &mut self.cells[at];
            let cell = |ends: &(u32, u32)| {
                *known.entry(*ends).or_insert_with(|| cells.number(domain.cell(ends.0, ends.1)))
            };
            self.cell_of_class[attribute] = part.ends[attribute].iter().map(cell).collect();
            let published = self.cell_of_class[attribute].iter().zip(kept).filter(|(_, kept)| **kept);
            published.for_each(|(number, _)| cells.occurs(*number));
        }
    }

    /// Deals rows: for each whether it is kept, its class and its lot.
    pub fn deal(&mut self, batches: &[(&RecordBatch, Vec<Dealt>)]) -> Result<()> {
        let made: Vec<(RecordBatch, Vec<u32>)> = parallel::try_map(batches, |(batch, of_rows)| {
            let made = self.batch(batch, of_rows)?;
            let file = |(kept, _, lot): &Dealt| match kept {
                true if self.bits == 0 => 0,
                true => (lot >> (64 - self.bits)) as u32,
                false => NOWHERE,
            };
            Ok((made, of_rows.iter().map(file).collect()))
        })?;
        for (at, (_, column)) in self.columns.iter().enumerate() {
            if let Column::Values(_) = column {
                for (batch, file_of) in &made {
                    let numbers = batch.column(at + 1).as_primitive::<UInt32Type>().values();
                    let published = numbers.iter().zip(file_of).filter(|(_, file)| **file != NOWHERE);
                    published.for_each(|(number, _)| self.cells[at].occurs(*number));
                }
            }
        }
        self.spill.deal(&made)
    }

    fn batch(&self, batch: &RecordBatch, of_rows: &[Dealt]) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> =
            vec![Arc::new(UInt64Array::from_iter_values(of_rows.iter().map(|(_, _, lot)| *lot)))];
        for (at, (_, column)) in self.columns.iter().enumerate() {
            arrays.push(match column {
                Column::Classes(attribute) => {
                    let cells = &self.cell_of_class[*attribute];
                    let of_row = of_rows.iter().map(|(_, class, _)| cells[*class as usize]);
                    Arc::new(UInt32Array::from_iter_values(of_row))
                }
                Column::Values(coded) => {
                    let cells = &self.cell_of_number[at];
                    let numbers = self.layout.numbers(batch, *coded).iter();
                    Arc::new(UInt32Array::from_iter_values(numbers.map(|number| cells[*number as usize])))
                }
                Column::Text(place, _) => batch.column(*place).clone(),
            });
        }
        RecordBatch::try_new(self.spill.schema(), arrays).map_err(|_| not_encoded())
    }

    /// Ends dealing.
    pub fn finish(self, null_text: Option<&str>) -> Result<Shuffled> {
        let Released { columns, cells, spill, .. } = self;
        let files = spill.finish()?;
        let mut published = Vec::new();
        let mut fields = Vec::new();
        for ((name, column), cells) in columns.into_iter().zip(cells) {
            let (kind, own) = match column {
                Column::Classes(_) | Column::Values(_) => {
                    let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                    (kind, cells.sorted(null_text))
                }
                Column::Text(_, kind) => (kind.clone(), Published::Text(kind)),
            };
            fields.push(Field::new(name, kind, true));
            published.push(own);
        }
        Ok(Shuffled { schema: Arc::new(Schema::new(fields)), published, files })
    }
}

enum Published {
    /// A dictionary of cells that are published, sorted, and the place in it of each number.
    Sorted(ArrayRef, Vec<Option<i32>>),
    Text(DataType),
}

/// A release in files by lot.
pub(super) struct Shuffled {
    pub schema: SchemaRef,
    published: Vec<Published>,
    pub files: Vec<Spilled>,
}

impl Shuffled {
    /// Bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The rows of some files as a table to be written.
    pub fn of_files(&self, files: std::ops::Range<usize>) -> SomeFiles<'_> {
        SomeFiles { shuffled: self, files }
    }

    /// The rows of a file in the order of their lots.
    fn sorted(&self, file: &Spilled) -> Result<Vec<RecordBatch>> {
        let batches = file.read(None)?.collect::<Result<Vec<RecordBatch>>>()?;
        let Some(first) = batches.first() else { return Ok(Vec::new()) };
        let whole = concat_batches(&first.schema(), &batches).map_err(|_| not_encoded())?;
        drop(batches);
        let lots = whole.column(0).as_primitive::<UInt64Type>().values();
        let mut order: Vec<u32> = (0..lots.len() as u32).collect();
        parallel::sort_by(&mut order, &|one, other| {
            lots[one as usize].cmp(&lots[other as usize]).then(one.cmp(&other))
        });
        let chunks: Vec<&[u32]> = order.chunks(ROWS_PER_BATCH).collect();
        let batch = |rows: &[u32]| self.batch(&whole, rows);
        parallel::try_map(chunks, batch)
    }

    fn batch(&self, whole: &RecordBatch, rows: &[u32]) -> Result<RecordBatch> {
        let rows = UInt32Array::from(rows.to_vec());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.published.len());
        for (at, own) in self.published.iter().enumerate() {
            let cells = take(whole.column(at + 1), &rows, None).map_err(|_| not_encoded())?;
            arrays.push(match own {
                Published::Sorted(dictionary, places) => {
                    let numbers = cells.as_primitive::<UInt32Type>().values();
                    let keys: Int32Array = numbers.iter().map(|number| places[*number as usize]).collect();
                    let keys: PrimitiveArray<Int32Type> = keys;
                    let cells = DictionaryArray::try_new(keys, dictionary.clone());
                    Arc::new(cells.map_err(|_| not_encoded())?)
                }
                Published::Text(kind) => self.typed(cells.as_string::<i64>(), kind, at)?,
            });
        }
        RecordBatch::try_new(self.schema.clone(), arrays).map_err(|_| not_encoded())
    }

    fn typed(&self, texts: &LargeStringArray, kind: &DataType, at: usize) -> Result<ArrayRef> {
        types::typed(texts, kind).map_err(|_| {
            Error::new(ErrorCode::CellDoesNotFit, format!("a cell cannot be written as {kind}"))
                .for_attribute(self.schema.field(at).name())
                .with_hint("give the column as text, or make it an identifier to leave it out")
        })
    }
}

/// Rows of some files of a release.
pub(super) struct SomeFiles<'a> {
    shuffled: &'a Shuffled,
    files: std::ops::Range<usize>,
}

impl Batched for SomeFiles<'_> {
    fn schema(&self) -> SchemaRef {
        self.shuffled.schema.clone()
    }

    fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Vec<RecordBatch>>(1);
            let taken = scope.spawn(move || receiver.into_iter().flatten().try_for_each(take));
            for file in &self.shuffled.files[self.files.clone()] {
                watch.check()?;
                let batches = self.shuffled.sorted(file)?;
                watch.advance(file.rows);
                // The receiver is gone only after a failure, which is told below.
                if sender.send(batches).is_err() {
                    break;
                }
            }
            drop(sender);
            match taken.join() {
                Ok(outcome) => outcome,
                Err(_) => Err(Error::bug("the writing thread failed")),
            }
        })
    }
}
