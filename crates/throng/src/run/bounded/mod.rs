//! Whole runs within a limit on memory: the steps of [`crate::scale`] on one machine.
//!
//! The table is read twice: for a sketch, and to route its rows to parts in scratch files. Rounds solve the parts (`rounds.rs`);
//! rows of kept classes go to scratch files by lot, which are sorted and written (`shuffle.rs`). The audit reads the release back
//! (`audited.rs`). In memory are, at any time, one part or one file of the release, and the sketch.

pub(super) mod audited;
mod inputs;
pub(super) mod memory;
pub(super) mod refuse;
mod rounds;
mod shuffle;
mod spill;

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;

use inputs::Inputs;
pub use inputs::is_many;
use memory::{MOST_FILES, Room, Shape};
pub use memory::{Memory, available};
use rounds::{Outcome, Rounds, Waiting};
use shuffle::{Released, Shuffled};
use spill::Spill;

use super::{Anonymize, Clock, Prepared, hash, in_parts, report};
use crate::bind;
use crate::error::{Error, ErrorCode, Fault, Result};
use crate::format::Format;
use crate::formula::Formulas;
use crate::keys;
use crate::method::Solution;
use crate::parallel;
use crate::plan::{Plan, Solved, Written};
use crate::policy::{Policy, suggest};
use crate::release::{Encoder, Files, Output, Scratch, Streamed, folder_of};
use crate::report::{PartsReport, Provenance};
use crate::scale::known::{Counts, Known, PartCounts};
use crate::scale::rounds::first_cuts;
use crate::scale::rows::{self, Layout, changed};
use crate::scale::sketch::{Checksum, TableSketch};
use crate::table::source::{Compression, is_standard};
use crate::table::{Dialect, Origin, Storage, Table};
use crate::watch::Watch;

/// The most parts: each has a file that is open while rows are dealt, and a process may have 1,024 as a rule.
const MOST_PARTS: usize = 400;
/// How much larger than meant the largest part may be before the report tells it.
const MUCH_LARGER: f64 = 1.5;
/// The share of what the machine has to spare that a run takes which was given no limit.
const SHARE: f64 = 0.5;

/// Whether the name of a release is that of a folder: it ends in a slash.
pub fn is_folder(release: &Path) -> bool {
    release.as_os_str().to_string_lossy().ends_with(std::path::MAIN_SEPARATOR)
}

/// What a file is once it is decompressed, in times its bytes.
const COMPRESSED_TIMES: u64 = 6;

/// About the bytes that a run in memory would take for its table.
fn needed_in_memory(run: &Anonymize) -> u64 {
    let bytes =
        std::fs::metadata(&run.data).ok().filter(std::fs::Metadata::is_file).map_or(0, |data| data.len());
    let times = Format::of(&run.data).times_in_memory;
    let more = if Compression::of(&run.data) == Compression::None { 1 } else { COMPRESSED_TIMES };
    bytes.saturating_mul(times * more)
}

/// Whether a run that was given no limit would take more memory than the machine has to spare, and can be done in parts.
pub(super) fn needs_more_than_there_is(run: &Anonymize) -> Result<bool> {
    let Some(free) = available() else { return Ok(false) };
    let can_be =
        || Ok(Format::of(&run.data).pieces.is_some() && refuse::check_run(run, &run.plan()?).is_ok());
    if needed_in_memory(run) > free { can_be() } else { Ok(false) }
}

/// Says which files a run in parts reads.
pub(super) fn read_files(run: &Anonymize, files: &mut Files) -> Result<()> {
    let inputs = Inputs::find(&names(run))?;
    inputs.paths().try_for_each(|path| files.read_too("a file of the table", path))
}

fn names(run: &Anonymize) -> Vec<PathBuf> {
    std::iter::once(&run.data).chain(&run.more).cloned().collect()
}

