//! Leaf partitions (TIPS): the rows with equal masked values, side by side.
//!
//! Each leaf is a slice of one list of rows. A refinement deals the rows of the leaves that hold the refined value to
//! their children, in place, and touches no other row. Codes move along with their rows, so that a leaf is always read
//! from one end to the other. Links lead from each masked value to the leaves that hold it.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::rows::{Rows, Slice};
use super::state::NONE;
use crate::problem::{Code, LANES, Lanes, Matrix};

/// Slices up to this long are dealt side by side, without memory of their own.
const SHORT: usize = 32;
/// Slices longer than this are dealt and counted in parallel.
pub(super) const LONG: usize = 1 << 15;

/// Rows with equal masked values: a slice of the list of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub start: u32,
    pub end: u32,
    /// Number of records.
    pub size: u32,
}

/// A leaf that a refinement made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub leaf: u32,
    /// The leaf it was part of; the same for one of the pieces.
    pub from: u32,
    /// Which child of the refined value it holds.
    pub side: u32,
}

/// All leaves.
pub(super) struct Leaves<C> {
    rows: Vec<u32>,
    /// The codes of the rows, in the same order.
    codes: Vec<Lanes<C>>,
    stride: usize,
    pub leaves: Vec<Leaf>,
    width: usize,
    /// The masked value of each attribute, leaf by leaf.
    masks: Vec<u32>,
    /// The leaves that hold each masked value, attribute by attribute.
    links: Vec<Vec<Vec<u32>>>,
}

/// What a refinement does to an attribute.
pub(super) struct Deal<'a> {
    pub attribute: usize,
    pub value: u32,
    /// The masked value of each side.
    pub children: &'a [u32],
    /// The side of each code.
    pub side: &'a [u32],
}

impl<C: Code> Leaves<C> {
    /// One leaf of all rows, with the first masked value of every attribute.
    pub fn new(codes: Matrix<C>, records: usize, width: usize) -> Self {
        let rows = codes.len();
        Leaves {
            rows: (0..rows as u32).collect(),
            stride: codes.stride(),
            codes: codes.into_data(),
            leaves: vec![Leaf { start: 0, end: rows as u32, size: records as u32 }],
            width,
            masks: vec![0; width],
            links: vec![vec![vec![0]]; width],
        }
    }

    /// The rows of a leaf.
    pub fn rows(&self, leaf: u32) -> &[u32] {
        let Leaf { start, end, .. } = self.leaves[leaf as usize];
        &self.rows[start as usize..end as usize]
    }

    /// The rows of a leaf with their codes.
    pub fn slice(&self, leaf: u32) -> Slice<'_, C> {
        let Leaf { start, end, .. } = self.leaves[leaf as usize];
        let codes = &self.codes[start as usize * self.stride..end as usize * self.stride];
        (self.rows(leaf), codes, self.stride)
    }

    /// The masked values of a leaf.
    pub fn masks(&self, leaf: u32) -> &[u32] {
        &self.masks[leaf as usize * self.width..][..self.width]
    }

    /// Refines a value: the leaves that hold it fall apart into pieces.
    pub fn refine(&mut self, rows: &Rows, deal: &Deal<'_>) -> Vec<Piece> {
        let mut linked = std::mem::take(&mut self.links[deal.attribute][deal.value as usize]);
        linked.sort_unstable_by_key(|leaf| self.leaves[*leaf as usize].start);
        let dealt = self.deal_rows(rows, deal, &linked);
        let mut pieces = Vec::with_capacity(linked.len() * 2);
        for (leaf, sides) in linked.into_iter().zip(dealt) {
            self.part(leaf, &sides, deal, &mut pieces);
        }
        pieces
    }

    /// Deals the rows of some leaves to sides. For each leaf and side, the number of rows and of records.
    fn deal_rows(&mut self, rows: &Rows, deal: &Deal<'_>, linked: &[u32]) -> Vec<Vec<(u32, u32)>> {
        let stride = self.stride;
        let mut slices = Vec::with_capacity(linked.len());
        let (mut rest, mut rest_codes, mut at) = (self.rows.as_mut_slice(), self.codes.as_mut_slice(), 0);
        for leaf in linked {
            let Leaf { start, end, .. } = self.leaves[*leaf as usize];
            let (skipped, own) = (start as usize - at, (end - start) as usize);
            let (own_rows, after) = rest.split_at_mut(skipped).1.split_at_mut(own);
            let (own_codes, after_codes) =
                rest_codes.split_at_mut(skipped * stride).1.split_at_mut(own * stride);
            slices.push(Dealing { rows: own_rows, codes: own_codes, stride });
            (rest, rest_codes, at) = (after, after_codes, end as usize);
        }
        slices
            .into_par_iter()
            .with_min_len(8)
            .map_init(Spare::default, |spare, slice| match slice.rows.len() {
                0..=SHORT => slice.deal_short(rows, deal, spare),
                _ => slice.deal(rows, deal),
            })
            .collect()
    }

    /// Makes the pieces of a leaf whose rows are dealt.
    fn part(&mut self, leaf: u32, sides: &[(u32, u32)], deal: &Deal<'_>, pieces: &mut Vec<Piece>) {
        let mut start = self.leaves[leaf as usize].start;
        let mut own = Some(leaf);
        for (side, &(rows, size)) in (0..).zip(sides).filter(|(_, (rows, _))| *rows > 0) {
            let piece = Leaf { start, end: start + rows, size };
            start += rows;
            // The first piece keeps the place of the leaf, so that all other links stay as they are.
            let at = match own.take() {
                Some(leaf) => {
                    self.leaves[leaf as usize] = piece;
                    leaf
                }
                None => self.add(leaf, piece, deal.attribute),
            };
            let child = deal.children[side as usize];
            self.masks[at as usize * self.width + deal.attribute] = child;
            self.link(deal.attribute, child, at);
            pieces.push(Piece { leaf: at, from: leaf, side });
        }
    }

    /// Adds a leaf that differs from another in one attribute only.
    fn add(&mut self, like: u32, leaf: Leaf, except: usize) -> u32 {
        let at = self.leaves.len() as u32;
        self.leaves.push(leaf);
        let from = like as usize * self.width;
        self.masks.extend_from_within(from..from + self.width);
        for attribute in (0..self.width).filter(|attribute| *attribute != except) {
            self.link(attribute, self.masks[from + attribute], at);
        }
        at
    }

    fn link(&mut self, attribute: usize, value: u32, leaf: u32) {
        debug_assert_ne!(value, NONE);
        let links = &mut self.links[attribute];
        if links.len() <= value as usize {
            links.resize(value as usize + 1, Vec::new());
        }
        links[value as usize].push(leaf);
    }
}

