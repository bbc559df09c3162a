//! Distinct texts and their numbers.
//!
//! Most cells are short. A short text is told by two words, so that finding it takes neither a call nor a comparison whose length
//! varies from cell to cell.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Texts of up to this many bytes are short.
pub(super) const SHORT: usize = 16;

/// A short text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ShortText {
    /// The bytes, then zeros.
    pub bytes: u128,
    /// One more than the length, so that none is equal to nothing.
    pub length: u32,
}

impl ShortText {
    /// The text at a place of another, if it is short and not at the very end. Loads a fixed number of bytes and masks
    /// those behind it, because lengths that vary would be mispredicted.
    #[inline(always)]
    pub fn at(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let length = end - start;
        let bytes = text.get(start..)?.first_chunk::<SHORT>()?;
        let mask = *MASKS.get(length)?;
        Some(ShortText { bytes: u128::from_le_bytes(*bytes) & mask, length: length as u32 + 1 })
    }

    /// A text by itself.
    #[inline]
    fn of(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; SHORT];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(ShortText { bytes: u128::from_le_bytes(bytes), length: text.len() as u32 + 1 })
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        let (low, high) = (self.bytes as u64, (self.bytes >> u64::BITS) as u64);
        let low = u128::from(low ^ 0x7468_726f_6e67_5eed);
        let product = low * u128::from(high ^ u64::from(self.length) ^ 0x9e37_79b9_7f4a_7c15);
        (product >> u64::BITS) as u64 ^ product as u64
    }
}

/// The bytes of a text of each length.
const MASKS: [u128; SHORT + 1] = {
    let mut masks = [0; SHORT + 1];
    let mut length = 1;
    while length <= SHORT {
        masks[length] = u128::MAX >> (8 * (SHORT - length));
        length += 1;
    }
    masks
};

/// Numbers distinct texts from 0 in order of first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    table: HashTable<u32>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// One hasher for all long texts, fixed so that runs repeat.
fn hash_of_long(text: &[u8]) -> u64 {
    FixedState::with_seed(0x7468_726f_6e67).hash_one(text)
}

impl Interner {
    /// The number of a text, new or known.
    pub fn intern(&mut self, text: &[u8]) -> u32 {
        match ShortText::of(text) {
            Some(short) => self.intern_short(short, text),
            None => self.intern_long(text),
        }
    }

    /// The same of a short text that was told already.
    #[inline]
    pub(super) fn intern_short(&mut self, short: ShortText, text: &[u8]) -> u32 {
        let (bytes, ends) = (&self.bytes, &self.ends);
        let same = |code: &u32| {
            let (start, end) = place(ends, *code);
            match ShortText::at(bytes, start, end) {
                Some(own) => own == short,
                None => bytes[start..end] == *text,
            }
        };
        match self.table.find(short.hash(), same) {
            Some(&code) => code,
            None => self.add(short.hash(), text),
        }
    }

    fn intern_long(&mut self, text: &[u8]) -> u32 {
        let (bytes, ends) = (&self.bytes, &self.ends);
        let hash = hash_of_long(text);
        match self.table.find(hash, |&code| slice(bytes, ends, code) == text) {
            Some(&code) => code,
            None => self.add(hash, text),
        }
    }

    fn add(&mut self, hash: u64, text: &[u8]) -> u32 {
        let code = self.ends.len() as u32;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.table.insert_unique(hash, code, |&code| hash_of(bytes, ends, code));
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

    /// The numbers that the texts of another have here, new or known.
    pub fn intern_all(&mut self, other: &Interner) -> Vec<u32> {
        (0..other.len() as u32).map(|code| self.intern(slice(&other.bytes, &other.ends, code))).collect()
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
}

fn hash_of(bytes: &[u8], ends: &[usize], code: u32) -> u64 {
    let (start, end) = place(ends, code);
    let short = ShortText::at(bytes, start, end).or_else(|| ShortText::of(&bytes[start..end]));
    short.map_or_else(|| hash_of_long(&bytes[start..end]), ShortText::hash)
}

#[inline(always)]
fn place(ends: &[usize], code: u32) -> (usize, usize) {
    (if code == 0 { 0 } else { ends[code as usize - 1] }, ends[code as usize])
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], code: u32) -> &'a [u8] {
    let (start, end) = place(ends, code);
    &bytes[start..end]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn texts_of_any_length_are_numbered_as_they_first_appear() {
        let mut interner = Interner::default();
        let mut plain: HashMap<String, u32> = HashMap::new();
        for at in 0..20_000u64 {
            let number = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
            // Zeros at the end, and texts that begin alike.
            let text = format!("{}{}", "x".repeat(number as usize % 21), if at % 3 == 0 { "\0" } else { "" });
            let text = if at % 2 == 0 { text } else { format!("{number}{text}") };
            let next = plain.len() as u32;
            let expected = *plain.entry(text.clone()).or_insert(next);
            let place = format!("{text}, and what follows");
            let found = match ShortText::at(place.as_bytes(), 0, text.len()) {
                Some(short) if at % 5 < 3 => interner.intern_short(short, text.as_bytes()),
                _ => interner.intern(text.as_bytes()),
            };
            assert_eq!(found, expected, "{text:?}");
            assert_eq!(interner.text(found), text);
        }
        assert_eq!(interner.len(), plain.len());
        let mut again = Interner::default();
        assert_eq!(again.intern(b"first"), 0);
        assert_eq!(again.intern_all(&interner), (1..=interner.len() as u32).collect::<Vec<_>>());
    }
}
