//! A part becomes classes, and classes rows of the release.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::deal::checksum;
use super::state::{self, Solved};
use super::{Round, Steps, block};
use crate::collections::Map;
use crate::error::{Error, ErrorCode, Result};
use crate::format::not_encoded;
use crate::parallel;
use crate::scale::columns::Column;
use crate::scale::rows::changed;
use crate::scale::solve::{
    GainCounts, Limit, PartId, PartRows, RoundSample, SolvedPart, Standing, lots, solve, step,
};
use crate::table::gather::interleave_batches;
use crate::table::types;
use crate::watch::Watch;

impl Steps {
    /// Solves a part, given all of its blocks in any order: blocks with the classes of their rows, and a state.
    pub fn solve(
        &self,
        round: &[u8],
        part: u32,
        blocks: &[Vec<u8>],
        watch: &dyn Watch,
    ) -> Result<(Vec<Vec<u8>>, Vec<u8>)> {
        let round: Round = state::decode(round)?;
        let bound = self.bound()?;
        let id = PartId { round: round.number, part };
        let rows = self.rows_of(&round, part, blocks)?;
        let mut sample = RoundSample::default();
        let cell = round.cells.get(part as usize).ok_or_else(changed)?;
        let found = solve(
            &self.plan,
            &bound.known,
            rows,
            Standing { id, cell, round: round.records },
            &mut sample,
            watch,
        )?;
        let lots = lots(&self.plan, id, found.class_of.len());
        let mut first = 0;
        let mut solved = Vec::with_capacity(blocks.len());
        for block in blocks {
            watch.check()?;
            let batch = block::decode(block, None)?;
            solved.push(block::encode(&with_classes(&batch, &found, &lots, first)?)?);
            first += batch.num_rows();
        }
        let mut gains = GainCounts::default();
        gains.add(&found);
        let bytes = solved.iter().map(|block| block.len() as u64).sum();
        let mut facts = BTreeMap::new();
        facts.insert(part, found.facts);
        let told = Solved { gains, sample, facts, bytes };
        Ok((solved, state::encode(&told)?))
    }

    /// The rows of a part, if they are those that were dealt to it.
    fn rows_of(&self, round: &Round, part: u32, blocks: &[Vec<u8>]) -> Result<PartRows> {
        let layout = &self.bound()?.layout;
        let decode = |block: &Vec<u8>| block::decode(block, Some(layout.without_texts()));
        let batches: Vec<RecordBatch> = parallel::try_map(blocks, decode)?;
        let expected = round.expected.get(part as usize);
        if expected != Some(&checksum(batches.iter().map(|batch| layout.ties(batch)))) {
            return Err(changed());
        }
        let numbers =
            |at: usize| batches.iter().flat_map(|batch| layout.numbers(batch, at)).copied().collect();
        Ok(PartRows {
            numbers: (0..layout.coded).map(numbers).collect(),
            ties: batches.iter().flat_map(|batch| layout.ties(batch)).copied().collect(),
        })
    }

    /// The columns of the release, and the one that its rows are sorted by.
    pub fn release_schema(&self, lot: &str) -> Result<SchemaRef> {
        let fields = self.bound()?.columns.iter().map(|(name, column)| match column {
            Column::Classes(_) | Column::Values(_) => Field::new(name, DataType::Utf8, true),
            Column::Text(_, kind) => Field::new(name, kind.clone(), true),
        });
        Ok(Arc::new(Schema::new(fields.chain([Field::new(lot, DataType::Int64, false)]).collect::<Vec<_>>())))
    }

    /// The columns of the release, and whether each has the type that it has in the table.
    pub fn release_columns(&self) -> Result<Vec<(String, bool)>> {
        let of = |(name, column): &(String, Column)| {
            let own = self.schema.field_with_name(name).map(Field::data_type).ok();
            (name.clone(), matches!(column, Column::Text(_, kind) if own == Some(kind)))
        };
        Ok(self.bound()?.columns.iter().map(of).collect())
    }

    /// The rows of some blocks whose classes are kept, as they are published, each with its lot.
    pub fn publish(&self, limit: &[u8], blocks: &[Vec<u8>], lot: &str) -> Result<Vec<RecordBatch>> {
        let limit: Limit = state::decode(limit)?;
        let schema = self.release_schema(lot)?;
        let rows = |block: &Vec<u8>| self.published(limit, block, &schema);
        parallel::try_map(blocks, rows)
    }

