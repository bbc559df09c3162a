//! Looks at rows, and deals them to parts.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;

use super::state::{self, Dealt};
use super::{Block, Steps, block};
use crate::error::{Error, Result};
use crate::parallel;
use crate::run::in_parts;
use crate::scale::cuts::Cuts;
use crate::scale::rows::{self, NOWHERE};
use crate::scale::sketch::{Checksum, TableSketch};
use crate::scale::solve::Limit;
use crate::table::{Reading, Table};
use crate::watch::Watch;

impl Steps {
    /// A piece of the table.
    fn piece(&self, batches: Vec<RecordBatch>, watch: &dyn Watch) -> Result<Table> {
        let plan = |_: &[String]| Ok(self.storage.clone());
        let reading: Reading<'_> = self.plan.policy().reading(&plan, watch);
        let piece = Table::from_batches(self.schema.clone(), batches, &reading)?;
        in_parts::check_nested(&piece)?;
        Ok(piece)
    }
}

/// Sketches some rows.
pub struct Sketcher {
    steps: Arc<Steps>,
    sketch: TableSketch,
}

impl Sketcher {
    /// Of no rows yet.
    pub fn new(steps: Arc<Steps>) -> Self {
        let names: Vec<String> = steps.schema.fields().iter().map(|field| field.name().clone()).collect();
        let sketch = TableSketch::new(
            &names,
            &steps.storage,
            steps.plan.policy().method.seed,
            steps.job.sampled_cells,
        );
        Sketcher { steps, sketch }
    }

    /// Takes rows.
    pub fn add(&mut self, batches: Vec<RecordBatch>, watch: &dyn Watch) -> Result<()> {
        self.sketch.add(&self.steps.piece(batches, watch)?)
    }

    /// The state of all rows taken.
    pub fn finish(&self) -> Result<Vec<u8>> {
        state::encode(&self.sketch)
    }
}

/// Deals rows of the table to parts.
pub struct Dealer {
    steps: Arc<Steps>,
    cuts: Cuts,
    dealt: Dealt,
}

impl Dealer {
    /// Deals by cuts that the driver made.
    pub fn new(steps: Arc<Steps>, cuts: &[u8]) -> Result<Self> {
        let cuts: Cuts = state::decode(cuts)?;
        let dealt = Dealt::new(&steps.bound()?.known, cuts.parts(), true);
        Ok(Dealer { steps, cuts, dealt })
    }

    /// Deals some rows.
    pub fn deal(&mut self, batches: Vec<RecordBatch>, watch: &dyn Watch) -> Result<Vec<Block>> {
        let bound = self.steps.bound()?;
        let (known, layout) = (&bound.known, &bound.layout);
        let piece = self.steps.piece(batches, watch)?;
        let found = rows::rows(&piece, known, layout, self.steps.plan.policy().method.seed, bound.key)?;
        drop(piece);
        self.dealt.checksum.merge(&found.checksum);
        let part_of = |batch: RecordBatch| {
            let parts = rows::parts(&batch, known, layout, &self.cuts);
            (batch, parts)
        };
        let batches: Vec<(RecordBatch, Vec<u32>)> = parallel::map(found.batches, part_of);
        for (batch, part_of) in &batches {
            if let Some(counts) = &mut self.dealt.counts {
                rows::count(batch, part_of, known, layout, counts);
            }
            self.dealt.text_bytes += batch.columns()[layout.coded + 1..]
                .iter()
                .map(|own| own.get_buffer_memory_size() as u64)
                .sum::<u64>();
        }
        send(&self.steps, &batches, &mut self.dealt)
    }

    /// The state of all rows dealt.
    pub fn finish(&self) -> Result<Vec<u8>> {
        state::encode(&self.dealt)
    }
}

/// Deals the rows of a round whose classes came out too dear to the parts of the next.
pub struct Onward {
    steps: Arc<Steps>,
    cuts: Cuts,
    limit: Limit,
    dealt: Dealt,
}

impl Onward {
    /// Deals as the driver decided.
    pub fn new(steps: Arc<Steps>, limit: &[u8], cuts: &[u8]) -> Result<Self> {
        let (limit, cuts): (Limit, Cuts) = (state::decode(limit)?, state::decode(cuts)?);
        let dealt = Dealt::new(&steps.bound()?.known, cuts.parts(), false);
        Ok(Onward { steps, cuts, limit, dealt })
    }

    /// Deals the rows of some blocks.
    pub fn deal(&mut self, blocks: &[Vec<u8>]) -> Result<Vec<Block>> {
        let bound = self.steps.bound()?;
        let own: Vec<usize> = (0..bound.layout.schema.fields().len()).collect();
        let batches: Vec<(RecordBatch, Vec<u32>)> = parallel::try_map(blocks, |block| {
            let solved = block::decode(block, None)?;
            let steps = solved.column(own.len()).as_primitive::<UInt32Type>().values().to_vec();
            let batch = solved.project(&own).map_err(|_| Error::bug("rows without their own columns"))?;
            let mut part_of = rows::parts(&batch, &bound.known, &bound.layout, &self.cuts);
            let kept = steps.iter().map(|step| self.limit.keeps_step(*step));
            part_of.iter_mut().zip(kept).filter(|(_, kept)| *kept).for_each(|(part, _)| *part = NOWHERE);
            Ok((batch, part_of))
        })?;
        send(&self.steps, &batches, &mut self.dealt)
    }

    /// The state of all rows dealt.
    pub fn finish(&self) -> Result<Vec<u8>> {
        state::encode(&self.dealt)
    }
}

/// Counts rows that go to parts, and makes blocks of them.
fn send(steps: &Steps, batches: &[(RecordBatch, Vec<u32>)], dealt: &mut Dealt) -> Result<Vec<Block>> {
    let bound = steps.bound()?;
    for (batch, part_of) in batches {
        rows::count_parts(batch, part_of, &bound.known, &bound.layout, &mut dealt.of_parts);
        for (tie, part) in bound.layout.ties(batch).iter().zip(part_of).filter(|(_, part)| **part != NOWHERE)
        {
            dealt.sums[*part as usize].add(std::slice::from_ref(tie));
        }
    }
    let blocks = block::deal(batches, dealt.sums.len())?;
    dealt.bytes += blocks.iter().map(|(_, block)| block.len() as u64).sum::<u64>();
    Ok(blocks)
}

/// What the rows of some batches come to.
pub(super) fn checksum<'b>(ties: impl Iterator<Item = &'b [u64]>) -> Checksum {
    ties.fold(Checksum::default(), |mut sum, ties| {
        sum.add(ties);
        sum
    })
}
