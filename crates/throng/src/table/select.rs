//! Some rows of a piece of a table, to be put together with those of other pieces.

use super::chunk::{Chunk, ChunkBuilder, Slot};
use super::{Map, Table, Written};

impl Table {
    /// Some of its rows as a chunk with dictionaries of its own.
    pub(crate) fn chunk_of_rows(&self, rows: &[u32]) -> Chunk {
        let mut builder = ChunkBuilder::new(&self.slots);
        for (column, slot) in self.slots.iter().enumerate() {
            if let Slot::Coded(at) = slot {
                let (values, numbers) = (self.values(column), self.numbers(column));
                builder.take_numbers(*at, rows.iter().map(|row| numbers[*row as usize]), &values);
            }
        }
        let texts: Vec<usize> =
            (0..self.slots.len()).filter(|at| matches!(self.slots[*at], Slot::Text)).collect();
        for &row in rows {
            for (column, cell) in texts.iter().zip(self.nullable_text_row(row as usize)) {
                match cell {
                    Some(text) => builder.push(*column, text.as_bytes()),
                    None => builder.push_written(*column, b"", Written::Null),
                }
            }
            builder.end_row();
        }
        let mut chunk = builder.finish();
        chunk.lines = rows.len() as u64;
        chunk
    }

    /// A table like this one of other chunks.
    pub(crate) fn like(&self, chunks: Vec<Chunk>) -> Table {
        let table = Table::new(self.origin.clone(), self.names.clone(), self.storage.clone(), chunks);
        Table {
            dialect: self.dialect,
            schema: self.schema.clone(),
            nested: self.nested.clone(),
            has_nulls: self.has_nulls,
            ..table
        }
    }
}

impl ChunkBuilder<'_> {
    /// Takes the cells of a coded column, as numbers of texts.
    fn take_numbers(&mut self, at: usize, numbers: impl Iterator<Item = u32>, values: &[&str]) {
        let run = self.coded_run(at);
        let mut own: Map<u32, u32> = Map::default();
        for number in numbers {
            let code =
                *own.entry(number).or_insert_with(|| run.values.intern(values[number as usize].as_bytes()));
            run.codes.push(code);
        }
    }
}