/// Runs a table in parts, up to the point where the release would appear under its name.
pub(super) fn prepare(run: &Anonymize, watch: &dyn Watch) -> Result<Prepared> {
    let mut clock = Clock::start();
    let plan = run.plan()?;
    refuse::check_run(run, &plan)?;
    let memory = run.memory.clone().unwrap_or_default();
    memory::check_parts(memory.parts, MOST_PARTS)?;
    let bytes = match memory.bytes.or(run.policy.memory) {
        Some(bytes) => keys::enough(bytes)?,
        None => available().map_or(1 << 30, |free| (free as f64 * SHARE) as u64).max(keys::LEAST),
    };
    let inputs = Inputs::find(&names(run))?;
    plan.check_marks(Format::of(&run.release)).map_err(|error| error.in_file(&run.release))?;
    let output = match is_folder(&run.release) {
        true => Output::create_folder(&run.release.components().collect::<PathBuf>())?,
        false => Output::create(&run.release)?,
    };
    let within = match (&memory.scratch, is_standard(output.path())) {
        (Some(folder), _) => folder.clone(),
        (None, true) => std::env::temp_dir(),
        (None, false) => folder_of(output.path()),
    };
    let scratch = Scratch::create(&within)?;
    let mut work = Work {
        run,
        plan: &plan,
        inputs: &inputs,
        room: Room::new(bytes),
        scratch: &scratch,
        parts: memory.parts,
        watch,
        warnings: Vec::new(),
    };
    let mut sketched = work.sketch()?;
    clock.lap("read");
    let routed = work.route(&sketched)?;
    sketched.sketch.forget_samples();
    clock.lap("encode");
    let (shuffled, outcome) = work.solve(&sketched, &routed)?;
    clock.lap("anonymize");
    let mut output = output;
    let files = work.write(&mut output, &shuffled, &sketched)?;
    shuffled.files.iter().for_each(spill::Spilled::remove);
    clock.lap("write");
    let release = audited::Release {
        files: &files,
        problem: &routed.known.problem,
        policy: plan.policy(),
        marked: plan.formulas() == Formulas::Escape,
        scratch: scratch.path(),
    };
    let audit_parts = work.room.audits(routed.counts.rows * (routed.row_bytes + memory::AUDIT_ROW));
    let audit_parts = audit_parts.max(memory.parts.unwrap_or(1) as u64).min(MOST_FILES);
    let audited = release.audit(audit_parts, watch).map_err(|error| error.in_file(inputs.first()))?;
    plan.check(&audited.findings)?;
    clock.lap("audit");
    let provenance = work.provenance(&files)?;
    watch.check()?;
    let parts = PartsReport {
        memory: bytes,
        files: Some(inputs.len() as u64),
        parts: outcome.parts,
        passes: 2,
        audit_parts,
        scratch_bytes: outcome.scratch_bytes + shuffled.bytes() + audited.scratch_bytes,
    };
    let solved = Solved {
        solution: Solution { facts: outcome.facts, ..Solution::default() },
        policy: plan.policy().clone(),
    };
    let problem = &routed.known.problem;
    let mut report = report((&plan, true), problem, &solved, audited.findings, provenance, clock.finish());
    let mut notes = work.warnings;
    notes.push(told(&parts, run));
    notes.extend(in_parts::told_sampled(&audited.sampled));
    notes.extend(routed.told_large().filter(|_| memory.parts.is_none()));
    let removed = scratch.removed() + output.removed();
    notes.extend((removed > 0).then(|| "Scratch files that killed runs had left were removed.".to_owned()));
    report.notes.splice(0..0, notes);
    report.parts = Some(parts);
    let written = Written::elsewhere(output, release.marked);
    Ok(Prepared { written, report, recipe: None, certificate: None, entry: None })
}

fn told(parts: &PartsReport, run: &Anonymize) -> String {
    let given =
        run.policy.memory.is_some() || run.memory.as_ref().is_some_and(|memory| memory.bytes.is_some());
    let why = match (given, run.runs_in_parts()) {
        (true, _) => String::new(),
        (false, true) => "No limit was given; this is half of what the machine had free. ".to_owned(),
        (false, false) => format!(
            "No limit was given; this is half of what the machine had free, which was less than the {} MiB that the table might have \
             taken as a whole. ",
            needed_in_memory(run) >> 20
        ),
    };
    format!(
        "The run was to keep to {} MiB of memory; the table was {}. {why}No lower bound on the loss is looked for in this \
         way.",
        parts.memory >> 20,
        in_parts::told_rounds(&parts.parts),
    )
}

