//! A release of record batches in the hands of those who asked for it: written to files, with the types of its table, in
//! classes. All of it looks at the batches alone, which an audit has read; how they came about nobody asks any more.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, LargeStringArray, PrimitiveArray, RecordBatch, make_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Schema, SchemaRef};

use super::{Batches, Output};
use crate::classes::Classes;
use crate::error::{Error, ErrorCode, Result};
use crate::format::{
    AnySyntax, Batched, Format, InSyntax, Syntax, Target, Value, Writable, not_encoded, push_row,
};
use crate::formula::Formulas;
use crate::parallel;
use crate::table::types::{self, Texts};
use crate::table::{Dialect, Map};
use crate::watch::Watch;

/// Rows that one thread spells at a time.
const ROWS_PER_BLOCK: usize = 1 << 14;

impl Batches {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Writes them to a file in the format that its name tells, which appears complete or not at all. `missing` is what
    /// text has in place of nulls: the first marker of the policy, as the command line writes it. `formulas` is what becomes of
    /// cells that a spreadsheet would run, where the file is delimited text.
    pub fn write(&self, path: &Path, missing: &str, formulas: Formulas, watch: &dyn Watch) -> Result<()> {
        let mut output = Output::create(path)?;
        let mut encoder = output.encoder()?;
        Format::of(path).write_to(&Held { batches: self, missing, formulas }, &mut encoder, path, watch)?;
        encoder.finish().map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))?;
        // Nobody waits any more for what was stopped, so it must not appear.
        watch.check()?;
        output.publish()
    }

    /// The same rows, where the columns of these names have the types that they have in the schema of the table. A column
    /// whose cells do not fit keeps the type that it has.
    pub fn with_types_of(&self, schema: &Schema, names: &[String]) -> Batches {
        let mut columns: Vec<Vec<ArrayRef>> = (0..self.schema.fields().len())
            .map(|at| self.batches.iter().map(|batch| batch.column(at).clone()).collect())
            .collect();
        let mut fields: Vec<_> = self.schema.fields().iter().cloned().collect();
        for (at, field) in self.schema.fields().iter().enumerate() {
            let own = schema.field_with_name(field.name()).ok().filter(|_| names.contains(field.name()));
            let Some(kind) =
                own.map(arrow_schema::Field::data_type).filter(|kind| *kind != field.data_type())
            else {
                continue;
            };
            let typed: Option<Vec<ArrayRef>> =
                parallel::map(&columns[at], |cells| typed(cells, kind)).into_iter().collect();
            if let Some(typed) = typed {
                columns[at] = typed;
                fields[at] = Arc::new(field.as_ref().clone().with_data_type(kind.clone()));
            }
        }
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let batch = |at: usize| {
            let cells = columns.iter().map(|column| column[at].clone()).collect();
            RecordBatch::try_new(schema.clone(), cells)
        };
        let batches: Option<Vec<RecordBatch>> = (0..self.batches.len()).map(|at| batch(at).ok()).collect();
        batches.map_or_else(|| self.clone(), |batches| Batches { schema: schema.clone(), batches })
    }

    /// The class of each row: rows with equal cells in the columns of these names. Classes are numbered from 0 in the order
    /// in which they come.
    pub fn classes(&self, names: &[String]) -> Result<Vec<u32>> {
        let chosen =
            (0..self.schema.fields().len()).filter(|at| names.contains(self.schema.field(*at).name()));
        let columns: Vec<Vec<u32>> = chosen.map(|at| self.numbers(at)).collect::<Result<_>>()?;
        let classes = Classes::group_numbers(&columns, self.rows());
        let mut class_of = vec![0; self.rows()];
        for class in 0..classes.len() {
            classes.rows(class).iter().for_each(|row| class_of[*row as usize] = class as u32);
        }
        let mut order: Map<u32, u32> = Map::default();
        for class in &mut class_of {
            let next = order.len() as u32;
            *class = *order.entry(*class).or_insert(next);
        }
        Ok(class_of)
    }

    /// A number for each cell of a column, the same for equal cells.
    fn numbers(&self, at: usize) -> Result<Vec<u32>> {
        let mut known: Map<Option<String>, u32> = Map::default();
        let mut numbers = Vec::with_capacity(self.rows());
        for batch in &self.batches {
            let texts = Texts::of(batch.column(at)).map_err(|_| not_encoded())?;
            let distinct = |row: usize| texts.get(row).map(str::to_owned);
            match batch.column(at).as_any_dictionary_opt() {
                // Each place of a dictionary is looked up once.
                Some(dictionary) => {
                    let keys = if dictionary.values().is_empty() {
                        vec![0; batch.num_rows()]
                    } else {
                        dictionary.normalized_keys()
                    };
                    let mut of_place: Vec<Option<u32>> = vec![None; dictionary.values().len() + 1];
                    for (row, &key) in keys.iter().enumerate() {
                        let place = if dictionary.is_null(row) { dictionary.values().len() } else { key };
                        let next = known.len() as u32;
                        let number = *of_place[place]
                            .get_or_insert_with(|| *known.entry(distinct(row)).or_insert(next));
                        numbers.push(number);
                    }
                }
                None => numbers.extend((0..batch.num_rows()).map(|row| {
                    let next = known.len() as u32;
                    *known.entry(distinct(row)).or_insert(next)
                })),
            }
        }
        Ok(numbers)
    }
}

/// Cells with another type; `None` if one does not fit.
fn typed(cells: &ArrayRef, kind: &DataType) -> Option<ArrayRef> {
    let texts = types::texts(cells).ok()?;
    match kind {
        DataType::Dictionary(keys, values) => dictionary(&texts, keys, values),
        other if types::published(other) == *other && types::readable(other) => {
            types::typed(&texts, other).ok()
        }
        _ => None,
    }
}

