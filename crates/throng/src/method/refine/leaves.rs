//! Leaf partitions (TIPS): the rows with equal masked values, side by side.
//!
//! Each leaf is a slice of one list of rows. A refinement deals the rows of the leaves that hold the refined value to
//! their children, in place, and touches no other row. Codes move along with their rows, so that a leaf is always read
//! from one end to the other. Links lead from each masked value to the leaves that hold it.

use super::rows::{Rows, Slice};
use super::state::NONE;
use crate::parallel;
use crate::problem::{Code, LANES, Lanes, Matrix};

/// Slices longer than this are dealt and counted in parallel.
pub(super) const LONG: usize = 1 << 15;

/// How often a long slice is split to be dealt in parallel: more parts cost more exchanges between them.
const SPLITS: usize = 2;

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
#[derive(Clone, Copy)]
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
        for (leaf, sides) in linked.into_iter().zip(dealt.chunks_exact(deal.children.len())) {
            self.part(leaf, sides, deal, &mut pieces);
        }
        pieces
    }

    /// Deals the rows of some leaves to sides. For each leaf and side, the number of rows and of records.
    fn deal_rows(&mut self, rows: &Rows, deal: &Deal<'_>, linked: &[u32]) -> Vec<(u32, u32)> {
        let (stride, sides) = (self.stride, deal.children.len());
        let mut dealt = vec![(0, 0); linked.len() * sides];
        let mut slices = Vec::with_capacity(linked.len());
        let (mut rest, mut rest_codes, mut at) = (self.rows.as_mut_slice(), self.codes.as_mut_slice(), 0);
        for (leaf, counts) in linked.iter().zip(dealt.chunks_exact_mut(sides)) {
            let Leaf { start, end, .. } = self.leaves[*leaf as usize];
            let (skipped, own) = (start as usize - at, (end - start) as usize);
            let (own_rows, after) = rest.split_at_mut(skipped).1.split_at_mut(own);
            let (own_codes, after_codes) =
                rest_codes.split_at_mut(skipped * stride).1.split_at_mut(own * stride);
            slices.push((Dealing { rows: own_rows, codes: own_codes, stride }, counts));
            (rest, rest_codes, at) = (after, after_codes, end as usize);
        }
        // Few leaves are long ones, each worth a task; of many, some go together.
        let together = parallel::length_of_a_piece(linked.len(), 1).min((linked.len() / 64).max(1));
        parallel::chunks_mut(&mut slices, together, |_, slices| {
            for (slice, counts) in slices {
                slice.deal(rows, deal, counts);
            }
        });
        dealt
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
            pieces.push(Piece { leaf: at });
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

impl<C: Code> Dealing<'_, C> {
    #[inline(always)]
    fn side(&self, deal: &Deal<'_>, row: usize) -> usize {
        let lanes = &self.codes[row * self.stride + deal.attribute / LANES];
        deal.side[lanes[deal.attribute % LANES].index()] as usize
    }

    /// Deals the rows in place, side after side, and tells the number of rows and of records of each.
    fn deal(&mut self, rows: &Rows, deal: &Deal<'_>, counts: &mut [(u32, u32)]) {
        match counts {
            [first, second] => {
                let left = self.halve(deal, SPLITS);
                *first = (left as u32, rows.records(&self.rows[..left]));
                *second = ((self.rows.len() - left) as u32, rows.records(&self.rows[left..]));
            }
            _ => self.deal_to_many(rows, deal, counts),
        }
    }

    /// Puts the rows of the first side before those of the second; gives back how many there are. Long slices are halved
    /// part by part, so that parts can be halved side by side.
    fn halve(&mut self, deal: &Deal<'_>, splits: usize) -> usize {
        if splits == 0 || self.rows.len() <= LONG {
            return self.halve_whole(deal);
        }
        let (stride, middle) = (self.stride, self.rows.len() / 2);
        let (rows, other_rows) = self.rows.split_at_mut(middle);
        let (codes, other_codes) = self.codes.split_at_mut(middle * stride);
        let (left, other_left) = parallel::join(
            || Dealing { rows, codes, stride }.halve(deal, splits - 1),
            || Dealing { rows: other_rows, codes: other_codes, stride }.halve(deal, splits - 1),
        );
        // What lies between the first sides of both changes places with what is last of the other first side.
        for at in 0..(middle - left).min(other_left) {
            self.swap(left + at, middle + other_left - 1 - at);
        }
        left + other_left
    }

    /// Every row changes places with the first of the second side, whichever side it is on: a branch that cannot be
    /// foretold costs more than moving a row.
    fn halve_whole(&mut self, deal: &Deal<'_>) -> usize {
        if self.stride > 1 {
            let mut left = 0;
            for row in 0..self.rows.len() {
                let first = self.side(deal, row) == 0;
                self.swap(left, row);
                left += usize::from(first);
            }
            return left;
        }
        let (count, lane) = (self.rows.len(), deal.attribute % LANES);
        let (rows, codes) = (&mut *self.rows, &mut self.codes[..count]);
        let mut left = 0;
        for row in 0..count {
            let first = deal.side[codes[row][lane].index()] == 0;
            rows.swap(left, row);
            codes.swap(left, row);
            left += usize::from(first);
        }
        left
    }

    fn deal_to_many(&mut self, rows: &Rows, deal: &Deal<'_>, counts: &mut [(u32, u32)]) {
        for row in 0..self.rows.len() {
            let (count, size) = &mut counts[self.side(deal, row)];
            *count += 1;
            *size += rows.weight(self.rows[row]);
        }
        let mut end = 0;
        // Where the next row of each side goes, and where the side ends.
        let place = |(count, _): &(u32, u32)| {
            end += *count as usize;
            (end - *count as usize, end)
        };
        let mut places: Vec<(usize, usize)> = counts.iter().map(place).collect();
        // When all others are in place, so is the last.
        for side in 0..places.len().saturating_sub(1) {
            while places[side].0 < places[side].1 {
                let at = places[side].0;
                let other = self.side(deal, at);
                if other != side {
                    self.swap(at, places[other].0);
                }
                places[other].0 += 1;
            }
        }
    }

    #[inline(always)]
    fn swap(&mut self, one: usize, other: usize) {
        self.rows.swap(one, other);
        for at in 0..self.stride {
            self.codes.swap(one * self.stride + at, other * self.stride + at);
        }
    }
}
