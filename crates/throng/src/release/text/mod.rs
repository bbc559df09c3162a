//! Releases as lines of text, however they are spelt.
//!
//! Rows are rendered in the order of the table, where what they need lies together, and dealt to the buckets of the
//! shuffle; then each bucket, which fits a cache, is put in order. Both run in parallel, and another thread writes
//! what is done.

mod layout;

use std::io::Write;
use std::ops::Range;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard};

use super::rows::{BUCKETS, Shuffle};
use super::{Column, Content, Release};
use crate::error::{Error, ErrorCode, Result};
use crate::format::{Syntax, Target};
use crate::parallel;
use crate::watch::Watch;
use layout::Layout;

/// Rows that keep their order are rendered so many at a time by each thread.
const ROWS_PER_BLOCK: usize = 4096;
/// Blocks that are handed to the writing thread together.
const BLOCKS_AT_A_TIME: usize = 16;
/// Rows that are dealt together.
const ROWS_PER_SEGMENT: usize = 1 << 16;
/// A release is rendered in several passes over the table that fill the same memory again, because memory that is new
/// costs more than looking at the table once more. But each pass finds fewer of its rows on a page.
const BYTES_PER_PASS: usize = 1 << 25;
const FEW_PASSES: usize = 8;
/// Even a release of any size is rendered in so much memory.
const MOST_BYTES_PER_PASS: usize = 1 << 29;

pub(super) fn write<S: Syntax>(
    release: &Release<'_>,
    syntax: &S,
    target: &mut Target<'_>,
    watch: &dyn Watch,
) -> Result<()> {
    refuse_nested(release)?;
    let layout = Layout::new(release, syntax);
    let place = target.place().to_owned();
    let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write", &place, &cause);
    target.write_all(&layout.head()).map_err(fail)?;
    let spare = Spare::default();
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Vec<Vec<u8>>>(1);
        let spare = &spare;
        let written = scope.spawn(move || {
            for block in receiver.into_iter().flatten() {
                target.write_all(&block)?;
                spare.put(block);
            }
            Ok(())
        });
        let work = Work { layout: &layout, sender, spare, watch };
        match &release.rows.shuffle {
            None => work.write_in_order(&release.rows.records)?,
            Some(shuffle) => work.write_shuffled(&release.rows.records, shuffle)?,
        }
        drop(work);
        match written.join() {
            Ok(outcome) => outcome.map_err(fail),
            Err(_) => Err(Error::bug("the writing thread failed")),
        }
    })
}

/// Lists and structures have no one way to be written in a line.
fn refuse_nested(release: &Release<'_>) -> Result<()> {
    let nested = |column: &&Column<'_>| {
        release.table.is_nested(column.source) && matches!(column.content, Content::Text)
    };
    release.columns.iter().find(nested).map_or(Ok(()), |column| {
        Err(Error::new(ErrorCode::NestedValue, "a column of lists or structures cannot be written as text")
            .in_file(release.table.origin())
            .for_attribute(&column.name)
            .with_hint("write Parquet or Arrow, or make the column an identifier to leave it out"))
    })
}

/// Memory of blocks that were written, to be filled again.
#[derive(Default)]
struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    fn take(&self, room: usize) -> Vec<u8> {
        let spare = self.0.lock().ok().and_then(|mut spare: MutexGuard<'_, Vec<Vec<u8>>>| spare.pop());
        let mut block = spare.unwrap_or_else(|| Vec::with_capacity(room));
        block.clear();
        block
    }

    fn put(&self, block: Vec<u8>) {
        if let Ok(mut spare) = self.0.lock() {
            spare.push(block);
        }
    }
}

/// Writing, as seen by those who render.
struct Work<'a, S> {
    layout: &'a Layout<'a, S>,
    sender: SyncSender<Vec<Vec<u8>>>,
    spare: &'a Spare,
    watch: &'a dyn Watch,
}

