//! How much memory a run may take, and what that allows.

use std::path::PathBuf;

use crate::error::{Error, ErrorCode, Result};
use crate::keys;

/// A limit on memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes; as many as the machine has to spare where nobody says.
    pub bytes: Option<u64>,
    /// Where what does not fit is kept meanwhile; beside the release where nobody says.
    pub scratch: Option<PathBuf>,
    /// The number of parts of the first round, to compare runs; as many as the limit asks for where nobody says.
    pub parts: Option<usize>,
}

impl Memory {
    /// A limit of so many bytes.
    pub fn of(bytes: u64) -> Self {
        Memory { bytes: Some(bytes), ..Memory::default() }
    }

    /// The bytes that a text such as `2GiB`, `500 MB` or `1073741824` says.
    pub fn parse(text: &str) -> Result<u64> {
        keys::memory(text)
    }
}

/// Bytes of memory that the machine has to spare, as far as it tells.
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let free = kib << 10;
    Some(limit_of_group().map_or(free, |limit| limit.min(free)))
}

/// What the group of processes that this one belongs to may take, where that is limited.
fn limit_of_group() -> Option<u64> {
    let most: u64 = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()?;
    let taken: u64 = std::fs::read_to_string("/sys/fs/cgroup/memory.current").ok()?.trim().parse().ok()?;
    Some(most.saturating_sub(taken))
}

/// What a limit on memory allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) struct Room {
    bytes: u64,
}

/// Bytes that the audit takes for a row beside its texts.
pub(in crate::run) const AUDIT_ROW: u64 = 120;
/// Bytes that are taken whatever the table is.
const BASE: u64 = 40 << 20;
/// Bytes that solving takes for each record beside its codes, with the most demanding method.
const PER_RECORD: u64 = 200;

/// Bytes for each cell of a sample of rows: several times what it takes, because there is other work to be done beside.
const PER_SAMPLED_CELL: u64 = 320;

/// Parts have so many records at least where a table has them: cuts are dear.
const FEWEST: u64 = 10_000;
/// Files that the rows of a release are dealt to, at most.
pub(super) const MOST_FILES: u64 = 512;

/// How many quasi-identifiers a table has, and how many columns that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) struct Shape {
    pub attributes: usize,
    pub coded: usize,
}

impl Shape {
    /// Bytes that solving takes for a record.
    fn each(self) -> u64 {
        PER_RECORD + 12 * self.attributes.next_multiple_of(16) as u64 + 8 * self.coded as u64
    }
}

/// An error if somebody asks for more parts than there can be.
pub(in crate::run) fn check_parts(asked: Option<usize>, most: usize) -> Result<()> {
    match asked {
        Some(parts) if parts > most => {
            Err(Error::new(ErrorCode::BadUsage, format!("{parts} parts are more than there can be"))
                .with_hint(format!("ask for {most} at most, or leave it to the limit on memory")))
        }
        _ => Ok(()),
    }
}

fn too_little(why: &str, needed: u64) -> Error {
    Error::new(ErrorCode::BadUsage, format!("so little memory is not enough for this table: {why}"))
        .with_hint(format!("write {}MiB or more", (needed + BASE).div_ceil(1 << 20)))
}

impl Room {
    pub fn new(bytes: u64) -> Self {
        Room { bytes: bytes.saturating_sub(BASE).max(BASE) }
    }

    /// Records of a part: those of one of so many parts if somebody says how many, else as many as can be solved at once, with so
    /// many quasi-identifiers and coded columns. An error if there would be more parts than `most`.
    pub fn capacity(self, rows: u64, shape: Shape, asked: Option<usize>, most: usize) -> Result<u64> {
        if let Some(parts) = asked {
            return Ok(rows.div_ceil(parts.max(1) as u64));
        }
        let fit = self.records(shape);
        let least = rows.div_ceil(most as u64).max(rows.min(FEWEST));
        match fit >= least {
            true => Ok(fit),
            false => Err(too_little(
                &format!(
                    "{rows} rows would be cut into more than {most} parts, or into parts of less than {FEWEST} rows"
                ),
                (least * shape.each() * 10).div_ceil(6),
            )),
        }
    }

    /// Records that can be solved at once.
    fn records(self, shape: Shape) -> u64 {
        self.bytes * 6 / 10 / shape.each()
    }

    /// Files that released rows of so many bytes in all are dealt to, so that each can be put in order at once.
    pub fn buckets(self, bytes: u64) -> Result<usize> {
        let files = bytes.div_ceil((self.bytes / 12).max(1)).max(1).next_power_of_two();
        match files <= MOST_FILES {
            true => Ok(files as usize),
            false => Err(too_little(
                &format!("the release would be put in order in more than {MOST_FILES} files"),
                bytes.div_ceil(MOST_FILES) * 12,
            )),
        }
    }

    /// Parts of a release of so many bytes in memory that its audit looks at one by one.
    pub fn audits(self, bytes: u64) -> u64 {
        bytes.div_ceil((self.bytes * 3 / 10).max(1)).max(1)
    }

    /// Cells that a sample of rows may have.
    pub fn sampled_cells(self) -> usize {
        (self.bytes / PER_SAMPLED_CELL) as usize
    }

    /// Rows of so many bytes that are dealt at once.
    pub fn together(self, bytes: u64) -> usize {
        ((self.bytes / 16 / bytes.max(1)) as usize).clamp(1 << 12, 1 << 18)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The memory that a refusal names.
    fn asked_for(refused: &Error) -> u64 {
        let hint = refused.hint().unwrap();
        let end = hint.find("MiB").unwrap();
        hint["write ".len()..end].parse::<u64>().unwrap() << 20
    }

    #[test]
    fn what_a_refusal_asks_for_is_enough_and_little_less_is_not() {
        let shape = Shape { attributes: 8, coded: 9 };
        let rows = 1_000_000_000;
        let capacity = |bytes: u64| Room::new(bytes).capacity(rows, shape, None, 400);
        let needed = asked_for(&capacity(1 << 30).unwrap_err());
        assert!(rows.div_ceil(capacity(needed).unwrap()) <= 400);
        assert!(capacity(needed - (2 << 20)).is_err());
        let bytes = rows * 100;
        let buckets = |memory: u64| Room::new(memory).buckets(bytes);
        let needed = asked_for(&buckets(1 << 30).unwrap_err());
        assert!(buckets(needed).unwrap() <= MOST_FILES as usize);
        assert!(buckets(needed - (2 << 20)).is_err());
    }

    #[test]
    fn small_tables_need_no_parts_of_their_own_size() {
        let shape = Shape { attributes: 3, coded: 4 };
        assert!(Room::new(128 << 20).capacity(5, shape, None, 400).unwrap() >= 5);
        assert_eq!(Room::new(128 << 20).capacity(10, shape, Some(4), 400).unwrap(), 3);
        assert!(check_parts(Some(401), 400).is_err() && check_parts(Some(400), 400).is_ok());
    }
}
