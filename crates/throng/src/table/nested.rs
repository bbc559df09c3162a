//! Columns of lists, structures and maps, which are passed through as they are or not at all.
//!
//! Their cells are kept as Arrow arrays beside a text, by which others can tell them apart. Arrays may hold more than their
//! cells say: values below a null, children that no row points to, dictionaries of values that no row has. So what is
//! published is rebuilt from its cells alone.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryArray, FixedSizeListArray,
    GenericListArray, LargeBinaryArray, LargeListArray, LargeStringArray, ListArray, MapArray, NullArray,
    OffsetSizeTrait, PrimitiveArray, StringArray, StructArray, UInt64Array, downcast_primitive_array,
    make_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};

use super::Table;
use super::gather::{interleave, take};
use super::types::{texts, unshared};
use crate::error::{Error, Result};

/// The type that a nested column is published with, if it can be passed through: dictionaries, runs and views within it
/// become the plain types of their values, and fields lose what others wrote beside them.
pub(crate) fn published(kind: &DataType) -> Option<DataType> {
    use DataType as T;
    let nested =
        matches!(kind, T::List(_) | T::LargeList(_) | T::FixedSizeList(..) | T::Struct(_) | T::Map(..));
    plain(kind).filter(|_| nested || matches!(kind, T::FixedSizeBinary(_)))
}

fn plain(kind: &DataType) -> Option<DataType> {
    use DataType as T;
    let field = |field: &FieldRef| -> Option<FieldRef> {
        Some(Arc::new(Field::new(field.name(), plain(field.data_type())?, field.is_nullable())))
    };
    Some(match kind {
        T::List(own) => T::List(field(own)?),
        T::LargeList(own) => T::LargeList(field(own)?),
        T::FixedSizeList(own, size) => T::FixedSizeList(field(own)?, *size),
        T::Map(own, sorted) => T::Map(field(own)?, *sorted),
        T::Struct(fields) => T::Struct(fields.iter().map(field).collect::<Option<_>>()?),
        T::Dictionary(_, values) => plain(values)?,
        T::RunEndEncoded(_, values) => plain(values.data_type())?,
        T::Utf8View => T::Utf8,
        T::BinaryView => T::Binary,
        T::Null
        | T::Boolean
        | T::Utf8
        | T::LargeUtf8
        | T::Binary
        | T::LargeBinary
        | T::FixedSizeBinary(_) => kind.clone(),
        other if other.is_primitive() => other.clone(),
        _ => return None,
    })
}

/// A column as it is kept, and the text of each of its cells; `None` for nulls.
pub(crate) fn kept(
    column: &ArrayRef,
    kind: &DataType,
) -> Result<(ArrayRef, Vec<Option<String>>), ArrowError> {
    let array = if column.data_type() == kind { column.clone() } else { plained(column, kind)? };
    let cells = Shown::new(&array)?;
    let text = |row: usize| {
        let mut text = String::new();
        array.is_valid(row).then(|| cells.push(row, &mut text)).map(|()| text)
    };
    let texts = (0..array.len()).map(text).collect();
    Ok((array, texts))
}

/// An array with the plain types that [`plain`] gives for those within it.
fn plained(array: &ArrayRef, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    use DataType as T;
    let nulls = array.nulls().cloned();
    Ok(match (array.data_type(), kind) {
        (own, _) if own == kind => array.clone(),
        (T::Dictionary(..) | T::RunEndEncoded(..), _) => plained(&unshared(array)?, kind)?,
        (T::Utf8View, _) => Arc::new(array.as_string_view().iter().collect::<StringArray>()),
        (T::BinaryView, _) => Arc::new(array.as_binary_view().iter().collect::<BinaryArray>()),
        (_, T::List(field)) => {
            let list = array.as_list::<i32>();
            let values = plained(list.values(), field.data_type())?;
            Arc::new(ListArray::try_new(field.clone(), list.offsets().clone(), values, nulls)?)
        }
        (_, T::LargeList(field)) => {
            let list = array.as_list::<i64>();
            let values = plained(list.values(), field.data_type())?;
            Arc::new(LargeListArray::try_new(field.clone(), list.offsets().clone(), values, nulls)?)
        }
        (_, T::FixedSizeList(field, size)) => {
            let values = plained(array.as_fixed_size_list().values(), field.data_type())?;
            let (field, length) = (field.clone(), array.len());
            Arc::new(FixedSizeListArray::try_new_with_length(field, *size, values, nulls, length)?)
        }
        (_, T::Struct(fields)) => {
            let columns = array.as_struct().columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| plained(column, field.data_type()));
            Arc::new(StructArray::try_new(fields.clone(), columns.collect::<Result<_, _>>()?, nulls)?)
        }
        (_, T::Map(field, sorted)) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = plained(&entries, field.data_type())?.as_struct().clone();
            Arc::new(MapArray::try_new(field.clone(), map.offsets().clone(), entries, nulls, *sorted)?)
        }
        (own, _) => return Err(ArrowError::CastError(format!("a nested {own}"))),
    })
}

