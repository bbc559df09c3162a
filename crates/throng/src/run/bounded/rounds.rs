//! Rounds: parts are solved, most classes are kept, and the records that might gain most elsewhere go on to the next round.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;

use super::memory::Room;
use super::shuffle::{Dealt, Released};
use super::spill::{Spill, Spilled, scratch_failed};
use crate::error::Result;
use crate::method::Fact;
use crate::parallel;
use crate::plan::Plan;
use crate::scale::cuts::Cuts;
use crate::scale::known::{Known, PartCounts};
use crate::scale::rounds::{Round, groups, next};
use crate::scale::rows::{self, Layout, NOWHERE};
use crate::scale::solve::{
    GainCounts, Limit, PartId, PartRows, RoundSample, SolvedPart, Standing, lots, solve,
};
use crate::watch::{OfPart, Watch};

/// What rounds work with.
pub(super) struct Rounds<'a> {
    pub plan: &'a Plan,
    pub known: &'a Known,
    pub layout: &'a Layout,
    pub scratch: &'a Path,
    pub room: Room,
    /// Records that are solved at once.
    pub capacity: u64,
    /// Those that are, at most, if parts want to be joined.
    pub at_once: u64,
    pub watch: &'a dyn Watch,
}

/// Records that wait to be solved, part by part.
pub(super) struct Waiting {
    pub cuts: Cuts,
    pub files: Vec<Spilled>,
    pub counts: Vec<PartCounts>,
}

/// What rounds came to.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The number of parts that were solved in each round.
    pub parts: Vec<usize>,
    /// What the method says.
    pub facts: Vec<Fact>,
    /// Bytes that were written to scratch files.
    pub scratch_bytes: u64,
}

/// A part that was solved; who is in which class is in a file.
struct Solved {
    id: PartId,
    files: Vec<usize>,
    path: PathBuf,
    rows: usize,
}

impl Rounds<'_> {
    /// Runs rounds until nothing is left, and deals the rows of kept classes to a release.
    pub fn run(&self, mut waiting: Waiting, released: &mut Released<'_>) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for round in 0.. {
            outcome.scratch_bytes += waiting.files.iter().map(|file| file.bytes).sum::<u64>();
            match self.round(round, &waiting, released, &mut outcome)? {
                None => break,
                Some(next) => waiting = next,
            }
        }
        Ok(outcome)
    }

    fn round(
        &self,
        round: u32,
        waiting: &Waiting,
        released: &mut Released<'_>,
        outcome: &mut Outcome,
    ) -> Result<Option<Waiting>> {
        let groups = groups(self.known, &waiting.cuts, &waiting.counts, self.at_once);
        outcome.parts.push(groups.len());
        let mut gains = GainCounts::default();
        let mut sample = RoundSample::default();
        let mut solved = Vec::new();
        let records = waiting.counts.iter().map(|part| part.rows).sum();
        let all = groups.len();
        for (part, files) in (0..).zip(groups) {
            let name = format!("round {}, part {} of {all}", round + 1, part + 1);
            let watch = OfPart::new(self.watch, name);
            let id = PartId { round, part };
            let rows = self.rows_of(waiting, &files)?;
            let cell = waiting.cuts.cell(&files, self.known.problem.attributes.len());
            let standing = Standing { id, cell: &cell, round: records };
            let found = solve(self.plan, self.known, rows, standing, &mut sample, &watch)?;
            gains.add(&found);
            for fact in &found.facts {
                if !outcome.facts.contains(fact) {
                    outcome.facts.push(fact.clone());
                }
            }
            let path = self.scratch.join(format!("classes-{round}-{part}"));
            outcome.scratch_bytes += write_solved(&path, &found)?;
            solved.push(Solved { id, files, path, rows: found.class_of.len() });
        }
        let done = Round { cuts: &waiting.cuts, parts: solved.len(), gains: &gains, sample: &sample };
        let (limit, cuts) = next(self.known, &done, self.capacity);
        let mut next = cuts.map(|cuts| self.next(round, cuts));
        drop(sample);
        for part in &solved {
            let name = format!("round {}, dealing part {} of {all}", round + 1, part.id.part + 1);
            self.watch.stage(&name, Some(part.rows as u64));
            self.deal(waiting, part, limit, next.as_mut(), released)?;
        }
        next.map(Next::finish).transpose()
    }

    fn rows_of(&self, waiting: &Waiting, files: &[usize]) -> Result<PartRows> {
        let count: u64 = files.iter().map(|file| waiting.files[*file].rows).sum();
        let room = || Vec::with_capacity(count as usize);
        let mut part = PartRows {
            numbers: self.known.coded.iter().map(|_| room()).collect(),
            ties: Vec::with_capacity(count as usize),
        };
        for file in files {
            for batch in waiting.files[*file].read(Some(self.layout.without_texts()))? {
                let batch = batch?;
                for (at, numbers) in part.numbers.iter_mut().enumerate() {
                    numbers.extend_from_slice(self.layout.numbers(&batch, at));
                }
                part.ties.extend_from_slice(self.layout.ties(&batch));
            }
            self.watch.check()?;
        }
        Ok(part)
    }

    fn next(&self, round: u32, cuts: Cuts) -> Next<'_> {
        let name = format!("rows-{}", round + 1);
        Next {
            known: self.known,
            layout: self.layout,
            spill: Spill::new(self.scratch, &name, self.layout.schema.clone(), cuts.parts()),
            counts: vec![PartCounts::new(self.known); cuts.parts()],
            cuts,
        }
    }

    /// Deals the rows of a solved part: those of kept classes to the release, the others to the next round.
    fn deal(
        &self,
        waiting: &Waiting,
        part: &Solved,
        limit: Limit,
        mut next: Option<&mut Next<'_>>,
        released: &mut Released<'_>,
    ) -> Result<()> {
        let found = read_solved(&part.path, self.known.problem.attributes.len(), part.rows)?;
        let lots = lots(self.plan, part.id, part.rows);
        let kept: Vec<bool> = found.gains.iter().map(|gain| limit.keeps(*gain)).collect();
        released.take_classes(&found, &kept);
        let mut first = 0;
        let mut together: Vec<(RecordBatch, usize)> = Vec::new();
        let mut rows = 0;
        let most = self.room.together(released.row_bytes());
        let mut flush = |together: &mut Vec<(RecordBatch, usize)>| -> Result<()> {
            let some = std::mem::take(together);
            let classes = |(batch, first): &(RecordBatch, usize)| *first..*first + batch.num_rows();
            let of_rows = |batch: &(RecordBatch, usize)| {
                classes(batch).map(|row| {
                    let class = found.class_of[row];
                    (kept[class as usize], class, lots[found.rank_of[row] as usize])
                })
            };
            let dealt: Vec<(&RecordBatch, Vec<Dealt>)> =
                some.iter().map(|own| (&own.0, of_rows(own).collect())).collect();
            released.deal(&dealt)?;
            let dealt_rows = some.iter().map(|(batch, _)| batch.num_rows() as u64).sum();
            if let Some(next) = next.as_deref_mut() {
                let keeps = |own: &(RecordBatch, usize)| of_rows(own).map(|(kept, ..)| kept).collect();
                let keeps: Vec<Vec<bool>> = some.iter().map(keeps).collect();
                next.deal(some.into_iter().map(|(batch, _)| batch).zip(keeps).collect())?;
            }
            self.watch.advance(dealt_rows);
            self.watch.check()
        };
        for file in &part.files {
            for batch in waiting.files[*file].read(None)? {
                let batch = batch?;
                let count = batch.num_rows();
                together.push((batch, first));
                first += count;
                rows += count;
                if rows >= most {
                    flush(&mut together)?;
                    rows = 0;
                }
            }
        }
        flush(&mut together)?;
        part.files.iter().for_each(|file| waiting.files[*file].remove());
        // What is left goes with the scratch folder.
        let _ = std::fs::remove_file(&part.path);
        Ok(())
    }
}

