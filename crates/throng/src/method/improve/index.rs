//! Which groups could take a record without growing in more than one attribute.
//!
//! For every code of every attribute one bit per group tells whether the group's published cell covers it. The groups
//! that cover a record are the conjunction of its codes' bits; those that cover it in all attributes but one come
//! from conjunctions of what stands before and behind each attribute. A summary with one bit per block of groups is
//! asked first, so that far groups cost next to nothing once neighbours stand together.

use super::group::Group;
use crate::problem::{Attribute, Code, Lanes};
use crate::table::Scale;

/// Words of a block.
const BLOCK: usize = 4;
/// Codes of large domains share bits: a hit is then only likely, which is enough for those who look closer.
const MOST_BUCKETS: usize = 128;

pub(super) struct Index<'a> {
    attributes: &'a [Attribute],
    groups: usize,
    /// Where the buckets of each attribute start.
    starts: Vec<usize>,
    /// Words per bucket.
    words: usize,
    bits: Vec<u64>,
    /// Words of a summary per bucket.
    summary_words: usize,
    summaries: Vec<u64>,
    /// The buckets that each group covers, for each attribute.
    covered: Vec<(u32, u32)>,
}

/// Room for a search, one per thread.
#[derive(Default)]
pub(super) struct Scratch {
    buckets: Vec<usize>,
    before: Vec<[u64; BLOCK]>,
    before_summary: Vec<[u64; 1]>,
    blocks: Vec<usize>,
}

/// Covers nothing.
const NOTHING: (u32, u32) = (1, 0);

impl<'a> Index<'a> {
    pub fn new<C: Code>(attributes: &'a [Attribute], groups: &[Group<C>]) -> Self {
        let words = groups.len().div_ceil(64).next_multiple_of(BLOCK);
        let mut starts = vec![0];
        for attribute in attributes {
            starts.push(starts[starts.len() - 1] + attribute.domain.len().clamp(1, MOST_BUCKETS));
        }
        let buckets = starts[attributes.len()];
        let summary_words = (words / BLOCK).div_ceil(64);
        let mut index = Index {
            attributes,
            groups: groups.len(),
            starts,
            words,
            bits: vec![0; buckets * words],
            summary_words,
            summaries: vec![0; buckets * summary_words],
            covered: vec![NOTHING; groups.len() * attributes.len()],
        };
        groups.iter().enumerate().for_each(|(at, group)| index.set(at, group));
        index
    }

    #[inline]
    pub(super) fn bucket(&self, attribute: usize, code: usize) -> usize {
        let values = self.attributes[attribute].domain.len();
        if values <= MOST_BUCKETS { code } else { code * MOST_BUCKETS / values }
    }

    /// Words of a mask over the groups.
    pub fn mask_words(&self) -> usize {
        self.words
    }

    /// Takes note of a group as it is now.
    pub fn set<C: Code>(&mut self, group: usize, now: &Group<C>) {
        for attribute in 0..self.attributes.len() {
            let covered = match now.records.is_empty() {
                true => NOTHING,
                false => {
                    let (low, high) = self.closure(attribute, now);
                    (self.bucket(attribute, low) as u32, self.bucket(attribute, high) as u32)
                }
            };
            let at = group * self.attributes.len() + attribute;
            let before = std::mem::replace(&mut self.covered[at], covered);
            if before != covered {
                self.mark(attribute, before, group, false);
                self.mark(attribute, covered, group, true);
            }
        }
    }

    /// The codes that a group's published cell covers.
    pub(super) fn closure<C: Code>(&self, attribute: usize, group: &Group<C>) -> (usize, usize) {
        closure(&self.attributes[attribute], attribute, group)
    }

