//! The audit of a release that does not fit into memory.
//!
//! It reads the release back once, as its recipients will. What does not fit at once is dealt to scratch files by the hash of the
//! published quasi-identifiers, so that every class is whole in one of them, and each is measured as any release is
//! measured. What was measured merges (`audit/merged.rs`).

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, LargeStringArray, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use serde::{Deserialize, Serialize};

use super::spill::Spill;

use crate::as_is::{self, PublishedAsIs};
use crate::audit::{Findings, PartFindings, audit_part, merged, release_columns, storage};
use crate::error::{Error, Result};
use crate::format::not_encoded;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::scale::bottom::Bottom;
use crate::scale::hashes::{Hashes, mix, spread};
use crate::table::{Storage, Table};
use crate::watch::{OfPart, Watch};

/// Distinct cells that are kept of a column, to tell what it shows.
const CELLS: usize = 1 << 16;
/// Rows that are dealt to parts at a time. As texts they take several times what they take in a piece.
const ROWS_AT_A_TIME: usize = 1 << 15;

/// What the audit found, and which columns were told from a sample of their cells.
pub(super) struct Audited {
    pub findings: Findings,
    pub sampled: Vec<String>,
    /// Bytes that were written to scratch files.
    pub scratch_bytes: u64,
}

/// A release to be audited.
pub(super) struct Release<'a> {
    /// Its files, which have no names yet.
    pub files: &'a [PathBuf],
    /// The table under the policy, without records.
    pub problem: &'a Problem,
    pub policy: &'a Policy,
    /// Whether cells that a spreadsheet would run have a mark before them.
    pub marked: bool,
    /// Where what does not fit is kept meanwhile.
    pub scratch: &'a Path,
}

impl Release<'_> {
    /// Measures it in so many parts.
    pub fn audit(&self, parts: u64, watch: &dyn Watch) -> Result<Audited> {
        watch.stage("auditing", None);
        let plan = |names: &[String]| Ok(storage(self.problem, names));
        let reading = self.policy.reading(&plan, watch).named("the release");
        let mut shown = Shown::default();
        let mut rows = 0;
        let (mut like, mut chunks): (Option<Table>, Vec<_>) = (None, Vec::new());
        let mut spill: Option<Spill> = None;
        for file in self.files {
            Table::read_pieces(file, &reading.marked(self.marked), &mut |piece: Table| {
                rows += piece.len() as u64;
                shown.add(&piece)?;
                if parts == 1 {
                    let all: Vec<u32> = (0..piece.len() as u32).collect();
                    like.get_or_insert_with(|| piece.like(Vec::new()));
                    chunks.push(piece.chunk_of_rows(&all));
                    return Ok(());
                }
                let part_of = part_of_rows(self.problem, &piece, parts)?;
                let mut start = 0;
                for part_of in part_of.chunks(ROWS_AT_A_TIME) {
                    let texts = texts(&piece, start..start + part_of.len())?;
                    start += part_of.len();
                    let new = || Spill::new(self.scratch, "audit", texts.schema(), parts as usize);
                    let part_of = part_of.iter().map(|part| *part as u32).collect();
                    spill.get_or_insert_with(new).deal(&[(texts, part_of)])?;
                }
                Ok(())
            })?;
        }
        let measure = |table: &Table, watch: &dyn Watch| {
            audit_part(self.problem, self.policy, table, rows - table.len() as u64, watch)
        };
        let mut found: Vec<PartFindings> = Vec::new();
        if let Some(like) = like {
            found.push(measure(&like.like(chunks), watch)?);
        }
        let mut scratch_bytes = 0;
        if let Some(spill) = spill {
            let schema = spill.schema();
            for (at, part) in (1..).zip(spill.finish()?).filter(|(_, part)| part.rows > 0) {
                let watch = OfPart::new(watch, format!("auditing, part {at} of {parts}"));
                watch.check()?;
                let table = Table::from_batches(schema.clone(), part.read(None)?, &reading)?;
                found.push(measure(&table, &watch)?);
                scratch_bytes += part.bytes;
                part.remove();
            }
        }
        let mut findings = merged(self.problem, self.policy, found)?;
        let sampled = shown.tell(&mut findings.measures.published_as_is, self.policy, rows);
        Ok(Audited { findings, sampled, scratch_bytes })
    }
}