/// The round that follows, while rows are dealt to it.
struct Next<'a> {
    known: &'a Known,
    layout: &'a Layout,
    cuts: Cuts,
    spill: Spill,
    counts: Vec<PartCounts>,
}

impl Next<'_> {
    fn deal(&mut self, batches: Vec<(RecordBatch, Vec<bool>)>) -> Result<()> {
        let part_of = |(batch, kept): (RecordBatch, Vec<bool>)| {
            let mut part_of = rows::parts(&batch, self.known, self.layout, &self.cuts);
            part_of.iter_mut().zip(kept).filter(|(_, kept)| *kept).for_each(|(part, _)| *part = NOWHERE);
            (batch, part_of)
        };
        let dealt: Vec<(RecordBatch, Vec<u32>)> = parallel::map(batches, part_of);
        for (batch, part_of) in &dealt {
            rows::count_parts(batch, part_of, self.known, self.layout, &mut self.counts);
        }
        self.spill.deal(&dealt)
    }

    fn finish(self) -> Result<Waiting> {
        Ok(Waiting { cuts: self.cuts, files: self.spill.finish()?, counts: self.counts })
    }
}

/// Writes who is in which class. Tells the bytes.
fn write_solved(path: &Path, found: &SolvedPart) -> Result<u64> {
    let write = || -> io::Result<u64> {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        file.write_all(&(found.gains.len() as u64).to_le_bytes())?;
        found.gains.iter().try_for_each(|gain| file.write_all(&gain.to_le_bytes()))?;
        for (low, high) in found.ends.iter().flatten() {
            file.write_all(&low.to_le_bytes())?;
            file.write_all(&high.to_le_bytes())?;
        }
        for numbers in [&found.class_of, &found.rank_of] {
            numbers.iter().try_for_each(|number| file.write_all(&number.to_le_bytes()))?;
        }
        file.flush()?;
        Ok(path.metadata()?.len())
    };
    write().map_err(|cause| scratch_failed("write", path, &cause))
}

fn read_solved(path: &Path, attributes: usize, rows: usize) -> Result<SolvedPart> {
    let read = || -> io::Result<SolvedPart> {
        let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
        let mut eight = [0; 8];
        file.read_exact(&mut eight)?;
        let classes = u64::from_le_bytes(eight) as usize;
        let mut gains = Vec::with_capacity(classes);
        for _ in 0..classes {
            file.read_exact(&mut eight)?;
            gains.push(f64::from_le_bytes(eight));
        }
        let number = |file: &mut BufReader<File>| -> io::Result<u32> {
            let mut four = [0; 4];
            file.read_exact(&mut four)?;
            Ok(u32::from_le_bytes(four))
        };
        let mut ends = Vec::with_capacity(attributes);
        for _ in 0..attributes {
            let mut own = Vec::with_capacity(classes);
            for _ in 0..classes {
                own.push((number(&mut file)?, number(&mut file)?));
            }
            ends.push(own);
        }
        let mut column = || (0..rows).map(|_| number(&mut file)).collect::<io::Result<Vec<u32>>>();
        let (class_of, rank_of) = (column()?, column()?);
        Ok(SolvedPart { class_of, rank_of, ends, gains, sizes: Vec::new(), facts: Vec::new() })
    };
    read().map_err(|cause| scratch_failed("read", path, &cause))
}
