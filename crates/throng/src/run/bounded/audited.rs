//! The audit of a release that does not fit into memory.
//!
//! It reads the release back as its recipients will, several times over where that is needed: each time it keeps the rows whose
//! published quasi-identifiers have one share of all hashes, so that every class is whole in one pass, and measures them as any
//! release is measured. What was measured merges (`audit/merged.rs`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::as_is::{self, PublishedAsIs};
use crate::audit::{Findings, PartFindings, audit_part, merged, release_columns, storage};
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::scale::bottom::Bottom;
use crate::scale::hashes::{Hashes, mix, spread};
use crate::table::{Storage, Table};
use crate::watch::Watch;

/// Distinct cells that are kept of a column, to tell what it shows.
const CELLS: usize = 1 << 16;

/// What the audit found, and which columns were told from a sample of their cells.
pub(super) struct Audited {
    pub findings: Findings,
    pub sampled: Vec<String>,
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
}

impl Release<'_> {
    /// Measures it in so many passes.
    pub fn audit(&self, passes: u64, watch: &dyn Watch) -> Result<Audited> {
        let mut parts: Vec<PartFindings> = Vec::new();
        let mut shown: Option<Shown> = None;
        let mut rows = 0;
        for pass in 0..passes {
            watch.stage(&format!("auditing, pass {} of {passes}", pass + 1), None);
            let mut whole = shown.is_none().then(Shown::default);
            let mut seen = 0;
            let table = self.rows_of_pass(pass, passes, watch, &mut |piece| {
                seen += piece.len() as u64;
                whole.as_mut().map_or(Ok(()), |whole| whole.add(piece))
            })?;
            if let Some(whole) = whole {
                (shown, rows) = (Some(whole), seen);
            }
            let Some(table) = table else { continue };
            if table.is_empty() && passes > 1 {
                continue;
            }
            parts.push(audit_part(self.problem, self.policy, &table, rows - table.len() as u64, watch)?);
        }
        let mut findings = merged(self.problem, self.policy, parts)?;
        let sampled =
            shown.map(|shown| shown.tell(&mut findings.measures.published_as_is, self.policy, rows));
        Ok(Audited { findings, sampled: sampled.unwrap_or_default() })
    }

    /// The rows of one pass as a table; `None` if there are none at all.
    fn rows_of_pass(
        &self,
        pass: u64,
        passes: u64,
        watch: &dyn Watch,
        look: &mut dyn FnMut(&Table) -> Result<()>,
    ) -> Result<Option<Table>> {
        let plan = |names: &[String]| Ok(storage(self.problem, names));
        let reading = self.policy.reading(&plan, watch).named("the release").marked(self.marked);
        let mut chunks = Vec::new();
        let mut template: Option<Table> = None;
        for file in self.files {
            Table::read_pieces(file, &reading, &mut |piece: Table| {
                look(&piece)?;
                let of_pass = self.of_pass(&piece, pass, passes)?;
                chunks.push(piece.chunk_of_rows(&of_pass));
                if template.is_none() {
                    template = Some(piece.like(Vec::new()));
                }
                Ok(())
            })?;
        }
        Ok(template.map(|template| template.like(chunks)))
    }

    /// The rows of a piece that a pass looks at.
    fn of_pass(&self, piece: &Table, pass: u64, passes: u64) -> Result<Vec<u32>> {
        let part_of = part_of_rows(self.problem, piece, passes)?;
        Ok((0..).zip(part_of).filter(|(_, part)| *part == pass).map(|(row, _)| row).collect())
    }
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
                        cells.add(Hashes::of_text(text), count, || vec![text.to_owned()]);
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
            let texts: Vec<&str> = cells.entries().map(|own| own.cells[0].as_str()).collect();
            let counts: Vec<u64> = cells.entries().map(|own| own.count).collect();
            column.looks = as_is::looks_of(&texts, &counts, &policy.missing);
        }
        sampled
    }
}