/// What a run in parts works with.
struct Work<'a> {
    run: &'a Anonymize,
    plan: &'a Plan,
    inputs: &'a Inputs,
    room: Room,
    scratch: &'a Scratch,
    parts: Option<usize>,
    watch: &'a dyn Watch,
    warnings: Vec<String>,
}

/// What the first look at the table told.
struct Sketched {
    sketch: TableSketch,
    storage: Vec<Storage>,
    schema: Option<Schema>,
    dialect: Option<Dialect>,
    has_nulls: bool,
}

/// The table, dealt to parts.
struct Routed {
    known: Known,
    layout: Layout,
    counts: Counts,
    waiting: std::cell::RefCell<Option<Waiting>>,
    /// About the bytes of a row in memory.
    row_bytes: u64,
    /// Records that a part was meant to have at most.
    capacity: u64,
    /// Records of the largest.
    largest: u64,
}

impl Routed {
    /// What the report says of a part that took more memory than it was to.
    fn told_large(&self) -> Option<String> {
        (self.largest as f64 > MUCH_LARGER * self.capacity as f64).then(|| {
            format!(
                "One part has {} rows where {} would have fitted: too many rows have the same quasi-identifiers to be cut apart, and \
                 the run may have taken more memory than it was to.",
                self.largest, self.capacity
            )
        })
    }
}