/// Cells that can be written out, so that different ones have different texts.
struct Shown {
    nulls: Option<NullBuffer>,
    parts: Parts,
}

enum Parts {
    Bytes(ArrayRef),
    Texts(LargeStringArray),
    Lists(Vec<usize>, Box<Shown>),
    Fields(Vec<Shown>),
}

impl Shown {
    fn new(array: &ArrayRef) -> Result<Self, ArrowError> {
        use DataType as T;
        let wide = |offsets: &[i32]| offsets.iter().map(|offset| *offset as usize).collect();
        let parts = match array.data_type() {
            T::Binary | T::LargeBinary | T::FixedSizeBinary(_) => Parts::Bytes(array.clone()),
            T::List(_) => {
                let list = array.as_list::<i32>();
                Parts::Lists(wide(list.value_offsets()), Box::new(Shown::new(list.values())?))
            }
            T::LargeList(_) => {
                let list = array.as_list::<i64>();
                let offsets = list.value_offsets().iter().map(|offset| *offset as usize);
                Parts::Lists(offsets.collect(), Box::new(Shown::new(list.values())?))
            }
            T::FixedSizeList(_, size) => {
                let offsets = (0..=array.len()).map(|row| row * *size as usize);
                Parts::Lists(offsets.collect(), Box::new(Shown::new(array.as_fixed_size_list().values())?))
            }
            T::Map(..) => {
                let map = array.as_map();
                let entries: ArrayRef = Arc::new(map.entries().clone());
                Parts::Lists(wide(map.value_offsets()), Box::new(Shown::new(&entries)?))
            }
            T::Struct(_) => {
                let columns = array.as_struct().columns().iter().map(Shown::new);
                Parts::Fields(columns.collect::<Result<_, _>>()?)
            }
            _ => Parts::Texts(texts(array)?),
        };
        Ok(Shown { nulls: array.logical_nulls(), parts })
    }

    /// Appends a cell. Texts are quoted, so that none passes for a null or for two.
    fn push(&self, row: usize, text: &mut String) {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return text.push_str("null");
        }
        match &self.parts {
            Parts::Texts(texts) => *text += &format!("{:?}", texts.value(row)),
            Parts::Bytes(array) => {
                bytes_of(array, row).iter().for_each(|byte| *text += &format!("{byte:02x}"));
            }
            Parts::Lists(offsets, values) => {
                list(text, (offsets[row]..offsets[row + 1]).map(|at| (&**values, at)));
            }
            Parts::Fields(fields) => list(text, fields.iter().map(|field| (field, row))),
        }
    }
}

fn list<'a>(text: &mut String, cells: impl Iterator<Item = (&'a Shown, usize)>) {
    text.push('[');
    for (at, (cell, row)) in cells.enumerate() {
        text.push_str(if at == 0 { "" } else { ", " });
        cell.push(row, text);
    }
    text.push(']');
}

fn bytes_of(array: &ArrayRef, row: usize) -> &[u8] {
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        _ => array.as_fixed_size_binary().value(row),
    }
}

impl Table {
    /// Whether a column is passed through as a nested one.
    pub(crate) fn is_nested(&self, column: usize) -> bool {
        self.nested.contains(&column)
    }

    /// The cells of a nested column in some rows, and nothing else.
    pub(crate) fn nested_cells(&self, column: usize, rows: impl Iterator<Item = usize>) -> Result<ArrayRef> {
        let fail = || Error::bug("a nested column that cannot be taken apart");
        let at = self.nested.iter().position(|own| *own == column).ok_or_else(fail)?;
        let arrays: Vec<&dyn Array> =
            self.chunks.iter().map(|chunk| &*chunk.nested[at] as &dyn Array).collect();
        let place = |row: usize| {
            let chunk = self.chunk_of(row);
            (chunk, row - self.starts[chunk])
        };
        let places: Vec<(usize, usize)> = rows.map(place).collect();
        interleave(&arrays, &places).and_then(|array| rebuilt(&array)).map_err(|_| fail())
    }
}