impl<S: Syntax> Work<'_, S> {
    /// Hands blocks to the writing thread. Tells whether it still listens: it is gone only after a failed write,
    /// which is told when it is joined.
    fn send(&self, blocks: Vec<Vec<u8>>, rows: usize) -> bool {
        self.watch.advance(rows as u64);
        self.sender.send(blocks).is_ok()
    }

    fn write_in_order(&self, records: &[u32]) -> Result<()> {
        for rows in records.chunks(ROWS_PER_BLOCK * BLOCKS_AT_A_TIME) {
            self.watch.check()?;
            let block = |records: &[u32]| {
                let mut block = self.spare.take(records.len() * 128);
                records.iter().for_each(|record| self.layout.push_row(*record, &mut block));
                block
            };
            if !self.send(parallel::map(rows.chunks(ROWS_PER_BLOCK), block), rows.len()) {
                break;
            }
        }
        Ok(())
    }

    fn write_shuffled(&self, records: &[u32], shuffle: &Shuffle) -> Result<()> {
        let row_bytes = self.usual_row_bytes(records);
        let bytes = records.len() * row_bytes;
        let passes = bytes.div_ceil(BYTES_PER_PASS).clamp(1, FEW_PASSES).max(bytes / MOST_BYTES_PER_PASS);
        let buckets_per_pass = BUCKETS.div_ceil(passes.min(BUCKETS));
        let mut segments: Vec<Segment> = records
            .chunks(ROWS_PER_SEGMENT)
            .map(|records| Segment::new(buckets_per_pass, records.len() / BUCKETS, row_bytes))
            .collect();
        for first in (0..BUCKETS).step_by(buckets_per_pass) {
            let buckets = first..BUCKETS.min(first + buckets_per_pass);
            self.deal(records, shuffle, &buckets, &mut segments)?;
            for first in buckets.clone().step_by(BLOCKS_AT_A_TIME) {
                self.watch.check()?;
                let some = first..buckets.end.min(first + BLOCKS_AT_A_TIME);
                let rows = shuffle.within[some.clone()].iter().map(Vec::len).sum();
                let block = |bucket: usize| {
                    let places = &shuffle.within[bucket];
                    let mut block = self.spare.take(places.len() * (row_bytes + 8));
                    gather(&segments, bucket - buckets.start, places, &mut block);
                    block
                };
                if !self.send(parallel::map(some, block), rows) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// About how long rows are.
    fn usual_row_bytes(&self, records: &[u32]) -> usize {
        let sample = &records[..records.len().min(1000)];
        let mut text = Vec::new();
        sample.iter().for_each(|record| self.layout.push_row(*record, &mut text));
        text.len().div_ceil(sample.len().max(1)).max(1)
    }

    /// Renders the rows of some buckets in the order of the table.
    fn deal(
        &self,
        records: &[u32],
        shuffle: &Shuffle,
        buckets: &Range<usize>,
        segments: &mut [Segment],
    ) -> Result<()> {
        let records = records.chunks(ROWS_PER_SEGMENT);
        let rows = records.zip(shuffle.bucket_of.chunks(ROWS_PER_SEGMENT));
        parallel::try_each(segments.iter_mut().zip(rows), |(segment, (records, bucket_of))| {
            self.watch.check()?;
            segment.clear();
            for (&record, &bucket) in records.iter().zip(bucket_of) {
                if buckets.contains(&usize::from(bucket)) {
                    let rows = &mut segment.buckets[usize::from(bucket) - buckets.start];
                    self.layout.push_row(record, &mut rows.text);
                    rows.ends.push(rows.text.len());
                }
            }
            Ok(())
        })
    }
}

/// Rendered rows that stand together in the table, by bucket.
struct Segment {
    buckets: Vec<RenderedRows>,
}

struct RenderedRows {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Segment {
    fn new(buckets: usize, rows: usize, row_bytes: usize) -> Self {
        // Rows fall to a bucket as they like; a quarter more is seldom exceeded.
        let rows = rows + rows / 4 + 8;
        let empty =
            || RenderedRows { text: Vec::with_capacity(rows * row_bytes), ends: Vec::with_capacity(rows) };
        Segment { buckets: (0..buckets).map(|_| empty()).collect() }
    }

    /// Empties it and keeps its memory.
    fn clear(&mut self) {
        for rows in &mut self.buckets {
            rows.text.clear();
            rows.ends.clear();
        }
    }
}

/// Appends the rows of a bucket in their final order.
fn gather(segments: &[Segment], bucket: usize, places: &[u32], block: &mut Vec<u8>) {
    let mut rows: Vec<&[u8]> = Vec::with_capacity(places.len());
    for RenderedRows { text, ends } in segments.iter().map(|segment| &segment.buckets[bucket]) {
        let mut start = 0;
        for &end in ends {
            rows.push(&text[start..end]);
            start = end;
        }
    }
    places.iter().for_each(|place| block.extend_from_slice(rows[*place as usize]));
}
