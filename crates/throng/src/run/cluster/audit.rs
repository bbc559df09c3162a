//! The audit of a release that lies on many machines: its rows are dealt by their published cells, so that every class is whole on
//! one of them, and what is measured merges.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};

use super::state::{self, Released};
use super::{Block, Steps, block};
use crate::audit::{audit_part, storage};
use crate::collections::Arrange;
use crate::error::Result;
use crate::run::bounded::audited::part_of_rows;
use crate::table::Table;
use crate::watch::Watch;

impl Steps {
    /// Rows of the release as its recipients have them.
    fn received(&self, schema: SchemaRef, batches: Vec<RecordBatch>, watch: &dyn Watch) -> Result<Table> {
        let problem = &self.bound()?.known.problem;
        let plan = |names: &[String]| Ok(storage(problem, names));
        let reading = self.plan.policy().reading(&plan, watch).named("the release");
        Table::from_batches(schema, batches, &reading)
    }

    /// Measures the rows of a part of a release that has so many rows in all, given its blocks in any order.
    pub fn audit(&self, blocks: &[Vec<u8>], rows: u64, watch: &dyn Watch) -> Result<Vec<u8>> {
        let mut placed: Vec<(&[u8], &[u8])> =
            blocks.iter().filter_map(|block| block.split_at_checked(PLACE)).collect();
        placed.arrange();
        let decode = |(_, block): (&[u8], &[u8])| block::decode(block, None);
        let batches: Vec<RecordBatch> = placed.into_iter().map(decode).collect::<Result<_>>()?;
        let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
        let table = self.received(schema, batches, watch)?;
        let problem = &self.bound()?.known.problem;
        let elsewhere = rows.saturating_sub(table.len() as u64);
        state::encode(&audit_part(problem, self.plan.policy(), &table, elsewhere, watch)?)
    }
}

/// Bytes before a block that tell its place in the release: rows are measured in the order of the release, because that decides which
/// classes stand in the report as examples.
const PLACE: usize = 16;

/// Deals rows of the release to parts of its audit.
pub struct AuditDealer {
    steps: Arc<Steps>,
    parts: u64,
    /// Which piece of the release this is, and the next place in it.
    place: (u64, u64),
    released: Released,
}

impl AuditDealer {
    /// Deals a piece of the release to so many parts.
    pub fn new(steps: Arc<Steps>, parts: u64, piece: u64) -> Self {
        AuditDealer { steps, parts: parts.max(1), place: (piece, 0), released: Released::default() }
    }

    /// Deals some rows.
    pub fn deal(&mut self, batches: Vec<RecordBatch>, watch: &dyn Watch) -> Result<Vec<Block>> {
        let Some(first) = batches.first() else { return Ok(Vec::new()) };
        let piece = self.steps.received(first.schema(), batches.clone(), watch)?;
        self.released.rows += piece.len() as u64;
        self.released.shown.add(&piece)?;
        let mut part_of = part_of_rows(&self.steps.bound()?.known.problem, &piece, self.parts)?.into_iter();
        let with_parts = batches.into_iter().map(|batch| {
            let own = part_of.by_ref().take(batch.num_rows()).map(|part| part as u32).collect();
            (batch, own)
        });
        let mut blocks = block::deal(&with_parts.collect::<Vec<_>>(), self.parts as usize)?;
        let place = [self.place.0.to_be_bytes(), self.place.1.to_be_bytes()].concat();
        self.place.1 += 1;
        blocks.iter_mut().for_each(|(_, block)| *block = [&place[..], block].concat());
        self.released.bytes += blocks.iter().map(|(_, block)| block.len() as u64).sum::<u64>();
        Ok(blocks)
    }

    /// The state of all rows dealt.
    pub fn finish(&self) -> Result<Vec<u8>> {
        state::encode(&self.released)
    }
}