/// An array that holds its cells and nothing else.
fn rebuilt(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    use DataType as T;
    Ok(match array.data_type() {
        T::Null => Arc::new(NullArray::new(array.len())),
        T::Boolean => Arc::new(array.as_boolean().iter().collect::<BooleanArray>()),
        T::Utf8 => Arc::new(array.as_string::<i32>().iter().collect::<StringArray>()),
        T::LargeUtf8 => Arc::new(array.as_string::<i64>().iter().collect::<LargeStringArray>()),
        T::Binary => Arc::new(array.as_binary::<i32>().iter().collect::<BinaryArray>()),
        T::LargeBinary => Arc::new(array.as_binary::<i64>().iter().collect::<LargeBinaryArray>()),
        T::FixedSizeBinary(size) => Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(
            array.as_fixed_size_binary().iter(),
            *size,
        )?),
        T::List(field) => rebuilt_list(array.as_list::<i32>(), field)?,
        T::LargeList(field) => rebuilt_list(array.as_list::<i64>(), field)?,
        T::Map(field, sorted) => rebuilt_map(array.as_map(), field, *sorted)?,
        T::Struct(fields) => {
            let own = array.as_struct();
            let columns = own.columns().iter().map(|column| below(array, column, 1));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            match columns.is_empty() {
                true => Arc::new(StructArray::new_empty_fields(own.len(), own.nulls().cloned())),
                false => Arc::new(StructArray::try_new(fields.clone(), columns, own.nulls().cloned())?),
            }
        }
        T::FixedSizeList(field, size) => {
            let values = below(array, array.as_fixed_size_list().values(), *size as usize)?;
            let nulls = array.nulls().cloned();
            Arc::new(FixedSizeListArray::try_new_with_length(
                field.clone(),
                *size,
                values,
                nulls,
                array.len(),
            )?)
        }
        _ => downcast_primitive_array!(
            array => rebuilt_primitive(array),
            _ => return Err(ArrowError::NotYetImplemented("a nested type".to_owned())),
        ),
    })
}

fn rebuilt_primitive<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> ArrayRef {
    let cells = array.iter().collect::<PrimitiveArray<T>>().with_data_type(array.data_type().clone());
    make_array(cells.into_data())
}

/// The children of an array that has so many for each row, without those of its nulls.
fn below(array: &ArrayRef, children: &ArrayRef, each: usize) -> Result<ArrayRef, ArrowError> {
    let child = |row: usize| (0..each).map(move |at| array.is_valid(row).then_some((row * each + at) as u64));
    let places: UInt64Array = (0..array.len()).flat_map(child).collect();
    rebuilt(&take(children, &places)?)
}

fn rebuilt_list<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    field: &FieldRef,
) -> Result<ArrayRef, ArrowError> {
    let (lengths, places) = ranges(list, list.value_offsets().iter().map(|offset| offset.as_usize()));
    let values = rebuilt(&take(list.values(), &places)?)?;
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(GenericListArray::<O>::try_new(field.clone(), offsets, values, list.nulls().cloned())?))
}

fn rebuilt_map(map: &MapArray, field: &FieldRef, sorted: bool) -> Result<ArrayRef, ArrowError> {
    let (lengths, places) = ranges(map, map.value_offsets().iter().map(|offset| *offset as usize));
    let entries: ArrayRef = Arc::new(map.entries().clone());
    let entries = rebuilt(&take(&entries, &places)?)?.as_struct().clone();
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(MapArray::try_new(field.clone(), offsets, entries, map.nulls().cloned(), sorted)?))
}

/// How many children each row has, and where they are; nulls have none.
fn ranges(array: &dyn Array, offsets: impl Iterator<Item = usize>) -> (Vec<usize>, UInt64Array) {
    let offsets: Vec<usize> = offsets.collect();
    let of_row = |row: usize| if array.is_valid(row) { offsets[row]..offsets[row + 1] } else { 0..0 };
    let lengths = (0..array.len()).map(|row| of_row(row).len()).collect();
    (lengths, (0..array.len()).flat_map(of_row).map(|place| place as u64).collect())
}
