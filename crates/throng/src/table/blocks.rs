//! Texts of records: one thread fetches and cuts, the others parse, and the chunks come back in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rayon::iter::{ParallelBridge, ParallelIterator};

use super::chunk::Chunk;
use super::reading::Reading;
use super::source::Stream;
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::watch::Watch;

/// Bytes in a chunk: small enough to share a small file among threads, large enough to amortise dictionaries.
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes in a chunk for each column of a wide table, up to a limit: a chunk has a dictionary per column.
const BYTES_PER_COLUMN: usize = 1 << 10;
const MOST_CHUNK_BYTES: usize = 32 << 20;
/// A record this long means that a quote was left open.
const LONGEST_RECORD: usize = 64 << 20;
/// Chunks read ahead of the parsers.
const READ_AHEAD: usize = 8;
/// Blocks of a piece, where a table is read piece by piece.
const BLOCKS_PER_PIECE: usize = 16;

/// Where the last whole record of a text that starts with a record ends.
pub(crate) type RecordEnd = dyn Fn(&[u8]) -> Option<usize> + Send;

/// Cuts a stream of bytes into blocks of whole records.
pub(crate) struct Blocks<'a> {
    stream: Stream<'a>,
    record_end: Box<RecordEnd>,
    buffer: Vec<u8>,
    ended: bool,
    /// Bytes in a block.
    size: usize,
    /// Blocks that were parsed.
    spare: Option<Receiver<Vec<u8>>>,
}

impl<'a> Blocks<'a> {
    /// Reads the first bytes; how records end may be told from them.
    pub fn start(stream: Stream<'a>, record_end: impl FnOnce(&[u8]) -> Box<RecordEnd>) -> Result<Self> {
        let nowhere: Box<RecordEnd> = Box::new(|_| None);
        let mut blocks = Blocks {
            stream,
            record_end: nowhere,
            buffer: Vec::new(),
            ended: false,
            size: CHUNK_BYTES,
            spare: None,
        };
        blocks.fill()?;
        if blocks.buffer.starts_with(b"\xef\xbb\xbf") {
            blocks.buffer.drain(..3);
        }
        if is_utf16(&blocks.buffer) {
            return Err(Error::new(ErrorCode::NotUtf8, "the text is UTF-16, which is not read")
                .with_hint("save it as UTF-8, for instance with `iconv -f utf-16 -t utf-8`"));
        }
        blocks.record_end = record_end(&blocks.buffer);
        Ok(blocks)
    }

    /// Makes the blocks that follow large enough for a number of columns.
    pub fn widen(&mut self, columns: usize) {
        self.size = columns.saturating_mul(BYTES_PER_COLUMN).clamp(CHUNK_BYTES, MOST_CHUNK_BYTES);
    }

    /// Reads up to one more chunk.
    fn fill(&mut self) -> Result<()> {
        let limit = CHUNK_BYTES as u64;
        self.ended = self.stream.read(limit, &mut self.buffer)? < limit;
        Ok(())
    }

    /// The next block, if there is one.
    pub fn next_block(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if self.ended {
                let rest = std::mem::take(&mut self.buffer);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            if self.buffer.len() >= self.size
                && let Some(end) = (self.record_end)(&self.buffer)
            {
                let spare = self.spare.as_ref().and_then(|spare| spare.try_recv().ok());
                let mut rest = spare.unwrap_or_else(|| Vec::with_capacity(2 * CHUNK_BYTES));
                rest.clear();
                rest.extend_from_slice(&self.buffer[end..]);
                self.buffer.truncate(end);
                return Ok(Some(std::mem::replace(&mut self.buffer, rest)));
            }
            if self.buffer.len() > LONGEST_RECORD {
                return Err(Error::new(
                    ErrorCode::RecordTooLong,
                    format!("a record is longer than {} MiB", LONGEST_RECORD >> 20),
                )
                .with_hint("a quote may have been left open"));
            }
            self.fill()?;
        }
    }

