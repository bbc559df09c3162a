//! Reading: one thread fetches and cuts, the others parse, and the chunks come back in order.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rayon::iter::{ParallelBridge, ParallelIterator};

use super::chunk::{self, Chunk};
use super::source::{self, Format};
use super::text::{self, Dialect};
use super::{Reading, Storage, Table, columnar};
use crate::error::{Error, Result};
use crate::watch::Watch;

/// Bytes in a chunk: small enough to share a small file among threads, large enough to amortise dictionaries.
const CHUNK_BYTES: usize = 1 << 20;
/// A record this long means that a quote was left open.
const LONGEST_RECORD: usize = 64 << 20;
/// Chunks read ahead of the parsers.
const READ_AHEAD: usize = 8;

pub(super) fn read(reading: &Reading<'_>) -> Result<Table> {
    reading.watch.stage("reading", total_bytes(reading.path));
    match source::format_of(reading.path).0 {
        Format::Text { delimiter } => read_text(reading, delimiter),
        Format::Parquet => columnar::read_parquet(reading),
        Format::Arrow => columnar::read_arrow(reading),
    }
}

/// Size of a plain file; nothing is known of pipes and compressed files.
fn total_bytes(path: &Path) -> Option<u64> {
    let plain = source::format_of(path).1 == source::Compression::None;
    std::fs::metadata(path).ok().filter(|data| plain && data.is_file()).map(|data| data.len())
}

fn read_text(reading: &Reading<'_>, delimiter: Option<u8>) -> Result<Table> {
    let mut blocks = Blocks::open(reading.path)?;
    let mut dialect = Dialect::sniff(&blocks.buffer);
    dialect.delimiter = delimiter.unwrap_or(dialect.delimiter);
    blocks.dialect = dialect;
    let first = blocks.next_block()?.unwrap_or_default();
    let (names, body) = text::header(&first, dialect)?;
    let storage = plan_columns(reading, &names)?;
    let slots = chunk::slots(&storage);
    let header_lines = memchr::memchr_iter(dialect.line_end, &first[..body]).count() as u64;
    let (sender, receiver) = sync_channel(READ_AHEAD);
    let (give_back, given_back) = channel();
    blocks.spare = Some(given_back);
    let failed = AtomicBool::new(false);
    let failed = &failed;
    let mut parsed: Vec<(usize, Result<Chunk>)> = std::thread::scope(|scope| {
        let feeder =
            scope.spawn(move || feed(blocks, first[body..].to_vec(), &sender, reading.watch, failed));
        let parsed = parse_all(receiver, &give_back, reading, |block| {
            // What comes after a mistake is not needed any more.
            text::parse(block, dialect, &slots).inspect_err(|_| failed.store(true, Ordering::Relaxed))
        });
        match feeder.join() {
            Ok(Ok(())) => Ok(parsed),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::bug("the reading thread failed")),
        }
    })?;
    parsed.sort_by_key(|(at, _)| *at);
    let mut chunks = in_order(parsed, header_lines)?;
    if let Some(first) = chunks.first_mut() {
        count_header_lines(first, header_lines);
    }
    reading.watch.check()?;
    Ok(Table { dialect: Some(dialect), ..Table::new(reading.path, names, storage, chunks) })
}

/// Lines in messages count from the start of the file, so the header belongs to the first chunk.
fn count_header_lines(first: &mut Chunk, header_lines: u64) {
    let lines = first.line_of_row.take().unwrap_or_else(|| (1..=first.rows as u32).collect());
    first.line_of_row = Some(lines.into_iter().map(|line| line + header_lines as u32).collect());
    first.lines += header_lines;
}

/// Checks the header and asks how to keep each column.
pub(super) fn plan_columns(reading: &Reading<'_>, names: &[String]) -> Result<Vec<Storage>> {
    if names.is_empty() {
        return Err(Error::input("the table is empty: there is no header row")
            .on_line(1)
            .with_hint("the first line must name the columns"));
    }
    let mut seen = super::Map::default();
    for (at, name) in names.iter().enumerate() {
        if let Some(before) = seen.insert(name.as_str(), at) {
            return Err(Error::input(format!("two columns are called \"{}\"", super::domain::shorten(name)))
                .on_line(1)
                .in_column(at as u64 + 1)
                .for_attribute(name)
                .with_hint(format!("rename one of columns {} and {}", before + 1, at + 1)));
        }
    }
    (reading.plan)(names)
}