/// Texts as a dictionary that holds each of them once, sorted: it tells no more than the cells do.
fn dictionary(texts: &LargeStringArray, keys: &DataType, values: &DataType) -> Option<ArrayRef> {
    let distinct: BTreeSet<&str> = texts.iter().flatten().collect();
    let sorted: Vec<&str> = distinct.into_iter().collect();
    let places: Vec<Option<usize>> =
        texts.iter().map(|text| text.and_then(|text| sorted.binary_search(&text).ok())).collect();
    let values = types::typed(&LargeStringArray::from_iter_values(&sorted), values).ok()?;
    match keys {
        DataType::Int8 => with_keys::<Int8Type>(&places, values),
        DataType::Int16 => with_keys::<Int16Type>(&places, values),
        DataType::Int32 => with_keys::<Int32Type>(&places, values),
        DataType::Int64 => with_keys::<Int64Type>(&places, values),
        DataType::UInt8 => with_keys::<UInt8Type>(&places, values),
        DataType::UInt16 => with_keys::<UInt16Type>(&places, values),
        DataType::UInt32 => with_keys::<UInt32Type>(&places, values),
        DataType::UInt64 => with_keys::<UInt64Type>(&places, values),
        _ => None,
    }
}

fn with_keys<K: ArrowDictionaryKeyType>(places: &[Option<usize>], values: ArrayRef) -> Option<ArrayRef> {
    let key = |place: &Option<usize>| match place {
        Some(place) => K::Native::from_usize(*place).map(Some),
        None => Some(None),
    };
    let keys: Option<Vec<Option<K::Native>>> = places.iter().map(key).collect();
    let keys = PrimitiveArray::<K>::from_iter(keys?);
    Some(make_array(DictionaryArray::try_new(keys, values).ok()?.into_data()))
}

/// Batches as a table to be written.
struct Held<'a> {
    batches: &'a Batches,
    missing: &'a str,
    formulas: Formulas,
}

impl Held<'_> {
    fn write_in(&self, syntax: &impl Syntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        let place = target.place().to_owned();
        let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write", &place, &cause);
        let mut head = Vec::new();
        syntax.head(&self.names(), &mut head);
        target.write_all(&head).map_err(fail)?;
        for batch in &self.batches.batches {
            watch.check()?;
            let starts: Vec<usize> = (0..batch.num_rows()).step_by(ROWS_PER_BLOCK).collect();
            let block = |start: usize| {
                let rows = ROWS_PER_BLOCK.min(batch.num_rows() - start);
                self.lines(&batch.slice(start, rows), syntax)
            };
            let blocks: Vec<Vec<u8>> = parallel::try_map(starts, block)?;
            blocks.iter().try_for_each(|block| target.write_all(block)).map_err(fail)?;
        }
        Ok(())
    }

    fn lines(&self, batch: &RecordBatch, syntax: &impl Syntax) -> Result<Vec<u8>> {
        lines(batch, self.missing, syntax)
    }
}

/// The rows of a batch as lines; `missing` is what text has in place of nulls.
pub(super) fn lines(batch: &RecordBatch, missing: &str, syntax: &impl Syntax) -> Result<Vec<u8>> {
    let mut columns = Vec::new();
    for (at, cells) in batch.columns().iter().enumerate() {
        let texts = Texts::of(cells).map_err(|_| nested(&batch.schema(), at))?;
        columns.push((texts, is_bare(cells.data_type())));
    }
    let mut text = Vec::new();
    for row in 0..batch.num_rows() {
        let cells = columns.iter().map(|(texts, bare)| match (texts.get(row), bare) {
            (None, _) => Value::Null(missing),
            (Some(text), true) => Value::Bare(text),
            (Some(text), false) => Value::Text(text),
        });
        push_row(syntax, cells, &mut text);
    }
    Ok(text)
}

fn nested(schema: &Schema, at: usize) -> Error {
    Error::new(ErrorCode::NestedValue, "a column of lists or structures cannot be written as text")
        .for_attribute(schema.field(at).name())
        .with_hint("write Parquet or Arrow, or make the column an identifier to leave it out")
}

/// Quasi-identifiers, sensitive and class columns have dictionaries and are texts, whatever they say.
fn is_bare(kind: &DataType) -> bool {
    kind.is_numeric() || *kind == DataType::Boolean
}

impl Writable for Held<'_> {
    fn names(&self) -> Vec<&str> {
        self.batches.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn dialect(&self) -> Option<Dialect> {
        None
    }

    fn formulas(&self) -> Formulas {
        self.formulas
    }

    fn write_lines(&self, syntax: &AnySyntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        syntax.run(Writing { held: self, target, watch })
    }

    fn batches(&self) -> Result<Box<dyn Batched + '_>> {
        Ok(Box::new(Held { ..*self }))
    }
}

/// Batches on their way into a text.
struct Writing<'a, 't> {
    held: &'a Held<'a>,
    target: &'a mut Target<'t>,
    watch: &'a dyn Watch,
}

impl InSyntax for Writing<'_, '_> {
    type Output = Result<()>;

    fn run(self, syntax: &impl Syntax) -> Result<()> {
        self.held.write_in(syntax, self.target, self.watch)
    }
}

impl Batched for Held<'_> {
    fn schema(&self) -> SchemaRef {
        self.batches.schema.clone()
    }

    fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()> {
        self.batches.batches.iter().cloned().try_for_each(|batch| watch.check().and_then(|()| take(batch)))
    }
}