/// The cells of some rows of a piece that are kept, as texts; the other columns are there by name only.
fn texts(piece: &Table, rows: Range<usize>) -> Result<RecordBatch> {
    let kept = |at: usize| piece.storage(at) == Storage::Text;
    let passed: Vec<usize> = (0..piece.names().len()).filter(|at| kept(*at)).collect();
    let mut builders: Vec<LargeStringBuilder> = passed.iter().map(|_| LargeStringBuilder::new()).collect();
    if !passed.is_empty() {
        for row in rows.clone() {
            let cells = builders.iter_mut().zip(piece.nullable_text_row(row));
            cells.for_each(|(builder, cell)| builder.append_option(cell));
        }
    }
    let mut builders = builders.into_iter();
    let column = |at: usize| -> ArrayRef {
        match piece.storage(at) {
            Storage::Skip => new_null_array(&DataType::LargeUtf8, rows.len()),
            Storage::Coded => {
                let (values, numbers) = (piece.values(at), piece.numbers(at));
                let cells = numbers[rows.clone()].iter().map(|number| values[*number as usize]);
                Arc::new(LargeStringArray::from_iter_values(cells))
            }
            Storage::Text => Arc::new(builders.next().unwrap_or_default().finish()),
        }
    };
    let arrays: Vec<ArrayRef> = (0..piece.names().len()).map(column).collect();
    let fields: Vec<Field> =
        piece.names().iter().map(|name| Field::new(name, DataType::LargeUtf8, true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|_| not_encoded())
}

/// The part of an audit that looks at each row of a piece: rows of one class go to one part.
pub(in crate::run) fn part_of_rows(problem: &Problem, piece: &Table, parts: u64) -> Result<Vec<u64>> {
    let mut hashes = vec![0u64; piece.len()];
    if parts == 1 {
        return Ok(hashes);
    }
    for column in release_columns(problem, piece)?.all() {
        let of_values = Hashes::of_values(piece, column);
        for (hash, number) in hashes.iter_mut().zip(piece.numbers(column)) {
            *hash = mix(*hash, of_values[*number as usize]);
        }
    }
    hashes.iter_mut().for_each(|hash| *hash = spread(*hash) % parts);
    Ok(hashes)
}

/// What columns beside the quasi-identifiers show by themselves.
#[derive(Default, Serialize, Deserialize)]
pub(in crate::run) struct Shown {
    columns: Vec<(String, Bottom)>,
}

impl Shown {
    pub fn add(&mut self, piece: &Table) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = piece.names().iter().map(|name| (name.clone(), Bottom::new(CELLS))).collect();
        }
        if self.columns.len() != piece.names().len() {
            return Err(Error::bug("a release whose columns change"));
        }
        let hashes = Hashes::new(piece, 0);
        for (at, (_, cells)) in self.columns.iter_mut().enumerate() {
            match piece.storage(at) {
                Storage::Skip => {}
                Storage::Coded => {
                    for (text, count) in piece.sketch(at).values() {
                        cells.add(Hashes::of_text(text), count, || [text].into_iter().collect());
                    }
                }
                Storage::Text => hashes.add_cells(at, cells),
            }
        }
        Ok(())
    }

    /// Takes what other rows of the release show.
    pub fn merge(&mut self, other: Shown) {
        match self.columns.is_empty() {
            true => *self = other,
            false => {
                let pairs = self.columns.iter_mut().zip(&other.columns);
                pairs.for_each(|((_, own), (_, other))| own.merge(other));
            }
        }
    }

    /// Sets what was found; gives back the names of columns of which not all cells were kept.
    pub fn tell(&self, as_is: &mut PublishedAsIs, policy: &Policy, rows: u64) -> Vec<String> {
        let mut sampled = Vec::new();
        for column in &mut as_is.columns {
            let Some((name, cells)) = self.columns.iter().find(|(name, _)| *name == column.name) else {
                continue;
            };
            if !cells.is_exact() {
                sampled.push(name.clone());
            }
            column.distinct = cells.distinct().round() as u64;
            column.unique_share = (cells.unique() / rows.max(1) as f64).min(1.0);
            let texts: Vec<&str> = cells.entries().map(|own| own.cells.get(0)).collect();
            let counts: Vec<u64> = cells.entries().map(|own| own.count).collect();
            column.looks = as_is::looks_of(&texts, &counts, &policy.missing);
        }
        sampled
    }
}