    fn published(&self, limit: Limit, block: &[u8], schema: &SchemaRef) -> Result<RecordBatch> {
        let bound = self.bound()?;
        let own = bound.layout.schema.fields().len();
        let solved = block::decode(block, None)?;
        let steps = solved.column(own).as_primitive::<UInt32Type>().values();
        let kept = (0..steps.len()).filter(|row| limit.keeps_step(steps[*row])).map(|row| (0, row));
        let kept = interleave_batches(&[&solved], &kept.collect::<Vec<_>>()).map_err(|_| not_encoded())?;
        let null_text = self.plan.policy().missing.first().map_or("", String::as_str);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        for (at, (name, column)) in bound.columns.iter().enumerate() {
            arrays.push(match column {
                Column::Classes(attribute) => {
                    let ends = own + 2 + 2 * attribute;
                    let numbers = |at: usize| kept.column(at).as_primitive::<UInt32Type>().values();
                    let domain = &bound.known.problem.attributes[*attribute].domain;
                    let mut cells: Map<(u32, u32), String> = Map::default();
                    let pairs: Vec<(u32, u32)> =
                        numbers(ends).iter().copied().zip(numbers(ends + 1).iter().copied()).collect();
                    for pair in &pairs {
                        cells.entry(*pair).or_insert_with(|| domain.cell(pair.0, pair.1));
                    }
                    let texts = pairs.iter().map(|pair| cells[pair].as_str());
                    Arc::new(texts.map(|text| (text != null_text).then_some(text)).collect::<StringArray>())
                }
                Column::Values(coded) => {
                    let texts = bound.layout.numbers(&kept, *coded).iter();
                    let texts = texts.map(|number| bound.shown[at][*number as usize].as_str());
                    Arc::new(texts.map(|text| (text != null_text).then_some(text)).collect::<StringArray>())
                }
                Column::Text(place, kind) => types::typed(kept.column(*place).as_string::<i64>(), kind)
                    .map_err(|_| {
                        Error::new(ErrorCode::CellDoesNotFit, format!("a cell cannot be written as {kind}"))
                            .for_attribute(name)
                            .with_hint("give the column as text, or make it an identifier to leave it out")
                    })?,
            });
        }
        let lots = kept.column(own + 1).as_primitive::<UInt64Type>().values();
        // The order of lots as signed numbers is that of lots.
        arrays.push(Arc::new(lots.iter().map(|lot| (lot ^ (1 << 63)).cast_signed()).collect::<Int64Array>()));
        RecordBatch::try_new(schema.clone(), arrays).map_err(|_| not_encoded())
    }
}

/// The rows of a block with what they cost, their lots, and the ends of their classes.
fn with_classes(batch: &RecordBatch, found: &SolvedPart, lots: &[u64], first: usize) -> Result<RecordBatch> {
    let rows = first..first + batch.num_rows();
    let classes = &found.class_of[rows.clone()];
    let number = |name: String| Field::new(name, DataType::UInt32, false);
    let mut fields: Vec<Field> = batch.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    let mut arrays = batch.columns().to_vec();
    fields.extend([number("step".to_owned()), Field::new("lot", DataType::UInt64, false)]);
    let steps: Vec<u32> = found.gains.iter().map(|gain| step(*gain)).collect();
    arrays.push(Arc::new(UInt32Array::from_iter_values(classes.iter().map(|class| steps[*class as usize]))));
    let of_row = found.rank_of[rows].iter().map(|rank| lots[*rank as usize]);
    arrays.push(Arc::new(UInt64Array::from_iter_values(of_row)));
    for (at, ends) in found.ends.iter().enumerate() {
        fields.extend([number(format!("low{at}")), number(format!("high{at}"))]);
        let ends = || classes.iter().map(|class| ends[*class as usize]);
        arrays.push(Arc::new(UInt32Array::from_iter_values(ends().map(|(low, _)| low))));
        arrays.push(Arc::new(UInt32Array::from_iter_values(ends().map(|(_, high)| high))));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|_| not_encoded())
}