impl Work<'_> {
    fn policy(&self) -> &Policy {
        self.plan.policy()
    }

    fn storage(&self, names: &[String]) -> Result<Vec<Storage>> {
        in_parts::storage(self.policy(), names)
    }

    /// The first look.
    fn sketch(&mut self) -> Result<Sketched> {
        self.watch.stage("reading, pass 1 of 2", Some(self.inputs.bytes()));
        let plan = |names: &[String]| self.storage(names);
        let reading = self.policy().reading(&plan, self.watch);
        let mut found: Option<Sketched> = None;
        let mut headless = None;
        self.inputs.read(&reading, &mut |piece: Table| {
            if found.is_none() {
                in_parts::check_nested(&piece)?;
                headless = suggest::check_header(&piece, self.policy())?;
                let storage = self.storage(piece.names())?;
                found = Some(Sketched {
                    sketch: TableSketch::new(
                        piece.names(),
                        &storage,
                        self.policy().method.seed,
                        self.room.sampled_cells(),
                    ),
                    storage,
                    schema: piece.schema().cloned(),
                    dialect: piece.dialect(),
                    has_nulls: piece.has_nulls(),
                });
            }
            found.as_mut().map_or(Ok(()), |found| found.sketch.add(&piece))
        })?;
        let Some(found) = found.filter(|found| found.sketch.rows > 0) else {
            return Err(Error::new(ErrorCode::EmptyTable, "the table has no records")
                .in_file(self.inputs.first())
                .with_hint("a table needs a header row and at least one record"));
        };
        self.warnings.extend(headless);
        let origin = Origin::file(self.inputs.first());
        self.warnings.extend(in_parts::check_as_is(&found.sketch, &origin, self.policy())?);
        Ok(found)
    }

    /// The second look, in which rows are dealt to parts.
    fn route(&self, sketched: &Sketched) -> Result<Routed> {
        let mut known =
            Known::new(&sketched.sketch, self.policy()).map_err(|stranger| self.place(*stranger))?;
        let published = |at: usize| in_parts::is_published(self.policy(), &sketched.sketch.names[at]);
        let layout = Layout::new(&known, &sketched.storage, published);
        let shape = Shape { attributes: known.problem.attributes.len(), coded: known.coded.len() };
        let capacity = self.room.capacity(sketched.sketch.rows, shape, self.parts, MOST_PARTS)?;
        let cuts = first_cuts(&known, &sketched.sketch, capacity);
        let mut spill = Spill::new(self.scratch.path(), "rows-0", layout.schema.clone(), cuts.parts());
        let mut counts = Counts::new(&known);
        let mut of_parts = vec![PartCounts::new(&known); cuts.parts()];
        let mut checksum = Checksum::default();
        let mut text_bytes = 0u64;
        let key = in_parts::ties_key(self.plan);
        self.watch.stage("reading, pass 2 of 2", Some(self.inputs.bytes()));
        let plan = |names: &[String]| self.storage(names);
        let reading = self.policy().reading(&plan, self.watch);
        let seed = self.policy().method.seed;
        self.inputs.read(&reading, &mut |piece: Table| {
            let found = rows::rows(&piece, &known, &layout, seed, key)?;
            drop(piece);
            checksum.merge(&found.checksum);
            let part_of = |batch: RecordBatch| {
                let parts = rows::parts(&batch, &known, &layout, &cuts);
                (batch, parts)
            };
            let dealt: Vec<(RecordBatch, Vec<u32>)> = parallel::map(found.batches, part_of);
            for (batch, part_of) in &dealt {
                rows::count(batch, part_of, &known, &layout, &mut counts);
                rows::count_parts(batch, part_of, &known, &layout, &mut of_parts);
                text_bytes += batch.columns()[layout.coded + 1..]
                    .iter()
                    .map(|own| own.get_buffer_memory_size() as u64)
                    .sum::<u64>();
            }
            spill.deal(&dealt)
        })?;
        self.inputs.check_unchanged()?;
        if checksum != sketched.sketch.checksum {
            return Err(changed().in_file(self.inputs.first()));
        }
        let dropped = sketched.sketch.rows - counts.rows;
        if counts.rows == 0 {
            return Err(Error::new(ErrorCode::EmptyTable, "the table has no records")
                .in_file(self.inputs.first())
                .with_hint(
                    "every row has a missing cell; set `incomplete = \"keep\"` under [data] to keep them",
                ));
        }
        known.set_counts(&counts, dropped, self.policy());
        let whole = of_parts.iter().fold(PartCounts::new(&known), |mut whole, part| {
            whole.merge(part);
            whole
        });
        let problem = &known.problem;
        problem
            .requirement
            .check_counts(&known.tally(&whole), &problem.data)
            .map_err(|error| error.in_file(self.inputs.first()))?;
        let row_bytes = 8 + 4 * known.coded.len() as u64 + text_bytes / sketched.sketch.rows.max(1);
        let largest = of_parts.iter().map(|part| part.rows).max().unwrap_or(0);
        let waiting = Waiting { cuts, files: spill.finish()?, counts: of_parts };
        Ok(Routed { known, layout, counts, waiting: Some(waiting).into(), row_bytes, capacity, largest })
    }

    /// Says where a value stands that does not belong into its domain.
    fn place(&self, stranger: bind::Stranger) -> Error {
        let bind::Stranger { column, text, error } = stranger;
        let plan = |names: &[String]| self.storage(names);
        let reading = self.policy().reading(&plan, self.watch);
        let mut found: Option<(Origin, u64)> = None;
        let looked = self.inputs.read(&reading, &mut |piece: Table| {
            let number = piece.values(column).iter().position(|value| *value == text);
            let row = number
                .and_then(|number| piece.numbers(column).iter().position(|own| *own as usize == number));
            if let Some(row) = row {
                found = Some((piece.origin().clone(), piece.line_of(row)));
                // The rest need not be read.
                return Err(Error::cancelled());
            }
            Ok(())
        });
        match (found, looked) {
            (Some((origin, line)), _) => error.in_file(&origin).on_line(line),
            (None, _) => error.in_file(self.inputs.first()),
        }
    }

    /// Rounds.
    fn solve(&self, sketched: &Sketched, routed: &Routed) -> Result<(Shuffled, Outcome)> {
        let Some(waiting) = routed.waiting.take() else {
            return Err(Error::bug("a table that was solved already"));
        };
        let rounds = Rounds {
            plan: self.plan,
            known: &routed.known,
            layout: &routed.layout,
            scratch: self.scratch.path(),
            room: self.room,
            capacity: routed.capacity,
            // Who says how many parts there are does not say how much memory one may take.
            at_once: if self.parts.is_some() { u64::MAX } else { routed.capacity },
            watch: self.watch,
        };
        let buckets = self.room.buckets(routed.counts.rows * routed.row_bytes)?;
        let mut released = Released::new(
            &routed.known,
            &routed.layout,
            self.policy(),
            sketched.schema.as_ref(),
            self.scratch.path(),
            buckets,
            routed.row_bytes,
        );
        let outcome = rounds.run(waiting, &mut released).map_err(|error| match error.fault() {
            Fault::Requirement => error.in_file(self.inputs.first()),
            _ => error,
        })?;
        let null_text =
            sketched.has_nulls.then(|| self.policy().missing.first().cloned().unwrap_or_default());
        Ok((released.finish(null_text.as_deref())?, outcome))
    }

    /// Writes the release; tells its files, which have no names yet.
    fn write(&self, output: &mut Output, shuffled: &Shuffled, sketched: &Sketched) -> Result<Vec<PathBuf>> {
        self.watch.stage("writing", Some(shuffled.files.iter().map(|file| file.rows).sum()));
        let all = shuffled.files.len();
        let Some(folder) = output.files_in() else {
            let path = output.path().to_owned();
            let encoder = output.encoder()?;
            self.write_file(encoder, &path, shuffled, 0..all, sketched)?;
            return Ok(vec![output.temporary_path().to_owned()]);
        };
        let ending = ending(output.path());
        let mut files = Vec::new();
        for at in 0..all {
            let path = folder.join(format!("part-{at:05}{ending}"));
            let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write", &path, &cause);
            let encoder = Encoder::new(File::create(&path).map_err(fail)?, &path).map_err(fail)?;
            self.write_file(encoder, &path, shuffled, at..at + 1, sketched)?;
            files.push(path);
        }
        Ok(files)
    }

    fn write_file(
        &self,
        mut encoder: Encoder,
        path: &Path,
        shuffled: &Shuffled,
        files: std::ops::Range<usize>,
        sketched: &Sketched,
    ) -> Result<()> {
        let rows = shuffled.of_files(files);
        let missing = self.policy().missing.first().map_or("", String::as_str);
        let streamed = Streamed {
            source: &rows,
            schema: shuffled.schema.clone(),
            missing,
            dialect: sketched.dialect,
            formulas: self.plan.formulas(),
        };
        Format::of(path).write_to(&streamed, &mut encoder, path, self.watch)?;
        encoder.finish().map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))
    }

    fn provenance(&self, files: &[PathBuf]) -> Result<Provenance> {
        let (mut data_hash, mut release_hash) = (String::new(), String::new());
        if self.run.hashes {
            data_hash = hash_all(self.inputs.paths())?;
            release_hash = hash_all(files.iter().map(PathBuf::as_path))?;
        }
        Ok(Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: self.run.data.display().to_string(),
            data_hash,
            release: self.run.release.display().to_string(),
            release_hash,
            policy: self.policy().text.clone(),
            overrides: self.run.overrides.clone(),
            command: Vec::new(),
        })
    }
}

/// The endings of a folder's name, which its files have too.
fn ending(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match name.split_once('.') {
        Some((_, ending)) => format!(".{ending}"),
        None => ".csv".to_owned(),
    }
}

/// The hash of a file, or of the hashes of several.
fn hash_all<'a>(files: impl Iterator<Item = &'a Path>) -> Result<String> {
    let hashes: Vec<String> = files.map(hash).collect::<Result<_>>()?;
    match &hashes[..] {
        [one] => Ok(one.clone()),
        _ => Ok(blake3::hash(hashes.concat().as_bytes()).to_hex().to_string()),
    }
}