/// Sends blocks of whole records until the file ends or the parsers are gone.
fn feed(
    mut blocks: Blocks,
    first: Vec<u8>,
    sender: &SyncSender<Vec<u8>>,
    watch: &dyn Watch,
    failed: &AtomicBool,
) -> Result<()> {
    if sender.send(first).is_err() {
        return Ok(());
    }
    while let Some(block) = blocks.next_block()? {
        // A pipe may never end by itself.
        watch.check()?;
        if failed.load(Ordering::Relaxed) || sender.send(block).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Parses blocks as they come, and gives their memory back to be filled again.
fn parse_all(
    receiver: Receiver<Vec<u8>>,
    give_back: &Sender<Vec<u8>>,
    reading: &Reading<'_>,
    parse: impl Fn(&[u8]) -> Result<Chunk> + Sync,
) -> Vec<(usize, Result<Chunk>)> {
    receiver
        .into_iter()
        .enumerate()
        .par_bridge()
        .map(|(at, block)| {
            let chunk = reading.watch.check().and_then(|()| parse(&block));
            reading.watch.advance(block.len() as u64);
            // The feeder may have ended already.
            let _ = give_back.send(block);
            (at, chunk)
        })
        .collect()
}

/// The chunks in order, or the error of the earliest one with its line counted from the start of the file.
pub(super) fn in_order(parsed: Vec<(usize, Result<Chunk>)>, header_lines: u64) -> Result<Vec<Chunk>> {
    let mut lines = header_lines;
    let mut chunks = Vec::with_capacity(parsed.len());
    for (_, chunk) in parsed {
        match chunk {
            Ok(chunk) => {
                lines += chunk.lines;
                chunks.push(chunk);
            }
            Err(error) => {
                return Err(match error.place().line {
                    Some(line) => error.on_line(lines + line),
                    None => error,
                });
            }
        }
    }
    Ok(chunks)
}

/// Cuts a byte stream into blocks of whole records.
struct Blocks {
    input: Box<dyn Read + Send>,
    path: std::path::PathBuf,
    dialect: Dialect,
    buffer: Vec<u8>,
    ended: bool,
    /// Blocks that were parsed.
    spare: Option<Receiver<Vec<u8>>>,
}

impl Blocks {
    fn open(path: &Path) -> Result<Self> {
        let mut blocks = Blocks {
            input: source::open(path)?,
            path: path.to_owned(),
            dialect: Dialect::default(),
            buffer: Vec::new(),
            ended: false,
            spare: None,
        };
        blocks.fill()?;
        if blocks.buffer.starts_with(b"\xef\xbb\xbf") {
            blocks.buffer.drain(..3);
        }
        Ok(blocks)
    }

    /// Reads up to one more chunk.
    fn fill(&mut self) -> Result<()> {
        let limit = CHUNK_BYTES as u64;
        let read = self.input.by_ref().take(limit).read_to_end(&mut self.buffer);
        let read = read.map_err(|cause| self.explain(&cause))?;
        self.ended = (read as u64) < limit;
        Ok(())
    }

    fn explain(&self, cause: &std::io::Error) -> Error {
        let compressed = source::format_of(&self.path).1 != source::Compression::None;
        let error = Error::io("read", &self.path, cause);
        if compressed && error.hint().is_none() {
            error.with_hint("the file may be cut short or not be compressed as its ending says")
        } else {
            error
        }
    }

    fn next_block(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if self.ended {
                let rest = std::mem::take(&mut self.buffer);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            if self.buffer.len() >= CHUNK_BYTES
                && let Some(end) = self.dialect.last_record_end(&self.buffer)
            {
                let spare = self.spare.as_ref().and_then(|spare| spare.try_recv().ok());
                let mut rest = spare.unwrap_or_else(|| Vec::with_capacity(2 * CHUNK_BYTES));
                rest.clear();
                rest.extend_from_slice(&self.buffer[end..]);
                self.buffer.truncate(end);
                return Ok(Some(std::mem::replace(&mut self.buffer, rest)));
            }
            if self.buffer.len() > LONGEST_RECORD {
                return Err(Error::input(format!("a record is longer than {} MiB", LONGEST_RECORD >> 20))
                    .with_hint("a quote may have been left open"));
            }
            self.fill()?;
        }
    }
}
