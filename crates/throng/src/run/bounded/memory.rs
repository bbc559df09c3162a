//! How much memory a run may take, and what that allows.

use std::path::PathBuf;

use crate::error::Result;
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

impl Room {
    pub fn new(bytes: u64) -> Self {
        Room { bytes: bytes.saturating_sub(BASE).max(BASE) }
    }

    /// Records that can be solved at once, with so many quasi-identifiers and coded columns.
    pub fn records(self, attributes: usize, coded: usize) -> u64 {
        let each = PER_RECORD + 12 * attributes.next_multiple_of(16) as u64 + 8 * coded as u64;
        (self.bytes * 6 / 10 / each).max(10_000)
    }

    /// Files that released rows of so many bytes in all are dealt to, so that each can be put in order at once.
    pub fn buckets(self, bytes: u64) -> usize {
        let most = (self.bytes / 12).max(1);
        (bytes.div_ceil(most).max(1) as usize).next_power_of_two().min(256)
    }

    /// Passes over a release of so many bytes in memory that its audit takes.
    pub fn audits(self, bytes: u64) -> u64 {
        bytes.div_ceil((self.bytes * 5 / 10).max(1)).max(1)
    }

    /// Rows of so many bytes that are dealt at once.
    pub fn together(self, bytes: u64) -> usize {
        ((self.bytes / 16 / bytes.max(1)) as usize).clamp(1 << 12, 1 << 18)
    }
}