    fn mark(&mut self, attribute: usize, (low, high): (u32, u32), group: usize, on: bool) {
        let (word, bit) = (group / 64, 1u64 << (group % 64));
        let (block, block_bit) = (word / BLOCK / 64, 1u64 << (word / BLOCK % 64));
        for bucket in low..=high {
            let bucket = self.starts[attribute] + bucket as usize;
            if on {
                self.bits[bucket * self.words + word] |= bit;
                self.summaries[bucket * self.summary_words + block] |= block_bit;
            } else {
                // The summary may keep a bit too many, which costs a look but never an answer.
                self.bits[bucket * self.words + word] &= !bit;
            }
        }
    }

    /// Visits the groups that cover a record in all attributes but at most one; with a mask, those that it has a bit for.
    pub fn visit<C: Code>(
        &self,
        row: &[Lanes<C>],
        mask: Option<&[u64]>,
        scratch: &mut Scratch,
        mut visit: impl FnMut(usize),
    ) {
        let masked = |block: usize| -> [u64; BLOCK] {
            let words = mask.and_then(|mask| mask.get(block * BLOCK..)?.first_chunk().copied());
            words.unwrap_or(if mask.is_some() { [0; BLOCK] } else { [u64::MAX; BLOCK] })
        };
        let Scratch { buckets, before, before_summary, blocks } = scratch;
        let codes = row.as_flattened();
        buckets.clear();
        for at in 0..self.attributes.len() {
            buckets.push(self.starts[at] + self.bucket(at, codes[at].index()));
        }
        blocks.clear();
        for word in 0..self.summary_words {
            let of = |bucket: usize| [self.summaries[bucket * self.summary_words + word]];
            let [mut found] = all_but_one(buckets, of, before_summary);
            while found != 0 {
                blocks.push(word * 64 + found.trailing_zeros() as usize);
                found &= found - 1;
            }
        }
        for &block in &*blocks {
            let masked = masked(block);
            if masked == [0; BLOCK] {
                continue;
            }
            let of = |bucket: usize| -> [u64; BLOCK] {
                let first = bucket * self.words + block * BLOCK;
                self.bits.get(first..).and_then(|bits| bits.first_chunk()).copied().unwrap_or([0; BLOCK])
            };
            let found = both(all_but_one(buckets, of, before), masked);
            for (at, mut word) in found.into_iter().enumerate() {
                while word != 0 {
                    let group = (block * BLOCK + at) * 64 + word.trailing_zeros() as usize;
                    // With a single attribute every bit counts, also those of groups that do not exist.
                    if group < self.groups {
                        visit(group);
                    }
                    word &= word - 1;
                }
            }
        }
    }
}

/// The bits that are set for all of some buckets, one per attribute, or for all but one of them.
#[inline]
fn all_but_one<const N: usize>(
    buckets: &[usize],
    of: impl Fn(usize) -> [u64; N],
    before: &mut Vec<[u64; N]>,
) -> [u64; N] {
    before.clear();
    let mut all = [u64::MAX; N];
    for &bucket in buckets {
        before.push(all);
        all = both(all, of(bucket));
    }
    let (mut found, mut behind) = (all, [u64::MAX; N]);
    for place in (0..buckets.len()).rev() {
        let others = both(before[place], behind);
        for at in 0..N {
            found[at] |= others[at];
        }
        behind = both(behind, of(buckets[place]));
    }
    found
}

#[inline(always)]
fn both<const N: usize>(mut a: [u64; N], b: [u64; N]) -> [u64; N] {
    for at in 0..N {
        a[at] &= b[at];
    }
    a
}

/// The codes that a group's published cell of an attribute covers.
pub(super) fn closure<C: Code>(attribute: &Attribute, at: usize, group: &Group<C>) -> (usize, usize) {
    let (low, high) = (group.extent.low(at).index(), group.extent.high(at).index());
    match attribute.domain.scale() {
        Scale::Categorical(tree) => {
            let leaves = tree.leaves_under(tree.ancestor(low, high));
            (leaves.start, leaves.end - 1)
        }
        // A range that mixes numbers with a missing value is published as `*`.
        Scale::Numeric { .. } if low != high && attribute.domain.missing() == Some(high as u32) => {
            (0, attribute.domain.len() - 1)
        }
        Scale::Numeric { .. } => (low, high),
    }
}
