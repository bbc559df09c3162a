//! Distinct texts and their numbers.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Numbers distinct texts from 0 in order of first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    table: HashTable<u32>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// One hasher for all, fixed so that runs repeat.
fn hash(text: &[u8]) -> u64 {
    FixedState::with_seed(0x7468_726f_6e67).hash_one(text)
}

impl Interner {
    /// The number of a text, new or known.
    pub fn intern(&mut self, text: &[u8]) -> u32 {
        let hash_of_text = hash(text);
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(&code) = self.table.find(hash_of_text, |&code| slice(bytes, ends, code) == text) {
            return code;
        }
        let code = self.ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.table.insert_unique(hash_of_text, code, |&code| hash(slice(bytes, ends, code)));
        code
    }

    /// The text of a number.
    pub fn text(&self, code: u32) -> &str {
        // Every chunk is checked to be UTF-8 before it is interned.
        std::str::from_utf8(slice(&self.bytes, &self.ends, code)).unwrap_or_default()
    }

    /// All texts in the order of their numbers.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len() as u32).map(|code| self.text(code))
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], code: u32) -> &'a [u8] {
    let start = if code == 0 { 0 } else { ends[code as usize - 1] };
    &bytes[start..ends[code as usize]]
}