    /// Parses some blocks and then all that are left, a few at a time, and hands the chunks over in order, with the lines
    /// that stand before them. At no time are more than two pieces in memory.
    pub fn parse_pieces(
        mut self,
        first: Vec<Vec<u8>>,
        header_lines: u64,
        reading: &Reading<'_>,
        parse: impl Fn(&[u8]) -> Result<Chunk> + Sync,
        take: &mut dyn FnMut(Vec<Chunk>, u64) -> Result<()>,
    ) -> Result<()> {
        let (sender, receiver) = sync_channel(READ_AHEAD);
        let (give_back, given_back) = channel();
        self.spare = Some(given_back);
        let failed = AtomicBool::new(false);
        let failed = &failed;
        std::thread::scope(|scope| {
            let feeder = scope.spawn(move || feed(self, first, &sender, reading.watch, failed));
            let mut lines = header_lines;
            let mut outcome = Ok(());
            while outcome.is_ok() {
                let blocks: Vec<Vec<u8>> = receiver.iter().take(BLOCKS_PER_PIECE).collect();
                if blocks.is_empty() {
                    break;
                }
                let parsed: Vec<Result<Chunk>> = parallel::map(blocks, |block| {
                    let chunk = reading.watch.check().and_then(|()| parse(&block));
                    reading.watch.advance(block.len() as u64);
                    // The feeder may have ended already.
                    let _ = give_back.send(block);
                    chunk
                });
                let before = lines;
                outcome = in_order(parsed, before).and_then(|chunks| {
                    lines += chunks.iter().map(|chunk| chunk.lines).sum::<u64>();
                    take(chunks, before)
                });
            }
            // The feeder waits for room that nobody makes any more.
            failed.store(outcome.is_err(), Ordering::Relaxed);
            drop(receiver);
            match (feeder.join(), outcome) {
                (Err(_), _) => Err(Error::bug("the reading thread failed")),
                (_, Err(error)) | (Ok(Err(error)), Ok(())) => Err(error),
                (Ok(Ok(())), Ok(())) => reading.watch.check(),
            }
        })
    }

    /// Parses some blocks and then all that are left. Lines in errors of `parse` count from the start of a block, which
    /// stands behind so many lines of a header.
    pub fn parse(
        mut self,
        first: Vec<Vec<u8>>,
        header_lines: u64,
        reading: &Reading<'_>,
        parse: impl Fn(&[u8]) -> Result<Chunk> + Sync,
    ) -> Result<Vec<Chunk>> {
        let (sender, receiver) = sync_channel(READ_AHEAD);
        let (give_back, given_back) = channel();
        self.spare = Some(given_back);
        let failed = AtomicBool::new(false);
        let failed = &failed;
        let mut parsed: Vec<(usize, Result<Chunk>)> = std::thread::scope(|scope| {
            let feeder = scope.spawn(move || feed(self, first, &sender, reading.watch, failed));
            let parsed = parse_all(receiver, &give_back, reading, &|block| {
                // What comes after a mistake is not needed any more.
                parse(block).inspect_err(|_| failed.store(true, Ordering::Relaxed))
            });
            match feeder.join() {
                Ok(Ok(())) => Ok(parsed),
                Ok(Err(error)) => Err(error),
                Err(_) => Err(Error::bug("the reading thread failed")),
            }
        })?;
        parsed.arrange_by_key(|(at, _)| *at);
        let mut chunks = in_order(parsed.into_iter().map(|(_, chunk)| chunk), header_lines)?;
        if let Some(first) = chunks.first_mut().filter(|_| header_lines > 0) {
            count_header_lines(first, header_lines);
        }
        reading.watch.check()?;
        Ok(chunks)
    }
}

/// Texts in UTF-16 start with a mark, or have a zero beside every letter.
fn is_utf16(start: &[u8]) -> bool {
    let marked = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    let sample = &start[..start.len().min(1 << 10)];
    marked || sample.len() >= 4 && sample.iter().filter(|byte| **byte == 0).count() * 3 > sample.len()
}

/// Sends blocks of whole records until the file ends or the parsers are gone.
fn feed(
    mut blocks: Blocks<'_>,
    first: Vec<Vec<u8>>,
    sender: &SyncSender<Vec<u8>>,
    watch: &dyn Watch,
    failed: &AtomicBool,
) -> Result<()> {
    for block in first {
        if failed.load(Ordering::Relaxed) || sender.send(block).is_err() {
            return Ok(());
        }
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
    parse: &(dyn Fn(&[u8]) -> Result<Chunk> + Sync),
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

/// The chunks, or the error of the earliest one with its line counted from the start of the file.
pub(crate) fn in_order(
    parsed: impl IntoIterator<Item = Result<Chunk>>,
    header_lines: u64,
) -> Result<Vec<Chunk>> {
    let mut lines = header_lines;
    let mut chunks = Vec::new();
    for chunk in parsed {
        let chunk = chunk.map_err(|error| match error.place().line {
            Some(line) => error.on_line(lines + line),
            None => error,
        })?;
        lines += chunk.lines;
        chunks.push(chunk);
    }
    Ok(chunks)
}

/// Lines in messages count from the start of the file, so the header belongs to the first chunk.
fn count_header_lines(first: &mut Chunk, header_lines: u64) {
    let lines = first.line_of_row.take().unwrap_or_else(|| (1..=first.rows as u32).collect());
    first.line_of_row = Some(lines.into_iter().map(|line| line + header_lines as u32).collect());
    first.lines += header_lines;
}