/// A leaf whose rows are dealt to sides.
struct Dealing<'a, C> {
    rows: &'a mut [u32],
    codes: &'a mut [Lanes<C>],
    stride: usize,
}

/// The rows of one side with their codes, and the number of records.
type Side<C> = (Vec<u32>, Vec<Lanes<C>>, u32);

/// Room for the rows of a short slice.
struct Spare<C> {
    rows: Vec<u32>,
    codes: Vec<Lanes<C>>,
}

impl<C> Default for Spare<C> {
    fn default() -> Self {
        Spare { rows: Vec::new(), codes: Vec::new() }
    }
}

impl<C: Code> Dealing<'_, C> {
    /// As [`Self::deal`], looking at all rows once per side.
    fn deal_short(self, rows: &Rows, deal: &Deal<'_>, spare: &mut Spare<C>) -> Vec<(u32, u32)> {
        let (group, lane) = (deal.attribute / LANES, deal.attribute % LANES);
        spare.rows.clear();
        spare.codes.clear();
        let sides = (0..deal.children.len() as u32)
            .map(|side| {
                let (before, mut size) = (spare.rows.len(), 0);
                for (row, codes) in self.rows.iter().zip(self.codes.chunks_exact(self.stride)) {
                    if deal.side[codes[group][lane].index()] == side {
                        spare.rows.push(*row);
                        spare.codes.extend_from_slice(codes);
                        size += rows.weight(*row);
                    }
                }
                ((spare.rows.len() - before) as u32, size)
            })
            .collect();
        self.rows.copy_from_slice(&spare.rows);
        self.codes.copy_from_slice(&spare.codes);
        sides
    }

    /// Deals the rows, keeping their order. The number of rows and of records per side.
    fn deal(self, rows: &Rows, deal: &Deal<'_>) -> Vec<(u32, u32)> {
        let (sides, stride) = (deal.children.len(), self.stride);
        let (group, lane) = (deal.attribute / LANES, deal.attribute % LANES);
        let pick = |(part, codes): (&[u32], &[Lanes<C>])| {
            let mut dealt: Vec<Side<C>> = vec![(Vec::new(), Vec::new(), 0); sides];
            for (row, codes) in part.iter().zip(codes.chunks_exact(stride)) {
                let (own, own_codes, size) = &mut dealt[deal.side[codes[group][lane].index()] as usize];
                own.push(*row);
                own_codes.extend_from_slice(codes);
                *size += rows.weight(*row);
            }
            dealt
        };
        let parts: Vec<Vec<Side<C>>> = match self.rows.len() > LONG {
            true => {
                let codes = self.codes.par_chunks(LONG / 2 * stride);
                self.rows.par_chunks(LONG / 2).zip(codes).map(pick).collect()
            }
            false => vec![pick((self.rows, self.codes))],
        };
        let mut at = 0;
        (0..sides)
            .map(|side| {
                let (mut count, mut size) = (0, 0);
                for (own, own_codes, own_size) in parts.iter().map(|part| &part[side]) {
                    self.rows[at..at + own.len()].copy_from_slice(own);
                    self.codes[at * stride..(at + own.len()) * stride].copy_from_slice(own_codes);
                    at += own.len();
                    count += own.len() as u32;
                    size += own_size;
                }
                (count, size)
            })
            .collect()
    }
}
